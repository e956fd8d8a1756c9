// A chat with one model or with two next to each other: its fields, what the provider gets of it, and saving it as a prompt.
// It must not know dialects of providers.
import { signal, useSignal } from "@preact/signals"
import { useRef } from "preact/hooks"
import { href } from "../../Location.ts"
import { type Media, readable } from "../../mediaIn.ts"
import { gatewayKey, KeyField } from "../../parts/Fields.tsx"
import { messageOf } from "../../parts/Query.ts"
import * as chat from "./ChatClient.ts"
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
import * as client from "../../AdminClient.ts"

/** They live as long as the tab. */
const first = makeLane()
const second = makeLane()
const lanes = [first, second]
const dry = signal<{ readonly sent: Chat; readonly got: chat.DryRun } | undefined>(undefined)
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
  const fields = new FormData(form)
  const text = (name: string): string => String(fields.get(name) ?? "").trim()
  const options: Options = { key: gatewayKey.value, system: text("system"), parameters: parametersOf(text) }
  const files = fields.getAll("media").filter((file): file is File => file instanceof File && file.size > 0)
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
  dry.value = { sent, got: await chat.dryRun(options.key, sent) }
}

const submit = async (event: SubmitEvent & { currentTarget: HTMLFormElement }): Promise<void> => {
  event.preventDefault()
  const isDry = event.submitter?.getAttribute("value") === "dry"
  const form = event.currentTarget
  fault.value = ""
  try {
    await (isDry ? explain : send)(form)
  } catch (error) {
    fault.value = messageOf(error)
  }
}

/** The prompt of a form: its system prompt, the turns so far, and the message. */
const promptOf = (form: HTMLFormElement): Chat => {
  const { message, models, options } = readForm(form)
  const question: ReadonlyArray<Entry> = message === "" ? [] : [{ kind: "question", text: message, media: [] }]
  return chatOf(models[0] ?? "", options.system, [...first.entries.value, ...question], options.parameters)
}

const printed = (names: ReadonlyArray<string>): string => (names.length === 0 ? "none" : names.join(", "))

const Compared = () => {
  const compared = dry.value
  if (compared === undefined) return null
  const { got, sent } = compared
  return (
    <div class="columns">
      <section class="card">
        <h2>You send</h2>
        <pre>{readable(sent)}</pre>
      </section>
      <section class="card">
        <h2>The provider gets</h2>
        <p class="address">
          {got.method} {got.url}
        </p>
        <pre>{readable(got.body)}</pre>
        <p>
          Ignored: {printed(got.ignored_params)}. Changed: {printed(got.adjusted_params)}.
        </p>
      </section>
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
      <div class="title">
        <h1>Playground</h1>
        <a href={href("/explain")}>Explain a request</a>
        <button type="button" onClick={() => lanes.forEach(clear)}>
          New chat
        </button>
      </div>
      {shown.length === 0 ? null : (
        <div class="columns">
          {shown.map((lane) => (
            <Turns key={lanes.indexOf(lane)} lane={lane} />
          ))}
        </div>
      )}
      <p class="fault" role="alert">
        {fault.value}
      </p>
      <Compared />
      <form class="card form" ref={form} onSubmit={(event) => void submit(event)}>
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

// The fields of the playground: models, tools, the form of the answer, and every parameter.

const models = signal<ReadonlyArray<string>>([])
const modelsFault = signal("")

const loadModels = async (): Promise<void> => {
  modelsFault.value = ""
  try {
    models.value = await chat.models(gatewayKey.value)
  } catch (error) {
    models.value = []
    modelsFault.value = error instanceof Error ? error.message : String(error)
  }
}

const Models = () => (
  <>
    <KeyField isRequired onChosen={() => void loadModels()} />
    <label>
      Model
      <input name="model" list="models" required spellcheck={false} placeholder="@google/gemini-3.8-flash" />
    </label>
    <label>
      Compare with
      <input name="second" list="models" spellcheck={false} placeholder="no second one" />
    </label>
    <datalist id="models">
      {models.value.map((id) => (
        <option key={id} value={id} />
      ))}
    </datalist>
  </>
)

const Usual = () => (
  <>
    <label>
      Temperature
      <input name="temperature" type="number" min="0" max="2" step="0.1" />
    </label>
    <label>
      Most tokens out
      <input name="max_tokens" type="number" min="1" step="1" />
    </label>
    <label>
      Reasoning effort
      <select name="reasoning_effort">
        <option value="">default</option>
        {["none", "minimal", "low", "medium", "high", "xhigh", "max"].map((effort) => (
          <option key={effort}>{effort}</option>
        ))}
      </select>
    </label>
    <label class="whole">
      System prompt
      <textarea name="system" rows={2} />
    </label>
  </>
)

const fill = (name: string, text: string) => (event: MouseEvent & { currentTarget: HTMLButtonElement }) => {
  const field = event.currentTarget.form?.elements.namedItem(name)
  if (field instanceof HTMLTextAreaElement) field.value = text
}

const Tools = () => (
  <details class="whole">
    <summary>Tools and the form of the answer</summary>
    <div class="form">
      <label class="whole">
        Tools as JSON
        <textarea name="tools" class="code" rows={4} spellcheck={false} />
      </label>
      <button type="button" onClick={fill("tools", sampleTools)}>
        Sample tool
      </button>
      <label>
        Form of the answer
        <select name="format">
          <option value="">text</option>
          <option value="json_object">any JSON object</option>
          <option value="json_schema">JSON by a schema</option>
        </select>
      </label>
      <label class="whole">
        Schema of the answer
        <textarea name="schema" class="code" rows={4} spellcheck={false} />
      </label>
      <button type="button" onClick={fill("schema", sampleSchema)}>
        Sample schema
      </button>
    </div>
  </details>
)

const hints: Readonly<Record<ParameterKind, string>> = { number: "number", flag: "", text: "text", json: "JSON" }

const Parameter = ({ kind, name }: { readonly name: string; readonly kind: ParameterKind }) => (
  <label>
    {name}
    {kind === "flag" ? (
      <select name={name}>
        <option value="">default</option>
        <option>true</option>
        <option>false</option>
      </select>
    ) : (
      <input
        name={name}
        {...(kind === "number" ? { type: "number", step: "any" } : {})}
        placeholder={hints[kind]}
        spellcheck={false}
      />
    )}
  </label>
)

const Further = () => (
  <details class="whole">
    <summary>All parameters</summary>
    <p class="muted">
      Their meaning for each kind of model is on the page{" "}
      <a href="/docs/parameters" target="_blank" rel="noreferrer">
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
    <p class="fault whole">{modelsFault.value}</p>
    <Usual />
    <Tools />
    <Further />
  </>
)

// Saves a chat as a prompt: a new one, or a new version of one that exists.

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

const SavePrompt = ({ read }: { readonly read: () => Chat }) => {
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
