// Saves a chat as a prompt: a new one, or a new version of one that exists.
// Must not know the form that the chat comes from.
import { useSignal } from "@preact/signals"
import * as client from "../../AdminClient.ts"
import { messageOf } from "../../parts/Query.ts"
import type { Chat } from "./chatBody.ts"

interface Saved {
  readonly id: string
  readonly version: number
}

const save = async (id: string, { messages, model, ...parameters }: Chat): Promise<Saved> => {
  const { data } = await client.get<client.Page<Saved>>("/prompts", { limit: "1000" })
  const isKnown = data.some((prompt) => prompt.id === id)
  const path = isKnown ? `/prompts/${encodeURIComponent(id)}` : "/prompts"
  const body = { id, model, messages, parameters }
  return (await client.call(isKnown ? "PUT" : "POST", path, body)).json()
}

export const SavePrompt = ({ read }: { readonly read: () => Chat }) => {
  const id = useSignal("")
  const note = useSignal("")
  const run = async (): Promise<void> => {
    try {
      const saved = await save(id.value, read())
      note.value = `Saved as version ${saved.version} of ${saved.id}.`
    } catch (error) {
      note.value = messageOf(error)
    }
  }
  return (
    <div class="actions whole">
      <label>
        Prompt id
        <input value={id.value} spellcheck={false} onInput={(event) => (id.value = event.currentTarget.value.trim())} />
      </label>
      <button type="button" disabled={id.value === ""} onClick={() => void run()}>
        Save as a prompt
      </button>
      <span role="status">{note.value}</span>
    </div>
  )
}
