// Tests calls through a forward proxy and with certificates of an account, over real sockets.
// Must not leave the machine: names of hosts exist at the proxy only.
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { once } from "node:events"
import { createServer, type ServerOptions } from "node:https"
import type { TLSSocket } from "node:tls"
import { type NetworkSetting, parseProxy } from "../../src/domain/settings/network.ts"
import type { TransportRequest } from "../../src/upstream/HttpExchange.ts"
import { Network } from "../../src/upstream/Network.ts"
import { Transport } from "../../src/upstream/Transport.ts"
import { makeCertificates } from "../support/certificates.ts"
import { startForwardProxy } from "../support/forwardProxy.ts"
import { times } from "./lines.ts"

const certificates = makeCertificates()
const host = "upstream.test"
const good = certificates.host(host)

const upstream = (options: ServerOptions = {}) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const sockets = new Set<unknown>()
      const server = createServer({ ...good, ...options }, (request, response) => {
        sockets.add(request.socket)
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion
        const { subject } = (request.socket as TLSSocket).getPeerCertificate()
        response.end(`${request.url} ${subject?.CN ?? "nobody"} ${sockets.size}`)
      })
      await once(server.listen(0, "127.0.0.1"), "listening")
      const address = server.address()
      if (address === null || typeof address === "string") throw new Error("no port")
      return { server, port: address.port }
    }),
    ({ server }) =>
      Effect.promise(async () => {
        server.closeAllConnections()
        await new Promise((done) => server.close(done))
      })
  )

const proxyTo = (to: number | undefined) =>
  Effect.acquireRelease(
    Effect.promise(() => startForwardProxy({ to })),
    ({ close }) => Effect.promise(close)
  )

const networkBy = (port: number, user = "user:sekret@"): NetworkSetting => {
  const proxy = Result.getOrThrow(parseProxy(`http://${user}127.0.0.1:${port}`))
  return { https: proxy, http: proxy, noProxy: [], ca: certificates.authority }
}

const get = (url: string, some: Partial<TransportRequest> = {}) =>
  Effect.flatMap(Transport, (transport) =>
    Effect.match(
      transport.collect(
        { method: "GET", url, headers: {}, auth: {}, body: undefined, ...times, ...some },
        { replyBytes: 1_000, errorBytes: 1_000 }
      ),
      { onFailure: ({ kind }) => kind, onSuccess: ({ bytes }) => Buffer.from(bytes).toString() }
    )
  )
const over = (network: NetworkSetting) => Transport.layer.pipe(Layer.provide(Layer.succeed(Network, network)))

describe("calls through a proxy", () => {
  it.live("proxy: tunnels https with its credential, and keeps the tunnel for later calls (K20)", () =>
    Effect.gen(function* () {
      const { port } = yield* upstream()
      const proxy = yield* proxyTo(port)
      const network = networkBy(proxy.port)
      const calls = Effect.all([
        get(`https://${host}/a`),
        get(`https://${host}/b`),
        get(`https://${host}/c`, { isFresh: true }),
        get(`https://${host}:8443/d`, { addresses: ["192.0.2.1"] })
      ])
      expect(yield* Effect.provide(calls, over(network))).toEqual([
        "/a nobody 1",
        "/b nobody 1",
        "/c nobody 2",
        "/d nobody 3"
      ])
      const credential = `Basic ${Buffer.from("user:sekret").toString("base64")}`
      expect(proxy.asked).toEqual([
        { line: `CONNECT ${host}:443`, credential },
        { line: `CONNECT ${host}:443`, credential },
        { line: "CONNECT 192.0.2.1:8443", credential }
      ])
    })
  )

  it.live("proxy: gets the whole address of a call by http, and no tunnel (K20)", () =>
    Effect.gen(function* () {
      const proxy = yield* proxyTo(undefined)
      const calls = Effect.all([
        get("http://upstream.test:81/a?b=c"),
        get("http://media.test/d", { addresses: ["192.0.2.1"] })
      ])
      expect(yield* Effect.provide(calls, over(networkBy(proxy.port, "")))).toEqual(["{}", "{}"])
      expect(proxy.asked).toEqual([
        { line: "GET http://upstream.test:81/a?b=c", credential: undefined },
        { line: "GET http://192.0.2.1/d", credential: undefined }
      ])
    })
  )

  it.live("proxy: one that refuses or is away is a fault of its own (K20)", () =>
    Effect.gen(function* () {
      const proxy = yield* proxyTo(undefined)
      expect(yield* Effect.provide(get(`https://${host}/`), over(networkBy(proxy.port)))).toBe("proxy")
      expect(yield* Effect.provide(get(`https://${host}/`), over(networkBy(1)))).toBe("proxy")
    })
  )
})

describe("certificates of an account", () => {
  const direct: NetworkSetting = { https: undefined, http: undefined, noProxy: [], ca: undefined }

  it.live("certificates: authority, client certificate and name are those of the account (K21)", () =>
    Effect.gen(function* () {
      const { port } = yield* upstream({ requestCert: true, rejectUnauthorized: true, ca: certificates.authority })
      const client = certificates.host("client.test")
      const tls = {
        ca: certificates.authority,
        cert: client.cert,
        key: Redacted.make(client.key),
        serverName: host
      }
      const url = `https://127.0.0.1:${port}/`
      const calls = Effect.all([
        get(url),
        get(url, { tls }),
        get(url, { tls: { ...tls } }),
        get(url, { tls, isFresh: true }),
        get(url, { tls: { ...tls, serverName: undefined } }),
        get(url, { tls: { ...tls, ca: undefined } })
      ])
      expect(yield* Effect.provide(calls, over(direct))).toEqual([
        "tls",
        "/ client.test 1",
        "/ client.test 1",
        "/ client.test 2",
        "tls",
        "tls"
      ])
    })
  )

  it.live("certificates: an authority of the network serves all hosts, next to those of Node (K21)", () =>
    Effect.gen(function* () {
      const { port } = yield* upstream(certificates.good)
      const url = `https://localhost:${port}/`
      expect(yield* Effect.provide(get(url), over(direct))).toBe("tls")
      expect(yield* Effect.provide(get(url), over({ ...direct, ca: certificates.authority }))).toBe("/ nobody 1")
    })
  )
})
