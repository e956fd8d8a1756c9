// Tests the server on a socket: malformed HTTP, framing limits, pings, aborts and shutdown.
// Must not depend on a translator: the chat service is a fake.
import { connect, Server as NetServer, type Socket } from "node:net"
import { it as effectIt } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import * as fc from "fast-check"
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest"
import type { LimitValues } from "../../src/domain/Limits.ts"
import { Server } from "../../src/http/Server.ts"
import { eventually, until, within } from "../support/eventually.ts"
import { fullChunks, fullCompletion, hello, key, type Script, script, services } from "./face.ts"

const serve = (scripted: Script, limits: Partial<LimitValues>): Layer.Layer<HttpServer.HttpServer> =>
  Server.layer({ host: "127.0.0.1", port: 0 }).pipe(Layer.provide(services(scripted, limits)), Layer.orDie)

const portOf = (context: Context.Context<HttpServer.HttpServer>): number => {
  const { address } = Context.get(context, HttpServer.HttpServer)
  return "port" in address ? address.port : 0
}

interface Running {
  readonly script: Script
  readonly port: number
  readonly close: () => Promise<void>
}
const start = async (limits: Partial<LimitValues> = {}): Promise<Running> => {
  const scripted = script()
  const scope = Scope.makeUnsafe()
  const context = await Effect.runPromise(Layer.buildWithScope(serve(scripted, limits), scope))
  return { script: scripted, port: portOf(context), close: () => Effect.runPromise(Scope.close(scope, Exit.void)) }
}

/** Everything the server sends until it closes. */
const raw = (port: number, bytes: string | Uint8Array, half = false): Promise<string> =>
  new Promise((resolve) => {
    let text = ""
    const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true }, () =>
      half ? socket.end(bytes) : socket.write(bytes)
    )
    socket.on("data", (part) => {
      text += part.toString("latin1")
    })
    socket.on("error", () => {})
    socket.on("end", () => socket.end())
    socket.on("close", () => resolve(text))
  })

const live = "GET /health/live HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"

/** The same for a body sent after its head was read: a request sent after the head has its answer by then. */
const rawInTwo = async (port: number, head: string, body: string): Promise<string> => {
  const line = new Line(port, head)
  await new Promise((resolve) => line.socket.once("connect", resolve))
  await raw(port, live)
  line.socket.write(body)
  await line.until(({ closed }) => closed)
  return line.text
}
const ways: ReadonlyArray<readonly [string, (port: number, headers: string, body: string) => Promise<string>]> = [
  ["in one piece", (port, headers, body) => raw(port, post(headers, body))],
  ["after its head", (port, headers, body) => rawInTwo(port, post(headers), body)]
]

const parts = (text: string) => {
  const [head = "", ...rest] = text.split("\r\n\r\n")
  const body = rest.join("\r\n\r\n")
  const [line = "", ...headers] = head.split("\r\n")
  return { line, headers: Object.fromEntries(headers.map((one) => one.toLowerCase().split(": "))), body }
}

const bodyOf = (code: string, message: string) =>
  JSON.stringify({ error: { message, type: "invalid_request_error", param: null, code } })
const malformed = bodyOf("malformed_http", "The request is not well-formed HTTP/1.1.")
const tooManyHeaders = bodyOf("headers_too_large", "The request has too many headers, or too long ones.")
const post = (headers: string, body = "") =>
  `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\n${headers}\r\n\r\n${body}`
const json = JSON.stringify(hello)
const keyed = `x-gateway-api-key: ${key}\r\ncontent-type: application/json`

