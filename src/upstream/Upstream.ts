// Calls an upstream with a prepared request: one complete response, or a stream with one stage per network read.
// Must not know accounts, dialects or retries.
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { inTurn } from "../batching/OwnTurn.ts"
import type { GatewayError } from "../domain/GatewayError.ts"
import { Limits } from "../domain/Limits.ts"
import { ProviderError, type Reason, withTexts } from "../domain/ProviderError.ts"
import type { Room, Shortage } from "../domain/RequestContext.ts"
import { type HiddenValue, Redaction } from "../domain/text/redaction.ts"
import type { Progress } from "../translate/Translator.ts"
import type { Usage } from "../wire/openai/ChatReply.ts"
import { badStream, ChunkPull, type NextHops, unanswered } from "./ChunkPull.ts"
import { credentialsIn } from "./ConnectionPool.ts"
import {
  type AuthHeaders,
  type CollectedResponse,
  faultReason,
  noRoom,
  retryAfterMillis,
  type TransportFault,
  type TransportRequest,
  type TransportResponse,
  upstreamSubject
} from "./HttpExchange.ts"
import { labelled } from "./labelled.ts"
import type { Prepared } from "./Prepared.ts"
import { Transport } from "./Transport.ts"

export type { AuthHeaders } from "./HttpExchange.ts"

/** Timeouts of one attempt in milliseconds; `total` includes connect and first byte. `isFresh`: on a new socket only. */
export interface AttemptTimes {
  readonly connectMillis: number
  readonly firstByteMillis: number
  readonly idleMillis: number
  readonly totalMillis: number
  readonly isFresh?: boolean
  readonly tls?: TransportRequest["tls"]
  /** Learns when the request is written to a socket. */
  readonly observed?: TransportRequest["observed"]
}

/** A stream with its first chunk. */
export interface Opened<Chunk> {
  readonly chunks: Stream.Stream<Chunk, ProviderError>
  /** The token counts of the upstream so far; `progress` has whether they are final. */
  readonly usage: () => Usage | undefined
  readonly progress: () => Progress
  /** False: nothing of the stream refers to the request any more. */
  readonly keepsRequest: boolean
}

/** Makes a later call of a long answer, with an authorisation and times of its own. `usage` counts the calls so far. */
export type SendLater = <A, R>(
  usage: Usage | undefined,
  send: (auth: AuthHeaders, times: AttemptTimes) => Effect.Effect<A, ProviderError, R>
) => Effect.Effect<A, GatewayError, R>

export class Upstream extends Context.Service<
  Upstream,
  {
    /**
     * One call, one complete response. `room` counts the request body during the call and the response until the
     * request ends.
     */
    readonly once: <Out, Chunk>(
      prepared: Prepared<Out, Chunk>,
      auth: AuthHeaders,
      times: AttemptTimes,
      room?: Room
    ) => Effect.Effect<Out, ProviderError>
    /**
     * Succeeds with the first chunk; a failure in the first event fails here. Later failures fail the stream. `later`
     * makes the further calls of an answer that is longer than one call gives.
     */
    readonly open: <Out, Chunk>(
      prepared: Prepared<Out, Chunk>,
      auth: AuthHeaders,
      times: AttemptTimes,
      room?: Room,
      later?: SendLater
    ) => Effect.Effect<Opened<Chunk>, ProviderError, Scope.Scope>
  }
