// How hosts are reached: the proxy of a host, and sockets, directly or through a proxy's tunnel, with the certificates of the settings.
// Must not know requests, calls or providers.
import * as Context from "effect/Context"
import * as Redacted from "effect/Redacted"
import { BlockList, isIP, type LookupFunction, type Socket } from "node:net"
import { getCACertificates } from "node:tls"
import connectBy from "undici/lib/api/api-connect.js"
import buildConnector from "undici/lib/core/connect.js"
import Client from "undici/lib/dispatcher/client.js"
import { memoizeBounded } from "../domain/collections.ts"
import { type AccountTls, directNetwork, type NetworkSetting, type ProxyAddress } from "../domain/settings/network.ts"

/** How upstreams are reached; directly unless settings name a proxy or an authority. */
export const Network: Context.Reference<NetworkSetting> = Context.Reference<NetworkSetting>(
  "gateway/upstream/Network",
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

export type Connect = buildConnector.connector
type ConnectOptions = buildConnector.Options

/** The code of a proxy that opens no tunnel, as `HttpExchange.ts` knows it. */
const refusedCode = "PROXY_REFUSED"

class ProxyFault extends Error {
  readonly code = refusedCode
}

/** Options of the sockets and of their TLS; `ca` comes next to the authorities of Node, which it would replace. */
const tlsOptions = (ca: ReadonlyArray<string>, tls: AccountTls | undefined) => ({
  ...(ca.length === 0 ? {} : { ca: [...getCACertificates("default"), ...ca] }),
  ...(tls?.cert === undefined ? {} : { cert: tls.cert }),
  ...(tls?.key === undefined ? {} : { key: Redacted.value(tls.key) })
})

const present = (...texts: ReadonlyArray<string | undefined>): ReadonlyArray<string> =>
  texts.filter((text) => text !== undefined)

export interface SocketOptions {
  readonly timeout: number
  /** Handed to Node's socket. */
  readonly highWaterMark?: number
  readonly lookup?: LookupFunction
  /** The address that a tunnel leads to, in the place of the host name. */
  readonly address?: string | undefined
}

/** The connector of hosts with these certificates. */
export const connectorOf = (
  network: NetworkSetting,
  choose: ChooseProxy,
  { address, ...sockets }: SocketOptions,
  tls?: AccountTls
): Connect => {
  const direct = buildConnector({ allowH2: false, ...sockets, ...tlsOptions(present(network.ca, tls?.ca), tls) })
  const servername = tls?.serverName
  const named: Connect = servername === undefined ? direct : (asked, done) => direct({ ...asked, servername }, done)
  if (network.https === undefined) return named
  const toProxy = buildConnector({
    allowH2: false,
    timeout: sockets.timeout,
    ...tlsOptions(present(network.ca), undefined)
  })
  return (asked, done) => {
    const proxy = asked.protocol === "https:" ? choose(`https://${asked.host ?? asked.hostname}`) : undefined
    // A proxy of https is itself connected to directly.
    if (proxy === undefined || proxy.origin === `https://${asked.host ?? asked.hostname}`) return named(asked, done)
    tunnel({ proxy, connect: toProxy, millis: sockets.timeout, to: targetOf(asked, address) }, (error, socket) => {
      if (error !== null) done(error, null)
      else named({ ...asked, httpSocket: socket }, done)
    })
  }
}

/** Host and port, as CONNECT has them. */
const targetOf = ({ hostname, port }: ConnectOptions, address: string | undefined): string => {
  const host = address ?? hostname
  return `${host.includes(":") && !host.startsWith("[") ? `[${host}]` : host}:${port === "" ? "443" : port}`
}

interface Tunnel {
  readonly proxy: ProxyAddress
  readonly connect: Connect
  readonly millis: number
  readonly to: string
}

/** Asks a proxy for a connection; every failure is one of the proxy. */
const tunnel = (
  { connect, millis, proxy, to }: Tunnel,
  done: (...result: [Error, null] | [null, Socket]) => void
): void => {
  // A proxy that accepts and closes would be tried again by undici until the signal.
  const client = new Client(proxy.origin, { connect, headersTimeout: millis, bodyTimeout: 0, pipelining: 1 })
  const headers = {
    host: to,
    ...(proxy.authorization === undefined ? {} : { "proxy-authorization": Redacted.value(proxy.authorization) })
  }
  connectBy.call(client, { path: to, headers, signal: AbortSignal.timeout(millis) }, (error, data) => {
    void client.close()
    if (error !== null) return done(new ProxyFault("The proxy cannot be reached."), null)
    const { socket, statusCode } = data
    if (statusCode === 200 && isSocket(socket)) return done(null, socket)
    socket.on("error", () => {}).destroy()
    done(new ProxyFault("The proxy opens no connection."), null)
  })
}

/** undici hands out the socket itself; its type is wider. */
const isSocket = (stream: object): stream is Socket => "remoteAddress" in stream

/** Options for agents of Node, which other libraries connect by: proxy and authorities for one address. */
export const agentOptions = (network: NetworkSetting, url: string | undefined) => {
  const proxy = url === undefined ? undefined : proxyChoice(network)(URL.parse(url)?.origin ?? "")
  const address = proxy === undefined ? undefined : Redacted.value(proxy.url)
  return {
    keepAlive: true,
    ...tlsOptions(present(network.ca), undefined),
    ...(address === undefined ? {} : { proxyEnv: { HTTPS_PROXY: address, HTTP_PROXY: address } })
  }
}
