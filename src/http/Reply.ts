// Answers of the service: one buffer for a unary answer, one buffer per network read for a stream.
// It must not know how an answer came about.
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Stream from "effect/Stream"
import { answerHeaders } from "../api/Headers.ts"
import type { ProviderError } from "../domain/ProviderError.ts"
import type { Served } from "../router/ProviderRouter.ts"
import type { PassedReply } from "../translate/messages-to-claude.ts"
import { strictlyCompletion } from "../translate/shared/strictly.ts"
import { doneFrame, frame } from "../wire/frames.ts"
import type { ChatChunk, ChatCompletion } from "../wire/openai/ChatReply.ts"
import { errorBody } from "./errorBody.ts"
import { errorFacts } from "./errorFacts.ts"
import type { Pulse } from "./Pulse.ts"
import { arrivalHeaders, errorOf } from "./Refusal.ts"
import { chunkRenderer, type StreamWish } from "./renderChunk.ts"
import type { Arrival } from "./RequestContexts.ts"

/** A JSON answer of 200 with the headers every answer has. */
export const json = (
  value: unknown,
  arrival: Arrival,
  headers: Record<string, string> = arrivalHeaders(arrival)
): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.text(JSON.stringify(value), {
    contentType: "application/json",
    headers
  })

const mostIgnored = 1024

/** Names the client made up may hold anything; a header may not. */
const ignoredText = (ignored: ReadonlyArray<string>): string =>
  ignored.join(",").slice(0, mostIgnored).replace(/[^\x21-\x7e]/g, "?")

const servedHeaders = (arrival: Arrival, served: Served): Record<string, string> => {
  const headers = arrivalHeaders(arrival)
  const names = answerHeaders[arrival.prefix]
  headers[names.provider] = served.slug
  headers[names.optionIndex] = String(served.optionIndex)
  headers[names.retryCount] = String(served.retryCount)
  headers[names.cacheStatus] = served.cache
  if (served.ignored.length > 0) headers[names.ignoredParams] = ignoredText(served.ignored)
  return headers
}

/** A complete answer of an operation, with who served it. */
export const answer = (value: unknown, served: Served, arrival: Arrival): HttpServerResponse.HttpServerResponse =>
  json(value, arrival, servedHeaders(arrival, served))

export const completion = (
  full: ChatCompletion,
  served: Served,
  strict: boolean,
  arrival: Arrival
): HttpServerResponse.HttpServerResponse =>
  answer(strict ? strictlyCompletion(full) : full, served, arrival)

/**
 * Server-sent events of a chat stream. A failure is one error frame and the end without `[DONE]`;
 * a cut by our own shutdown says so where the connection still stands.
 */
export const events = (
  chunks: Stream.Stream<ChatChunk, ProviderError>,
  served: Served,
  wish: StreamWish,
  arrival: Arrival,
  pulse: Pulse
): HttpServerResponse.HttpServerResponse => {
  const render = chunkRenderer(wish)
  const frames = chunks.pipe(
    Stream.mapArray((read) => {
      let text = ""
      for (const chunk of read) text += render(chunk)
      if (text !== "") pulse.beat()
      return [Buffer.from(text)]
    }),
    Stream.concat(Stream.succeed(Buffer.from(doneFrame)))
  )
  return eventStream(frames, served, arrival, pulse, (cause) =>
    frame(errorBody(errorFacts(errorOf(cause)), "openai", wish.strict, arrival.requestId)))
}

/** A native stream as its own bytes; what fails behind the first of them ends it with one more event (T1902, T1906). */
export const passedEvents = (
  frames: Stream.Stream<Uint8Array, ProviderError>,
  served: Served,
  arrival: Arrival,
  pulse: Pulse
): HttpServerResponse.HttpServerResponse => {
  const beating = Stream.mapArray(frames, (read) => {
    pulse.beat()
    return read
  })
  return eventStream(beating, served, arrival, pulse, (cause) =>
    frame(errorBody(errorFacts(errorOf(cause)), "anthropic", false, arrival.requestId), "error"))
}

/** A complete native answer as its own bytes. */
export const passed = ({ bytes, contentType }: PassedReply, served: Served, arrival: Arrival): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.uint8Array(bytes, { contentType, headers: servedHeaders(arrival, served) })

const eventStream = (
  frames: Stream.Stream<Uint8Array, ProviderError>,
  served: Served,
  arrival: Arrival,
  pulse: Pulse,
  errorFrame: (cause: Cause.Cause<unknown>) => string
): HttpServerResponse.HttpServerResponse => {
  const body = frames.pipe(
    Stream.catchCause((cause) =>
      Cause.hasInterruptsOnly(cause) ? Stream.failCause(cause) : Stream.succeed<Uint8Array>(Buffer.from(errorFrame(cause)))
    ),
    Stream.onExit((exit) =>
      Exit.isFailure(exit) ? Effect.sync(() => pulse.lastWord(errorFrame(exit.cause))) : Effect.void
    )
  )
  return HttpServerResponse.stream(body, {
    contentType: "text/event-stream; charset=utf-8",
    headers: {
      ...servedHeaders(arrival, served),
      "cache-control": "no-cache, no-transform",
      "x-accel-buffering": "no"
    }
  })
}
