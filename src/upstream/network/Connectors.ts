// Connects sockets to hosts: directly or through the tunnel of a proxy, with the certificates of the settings.
// Must not know requests, calls or providers.
import * as Redacted from "effect/Redacted"
import type { LookupFunction, Socket } from "node:net"
import { getCACertificates } from "node:tls"
import connectBy from "undici/lib/api/api-connect.js"
import buildConnector from "undici/lib/core/connect.js"
import Client from "undici/lib/dispatcher/client.js"
import type { AccountTls, NetworkSetting, ProxyAddress } from "../../domain/settings/network.ts"
import { type ChooseProxy, proxyChoice } from "./Network.ts"

export type Connect = buildConnector.connector
type Asked = buildConnector.Options

/** The code of a proxy that opens no tunnel, as `TransportFault.ts` knows it. */
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
const targetOf = ({ hostname, port }: Asked, address: string | undefined): string => {
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
