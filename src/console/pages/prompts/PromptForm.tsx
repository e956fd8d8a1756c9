// The form of a prompt or a partial: each save makes a version.
// Must not know templates; the gateway checks them.
import { useSignal } from "@preact/signals"
import type { Prompt } from "../../../api/AdminResources.ts"
import { CallFailed } from "../../AdminClient.ts"
import { Field } from "../../parts/Field.tsx"
import { messageOf } from "../../parts/Query.ts"
import { jsonFaultLine, readJson } from "../../readJson.ts"
import { createPrompt, removePrompt, type ReadPrompt, updatePrompt } from "./promptCalls.ts"

type Message = NonNullable<Prompt["messages"]>[number]

interface Draft {
  readonly role: string
  /** The text; the JSON of content that is no text. */
  readonly text: string
  /** The other fields of the message. */
  readonly rest: Message
}

const firstMessages: ReadonlyArray<Message> = [
  { role: "system", content: "You are friendly and brief." },
  { role: "user", content: "{{message}}" }
]

const draftOf = ({ content, role, ...rest }: Message): Draft => ({
  role: String(role),
  text: typeof content === "string" ? content : JSON.stringify(content, null, 2),
  rest
})

const messageOfDraft = ({ rest, role, text }: Draft): Message => {
  const content = /^\s*[[{]/.test(text) ? (readJson(text) ?? text) : text
  return { role, content, ...rest }
}

const roles = ["system", "user", "assistant"].map((role) => [role, role] as const)

interface MessagesProps {
  readonly drafts: ReadonlyArray<Draft>
  readonly change: (drafts: ReadonlyArray<Draft>) => void
}

const Messages = ({ change, drafts }: MessagesProps) => {
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
            {roles.map(([one]) => (
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

/** The labels of a prompt when some are given to a version. */
const labelled = (
  labels: Prompt["labels"],
  text: string,
  version: number
): Readonly<Record<string, number>> | undefined => {
  const given = text
    .split(",")
    .map((one) => one.trim())
    .filter((one) => one !== "")
  return given.length === 0 ? labels : { ...labels, ...Object.fromEntries(given.map((name) => [name, version])) }
}

interface PromptFormProps {
  /** The version that is shown; undefined for a new prompt. */
  readonly read: ReadPrompt | undefined
  readonly saved: (id: string | undefined) => void
}

const kinds = [
  ["chat", "prompt: messages for a model"],
  ["partial", "partial: a text that prompts include by {{>id}}"]
] as const

export const PromptForm = ({ read, saved }: PromptFormProps) => {
  const row = read?.row
  const drafts = useSignal<ReadonlyArray<Draft>>((row?.messages ?? firstMessages).map(draftOf))
  const kind = useSignal(row?.text === undefined ? "chat" : "partial")
  const faults = useSignal<ReadonlyArray<string>>([])
  const newest = Math.max(0, ...(row?.versions ?? []))
  const bodyOf = (text: (name: string) => string) => {
    const parameters = readJson(text("parameters") || "{}")
    if (parameters === undefined)
      throw new Error(`The parameters are not JSON from their line ${jsonFaultLine(text("parameters"))} on.`)
    const labels = labelled(row?.labels, text("labels"), newest + 1)
    const shared = {
      ...(text("name") === "" ? {} : { name: text("name") }),
      ...(labels === undefined ? {} : { labels })
    }
    return kind.value === "partial"
      ? { ...shared, text: text("text") }
      : { ...shared, model: text("model"), messages: drafts.value.map(messageOfDraft), parameters }
  }
  const change = async (make: () => Promise<string | undefined>): Promise<void> => {
    faults.value = []
    try {
      saved(await make())
    } catch (error) {
      const found = error instanceof CallFailed ? error.faults.map(({ message, path }) => `${path} ${message}`) : []
      faults.value = found.length > 0 ? found : [messageOf(error)]
    }
  }
  const submit = (event: SubmitEvent & { currentTarget: HTMLFormElement }): void => {
    event.preventDefault()
    const fields = new FormData(event.currentTarget)
    const text = (name: string): string => String(fields.get(name) ?? "").trim()
    void change(async () => {
      const body = bodyOf(text)
      const made =
        row === undefined
          ? await createPrompt({ id: text("id"), ...body })
          : await updatePrompt(row.id, body, read?.tag)
      return made.id
    })
  }
  const remove = (): void =>
    void change(async () => {
      await removePrompt(row?.id ?? "", read?.tag)
      return undefined
    })
  const isFixed = row?.source === "file"
  return (
    <form class="card form" onSubmit={submit}>
      <h2>{row === undefined ? "Make a prompt" : `${row.id}, version ${row.version}`}</h2>
      {row === undefined ? <Field label="Id" name="id" isRequired /> : null}
      <Field label="Title" name="name" value={row?.name} />
      {row === undefined ? (
        <label>
          Kind
          <select value={kind.value} onChange={(event) => (kind.value = event.currentTarget.value)}>
            {kinds.map(([value, text]) => (
              <option key={value} value={value}>
                {text}
              </option>
            ))}
          </select>
        </label>
      ) : null}
      {kind.value === "partial" ? (
        <label class="whole">
          Text
          <textarea name="text" rows={4} defaultValue={row?.text ?? ""} />
        </label>
      ) : (
        <>
          <Field label="Model" name="model" value={row?.model ?? "@google/gemini-3.8-flash"} isRequired />
          <Messages drafts={drafts.value} change={(next) => (drafts.value = next)} />
          <label class="whole">
            Parameters as JSON
            <textarea
              name="parameters"
              class="code"
              rows={3}
              spellcheck={false}
              defaultValue={JSON.stringify(row?.parameters ?? {}, null, 2)}
            />
          </label>
        </>
      )}
      <Field label="Labels of the version that is saved" name="labels" hint="production, staging" />
      <div class="faults whole" role="alert">
        {faults.value.map((fault) => (
          <p key={fault}>{fault}</p>
        ))}
      </div>
      {isFixed ? (
        <p class="muted whole">It is declared in the configuration file, so it is changed there.</p>
      ) : (
        <>
          <button type="submit" class="primary">
            {row === undefined ? "Save" : `Save as version ${newest + 1}`}
          </button>
          {row === undefined ? null : (
            <button type="button" class="danger" onClick={remove}>
              Remove all versions
            </button>
          )}
        </>
      )}
    </form>
  )
}
