// A chat with one model or with two next to each other: its fields, what the provider gets of it, and saving it as a prompt.
// It must not know dialects of providers.
import { signal, useSignal } from "@preact/signals"
import { useRef } from "preact/hooks"
import { type DryRunAnswer, prompts } from "../../AdminClient.ts"
import { gatewayAddress } from "../../gatewayAddress.ts"
import { dryRunChat, listModels } from "../../GatewayCalls.ts"
import { href } from "../../Location.ts"
import { type Media, readable } from "../../mediaIn.ts"
import { Card, DryRunChanges, Fault, Title } from "../../parts/Display.tsx"
import { Area, Choice, Field, fieldText, KeyField, onSubmit, type Options as Words } from "../../parts/Fields.tsx"
import { messageOf, useAction } from "../../parts/Query.ts"
import {
  type Chat,
  chatOf,
  type Entry,
  type ParameterKind,
  parameterKinds,
  parametersOf,
  sampleSchema,
  sampleTools
} from "./chatBody.ts"
import { ask, clear, type Lane, makeLane, type Options, Turns } from "./Turns.tsx"

const models = signal<ReadonlyArray<string>>([])

const Models = () => {
  const { fault, run } = useAction()
  const load = async (): Promise<void> => {
    models.value = []
    models.value = await listModels()
  }
  return (
    <>
      <KeyField isRequired onChosen={() => void run(load)} />
      <Field label="Model" name="model" list="models" hint="@google/gemini-3.8-flash" isRequired />
      <Field label="Compare with" name="second" list="models" hint="no second one" />
      <datalist id="models">
        {models.value.map((id) => (
          <option key={id} value={id} />
        ))}
      </datalist>
      <p class="fault whole">{fault.value}</p>
    </>
  )
}

const wordsOf = (first: string, words: ReadonlyArray<string>): Words => [
  ["", first],
  ...words.map((word) => [word, word] as const)
]

const efforts = wordsOf("default", ["none", "minimal", "low", "medium", "high", "xhigh", "max"])

const Usual = () => (
  <>
    <Field label="Temperature" name="temperature" type="number" range={{ min: "0", max: "2", step: "0.1" }} />
    <Field label="Most tokens out" name="max_tokens" type="number" range={{ min: "1", step: "1" }} />
    <Choice label="Reasoning effort" name="reasoning_effort" options={efforts} />
    <Area label="System prompt" name="system" rows={2} />
  </>
)

const fill = (name: string, text: string) => (event: MouseEvent & { currentTarget: HTMLButtonElement }) => {
  const field = event.currentTarget.form?.elements.namedItem(name)
  if (field instanceof HTMLTextAreaElement) field.value = text
}

const formats: Words = [
  ["", "text"],
  ["json_object", "any JSON object"],
  ["json_schema", "JSON by a schema"]
]

const Tools = () => (
  <details class="whole">
    <summary>Tools and the form of the answer</summary>
    <div class="form">
      <Area label="Tools as JSON" name="tools" rows={4} isCode />
      <button type="button" onClick={fill("tools", sampleTools)}>
        Sample tool
      </button>
      <Choice label="Form of the answer" name="format" options={formats} />
      <Area label="Schema of the answer" name="schema" rows={4} isCode />
      <button type="button" onClick={fill("schema", sampleSchema)}>
        Sample schema
      </button>
    </div>
  </details>
)

const Parameter = ({ kind, name }: { readonly name: string; readonly kind: ParameterKind }) => {
  if (kind === "flag") return <Choice label={name} name={name} options={wordsOf("default", ["true", "false"])} />
  return kind === "number" ? (
    <Field label={name} name={name} type="number" range={{ step: "any" }} hint="number" />
  ) : (
    <Field label={name} name={name} hint={kind === "json" ? "JSON" : "text"} />
  )
}

const Further = () => (
  <details class="whole">
    <summary>All parameters</summary>
    <p class="muted">
      Their meaning for each kind of model is on the page{" "}
      <a href={`${gatewayAddress}/docs/parameters`} target="_blank" rel="noreferrer">
        Parameters
      </a>
      . Empty fields are not sent.
    </p>
    <div class="form">
      {Object.entries(parameterKinds).map(([name, kind]) => (
        <Parameter key={name} name={name} kind={kind} />
      ))}
    </div>
  </details>
)

const Fields = () => (
  <>
    <Models />
    <Usual />
    <Tools />
    <Further />
  </>
)

const save = async (id: string, { messages, model, ...parameters }: Chat): Promise<string> => {
  const { data } = await prompts.list()
  const body = { id, model, messages, parameters }
  const saved = data.some((prompt) => prompt.id === id)
    ? await prompts.update(id, body, undefined)
    : await prompts.create(body)
  return `Saved as version ${saved.version} of ${saved.id}.`
}

/** Saves a chat as a prompt: a new one, or a new version of one that exists. */
const SavePrompt = ({ read }: { readonly read: () => Chat }) => {
  const id = useSignal("")
  const note = useSignal("")
  const { fault, run } = useAction()
  const keep = async (): Promise<void> => {
    note.value = ""
    note.value = await save(id.value, read())
  }
  return (
    <div class="actions whole">
      <Field label="Prompt id" value={id.value} change={(text) => (id.value = text)} />
      <button type="button" disabled={id.value === ""} onClick={() => void run(keep)}>
        Save as a prompt
      </button>
      <span role="status">{note.value || fault.value}</span>
    </div>
  )
}

