// Tests the ring on a socket: which requests start, how unread bodies end, and answers outside of any handler.
// Must not depend on a translator: the chat service is a fake.
import { createServer, IncomingMessage, Server as NodeServer, ServerResponse } from "node:http"
import { connect, Socket } from "node:net"
import { setImmediate as turn } from "node:timers/promises"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Scope from "effect/Scope"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { defaultLimits } from "../../src/domain/Limits.ts"
import type { Answering } from "../../src/http/edge/Route.ts"
import { ring } from "../../src/http/Ring.ts"
import { Server } from "../../src/http/Server.ts"
import { until } from "../support/eventually.ts"
import { hello, key, noUrl, script, services } from "./face.ts"

const scope = Scope.makeUnsafe()
let port = 0
beforeAll(async () => {
  const built = Layer.buildWithScope(
    Server.layer({ host: "127.0.0.1", port: 0 }).pipe(Layer.provide(services(script())), Layer.orDie),
    scope
  )
  const { address } = Context.get(await Effect.runPromise(built), HttpServer.HttpServer)
  port = "port" in address ? address.port : 0
})
afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

/** Everything the server sends until it closes. */
const exchange = (to: number, ...pieces: ReadonlyArray<string>): Promise<string> =>
  new Promise((resolve) => {
    let text = ""
    const socket = connect({ port: to, host: "127.0.0.1" }, () => {
      for (const piece of pieces) socket.write(piece)
    })
    socket.on("data", (part) => {
      text += part.toString("latin1")
    })
    socket.on("error", () => {})
    socket.on("close", () => resolve(text))
  })

const head = (line: string, ...headers: ReadonlyArray<string>) =>
  `${[line, "host: x", ...headers].join("\r\n")}\r\n\r\n`

/** Status line, connection and body of each answer of a connection. */
const partsOf = (text: string) =>
  text
    .split(/(?=HTTP\/1\.1 )/)
    .map((answer) => [
      /^HTTP\/1\.1 (\d+)/.exec(answer)?.[1],
      /^connection: (.*)\r$/im.exec(answer)?.[1],
      answer.split("\r\n\r\n").slice(1).join("\r\n\r\n")
    ])

const unknown = JSON.stringify({
  error: { message: noUrl, type: "not_found_error", param: null, code: "unknown_url" }
})
const alive = '{"status":"ok"}'

describe("requests of a connection", () => {
  it("ring: HEAD is answered by the route of GET, without its body", async () => {
    const text = await exchange(port, head("HEAD /health/live HTTP/1.1", "connection: close"))
    expect(partsOf(text)).toEqual([["200", "close", ""]])
    expect(/^content-length: (\d+)\r$/im.exec(text)?.[1]).toBe(String(alive.length))
  })

  it("ring: a target with its host is read as its path", async () => {
    const text = await exchange(port, head("GET http://other/health/live?a=1 HTTP/1.1", "connection: close"))
    expect(partsOf(text)).toEqual([["200", "close", alive]])
  })

  it("ring: a WebSocket is refused with 426, and its connection ends (R113)", async () => {
    const text = await exchange(
      port,
      head("GET /v1/responses HTTP/1.1", "connection: Upgrade", "upgrade: websocket"),
      head("GET /health/live HTTP/1.1", "connection: close")
    )
    expect(partsOf(text).map(([status, connection]) => [status, connection])).toEqual([["426", "close"]])
  })
})

describe("unread bodies", () => {
  it("ring: a short one is taken in, and the connection serves the next request", async () => {
    const text = await exchange(
      port,
      `${head("POST /nowhere HTTP/1.1", "content-length: 5")}hello${head("GET /health/live HTTP/1.1", "connection: close")}`
    )
    expect(partsOf(text)).toEqual([
      ["404", "keep-alive", unknown],
      ["200", "close", alive]
    ])
  })

  it("ring: one that comes late is taken in as well", async () => {
    const first = new Promise<string>((resolve) => {
      let text = ""
      const socket = connect({ port, host: "127.0.0.1" }, () =>
        socket.write(head("POST /nowhere HTTP/1.1", "content-length: 5"))
      )
      socket.on("data", (part) => {
        if (text === "") socket.write(`hello${head("GET /health/live HTTP/1.1", "connection: close")}`)
        text += part.toString("latin1")
      })
      socket.on("close", () => resolve(text))
    })
    expect(partsOf(await first)).toEqual([
      ["404", "keep-alive", unknown],
      ["200", "close", alive]
    ])
  })

  it("ring: a long one ends the connection after the client has its answer", async () => {
    const size = 16 * 1024 * 1024
    const text = await exchange(port, head("POST /nowhere HTTP/1.1", `content-length: ${size}`), "x".repeat(size))
    expect(partsOf(text)).toEqual([["404", "close", unknown]])
  })

  it("ring: an endless one in chunks ends the connection", async () => {
    const chunk = `10000\r\n${"x".repeat(0x10000)}\r\n`
    const text = await exchange(
      port,
      head("POST /nowhere HTTP/1.1", "transfer-encoding: chunked"),
      ...Array.from({ length: 64 }, () => chunk)
    )
    expect(partsOf(text)).toEqual([["404", "keep-alive", unknown]])
  })

  it("ring: a client that waits to send it gets an answer that closes", async () => {
    const text = await exchange(
      port,
      head(
        "POST /v1/chat/completions HTTP/1.1",
        "content-type: application/json",
        "expect: 100-continue",
        `content-length: ${JSON.stringify(hello).length}`
      )
    )
    expect(partsOf(text).map(([status, connection]) => [status, connection])).toEqual([["401", "close"]])
  })
})

