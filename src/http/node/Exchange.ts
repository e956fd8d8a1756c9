// A request and the answer to it as one interface, whichever server it came from: of the gateway, or of another application.
// It must not depend on routes, keys or the meaning of a body.
import { IncomingMessage, type IncomingHttpHeaders } from "node:http"
import type * as Arr from "effect/Array"
import * as ByteSize from "effect/ByteSize"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as HttpIncomingMessage from "effect/http/HttpIncomingMessage"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { HeaderRecord } from "../../api/Headers.ts"
import { clientDialect, knownPath } from "../../api/clientRequests.ts"
import { type NativePath, readNativePath } from "../../domain/native/nativePath.ts"
import { monotonicMillis } from "../../domain/time.ts"
import { inTurn } from "../../batching/OwnTurn.ts"
import { schedulePhase } from "../../batching/Phases.ts"
import { withoutBasePath } from "./Proxied.ts"

type Response = HttpServerResponse.HttpServerResponse

/** What has arrived over the wire; names and values of the headers by turns, as they came. */
export interface WireHead {
  readonly httpVersion: string
  readonly rawHeaders: ReadonlyArray<string>
}

/** What bounds the reading of a body. */
export interface BodyBound<E> {
  readonly mostBytes: number
  /** Counts bytes that have come; `size` is that of the body so far. The fault that it returns ends the reading. */
  readonly count: (bytes: number, size: number) => E | undefined
  readonly tooLarge: () => E
  readonly unreadable: () => E
}

/** What a stream has for one write. */
export type Read<A> = Arr.NonEmptyReadonlyArray<A>

/** How a stream is written. */
export interface Frames<A> {
  readonly headers: Record<string, string>
  /** All of a read as one buffer; empty for a read without visible content. */
  readonly render: (read: Read<A>) => string | Uint8Array
  /** Ends a stream that came to its end. */
  readonly ending: string
  /** Ends a stream that failed. */
  readonly errorFrame: (cause: Cause.Cause<unknown>) => string
  /** Written after each silence of so many milliseconds; undefined for clients that take nothing but events. */
  readonly ping: { readonly frame: string; readonly millis: number } | undefined
}

/** One request and the answer to it. */
export interface Exchange {
  readonly method: string
  /** Path and query as the client sent them. */
  readonly url: string
  readonly headers: HeaderRecord
  /** Undefined where the server shows parsed headers only. */
  readonly head: WireHead | undefined
  /** Empty for a request without a connection. */
  readonly remoteAddress: string
  /** The status of an answer whose head is written here; undefined before, and where answers are values. */
  readonly sentStatus: number | undefined
  readonly readBody: <E>(bound: BodyBound<E>) => Effect.Effect<Uint8Array, E>
  /** The answer with further headers. */
  readonly withHeaders: (
    headers: Readonly<Record<string, string>>,
    answer: Effect.Effect<Response, never, Scope.Scope>
  ) => Effect.Effect<Response, never, Scope.Scope>
  /** A complete answer of 200; `headers` are taken over. */
  readonly whole: (body: string | Uint8Array, headers: Record<string, string>) => Effect.Effect<Response>
  /** An answer of 200 that is written as the stream comes. */
  readonly stream: <A, E>(stream: Stream.Stream<A, E>, frames: Frames<A>) => Effect.Effect<Response, never, Scope.Scope>
}

/** The value of an answer that is written already. */
export const answered = HttpServerResponse.empty()

/** Only `set-cookie` would be a list, and requests have none. */
export const headersOfNode = ({ headers }: { readonly headers: IncomingHttpHeaders }): HeaderRecord =>
  headers as HeaderRecord

/** A complete answer as a value. */
export const wholeValue = (body: string | Uint8Array, headers: Record<string, string>): Response => {
  const options = { contentType: headers["content-type"], headers }
  return typeof body === "string"
    ? HttpServerResponse.text(body, options)
    : HttpServerResponse.uint8Array(body, options)
}

/** The body of Node's request: one listener costs a fifth of Effect's accessor. */
export const readMessage = <E>(message: IncomingMessage, bound: BodyBound<E>): Effect.Effect<Uint8Array, E> =>
  message.complete && !message.destroyed ? completeBody(message, bound) : arrivingBody(message, bound)

const nothing = Buffer.alloc(0)

/** A body that is here already is taken as a whole. */
const completeBody = <E>(message: IncomingMessage, { count }: BodyBound<E>): Effect.Effect<Uint8Array, E> => {
  const read: Buffer | null = message.read()
  const bytes = read ?? nothing
  const fault = count(bytes.length, bytes.length)
  return fault === undefined ? inTurn(bytes.length, () => Effect.succeed(bytes)) : Effect.fail(fault)
}

/** Joining large bodies that end together takes long, so each does it in its own turn. */
const joinParts = (parts: ReadonlyArray<Buffer>, size: number): Buffer => {
  const [only] = parts
  return only !== undefined && parts.length === 1 ? only : Buffer.concat(parts, size)
}

