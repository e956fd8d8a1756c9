// Makes the row of an ended request, in the one form that the log, the store and the admin API have.
// Must not know where rows go. It keeps no text that a client chose, except ids, names and cut values.
import { type EndUserForm, storedEndUser } from "./EndUser.ts"
import { errorFacts } from "../api/errorFacts.ts"
import { endingText } from "../domain/models/modelLife.ts"
import { type AttemptRow, clientName, type RequestRow, roundToMicros, usageRow } from "../domain/RequestRow.ts"
import { publicText } from "../domain/text/publicText.ts"
import { isoText } from "../domain/time.ts"
import { dollarsOf } from "../domain/Usage.ts"
import type { ObservedAdjustment } from "../domain/RequestContext.ts"
import { adjustmentText } from "../translate/Translator.ts"
import { ChatParameters } from "../wire/openai/Chat.ts"
import { EmbeddingsParameters } from "../wire/openai/Embeddings.ts"
import { ImagesParameters } from "../wire/openai/Images.ts"
import type { AttemptRecord, RequestError } from "./RequestRecord.ts"
import { calledLast, callEnd, clientGone, type Ended, type Settled } from "./Settlement.ts"

/** Names of native paths, and of fields and headers of Claude's clients. */
const nativeParams = [
  "anthropic-beta",
  "cache_control",
  "context_management",
  "location",
  "output_config",
  "project",
  "safeguards",
  "x-gateway-vertex-project-id",
  "x-gateway-vertex-region"
]

const knownParams: ReadonlySet<string> = new Set([
  ...[ChatParameters, EmbeddingsParameters, ImagesParameters].flatMap(({ fields }) => Object.keys(fields)),
  ...nativeParams
])

/** Stands for every parameter that is not known here. */
const otherParam = "other"

/** The parameter of a path such as `tools[0].strict`. */
const parameterOf = (path: string): string => {
  const [name = ""] = path.split(/[.[]/, 1)
  return knownParams.has(name) ? name : otherParam
}

/** Undefined for none. */
const ignoredParams = (ignored: ReadonlyArray<string> = []): ReadonlyArray<string> | undefined =>
  ignored.length === 0 ? undefined : [...new Set(ignored.map(parameterOf))]

/** Undefined for none. Both values of an adjustment are words or numbers of the gateway. */
const adjustedParams = (adjusted: ReadonlyArray<ObservedAdjustment> = []): ReadonlyArray<string> | undefined =>
  adjusted.length === 0 ? undefined : adjusted.map(adjustmentText)

type ShownError = Pick<RequestRow, "error_code" | "error_message" | "error_param">

/** Bytes of an error message in a row: enough for what is wrong and what to do. */
const messageBytes = 512

/** The gateway's own texts quote clients and upstreams, so each text is scrubbed. */
export const shownError = (error: RequestError | undefined): ShownError =>
  error === undefined
    ? {}
    : {
        error_code: error.code,
        error_message: publicText(error.message, messageBytes),
        error_param: error.param === null ? undefined : publicText(error.param, messageBytes)
      }

/** Stands for a config that the request contains. */
const inlineConfig = "inline"
/** Characters of a text in a row that a client chose. */
const textLength = 128
/** Characters of the name of a user: the admin API takes as many, so that a user is found by the name of the requests. */
const userLength = 256

/** Databases read no control characters and no half characters as JSON. */
const cutText = (text: string, length: number): string =>
  text
    .slice(0, length)
    .toWellFormed()
    // oxlint-disable-next-line no-control-regex
    .replace(/[\u0000-\u001f\u007f-\u009f]/g, " ")

/** The values of these names; undefined for none. */
const chosenMetadata = (
  metadata: Readonly<Record<string, string>>,
  names: ReadonlyArray<string>
): RequestRow["metadata"] => {
  const chosen = names.flatMap((name) => {
    const value = Object.hasOwn(metadata, name) ? metadata[name] : undefined
    return value === undefined ? [] : [[name, cutText(value, textLength)] as const]
  })
  return chosen.length === 0 ? undefined : Object.fromEntries(chosen)
}

const millisOf = (from: number, to: number): number | undefined => (to === 0 ? undefined : roundToMicros(to - from))

const attemptRow = (attempt: AttemptRecord, arrivedAt: number, at: number): AttemptRow => {
  const { authorizedAt, chunkAt, error, sentAt, startedAt, target } = attempt
  const shown = error === undefined ? undefined : shownError(errorFacts(error))
  return {
    provider: target.slug,
    model: target.modelId,
    target: target.optionIndex,
    started_ms: roundToMicros(startedAt - arrivedAt),
    duration_ms: roundToMicros(callEnd(attempt, at) - startedAt),
    token_ms: millisOf(startedAt, authorizedAt),
    sent_ms: millisOf(startedAt, sentAt),
    first_chunk_ms: millisOf(startedAt, chunkAt),
    upstream_status: error?.upstreamStatus,
    error_code: shown?.error_code,
    error_message: shown?.error_message
  }
}

const savedRow = ({ saved }: Settled): RequestRow["saved"] =>
  saved === undefined
    ? undefined
    : {
        input_tokens: saved.usage.input,
        output_tokens: saved.usage.output,
        cost_usd: saved.costMicros === undefined ? undefined : dollarsOf(saved.costMicros)
      }

/** What the operator keeps of a request. */
export interface KeptOfRequest {
  /** The names of metadata by which the operator counts. */
  readonly countedMetadata: ReadonlyArray<string>
  /** How the user is written that the client names. */
  readonly endUser: EndUserForm
}

export const requestRow = (
  { meta, at, gone, record }: Ended,
  route: string,
  settled: Settled,
  { countedMetadata, endUser }: KeptOfRequest
): RequestRow => {
  const target = calledLast(record)
  const { costMicros, usage } = settled
  const { route: routed, served, skipped } = record
  return {
    id: meta.freshId,
    request_id: meta.requestId,
    trace_id: meta.traceId,
    ts: isoText(meta.startedMillis + Math.round(settled.durationMillis)),
    route,
    status: settled.status,
    provider: target?.slug,
    model: target?.modelId,
    target: target?.optionIndex,
    model_warning: target?.ending === undefined ? undefined : endingText(target.ending),
    skipped_targets: skipped.length === 0 ? undefined : skipped,
    stream: record.stream,
    cache: served?.cache,
    duration_ms: roundToMicros(settled.durationMillis),
    ttft_ms: millisOf(record.startedAt, record.wroteFirstAt),
    overhead_ms: roundToMicros(settled.overheadMillis),
    usage: usage === undefined ? undefined : usageRow(usage),
    usage_estimated: settled.isEstimated ? true : undefined,
    cost_usd: costMicros === undefined ? undefined : dollarsOf(costMicros),
    cost_partial: settled.isCostPartial ? true : undefined,
    place: target?.place,
    saved: savedRow(settled),
    key_id: record.keyId,
    user_id: record.user === undefined ? undefined : cutText(storedEndUser(record.user, endUser), userLength),
    config: routed?.config === undefined ? undefined : (routed.configId ?? inlineConfig),
    client: clientName(meta.headers["user-agent"] ?? ""),
    metadata:
      routed === undefined || countedMetadata.length === 0
        ? undefined
        : chosenMetadata(routed.metadata, countedMetadata),
    ignored_params: ignoredParams(served?.ignored),
    adjusted_params: adjustedParams(served?.adjusted),
    ...(gone ? { error_code: clientGone.code } : shownError(record.error)),
    attempts: record.attempts.map((attempt) => attemptRow(attempt, record.startedAt, at))
  }
}
