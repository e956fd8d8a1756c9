// One HTTP call to an upstream as values: request, response, how it fails without a usable response, and its retry-after.
// Must not depend on the connection pool, undici's classes, providers or dialects.
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type * as Pull from "effect/Pull"
import type * as Redacted from "effect/Redacted"
import type { Reason } from "../domain/ProviderError.ts"
import type { Room, Shortage } from "../domain/RequestContext.ts"
import type { AccountTls } from "../domain/settings/network.ts"

/** Header name to secret value. Only the connection pool reads the values. */
export type AuthHeaders = Readonly<Record<string, Redacted.Redacted<string>>>

export interface TransportRequest {
  readonly method: "GET" | "POST"
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly auth: AuthHeaders
  /** The only addresses to call, checked by the caller. Without them the host name is resolved. */
  readonly addresses?: ReadonlyArray<string>
  readonly body: string | Uint8Array | undefined
  /** Certificates of the account; such calls share no connection with others. */
  readonly tls?: AccountTls | undefined
  /** True: on a new socket, never on a kept one. */
  readonly isFresh?: boolean | undefined
  /** Counts the bytes of a collected response; undefined: they are not counted. */
  readonly room?: Room | undefined
  readonly observed?: { readonly sent: () => void } | undefined
  /** Until a socket is connected. */
  readonly connectMillis: number
  /** From the request on the socket to the head of the response; for a stream, to the first byte of its body. */
  readonly firstByteMillis: number
  /** Between two reads. It does not run while the socket is paused. */
  readonly idleMillis: number
  /** The whole call, including the connection. */
  readonly totalMillis: number
}

export interface TransportResponse {
  readonly status: number
  /** Lower-case names; a repeated header is joined by ", ". */
  readonly headers: Readonly<Record<string, string>>
  /** The bytes that arrived since the last pull. Without pulls the socket is paused. */
  readonly body: Pull.Pull<readonly [Uint8Array, ...Array<Uint8Array>], TransportFault>
  /** Releases the connection; no effect after a complete response. */
  readonly close: Effect.Effect<void>
}

export interface CollectedResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly bytes: Uint8Array
}

/** Bounds in bytes. A 2xx body beyond `replyBytes` is a fault; the body of another status is cut at `errorBytes`. */
export interface CollectBounds {
  readonly replyBytes: number
  readonly errorBytes: number
}

/**
 * `stale`: a kept socket closed as the request was sent on it. `garbled`: the response is not HTTP. `encoded`: its
 * content encoding was not requested. `no_room`, `no_room_for_key`: the memory limit of the gateway or of the key is
 * reached. `unrecorded`: recordings are played back, and none fits.
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
  | "proxy"
  | "other"
  | "garbled"
  | "encoded"
  | "too_large"
  | "no_room_for_key"
  | "no_room"
  | "unrecorded"

/** The fault of a shortage of memory. */
export const noRoom: Readonly<Record<Shortage, FaultKind>> = { key: "no_room_for_key", all: "no_room" }

/** A call without a usable response; no part contains a host or text from the network. */
export class TransportFault extends Data.TaggedError("TransportFault")<{
  readonly kind: FaultKind
  /** The limit that a timer has reached. */
  readonly millis?: number
}> {}

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
  ["PROXY_REFUSED", "proxy"],
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

/** The server of a call, as an error names it. */
export interface FaultSubject {
  /** Begins the message, such as "The upstream". */
  readonly name: string
  /** The setting of each timer, and what else may shorten it; undefined where the message names none. */
  readonly settings?: Readonly<Record<"connect" | "first_byte" | "idle" | "total", string>>
}

/** What a call to a provider takes its time limits from. */
export const upstreamSubject = (isStream: boolean): FaultSubject => (isStream ? streamed : whole)

const upstream = (firstByte: string, total: string): FaultSubject => ({
  name: "The upstream",
  settings: {
    connect: "limits.connectMillis, or timeouts.connect of the config",
    first_byte: firstByte,
    idle: "limits.idleMillis, or timeouts.idle of the config",
    total: `limits.totalMillis, x-gateway-request-timeout, or ${total} of the config`
  }
})
/** A stream that has begun is an answer in time: `request_timeout` covers its first byte only. */
const streamed = upstream(
  "limits.firstByteMillis, or request_timeout or timeouts.first_byte of the config",
  "timeouts.total"
)
const whole = upstream(
  "limits.unaryFirstByteMillis, or timeouts.first_byte of the config",
  "request_timeout or timeouts.total"
)

/** The total may be the rest of a deadline, so it is rounded up to two digits. */
const roundedUp = (millis: number): number => {
  const unit = 10 ** Math.max(0, Math.ceil(Math.log10(millis + 1)) - 2)
  return Math.ceil(millis / unit) * unit
}

const time = (millis: number): string => (millis < 1000 ? `${millis} ms` : `${millis / 1000} s`)

/** The reason of a timer; the message has its limit and setting where they are known. */
const timeoutReason = (
  phase: "connect" | "first_byte" | "idle" | "total",
  millis: number | undefined,
  { name, settings }: FaultSubject
): Reason => {
  const within = (otherwise: string, word = "within"): string =>
    millis === undefined ? otherwise : `${word} ${time(phase === "total" ? roundedUp(millis) : millis)}`
  const texts = {
    connect: `did not accept a connection ${within("in time")}`,
    first_byte: `accepted the request and did not begin to answer ${within("in time")}`,
    idle: `fell silent ${millis === undefined ? "" : `${within("", "for")} `}in the middle of its answer`,
    total: `did not finish its answer ${within("in the time allowed")}`
  }
  const setting = settings === undefined ? "" : ` (${settings[phase]})`
  return { _tag: "Timeout", phase, message: `${name} ${texts[phase]}${setting}.` }
}

/** The error reason of a fault. */
export const faultReason = ({ kind, millis }: Pick<TransportFault, "kind" | "millis">, of: FaultSubject): Reason => {
  const subject = of.name
  switch (kind) {
    case "connect_timeout":
      return timeoutReason("connect", millis, of)
    case "first_byte_timeout":
      return timeoutReason("first_byte", millis, of)
    case "idle_timeout":
      return timeoutReason("idle", millis, of)
    case "total_timeout":
      return timeoutReason("total", millis, of)
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
    case "proxy":
      return {
        _tag: "Transport",
        kind,
        message: `${subject} could not be reached: the proxy of the gateway's network opened no connection to it.`
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

/** A year; a longer delay is ignored. */
const mostSeconds = 365 * 24 * 60 * 60

/**
 * The header retry-after in milliseconds from now: seconds or an HTTP date (RFC 9110, 10.2.3). `retry-after-ms` is
 * preferred. A malformed or past value is ignored.
 */
export const retryAfterMillis = (headers: Readonly<Record<string, string>>, nowMillis: number): number | undefined => {
  const fine = decimal(headers["retry-after-ms"])
  if (fine !== undefined) return bounded(fine)
  const text = headers["retry-after"]
  const seconds = decimal(text)
  if (seconds !== undefined) return bounded(seconds * 1000)
  if (text === undefined || !/^[A-Z][a-z]{2}, /.test(text)) return undefined
  const date = Date.parse(text)
  return Number.isNaN(date) || date <= nowMillis ? undefined : bounded(date - nowMillis)
}

const decimal = (text: string | undefined): number | undefined =>
  text !== undefined && /^\s*\d{1,15}(\.\d{1,9})?\s*$/.test(text) ? Number(text) : undefined

const bounded = (millis: number): number | undefined => (millis > mostSeconds * 1000 ? undefined : Math.ceil(millis))
