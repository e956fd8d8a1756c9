// Calls a prepared request: one complete answer, or a stream of chunks in one stage per network read.
// It must not know accounts, dialects or retries.
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Pull from "effect/Pull"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { Limits } from "../domain/Limits.ts"
import { ProviderError, type Reason, withTexts } from "../domain/ProviderError.ts"
import { type HiddenValue, Redaction } from "../domain/text/redaction.ts"
import type { Room, Shortage } from "../domain/Room.ts"
import { isStreamFailed, type Progress } from "../translate/Translator.ts"
import type { Usage } from "../wire/openai/ChatReply.ts"
import type { Prepared } from "./Prepared.ts"
import { retryAfterMillis } from "./retryAfter.ts"
import type { AuthHeaders, CollectedResponse, TransportRequest, TransportResponse } from "./HttpExchange.ts"
import { credentialsIn, Transport } from "./Transport.ts"
import { faultReason, noRoom, TransportFault } from "./TransportFault.ts"

export type { AuthHeaders } from "./HttpExchange.ts"

/** Timers of one attempt in milliseconds; `total` also covers connect and first byte. */
export interface AttemptTimes {
  readonly connectMillis: number
  readonly firstByteMillis: number
  readonly idleMillis: number
  readonly totalMillis: number
}

/** A stream that has begun. */
export interface Opened<Chunk> {
  readonly chunks: Stream.Stream<Chunk, ProviderError>
  /** What the upstream has counted so far, and whether those are its last counts. */
  readonly usage: () => Usage | undefined
  readonly progress: () => Progress
}

export class Upstream extends Context.Service<
  Upstream,
  {
    /** One call, one complete answer. `room` counts the body until the call is over, and the answer until its request is. */
    readonly once: <Out, Chunk>(
      prepared: Prepared<Out, Chunk>,
      auth: AuthHeaders,
      times: AttemptTimes,
      room?: Room
    ) => Effect.Effect<Out, ProviderError>
    /** Succeeds when the first chunk exists; a failure hidden in the first event fails here. Later failures fail the stream. */
    readonly open: <Out, Chunk>(
      prepared: Prepared<Out, Chunk>,
      auth: AuthHeaders,
      times: AttemptTimes,
      room?: Room
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
          withBody(
            prepared,
            requestOf(prepared, auth, times, room),
            (request) => transport.collect(request, bounds),
            (response) => readAnswer(prepared, response, redactionOf(prepared, auth))
          ),
        open: (prepared, auth, times, room) =>
          withBody(prepared, requestOf(prepared, auth, times, room), transport.open, (response) => {
            const redaction = redactionOf(prepared, auth)
            return Effect.onError(
              response.status >= 200 && response.status < 300
                ? openChunks(prepared, response, redaction, room)
                : readFailure(prepared, response, errorBytes, redaction),
              () => response.close
            )
          })
      }
    })
  )
}

/** Calls while the body of the request is counted: nothing of it is needed once the answer, or its head, is there. */
const withBody = <A, B, R>(
  prepared: Prepared<unknown, unknown>,
  request: TransportRequest,
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
      return Effect.fail(unanswered(prepared, fault))
    },
    onSuccess: (answer) => {
      room?.give(bytes)
      return read(answer)
    }
  })
}

/** A longer text is kept as bytes alone while its call runs; the connection needs these anyway. */
const longestText = 1024 * 1024

const textOrBytes = (text: string): string | Uint8Array => (text.length > longestText ? Buffer.from(text) : text)

/** The one place where the upstream body becomes text. */
const requestOf = (
  prepared: Prepared<unknown, unknown>,
  auth: AuthHeaders,
  times: AttemptTimes,
  room: Room | undefined
): TransportRequest => ({
  method: prepared.method,
  url: prepared.url,
  headers: prepared.headers,
  auth,
  body: prepared.bytes ?? textOrBytes(JSON.stringify(prepared.body)),
  room,
  connectMillis: times.connectMillis,
  firstByteMillis: times.firstByteMillis,
  idleMillis: times.idleMillis,
  totalMillis: times.totalMillis
})

const uncalled = (prepared: Prepared<unknown, unknown>, shortage: Shortage): ProviderError => {
  const reason = faultReason(noRoom[shortage], "The upstream")
  return new ProviderError({
    slug: prepared.target.slug,
    reason: reason._tag === "NoRoom" ? { ...reason, isUncalled: true } : reason
  })
}

const unanswered = (prepared: Prepared<unknown, unknown>, fault: TransportFault): ProviderError =>
  new ProviderError({ slug: prepared.target.slug, reason: faultReason(fault.kind, "The upstream") })

/** What an error of this call must not quote: its credential, and where an operator's own host is (TH22). */
const redactionOf = ({ url }: Prepared<unknown, unknown>, auth: AuthHeaders): Redaction =>
  new Redaction(() => [...credentialsIn(auth), ...placesIn(url)])

/** Host and port, and what stands before the version in the path. A name without a dot or a dash may be an ordinary word. */
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

/** Fails with what the upstream's retry-after header advises, which wins over its body. A provider may have quoted what it must not. */
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

