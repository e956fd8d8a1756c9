// Answers of the service: one buffer for a unary answer, one buffer per network read for a stream.
// It must not know how an answer came about.
import type * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Channel from "effect/Channel"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { addAliases, answerHeaders } from "../../api/Headers.ts"
import type { ProviderError } from "../../domain/ProviderError.ts"
import type { Usage } from "../../domain/Usage.ts"
import type { OpenedStream, Served } from "../../router/ProviderRouter.ts"
import type { PassedReply } from "../../translate/messages-to-claude.ts"
import { strictlyCompletion } from "../../translate/shared/reply/strictly.ts"
import { adjustmentText } from "../../translate/Translator.ts"
import { doneFrame, frame } from "../../wire/frames.ts"
import type { ChatChunk, ChatCompletion } from "../../wire/openai/ChatReply.ts"
import { errorBody } from "./errorBody.ts"
import { type ErrorFacts, errorFacts, errorTag } from "../../api/errorFacts.ts"
import { writeStream, writeWhole, type Written } from "../node/NodeAnswer.ts"
import type { Pulse } from "./Pulse.ts"
import { arrivalHeaders, errorOf } from "./Refusal.ts"
import { charactersOfChunk, chunkRenderer, type StreamWish } from "./renderChunk.ts"
import type { Arrival } from "../request/RequestContexts.ts"
import { chatUsage } from "../../accounting/usageOf.ts"

/** A JSON answer of 200 with the headers every answer has. */
export const json = (
  value: unknown,
  arrival: Arrival,
  headers: Record<string, string> = arrivalHeaders(arrival)
): Answered => whole(JSON.stringify(value), "application/json", arrival, headers)

/** Larger answers go the way that waits until they are out, so that they count as in flight until then. */
const directLength = 1024 * 1024

const whole = (
  body: string | Uint8Array,
  contentType: string,
  arrival: Arrival,
  headers: Record<string, string>
): Answered => {
  if (arrival.node === undefined || body.length > directLength) {
    return Effect.succeed(
      typeof body === "string"
        ? HttpServerResponse.text(body, { contentType, headers })
        : HttpServerResponse.uint8Array(body, { contentType, headers })
    )
  }
  headers["content-type"] = contentType
  return writeWhole(arrival.node, closing(headers, arrival), body)
}

/** While the server leaves, no answer keeps its connection. */
const closing = (headers: Record<string, string>, { traffic }: Arrival): Record<string, string> =>
  traffic.draining ? Object.assign(headers, { connection: "close" }) : headers

const longestParams = 1024

/** Names the client made up may hold anything; a header may not. */
const paramsText = (names: ReadonlyArray<string>): string =>
  names
    .join(",")
    .slice(0, longestParams)
    .replace(/[^\x21-\x7e]/g, "?")

const servedHeaders = (arrival: Arrival, served: Served): Record<string, string> => {
  const headers = arrivalHeaders(arrival)
  headers[answerHeaders.provider] = served.slug
  headers[answerHeaders.optionIndex] = String(served.optionIndex)
  headers[answerHeaders.retryCount] = String(served.retryCount)
  headers[answerHeaders.cacheStatus] = served.cache
  if (served.ignored.length > 0) headers[answerHeaders.ignoredParams] = paramsText(served.ignored)
  if (served.adjusted !== undefined)
    headers[answerHeaders.adjustedParams] = paramsText(served.adjusted.map(adjustmentText))
  return arrival.usesAlias ? addAliases(headers) : headers
}

/** A complete answer of an operation, with who served it. */
export const answer = (value: unknown, served: Served, usage: Usage | undefined, arrival: Arrival): Answered => {
  arrival.record?.answered(served, usage)
  return json(value, arrival, servedHeaders(arrival, served))
}

export const completion = (full: ChatCompletion, served: Served, strict: boolean, arrival: Arrival): Answered =>
  answer(strict ? strictlyCompletion(full) : full, served, chatUsage(full.usage), arrival)

/**
 * Server-sent events of a chat stream. A failure is one error frame and the end without `[DONE]`;
 * a cut by our own shutdown says so where the connection still stands.
 */
