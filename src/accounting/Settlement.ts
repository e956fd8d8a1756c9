// Settles an ended request: computes usage, cost and overhead, and counts its metrics.
// Must not know how metrics are exported, or what becomes of the figures.
import type { CountedModel } from "../catalog/Prices.ts"
import type { AttemptTarget } from "../domain/RequestContext.ts"
import type { ActualUsage } from "../keys/Admission.ts"
import { tokensOfCharacters } from "../domain/estimateTokens.ts"
import { mayHaveWorked } from "../domain/ProviderError.ts"
import { dollarsOf, type Price, type Usage } from "../domain/Usage.ts"
import { cancelledOutcome, okOutcome, type RouteMeters, type TargetMeters } from "../telemetry/Meters.ts"
import { errorFacts } from "../api/errorFacts.ts"
import {
  attemptFailure,
  type AttemptRecord,
  chargeOf,
  countedUsage,
  type RequestMeta,
  type RequestRecord
} from "./RequestRecord.ts"
import { noUsage } from "../operations/usage.ts"

/** A request that has ended. */
export interface Ended {
  readonly record: RequestRecord
  readonly meta: RequestMeta
  /** When it ended, in milliseconds of the stopwatch. */
  readonly at: number
  /** The client disconnected first. */
  readonly gone: boolean
}

/** The target of a call. */
export type Called = Pick<AttemptTarget, "slug" | "kind" | "modelId" | "optionIndex" | "place" | "ending">

/** A target with its label, price and meters. */
export interface CountedTarget extends CountedModel {
  readonly called: Called
  readonly meters: TargetMeters
}

/** The meters of a route. `counted` is undefined while the prices are not loaded. */
export interface Book {
  readonly route: string
  readonly meters: RouteMeters
  readonly counted: (called: Called, nowMillis: number) => CountedTarget | undefined
}

export const clientGone = { status: 499, code: "client_closed_request" }

/** The target that answered, or the last one that failed. */
export const calledLast = ({ attempts, served }: RequestRecord): Called | undefined => served ?? attempts.at(-1)?.target

/** The totals of a settled request. */
export interface Settled {
  readonly status: number
  readonly durationMillis: number
  readonly overheadMillis: number
  readonly usage: Usage | undefined
  /** The usage is what came of a cut stream, the rest by estimate. */
  readonly isEstimated: boolean
  /** The usage lacks a count that its price needs. */
  readonly isPart: boolean
  readonly costMicros: number | undefined
  /** Something was used whose price is not known. */
  readonly isCostPartial: boolean
  /** For answers from the cache: what they would have used. */
  readonly saved: { readonly usage: Usage; readonly costMicros: number | undefined } | undefined
}

/** Counts the request in all metrics. */
export const settle = (ended: Ended, book: Book, target: CountedTarget | undefined): Settled => {
  const { at, gone, record } = ended
  const read = usageOf(record)
  const isCached = record.served?.cache === "HIT"
  const usage = isCached && read !== undefined ? noUsage : read
  const asked = isCut(record) ? undefined : record.charge
  const { isPartial, micros: fullMicros } = asked ?? chargeOf(read, target?.price, calledLast(record)?.place)
  const costMicros = isCached || record.attempts.length === 0 ? undefined : fullMicros
  const saved = isCached && read !== undefined ? { usage: read, costMicros: fullMicros } : undefined
  const status = gone ? clientGone.status : record.status === 0 ? 500 : record.status
  const durationMillis = at - record.startedAt
  const overheadMillis = Math.max(0, overheadOf(ended))
  book.meters.observeRequest(status, durationMillis / 1000, target?.meters)
  if (record.served !== undefined && record.served.cache !== "DISABLED")
    book.meters.countCacheResult(record.served.cache)
  if (target !== undefined) {
    book.meters.observeOverhead(overheadMillis / 1000, record.stream)
    countAttempts(ended, book, target)
    countAnswer(ended, target.meters, durationMillis, isCached ? undefined : usage)
    const ending = calledLast(record)?.ending
    if (ending !== undefined) target.meters.endings.get(ending.stage).add(1)
    for (const row of record.heals) target.meters.heals.get(row).add(1)
    if (costMicros !== undefined) target.meters.costs.get("").add(dollarsOf(costMicros))
  }
  const isPart = lacksCounts(record, usage, target?.price)
  const isCostPartial = costMicros !== undefined && isPartial
  const isEstimated = usage !== undefined && !isCached && isCut(record)
  return { status, durationMillis, overheadMillis, usage, isEstimated, isPart, costMicros, isCostPartial, saved }
}

const nothingUsed: ActualUsage = { tokens: 0, costMicros: 0 }

/**
 * What a request has used of the limits of its key: nothing without an upstream call, as from the cache, and nothing where
 * every upstream refused. Undefined where an upstream may have worked and its counts never came: the reserve stands.
 * Otherwise a client that always leaves early, or sets a short deadline, would pay nothing. An answer that lacks counts
 * costs at least the reserve, and so does one after a failed call that the upstream may bill.
 */
