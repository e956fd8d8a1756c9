// Requests that break HTTP itself, before or next to any route: faults of Node's parser, and faults that it lets through.
// It must not depend on sockets; it names faults.
import { withRetrySignal } from "../../api/errorDrafts.ts"
import type { ErrorFacts } from "../../api/errorFacts.ts"
import type { WireHead } from "../node/Exchange.ts"

const refusal = (status: number, code: string, message: string): ErrorFacts => ({
  status,
  type: "invalid_request_error",
  code,
  param: null,
  message,
  headers: withRetrySignal(status, { connection: "close" }),
  upstream: undefined,
  tried: undefined
})

const malformed = refusal(400, "malformed_http", "The request is not well-formed HTTP/1.1.")
const headersTooLarge = refusal(431, "headers_too_large", "The request has too many headers, or too long ones.")
const timedOut = refusal(408, "request_timeout", "The request did not arrive in time.")
const bodyTooLarge = refusal(413, "request_too_large", "The framing of the request is too large.")

/** A value of `Expect` other than `100-continue`. */
export const expectationFailed = refusal(417, "expectation_failed", "The only expectation taken is 100-continue.")

/** What the parser's own error code means (`ERR_HTTP_REQUEST_TIMEOUT`, `HPE_*`). */
export const parserFault = (code: string): ErrorFacts => {
  switch (code) {
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return timedOut
    case "HPE_HEADER_OVERFLOW":
      return headersTooLarge
    case "HPE_CHUNK_EXTENSIONS_OVERFLOW":
      return bodyTooLarge
    default:
      return malformed
  }
}

/** Refuses what the parser tolerates: too many headers, two hosts, and from HTTP/1.1 on none. */
export const headerFault = ({ httpVersion, rawHeaders }: WireHead, maximum: number): ErrorFacts | undefined => {
  if (rawHeaders.length > maximum * 2) return headersTooLarge
  const hosts = countOf(rawHeaders, "host")
  return hosts > 1 || (hosts === 0 && httpVersion !== "1.0") ? malformed : undefined
}

/** How often a header came, before Node joined or dropped its repetitions. */
export const countOf = (raw: ReadonlyArray<string>, name: string): number => {
  let count = 0
  for (let at = 0; at < raw.length; at += 2) {
    const one = raw[at]
    if (one !== undefined && one.length === name.length && one.toLowerCase() === name) count++
  }
  return count
}
