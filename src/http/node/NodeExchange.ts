// The exchange with a server of the gateway alone: answers are written on Node's own response, without copies of headers and without stream operators.
// It must not depend on what is answered.
import type { IncomingMessage, ServerResponse } from "node:http"
import * as Cause from "effect/Cause"
import * as Channel from "effect/Channel"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { HttpServerResponse } from "effect/http/HttpServerResponse"
import type * as Pull from "effect/Pull"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { HeaderRecord } from "../../api/Headers.ts"
import { schedulePhase } from "../../batching/Phases.ts"
import { closesConnection } from "./Connections.ts"
import {
  answered,
  type BodyBound,
  type Exchange,
  type Frames,
  headersOfNode,
  type Read,
  readMessage,
  type WireHead,
  wholeValue
} from "./Exchange.ts"
import { headText } from "./NodeMarks.ts"

/** Larger answers wait until they are written, so that they count as in flight until then. */
const directLength = 1024 * 1024

/** Path and query of a target, which a client of a proxy writes with its host. */
const targetOf = (url: string): string => {
  if (url.startsWith("/") || !/^https?:\/\//i.test(url) || !URL.canParse(url)) return url
  const { pathname, search } = new URL(url)
  return `${pathname}${search}`
}

/** A class: each request has one. */
export class NodeExchange implements Exchange {
  readonly method: string
  readonly url: string
  readonly headers: HeaderRecord
  private readonly message: IncomingMessage
  private readonly response: ServerResponse

  constructor(message: IncomingMessage, response: ServerResponse) {
    const { method = "GET", url = "/" } = message
    this.method = method
    this.url = targetOf(url)
    this.headers = headersOfNode(message)
    this.message = message
    this.response = response
  }

  get head(): WireHead {
    return this.message
  }

  get remoteAddress(): string {
    return this.message.socket.remoteAddress ?? ""
  }

  get sentStatus(): number | undefined {
    return this.response.headersSent ? this.response.statusCode : undefined
  }

  readBody<E>(bound: BodyBound<E>): Effect.Effect<Uint8Array, E> {
    if (this.headers["expect"] !== undefined) this.response.writeContinue()
    return readMessage(this.message, bound)
  }

  /** Answers that are written on the response take its headers along. */
  withHeaders<R>(headers: Readonly<Record<string, string>>, answer: Effect.Effect<HttpServerResponse, never, R>) {
    for (const [name, value] of Object.entries(headers)) this.response.setHeader(name, value)
    return answer
  }

  /** In one write, together with those of other requests. */
  whole(body: string | Uint8Array, headers: Record<string, string>): Effect.Effect<HttpServerResponse> {
    if (body.length > directLength) return Effect.succeed(wholeValue(body, headers))
    const { response } = this
    return Effect.sync(() => {
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
  }

  stream<A, E>(stream: Stream.Stream<A, E>, frames: Frames<A>): Effect.Effect<HttpServerResponse, never, Scope.Scope> {
    const { response } = this
    return Effect.flatMap(keepAlive(response, frames.ping), (timer) =>
      Effect.flatMap(
        // Not Stream.toPull: it takes a lock and provides a context for each pull, and this pull has one reader.
        Effect.flatMap(Effect.scope, (scope) => Channel.toPullScoped(Stream.toChannel(stream), scope)),
        (pull) =>
          Effect.onExit(writeReads(response, pull, frames, timer), (exit) =>
            Exit.isFailure(exit) ? Effect.sync(() => endOpen(response, frames.errorFrame(exit.cause))) : Effect.void
          )
      )
    )
  }

  /** Writes an answer that its handler has left to the server. */
  write(answer: HttpServerResponse): Effect.Effect<void> {
    const { message, response } = this
    if (answer === answered || response.writableEnded || response.destroyed) return Effect.void
    // Half an answer is out: its handler failed.
    if (response.headersSent) return Effect.sync(() => response.destroy())
    const { body, headers, status } = answer
    response.writeHead(status, closesConnection(message) ? { ...headers, connection: "close" } : headers)
    if (body._tag !== "Uint8Array") return Effect.sync(() => response.end())
    const bytes = body.text ?? body.body
    if (body.contentLength < directLength) return Effect.sync(() => response.end(bytes))
    return Effect.interruptible(
      Effect.callback((resume) => {
        response.once("close", () => resume(Effect.void))
        response.end(bytes)
      })
    )
  }
}

/** Writes reads as they come: one write a read, and no further pull until the socket has drained. */
const writeReads = <A>(
  response: ServerResponse,
  pull: Pull.Pull<Read<A>, unknown>,
  { ending, errorFrame, headers, render }: Frames<A>,
  timer: PingTimer | undefined
): Effect.Effect<HttpServerResponse> => {
  const next: Effect.Effect<HttpServerResponse> = Effect.matchCauseEffect(pull, {
    onSuccess: (read) => {
      const bytes = render(read)
      if (bytes.length === 0) return next
      timer?.beat()
      return response.write(waitable(response, bytes)) ? next : Effect.flatMap(drained(response), () => next)
    },
    onFailure: (cause) => {
      if (Cause.hasInterruptsOnly(cause))
        return Effect.failCause(Cause.fromReasons(cause.reasons.filter(Cause.isInterruptReason)))
      const last = isEnd(cause) ? ending : errorFrame(cause)
      return Effect.sync(() => {
        response.end(last)
        return answered
      })
    }
  })
  return Effect.suspend(() => {
    writeStreamHead(response, headers)
    return next
  })
}

const isEnd = (cause: Cause.Cause<unknown>): boolean =>
  cause.reasons.some((reason) => Cause.isFailReason(reason) && Cause.isDone(reason.error))

const oneByte = Buffer.alloc(1)

/**
 * Writes the head of a stream, together with its first piece. Node joins a head from some 60 strings, and keeps all of
 * them for as long as the stream is open, unless the head is written anywhere by itself: 1.4 KB a stream.
 */
const writeStreamHead = (response: ServerResponse, headers: Record<string, string>): void => {
  response.writeHead(200, headers)
  const head = headText(response)
  if (head !== undefined) oneByte.write(head, "latin1")
}

/**
 * While a reader takes nothing, Node keeps a text and its bytes; of a text that is a large part of what may wait, it is
 * given the bytes alone. A shorter one is written without a copy of its bytes, if the socket takes it.
 */
const waitable = (response: ServerResponse, bytes: string | Uint8Array): string | Uint8Array =>
  typeof bytes === "string" && bytes.length > response.writableHighWaterMark ? Buffer.from(bytes) : bytes

/** Waits until the socket takes a further piece. A client that leaves meanwhile interrupts the wait. */
const drained = (response: ServerResponse): Effect.Effect<void> =>
  Effect.callback((resume) => {
    const go = () => resume(Effect.void)
    // It may have drained while the fiber gave way to others on its way here.
    if (!response.writableNeedDrain) return go()
    response.once("drain", go)
    return Effect.sync(() => response.off("drain", go))
  })

/** Writes a last frame and ends the answer, if its connection is still open. */
const endOpen = (response: ServerResponse, frame: string): void => {
  if (response.headersSent && !response.writableEnded && !response.destroyed) response.end(frame)
}

/** One timer per stream, and none without a ping. */
const keepAlive = (
  response: ServerResponse,
  ping: Frames<never>["ping"]
): Effect.Effect<PingTimer | undefined, never, Scope.Scope> =>
  ping === undefined
    ? Effect.undefined
    : Effect.acquireRelease(
        Effect.sync(() => new PingTimer(response, ping.millis, ping.frame)),
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

/**
 * Keeps a silent stream alive. A chunk costs one clock read, and only a silence of `pingMillis` writes a frame. Writing
 * next to the stream is safe, because every write of the stream contains whole frames. A class: each open stream has one.
 */
class PingTimer {
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

  /** Something was just sent. */
  beat(): void {
    this.last = performance.now()
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
