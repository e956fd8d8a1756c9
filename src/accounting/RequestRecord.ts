// What is noted of one request while it runs: moments, calls, counts, and how it ended.
// It must not know what becomes of it; taking a note costs next to nothing.
import { metrics } from "../telemetry/metrics.ts"
import { type Gauge, Histogram } from "../telemetry/Series.ts"
import type {
  AttemptTarget,
  Observed,
  ObservedAsking,
  ObservedAttempt,
  ObservedCall,
  ObservedRoute
} from "../domain/Observed.ts"
import type { LimitState } from "../domain/LimitState.ts"
import type { Admitted } from "../keys/Admission.ts"
import type { ProviderError } from "../domain/ProviderError.ts"
import type { Usage } from "../domain/Usage.ts"
import type { Served } from "../router/ProviderRouter.ts"
import type { Progress } from "../translate/Translator.ts"
import { cancelled } from "../telemetry/Meters.ts"
import type { Attributes } from "../telemetry/Tracing.ts"
import type { AnswerNotes } from "./AnswerNotes.ts"
import type { TraceContext } from "./traceContext.ts"

/** What the span of an upstream call contains, recorded when the call begins. */
export interface AttemptTrace {
  readonly headers: ObservedAttempt["headers"]
  readonly spanId: string
  readonly attributes: Attributes
  readonly answer: AnswerNotes
}

/** The trace that a request belongs to, and how its upstream calls are added to it. */
export interface TracesAttempts {
  readonly context: TraceContext
  readonly attempt: (call: ObservedCall, asking: ObservedAsking) => AttemptTrace
}

/** Moments are milliseconds of the stopwatch; 0 stands for what has not happened. */
export class AttemptRecord implements ObservedAttempt {
  readonly target: AttemptTarget
  readonly startedAt: number
  readonly stream: boolean
  chunkAt = 0
  endedAt = 0
  error: ProviderError | undefined
  readonly trace: AttemptTrace | undefined
  private readonly now: () => number

  constructor(now: () => number, target: AttemptTarget, stream: boolean, trace: AttemptTrace | undefined) {
    this.now = now
    this.target = target
    this.stream = stream
    this.trace = trace
    this.startedAt = now()
  }

  get headers(): ObservedAttempt["headers"] {
    return this.trace?.headers
  }

  answered(answer: unknown): void {
    if (this.stream) this.chunkAt = this.now()
    else {
      this.endedAt = this.now()
      this.trace?.answer.whole(answer)
    }
  }

  failed(error: ProviderError): void {
    this.endedAt = this.now()
    this.error = error
  }
}

export class RequestRecord implements Observed {
  readonly startedAt: number
  readonly attempts: Array<AttemptRecord> = []
  keyId: string | undefined
  stream = false
  served: Served | undefined
  /** Of the answer that went out, 0 before one did. */
  status = 0
  /** The tag of the failure, and the code its caller was told. */
  errorType: string | undefined
  errorCode: string | undefined
  /** The first and the latest write of a stream. */
  wroteFirstAt = 0
  wroteLastAt = 0
  /** Times between the chunks behind the first. */
  pace: Histogram | undefined
  usage: (() => Usage | undefined) | undefined
  /** Output characters that have passed as chunks of a chat. */
  characters = 0
  /** How far its stream has come; undefined for an answer without a stream. */
  progress: (() => Progress) | undefined
  /** Where its key has limits: what ends what was reserved for it, and what its answer tells of them. */
  admitted: Admitted | undefined
  limits: LimitState | undefined
  /** Where the request is traced. */
  trace: TracesAttempts | undefined
  /** Of a traced request: what it is routed by, and since when. */
  route: (ObservedRoute & { readonly startedAt: number }) | undefined
  private readonly now: () => number
  private readonly streams: () => Gauge
  private open: Gauge | undefined

  constructor(now: () => number, streams: () => Gauge) {
    this.now = now
    this.streams = streams
    this.startedAt = now()
  }

  routing({ config, configId }: ObservedRoute): void {
    if (this.trace !== undefined) this.route = { config, configId, startedAt: this.now() }
  }

  attempt(call: ObservedCall, asking: ObservedAsking): AttemptRecord {
    this.stream = asking.stream
    const attempt = new AttemptRecord(this.now, call.target, asking.stream, this.trace?.attempt(call, asking))
    this.attempts.push(attempt)
    return attempt
  }

  /** A whole answer goes out. */
  answered(served: Served, usage: Usage | undefined): void {
    this.served = served
    this.usage = () => usage
  }

  /** A stream goes out; what it uses is asked when it has ended. */
  opened(served: Served, usage: () => Usage | undefined, progress: () => Progress): void {
    this.served = served
    this.usage = usage
    this.progress = progress
    this.status = 200
    this.open = this.streams()
    this.open.value++
  }

  /** The request is over. */
  closed(): void {
    if (this.open !== undefined) this.open.value--
  }

  /** Pieces of a stream have come; nearly always nobody wants to see them. */
  read(pieces: ReadonlyArray<unknown>): void {
    if (this.trace !== undefined) this.attempts.at(-1)?.trace?.answer.read(pieces)
  }

  /** Chunks of a stream were written, all at once. */
  wrote(chunks: number): void {
    const at = this.now()
    if (this.wroteFirstAt === 0) this.wroteFirstAt = at
    else {
      this.pace ??= new Histogram(metrics.outputChunk)
      this.pace.observe((at - this.wroteLastAt) / chunks / 1000, chunks)
    }
    this.wroteLastAt = at
  }

  failed(status: number, errorType: string, errorCode: string): void {
    this.status = status
    this.broke(errorType, errorCode)
  }

  /** Fails behind the first byte, when the status is out. */
  broke(errorType: string, errorCode: string): void {
    this.errorType = errorType
    this.errorCode = errorCode
  }
}

/** The tag of a failed call; `""` of one that answered. `gone`: the client left first. */
export const attemptFailure = (attempt: AttemptRecord, record: RequestRecord, gone: boolean): string => {
  if (attempt.error !== undefined) return attempt.error.reason._tag
  if (attempt.endedAt !== 0) return ""
  // A call without an end is a stream, or it was cut: by its client, or by a deadline of ours.
  return gone ? cancelled : (record.errorType ?? (attempt.stream ? "" : cancelled))
}
