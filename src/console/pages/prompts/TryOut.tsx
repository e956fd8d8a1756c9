// Tries a version of a prompt with values for its variables, and the lines that ask it.
// Must not know how a prompt is rendered.
import { signal, useSignal } from "@preact/signals"
import type { Prompt } from "../../../api/AdminResources.ts"
import { Copy } from "../../parts/Copy.tsx"
import { messageOf } from "../../parts/Query.ts"
import { renderPrompt, tryPrompt } from "./PromptCalls.ts"
import { snippetOf, variablesIn } from "./promptTexts.ts"

/** It lives as long as the tab, and is written nowhere. */
const key = signal("")

const Snippet = ({ text }: { readonly text: string }) => (
  <details>
    <summary>As curl</summary>
    <pre>{text}</pre>
    <Copy key={text} name="Copy lines" text={text} />
  </details>
)

export const TryOut = ({ row }: { readonly row: Prompt }) => {
  const names = variablesIn([row.messages, row.parameters])
  const values = useSignal<Readonly<Record<string, string>>>({})
  const answer = useSignal("")
  const fault = useSignal("")
  const isRunning = useSignal(false)
  const reference = `${row.id}@${row.version}`
  const variables = Object.fromEntries(names.map((name) => [name, values.value[name] ?? ""]))
  const run = async (ask: () => Promise<string>): Promise<void> => {
    isRunning.value = true
    fault.value = ""
    try {
      answer.value = await ask()
    } catch (error) {
      answer.value = ""
      fault.value = messageOf(error)
    }
    isRunning.value = false
  }
  const submit = (event: SubmitEvent): void => {
    event.preventDefault()
    const isRender = event.submitter?.getAttribute("value") === "render"
    void run(async () =>
      isRender
        ? JSON.stringify(await renderPrompt(key.value, reference, variables), null, 2)
        : tryPrompt(key.value, reference, variables)
    )
  }
  return (
    <section class="card stack">
      <form class="form plain-form" onSubmit={submit}>
        <h2>Try version {row.version}</h2>
        <label>
          Gateway key
          <input
            type="password"
            required
            autocomplete="off"
            value={key.value}
            onInput={(event) => (key.value = event.currentTarget.value.trim())}
          />
        </label>
        {names.map((name) => (
          <label key={name}>
            {name}
            <input
              value={values.value[name] ?? ""}
              onInput={(event) => (values.value = { ...values.value, [name]: event.currentTarget.value })}
            />
          </label>
        ))}
        <button type="submit" class="primary" disabled={isRunning.value}>
          {isRunning.value ? "Asking …" : "Try it"}
        </button>
        <button type="submit" value="render">
          Show what is asked
        </button>
      </form>
      <p class="fault" role="alert">
        {fault.value}
      </p>
      {answer.value === "" ? null : (
        <pre class="answer" role="status">
          {answer.value}
        </pre>
      )}
      <Snippet text={snippetOf(location.origin, reference, variables)} />
    </section>
  )
}
