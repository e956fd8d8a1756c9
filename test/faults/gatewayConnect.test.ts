// Faults before a connection is established, through the whole gateway: a full listener, and TLS.
// Must not look inside the gateway.
import { getCACertificates, setDefaultCACertificates } from "node:tls"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type Certificate, makeCertificates } from "../support/certificates.ts"
import { apiError, fixed, gemini, refusal, throughGateway } from "../support/faulty.ts"
import { fullBacklog, netServer, tlsServer } from "../upstream/evilServer.ts"

const untrusted = [
  502,
  { "x-should-retry": "false" },
  apiError("upstream_unreachable", "The upstream could not be trusted: the TLS handshake or its certificate failed.")
]
const notConnected = [
  504,
  {},
  apiError(
    "upstream_timeout",
    "The upstream did not accept a connection within 100 ms (limits.connectMillis, or timeouts.connect of the config)."
  )
]
const nobody = netServer(() => undefined)
const certificates = makeCertificates()

const trusted = getCACertificates("default")
beforeAll(() => setDefaultCACertificates([...trusted, certificates.authority]))
afterAll(() => setDefaultCACertificates(trusted))

describe("failed connections", () => {
  it("connection: a listener with a full queue is 504 by the connect timer, on each try (F3)", async () => {
    const scope = await Effect.runPromise(Scope.make())
    const baseUrl = await Effect.runPromise(Scope.provide(fullBacklog, scope))
    const seen = await throughGateway(nobody, { baseUrl, limits: { connectMillis: 100, retries: 2 }, lateIn: "head" })
    await Effect.runPromise(Scope.close(scope, Exit.void))
    expect(refusal(seen)).toEqual(notConnected)
    expect(seen.answers[0]?.headers.get("x-gateway-retry-attempt-count")).toBe("2")
  })

  it("connection: a handshake that never ends is 504 by the connect timer, and its socket is closed (F21)", async () => {
    const silent = Effect.map(
      netServer((socket) => void socket.resume()),
      (server) => ({ ...server, url: server.url.replace("http:", "https:") })
    )
    const seen = await throughGateway(silent, { limits: { connectMillis: 100 }, lateIn: "head" })
    expect(refusal(seen)).toEqual(notConnected)
    expect(seen.upstream.accepted()).toBe(1)
  })

  it("connection: a certificate of a trusted authority for the host is accepted (F21)", async () => {
    const seen = await throughGateway(
      tlsServer(certificates.good, (socket) => void socket.write(fixed(gemini("Hi", "STOP")))),
      { kept: 1 }
    )
    expect([seen.answers[0]?.status, JSON.parse(seen.bodies[0] ?? "").choices?.[0].message.content]).toEqual([
      200,
      "Hi"
    ])
  })

  const refused: ReadonlyArray<readonly [string, Certificate]> = [
    ["for another host", certificates.wrongHost],
    ["that has expired", certificates.expired],
    ["that signed itself", certificates.selfSigned]
  ]
  it.each(refused)(
    "connection: a certificate %s is an immediate 502 without a retry, and no request is sent (F21)",
    async (_, certificate) => {
      let asked = 0
      const seen = await throughGateway(
        tlsServer(certificate, () => asked++),
        { limits: { retries: 2 } }
      )
      expect(refusal(seen)).toEqual(untrusted)
      expect([asked, seen.upstream.accepted()]).toEqual([0, 1])
    }
  )

  it("connection: an upstream that does not speak TLS is not retried (F21)", async () => {
    const plain = Effect.map(
      netServer((socket) => void socket.resume().end("HTTP/1.1 400 Bad Request\r\n\r\n")),
      (server) => ({ ...server, url: server.url.replace("http:", "https:") })
    )
    const seen = await throughGateway(plain, { limits: { retries: 2 } })
    expect(refusal(seen)).toEqual(untrusted)
    expect(seen.upstream.accepted()).toBe(1)
  })
})
