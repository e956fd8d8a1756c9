// Chooses the proxy of a host, by the rules that curl and other programs read from the environment.
// Must not open a connection or know what is called.
import * as Context from "effect/Context"
import { BlockList, isIP } from "node:net"
import { memoizeBounded } from "../../domain/memoizeBounded.ts"
import { directNetwork, type NetworkSetting, type ProxyAddress } from "../../domain/settings/network.ts"

/** How upstreams are reached; directly unless settings name a proxy or an authority. */
export const Network: Context.Reference<NetworkSetting> = Context.Reference<NetworkSetting>(
  "gateway/upstream/network/Network",
  { defaultValue: () => directNetwork }
)

/** This machine, and the metadata servers of clouds, which no proxy can reach. */
const ownHosts: ReadonlyArray<string> = [
  "localhost",
  "127.0.0.0/8",
  "::1",
  "169.254.169.254",
  "metadata.google.internal"
]

type Matches = (host: string, port: string) => boolean

const familyOf = (address: string): "ipv4" | "ipv6" => (isIP(address) === 6 ? "ipv6" : "ipv4")

const addressMatch = (base: string, bits: string | undefined): ((host: string) => boolean) => {
  const list = new BlockList()
  const most = isIP(base) === 6 ? 128 : 32
  if (bits === undefined) list.addAddress(base, familyOf(base))
  else list.addSubnet(base, Math.min(Number(bits), most), familyOf(base))
  return (host) => isIP(host) !== 0 && list.check(host, familyOf(host))
}

/** `*`, an address, a range, or a name with all names below it; a port narrows it. */
const entryMatch = (entry: string): Matches => {
  if (entry === "*") return () => true
  const [, base = "", bits] = /^\[?([^\]/]*)\]?\/(\d{1,3})$/.exec(entry) ?? []
  if (isIP(base) !== 0) return addressMatch(base, bits)
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:]+|.*:.*:.*))(?::(\d{1,5}))?$/.exec(entry) ?? []
  const name = (bracketed ?? plain ?? entry).toLowerCase().replace(/^\*?\./, "")
  const byHost =
    isIP(name) === 0 ? (host: string) => host === name || host.endsWith(`.${name}`) : addressMatch(name, undefined)
  return (host, hostPort) => (port === undefined || port === hostPort) && byHost(host)
}

const defaultPorts: Readonly<Record<string, string>> = { "http:": "80", "https:": "443" }

/** The proxy of an origin; undefined: it is reached directly. */
export type ChooseProxy = (origin: string) => ProxyAddress | undefined

export const proxyChoice = ({ http, https, noProxy }: NetworkSetting): ChooseProxy => {
  if (http === undefined && https === undefined) return () => undefined
  const direct = [...ownHosts, ...noProxy].map(entryMatch)
  const choose = memoizeBounded((origin): { readonly proxy: ProxyAddress | undefined } => {
    const url = URL.parse(origin)
    if (url === null) return { proxy: undefined }
    const host = url.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "")
    const port = url.port === "" ? (defaultPorts[url.protocol] ?? "") : url.port
    const isDirect = direct.some((matches) => matches(host, port))
    return { proxy: isDirect ? undefined : url.protocol === "https:" ? https : http }
  })
  return (origin) => choose(origin).proxy
}

/** How an origin is reached, for people; empty where no proxy is set at all. */
export const describeRoute = (network: NetworkSetting): ((origin: string) => string) => {
  const choose = proxyChoice(network)
  const { http, https } = network
  return (origin) => (http === undefined && https === undefined ? "" : `, ${wayTo(choose(origin))}`)
}

const wayTo = (proxy: ProxyAddress | undefined): string =>
  proxy === undefined ? "reached directly" : `reached by the proxy ${proxy.origin}`
