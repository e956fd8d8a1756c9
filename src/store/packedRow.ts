// A request that has ended as one short text: an array of facts, in an order that the view `requests` of the store knows too.
// It must not know tables. A fact that comes later stands at the end, so that older texts stay readable.
import type { AttemptRow, RequestRow } from "../domain/RequestRow.ts"
import type { Usage } from "../domain/Usage.ts"

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

const packedUsage = ({
  audioInput,
  audioOutput,
  cached,
  cacheWritten,
  imageOutput,
  images,
  input,
  output,
  reasoning
}: Usage) => [input, output, cached, cacheWritten, reasoning, audioInput, audioOutput, imageOutput, images] as const

/** An id of its own stands last, and only where the client sent another one. */
export type PackedRow = readonly [...ReturnType<typeof facts>, id?: string]

const facts = (row: RequestRow) =>
  [
    row.endedMillis,
    row.requestId,
    row.status,
    row.provider ?? null,
    row.model ?? null,
    row.keyId ?? null,
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

export const packed = (row: RequestRow): string =>
  JSON.stringify(row.id === undefined ? facts(row) : [...facts(row), row.id])

const attemptOf = ([provider, model, target, duration, firstChunk, errorCode, upstreamStatus]: ReturnType<
  typeof packedAttempt
>): AttemptRow => ({
  provider,
  model,
  target,
  durationMillis: duration / 1000,
  firstChunkMillis: millisOf(firstChunk),
  errorCode: known(errorCode),
  upstreamStatus: known(upstreamStatus)
})

const usageOf = ([
  input,
  output,
  cached,
  cacheWritten,
  reasoning,
  audioInput,
  audioOutput,
  imageOutput,
  images
]: ReturnType<typeof packedUsage>): Usage => ({
  input,
  output,
  cached,
  cacheWritten,
  reasoning,
  audioInput,
  audioOutput,
  imageOutput,
  images
})

/** The row of an array that `packed` made a text of. */
export const unpacked = ([
  endedMillis,
  requestId,
  status,
  provider,
  model,
  keyId,
  traceId,
  route,
  target,
  stream,
  cache,
  duration,
  ttft,
  overhead,
  usage,
  costMicros,
  errorCode,
  attempts,
  id
]: PackedRow): RequestRow => ({
  endedMillis,
  requestId,
  id,
  traceId,
  route,
  status,
  provider: known(provider),
  model: known(model),
  target: known(target),
  attempts: attempts.map(attemptOf),
  stream,
  cache: known(cache),
  durationMillis: duration / 1000,
  ttftMillis: millisOf(ttft),
  overheadMillis: overhead / 1000,
  usage: usage === null ? undefined : usageOf(usage),
  costMicros: known(costMicros),
  keyId: known(keyId),
  errorCode: known(errorCode)
})
