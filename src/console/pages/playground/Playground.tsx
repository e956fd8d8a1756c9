// A chat with one model or with two next to each other, streamed, and what the provider gets of the same request.
// Must not know dialects of providers.
import { signal } from "@preact/signals"
import { useRef } from "preact/hooks"
import { href } from "../../Location.ts"
import type { Media } from "../../mediaIn.ts"
import { readable } from "../../mediaIn.ts"
import { gatewayKey } from "../../parts/KeyField.tsx"
import { messageOf } from "../../parts/Query.ts"
import * as chat from "./ChatClient.ts"
import { type Chat, chatOf, type Entry, parametersOf } from "./chatBody.ts"
import { Fields } from "./Fields.tsx"
import { ask, clear, type Lane, makeLane, type Options } from "./Lane.ts"
import { SavePrompt } from "./SavePrompt.tsx"
import { Turns } from "./Turns.tsx"

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