describe("malformed HTTP", () => {
  let server: Running
  beforeAll(async () => {
    server = await start({ headersTimeoutMillis: 600_000, requestTimeoutMillis: 600_000, bodyBytes: 1000 })
  })
  afterAll(() => server.close())

  it.each([
    ["Content-Length and Transfer-Encoding (B27)", post("content-length: 3\r\ntransfer-encoding: chunked", "abc")],
    ["two Content-Lengths (B27)", post("content-length: 3\r\ncontent-length: 4", "abcd")],
    ["a signed Content-Length (B27)", post("content-length: +4", "abcd")],
    ["an unknown Transfer-Encoding (B27)", post(`${keyed}\r\ntransfer-encoding: gzip, chunke`, "abc")],
    ["a bad chunk (B27)", post(`${keyed}\r\ntransfer-encoding: chunked`, "zz\r\nabc\r\n")],
    ["a bare LF (B27)", "GET /health/live HTTP/1.1\nhost: x\n\n"],
    ["a NUL (B27)", "GET /health/live HTTP/1.1\r\nhost: x\r\na: b\0c\r\n\r\n"],
    ["a folded header (B27)", "GET /health/live HTTP/1.1\r\nhost: x\r\na: b\r\n c\r\n\r\n"],
    ["a space before the colon (B27)", "GET /health/live HTTP/1.1\r\nhost : x\r\n\r\n"],
    ["garbage (B27)", "\x16\x03\x01\x02\x00\x01\x00"],
    ["an HTTP/2 preface (B27)", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
    ["no host (B27)", "GET /health/live HTTP/1.1\r\na: b\r\n\r\n"],
    ["no header (B27)", "GET /health/live HTTP/1.1\r\n\r\n"],
    [
      "no host before a body (B27)",
      post(`${keyed}\r\ncontent-length: ${json.length}`, json).replace("host: x\r\n", "")
    ],
    ["no host on an unknown route (B27)", "GET /nowhere HTTP/1.1\r\na: b\r\n\r\n"],
    ["no host and an expectation (B27)", "GET /health/live HTTP/1.1\r\nexpect: 200-ok\r\n\r\n"],
    ["two hosts (B28)", "GET /health/live HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n"]
  ])("server: refuses malformed HTTP: %s", async (_name, bytes) => {
    const answer = parts(await raw(server.port, bytes))
    expect(answer.line).toBe("HTTP/1.1 400 Bad Request")
    expect(answer.body).toBe(malformed)
    expect(answer.headers).toMatchObject({
      "content-type": "application/json",
      "content-length": String(malformed.length),
      connection: "close"
    })
    const id = answer.headers["x-request-id"]
    expect(id).toMatch(/^[\da-f-]{36}$/)
    expect([answer.headers["request-id"], answer.headers["x-gateway-trace-id"]]).toEqual([id, id?.replaceAll("-", "")])
    expect(server.script.calls).toEqual([])
  })

  it("server: an HTTP/1.0 request needs no host (B27)", async () => {
    const answer = parts(await raw(server.port, "GET /health/live HTTP/1.0\r\n\r\n"))
    expect([answer.line, answer.body]).toEqual(["HTTP/1.1 200 OK", '{"status":"ok"}'])
  })

  it("server: a refused expectation has the ids of its request, under both prefixes (B29)", async () => {
    const ids = "x-request-id: r1\r\nx-portkey-trace-id: t1"
    const answer = parts(await raw(server.port, post(`${keyed}\r\n${ids}\r\nexpect: 200-ok\r\ncontent-length: 0`)))
    expect(
      ["x-request-id", "request-id", "x-gateway-trace-id", "x-portkey-trace-id"].map((name) => answer.headers[name])
    ).toEqual(["r1", "r1", "t1", "t1"])
  })

  it.each([
    ["a block over 16 KiB (B25)", `GET /health/live HTTP/1.1\r\nhost: x\r\na: ${"b".repeat(17_000)}\r\n\r\n`],
    ["over 100 headers (B26)", `GET /health/live HTTP/1.1\r\nhost: x\r\n${"a: b\r\n".repeat(101)}\r\n`]
  ])("server: refuses a header block over its limit: %s", async (_name, bytes) => {
    const answer = parts(await raw(server.port, bytes))
    expect([answer.line, answer.body]).toEqual(["HTTP/1.1 431 Request Header Fields Too Large", tooManyHeaders])
  })

  it("server: a missing body is 408 and a closed connection (B24)", async () => {
    const impatient = await start({ headersTimeoutMillis: 300, requestTimeoutMillis: 300 })
    const answer = parts(await raw(impatient.port, post(`${keyed}\r\ncontent-length: 900`, "{")))
    expect([answer.line, answer.body]).toEqual([
      "HTTP/1.1 408 Request Timeout",
      bodyOf("request_timeout", "The request did not arrive in time.")
    ])
    await impatient.close()
  })

  it("server: an expectation other than 100-continue is 417 (B29)", async () => {
    const answer = parts(await raw(server.port, post(`${keyed}\r\nexpect: 200-ok\r\ncontent-length: 0`)))
    expect([answer.line, answer.body]).toEqual([
      "HTTP/1.1 417 Expectation Failed",
      bodyOf("expectation_failed", "The only expectation taken is 100-continue.")
    ])
  })

  it.each(ways)(
    "server: refuses a body over the limit by Content-Length (B22) or by chunks (B23), sent %s",
    async (_way, send) => {
      const expected = bodyOf(
        "request_too_large",
        "The request is larger than 1000 bytes; send large media as a gs:// or Files API URL."
      )
      const declared = parts(
        await send(server.port, `${keyed}\r\nconnection: close\r\ncontent-length: 1001`, "x".repeat(1001))
      )
      const chunked = parts(
        await send(
          server.port,
          `${keyed}\r\nconnection: close\r\ntransfer-encoding: chunked`,
          `1f4\r\n${"x".repeat(500)}\r\n1f5\r\n${"x".repeat(501)}\r\n0\r\n\r\n`
        )
      )
      for (const answer of [declared, chunked])
        expect([answer.line, answer.body]).toEqual(["HTTP/1.1 413 Payload Too Large", expected])
    }
  )

  it.each([["websocket"], ["h2c"]])("server: an upgrade to %s is answered as HTTP/1.1 (B30)", async (protocol) => {
    const upgrade = `connection: Upgrade, close\r\nupgrade: ${protocol}`
    const answer = parts(await raw(server.port, post(`${keyed}\r\n${upgrade}\r\ncontent-length: ${json.length}`, json)))
    expect(answer.line).toBe("HTTP/1.1 200 OK")
    expect(JSON.parse(answer.body)).toMatchObject({ object: "chat.completion" })
    server.script.calls.length = 0
  })

  it("server: an expectation of 100-continue is answered before the request", async () => {
    const text = await raw(
      server.port,
      post(`${keyed}\r\nconnection: close\r\nexpect: 100-continue\r\ncontent-length: ${json.length}`, json)
    )
    expect(text.startsWith("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n")).toBe(true)
    server.script.calls.length = 0
  })

  it("server: two Authorization headers are refused although Node keeps one (B92)", async () => {
    const answer = parts(
      await raw(
        server.port,
        post(
          `${keyed}\r\nauthorization: Bearer a\r\nauthorization: Bearer b\r\nconnection: close\r\ncontent-length: ${json.length}`,
          json
        )
      )
    )
    expect(answer.line).toBe("HTTP/1.1 401 Unauthorized")
    expect(JSON.parse(answer.body)).toMatchObject({ error: { code: "provider_credentials_invalid" } })
  })

  it("server: random bytes get an answer or a closed connection, never a 500 (P1)", async () => {
    const known = /^(HTTP\/1\.1 (400|401|403|404|405|408|413|415|417|431) |$)/
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.uint8Array({ maxLength: 200 }),
          fc
            .tuple(fc.constantFrom("/v1/chat/completions", "/v1/models/x", "/"), fc.uint8Array({ maxLength: 100 }))
            .map(([path, body]) =>
              Buffer.concat([
                Buffer.from(
                  `POST ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n${keyed}\r\ncontent-length: ${body.length}\r\n\r\n`
                ),
                body
              ])
            )
        ),
        async (bytes) => {
          expect(await raw(server.port, bytes, true)).toMatch(known)
        }
      ),
      { numRuns: 200 }
    )
    expect(server.script.calls).toEqual([])
    expect(parts(await raw(server.port, live)).body).toBe('{"status":"ok"}')
  })
})

