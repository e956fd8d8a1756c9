// Log lines of requests and failed upstream calls: as JSON, or readable on a terminal.
// Must not know where lines go. The JSON is concatenated by hand, because every request pays for it.
import { type AttemptRow, endedMillisOf, type RequestRow } from "../domain/RequestRow.ts"
import { isoText } from "../domain/time.ts"
import { memoizeBounded } from "../domain/collections.ts"

export type LogLevel = "info" | "warn" | "error"

/** Faults of the gateway or of an upstream are errors. Faults of the client and cancellations are warnings. */
export const levelOf = ({ status, error_code: errorCode }: Pick<RequestRow, "status" | "error_code">): LogLevel =>
  status >= 500 ? "error" : status >= 400 || errorCode !== undefined ? "warn" : "info"

/** Thousandths as `""` or `.001` to `.999`, without trailing zeros. */
const decimals = Array.from({ length: 1000 }, (_, at) => {
  const digits = String(at).padStart(3, "0").replace(/0+$/, "")
  return digits === "" ? "" : `.${digits}`
})

/** Milliseconds as text, in whole microseconds. Printing a number with a fraction is slow: the fraction is of a table. */
const millisText = (millis: number): string => {
  const micros = Math.round(millis * 1000)
  const whole = Math.floor(micros / 1000)
  return `${whole}${decimals[micros - whole * 1000]}`
}

const quoted = memoizeBounded((text: string): string => JSON.stringify(text))

/** Request ids, slugs, model ids and routes need no JSON escapes: their grammars exclude such characters. */
const opening = (ts: string, row: RequestRow, level: LogLevel, what: string): string =>
  `{"ts":"${ts}","level":"${level}","msg":"${what}","request_id":"${row.request_id}","trace_id":${JSON.stringify(row.trace_id)}`

const plain = (name: string, value: string | undefined): string => (value === undefined ? "" : `,"${name}":"${value}"`)
const number = (name: string, value: number | undefined): string => (value === undefined ? "" : `,"${name}":${value}`)
const millis = (name: string, value: number | undefined): string =>
  value === undefined ? "" : `,"${name}":${millisText(value)}`
/** Names from operators and upstreams. Their number is small, so the quoted texts are remembered. */
const named = (name: string, value: string | undefined): string =>
  value === undefined ? "" : `,"${name}":${quoted(value)}`
/** The code repeats, but messages differ: they are quoted each time. */
const failure = ({
  error_code: code,
  error_message: message,
  error_param: param
}: Pick<RequestRow, "error_code" | "error_message" | "error_param">): string =>
  `${named("error_code", code)}${message === undefined ? "" : `,"error_message":${JSON.stringify(message)}`}${param === undefined ? "" : `,"error_param":${JSON.stringify(param)}`}`

/** When a call ended. */
const attemptEnd = (row: RequestRow, attempt: AttemptRow): string =>
  isoText(endedMillisOf(row) - Math.round(row.duration_ms - attempt.started_ms - attempt.duration_ms))

const savings = ({ saved }: RequestRow): string =>
  saved === undefined
    ? ""
    : `,"saved_input_tokens":${saved.input_tokens},"saved_output_tokens":${saved.output_tokens}${number("saved_usd", saved.cost_usd)}`

/** One line for a request; unknown facts are left out. */
export const requestLine = (row: RequestRow, level: LogLevel): string =>
  `${opening(row.ts, row, level, "request")},"route":"${row.route}","status":${row.status}${plain("provider", row.provider)}${plain("model", row.model)}${number(
    "target",
    row.target
  )}${named("model_warning", row.model_warning)},"attempts":${row.attempts.length}${row.skipped_targets === undefined ? "" : `,"skipped_targets":[${row.skipped_targets.join(",")}]`},"stream":${row.stream}${plain("cache", row.cache)}${millis("duration_ms", row.duration_ms)}${millis(
    "ttft_ms",
    row.ttft_ms
  )}${millis("overhead_ms", row.overhead_ms)}${number("input_tokens", row.usage?.input_tokens)}${number("output_tokens", row.usage?.output_tokens)}${row.usage_estimated === true ? ',"usage_estimated":true' : ""}${number("cost_usd", row.cost_usd)}${savings(row)}${named("key_id", row.key_id)}${failure(row)}}`

/** One line for an upstream call that failed. */
export const attemptLine = (row: RequestRow, attempt: AttemptRow, position: number): string =>
  `${opening(attemptEnd(row, attempt), row, "warn", "attempt")}${plain("provider", attempt.provider)}${plain("model", attempt.model)},"target":${attempt.target},"attempt":${
    position + 1
  }${number("upstream_status", attempt.upstream_status)}${millis("duration_ms", attempt.duration_ms)}${failure(attempt)}}`

/** Whole milliseconds below 10 s, else seconds. */
const span = (value: number): string =>
  value < 10 * 1000 ? `${Math.round(value)} ms` : `${(value / 1000).toFixed(1)} s`

/** One line for a terminal; unknown facts are left out. */
export const prettyLine = (row: RequestRow): string =>
  [
    row.ts.slice(11, 19),
    String(row.status),
    row.route,
    row.provider === undefined ? undefined : `@${row.provider}/${row.model}`,
    span(row.duration_ms),
    row.ttft_ms === undefined ? undefined : `first ${span(row.ttft_ms)}`,
    row.usage === undefined
      ? undefined
      : `${row.usage_estimated === true ? "about " : ""}${row.usage.input_tokens}+${row.usage.output_tokens} tokens`,
    row.cost_usd === undefined ? undefined : `$${row.cost_usd.toFixed(6)}`,
    row.model_warning,
    row.attempts.length > 1 ? `${row.attempts.length} calls` : undefined,
    row.error_code,
    row.error_message,
    row.request_id
  ]
    .filter((part) => part !== undefined)
    .join("  ")

export const prettyAttempt = (row: RequestRow, attempt: AttemptRow, position: number): string =>
  `${attemptEnd(row, attempt).slice(11, 19)}  call ${position + 1} failed  @${attempt.provider}/${attempt.model}  ${span(attempt.duration_ms)}  ${[
    attempt.upstream_status,
    attempt.error_code,
    attempt.error_message,
    row.request_id
  ]
    .filter((part) => part !== undefined)
    .join("  ")}`
