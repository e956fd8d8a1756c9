// A streamed answer as an async iterable: parses events, detects the end, throws errors inside the stream.
// It must not know what an event contains; the format marks the last one.
import { sseEvents } from "../wire/frames.ts"
import type { AnswerFacts } from "./headers.ts"
import { answerBroken, toClientFailure, type OpenedAnswer } from "./Calls.ts"
import { isObject, readJson, readStreamFailure } from "./failures.ts"

/** How a format marks the end of a stream. */
export interface StreamFormat {
  /** A data line that ends the stream and is not an event. */
  readonly lastData: string | undefined
  /** The type of the event that ends the stream. */
  readonly lastType: string | undefined
  /** The type of events that only keep the connection alive. */
  readonly idleType: string | undefined
}

/** Larger than the gateway's own limit for one upstream event, 24 MiB by default. */
const eventBytes = 64 * 1024 * 1024

type Read<A> = { readonly event: A; readonly isLast: boolean } | "idle" | "end"

const readEvent = <A>(data: string, format: StreamFormat, facts: AnswerFacts): Read<A> => {
  if (data === format.lastData) return "end"
  const event = readJson(data)
  if (!isObject(event)) throw answerBroken(facts, "The stream holds an event that is no JSON.")(undefined)
  const refusal = readStreamFailure(event, facts.requestId)
  if (refusal !== undefined) throw refusal
  if (event["type"] === format.idleType && format.idleType !== undefined) return "idle"
  // The route decides the type of its events; they are not decoded.
  return { event: event as A, isLast: format.lastType !== undefined && event["type"] === format.lastType }
}

async function* eventsOf<A>(
  { facts, response, watch }: OpenedAnswer,
  format: StreamFormat
): AsyncGenerator<A, void, undefined> {
  const reader = response.body?.getReader()
  const framing = sseEvents({ eventBytes })
  let state = framing.initial()
  let isWhole = false
  try {
    while (reader !== undefined) {
      const { done, value } = await reader.read()
      watch.wind()
      const [next, outputs] = done ? [state, framing.onHalt(state)] : framing.step(state, value)
      state = next
      for (const output of outputs) {
        if (output._tag === "FrameFault") throw answerBroken(facts, "The stream cannot be read as events.")(undefined)
        const read = readEvent<A>(output.data, format, facts)
        isWhole ||= read === "end" || (read !== "idle" && read.isLast)
        if (typeof read === "object") yield read.event
        if (isWhole) return
      }
      if (done) break
    }
    throw answerBroken(facts, "The stream broke off before its end.")(undefined)
  } catch (error) {
    throw toClientFailure(error, watch, answerBroken(facts, "The stream broke off."))
  } finally {
    // Reading the end of a complete stream in the background returns the connection to the pool.
    if (isWhole)
      void reader
        ?.read()
        .catch(() => undefined)
        .finally(watch.release)
    else watch.abort()
  }
}

/** The events of one answer, to be iterated once. Leaving the loop closes the connection. */
export class EventStream<A> implements AsyncIterable<A> {
  readonly facts: AnswerFacts
  readonly #opened: OpenedAnswer
  readonly #events: AsyncGenerator<A, void, undefined>

  constructor(opened: OpenedAnswer, format: StreamFormat) {
    this.facts = opened.facts
    this.#opened = opened
    this.#events = eventsOf<A>(opened, format)
  }

  [Symbol.asyncIterator](): AsyncIterator<A, void, undefined> {
    return this.#events
  }

  /** Closes the connection; a loop over the events then ends with `Aborted`. */
  abort(): void {
    this.#opened.watch.abort()
  }
}
