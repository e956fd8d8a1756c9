// Log lines of requests and failed upstream calls: as JSON, or readable on a terminal.
// Must not know where lines go. The JSON is concatenated by hand, because every request pays for it.
import type { AttemptRow, RequestRow } from "../domain/RequestRow.ts"
import { memoizeBounded } from "../domain/collections.ts"
import { dollarsOf } from "../domain/Usage.ts"

export type LogLevel = "info" | "warn" | "error"

/** Faults of the gateway or of an upstream are errors. Faults of the client and cancellations are warnings. */
export const levelOf = ({ status, errorCode }: Pick<RequestRow, "status" | "errorCode">): LogLevel =>
  status >= 500 ? "error" : status >= 400 || errorCode !== undefined ? "warn" : "info"

/** `ends`: `000Z` to `999Z`. `decimals`: thousandths as `""` or `.001` to `.999`, without trailing zeros. */
const ends = Array.from({ length: 1000 }, (_, at) => `${String(at).padStart(3, "0")}Z`)
const decimals = ends.map((end) => {
  const digits = end.slice(0, 3).replace(/0+$/, "")
  return digits === "" ? "" : `.${digits}`
})

/**
 * Formatting a date is slow, and most requests end in the same second as the one before: the start of the text is
 * reused.
 */
const timeOf = (() => {
  let second = -1
  let start = ""
  return (millis: number): string => {
    const now = Math.floor(millis / 1000)
    if (now !== second) {
      second = now
      start = new Date(now * 1000).toISOString().slice(0, 20)
    }
    return `${start}${ends[millis - now * 1000]}`
  }
})()

/** Milliseconds, rounded to whole microseconds. */
export const roundToMicros = (millis: number): number => Math.round(millis * 1000) / 1000

/** The same as text. Printing a number with a fraction is slow, so the fraction comes from a table. */
const millisText = (millis: number): string => {
  const micros = Math.round(millis * 1000)
  const whole = Math.floor(micros / 1000)
  return `${whole}${decimals[micros - whole * 1000]}`
}

const quoted = memoizeBounded((text: string): string => JSON.stringify(text))

/** Request ids, slugs, model ids and routes need no JSON escapes: their grammars exclude such characters. */
const opening = (endedMillis: number, row: RequestRow, level: LogLevel, what: string): string =>
  `{"ts":"${timeOf(endedMillis)}","level":"${level}","msg":"${what}","request_id":"${row.requestId}","trace_id":${JSON.stringify(row.traceId)}`

const plain = (name: string, value: string | undefined): string => (value === undefined ? "" : `,"${name}":"${value}"`)
const number = (name: string, value: number | undefined): string => (value === undefined ? "" : `,"${name}":${value}`)
const millis = (name: string, value: number | undefined): string =>
  value === undefined ? "" : `,"${name}":${millisText(value)}`
/** Names from operators and upstreams. Their number is small, so the quoted texts are remembered. */
const named = (name: string, value: string | undefined): string =>
  value === undefined ? "" : `,"${name}":${quoted(value)}`
/** From millionths of a US dollar. */
const dollars = (micros: number | undefined): string => (micros === undefined ? "" : `,"cost_usd":${dollarsOf(micros)}`)

/** The code repeats, but messages differ: they are quoted each time. */
const failure = ({
  errorCode,
  errorMessage,
  errorParam
}: Pick<RequestRow, "errorCode" | "errorMessage" | "errorParam">): string =>
  `${named("error_code", errorCode)}${errorMessage === undefined ? "" : `,"error_message":${JSON.stringify(errorMessage)}`}${errorParam === undefined ? "" : `,"error_param":${JSON.stringify(errorParam)}`}`

/** When a call ended, in milliseconds since 1970. */
const attemptEnd = (row: RequestRow, attempt: AttemptRow): number =>
  row.endedMillis - Math.round(row.durationMillis - attempt.startedMillis - attempt.durationMillis)

const savings = ({ saved }: RequestRow): string =>
  saved === undefined
    ? ""
    : `,"saved_input_tokens":${saved.input},"saved_output_tokens":${saved.output}${saved.costMicros === undefined ? "" : `,"saved_usd":${dollarsOf(saved.costMicros)}`}`

/** One line for a request; unknown facts are left out. */
export const requestLine = (row: RequestRow, level: LogLevel): string =>
  `${opening(row.endedMillis, row, level, "request")},"route":"${row.route}","status":${row.status}${plain("provider", row.provider)}${plain("model", row.model)}${number(
    "target",
    row.target
  )}${named("model_warning", row.modelWarning)},"attempts":${row.attempts.length}${row.skipped === undefined ? "" : `,"skipped_targets":[${row.skipped.join(",")}]`},"stream":${row.stream}${plain("cache", row.cache)}${millis("duration_ms", row.durationMillis)}${millis(
    "ttft_ms",
    row.ttftMillis
  )}${millis("overhead_ms", row.overheadMillis)}${number("input_tokens", row.usage?.input)}${number("output_tokens", row.usage?.output)}${row.isEstimated === true ? ',"usage_estimated":true' : ""}${dollars(
    row.costMicros
  )}${savings(row)}${named("key_id", row.keyId)}${failure(row)}}`

/** One line for an upstream call that failed. */
export const attemptLine = (row: RequestRow, attempt: AttemptRow, position: number): string =>
  `${opening(attemptEnd(row, attempt), row, "warn", "attempt")}${plain("provider", attempt.provider)}${plain("model", attempt.model)},"target":${attempt.target},"attempt":${
    position + 1
  }${number("upstream_status", attempt.upstreamStatus)}${millis("duration_ms", attempt.durationMillis)}${failure(attempt)}}`

/** Whole milliseconds below 10 s, else seconds. */
const span = (value: number): string =>
  value < 10 * 1000 ? `${Math.round(value)} ms` : `${(value / 1000).toFixed(1)} s`

/** One line for a terminal; unknown facts are left out. */
export const prettyLine = (row: RequestRow): string =>
  [
    timeOf(row.endedMillis).slice(11, 19),
    String(row.status),
    row.route,
    row.provider === undefined ? undefined : `@${row.provider}/${row.model}`,
    span(row.durationMillis),
    row.ttftMillis === undefined ? undefined : `first ${span(row.ttftMillis)}`,
    row.usage === undefined
      ? undefined
      : `${row.isEstimated === true ? "about " : ""}${row.usage.input}+${row.usage.output} tokens`,
    row.costMicros === undefined ? undefined : `$${dollarsOf(row.costMicros).toFixed(6)}`,
    row.modelWarning,
    row.attempts.length > 1 ? `${row.attempts.length} calls` : undefined,
    row.errorCode,
    row.errorMessage,
    row.requestId
  ]
    .filter((part) => part !== undefined)
    .join("  ")

export const prettyAttempt = (row: RequestRow, attempt: AttemptRow, position: number): string =>
  `${timeOf(attemptEnd(row, attempt)).slice(11, 19)}  call ${position + 1} failed  @${attempt.provider}/${attempt.model}  ${span(attempt.durationMillis)}  ${[
    attempt.upstreamStatus,
    attempt.errorCode,
    attempt.errorMessage,
    row.requestId
  ]
    .filter((part) => part !== undefined)
    .join("  ")}`
