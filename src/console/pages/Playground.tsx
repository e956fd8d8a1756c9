// A chat with any model, streamed, and what the provider gets of the same request.
// Must not know dialects of providers.
import { signal } from "@preact/signals"
import * as chat from "../ChatClient.ts"
import { type Answer, noAnswer } from "../chatStream.ts"
import { duration } from "../format.ts"
import { href } from "../Location.ts"
import { messageOf } from "../parts/Query.ts"

interface Turn {
  readonly question: string
  readonly answer: Answer
  /** Empty until the answer has ended. */
  readonly requestId: string
  readonly millis: number
  readonly firstMillis: number | undefined
}

/** They live as long as the tab; a key is written nowhere. */
const key = signal("")
const models = signal<ReadonlyArray<string>>([])
const turns = signal<ReadonlyArray<Turn>>([])
const dry = signal<{ readonly sent: chat.ChatBody; readonly got: chat.DryRun } | undefined>(undefined)
const fault = signal("")
const running = signal<AbortController | undefined>(undefined)

const loadModels = async (): Promise<void> => {
  fault.value = ""
  try {
    models.value = await chat.models(key.value)
  } catch (error) {
    models.value = []
    fault.value = messageOf(error)
  }
}

const numberOf = (text: string): number | undefined => (text.trim() === "" ? undefined : Number(text))

const bodyOf = (fields: FormData): chat.ChatBody => {
  const text = (name: string): string => String(fields.get(name) ?? "").trim()
  const system = text("system")
  const temperature = numberOf(text("temperature"))
  const most = numberOf(text("max_tokens"))
  const effort = text("effort")
  return {
    model: text("model"),
    messages: [
      ...(system === "" ? [] : [{ role: "system" as const, content: system }]),
      ...turns.value.flatMap(({ answer, question }) => [
        { role: "user" as const, content: question },
        { role: "assistant" as const, content: answer.text }
      ]),
      { role: "user" as const, content: text("message") }
    ],
    ...(temperature === undefined ? {} : { temperature }),
    ...(most === undefined ? {} : { max_tokens: most }),
    ...(effort === "" ? {} : { reasoning_effort: effort })
  }
}

const send = async (body: chat.ChatBody): Promise<void> => {
  const before = turns.value
  const started = performance.now()
  let turn: Turn = {
    question: body.messages.at(-1)?.content ?? "",
    answer: noAnswer,
    requestId: "",
    millis: 0,
    firstMillis: undefined
  }
  const show = (change: Partial<Turn>): void => {
    turn = { ...turn, ...change, millis: performance.now() - started }
    turns.value = [...before, turn]
  }
  const abort = new AbortController()
  running.value = abort
  dry.value = undefined
  show({})
  try {
    const shown = (answer: Answer) => show({ answer, firstMillis: turn.firstMillis ?? performance.now() - started })
    show({ requestId: await chat.stream(key.value, body, shown, abort.signal) })
    fault.value = turn.answer.fault
  } catch (error) {
    fault.value = abort.signal.aborted ? "Stopped." : messageOf(error)
    if (turn.answer.text === "") turns.value = before
  }
  running.value = undefined
}

const compare = async (sent: chat.ChatBody): Promise<void> => {
  try {
    dry.value = { sent, got: await chat.dryRun(key.value, sent) }
  } catch (error) {
    fault.value = messageOf(error)
  }
}

const submit = async (event: SubmitEvent & { currentTarget: HTMLFormElement }): Promise<void> => {
  event.preventDefault()
  const form = event.currentTarget
  const body = bodyOf(new FormData(form))
  const isDry = event.submitter?.getAttribute("value") === "dry"
  fault.value = ""
  await (isDry ? compare(body) : send(body))
  const message = form.elements.namedItem("message")
  if (!isDry && fault.value === "" && message instanceof HTMLTextAreaElement) message.value = ""
}

const Shown = ({ answer, firstMillis, millis, question, requestId }: Turn) => (
  <li class="card turn">
    <p class="question">{question}</p>
    {answer.thoughts === "" ? null : (
      <details>
        <summary>Thoughts</summary>
        <p class="muted">{answer.thoughts}</p>
      </details>
    )}
    <p class="answer">{answer.text}</p>
    {requestId === "" ? null : (
      <p class="muted">
        {duration(millis)}, first token after {duration(firstMillis)}, {answer.input ?? "–"} tokens in,{" "}
        {answer.output ?? "–"} out. <a href={href(`/requests/${encodeURIComponent(requestId)}`)}>Its request</a>
      </p>
    )}
  </li>
)

const printed = (names: ReadonlyArray<string>): string => (names.length === 0 ? "none" : names.join(", "))

const Compared = () => {
  const compared = dry.value
  if (compared === undefined) return null
  const { got, sent } = compared
  return (
    <div class="columns">
      <section class="card">
        <h2>You send</h2>
        <pre>{JSON.stringify(sent, null, 2)}</pre>
      </section>
      <section class="card">
        <h2>The provider gets</h2>
        <p>
          {got.method} {got.url}
        </p>
        <pre>{JSON.stringify(got.body, null, 2)}</pre>
        <p>
          Ignored: {printed(got.ignored_params)}. Changed: {printed(got.adjusted_params)}.
        </p>
      </section>
    </div>
  )
}

const Options = () => (
  <>
    <label>
      Gateway key
      <input
        type="password"
        required
        autocomplete="off"
        value={key.value}
        onChange={(event) => {
          key.value = event.currentTarget.value.trim()
          void loadModels()
        }}
      />
    </label>
    <label>
      Model
      <input name="model" list="models" required spellcheck={false} placeholder="@google/gemini-3.8-flash" />
    </label>
    <datalist id="models">
      {models.value.map((id) => (
        <option key={id} value={id} />
      ))}
    </datalist>
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
      <select name="effort">
        <option value="">default</option>
        {["minimal", "low", "medium", "high"].map((effort) => (
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

export const Playground = () => (
  <>
    <div class="title">
      <h1>Playground</h1>
      <button type="button" onClick={() => (turns.value = [])}>
        New chat
      </button>
    </div>
    <ol class="turns" aria-live="polite">
      {turns.value.map((turn, index) => (
        <Shown key={index} {...turn} />
      ))}
    </ol>
    <p class="fault" role="alert">
      {fault.value}
    </p>
    <Compared />
    <form class="card form" onSubmit={(event) => void submit(event)}>
      <Options />
      <label class="whole">
        Message
        <textarea name="message" rows={3} required data-search />
      </label>
      {running.value === undefined ? (
        <button type="submit" class="primary">
          Send
        </button>
      ) : (
        <button type="button" onClick={() => running.value?.abort()}>
          Stop
        </button>
      )}
      <button type="submit" value="dry">
        Show what the provider gets
      </button>
    </form>
  </>
)
