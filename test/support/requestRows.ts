// Rows of requests from the facts of a test, and from the form that releases up to migration 12 read them in.
// Must not know the store.
import { type RequestRow, usageRow } from "../../src/domain/RequestRow.ts"
import { dollarsOf, type Usage } from "../../src/domain/Usage.ts"

export interface CallFacts {
  readonly provider: string
  readonly model: string
  readonly target: number
  readonly startedMillis: number
  readonly durationMillis: number
  readonly tokenMillis?: number | undefined
  readonly sentMillis?: number | undefined
  readonly firstChunkMillis?: number | undefined
  readonly errorCode?: string | undefined
  readonly errorMessage?: string | undefined
  readonly upstreamStatus?: number | undefined
}

export interface RowFacts {
  readonly endedMillis: number
  readonly requestId: string
  /** That of the client where it is absent. */
  readonly id?: string | undefined
  readonly traceId: string
  readonly route: string
  readonly status: number
  readonly provider?: string | undefined
  readonly model?: string | undefined
  readonly target?: number | undefined
  readonly modelWarning?: string | undefined
  readonly attempts: ReadonlyArray<CallFacts>
  readonly skipped?: ReadonlyArray<number> | undefined
  readonly stream: boolean
  readonly cache?: string | undefined
  readonly durationMillis: number
  readonly ttftMillis?: number | undefined
  readonly overheadMillis: number
  readonly usage?: Usage | undefined
  readonly isEstimated?: true | undefined
  readonly costMicros?: number | undefined
  readonly isCostPartial?: true | undefined
  readonly place?: string | undefined
  readonly saved?:
    | { readonly input: number; readonly output: number; readonly costMicros?: number | undefined }
    | undefined
  readonly keyId?: string | undefined
  readonly user?: string | undefined
  readonly config?: string | undefined
  readonly ignored?: ReadonlyArray<string> | undefined
  readonly adjusted?: ReadonlyArray<string> | undefined
  readonly client?: string | undefined
  readonly metadata?: Readonly<Record<string, string>> | undefined
  readonly errorCode?: string | undefined
  readonly errorMessage?: string | undefined
  readonly errorParam?: string | undefined
}

const dollars = (micros: number | undefined): number | undefined =>
  micros === undefined ? undefined : dollarsOf(micros)

/** Without the facts that are undefined. */
const known = <A extends object>(facts: A): A =>
  Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined)) as A

export const callOf = (call: CallFacts): RequestRow["attempts"][number] =>
  known({
    provider: call.provider,
    model: call.model,
    target: call.target,
    started_ms: call.startedMillis,
    duration_ms: call.durationMillis,
    token_ms: call.tokenMillis,
    sent_ms: call.sentMillis,
    first_chunk_ms: call.firstChunkMillis,
    upstream_status: call.upstreamStatus,
    error_code: call.errorCode,
    error_message: call.errorMessage
  })

export const rowOf = (facts: RowFacts): RequestRow =>
  known({
    id: facts.id ?? facts.requestId,
    request_id: facts.requestId,
    trace_id: facts.traceId,
    ts: new Date(facts.endedMillis).toISOString(),
    route: facts.route,
    status: facts.status,
    provider: facts.provider,
    model: facts.model,
    target: facts.target,
    model_warning: facts.modelWarning,
    skipped_targets: facts.skipped,
    stream: facts.stream,
    cache: facts.cache,
    duration_ms: facts.durationMillis,
    ttft_ms: facts.ttftMillis,
    overhead_ms: facts.overheadMillis,
    usage: facts.usage === undefined ? undefined : known(usageRow(facts.usage)),
    usage_estimated: facts.isEstimated,
    cost_usd: dollars(facts.costMicros),
    cost_partial: facts.isCostPartial,
    place: facts.place,
    saved:
      facts.saved === undefined
        ? undefined
        : known({
            input_tokens: facts.saved.input,
            output_tokens: facts.saved.output,
            cost_usd: dollars(facts.saved.costMicros)
          }),
    key_id: facts.keyId,
    user_id: facts.user,
    config: facts.config,
    client: facts.client,
    metadata: facts.metadata,
    ignored_params: facts.ignored,
    adjusted_params: facts.adjusted,
    error_code: facts.errorCode,
    error_message: facts.errorMessage,
    error_param: facts.errorParam,
    attempts: facts.attempts.map(callOf)
  })

const micros = (millis: number | undefined): number | null => (millis === undefined ? null : Math.round(millis * 1000))
const costMicros = (dollarsUsed: number | undefined): number | null =>
  dollarsUsed === undefined ? null : Math.round(dollarsUsed * 1e6)

const packedUsage = (usage: NonNullable<RequestRow["usage"]>) => [
  usage.input_tokens,
  usage.output_tokens,
  usage.cached_tokens,
  usage.cache_write_tokens,
  usage.reasoning_tokens,
  usage.audio_input_tokens ?? 0,
  usage.audio_output_tokens ?? 0,
  usage.image_output_tokens ?? 0,
  usage.images,
  [usage.cached_audio_tokens ?? null, usage.cache_write_1h_tokens ?? null, usage.searches ?? null, usage.tier ?? null]
]

const packedCall = (call: RequestRow["attempts"][number]) => [
  call.provider,
  call.model,
  call.target,
  micros(call.duration_ms),
  micros(call.first_chunk_ms),
  call.error_code ?? null,
  call.upstream_status ?? null,
  micros(call.started_ms),
  call.error_message ?? null,
  micros(call.token_ms),
  micros(call.sent_ms)
]

/** The row as batches of migrations 4 to 17 have it: a list of its facts. */
export const packedOf = (row: RequestRow): ReadonlyArray<unknown> => [
  Date.parse(row.ts),
  row.request_id,
  row.status,
  row.provider ?? null,
  row.model ?? null,
  row.key_id ?? null,
  row.trace_id,
  row.route,
  row.target ?? null,
  row.stream,
  row.cache ?? null,
  micros(row.duration_ms),
  micros(row.ttft_ms),
  micros(row.overhead_ms),
  row.usage === undefined ? null : packedUsage(row.usage),
  costMicros(row.cost_usd),
  row.error_code ?? null,
  row.attempts.map(packedCall),
  row.id === row.request_id ? null : row.id,
  row.error_message ?? null,
  row.error_param ?? null,
  row.saved === undefined ? null : [row.saved.input_tokens, row.saved.output_tokens, costMicros(row.saved.cost_usd)],
  row.config ?? null,
  row.client ?? null,
  row.metadata ?? null,
  row.ignored_params === undefined && row.adjusted_params === undefined
    ? null
    : [row.ignored_params ?? [], row.adjusted_params ?? []],
  row.place ?? null,
  row.cost_partial ?? null,
  row.usage_estimated ?? null,
  row.skipped_targets ?? null
]
