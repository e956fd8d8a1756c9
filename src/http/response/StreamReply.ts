// Streams of the service: one buffer and one write for each network read, and empty frames that keep a silent stream alive.
// It must not depend on how a stream was made, or on the meaning of its contents.
import type { ServerResponse } from "node:http"
import type * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Channel from "effect/Channel"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import type * as Pull from "effect/Pull"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { chatUsage } from "../../accounting/usageOf.ts"
import { type ErrorFacts, errorFacts } from "../../api/errorFacts.ts"
import type { GatewayError } from "../../domain/GatewayError.ts"
import type { ProviderError } from "../../domain/ProviderError.ts"
import type { OpenedStream } from "../../router/ProviderRouter.ts"
import { failureText } from "../../translate/native/nativeStream.ts"
import { doneFrame, frame } from "../../wire/frames.ts"
import type { ChatChunk } from "../../wire/openai/ChatReply.ts"
import { answered, drained, writePiece, writeStreamHead } from "../node/NodeAnswer.ts"
import type { IncomingRequest } from "../request/IncomingRequest.ts"
import { errorBody } from "./errorBody.ts"
import { inClientsWords } from "./clientWords.ts"
import { errorOf } from "./ErrorResponse.ts"
import { chunkRenderer, countOutput, type StreamOptions } from "./renderChunk.ts"
import { closingHeaders, servedHeaders, withEnding } from "./responseHeaders.ts"
import type * as Clock from "effect/Clock"
import { monotonicMillis } from "../../domain/time.ts"

const eventStreamType = "text/event-stream; charset=utf-8"

type Answered = Effect.Effect<HttpServerResponse.HttpServerResponse>
type StreamAnswered = Effect.Effect<HttpServerResponse.HttpServerResponse, never, Scope.Scope>
type Read<A> = Arr.NonEmptyReadonlyArray<A>

/**
 * Server-sent events of a chat stream. A failure is one error frame and the end without `[DONE]`;
 * a cut by our own shutdown sends the error frame if the connection is still open.
 */
export const chatEvents = (
  opened: OpenedStream<ChatChunk>,
  options: StreamOptions,
  incoming: IncomingRequest,
  keepAlive: KeepAlive
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
  return eventStream(letGo(opened, incoming), incoming, keepAlive, {
    ...(isOmitted ? { omitted: ["images"] } : {}),
    render,
    ending: doneFrame,
    errorFrame: (facts) => frame(errorBody(facts, "openai", options.strict, incoming.requestId))
  })
}

/** A native stream as its own bytes. A failure after the first byte ends it with one error event (T1902, T1906). */
export const passedEvents = (
  opened: OpenedStream<Uint8Array>,
  incoming: IncomingRequest,
  keepAlive: KeepAlive
): StreamAnswered =>
  eventStream(letGo(opened, incoming), incoming, keepAlive, {
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
  incoming: IncomingRequest,
  keepAlive: KeepAlive
): StreamAnswered => {
  let last: Uint8Array | undefined
  return eventStream(letGo(opened, incoming), incoming, keepAlive, {
    contentType: framing === "sse" ? eventStreamType : "application/json; charset=UTF-8",
    render: (read) => (last = read.length === 1 ? read[0] : Buffer.concat(read)),
    ending: "",
    errorFrame: (facts, error) =>
      failureText(framing, errorBody(facts, "google", false, incoming.requestId, error), last)
  })
}

/** How the frames of a stream are written. */
interface Frames<A> {
  /** Server-sent events unless set. */
  readonly contentType?: string
  /** Named in a header. */
  readonly omitted?: ReadonlyArray<string>
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
  keepAlive: KeepAlive,
  frames: Frames<A>
): StreamAnswered => {
  // Headers go out with the first chunk; a later word on the model comes too late for them.
  const served = withEnding(target, progress().modelStatus)
  const headers: Record<string, string> = {
    ...servedHeaders(incoming, served, frames),
    "content-type": frames.contentType ?? eventStreamType,
    "cache-control": "no-cache, no-transform",
    "x-accel-buffering": "no"
  }
  const { node, recorder } = incoming
  recorder?.opened(served, () => chatUsage(usage()), progress)
  const { ending } = frames
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
      keepAlive.beat()
      recorder?.wrote(read.length)
      content?.answered(bytes)
    }
    return bytes
  }
  if (node === undefined)
    return Effect.succeed(valueOf(chunks, headers, { render, ending, errorFrame }, keepAlive.between))
  // Not Stream.toPull: it takes a lock and provides a context for each pull, and this pull has one reader.
  const pulled = Effect.flatMap(Effect.scope, (scope) => Channel.toPullScoped(Stream.toChannel(chunks), scope))
  return Effect.flatMap(pulled, (pull) =>
    Effect.onExit(writeReads(node, closingHeaders(headers, incoming), pull, { render, ending, errorFrame }), (exit) =>
      Exit.isFailure(exit) ? Effect.sync(() => keepAlive.lastWord(errorFrame(exit.cause))) : Effect.void
    )
  )
}

/** How the reads of a stream become bytes. */
interface Written<A> {
  /** All of a read as one buffer; empty for a read without visible content. */
  readonly render: (read: Read<A>) => string | Uint8Array
  /** Ends a stream that came to its end. */
  readonly ending: string
  /** Ends a stream that failed. */
  readonly errorFrame: (cause: Cause.Cause<unknown>) => string
}

