// Prompts and partials: the list, one of them with its versions and labels, its form, and trying a version.
// It must not know templates; the gateway checks and renders them.
import { type Signal, signal, useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import type { Prompt } from "../../../api/AdminResources.ts"
import { href, navigate, place } from "../../Location.ts"
import { messageOf, useQuery } from "../../parts/Query.ts"
import {
  CallFailed,
  createPrompt,
  prompts,
  type ReadPrompt,
  readPrompt,
  removePrompt,
  renderPrompt,
  tryPrompt,
  updatePrompt
} from "../../AdminClient.ts"
import { Field, SaveButtons } from "../../parts/Fields.tsx"
import { type Message, promptBody, snippetOf, variablesIn } from "./promptBody.ts"
import { readJson } from "../../readJson.ts"
import { Copy } from "../../parts/Display.tsx"

const labelsOf = ({ labels = {} }: Prompt): string =>
  Object.entries(labels)
    .map(([label, version]) => `${label} is ${version}`)
    .join(", ")

const List = ({ rows }: { readonly rows: ReadonlyArray<Prompt> }) =>
  rows.length === 0 ? (
    <p class="card">There is no prompt yet. Make one below; clients ask it by its id and send its variables.</p>
  ) : (
    <ul class="card plain entries">
      {rows.map((row) => (
        <li key={row.id}>
          <a href={href("/prompts", { id: row.id })}>{row.id}</a>{" "}
          <span class="muted">
            {[
              row.name,
              row.text === undefined ? row.model : "partial",
              `${row.versions.length} ${row.versions.length === 1 ? "version" : "versions"}`,
              labelsOf(row),
              row.source === "file" ? "declared in the configuration" : ""
            ]
              .filter(Boolean)
              .join(" · ")}
          </span>
        </li>
      ))}
    </ul>
  )

const Versions = ({ row }: { readonly row: Prompt }) => (
  <nav class="versions" aria-label="Versions">
    {row.versions.toReversed().map((version) => {
      const labels = Object.entries(row.labels ?? {}).filter(([, labelled]) => labelled === version)
      return (
        <a
          key={version}
          href={href("/prompts", { id: row.id, version: String(version) })}
          aria-current={version === row.version ? "page" : undefined}
        >
          {version}
          {labels.map(([label]) => (
            <span key={label} class="tag">
              {label}
            </span>
          ))}
        </a>
      )
    })}
  </nav>
)

export const Prompts = () => {
  const { query } = place.value
  const id = query.get("id") ?? undefined
  const version = query.get("version") ?? undefined
  const list = useQuery("prompts", prompts)
  const chosen = useSignal<ReadPrompt | undefined>(undefined)
  const fault = useSignal("")
  const open = async (): Promise<void> => {
    fault.value = ""
    try {
      chosen.value = id === undefined ? undefined : await readPrompt(id, version)
    } catch (error) {
      chosen.value = undefined
      fault.value = messageOf(error)
    }
  }
  useEffect(() => void open(), [id, version])
  const saved = (next: string | undefined): void => {
    void list.reload()
    if (next === id && version === undefined) void open()
    else navigate(href("/prompts", { id: next }))
  }
  const read = chosen.value?.row.id === id ? chosen.value : undefined
  const name = `${id ?? ""} ${read?.row.version ?? ""} ${read?.row.versions.length ?? ""}`
  return (
    <>
      <div class="title">
        <h1>Prompts</h1>
        <a href={href("/prompts")}>New prompt</a>
      </div>
      <p class="fault" role="alert">
        {fault.value || list.fault.value}
      </p>
      <List rows={list.data.value?.data ?? []} />
      {read === undefined ? null : <Versions row={read.row} />}
      {id !== undefined && read === undefined ? null : (
        <div class="columns">
          <PromptForm key={name} read={read} saved={saved} />
          {read === undefined || read.row.text !== undefined ? null : <TryOut key={name} row={read.row} />}
        </div>
      )}
    </>
  )
}

// The form of a prompt or a partial: each save makes a version.

interface PromptFormProps {
  /** The version that is shown; undefined for a new prompt. */
  readonly read: ReadPrompt | undefined
  readonly saved: (id: string | undefined) => void
}

const kinds = [
  ["chat", "prompt: messages for a model"],
  ["partial", "partial: a text that prompts include by {{>id}}"]
] as const

const Kind = ({ kind }: { readonly kind: Signal<string> }) => (
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
)

interface ContentProps {
  readonly row: Prompt | undefined
}

const PartialText = ({ row }: ContentProps) => (
  <label class="whole">
    Text
    <textarea name="text" rows={4} defaultValue={row?.text ?? ""} />
  </label>
)

const Chat = ({ drafts, row }: ContentProps & { readonly drafts: Signal<ReadonlyArray<Draft>> }) => (
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
)

const PromptForm = ({ read, saved }: PromptFormProps) => {
  const row = read?.row
  const drafts = useSignal<ReadonlyArray<Draft>>((row?.messages ?? firstMessages).map(draftOf))
  const kind = useSignal(row?.text === undefined ? "chat" : "partial")
  const faults = useSignal<ReadonlyArray<string>>([])
  const newest = Math.max(0, ...(row?.versions ?? []))
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
      const body = promptBody({
        field: text,
        isPartial: kind.value === "partial",
        messages: drafts.value.map(messageOfDraft),
        labels: row?.labels,
        version: newest + 1
      })
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
  return (
    <form class="card form" onSubmit={submit}>
      <h2>{row === undefined ? "Make a prompt" : `${row.id}, version ${row.version}`}</h2>
      {row === undefined ? <Field label="Id" name="id" isRequired /> : null}
      <Field label="Title" name="name" value={row?.name} />
      {row === undefined ? <Kind kind={kind} /> : null}
      {kind.value === "partial" ? <PartialText row={row} /> : <Chat row={row} drafts={drafts} />}
      <Field label="Labels of the version that is saved" name="labels" hint="production, staging" />
      <div class="faults whole" role="alert">
        {faults.value.map((fault) => (
          <p key={fault}>{fault}</p>
        ))}
      </div>
      <SaveButtons
        isFixed={row?.source === "file"}
        save={row === undefined ? "Save" : `Save as version ${newest + 1}`}
        removal={row === undefined ? undefined : "Remove all versions"}
        remove={remove}
      />
    </form>
  )
}

// The messages of a prompt as fields: a role and a text each.

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

const roles = ["system", "user", "assistant"]

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

// Tries a version of a prompt with values for its variables, and the lines that ask it.

/** It lives as long as the tab, and is written nowhere. */
const key = signal("")

const Snippet = ({ text }: { readonly text: string }) => (
  <details>
    <summary>As curl</summary>
    <pre>{text}</pre>
    <Copy key={text} name="Copy lines" text={text} />
  </details>
)

const TryOut = ({ row }: { readonly row: Prompt }) => {
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
