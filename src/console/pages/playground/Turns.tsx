// One chat with one model: its turns, and the answer that is coming.
// It must not know the session or the page.
import { type Signal, signal } from "@preact/signals"
import { duration } from "../../format.ts"
import { streamChat } from "../../GatewayCalls.ts"
import { href } from "../../Location.ts"
import { Fault, Thumbnails } from "../../parts/Display.tsx"
import { onSubmit } from "../../parts/Fields.tsx"
import { messageOf } from "../../parts/Query.ts"
import { chatOf, type Entry, sampleResult } from "./chatBody.ts"
import { addEvent, noAnswer, type ToolCall } from "./chatStream.ts"

/** What the next request of a chat is made of, next to its turns. */
export interface Options {
  readonly system: string
  readonly parameters: Readonly<Record<string, unknown>>
}

export interface Lane {
  readonly model: Signal<string>
  readonly entries: Signal<ReadonlyArray<Entry>>
  readonly running: Signal<AbortController | undefined>
  readonly fault: Signal<string>
  /** The options of the last request, which tool results go with. */
  readonly options: Signal<Options | undefined>
}

export const makeLane = (): Lane => ({
  model: signal(""),
  entries: signal([]),
  running: signal(undefined),
  fault: signal(""),
  options: signal(undefined)
})

/** Adds a turn of the user, asks, and adds the answer as it grows. A turn without an answer is taken back. */
export const ask = async (lane: Lane, options: Options, turn: Entry): Promise<void> => {
  const before = lane.entries.value
  const asked = [...before, turn]
  const started = performance.now()
  let answer: Entry & { readonly kind: "answer" } = {
    kind: "answer",
    answer: noAnswer,
    requestId: "",
    millis: 0,
    firstMillis: undefined
  }
  const show = (change: Partial<typeof answer>): void => {
    answer = { ...answer, ...change, millis: performance.now() - started }
    lane.entries.value = [...asked, answer]
  }
  const abort = new AbortController()
  lane.running.value = abort
  lane.options.value = options
  lane.fault.value = ""
  show({})
  try {
    const body = chatOf(lane.model.value, options.system, asked, options.parameters)
    const take = (lines: ReadonlyArray<string>): void =>
      show({
        answer: lines.reduce(addEvent, answer.answer),
        firstMillis: answer.firstMillis ?? performance.now() - started
      })
    const requestId = await streamChat(body, take, abort.signal)
    show({ requestId })
    lane.fault.value = answer.answer.fault
  } catch (error) {
    lane.fault.value = abort.signal.aborted ? "Stopped." : messageOf(error)
    if (answer.answer === noAnswer) lane.entries.value = before
  }
  lane.running.value = undefined
}

export const clear = (lane: Lane): void => {
  lane.running.value?.abort()
  lane.entries.value = []
  lane.fault.value = ""
}

type AnswerEntry = Entry & { readonly kind: "answer" }

const Figures = ({ answer, firstMillis, millis, requestId }: AnswerEntry) =>
  requestId === "" ? null : (
    <p class="muted">
      {duration(millis)}, first token after {duration(firstMillis)}, {answer.input ?? "–"} tokens in,{" "}
      {answer.output ?? "–"} out. <a href={href(`/requests/${encodeURIComponent(requestId)}`)}>Its request</a>
    </p>
  )

const Calls = ({ calls }: { readonly calls: ReadonlyArray<ToolCall> }) => (
  <>
    {calls.map(({ arguments: text, id, name }) => (
      <p key={id} class="call">
        Calls <b>{name}</b> <code>{text}</code>
      </p>
    ))}
  </>
)

const fillSample = (call: ToolCall) => (event: MouseEvent & { currentTarget: HTMLButtonElement }) => {
  const field = event.currentTarget.form?.elements.namedItem(call.id)
  if (field instanceof HTMLTextAreaElement) field.value = sampleResult(call.name, call.arguments)
}

/** The results of the tools that the last answer calls. */
const Results = ({ calls, lane }: { readonly calls: ReadonlyArray<ToolCall>; readonly lane: Lane }) => {
  const submit = onSubmit((text) => {
    const results = calls.map(({ id }) => ({ id, content: text(id) }))
    if (lane.options.value !== undefined) void ask(lane, lane.options.value, { kind: "results", results })
  })
  return (
    <form class="results" onSubmit={submit}>
      {calls.map((call) => (
        <div key={call.id} class="stack">
          <label>
            Result of {call.name}
            <textarea name={call.id} class="code" rows={2} required spellcheck={false} />
          </label>
          <button type="button" onClick={fillSample(call)}>
            Sample result
          </button>
        </div>
      ))}
      <button type="submit" class="primary">
        Answer the calls
      </button>
    </form>
  )
}

const Shown = ({ entry }: { readonly entry: Entry }) => {
  if (entry.kind === "question")
    return (
      <>
        <p class="question">{entry.text}</p>
        <Thumbnails media={entry.media} />
      </>
    )
  if (entry.kind === "results")
    return (
      <>
        {entry.results.map(({ content, id }) => (
          <p key={id} class="call">
            Result <code>{content}</code>
          </p>
        ))}
      </>
    )
  const { calls, pictures, text, thoughts } = entry.answer
  return (
    <>
      {thoughts === "" ? null : (
        <details>
          <summary>Thoughts</summary>
          <p class="answer-thoughts muted">{thoughts}</p>
        </details>
      )}
      {text === "" ? null : <p class="answer">{text}</p>}
      <Calls calls={calls} />
      <Thumbnails media={pictures} />
      <Figures {...entry} />
    </>
  )
}

export const Turns = ({ lane }: { readonly lane: Lane }) => {
  const entries = lane.entries.value
  const last = entries.at(-1)
  const waiting = last?.kind === "answer" && lane.running.value === undefined ? last.answer.calls : []
  return (
    <section class="card lane" aria-label={`Chat with ${lane.model.value}`}>
      <h2>{lane.model.value}</h2>
      <ol class="turns" aria-live="polite">
        {entries.map((entry, at) => (
          <li key={at} class="turn">
            <Shown entry={entry} />
          </li>
        ))}
      </ol>
      {waiting.length === 0 ? null : <Results key={entries.length} calls={waiting} lane={lane} />}
      <Fault text={lane.fault.value} />
    </section>
  )
}