>()("gateway/upstream/Upstream") {
  static readonly layer: Layer.Layer<Upstream, never, Transport> = Layer.effect(
    Upstream,
    Effect.gen(function* () {
      const transport = yield* Transport
      const { replyBytes, errorBytes } = yield* Limits
      const bounds = { replyBytes, errorBytes }
      return {
        once: (prepared, auth, times, room) =>
          inTurn(room?.size, () =>
            withBody(
              prepared,
              requestOf(prepared, auth, times, room),
              false,
              (request) => transport.collect(request, bounds),
              (response) => readAnswer(prepared, response, redactionOf(prepared, auth))
            )
          ),
        open: (prepared, auth, times, room, later) => {
          const opened = <A>(
            call: Prepared<unknown, unknown>,
            headers: AuthHeaders,
            limits: AttemptTimes,
            read: (response: TransportResponse, redaction: Redaction) => Effect.Effect<A, ProviderError>
          ) =>
            inTurn(room?.size, () =>
              withBody(call, requestOf(call, headers, limits, room), true, transport.open, (response) => {
                const redaction = redactionOf(call, headers)
                return Effect.onError(
                  response.status >= 200 && response.status < 300
                    ? read(response, redaction)
                    : readFailure(call, response, errorBytes, redaction),
                  () => response.close
                )
              })
            )
          const { hops } = prepared
          if (hops === undefined || later === undefined)
            return opened(prepared, auth, times, (response, redaction) =>
              openChunks(prepared, response, redaction, room, undefined)
            )
          return Effect.flatMap(Effect.scope, (scope) => {
            const next: NextHops["next"] = (token, usage) =>
              Effect.provideService(
                later(usage, (headers, limits) =>
                  opened({ ...prepared, body: hops.body(token) }, headers, limits, (response) =>
                    Effect.succeed(response)
                  )
                ),
                Scope.Scope,
                scope
              )
            return opened(prepared, auth, times, (response, redaction) =>
              openChunks(prepared, response, redaction, room, { most: hops.most, next })
            )
          })
        }
      }
    })
  )
}

/** Counts the request body during the call. The body is not needed after the response, or its head, has arrived. */
const withBody = <A, B, R>(
  prepared: Prepared<unknown, unknown>,
  request: TransportRequest,
  isStream: boolean,
  call: (request: TransportRequest) => Effect.Effect<A, TransportFault, R>,
  read: (answer: A) => Effect.Effect<B, ProviderError>
): Effect.Effect<B, ProviderError, R> => {
  const { body, room } = request
  const bytes = body?.length ?? 0
  const shortage = room?.take(bytes)
  if (shortage !== undefined) return Effect.fail(uncalled(prepared, shortage))
  return Effect.matchEffect(call(request), {
    onFailure: (fault) => {
      room?.give(bytes)
      return Effect.fail(unanswered(prepared.target.slug, fault, isStream))
    },
    onSuccess: (answer) => {
      room?.give(bytes)
      return read(answer)
    }
  })
}

/** A longer text is kept as bytes only while its call runs; the connection needs the bytes anyway. */
const longestText = 1024 * 1024

const textOrBytes = (text: string): string | Uint8Array => (text.length > longestText ? Buffer.from(text) : text)

/** The only place that prints the upstream body. */
const requestOf = (
  prepared: Prepared<unknown, unknown>,
  auth: AuthHeaders,
  times: AttemptTimes,
  room: Room | undefined
): TransportRequest => {
  const call = labelled(prepared)
  return {
    method: call.method,
    url: call.url,
    headers: call.headers,
    auth,
    body: call.bytes ?? textOrBytes(JSON.stringify(call.body)),
    room,
    isFresh: times.isFresh,
    tls: times.tls,
    observed: times.observed,
    connectMillis: times.connectMillis,
    firstByteMillis: times.firstByteMillis,
    idleMillis: times.idleMillis,
    totalMillis: times.totalMillis
  }
}

const uncalled = (prepared: Prepared<unknown, unknown>, shortage: Shortage): ProviderError => {
  const reason = faultReason({ kind: noRoom[shortage] }, upstreamSubject(false))
  return new ProviderError({
    slug: prepared.target.slug,
    reason: reason._tag === "NoRoom" ? { ...reason, isUncalled: true } : reason
  })
}

/** Hides the credential of the call and the location of an operator's own host in errors (TH22). */
const redactionOf = ({ url }: Prepared<unknown, unknown>, auth: AuthHeaders): Redaction =>
  new Redaction(() => [...credentialsIn(auth), ...placesIn(url)])

/**
 * Host, port and the path before the version. A host name without a dot or dash may be an ordinary word, so it stays.
 */
const placesIn = (url: string): ReadonlyArray<HiddenValue> => {
  const { host, hostname, pathname } = new URL(url)
  const base = /^(\/.*?)\/v\d\w*\//.exec(pathname)?.[1] ?? ""
  return [host, /[.-]/.test(hostname) ? hostname : "", base].map((value) => ({ value, put: "[upstream]" }))
}

