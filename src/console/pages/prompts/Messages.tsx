// The messages of a prompt as fields: a role and a text each.
// Must not know templates.
import { readJson } from "../../readJson.ts"
import type { Message } from "./promptBody.ts"

export interface Draft {
  readonly role: string
  /** The text; the JSON of content that is no text. */
  readonly text: string
  /** The other fields of the message. */
  readonly rest: Message
}

export const firstMessages: ReadonlyArray<Message> = [
  { role: "system", content: "You are friendly and brief." },
  { role: "user", content: "{{message}}" }
]

export const draftOf = ({ content, role, ...rest }: Message): Draft => ({
  role: String(role),
  text: typeof content === "string" ? content : JSON.stringify(content, null, 2),
  rest
})

export const messageOfDraft = ({ rest, role, text }: Draft): Message => {
  const content = /^\s*[[{]/.test(text) ? (readJson(text) ?? text) : text
  return { role, content, ...rest }
}

const roles = ["system", "user", "assistant"]

interface MessagesProps {
  readonly drafts: ReadonlyArray<Draft>
  readonly change: (drafts: ReadonlyArray<Draft>) => void
}

export const Messages = ({ change, drafts }: MessagesProps) => {
  const set = (at: number, more: Partial<Draft>): void =>
    change(drafts.map((draft, index) => (index === at ? { ...draft, ...more } : draft)))
  return (
    <fieldset class="whole stack">
      <legend>Messages, with {"{{variables}}"}</legend>
      {drafts.map(({ role, text }, index) => (
        <div key={index} class="message">
          <select
            aria-label={`Role of message ${index + 1}`}
            value={role}
            onChange={(event) => set(index, { role: event.currentTarget.value })}
          >
            {roles.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
          <textarea
            aria-label={`Message ${index + 1}`}
            rows={Math.min(Math.max(text.split("\n").length, 2), 12)}
            value={text}
            onInput={(event) => set(index, { text: event.currentTarget.value })}
          />
          <button
            type="button"
            aria-label={`Remove message ${index + 1}`}
            onClick={() => change(drafts.filter((_, other) => other !== index))}
          >
            ×
          </button>
        </div>
      ))}
      <div class="actions">
        <button type="button" onClick={() => change([...drafts, { role: "user", text: "", rest: {} }])}>
          Add a message
        </button>
      </div>
    </fieldset>
  )
}
