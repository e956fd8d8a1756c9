// Streams of the service: one buffer and one write for each network read, in the frames of each dialect.
// It must not depend on how a stream was made, or on what it is written on.
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import type * as Scope from "effect/Scope"
import { chatUsage } from "../../operations/usage.ts"
import { type ErrorFacts, errorFacts } from "../../api/errorFacts.ts"
import type { GatewayError } from "../../domain/GatewayError.ts"
import type { ServedBy } from "../../domain/RequestContext.ts"
import type { OpenedStream } from "../../router/ProviderRouter.ts"
import { failureText } from "../../translate/native/nativeStream.ts"
import { doneFrame, frame, pingFrame } from "../../wire/frames.ts"
import type { ChatChunk } from "../../wire/openai/ChatReply.ts"
import type { Read } from "../node/Exchange.ts"
import type { IncomingRequest } from "../request/IncomingRequest.ts"
import { errorBody } from "./errorBody.ts"
import { inClientsWords } from "./clientWords.ts"
import { errorOf } from "./ErrorResponse.ts"
import { chunkRenderer, countOutput, type StreamOptions } from "./renderChunk.ts"
import { closingHeaders, eventStreamHeaders, servedHeaders, shownCost, withEnding } from "./responseHeaders.ts"

type StreamAnswered = Effect.Effect<HttpServerResponse.HttpServerResponse, never, Scope.Scope>

/** The events of a chat stream whose last one may have its cost, for which the first one of a process loads prices. */
export const chatEvents = (
  opened: OpenedStream<ChatChunk>,
  options: StreamOptions,
  incoming: IncomingRequest
): StreamAnswered => {
  const { recorder, startedMillis } = incoming
  if (options.strict || !options.usage || recorder === undefined) return writeChat(opened, options, incoming)
  const costed = { ...options, cost: costReader(incoming, opened.served) }
  const missing = recorder.missingPrices(opened.served, startedMillis)
  return missing === undefined
    ? writeChat(opened, costed, incoming)
    : Effect.flatMap(missing, () => writeChat(opened, costed, incoming))
}

/** A function of its own, so that it does not keep the stream's source. */
const costReader = (incoming: IncomingRequest, served: ServedBy) => () => shownCost(incoming, served)

/**
 * Server-sent events of a chat stream. A failure is one error frame and the end without `[DONE]`;
 * a cut by our own shutdown sends the error frame if the connection is still open.
 */
const writeChat = (
  opened: OpenedStream<ChatChunk>,
  options: StreamOptions,
  incoming: IncomingRequest
): StreamAnswered => {
  const renderChunk = chunkRenderer(options)
  const { recorder } = incoming
  const render = (read: ReadonlyArray<ChatChunk>) => {
    recorder?.read(read)
    let text = ""
    for (const chunk of read) text += renderChunk(chunk)
    if (recorder !== undefined) for (const chunk of read) countOutput(recorder, chunk)
    return text
  }
  const isOmitted = options.strict && options.images === undefined && options.asksForImages === true
  return eventStream(letGo(opened, incoming), incoming, {
    ...(isOmitted ? { omitted: ["images"] } : {}),
    ping: pingFrame,
    render,
    ending: doneFrame,
    errorFrame: (facts) => frame(errorBody(facts, "openai", options.strict, incoming.requestId))
  })
}

/** The event with which Anthropic itself keeps a silent stream alive. */
const messagesPing = frame('{"type": "ping"}', "ping")

/** A native stream as its own bytes. A failure after the first byte ends it with one error event (T1902, T1906). */
export const passedEvents = (opened: OpenedStream<Uint8Array>, incoming: IncomingRequest): StreamAnswered =>
  eventStream(letGo(opened, incoming), incoming, {
    ping: messagesPing,
    render: (read) => {
      incoming.recorder?.read(read)
      return read.length === 1 ? read[0] : Buffer.concat(read)
    },
    ending: "",
    errorFrame: (facts) => frame(errorBody(facts, "anthropic", false, incoming.requestId), "error")
  })

/** A stream of Gemini as its own bytes, in the framing the client asked for; nothing is added to it but an error of ours (N402-N404). */
export const passedFraming = (
  opened: OpenedStream<Uint8Array>,
  framing: "sse" | "array",
  incoming: IncomingRequest
): StreamAnswered => {
  let last: Uint8Array | undefined
  return eventStream(letGo(opened, incoming), incoming, {
    ...(framing === "sse" ? {} : { contentType: "application/json; charset=UTF-8" }),
    // Google's clients take nothing but events (N403).
    ping: undefined,
    render: (read) => (last = read.length === 1 ? read[0] : Buffer.concat(read)),
    ending: "",
    errorFrame: (facts, error) =>
      failureText(framing, errorBody(facts, "google", false, incoming.requestId, error), last)
  })
}

/** The frames of a stream in the dialect of its client. */
interface DialectFrames<A> {
  /** Server-sent events unless set. */
  readonly contentType?: string
  /** Named in a header. */
  readonly omitted?: ReadonlyArray<string>
  /** Keeps a silent stream alive; undefined where clients take nothing but events. */
  readonly ping: string | undefined
  /** The recorder of the request is given what the trace reads. */
  readonly render: (read: Read<A>) => string | Uint8Array
  readonly ending: string
  readonly errorFrame: (facts: ErrorFacts, error: GatewayError) => string
}

/** A stream that may be open for minutes does not count the memory of a body that is gone. */
const letGo = <A>(opened: OpenedStream<A>, { hold }: IncomingRequest): OpenedStream<A> => {
  if (!opened.keepsRequest) hold?.giveBody()
  return opened
}

export const eventStream = <A>(
  { chunks, progress, served: target, usage }: OpenedStream<A>,
  incoming: IncomingRequest,
  frames: DialectFrames<A>
): StreamAnswered => {
  // Headers go out with the first chunk; a later word on the model comes too late for them.
  const served = withEnding(target, progress().modelStatus)
  const headers = eventStreamHeaders(servedHeaders(incoming, served, frames), frames.contentType)
  const { exchange, pingMillis, recorder } = incoming
  recorder?.opened(served, () => chatUsage(usage()), progress)
  const { ending, ping } = frames
  const content = recorder?.content
  const errorFrame = (cause: Cause.Cause<unknown>) => {
    const error = errorOf(cause)
    const facts = errorFacts(error)
    recorder?.broke(facts)
    const text = frames.errorFrame(inClientsWords(facts, incoming), error)
    content?.answered(text)
    return text
  }
  const render = (read: Read<A>) => {
    const bytes = frames.render(read)
    if (bytes.length > 0) {
      recorder?.wrote(read.length)
      content?.answered(bytes)
    }
    return bytes
  }
  return exchange.stream(chunks, {
    headers: closingHeaders(headers, incoming),
    render,
    ending,
    errorFrame,
    ping: ping === undefined ? undefined : { frame: ping, millis: pingMillis }
  })
}
