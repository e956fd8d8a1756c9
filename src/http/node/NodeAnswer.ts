// Writes Node's own response, without the copies of headers and the stream operators of Effect's values.
// It must not depend on what is answered. Without a Node response (a web handler) `response` builds a value instead.
import type { ServerResponse } from "node:http"
import * as Effect from "effect/Effect"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { schedulePhase } from "../../batching/Phases.ts"

/** The value of an answer that is written already. */
export const answered = HttpServerResponse.empty()

/** A complete answer in one write, together with those of other requests. */
export const writeWhole = (
  response: ServerResponse,
  headers: Record<string, string>,
  body: string | Uint8Array
): Effect.Effect<HttpServerResponse.HttpServerResponse> =>
  Effect.sync(() => {
    const length = typeof body === "string" ? Buffer.byteLength(body) : body.length
    headers["content-length"] = String(length)
    response.writeHead(200, headers)
    // A text of as many bytes as characters is ASCII, which is written without an encoding of each character.
    const encoding = length === body.length ? "latin1" : "utf8"
    schedulePhase("answer", () => {
      if (!response.destroyed) response.end(body, encoding)
    })
    return answered
  })

const oneByte = Buffer.alloc(1)

/**
 * Writes the head of a stream, together with its first piece. Node joins a head from some 60 strings, and keeps all of
 * them for as long as the stream is open, unless the head is written anywhere by itself: 1.4 KB a stream.
 */
export const writeStreamHead = (response: ServerResponse, headers: Record<string, string>): void => {
  response.writeHead(200, headers)
  const head: unknown = Reflect.get(response, "_header")
  if (typeof head === "string") oneByte.write(head, "latin1")
}

/**
 * While a reader takes nothing, Node keeps a text and its bytes; of a text that is a large part of what may wait, it is
 * given the bytes alone. A shorter one is written without a copy of its bytes, if the socket takes it.
 */
const waitable = (response: ServerResponse, bytes: string | Uint8Array): string | Uint8Array =>
  typeof bytes === "string" && bytes.length > response.writableHighWaterMark ? Buffer.from(bytes) : bytes

/** Writes a piece of an answer. False: the socket takes no further piece until it has drained. */
export const writePiece = (response: ServerResponse, bytes: string | Uint8Array): boolean =>
  response.write(waitable(response, bytes))

/** Waits until the socket takes a further piece. A client that leaves meanwhile interrupts the wait. */
export const drained = (response: ServerResponse): Effect.Effect<void> =>
  Effect.callback((resume) => {
    const go = () => resume(Effect.void)
    // It may have drained while the fiber gave way to others on its way here.
    if (!response.writableNeedDrain) return go()
    response.once("drain", go)
    return Effect.sync(() => response.off("drain", go))
  })
