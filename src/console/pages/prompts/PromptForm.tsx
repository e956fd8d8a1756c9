// The form of a prompt or a partial: each save makes a version.
// Must not know templates; the gateway checks them.
import { type Signal, useSignal } from "@preact/signals"
import type { Prompt } from "../../../api/AdminResources.ts"
import { CallFailed } from "../../AdminClient.ts"
import { Field } from "../../parts/Field.tsx"
import { messageOf } from "../../parts/Query.ts"
import { SaveButtons } from "../../parts/SaveButtons.tsx"
import { type Draft, draftOf, firstMessages, messageOfDraft, Messages } from "./Messages.tsx"
import { promptBody } from "./promptBody.ts"
import { createPrompt, removePrompt, type ReadPrompt, updatePrompt } from "./PromptCalls.ts"

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

export const PromptForm = ({ read, saved }: PromptFormProps) => {
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
