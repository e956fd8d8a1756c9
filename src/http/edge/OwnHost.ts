// Whether a request comes from a page of the gateway itself: own host name, own origin. Against rebound names (DNS rebinding).
// Must not know routes, sessions or what an answer holds.
import { isIP } from "node:net"
import type { HeaderRecord } from "../../api/Headers.ts"

/** Host and port of a `Host` header; undefined for a malformed one. */
export const placeOf = (host: string | undefined): URL | undefined =>
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
export const foreignness = (headers: HeaderRecord, hosts: ReadonlyArray<string>): "host" | "origin" | undefined => {
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
