// The stored form of an ended request: one short JSON array of facts. The view `requests` of the store has the same order.
// Must not know tables. A new fact goes to the end, so that older texts stay readable.
import type { AttemptRow, RequestRow, SavedUsage } from "../domain/RequestRow.ts"
import type { Tier, Usage } from "../domain/Usage.ts"

/** Times are whole microseconds, which is finer than any reader needs; fractions print slowly. */
const micros = (millis: number): number => Math.round(millis * 1000)
const microsOf = (millis: number | undefined): number | null => (millis === undefined ? null : micros(millis))
const millisOf = (value: number | null): number | undefined => (value === null ? undefined : value / 1000)
const orUndefined = <A>(value: A | null | undefined): A | undefined => value ?? undefined

const attemptFacts = (attempt: AttemptRow) =>
  [
    attempt.provider,
    attempt.model,
    attempt.target,
    micros(attempt.durationMillis),
    microsOf(attempt.firstChunkMillis),
    attempt.errorCode ?? null,
    attempt.upstreamStatus ?? null
  ] as const

const packedAttempt = (attempt: AttemptRow): PackedAttempt => {
  const facts = [...attemptFacts(attempt), micros(attempt.startedMillis)] as const
  const { errorMessage = null, sentMillis, tokenMillis } = attempt
  if (sentMillis !== undefined || tokenMillis !== undefined)
    return [...facts, errorMessage, microsOf(tokenMillis), microsOf(sentMillis)]
  return errorMessage === null ? facts : [...facts, errorMessage]
}

const usageCounts = ({
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

type PackedUsage = readonly [...ReturnType<typeof usageCounts>, billed?: PackedBilled]

/** What few providers report. */
type PackedBilled = readonly [
  cachedAudio: number | null,
  cacheWrittenHour: number | null,
  searches: number | null,
  tier: Tier | null
]

const packedUsage = (usage: Usage): PackedUsage => {
  const { cachedAudio = null, cacheWrittenHour = null, searches = null, tier = null } = usage
  const billed: PackedBilled = [cachedAudio, cacheWrittenHour, searches, tier]
  const counts = usageCounts(usage)
  return billed.every((fact) => fact === null) ? counts : [...counts, billed]
}

type PackedAttempt = readonly [
  ...ReturnType<typeof attemptFacts>,
  started?: number,
  errorMessage?: string | null,
  token?: number | null,
  sent?: number | null
]

/**
 * The request's own id is present only where the client sent another request id, and the error only after a failure. The
 * row ends with its last known fact.
 */
export type PackedRow = readonly [
  ...ReturnType<typeof facts>,
  id?: string | null,
  errorMessage?: string | null,
  errorParam?: string | null,
  saved?: PackedSaved | null,
  config?: string | null,
  client?: string | null,
  metadata?: Readonly<Record<string, string>> | null,
  params?: PackedParams | null,
  place?: string | null,
  isCostPartial?: true | null,
  isEstimated?: true | null,
  skipped?: ReadonlyArray<number> | null
]

type PackedParams = readonly [ignored: ReadonlyArray<string>, adjusted: ReadonlyArray<string>]

type PackedSaved = readonly [input: number, output: number, costMicros: number | null]

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

const rareFacts = ({
  adjusted,
  client,
  config,
  errorMessage,
  errorParam,
  id,
  ignored,
  isCostPartial,
  isEstimated,
  metadata,
  place,
  saved,
  skipped
}: RequestRow): ReadonlyArray<Rare> => {
  const rare: Array<Rare> = [
    id ?? null,
    errorMessage ?? null,
    errorParam ?? null,
    saved === undefined ? null : [saved.input, saved.output, saved.costMicros ?? null],
    config ?? null,
    client ?? null,
    metadata ?? null,
    ignored === undefined && adjusted === undefined ? null : [ignored ?? [], adjusted ?? []],
    place ?? null,
    isCostPartial ?? null,
    isEstimated ?? null,
    skipped ?? null
  ]
  while (rare.at(-1) === null) rare.pop()
  return rare
}

type Rare = string | true | ReadonlyArray<number> | PackedSaved | PackedParams | Readonly<Record<string, string>> | null

export const packRow = (row: RequestRow): string => JSON.stringify([...facts(row), ...rareFacts(row)])

const attemptOf = ([
  provider,
  model,
  target,
  duration,
  firstChunk,
  errorCode,
  upstreamStatus,
  // Rows of older versions end here.
  started = 0,
  errorMessage,
  token,
  sent
]: PackedAttempt): AttemptRow => ({
  provider,
  model,
  target,
  startedMillis: started / 1000,
  durationMillis: duration / 1000,
  ...(typeof token === "number" ? { tokenMillis: token / 1000 } : {}),
  ...(typeof sent === "number" ? { sentMillis: sent / 1000 } : {}),
  firstChunkMillis: millisOf(firstChunk),
  errorCode: orUndefined(errorCode),
  errorMessage: orUndefined(errorMessage),
  upstreamStatus: orUndefined(upstreamStatus)
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
  images,
  billed
]: PackedUsage): Usage => ({
  input,
  output,
  cached,
  cacheWritten,
  reasoning,
  audioInput,
  audioOutput,
  imageOutput,
  images,
  ...billedOf(billed)
})

const billedOf = ([cachedAudio, cacheWrittenHour, searches, tier]:
  | PackedBilled
  | readonly [] = []): Partial<Usage> => ({
  ...(typeof cachedAudio === "number" ? { cachedAudio } : {}),
  ...(typeof cacheWrittenHour === "number" ? { cacheWrittenHour } : {}),
  ...(typeof searches === "number" ? { searches } : {}),
  ...(typeof tier === "string" ? { tier } : {})
})

const savedOf = ([input, output, costMicros]: PackedSaved): SavedUsage => ({
  input,
  output,
  costMicros: orUndefined(costMicros)
})

const namesOf = (names: ReadonlyArray<string> | undefined): ReadonlyArray<string> | undefined =>
  names === undefined || names.length === 0 ? undefined : names

/** The row of an array that `packRow` printed. */
export const unpackRow = ([
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
  id,
  errorMessage,
  errorParam,
  saved,
  config,
  client,
  metadata,
  params,
  place,
  isCostPartial,
  isEstimated,
  skipped
]: PackedRow): RequestRow => ({
  endedMillis,
  requestId,
  id: orUndefined(id),
  traceId,
  route,
  status,
  provider: orUndefined(provider),
  model: orUndefined(model),
  target: orUndefined(target),
  attempts: attempts.map(attemptOf),
  stream,
  cache: orUndefined(cache),
  durationMillis: duration / 1000,
  ttftMillis: millisOf(ttft),
  overheadMillis: overhead / 1000,
  usage: usage === null ? undefined : usageOf(usage),
  costMicros: orUndefined(costMicros),
  saved: saved === null || saved === undefined ? undefined : savedOf(saved),
  keyId: orUndefined(keyId),
  config: orUndefined(config),
  client: orUndefined(client),
  metadata: orUndefined(metadata),
  ignored: namesOf(params?.[0]),
  adjusted: namesOf(params?.[1]),
  place: orUndefined(place),
  isCostPartial: orUndefined(isCostPartial),
  isEstimated: orUndefined(isEstimated),
  skipped: orUndefined(skipped),
  errorCode: orUndefined(errorCode),
  errorMessage: orUndefined(errorMessage),
  errorParam: orUndefined(errorParam)
})
