// Writes Node's own response, without the copies of headers and the stream operators of Effect's values.
// It must not depend on what is answered. Without a Node response (a web handler) `response` builds a value instead.
import type { ServerResponse } from "node:http"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import type * as Pull from "effect/Pull"
import { phaseTurn } from "../../batching/Phases.ts"

/** The value of an answer that is written already. */
const answered = HttpServerResponse.empty()

/** A complete answer in one write. */
export const writeWhole = (
  response: ServerResponse,
  headers: Record<string, string>,
  body: string | Uint8Array
): Effect.Effect<HttpServerResponse.HttpServerResponse> => {
  headers["content-length"] = String(typeof body === "string" ? Buffer.byteLength(body) : body.length)
  return Effect.flatMap(phaseTurn.answer, () => {
    response.writeHead(200, headers)
    response.end(body)
    return Effect.as(phaseTurn.end, answered)
  })
}

/** Reads that are pulled, and how they are written. */
export interface Written<A> {
  readonly pull: Pull.Pull<A, unknown>
  /** All of a read as one buffer; empty for a read without visible content. */
  readonly render: (read: A) => string | Uint8Array
  /** Ends a stream that came to its end. */
  readonly ending: string
  /** Ends a stream that failed. */
  readonly errorFrame: (cause: Cause.Cause<unknown>) => string
}

/**
 * While a reader takes nothing, Node keeps a text and its bytes; of a text that is a large part of what may wait, it is
 * given the bytes alone. A shorter one is written without a copy of its bytes, if the socket takes it.
 */
const waitable = (response: ServerResponse, bytes: string | Uint8Array): string | Uint8Array =>
  typeof bytes === "string" && bytes.length > response.writableHighWaterMark / 4 ? Buffer.from(bytes) : bytes

/** Writes reads as they come: one write a read, and no further pull until the socket has drained. */
export const writeStream = <A>(
  response: ServerResponse,
  headers: Record<string, string>,
  { pull, render, ending, errorFrame }: Written<A>
): Effect.Effect<HttpServerResponse.HttpServerResponse> => {
  const end = (last: string) =>
    Effect.sync(() => {
      response.end(last)
      return answered
    })
  const next: Effect.Effect<HttpServerResponse.HttpServerResponse> = Effect.matchCauseEffect(pull, {
    onSuccess: (read) => {
      const bytes = render(read)
      return bytes.length === 0 || response.write(waitable(response, bytes))
        ? next
        : Effect.flatMap(drained(response), () => next)
    },
    onFailure: (cause) => {
      if (Cause.hasInterruptsOnly(cause))
        return Effect.failCause(Cause.fromReasons(cause.reasons.filter(Cause.isInterruptReason)))
      return end(isEnd(cause) ? ending : errorFrame(cause))
    }
  })
  return Effect.suspend(() => {
    response.writeHead(200, headers)
    return next
  })
}

const isEnd = (cause: Cause.Cause<unknown>): boolean =>
  cause.reasons.some((reason) => Cause.isFailReason(reason) && Cause.isDone(reason.error))

/** A client that leaves meanwhile interrupts the wait. */
const drained = (response: ServerResponse): Effect.Effect<void> =>
  Effect.callback((resume) => {
    const go = () => resume(Effect.void)
    // It may have drained while the fiber gave way to others on its way here.
    if (!response.writableNeedDrain) return go()
    response.once("drain", go)
    return Effect.sync(() => response.off("drain", go))
  })