export const events = (
  opened: OpenedStream<ChatChunk>,
  wish: StreamWish,
  arrival: Arrival,
  pulse: Pulse
): StreamAnswered => {
  const renderChunk = chunkRenderer(wish)
  const { record } = arrival
  const render = (read: ReadonlyArray<ChatChunk>) => {
    let text = ""
    for (const chunk of read) text += renderChunk(chunk)
    if (record !== undefined) for (const chunk of read) record.characters += charactersOfChunk(chunk)
    return text
  }
  return eventStream(opened, arrival, pulse, {
    render,
    ending: doneFrame,
    errorFrame: (facts) => frame(errorBody(facts, "openai", wish.strict, arrival.requestId))
  })
}

/** A native stream as its own bytes; what fails behind the first of them ends it with one more event (T1902, T1906). */
export const passedEvents = (opened: OpenedStream<Uint8Array>, arrival: Arrival, pulse: Pulse): StreamAnswered =>
  eventStream(opened, arrival, pulse, {
    render: (read) => (read.length === 1 ? read[0] : Buffer.concat(read)),
    ending: "",
    errorFrame: (facts) => frame(errorBody(facts, "anthropic", false, arrival.requestId), "error")
  })

/** A complete native answer as its own bytes. */
export const passed = ({ bytes, contentType, usage }: PassedReply, served: Served, arrival: Arrival): Answered => {
  arrival.record?.answered(served, chatUsage(usage))
  return whole(bytes, contentType, arrival, servedHeaders(arrival, served))
}

type Answered = Effect.Effect<HttpServerResponse.HttpServerResponse>
type StreamAnswered = Effect.Effect<HttpServerResponse.HttpServerResponse, never, Scope.Scope>
type Read<A> = Arr.NonEmptyReadonlyArray<A>

/** How the frames of a stream are written. */
interface Frames<A> {
  readonly render: (read: Read<A>) => string | Uint8Array
  readonly ending: string
  readonly errorFrame: (facts: ErrorFacts) => string
}

const eventStream = <A>(
  { chunks, progress, served, usage }: OpenedStream<A>,
  arrival: Arrival,
  pulse: Pulse,
  frames: Frames<A>
): StreamAnswered => {
  const headers: Record<string, string> = {
    ...servedHeaders(arrival, served),
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache, no-transform",
    "x-accel-buffering": "no"
  }
  const { node, record } = arrival
  record?.opened(served, () => chatUsage(usage()), progress)
  const { ending } = frames
  const errorFrame = (cause: Cause.Cause<unknown>) => {
    const error = errorOf(cause)
    const facts = errorFacts(error)
    record?.broke(errorTag(error), facts.code)
    return frames.errorFrame(facts)
  }
  const render = (read: Read<A>) => {
    record?.read(read)
    const bytes = frames.render(read)
    if (bytes.length > 0) {
      pulse.beat()
      record?.wrote(read.length)
    }
    return bytes
  }
  if (node === undefined) return Effect.succeed(valueOf(chunks, headers, { render, ending, errorFrame }, pulse.between))
  // Not Stream.toPull: it takes a lock and provides a context for each pull, and this pull has one reader.
  const pulled = Effect.flatMap(Effect.scope, (scope) => Channel.toPullScoped(Stream.toChannel(chunks), scope))
  return Effect.flatMap(pulled, (pull) =>
    Effect.onExit(writeStream(node, closing(headers, arrival), { pull, render, ending, errorFrame }), (exit) =>
      Exit.isFailure(exit) ? Effect.sync(() => pulse.lastWord(errorFrame(exit.cause))) : Effect.void
    )
  )
}

/** The same as a value, for a server that is not ours. */
const valueOf = <A>(
  stream: Stream.Stream<A, ProviderError>,
  headers: Record<string, string>,
  { render, ending, errorFrame }: Omit<Written<Read<A>>, "pull">,
  between: Stream.Stream<string>
): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.stream(
    stream.pipe(
      Stream.mapArray((read) => [Buffer.from(render(read))]),
      Stream.concat(Stream.succeed(Buffer.from(ending))),
      Stream.catchCause((cause) =>
        Cause.hasInterruptsOnly(cause) ? Stream.failCause(cause) : Stream.succeed(Buffer.from(errorFrame(cause)))
      ),
      Stream.merge(
        Stream.map(between, (text) => Buffer.from(text)),
        { haltStrategy: "left" }
      )
    ),
    { contentType: headers["content-type"], headers }
  )
