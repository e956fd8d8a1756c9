// Tests a gateway that serves TLS, on real sockets: requests, streams, broken connections, the bound, and a new certificate.
// Must not depend on how a certificate is read.
import { once } from "node:events"
import { get } from "node:https"
import { connect as connectPlain, type Socket } from "node:net"
import { connect, type PeerCertificate, type TLSSocket } from "node:tls"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import type { LimitValues } from "../../src/domain/Limits.ts"
import { Certificate, ServedCertificate } from "../../src/http/node/Certificate.ts"
import { Server } from "../../src/http/Server.ts"
import { type Certificate as Files, makeCertificates } from "../support/certificates.ts"
import { within } from "../support/eventually.ts"
import { hello, key, script, services } from "./face.ts"

const { authority, good, host } = makeCertificates()
const other = host("localhost")
const tlsOf = ({ cert, key }: Files) => ({ cert, key: Redacted.make(key) })

const start = async (limits: Partial<LimitValues> = {}) => {
  const certificate = new ServedCertificate(tlsOf(good))
  const scope = Scope.makeUnsafe()
  const layer = Server.layer({ host: "127.0.0.1", port: 0 }).pipe(
    Layer.provide(services(script(), limits)),
    Layer.provide(Layer.succeed(Certificate, certificate)),
    Layer.orDie
  )
  const { address } = Context.get(await Effect.runPromise(Layer.buildWithScope(layer, scope)), HttpServer.HttpServer)
  return {
    certificate,
    port: "port" in address ? address.port : 0,
    close: () => Effect.runPromise(Scope.close(scope, Exit.void))
  }
}

const open = async (port: number): Promise<TLSSocket> => {
  const socket = connect({ port, host: "127.0.0.1", servername: "localhost", ca: authority })
  socket.on("error", () => undefined)
  await within("a handshake", once(socket, "secureConnect"))
  return socket
}

const closed = (socket: Socket): Promise<void> => new Promise((done) => socket.once("close", () => done()))

/** Everything that comes until the connection closes. */
const rest = async (socket: TLSSocket): Promise<string> => {
  let text = ""
  socket.on("data", (part: Buffer) => (text += part.toString("latin1")))
  await within("the end of a connection", closed(socket))
  return text
}

const exchange = async (port: number, bytes: string): Promise<string> => {
  const socket = await open(port)
  socket.write(bytes)
  return rest(socket)
}

const serial = ({ serialNumber }: PeerCertificate): string => serialNumber
const live = "GET /health/live HTTP/1.1\r\nhost: x\r\n\r\n"
const last = "GET /health/live HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"

describe("TLS", () => {
  let server: Awaited<ReturnType<typeof start>>
  beforeAll(async () => {
    server = await start()
  })
  afterAll(() => server.close())

  it.each([
    [false, "application/json"],
    [true, "text/event-stream; charset=utf-8"]
  ])("TLS: a chat is answered; as a stream: %s (K23)", async (stream, type) => {
    const body = JSON.stringify({ ...hello, stream })
    const answer = await exchange(
      server.port,
      `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
    )
    expect(answer.slice(0, 15)).toBe("HTTP/1.1 200 OK")
    expect(/^content-type: (.*)\r$/m.exec(answer)?.[1]).toBe(type)
    expect(stream ? answer.includes("data: [DONE]") : answer.includes('"object":"chat.completion"')).toBe(true)
  })

  it("TLS: Node's own client verifies the certificate (K23)", async () => {
    const options = { ca: authority, servername: "localhost", agent: false }
    const request = get(`https://127.0.0.1:${server.port}/health/live`, options)
    const [response] = await within("an answer", once(request, "response"))
    expect(response.statusCode).toBe(200)
    response.resume()
  })

  it("TLS: broken HTTP is refused with a body, and plain HTTP is closed without one (K23)", async () => {
    expect((await exchange(server.port, "NONSENSE\r\n\r\n")).slice(0, 24)).toBe("HTTP/1.1 400 Bad Request")
    const plain = connectPlain(server.port, "127.0.0.1")
    let bytes = ""
    plain.on("error", () => undefined)
    plain.on("data", (part: Buffer) => (bytes += part.toString("latin1")))
    plain.write(last)
    await within("the end of a connection", closed(plain))
    expect(bytes.includes("HTTP/")).toBe(false)
  })

  it("TLS: a new certificate is for new connections, and open ones stay (K23)", async () => {
    const before = await open(server.port)
    server.certificate.replace(tlsOf(other))
    const after = await open(server.port)
    expect(serial(before.getPeerCertificate())).not.toBe(serial(after.getPeerCertificate()))
    before.write(last)
    after.write(last)
    expect((await Promise.all([rest(before), rest(after)])).map((text) => text.slice(0, 15))).toEqual([
      "HTTP/1.1 200 OK",
      "HTTP/1.1 200 OK"
    ])
  })
})

describe("TLS connections", () => {
  it("TLS: a connection beyond the bound gets its refusal after the handshake (K23)", async () => {
    const server = await start({ connections: 1 })
    const first = await open(server.port)
    const second = connect({ port: server.port, host: "127.0.0.1", servername: "localhost", ca: authority })
    second.on("error", () => undefined)
    const refused = await rest(second)
    first.end()
    await server.close()
    // Of one connection there is no spare one: the second is closed before its handshake.
    expect(refused).toBe("")
    const wider = await start({ connections: 4 })
    const held = await Promise.all([1, 2, 3, 4].map(() => open(wider.port)))
    const fifth = await open(wider.port)
    const text = await rest(fifth)
    for (const socket of held) socket.end()
    await wider.close()
    expect([text.slice(0, 33), text.includes('"code":"overloaded"')]).toEqual([
      "HTTP/1.1 503 Service Unavailable\r",
      true
    ])
  })

  it("TLS: a stop closes idle connections, those without a request, and those within a handshake (K23)", async () => {
    const server = await start({ headersTimeoutMillis: 1_000 })
    const idle = await open(server.port)
    idle.write(live)
    await within("an answer", once(idle, "data"))
    const silent = await open(server.port)
    const handshaking = connectPlain(server.port, "127.0.0.1")
    handshaking.on("error", () => undefined)
    await within("a connection", once(handshaking, "connect"))
    const ends = [idle, silent, handshaking].map((socket) => closed(socket.resume()))
    await within("the stop", server.close())
    await within("the ends of all connections", Promise.all(ends))
    expect(server.port).toBeGreaterThan(0)
  })
})