/** Writes reads as they come: one write a read, and no further pull until the socket has drained. */
const writeReads = <A>(
  node: ServerResponse,
  headers: Record<string, string>,
  pull: Pull.Pull<Read<A>, unknown>,
  { render, ending, errorFrame }: Written<A>
): Answered => {
  const next: Answered = Effect.matchCauseEffect(pull, {
    onSuccess: (read) => {
      const bytes = render(read)
      return bytes.length === 0 || writePiece(node, bytes) ? next : Effect.flatMap(drained(node), () => next)
    },
    onFailure: (cause) => {
      if (Cause.hasInterruptsOnly(cause))
        return Effect.failCause(Cause.fromReasons(cause.reasons.filter(Cause.isInterruptReason)))
      const last = isEnd(cause) ? ending : errorFrame(cause)
      return Effect.sync(() => {
        node.end(last)
        return answered
      })
    }
  })
  return Effect.suspend(() => {
    writeStreamHead(node, headers)
    return next
  })
}

const isEnd = (cause: Cause.Cause<unknown>): boolean =>
  cause.reasons.some((reason) => Cause.isFailReason(reason) && Cause.isDone(reason.error))

/** The same as a value, for a server that is not ours. */
const valueOf = <A>(
  stream: Stream.Stream<A, ProviderError>,
  headers: Record<string, string>,
  { render, ending, errorFrame }: Written<A>,
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

// Keeps a silent stream alive with empty frames, and ends it with a last frame when the server must cut it.

/** How a stream reports its writes, and its end, to the timer that keeps it alive. */
export interface KeepAlive {
  /** Something was just sent. */
  readonly beat: () => void
  /** Writes a last frame and ends the response, if the connection is still open. */
  readonly lastWord: (frame: string) => void
  /** The frames to merge into a stream that is a value. */
  readonly between: Stream.Stream<string>
}

/**
 * One timer per stream, and none without a ping. A chunk costs one clock read, and only a silence of `pingMillis` writes a frame.
 * Writing next to the stream is safe, because every write of the stream contains whole frames.
 * Without a Node response of our own server the stream is a value, and the frames are merged into it.
 */
export const startKeepAlive = (
  response: ServerResponse | undefined,
  pingMillis: number,
  ping: string | undefined
): Effect.Effect<KeepAlive, never, Scope.Scope> =>
  ping === undefined
    ? Effect.succeed({ beat: () => {}, lastWord: (frame) => endWith(response, frame), between: Stream.empty })
    : response === undefined
      ? Effect.clockWith((clock) => Effect.succeed(mergedKeepAlive(clock, pingMillis, ping)))
      : Effect.acquireRelease(
          Effect.sync(() => new PingTimer(response, pingMillis, ping)),
          (timer) => Effect.sync(() => timer.stop())
        )

/**
 * Node writes a chunk as four parts, one tick later. This is one write: of a quiet process with thousands of silent
 * streams the pings are most of its work. A response that waits for the one before it has no socket yet.
 */
const writeFrame = (response: ServerResponse, frame: string): void => {
  const { chunkedEncoding, socket } = response
  if (socket === null || !chunkedEncoding) response.write(frame)
  // The response does not know what was written past it.
  else if (!socket.writableNeedDrain) socket.write(`${Buffer.byteLength(frame).toString(16)}\r\n${frame}\r\n`)
}

const endWith = (response: ServerResponse | undefined, frame: string): void => {
  if (response?.headersSent === true && !response.writableEnded && !response.destroyed) response.end(frame)
}

const mergedKeepAlive = (clock: Clock.Clock, pingMillis: number, ping: string): KeepAlive => {
  let last = monotonicMillis(clock)
  const beat = () => {
    last = monotonicMillis(clock)
  }
  const due: Effect.Effect<string> = Effect.suspend(() => {
    const silence = monotonicMillis(clock) - last
    if (silence < pingMillis) return Effect.flatMap(Effect.sleep(pingMillis - silence), () => due)
    beat()
    return Effect.succeed(ping)
  })
  return { beat, lastWord: () => {}, between: Stream.fromEffectRepeat(due) }
}

/** The timer of one stream. A class: each open stream has one. */
class PingTimer implements KeepAlive {
  readonly between: Stream.Stream<string> = Stream.empty
  private readonly response: ServerResponse
  private readonly pingMillis: number
  private readonly ping: string
  private last = performance.now()
  private timer: NodeJS.Timeout
  private delay: number

  constructor(response: ServerResponse, pingMillis: number, ping: string) {
    this.response = response
    this.pingMillis = pingMillis
    this.ping = ping
    this.delay = pingMillis
    this.timer = setTimeout(onTimer, pingMillis, this)
  }

  beat(): void {
    this.last = performance.now()
  }

  lastWord(frame: string): void {
    endWith(this.response, frame)
  }

  stop(): void {
    clearTimeout(this.timer)
  }

  /** Called by the timer. */
  look(): void {
    const { pingMillis, response } = this
    // A timer counts whole milliseconds.
    const rest = Math.floor(pingMillis - (performance.now() - this.last))
    if (rest > 0) return this.lookIn(rest)
    if (response.headersSent && !response.writableEnded && !response.writableNeedDrain) writeFrame(response, this.ping)
    this.beat()
    this.lookIn(pingMillis)
  }

  /** A silent stream keeps its timer. */
  private lookIn(millis: number): void {
    if (millis === this.delay) this.timer.refresh()
    else {
      this.delay = millis
      this.timer = setTimeout(onTimer, millis, this)
    }
  }
}

const onTimer = (timer: PingTimer): void => timer.look()