/** They live as long as the tab. */
const first = makeLane()
const second = makeLane()
const lanes = [first, second]
const dry = signal<{ readonly sent: Chat; readonly got: DryRunAnswer } | undefined>(undefined)
const fault = signal("")

const mediaOf = async (file: File): Promise<Media> => {
  const url = await new Promise<string>((done, fail) => {
    const reader = new FileReader()
    reader.addEventListener("load", () => done(String(reader.result)))
    reader.addEventListener("error", () => fail(new Error(`${file.name} cannot be read.`)))
    reader.readAsDataURL(file)
  })
  return { type: file.type, data: url.slice(url.indexOf(",") + 1) }
}

/** The fields of the form. Throws with what is wrong in them. */
const readForm = (form: HTMLFormElement) => {
  const text = fieldText(form)
  const options: Options = { system: text("system"), parameters: parametersOf(text) }
  const files = new FormData(form).getAll("media").filter((file): file is File => file instanceof File && file.size > 0)
  return { models: [text("model"), text("second")], options, message: text("message"), files }
}

const questionOf = async ({ files, message }: ReturnType<typeof readForm>): Promise<Entry> => ({
  kind: "question",
  text: message,
  media: await Promise.all(files.map(mediaOf))
})

const send = async (form: HTMLFormElement): Promise<void> => {
  const read = readForm(form)
  const turn = await questionOf(read)
  dry.value = undefined
  await Promise.all(
    lanes.map(async (lane, at) => {
      const model = read.models[at] ?? ""
      if (model === "") return
      lane.model.value = model
      await ask(lane, read.options, turn)
    })
  )
  if (lanes.some((lane) => lane.fault.value !== "")) return
  for (const name of ["message", "media"]) {
    const field = form.elements.namedItem(name)
    if (field instanceof HTMLTextAreaElement || field instanceof HTMLInputElement) field.value = ""
  }
}

const explain = async (form: HTMLFormElement): Promise<void> => {
  const read = readForm(form)
  const { options } = read
  const entries = [...first.entries.value, await questionOf(read)]
  const sent = chatOf(read.models[0] ?? "", options.system, entries, options.parameters)
  dry.value = { sent, got: await dryRunChat(sent) }
}

const submit = onSubmit(async (_text, form, button) => {
  fault.value = ""
  try {
    await (button === "dry" ? explain : send)(form)
  } catch (error) {
    fault.value = messageOf(error)
  }
})

/** The prompt of a form: its system prompt, the turns so far, and the message. */
const promptOf = (form: HTMLFormElement): Chat => {
  const { message, models, options } = readForm(form)
  const question: ReadonlyArray<Entry> = message === "" ? [] : [{ kind: "question", text: message, media: [] }]
  return chatOf(models[0] ?? "", options.system, [...first.entries.value, ...question], options.parameters)
}

const Compared = () => {
  const compared = dry.value
  if (compared === undefined) return null
  const { got, sent } = compared
  return (
    <div class="columns">
      <Card title="You send">
        <pre>{readable(sent)}</pre>
      </Card>
      <Card title="The provider gets">
        <p class="address">
          {got.method} {got.url}
        </p>
        <pre>{readable(got.body)}</pre>
        <p>
          <DryRunChanges got={got} />
        </p>
      </Card>
    </div>
  )
}

const stop = (): void => lanes.forEach((lane) => lane.running.value?.abort())

const Buttons = () => (
  <div class="actions whole">
    {lanes.every((lane) => lane.running.value === undefined) ? (
      <button type="submit" class="primary">
        Send
      </button>
    ) : (
      <button type="button" onClick={stop}>
        Stop
      </button>
    )}
    <button type="submit" value="dry">
      Show what the provider gets
    </button>
  </div>
)

const hasTurns = ({ entries, fault: fell }: Lane): boolean => entries.value.length > 0 || fell.value !== ""

export const Playground = () => {
  const form = useRef<HTMLFormElement>(null)
  const shown = lanes.filter(hasTurns)
  const read = (): Chat => {
    if (form.current === null) throw new Error("The form is not there.")
    return promptOf(form.current)
  }
  return (
    <>
      <Title title="Playground">
        <a href={href("/explain")}>Explain a request</a>
        <button type="button" onClick={() => lanes.forEach(clear)}>
          New chat
        </button>
      </Title>
      {shown.length === 0 ? null : (
        <div class="columns">
          {shown.map((lane) => (
            <Turns key={lanes.indexOf(lane)} lane={lane} />
          ))}
        </div>
      )}
      <Fault text={fault.value} />
      <Compared />
      <form class="card form" ref={form} onSubmit={submit}>
        <Fields />
        <label class="whole">
          Message
          <textarea name="message" rows={3} required data-search />
        </label>
        <label class="whole">
          Pictures and other media
          <input name="media" type="file" multiple accept="image/*,audio/*,video/*,application/pdf" />
        </label>
        <Buttons />
        <SavePrompt read={read} />
      </form>
    </>
  )
}
