// What a reverse proxy puts before the path of a request, and what it states about the client: address and scheme.
// It must not depend on routes, or on what is answered.
import { BlockList, isIP, isIPv6 } from "node:net"
import * as Context from "effect/Context"
import type { HeaderRecord } from "../../api/Headers.ts"

/** The path below which a reverse proxy shows the gateway, such as `/llm`; empty for none. */
export const BasePath: Context.Reference<string> = Context.Reference("gateway/http/BasePath", {
  defaultValue: () => ""
})

/**
 * Path and query without the base path. Addresses without it are served as well: probes, and proxies that take the
 * prefix off.
 */
export const withoutBasePath = (url: string, base: string): string => {
  if (base === "" || !url.startsWith(base)) return url
  const rest = url.slice(base.length)
  if (rest.startsWith("/")) return rest
  return rest === "" || rest.startsWith("?") ? `/${rest}` : url
}

/** The client of a request as far as it is known. */
export interface Client {
  /** Empty without a connection. */
  readonly address: string
  /** True where a trusted proxy states that the client came by HTTPS. */
  readonly isSecure: boolean
}

type ReadClient = (exchange: { readonly remoteAddress: string; readonly headers: HeaderRecord }) => Client

/** An address of IPv4 that comes in one of IPv6, as it does on `::`, in its own form. */
const plainAddress = (address: string): string => address.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, "")

/** The address in an entry of `X-Forwarded-For`, which may have a port; undefined for another text. */
const forwardedAddress = (entry: string): string | undefined => {
  const text = entry.trim()
  const [, bracketed] = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(text) ?? []
  const address = bracketed ?? (text.includes("::") || !/^[\d.]+:\d{1,5}$/.test(text) ? text : text.split(":", 1)[0])
  return address === undefined || isIP(address) === 0 ? undefined : plainAddress(address)
}

/** Matches the address of a connection. */
const trustOf = (entries: ReadonlyArray<string>): ((address: string) => boolean) => {
  const list = new BlockList()
  for (const entry of entries) {
    const [address = "", prefix] = entry.split("/", 2)
    const family = isIPv6(address) ? "ipv6" : "ipv4"
    if (prefix === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(prefix), family)
  }
  return (address) => address !== "" && list.check(address, isIPv6(address) ? "ipv6" : "ipv4")
}

/**
 * The headers of a proxy count where its own address is trusted. `X-Forwarded-For` is read from its end, as each proxy
 * adds the address that called it: the client is the last address that is not trusted. A text that is no address ends the
 * search, because whatever is before it may be the client's invention.
 */
export const clientReader = (trusted: ReadonlyArray<string>): ReadClient => {
  const isTrusted = trustOf(trusted)
  return ({ headers, remoteAddress }) => {
    const peer = plainAddress(remoteAddress)
    if (trusted.length === 0 || !isTrusted(peer)) return { address: peer, isSecure: false }
    const entries = (headers["x-forwarded-for"] ?? "").split(",")
    let address = peer
    while (isTrusted(address)) {
      const entry = forwardedAddress(entries.pop() ?? "")
      if (entry === undefined) break
      address = entry
    }
    const scheme = (headers["x-forwarded-proto"] ?? "").split(",").at(-1)?.trim().toLowerCase()
    return { address, isSecure: scheme === "https" }
  }
}

/** How the client of a request is found. Without trusted proxies it is the address of the connection. */
export const ClientReader: Context.Reference<ReadClient> = Context.Reference("gateway/http/ClientReader", {
  defaultValue: () => clientReader([])
})