/** Reads the bounded body of a refused stream; a body that breaks off does not hide the status. */
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
    onSuccess: (some) => {
      for (const bytes of some) {
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

type Chunks<Chunk> = readonly [Chunk, ...Array<Chunk>]

const isSome = <Chunk>(chunks: ReadonlyArray<Chunk>): chunks is Chunks<Chunk> => chunks.length > 0

/** Pulls until the first chunk exists, then is the stream that begins with it. */
const openChunks = <Chunk>(
  prepared: Prepared<unknown, Chunk>,
  response: TransportResponse,
  redaction: Redaction,
  room: Room | undefined
): Effect.Effect<Opened<Chunk>, ProviderError> => {
  const { progress, pull, putBack, usage } = chunkPull(prepared, response, redaction, room)
  return Effect.matchEffect(pull, {
    onFailure: (error): Effect.Effect<never, ProviderError> =>
      Cause.isDone(error)
        ? Effect.fail(badStream(prepared, "empty", "The upstream's stream ended before it began."))
        : failAdvised(error, response.headers, redaction),
    onSuccess: (chunks) => {
      putBack(chunks)
      return Effect.succeed({ chunks: Stream.fromPull(Effect.succeed(pull)), usage, progress })
    }
  })
}

interface ChunkPull<Chunk> {
  readonly pull: Pull.Pull<Chunks<Chunk>, ProviderError>
  /** Has the next pull give these once more. */
  readonly putBack: (chunks: Chunks<Chunk>) => void
  readonly usage: () => Usage | undefined
  readonly progress: () => Progress
}

const lineFeed = 0x0a
/** Shorter ones are part of what a stream costs anyway. */
const leastCounted = 64 * 1024

/** Counts the bytes of a long line that has not ended: pictures come as one, and all of it waits in memory. */
class OpenLine {
  private readonly room: Room | undefined
  private bytes = 0
  private counted = 0

  constructor(room: Room | undefined) {
    this.room = room
  }

  read(reads: ReadonlyArray<Uint8Array>): Shortage | undefined {
    for (const read of reads) {
      const end = read.lastIndexOf(lineFeed)
      this.bytes = end < 0 ? this.bytes + read.length : read.length - end - 1
    }
    const wanted = this.bytes < leastCounted ? 0 : this.bytes
    const more = wanted - this.counted
    if (more === 0) return undefined
    if (more < 0) this.room?.give(-more)
    const shortage = more < 0 ? undefined : this.room?.take(more)
    if (shortage === undefined) this.counted = wanted
    return shortage
  }
}

/** The single stage: all bytes of a read go through the machine, all its chunks come out as one array. */
const chunkPull = <Chunk>(
  prepared: Prepared<unknown, Chunk>,
  response: TransportResponse,
  redaction: Redaction,
  room: Room | undefined
): ChunkPull<Chunk> => {
  const openLine = new OpenLine(room)
  let held: Chunks<Chunk> | undefined
  let current = prepared.chunks(response.headers, redaction)
  let begun = false
  let end: Pull.Pull<never, ProviderError> | undefined
  let isWhole = false

  const emit = (chunks: ReadonlyArray<Chunk>): Pull.Pull<Chunks<Chunk>, ProviderError> => {
    if (!isSome(chunks)) return end ?? pull
    begun = true
    return Effect.succeed(chunks)
  }
  const take = (outputs: ReturnType<typeof current.halt>, into: Array<Chunk>): void => {
    for (const output of outputs) {
      if (end !== undefined) return
      if (isStreamFailed(output)) {
        const error = new ProviderError({
          slug: prepared.target.slug,
          reason: output.reason,
          upstreamStatus: response.status
        })
        end = Effect.fail(withTexts(error, (text) => redaction.text(text)))
      } else into.push(output)
    }
  }
  const read: Pull.Pull<Chunks<Chunk>, ProviderError> = Effect.matchEffect(response.body, {
    onSuccess: (reads) => {
      const chunks: Array<Chunk> = []
      const [next, outputs] = current.steps(reads)
      current = next
      take(outputs, chunks)
      const shortage = openLine.read(reads)
      if (shortage !== undefined)
        end ??= Effect.fail(unanswered(prepared, new TransportFault({ kind: noRoom[shortage] })))
      return emit(chunks)
    },
    onFailure: (error) => {
      if (!Cause.isDone(error)) return (end = Effect.fail(broken(prepared, error, begun)))
      const chunks: Array<Chunk> = []
      take(current.halt(), chunks)
      isWhole = end === undefined
      end ??= Cause.done()
      return emit(chunks)
    }
  })
  const pull: Pull.Pull<Chunks<Chunk>, ProviderError> = Effect.suspend(() => {
    if (held === undefined) return end ?? read
    const chunks = held
    held = undefined
    return Effect.succeed(chunks)
  })
  return {
    pull,
    putBack: (chunks) => {
      held = chunks
    },
    usage: () => current.usage(),
    progress: () => {
      const { characters, isCounted = isWhole } = current.progress()
      return { characters, isCounted }
    }
  }
}

/** A connection that breaks after chunks have gone out is a cut answer; before that the call may be tried again. */
const broken = (prepared: Prepared<unknown, unknown>, fault: TransportFault, begun: boolean): ProviderError =>
  begun && fault.kind === "reset"
    ? badStream(prepared, "truncated", "The upstream closed the connection in the middle of its answer.")
    : unanswered(prepared, fault)

const badStream = (prepared: Prepared<unknown, unknown>, kind: "empty" | "truncated", message: string): ProviderError =>
  new ProviderError({ slug: prepared.target.slug, reason: { _tag: "BadReply", kind, message } })
