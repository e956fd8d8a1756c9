// Transport faults: how an HTTP call fails without a usable response, and the error reason of each.
// Must not know undici's classes, providers or dialects.
import * as Data from "effect/Data"
import type { Reason } from "../domain/ProviderError.ts"
import type { Shortage } from "../domain/Room.ts"

/**
 * `stale`: a kept socket closed as the request was sent on it. `garbled`: the response is not HTTP. `encoded`: its content encoding was not requested. `no_room`, `no_room_for_key`: the
 * memory limit of the gateway or of the key is reached. `unrecorded`: recordings are played back, and none fits.
 */
export type FaultKind =
  | "connect_timeout"
  | "first_byte_timeout"
  | "idle_timeout"
  | "total_timeout"
  | "refused"
  | "reset"
  | "stale"
  | "dns"
  | "tls"
  | "other"
  | "garbled"
  | "encoded"
  | "too_large"
  | "no_room_for_key"
  | "no_room"
  | "unrecorded"

/** The fault of a shortage of memory. */
export const noRoom: Readonly<Record<Shortage, FaultKind>> = { key: "no_room_for_key", all: "no_room" }

/** A call without a usable response; `kind` contains no host and no text from the network. */
export class TransportFault extends Data.TaggedError("TransportFault")<{ readonly kind: FaultKind }> {}

const byCode = new Map<string, FaultKind>([
  ["ECONNREFUSED", "refused"],
  ["ECONNRESET", "reset"],
  ["EPIPE", "reset"],
  ["ECONNABORTED", "reset"],
  ["UND_ERR_SOCKET", "reset"],
  ["UND_ERR_RES_CONTENT_LENGTH_MISMATCH", "reset"],
  ["ENOTFOUND", "dns"],
  ["EAI_AGAIN", "dns"],
  ["ETIMEDOUT", "connect_timeout"],
  ["UND_ERR_CONNECT_TIMEOUT", "connect_timeout"],
  ["UND_ERR_HEADERS_OVERFLOW", "too_large"],
  ["EPROTO", "tls"],
  ["HOSTNAME_MISMATCH", "tls"]
])
const tlsCode = /^(ERR_TLS_|ERR_SSL_|CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_)/

/** Classifies an error of the socket or the HTTP parser by its name and code, never by its message. */
export const faultKind = (error: unknown): FaultKind => {
  if (error instanceof Error && error.name === "HTTPParserError") return "garbled"
  const code = codeOf(error)
  if (code === undefined) return "other"
  return byCode.get(code) ?? (tlsCode.test(code) ? "tls" : "other")
}

/** An AggregateError of several addresses counts as its first error. */
const codeOf = (error: unknown): string | undefined => {
  if (typeof error !== "object" || error === null) return undefined
  if ("code" in error && typeof error.code === "string") return error.code
  return "errors" in error && Array.isArray(error.errors) ? codeOf(error.errors[0]) : undefined
}

/** The error reason of a fault; `subject` begins the message, such as "The upstream". */
export const faultReason = (kind: FaultKind, subject: string): Reason => {
  switch (kind) {
    case "connect_timeout":
      return { _tag: "Timeout", phase: "connect", message: `${subject} did not accept a connection in time.` }
    case "first_byte_timeout":
      return {
        _tag: "Timeout",
        phase: "first_byte",
        message: `${subject} accepted the request and did not begin to answer in time.`
      }
    case "idle_timeout":
      return { _tag: "Timeout", phase: "idle", message: `${subject} fell silent in the middle of its answer.` }
    case "total_timeout":
      return { _tag: "Timeout", phase: "total", message: `${subject} did not finish its answer in the time allowed.` }
    case "refused":
      return { _tag: "Transport", kind, message: `${subject} refused the connection.` }
    case "reset":
      return { _tag: "Transport", kind, message: `${subject} closed the connection before its answer was complete.` }
    case "stale":
      return { _tag: "Transport", kind, message: `${subject} closed a kept connection as the request was sent on it.` }
    case "dns":
      return { _tag: "Transport", kind, message: `${subject} has no address: its host name could not be resolved.` }
    case "tls":
      return {
        _tag: "Transport",
        kind,
        message: `${subject} could not be trusted: the TLS handshake or its certificate failed.`
      }
    case "other":
      return { _tag: "Transport", kind, message: `${subject} could not be reached.` }
    case "garbled":
      return { _tag: "BadReply", kind: "unreadable", message: `${subject} did not answer in valid HTTP.` }
    case "encoded":
      return {
        _tag: "BadReply",
        kind: "unreadable",
        message: `${subject} answered in a content encoding that was not asked for.`
      }
    case "too_large":
      return { _tag: "BadReply", kind: "too_large", message: `${subject} sent an answer larger than the limit.` }
    case "unrecorded":
      return {
        _tag: "BadReply",
        kind: "unreadable",
        message: `${subject} was not called: recorded answers are played back, and none is of this request.`
      }
    case "no_room_for_key":
      return {
        _tag: "NoRoom",
        shortage: "key",
        message: "The running requests of the key hold more than their share of memory."
      }
    case "no_room":
      return { _tag: "NoRoom", shortage: "all", message: "The gateway has no memory left for the call." }
  }
}