/** A server of Node whose requests this answers. */
const serving = async (answer: Answering) => {
  const server = createServer()
  const logged: Array<unknown> = []
  const quiet = Logger.layer([Logger.make(({ message }) => logged.push(message))])
  const running = await Effect.runPromise(Effect.provide(ring(server, answer), quiet))
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  return { server, running, logged, at: typeof address === "object" && address !== null ? address.port : 0 }
}

describe("fibers of requests", () => {
  it("ring: a request whose edge is broken is a 500 without a body, and is logged", async () => {
    const { at, logged, running, server } = await serving(() => {
      throw new Error("broken")
    })
    const text = await exchange(at, head("GET / HTTP/1.1"))
    server.close()
    expect(partsOf(text)).toEqual([["500", "close", ""]])
    expect([logged.length, running.fibers.size]).toEqual([1, 0])
  })

  it("ring: a large answer counts as running until it is written", async () => {
    const bytes = new Uint8Array(8 * 1024 * 1024)
    const { at, running, server } = await serving(() =>
      Effect.succeed(HttpServerResponse.uint8Array(bytes, { headers: { connection: "close" } }))
    )
    let seen = -1
    let size = 0
    await new Promise<void>((resolve) => {
      const socket = connect({ port: at, host: "127.0.0.1" }, () => socket.write(head("GET / HTTP/1.1")))
      socket.on("data", (part) => {
        if (seen < 0) seen = running.fibers.size
        size += part.length
      })
      socket.on("close", () => resolve())
    })
    await Promise.all([...running.fibers].map((fiber) => Effect.runPromise(Fiber.await(fiber))))
    server.close()
    expect([seen, running.fibers.size, size > bytes.length]).toEqual([1, 0, true])
  })

  it("ring: a connection with waiting requests is read no further until they are answered", async () => {
    const first = Deferred.makeUnsafe<void>()
    const { at, server } = await serving(() =>
      Effect.as(Deferred.await(first), HttpServerResponse.empty({ headers: { "content-length": "0" } }))
    )
    let arrived = 0
    server.on("request", () => arrived++)
    const one = head("GET / HTTP/1.1")
    const many = 20_000
    const text = exchange(at, one.repeat(many - 1), head("GET / HTTP/1.1", "connection: close"))
    await until(() => arrived >= defaultLimits.pipelined)
    for (let turns = 0; turns < 100; turns++) await turn()
    expect(arrived).toBeLessThan(defaultLimits.pipelined + (2 * 65_536) / one.length)
    Effect.runSync(Deferred.succeed(first, undefined))
    expect((await text).split("HTTP/1.1 204").length).toBe(many + 1)
    server.close()
  })

  it("ring: starts connected requests after the current turn of the loop, in order", async () => {
    const server = new NodeServer()
    const arrived: Array<string> = []
    await Effect.runPromise(
      ring(server, ({ url }) => {
        arrived.push(url)
        return Effect.succeed(HttpServerResponse.empty())
      })
    )
    const request = (url: string): readonly [IncomingMessage, ServerResponse] => {
      const incoming = new IncomingMessage(new Socket())
      incoming.url = url
      return [incoming, new ServerResponse(incoming)]
    }
    const [first, gone, second] = [request("/first"), request("/gone"), request("/second")]
    for (const [incoming, response] of [first, gone, second]) server.emit("request", incoming, response)
    gone[1].destroy()
    expect(arrived).toEqual([])
    await turn()
    expect(arrived).toEqual(["/first", "/second"])
  })

  it("ring: the hard cap of a shutdown answers a waiting request with 503", async () => {
    const scripted = script()
    const begun = Deferred.makeUnsafe<void>()
    scripted.value = Effect.andThen(Deferred.succeed(begun, undefined), Effect.never)
    const closing = Scope.makeUnsafe()
    const built = Layer.buildWithScope(
      Server.layer({ host: "127.0.0.1", port: 0 }).pipe(
        Layer.provide(services(scripted, { drainMillis: 1 })),
        Layer.orDie
      ),
      closing
    )
    const { address } = Context.get(await Effect.runPromise(built), HttpServer.HttpServer)
    const json = JSON.stringify(hello)
    const chat = `${head(
      "POST /v1/chat/completions HTTP/1.1",
      "content-type: application/json",
      `x-gateway-api-key: ${key}`,
      `content-length: ${json.length}`
    )}${json}`
    const answer = exchange("port" in address ? address.port : 0, chat)
    await Effect.runPromise(Deferred.await(begun))
    await Effect.runPromise(Scope.close(closing, Exit.void))
    const [[status, connection, body = ""] = []] = partsOf(await answer)
    expect([status, connection, JSON.parse(body).error.code]).toEqual(["503", "close", "server_shutting_down"])
  })

  it("ring: a request that comes after the hard cap is interrupted", async () => {
    const { at, running, server } = await serving(() => Effect.interruptible(Effect.never))
    await Effect.runPromise(running.interrupt)
    const text = await exchange(at, head("GET / HTTP/1.1"))
    server.close()
    expect([partsOf(text), running.fibers.size]).toEqual([[["500", "close", ""]], 0])
  })

  it("ring: a client that sends its key is served", async () => {
    const json = JSON.stringify(hello)
    const text = await exchange(
      port,
      head(
        "POST /v1/chat/completions HTTP/1.1",
        "content-type: application/json",
        `x-gateway-api-key: ${key}`,
        "connection: close",
        `content-length: ${json.length}`
      ) + json
    )
    expect(partsOf(text).map(([status, connection]) => [status, connection])).toEqual([["200", "close"]])
  })
})
