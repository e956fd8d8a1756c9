// Prompts and partials: the list, one of them with its versions and labels, its form, and trying a version.
// It must not know templates; the gateway checks and renders them.
import { type Signal, useSignal } from "@preact/signals"
import { CallFailed, type PromptRow, prompts, type ReadRecord } from "../../AdminClient.ts"
import { gatewayAddress } from "../../gatewayAddress.ts"
import { renderPrompt, tryPrompt } from "../../GatewayCalls.ts"
import { href } from "../../Location.ts"
import { Copy, Fault } from "../../parts/Display.tsx"
import { Area, Choice, Field, KeyField, onSubmit, SaveButtons } from "../../parts/Fields.tsx"
import { messageOf, useAction } from "../../parts/Query.ts"
import { RecordPage } from "../../parts/RecordPage.tsx"
import { type Draft, draftOf, firstMessages, messageOfDraft, promptBody, snippetOf, variablesIn } from "./promptBody.ts"

const roles = ["system", "user", "assistant"]

interface MessagesProps {
  readonly drafts: ReadonlyArray<Draft>
  readonly change: (drafts: ReadonlyArray<Draft>) => void
}

/** The messages of a prompt as fields: a role and a text each. */
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

const kinds = [
  ["chat", "prompt: messages for a model"],
  ["partial", "partial: a text that prompts include by {{>id}}"]
] as const

interface ContentProps {
  readonly row: PromptRow | undefined
  readonly drafts: Signal<ReadonlyArray<Draft>>
}

const ChatContent = ({ drafts, row }: ContentProps) => (
  <>
    <Field label="Model" name="model" value={row?.model ?? "@google/gemini-3.8-flash"} isRequired />
    <Messages drafts={drafts.value} change={(next) => (drafts.value = next)} />
    <Area
      label="Parameters as JSON"
      name="parameters"
      rows={3}
      value={JSON.stringify(row?.parameters ?? {}, null, 2)}
      isCode
    />
  </>
)

interface PromptFormProps {
  /** The version that is shown; undefined for a new prompt. */
  readonly read: ReadRecord<PromptRow> | undefined
  readonly saved: (id: string | undefined) => void
}

/** The form of a prompt or a partial: each save makes a version. */
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
      const placed = error instanceof CallFailed ? error.faults.map(({ message, path }) => `${path} ${message}`) : []
      faults.value = placed.length > 0 ? placed : [messageOf(error)]
    }
  }
  const submit = onSubmit((text) =>
    change(async () => {
      const body = promptBody({
        field: text,
        isPartial: kind.value === "partial",
        messages: drafts.value.map(messageOfDraft),
        labels: row?.labels,
        version: newest + 1
      })
      const made =
        row === undefined
          ? await prompts.create({ id: text("id"), ...body })
          : await prompts.update(row.id, body, read?.tag)
      return made.id
    })
  )
  const remove = (): void =>
    void change(async () => {
      await prompts.remove(row?.id ?? "", read?.tag)
      return undefined
    })
  return (
    <form class="card form" onSubmit={submit}>
      <h2>{row === undefined ? "Make a prompt" : `${row.id}, version ${row.version}`}</h2>
      {row === undefined ? <Field label="Id" name="id" isRequired /> : null}
      <Field label="Title" name="name" value={row?.name} />
      {row === undefined ? (
        <Choice label="Kind" options={kinds} value={kind.value} change={(word) => (kind.value = word)} />
      ) : null}
      {kind.value === "partial" ? (
        <Area label="Text" name="text" rows={4} value={row?.text} />
      ) : (
        <ChatContent row={row} drafts={drafts} />
      )}
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

/** Tries a version of a prompt with values for its variables, and the lines that ask it. */
const TryOut = ({ row }: { readonly row: PromptRow }) => {
  const names = variablesIn([row.messages, row.parameters])
  const values = useSignal<Readonly<Record<string, string>>>({})
  const answer = useSignal("")
  const { fault, isBusy, run } = useAction()
  const reference = `${row.id}@${row.version}`
  const variables = Object.fromEntries(names.map((name) => [name, values.value[name] ?? ""]))
  const submit = onSubmit((_text, _form, button) =>
    run(async () => {
      answer.value = ""
      answer.value =
        button === "render"
          ? JSON.stringify(await renderPrompt(reference, variables), null, 2)
          : await tryPrompt(reference, variables)
    })
  )
  const snippet = snippetOf(gatewayAddress, reference, variables)
  return (
    <section class="card stack">
      <form class="form plain-form" onSubmit={submit}>
        <h2>Try version {row.version}</h2>
        <KeyField isRequired />
        {names.map((name) => (
          <Field
            key={name}
            label={name}
            value={values.value[name]}
            change={(value) => (values.value = { ...values.value, [name]: value })}
          />
        ))}
        <button type="submit" class="primary" disabled={isBusy.value}>
          {isBusy.value ? "Asking …" : "Try it"}
        </button>
        <button type="submit" value="render">
          Show what is asked
        </button>
      </form>
      <Fault text={fault.value} />
      {answer.value === "" ? null : (
        <pre class="answer" role="status">
          {answer.value}
        </pre>
      )}
      <details>
        <summary>As curl</summary>
        <pre>{snippet}</pre>
        <Copy key={snippet} name="Copy lines" text={snippet} />
      </details>
    </section>
  )
}

const Versions = ({ row }: { readonly row: PromptRow }) => (
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

const labelsOf = ({ labels = {} }: PromptRow): string =>
  Object.entries(labels)
    .map(([label, version]) => `${label} is ${version}`)
    .join(", ")

const noteOf = (row: PromptRow): string =>
  [
    row.name,
    row.text === undefined ? row.model : "partial",
    `${row.versions.length} ${row.versions.length === 1 ? "version" : "versions"}`,
    labelsOf(row),
    row.source === "file" ? "declared in the configuration" : ""
  ]
    .filter(Boolean)
    .join(" · ")

export const Prompts = () => (
  <RecordPage
    title="Prompts"
    path="/prompts"
    another="New prompt"
    records={prompts}
    noteOf={noteOf}
    none="There is no prompt yet. Make one below; clients ask it by its id and send its variables."
  >
    {(read, saved) => {
      const name = `${read?.row.id ?? ""} ${read?.row.version ?? ""} ${read?.row.versions.length ?? ""}`
      return (
        <>
          {read === undefined ? null : <Versions row={read.row} />}
          <div class="columns">
            <PromptForm key={name} read={read} saved={saved} />
            {read === undefined || read.row.text !== undefined ? null : <TryOut key={name} row={read.row} />}
          </div>
        </>
      )
    }}
  </RecordPage>
)
