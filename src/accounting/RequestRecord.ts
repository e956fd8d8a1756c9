// The record of one request while it runs: its metadata and trace context, times, upstream calls, counts, and how it ended.
// Must not know how the record is used; each method must be cheap, because it runs on the request path.
import type * as Effect from "effect/Effect"
import type { HeaderRecord } from "../api/Headers.ts"
import { type ErrorFacts, errorFacts } from "../api/errorFacts.ts"
import { isJsonObject } from "../domain/text/json.ts"
import { metrics } from "../telemetry/metrics.ts"
import { type Gauge, Histogram } from "../telemetry/Series.ts"
import type {
  AttemptTarget,
  Observed,
  ObservedAsking,
  ObservedAttempt,
  ObservedCall,
  ObservedRoute,
  ServedBy
} from "../domain/RequestContext.ts"
import type { LimitState } from "../domain/RateCounts.ts"
import type { Admitted } from "../keys/Admission.ts"
import type { ProviderError } from "../domain/ProviderError.ts"
import type { Prices } from "../catalog/Prices.ts"
import { invoice, type Price, type Usage } from "../domain/Usage.ts"
import type { Progress } from "../translate/Translator.ts"
import { cancelledOutcome } from "../telemetry/Meters.ts"
import type { Attributes } from "../telemetry/Tracing.ts"
import type { GatewayKey } from "../domain/GatewayKey.ts"
import type { ContentCapture } from "./ContentCapture.ts"
import type { ResponseObserver } from "./ResponseObserver.ts"

export interface RequestMeta {
  /** The id in the response: the client's `x-request-id`, else `freshId`. */
  readonly requestId: string
  readonly traceId: string
  readonly startedMillis: number
  /** A UUIDv7 made by the gateway for this request. */
  readonly freshId: string
  /** Lower-case names; a repeated header is joined as Node joins it. */
  readonly headers: HeaderRecord
}

// W3C trace context: parses traceparent and tracestate of a request, and prints traceparent for an upstream.

/** The client's span, the parent of the request. */
interface TraceParent {
  readonly traceId: string
  readonly spanId: string
  readonly sampled: boolean
}

