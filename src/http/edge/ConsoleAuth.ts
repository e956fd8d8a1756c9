// Whether a request comes from a page of the gateway itself, and the cookie of a console session: own host, own origin, own header.
// It must not depend on routes, or on how a session began.
import { isIP } from "node:net"
import * as Effect from "effect/Effect"
import type { HeaderRecord } from "../../api/Headers.ts"
import { type KeyInvalid, SessionRefused, type StoreUnavailable } from "../../domain/GatewayError.ts"
import type { GatewayKey } from "../../domain/GatewayKey.ts"
import type { BegunSession, Sessions } from "../../keys/ConsoleSessions.ts"
import type { IncomingRequest } from "../request/IncomingRequest.ts"

/** Host and port of a `Host` header; undefined for a malformed one. */
const placeOf = (host: string | undefined): URL | undefined =>
  host === undefined || !/^[\w.:[\]-]{1,255}$/.test(host) ? undefined : (URL.parse(`http://${host}`) ?? undefined)

/** A name that no foreign name server can point here: an address, this machine, or a name that the operator wrote. */
const isOwnHost = ({ hostname }: URL, hosts: ReadonlyArray<string>): boolean =>
  isIP(hostname.replaceAll(/[[\]]/g, "")) !== 0 ||
  hostname === "localhost" ||
  hostname.endsWith(".localhost") ||
  hosts.includes(hostname)

const isOwnOrigin = ({ origin, "sec-fetch-site": site }: HeaderRecord, { host }: URL): boolean => {
  if (site !== undefined && site !== "same-origin" && site !== "none") return false
  return origin === undefined || URL.parse(origin)?.host === host
}

/** Why a request is not of an own page: its host name, or its origin; undefined where it is. */
const foreignness = (headers: HeaderRecord, hosts: ReadonlyArray<string>): "host" | "origin" | undefined => {
  const place = placeOf(headers["host"])
  if (place === undefined || !isOwnHost(place, hosts)) return "host"
  return isOwnOrigin(headers, place) ? undefined : "origin"
}

/**
 * The same for routes that programs read as well, such as Prometheus, which come under any name. A page can send any
 * `accept-language`, but browsers send none of its requests without; to a name without TLS they add no `sec-fetch-site`.
 */
export const pageFault = (headers: HeaderRecord, hosts: ReadonlyArray<string>): "host" | "origin" | undefined =>
  (headers["origin"] ?? headers["sec-fetch-site"] ?? headers["accept-language"]) === undefined
    ? undefined
    : foreignness(headers, hosts)

// The cookie of a console session, and the conditions under which it counts: own host, own origin, own header.

/** Every change by a session carries it. A page of another origin can send it only after a preflight, which no route here answers. */
const consoleHeader = "x-gateway-console"

/**
 * The cookie is sent to the admin API alone. Below a base path it names no path: browsers then take that of the sign-in
 * as they see it, also where the proxy takes the prefix off.
 */
const cookiePath = "Path=/admin/v1"

const idGrammar = /^[\w-]{43}$/

/** Browsers share cookies between the ports of a host, so the name contains the port. */
const cookieName = (headers: HeaderRecord): string => {
  const port = placeOf(headers["host"])?.port ?? ""
  return port === "" ? "gateway_console" : `gateway_console_${port}`
}

/** The id in the cookie; undefined without one. */
export const sessionIdOf = (headers: HeaderRecord): string | undefined => {
  const name = cookieName(headers)
  for (const pair of (headers["cookie"] ?? "").split(";")) {
    const [key, value = ""] = pair.trim().split("=", 2)
    if (key === name && idGrammar.test(value)) return value
  }
  return undefined
}

/** What a proxy changes of a cookie: the base path, and HTTPS before it. */
interface CookieScope {
  readonly base: string
  readonly isSecure: boolean
}

const cookie = (headers: HeaderRecord, value: string, seconds: number, { base, isSecure }: CookieScope): string =>
  [
    `${cookieName(headers)}=${value}`,
    ...(base === "" ? [cookiePath] : []),
    `Max-Age=${seconds}`,
    "HttpOnly",
    "SameSite=Strict",
    ...(isSecure || headers["origin"]?.startsWith("https:") === true ? ["Secure"] : [])
  ].join("; ")

/** The cookie that begins a session. */
export const sessionCookie = (
  headers: HeaderRecord,
  { expiresMillis, id }: BegunSession,
  nowMillis: number,
  scope: CookieScope
): string => cookie(headers, id, Math.max(0, Math.floor((expiresMillis - nowMillis) / 1000)), scope)

/** The cookie that ends a session. */
export const endedCookie = (headers: HeaderRecord, scope: CookieScope): string => cookie(headers, "", 0, scope)

/** Why a request may use no session; undefined when it may. */
export const sessionFault = (
  incoming: IncomingRequest,
  hosts: ReadonlyArray<string>
): SessionRefused["reason"] | undefined => {
  const { headers, method } = incoming
  const foreign = foreignness(headers, hosts)
  if (foreign !== undefined) return foreign
  if (method === "GET" || method === "HEAD") return undefined
  if (headers["origin"] === undefined) return "origin"
  return headers[consoleHeader] === undefined ? "header" : undefined
}

/** The key of the session whose cookie a request has; undefined for a request without one. */
export const sessionKey = (
  sessions: Sessions | undefined,
  incoming: IncomingRequest
): Effect.Effect<GatewayKey, KeyInvalid | SessionRefused | StoreUnavailable> | undefined => {
  const id = sessions === undefined ? undefined : sessionIdOf(incoming.headers)
  if (sessions === undefined || id === undefined) return undefined
  const reason = sessionFault(incoming, sessions.hosts)
  return reason === undefined ? sessions.find(id) : Effect.fail(new SessionRefused({ reason }))
}