/** A stream that stays open after its first chunk until it is resumed. */
const held = (scripted: Script) => {
  const go = Deferred.makeUnsafe<void>()
  const left = Deferred.makeUnsafe<boolean>()
  scripted.chunks = Stream.concat(
    Stream.fromIterable(fullChunks.slice(0, 1)),
    Stream.fromEffect(Deferred.await(go)).pipe(Stream.flatMap(() => Stream.fromIterable(fullChunks.slice(2))))
  ).pipe(Stream.ensuring(Deferred.succeed(left, true)))
  return { go: Deferred.succeed(go, undefined), left: Deferred.await(left) }
}
const streaming = JSON.stringify({ ...hello, stream: true })

/** A socket whose text can be waited on. */
class Line {
  readonly socket: Socket
  text = ""
  #waiting: Array<() => void> = []
  closed = false
  constructor(port: number, bytes: string) {
    this.socket = connect({ port, host: "127.0.0.1" }, () => this.socket.write(bytes))
    this.socket.on("data", (part) => {
      this.text += part.toString("utf8")
      for (const look of this.#waiting) look()
    })
    this.socket.on("error", () => {})
    this.socket.on("close", () => {
      this.closed = true
      for (const look of this.#waiting) look()
    })
  }
  until(done: (line: Line) => boolean): Promise<void> {
    return within(
      String(done),
      new Promise((resolve) => {
        const look = () => {
          if (done(this)) resolve()
        }
        this.#waiting.push(look)
        look()
      })
    )
  }
}
const streamRequest = post(`${keyed}\r\ncontent-length: ${streaming.length}`, streaming)
const done = "data: [DONE]\n\n"

it.each(ways)(
  "server: bodies over the budget of the process, sent %s, are a 503, and the budget is released (TH15)",
  async (_way, sendBy) => {
    const server = await start({ bodiesInFlightBytes: json.length })
    const send = async (body: string) =>
      parts(await sendBy(server.port, `${keyed}\r\nconnection: close\r\ncontent-length: ${body.length}`, body))
    for (const _again of [1, 2]) {
      expect((await send(`${json} `)).line).toBe("HTTP/1.1 503 Service Unavailable")
      expect((await send(json)).line).toBe("HTTP/1.1 200 OK")
    }
    await server.close()
  }
)

it("server: a body after 100 Continue counts like any other, and stays counted while its call runs (TH15)", async () => {
  const server = await start({ bodiesInFlightBytes: 2 * json.length })
  const go = Deferred.makeUnsafe<void>()
  server.script.value = Effect.as(Deferred.await(go), fullCompletion)
  const head = (connection: string) =>
    post(`${keyed}\r\nexpect: 100-continue\r\nconnection: ${connection}\r\ncontent-length: ${json.length}`)
  const continued = async () => {
    const line = new Line(server.port, head("close"))
    await line.until(({ text }) => text.startsWith("HTTP/1.1 100 Continue\r\n\r\n"))
    line.socket.write(json)
    return line
  }
  const running = [await continued(), await continued()]
  await until(() => server.script.calls.length === 2)
  const refused = await continued()
  await refused.until(({ closed }) => closed)
  expect(parts(refused.text.slice("HTTP/1.1 100 Continue\r\n\r\n".length)).line).toBe("HTTP/1.1 429 Too Many Requests")
  await Effect.runPromise(Deferred.succeed(go, undefined))
  for (const line of running) {
    await line.until(({ closed }) => closed)
    expect(
      line.text
        .split("HTTP/1.1 ")
        .slice(1)
        .map((one) => one.slice(0, 3))
    ).toEqual(["100", "200"])
  }
  await server.close()
})

it("server: as many connections may wait in the kernel as may be open", async () => {
  const listen = vi.spyOn(NetServer.prototype, "listen")
  const server = await start({ connections: 700 })
  expect(listen.mock.calls.map(([options]) => options)).toEqual([
    { host: "127.0.0.1", port: 0, reusePort: false, backlog: 700 }
  ])
  listen.mockRestore()
  await server.close()
})

describe("streams on a socket", () => {
  it("server: silence is bridged by comment lines, and the stream ends as usual (T1323)", async () => {
    const server = await start({ pingMillis: 20 })
    const { go } = held(server.script)
    const line = new Line(server.port, streamRequest)
    await line.until(({ text }) => text.split(": ping\n\n").length >= 3)
    await Effect.runPromise(go)
    await line.until(({ text }) => text.includes(done))
    const events = parts(line.text)
      .body.split("\n\n")
      .filter((one) => one.includes("data: "))
    expect([events.length, events.at(-1)?.endsWith("data: [DONE]")]).toEqual([4, true])
    line.socket.destroy()
    await server.close()
  })

  it("server: comment lines to a client of HTTP/1.0, which knows no chunks, are sent as they are (T1323)", async () => {
    const server = await start({ pingMillis: 20 })
    const { go } = held(server.script)
    const line = new Line(server.port, streamRequest.replace("HTTP/1.1", "HTTP/1.0"))
    await line.until(({ text }) => text.split(": ping\n\n").length >= 3)
    await Effect.runPromise(go)
    await line.until(({ closed }) => closed)
    const events = parts(line.text)
      .body.split("\n\n")
      .filter((one) => one !== ": ping" && one !== "")
      .map((one) => one.slice(0, 6))
    expect([events, line.text.endsWith("data: [DONE]\n\n")]).toEqual([Array(4).fill("data: "), true])
    await server.close()
  })

  it("server: a client that leaves mid-stream stops the stream immediately (F26)", async () => {
    const server = await start()
    const { left } = held(server.script)
    const line = new Line(server.port, streamRequest)
    await line.until(({ text }) => text.includes('"role":"assistant"'))
    line.socket.destroy()
    expect(await Effect.runPromise(left)).toBe(true)
    await server.close()
  })

  it("server: a client that leaves while waiting interrupts the router (F26)", async () => {
    const server = await start()
    const begun = Deferred.makeUnsafe<void>()
    const left = Deferred.makeUnsafe<boolean>()
    server.script.value = Deferred.succeed(begun, undefined).pipe(
      Effect.andThen(Effect.never),
      Effect.ensuring(Deferred.succeed(left, true))
    )
    const line = new Line(server.port, post(`${keyed}\r\ncontent-length: ${json.length}`, json))
    await Effect.runPromise(Deferred.await(begun))
    line.socket.destroy()
    expect(await Effect.runPromise(Deferred.await(left))).toBe(true)
    await server.close()
  })

  it("server: a shutdown closes connections on which nothing has come (F29)", async () => {
    const server = await start()
    const silent = new Line(server.port, "")
    await raw(server.port, live)
    await server.close()
    await silent.until(({ closed }) => closed)
    expect(silent.text).toBe("")
  })

  it("server: a shutdown gives half a head the time that every head has (F29)", async () => {
    const server = await start({ headersTimeoutMillis: 200 })
    const half = "GET / HT"
    const lines = [half, `${live.replace("close", "keep-alive")}${half}`].map((bytes) => new Line(server.port, bytes))
    await lines[1]?.until(({ text }) => text.endsWith('{"status":"ok"}'))
    await server.close()
    for (const line of lines) await line.until(({ closed }) => closed)
    expect(lines.map(({ text }) => text.match(/HTTP.*/g))).toEqual([
      ["HTTP/1.1 408 Request Timeout"],
      ["HTTP/1.1 200 OK", "HTTP/1.1 408 Request Timeout"]
    ])
  })

  it("server: a shutdown waits for a client that takes its answer slowly (F29)", async () => {
    const server = await start({ headersTimeoutMillis: 50 })
    const model = "x".repeat(20_000_000)
    server.script.value = Effect.succeed({ ...fullCompletion, model })
    const line = new Line(server.port, post(`${keyed}\r\ncontent-length: ${json.length}`, json))
    await line.until(({ text }) => text !== "")
    line.socket.pause()
    const closing = server.close()
    // The listener is closed, and the sweeps have begun, when a silent connection has been closed.
    const silent = new Line(server.port, "")
    await silent.until(({ closed }) => closed)
    line.socket.resume()
    await closing
    await line.until(({ closed }) => closed)
    expect(JSON.parse(parts(line.text).body)).toMatchObject({ model, object: "chat.completion" })
  })

  it("server: the hard cap of a shutdown sends one error frame and no [DONE] (F29)", async () => {
    const server = await start({ drainMillis: 1 })
    held(server.script)
    const line = new Line(server.port, streamRequest)
    await line.until(({ text }) => text.includes('"role":"assistant"'))
    await server.close()
    await line.until(({ closed }) => closed)
    expect(line.text).toContain(
      'data: {"error":{"message":"The gateway is shutting down; try again, another instance will answer.","type":"api_error","param":null,"code":"server_shutting_down"}}\n\n'
    )
    expect(line.text).not.toContain(done)
  })
})

const get = (port: number, path: string) =>
  Effect.promise(async () => parts(await raw(port, `GET ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`)))

effectIt.effect(
  "server: while it drains, readiness fails and requests are accepted; then the listener closes and streams finish (F29, M14)",
  () =>
    Effect.gen(function* () {
      const scripted = script()
      const { go } = held(scripted)
      const scope = yield* Scope.make()
      const port = portOf(yield* Layer.buildWithScope(serve(scripted, { readyDelayMillis: 5_000 }), scope))
      const line = new Line(port, streamRequest)
      yield* Effect.promise(() => line.until(({ text }) => text.includes('"role":"assistant"')))

      const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void))
      yield* Effect.yieldNow
      const ready = yield* get(port, "/health/ready")
      expect([ready.line, ready.body]).toEqual([
        "HTTP/1.1 503 Service Unavailable",
        '{"status":"shutting_down","checks":{"config":"ok"},"messages":{"service":"The service shuts down: running requests finish, and new ones belong to another instance. Readiness does not return."},"version":"0.1.0"}'
      ])
      expect((yield* get(port, "/health/live")).body).toBe('{"status":"ok"}')

      yield* TestClock.adjust(5_000)
      // The listener closes after a quiet turn, and accepts connections before that.
      yield* eventually(
        "the listener to close",
        Effect.map(get(port, "/health/live"), ({ line }) => line === "")
      )
      expect(yield* get(port, "/health/live")).toEqual({ line: "", headers: {}, body: "" })
      yield* go
      yield* Effect.promise(() => line.until(({ closed }) => closed))
      yield* Fiber.join(closing)
      expect(line.text).toContain(done)
    })
)
