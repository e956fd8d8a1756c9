// The facts of a request that nobody asks for by themselves, as one short text; they are written for every request.
// It must not know tables. A fact that comes later stands at the end, so that older texts stay readable.
import * as Result from "effect/Result"
import { parseJsonText } from "../domain/json.ts"
import type { AttemptRow, RequestRow } from "../domain/RequestRow.ts"
import type { Usage } from "../domain/Usage.ts"

/** What stands beside it, in columns. */
export type AskedFor = Pick<RequestRow, "endedMillis" | "requestId" | "status" | "provider" | "model" | "keyId">

/** Times are whole microseconds: fractions are dear to print, and finer than anybody reads. */
const micros = (millis: number): number => Math.round(millis * 1000)
const microsOf = (millis: number | undefined): number | null => (millis === undefined ? null : micros(millis))
const millisOf = (value: number | null): number | undefined => (value === null ? undefined : value / 1000)
const known = <A>(value: A | null): A | undefined => value ?? undefined

const packedAttempt = (attempt: AttemptRow) =>
  [
    attempt.provider,
    attempt.model,
    attempt.target,
    micros(attempt.durationMillis),
    microsOf(attempt.firstChunkMillis),
    attempt.errorCode ?? null,
    attempt.upstreamStatus ?? null
  ] as const

const packedUsage = ({ audioInput, audioOutput, cached, cacheWritten, imageOutput, images, input, output, reasoning }: Usage) =>
  [input, output, cached, cacheWritten, reasoning, audioInput, audioOutput, imageOutput, images] as const

const facts = (row: RequestRow) =>
  [
    row.traceId,
    row.route,
    row.target ?? null,
    row.stream,
    row.cache ?? null,
    micros(row.durationMillis),
    microsOf(row.ttftMillis),
    micros(row.overheadMillis),
    row.usage === undefined ? null : packedUsage(row.usage),
    row.costMicros ?? null,
    row.errorCode ?? null,
    row.attempts.map(packedAttempt)
  ] as const

export const packed = (row: RequestRow): string => JSON.stringify(facts(row))

const attemptOf = (
  [provider, model, target, duration, firstChunk, errorCode, upstreamStatus]: ReturnType<typeof packedAttempt>
): AttemptRow => ({
  provider,
  model,
  target,
  durationMillis: duration / 1000,
  firstChunkMillis: millisOf(firstChunk),
  errorCode: known(errorCode),
  upstreamStatus: known(upstreamStatus)
})

const usageOf = (
  [input, output, cached, cacheWritten, reasoning, audioInput, audioOutput, imageOutput, images]: ReturnType<typeof packedUsage>
): Usage => ({ input, output, cached, cacheWritten, reasoning, audioInput, audioOutput, imageOutput, images })

/** The row of a text that `packed` made. */
export const unpacked = (asked: AskedFor, text: string): RequestRow => {
  const value: unknown = Result.getOrThrow(parseJsonText(text))
  const [traceId, route, target, stream, cache, duration, ttft, overhead, usage, costMicros, errorCode, attempts] = value as ReturnType<typeof facts>
  return {
    ...asked,
    traceId,
    route,
    target: known(target),
    stream,
    cache: known(cache),
    durationMillis: duration / 1000,
    ttftMillis: millisOf(ttft),
    overheadMillis: overhead / 1000,
    usage: usage === null ? undefined : usageOf(usage),
    costMicros: known(costMicros),
    errorCode: known(errorCode),
    attempts: attempts.map(attemptOf)
  }
}