const readAnswer = <Out>(
  prepared: Prepared<Out, unknown>,
  { bytes, headers, status }: CollectedResponse,
  redaction: Redaction
): Effect.Effect<Out, ProviderError> => {
  const result = prepared.reply(status, headers, bytes, redaction)
  return Result.isSuccess(result) ? Effect.succeed(result.success) : failAdvised(result.failure, headers, redaction)
}

/**
 * Fails with the delay of the upstream's retry-after header, which takes precedence over its body. Redacts the texts.
 */
const failAdvised = (
  quoting: ProviderError,
  headers: Readonly<Record<string, string>>,
  redaction: Redaction
): Effect.Effect<never, ProviderError> =>
  Effect.clockWith((clock) => {
    const millis = retryAfterMillis(headers, clock.currentTimeMillisUnsafe())
    const error = withTexts(quoting, (text) => redaction.text(text))
    const { slug, reason, upstreamStatus } = error
    if (millis === undefined || !takesAdvice(reason)) return Effect.fail(error)
    return Effect.fail(
      new ProviderError({
        slug,
        reason: { ...reason, retryAfterMillis: millis },
        ...(upstreamStatus === undefined ? {} : { upstreamStatus })
      })
    )
  })

const takesAdvice = (reason: Reason): reason is Extract<Reason, { readonly retryAfterMillis?: number }> =>
  reason._tag === "RateLimited" ||
  reason._tag === "QuotaExhausted" ||
  reason._tag === "Overloaded" ||
  reason._tag === "Internal"

/** Reads the bounded body of a refused stream. A body that breaks off keeps the status. */
const readFailure = (
  prepared: Prepared<unknown, unknown>,
  { status, headers, body, close }: TransportResponse,
  errorBytes: number,
  redaction: Redaction
): Effect.Effect<never, ProviderError> => {
  const reads: Array<Uint8Array> = []
  let size = 0
  const collect: Effect.Effect<void> = Effect.matchEffect(body, {
    onFailure: () => Effect.void,
    onSuccess: (pulled) => {
      for (const bytes of pulled) {
        reads.push(bytes.subarray(0, errorBytes - size))
        size += Math.min(bytes.length, errorBytes - size)
      }
      return size < errorBytes ? collect : close
    }
  })
  return Effect.flatMap(
    Effect.suspend(() => collect),
    () => {
      const result = prepared.reply(status, headers, Buffer.concat(reads), redaction)
      return failAdvised(Result.isFailure(result) ? result.failure : unexpected(prepared, status), headers, redaction)
    }
  )
}

const unexpected = (prepared: Prepared<unknown, unknown>, upstreamStatus: number): ProviderError =>
  new ProviderError({
    slug: prepared.target.slug,
    upstreamStatus,
    reason: {
      _tag: "BadReply",
      kind: "unreadable",
      message: "The upstream answered with a status that means nothing here."
    }
  })

/** Pulls until the first chunk exists, and returns the stream that begins with it. */
const openChunks = <Chunk>(
  prepared: Prepared<unknown, Chunk>,
  response: TransportResponse,
  redaction: Redaction,
  room: Room | undefined,
  hops: NextHops | undefined
): Effect.Effect<Opened<Chunk>, ProviderError> => {
  const chunks = new ChunkPull(prepared, response, redaction, room, hops)
  return Effect.matchEffect(chunks.pull, {
    onFailure: (error): Effect.Effect<never, ProviderError> =>
      Cause.isDone(error)
        ? Effect.fail(badStream(prepared.target.slug, "empty", "The upstream's stream ended before it began."))
        : failAdvised(error, response.headers, redaction),
    onSuccess: (first) => {
      chunks.putBack(first)
      return Effect.succeed(openedOf(chunks, hops !== undefined))
    }
  })
}

/** A function of its own: closures of `openChunks` would keep the request for as long as the stream is open. */
const openedOf = <Chunk>(chunks: ChunkPull<Chunk>, keepsRequest: boolean): Opened<Chunk> => ({
  chunks: Stream.fromPull(Effect.succeed(chunks.pull)),
  usage: () => chunks.usage(),
  progress: () => chunks.progress(),
  keepsRequest
})
