// A streamed answer as an async iterable that can be broken off; an error inside it is thrown.
// It must not know what an event holds; its dialect says which one ends it.
import { sseEvents } from "../wire/frames.ts"
import type { AnswerFacts } from "./answerFacts.ts"
import { brokenOff, failureOf, type Opened } from "./Calls.ts"
import { isObject, readJson } from "./readJson.ts"
import { refusalInside } from "./refusalOf.ts"

/** How a dialect marks the end of a stream. */
export interface Dialect {
  /** A data line that ends the stream and is no event. */
  readonly lastData: string | undefined
  /** The type of the event that ends the stream. */
  readonly lastType: string | undefined
  /** The type of events that only keep the connection alive. */
  readonly idleType: string | undefined
}

/** More than the gateway lets an upstream send in one event. */
const eventBytes = 64 * 1024 * 1024

type Read<A> = { readonly event: A; readonly isLast: boolean } | "idle" | "end"

const readEvent = <A>(data: string, dialect: Dialect, facts: AnswerFacts): Read<A> => {
  if (data === dialect.lastData) return "end"
  const event = readJson(data)
  if (!isObject(event)) throw brokenOff(facts, "The stream holds an event that is no JSON.")(undefined)
  const refusal = refusalInside(event, facts.requestId)
  if (refusal !== undefined) throw refusal
  if (event["type"] === dialect.idleType && dialect.idleType !== undefined) return "idle"
  return { event: event as A, isLast: dialect.lastType !== undefined && event["type"] === dialect.lastType }
}

async function* eventsOf<A>({ facts, response, watch }: Opened, dialect: Dialect): AsyncGenerator<A, void, undefined> {
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
        if (output._tag === "FrameFault") throw brokenOff(facts, "The stream cannot be read as events.")(undefined)
        const read = readEvent<A>(output.data, dialect, facts)
        isWhole ||= read === "end" || (read !== "idle" && read.isLast)
        if (typeof read === "object") yield read.event
        if (isWhole) return
      }
      if (done) break
    }
    throw brokenOff(facts, "The stream broke off before its end.")(undefined)
  } catch (error) {
    throw failureOf(error, watch, brokenOff(facts, "The stream broke off."))
  } finally {
    // A whole stream has nothing left but its end: nobody waits for that, and the connection stays for others.
    if (isWhole)
      void reader
        ?.read()
        .catch(() => undefined)
        .finally(watch.release)
    else watch.abort()
  }
}

/** The events of one answer. They come once: whoever leaves the loop closes the connection. */
export class EventStream<A> implements AsyncIterable<A> {
  readonly facts: AnswerFacts
  readonly #opened: Opened
  readonly #events: AsyncGenerator<A, void, undefined>

  constructor(opened: Opened, dialect: Dialect) {
    this.facts = opened.facts
    this.#opened = opened
    this.#events = eventsOf<A>(opened, dialect)
  }

  [Symbol.asyncIterator](): AsyncIterator<A, void, undefined> {
    return this.#events
  }

  /** Closes the connection; a loop over the events then ends with `Aborted`. */
  abort(): void {
    this.#opened.watch.abort()
  }
}