/** Later versions may add fields after a further dash; version ff and ids of zeros are invalid. */
const traceparentGrammar = /^(?!ff)[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(-.*)?$/

export const parseTraceparent = (text: string): TraceParent | undefined => {
  const [, traceId, spanId, flags, more] = traceparentGrammar.exec(text) ?? []
  return traceId === undefined ||
    spanId === undefined ||
    flags === undefined ||
    (more !== undefined && text.startsWith("00"))
    ? undefined
    : { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 }
}

/** Prints the header that makes a span the parent of the receiver's spans. */
export const traceparentOf = ({ sampled, spanId, traceId }: TraceParent): string =>
  `00-${traceId}-${spanId}-${sampled ? "01" : "00"}`

/** The trace of a request, its parent span, and the client's `tracestate`. */
export interface TraceContext {
  readonly traceId: string
  readonly parent: TraceParent | undefined
  readonly state: string | undefined
}

const idGrammar = /^(?!0{32})[\da-f]{32}$/
const stateGrammar = /^[\x20-\x7e]{1,512}$/

/** `given` is the id in the response, in any form; `fresh` replaces it where it is not a valid trace id. */
export const traceContextOf = (headers: HeaderRecord, given: string, fresh: string): TraceContext => {
  const parent = parseTraceparent(headers["traceparent"] ?? "")
  const state = headers["tracestate"]
  return {
    traceId: parent?.traceId ?? (idGrammar.test(given) ? given : fresh.replaceAll("-", "")),
    parent,
    state: parent !== undefined && state !== undefined && stateGrammar.test(state) ? state : undefined
  }
}

/** The contents of the span of an upstream call, recorded when the call begins. */
export interface AttemptTrace {
  readonly headers: ObservedAttempt["headers"]
  readonly spanId: string
  readonly attributes: Attributes
  readonly answer: ResponseObserver
}

/** The error in a response. Its message may quote an upstream. */
export type RequestError = Pick<ErrorFacts, "code" | "message" | "param">

/** The trace of a request; `attempt` adds an upstream call to it. */
export interface TracesAttempts {
  readonly context: TraceContext
  readonly attempt: (call: ObservedCall, asking: ObservedAsking) => AttemptTrace
}

/** What the usage of a request costs by the price of its target. */
export interface Charge {
  /** Millionths of a US dollar; undefined without usage or without a price. */
  readonly micros: number | undefined
  /** Something was used whose price is not known. */
  readonly isPartial: boolean
}

const noCharge: Charge = { micros: undefined, isPartial: false }

export const chargeOf = (usage: Usage | undefined, price: Price | undefined, place: string | undefined): Charge => {
  if (usage === undefined || price === undefined) return noCharge
  const { isPartial, nanos } = invoice(usage, price, place)
  return { micros: Math.round(nanos / 1e3), isPartial }
}

/** An upstream that does not count reports zeros, which mean no usage. */
export const countedUsage = (usage: Usage | undefined): Usage | undefined =>
  usage === undefined || usage.input + usage.output + usage.images === 0 ? undefined : usage

/** What captures the content of a request with this key. */
type CaptureOf = (key: GatewayKey) => ContentCapture | undefined

/** Times are milliseconds of the stopwatch; 0 means not yet. */
export class AttemptRecord implements ObservedAttempt {
  readonly target: AttemptTarget
  readonly startedAt: number
  readonly stream: boolean
  authorizedAt = 0
  sentAt = 0
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

  /** A call that is sent again keeps the times of the first sending. */
  authorized(): void {
    if (this.authorizedAt === 0) this.authorizedAt = this.now()
  }

  sent(): void {
    if (this.sentAt === 0) this.sentAt = this.now()
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

/** The person or account that a request names. */
const namedUser = (request: unknown): string | undefined => {
  if (!isJsonObject(request)) return undefined
  const { safety_identifier: identifier, user = identifier } = request
  return typeof user === "string" && user !== "" ? user : undefined
}

export class RequestRecord implements Observed {
  readonly startedAt: number
  attempts: ReadonlyArray<AttemptRecord> = []
  keyId: string | undefined
  /** The person or account that the client named. */
  user: string | undefined
  stream = false
  served: ServedBy | undefined
  /** The status of the response; 0 before it is sent. */
  status = 0
  /** The error in the response. */
  error: RequestError | undefined
  /** The times of the first and the latest write of a stream. */
  wroteFirstAt = 0
  wroteLastAt = 0
  /** Times between the chunks after the first one. */
  pace: Histogram | undefined
  /** Places in the config of the targets that were passed over because their circuits were open. */
  skipped: ReadonlyArray<number> = []
  /** The refusals after which the call was changed. */
  heals: ReadonlyArray<string> = []
  usage: (() => Usage | undefined) | undefined
  /** Of the whole usage; undefined until its answer or its row asks for it. */
  charge: Charge | undefined
  /** Output characters in the chat chunks so far. */
  characters = 0
  /** Those chunks had pictures. */
  hasMedia = false
  /** The progress of the stream; undefined for a response without a stream. */
  progress: (() => Progress) | undefined
  /** For a key with limits: the reservation to settle, and the state for the response headers. */
  admitted: Admitted | undefined
  limits: LimitState | undefined
  /** Undefined without tracing. */
  trace: TracesAttempts | undefined
  /** Undefined unless the content of the request is kept. */
  content: ContentCapture | undefined
  /** Its config and metadata, those of the key first: a refusal before the routing is counted by them too. */
  route: ObservedRoute | undefined
  /** When routing began, for a traced request. */
  routedAt = 0
  /** Undefined where no answer shows its cost. */
  readonly prices: Prices["Service"] | undefined
  private readonly now: () => number
  private readonly streams: () => Gauge
  private readonly capture: CaptureOf | undefined
  private open: Gauge | undefined

  constructor(now: () => number, streams: () => Gauge, capture?: CaptureOf, prices?: Prices["Service"]) {
    this.now = now
    this.streams = streams
    this.capture = capture
    this.prices = prices
    this.startedAt = now()
  }

  /** The key of the request is known. */
  keyed(key: GatewayKey): void {
    this.keyId = key.id
    if (key.metadata !== undefined) this.route = { config: undefined, configId: undefined, metadata: key.metadata }
    this.content = this.capture?.(key)
  }

  routing(route: ObservedRoute): void {
    this.route = route
    if (this.trace !== undefined) this.routedAt = this.now()
  }

  attempt(call: ObservedCall, asking: ObservedAsking): AttemptRecord {
    this.stream = asking.stream
    this.user ??= namedUser(asking.request)
    this.content?.called(call)
    const attempt = new AttemptRecord(this.now, call.target, asking.stream, this.trace?.attempt(call, asking))
    this.attempts = this.attempts.concat(attempt)
    return attempt
  }

  passedOver(target: number): void {
    if (!this.skipped.includes(target)) this.skipped = this.skipped.concat(target)
  }

  healed(rows: ReadonlyArray<string>): void {
    this.heals = rows
  }

  /** A complete response is sent. */
  answered(served: ServedBy, usage: Usage | undefined): void {
    this.served = served
    this.usage = () => usage
  }

  /** A stream begins; its usage is read when it has ended. */
  opened(served: ServedBy, usage: () => Usage | undefined, progress: () => Progress): void {
    this.served = served
    this.usage = usage
    this.progress = progress
    this.status = 200
    this.open = this.streams()
    this.open.value++
  }

  /** Computes the charge, once the usage is whole; undefined while the prices are not loaded. */
  charged(startedMillis: number): Charge | undefined {
    const { prices, served } = this
    const usage = countedUsage(this.usage?.())
    if (usage === undefined || served === undefined) return noCharge
    if (this.charge === undefined) {
      const counted = prices?.counted(served.slug, served.modelId, startedMillis)
      if (counted !== undefined) this.charge = chargeOf(usage, counted.price, served.place)
    }
    return this.charge
  }

  /** Loads the prices of the target that answers; undefined where they are here. */
  missingPrices({ modelId, slug }: ServedBy, startedMillis: number): Effect.Effect<void> | undefined {
    const { prices } = this
    return prices?.counted(slug, modelId, startedMillis) === undefined ? prices?.load : undefined
  }

  /** The request has ended. */
  closed(): void {
    if (this.open !== undefined) this.open.value--
  }

  /** Reads pieces of a stream for the trace; no work without tracing. */
  read(pieces: ReadonlyArray<unknown>): void {
    if (this.trace !== undefined) this.attempts.at(-1)?.trace?.answer.read(pieces)
  }

  /** Chunks of a stream were written together. */
  wrote(chunks: number): void {
    const at = this.now()
    if (this.wroteFirstAt === 0) this.wroteFirstAt = at
    else {
      this.pace ??= new Histogram(metrics.outputChunk)
      this.pace.observe((at - this.wroteLastAt) / chunks / 1000, chunks)
    }
    this.wroteLastAt = at
  }

  failed(status: number, error: RequestError): void {
    this.status = status
    this.error = error
  }

  /** The request failed after the first byte; its status is sent already. */
  broke(error: RequestError): void {
    this.error = error
  }
}

/** The error code of a failed call; `""` for a successful one. `gone`: the client disconnected first. */
export const attemptFailure = (attempt: AttemptRecord, record: RequestRecord, gone: boolean): string => {
  if (attempt.error !== undefined) return errorFacts(attempt.error).code
  if (attempt.endedAt !== 0) return ""
  // A call without an end is a stream, or it was cut by its client or by the gateway's deadline.
  return gone ? cancelledOutcome : (record.error?.code ?? (attempt.stream ? "" : cancelledOutcome))
}