const arrivingBody = <E>(message: IncomingMessage, { count }: BodyBound<E>): Effect.Effect<Uint8Array, E> =>
  Effect.callback<Uint8Array, E>((resume) => {
    const parts: Array<Buffer> = []
    let size = 0
    const detach = () => {
      message.off("data", onData)
      message.off("end", onEnd)
    }
    const stop = (fault: E) => {
      detach()
      message.pause()
      resume(Effect.fail(fault))
    }
    const onData = (part: Buffer) => {
      size += part.length
      const fault = count(part.length, size)
      if (fault !== undefined) return stop(fault)
      parts.push(part)
    }
    const onEnd = () => {
      detach()
      schedulePhase("body", () => resume(Effect.succeed(joinParts(parts, size))), size)
    }
    message.on("data", onData)
    message.on("end", onEnd)
    return Effect.sync(detach)
  })

/** An exchange with the server of another application, or with a web handler: its answers are values, which middleware sees. */
export class EffectExchange implements Exchange {
  readonly sentStatus = undefined
  readonly headers: HeaderRecord
  private readonly request: HttpServerRequest.HttpServerRequest
  private readonly message: IncomingMessage | undefined

  constructor(request: HttpServerRequest.HttpServerRequest) {
    this.request = request
    this.message = request.source instanceof IncomingMessage ? request.source : undefined
    // Node's own headers where they are, for Effect's are a copy of them.
    this.headers = this.message === undefined ? request.headers : headersOfNode(this.message)
  }

  get method(): string {
    return this.request.method
  }

  get url(): string {
    return this.request.url
  }

  get head(): WireHead | undefined {
    return this.message
  }

  get remoteAddress(): string {
    return this.message?.socket.remoteAddress ?? ""
  }

  /** A client that sent `Expect: 100-continue` waits for an answer to it, which Effect's accessor alone gives. */
  readBody<E>(bound: BodyBound<E>): Effect.Effect<Uint8Array, E> {
    if (this.message !== undefined && this.headers["expect"] === undefined) return readMessage(this.message, bound)
    return this.request.arrayBuffer.pipe(
      Effect.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(bound.mostBytes)),
      Effect.mapError((error) =>
        error.reason._tag === "RequestParseError" && error.reason.reason === "BodyTooLarge"
          ? bound.tooLarge()
          : bound.unreadable()
      ),
      Effect.flatMap((buffer) => {
        const fault = bound.count(buffer.byteLength, buffer.byteLength)
        return fault === undefined ? Effect.succeed(new Uint8Array(buffer)) : Effect.fail(fault)
      })
    )
  }

  withHeaders<R>(headers: Readonly<Record<string, string>>, answer: Effect.Effect<Response, never, R>) {
    return Effect.map(answer, HttpServerResponse.setHeaders(headers))
  }

  whole(body: string | Uint8Array, headers: Record<string, string>): Effect.Effect<Response> {
    return Effect.succeed(wholeValue(body, headers))
  }

  stream<A, E>(stream: Stream.Stream<A, E>, frames: Frames<A>): Effect.Effect<Response> {
    return Effect.clockWith((clock) => {
      let last = monotonicMillis(clock)
      const render = (read: Read<A>) => {
        const bytes = Buffer.from(frames.render(read))
        if (bytes.length > 0) last = monotonicMillis(clock)
        return [bytes] as const
      }
      const pings = (millis: number, frame: string): Stream.Stream<Buffer> => {
        const due: Effect.Effect<Buffer> = Effect.suspend(() => {
          const silence = monotonicMillis(clock) - last
          if (silence < millis) return Effect.flatMap(Effect.sleep(millis - silence), () => due)
          last = monotonicMillis(clock)
          return Effect.succeed(Buffer.from(frame))
        })
        return Stream.fromEffectRepeat(due)
      }
      const { ending, errorFrame, headers, ping } = frames
      const bytes = stream.pipe(
        Stream.mapArray(render),
        Stream.concat(Stream.succeed(Buffer.from(ending))),
        Stream.catchCause((cause) =>
          Cause.hasInterruptsOnly(cause) ? Stream.failCause(cause) : Stream.succeed(Buffer.from(errorFrame(cause)))
        )
      )
      return Effect.succeed(
        HttpServerResponse.stream(
          ping === undefined ? bytes : Stream.merge(bytes, pings(ping.millis, ping.frame), { haltStrategy: "left" }),
          { contentType: headers["content-type"], headers }
        )
      )
    })
  }
}

/** A request before its route is known. */
export interface Arrival {
  readonly exchange: Exchange
  readonly method: string
  /** Path and query as the client sent them, without the base path. */
  readonly url: string
  readonly headers: HeaderRecord
  /** As the routes know it, without the query. */
  readonly path: string
  /** The model that the path names, which goes before the body's; undefined where the body alone names it. */
  readonly pathModel: string | undefined
  /** The text after `?`. */
  readonly query: string
  /** The reading of the path where it is one of Google's own dialects. */
  readonly native: NativePath | undefined
}

export const arrivalOf = (exchange: Exchange, base: string): Arrival => {
  const { headers, method } = exchange
  const url = withoutBasePath(exchange.url, base)
  const at = url.indexOf("?")
  const { model, path } = knownPath(at < 0 ? url : url.slice(0, at))
  return {
    exchange,
    method,
    url,
    headers,
    path,
    pathModel: model,
    query: at < 0 ? "" : url.slice(at + 1),
    native: readNativePath(method, path, clientDialect(headers) === "google")
  }
}