export const usedBy = ({ gone, record }: Ended, { costMicros, isPart, usage }: Settled): ActualUsage | undefined => {
  const { attempts, served } = record
  if (attempts.length === 0) return nothingUsed
  const isBilled = attempts.some(({ error }) => error !== undefined && mayHaveWorked(error))
  if (served === undefined && !gone) return isBilled ? undefined : nothingUsed
  return usage === undefined
    ? undefined
    : { tokens: usage.input + usage.output, costMicros: costMicros ?? 0, isPart: isBilled || isPart }
}

/** A stream that ended before the last counts of its upstream, because its client left or the upstream broke off. */
const isCut = ({ progress }: RequestRecord): boolean => progress !== undefined && !progress().isCounted

const usageOf = (record: RequestRecord): Usage | undefined => {
  const read = record.usage?.()
  return countedUsage(isCut(record) ? received(record, read ?? noUsage) : read)
}

const streamedTokens = ({ characters, progress }: RequestRecord): number =>
  tokensOfCharacters(characters + (progress?.().characters ?? 0))

/**
 * What was received of a cut stream: its counts so far, and at least the output that has passed. A prompt that was not
 * counted yet has its estimate.
 */
const received = (record: RequestRecord, counted: Usage): Usage => {
  const streamed = streamedTokens(record)
  const estimate = record.admitted?.estimate
  const unseen = counted.output > 0 ? 0 : Math.min(waitedTokens(record), (estimate?.outputTokens ?? 0) - streamed)
  return {
    ...counted,
    input: counted.input === 0 ? (estimate?.tokens ?? 0) : counted.input,
    output: Math.max(counted.output, streamed + Math.max(0, unseen))
  }
}

/** Slower than any model thinks, so that a slow network costs little. */
const thoughtsPerSecond = 100

/** Thoughts that an upstream counts at the end and never sends take the time before its first chunk. */
const waitedTokens = ({ attempts }: RequestRecord): number => {
  const last = attempts.at(-1)
  if (last === undefined || last.chunkAt === 0) return 0
  const sentAt = last.sentAt === 0 ? last.startedAt : last.sentAt
  return Math.floor(((last.chunkAt - sentAt) / 1000) * thoughtsPerSecond)
}

/** Whether a usage cannot be the whole one: media passed before a cut, output or pictures came without their counts. */
const lacksCounts = (record: RequestRecord, usage: Usage | undefined, price: Price | undefined): boolean => {
  if (usage === undefined) return false
  const { hasMedia = false } = record.progress?.() ?? {}
  if (isCut(record)) return record.hasMedia || hasMedia
  if (usage.input + usage.output === 0) return usage.images > 0 && price?.image === undefined
  return usage.output === 0 && streamedTokens(record) > 0
}

export const callEnd = ({ endedAt }: AttemptRecord, at: number): number => (endedAt === 0 ? at : endedAt)

/**
 * The time before the first call and after the last. For a stream the latter runs from its first chunk to the first
 * write.
 */
const overheadOf = ({ at, record }: Ended): number => {
  const { attempts, startedAt, wroteFirstAt } = record
  const end = wroteFirstAt === 0 ? at : wroteFirstAt
  const [first] = attempts
  const last = attempts.at(-1)
  if (first === undefined || last === undefined) return end - startedAt
  const answeredAt = wroteFirstAt !== 0 && last.chunkAt !== 0 ? last.chunkAt : callEnd(last, at)
  return first.startedAt - startedAt + end - answeredAt
}

const countAttempts = (ended: Ended, book: Book, last: CountedTarget): void => {
  let before: AttemptRecord | undefined
  for (const attempt of ended.record.attempts) {
    const { target } = attempt
    const isLast = target.slug === last.called.slug && target.modelId === last.called.modelId
    const { meters } = isLast ? last : (book.counted(target, ended.meta.startedMillis) ?? last)
    const failure = attemptFailure(attempt, ended.record, ended.gone)
    meters.attempts.get(failure === "" ? okOutcome : failure).add(1)
    meters.operation.get(failure).observe((callEnd(attempt, ended.at) - attempt.startedAt) / 1000)
    if (attempt.chunkAt !== 0) meters.firstChunk.get("").observe((attempt.chunkAt - attempt.startedAt) / 1000)
    if (before !== undefined) countAgain(before, target, meters)
    before = attempt
  }
}

/** Counts a retry or fallback under the failure of the call before it. */
const countAgain = (before: AttemptRecord, { optionIndex }: AttemptTarget, meters: TargetMeters): void => {
  const reason = before.error === undefined ? cancelledOutcome : errorFacts(before.error).code
  ;(before.target.optionIndex === optionIndex ? meters.retries : meters.fallbacks).get(reason).add(1)
}

const countAnswer = (
  { gone, record }: Ended,
  meters: TargetMeters,
  duration: number,
  usage: Usage | undefined
): void => {
  meters.request.get(gone ? cancelledOutcome : (record.error?.code ?? "")).observe(duration / 1000)
  if (usage !== undefined) meters.observeUsage(usage)
  if (record.wroteFirstAt === 0) return
  const first = record.wroteFirstAt - record.startedAt
  meters.firstToken.get("").observe(first / 1000)
  if (record.pace !== undefined) meters.outputChunk.get("").merge(record.pace)
  const more = (usage?.output ?? 0) - 1
  if (more > 0 && record.error === undefined && !gone)
    meters.outputToken.get("").observe((duration - first) / more / 1000)
}
