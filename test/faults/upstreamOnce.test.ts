// Tests the upstream client with the faults of one complete answer, over real sockets.
// Must not depend on the gateway above the upstream client.
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { gzipSync } from "node:zlib"
import { defaultLimits, Limits } from "../../src/domain/Limits.ts"
import type { Reason } from "../../src/domain/ProviderError.ts"
import { Transport } from "../../src/upstream/Transport.ts"
import { type AttemptTimes, type AuthHeaders, Upstream } from "../../src/upstream/Upstream.ts"
import { closedPort, httpServer, netServer, rawServer } from "../upstream/evilServer.ts"
import { lines, times } from "../upstream/lines.ts"

const withStale = (staleMillis: number) =>
  Upstream.layer.pipe(
    Layer.provide(Transport.layer),
    Layer.provide(Layer.succeed(Limits, { ...defaultLimits, replyBytes: 100_000, errorBytes: 1_000, staleMillis }))
  )
const real = withStale(60_000)

const once = (url: string, some: Partial<AttemptTimes> = {}, auth: AuthHeaders = {}) =>
  Effect.flatMap(Upstream, (upstream) => upstream.once(lines(`${url}/v1/x?y=1`), auth, { ...times, ...some }))

const reasonOf = (url: string, some: Partial<AttemptTimes> = {}): Effect.Effect<Reason | string, never, Upstream> =>
  Effect.match(once(url, some), { onFailure: (error) => error.reason, onSuccess: (text) => text })

/** Two turns of the event loop, after which a connection that has answered is free again. */
const turn = Effect.promise(() => new Promise((resolve) => setImmediate(() => setImmediate(resolve))))

const reset: Reason = {
  _tag: "Transport",
  kind: "reset",
  message: "The upstream closed the connection before its answer was complete."
}

const stale: Reason = {
  _tag: "Transport",
  kind: "stale",
  message: "The upstream closed a kept connection as the request was sent on it."
}

describe("unary upstream calls", () => {
  it.live("upstream call: sends the prepared request, the credential, and nothing a proxy could misread", () =>
    Effect.gen(function* () {
      const heads: Array<unknown> = []
      const server = yield* httpServer((request, response) => {
        let body = ""
        request.on("data", (data) => (body += data))
        request.on("end", () => {
          const { host: _, ...headers } = request.headers
          heads.push({ method: request.method, url: request.url, headers, body })
          response.end("fine")
        })
      })
      expect(yield* once(server.url, {}, { authorization: Redacted.make("Bearer t0ken") })).toBe("fine")
      expect(heads).toEqual([
        {
          method: "POST",
          url: "/v1/x?y=1",
          headers: {
            connection: "keep-alive",
            "content-length": "12",
            "content-type": "application/json",
            "user-agent": "model-gateway/0.1.0",
            "accept-encoding": "identity",
            authorization: "Bearer t0ken"
          },
          body: '{"say":"hi"}'
        }
      ])
    }).pipe(Effect.provide(real))
  )

  it.live("upstream call: keeps a connection for the next call", () =>
    Effect.gen(function* () {
      const server = yield* httpServer((request, response) => {
        request.resume()
        response.end("fine")
      })
      for (let i = 0; i < 20; i++) {
        expect(yield* once(server.url)).toBe("fine")
        yield* turn
      }
      expect(server.accepted()).toBe(1)
    }).pipe(Effect.provide(real))
  )

  it.live("upstream call: a closed port is a refused connection (F1)", () =>
    Effect.gen(function* () {
      expect(yield* reasonOf(yield* closedPort)).toEqual({
        _tag: "Transport",
        kind: "refused",
        message: "The upstream refused the connection."
      })
    }).pipe(Effect.provide(real))
  )

  it.live(
    "upstream call: a server that never answers ends by the first-byte timer, and the socket is closed (F2)",
    () =>
      Effect.gen(function* () {
        const server = yield* netServer((socket) => void socket.resume())
        expect(yield* reasonOf(server.url, { firstByteMillis: 50 })).toEqual({
          _tag: "Timeout",
          phase: "first_byte",
          message:
            "The upstream accepted the request and did not begin to answer within 50 ms (limits.unaryFirstByteMillis, or timeouts.first_byte of the config)."
        })
        yield* Effect.promise(() => server.closed(1))
      }).pipe(Effect.provide(real))
  )

  it.live("upstream call: a TLS handshake that never ends is stopped by the connect timer (F21)", () =>
    Effect.gen(function* () {
      const server = yield* netServer((socket) => void socket.resume())
      expect(yield* reasonOf(server.url.replace("http:", "https:"), { connectMillis: 50 })).toEqual({
        _tag: "Timeout",
        phase: "connect",
        message:
          "The upstream did not accept a connection within 50 ms (limits.connectMillis, or timeouts.connect of the config)."
      })
    }).pipe(Effect.provide(real))
  )

  it.live("upstream call: an answer that is not TLS is a TLS fault, which is never retried (F21)", () =>
    Effect.gen(function* () {
      const server = yield* netServer((socket) => void socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"))
      expect(yield* reasonOf(server.url.replace("http:", "https:"))).toEqual({
        _tag: "Transport",
        kind: "tls",
        message: "The upstream could not be trusted: the TLS handshake or its certificate failed."
      })
    }).pipe(Effect.provide(real))
  )

  it.live("upstream call: a head and then a silent body ends by the idle timer (F4)", () =>
    Effect.gen(function* () {
      const server = yield* rawServer((socket) => void socket.write("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nab"))
      expect(yield* reasonOf(server.url, { idleMillis: 50 })).toEqual({
        _tag: "Timeout",
        phase: "idle",
        message:
          "The upstream fell silent for 50 ms in the middle of its answer (limits.idleMillis, or timeouts.idle of the config)."
      })
      yield* Effect.promise(() => server.closed(1))
    }).pipe(Effect.provide(real))
  )

  it.live("upstream call: a body that drips below the idle limit ends by the total timer (F6)", () =>
    Effect.gen(function* () {
      const server = yield* rawServer((socket) => {
        socket.write("HTTP/1.1 200 OK\r\ncontent-length: 50000\r\n\r\n")
        const drip = setInterval(() => socket.write("a"), 5)
        socket.on("close", () => clearInterval(drip))
      })
      expect(yield* reasonOf(server.url, { totalMillis: 120, idleMillis: 1_000 })).toEqual({
        _tag: "Timeout",
        phase: "total",
        message:
          "The upstream did not finish its answer within 120 ms (limits.totalMillis, x-gateway-request-timeout, or request_timeout or timeouts.total of the config)."
      })
      yield* Effect.promise(() => server.closed(1))
    }).pipe(Effect.provide(real))
  )

  it.live("upstream call: a reset before the head on a new socket is reported, not repeated (F7)", () =>
    Effect.gen(function* () {
      const server = yield* rawServer((socket) => void socket.resetAndDestroy())
      expect(yield* reasonOf(server.url)).toEqual(reset)
      expect(server.accepted()).toBe(1)
    }).pipe(Effect.provide(real))
  )

  const cut: ReadonlyArray<readonly [string, string]> = [
    ["F8 a reset inside the body", 'HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\n{"a":1}'],
    [
      "a content-length that is too long (F10)",
      'HTTP/1.1 200 OK\r\ncontent-length: 8\r\nconnection: close\r\n\r\n{"a":1}'
    ],
    ["F10 no terminator of the chunks", 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n7\r\n{"a":1}\r\n'],
    ["F10 a chunk size that is no number", 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nxyz\r\n{"a":1}\r\n']
  ]
  for (const [name, bytes] of cut) {
    it.live(`upstream call: ${name} is a broken connection, never part of an answer`, () =>
      Effect.gen(function* () {
        const server = yield* rawServer((socket) => void socket.end(bytes))
        expect(yield* reasonOf(server.url)).toEqual(reset)
      }).pipe(Effect.provide(real))
    )
  }

  it.live(
    "upstream call: a content-length that is too short ends the answer there and the connection with it (F10)",
    () =>
      Effect.gen(function* () {
        const server = yield* rawServer(
          (socket) => void socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n12345")
        )
        expect(yield* reasonOf(server.url)).toBe("12")
        expect(yield* reasonOf(server.url)).toBe("12")
        expect(server.accepted()).toBe(2)
      }).pipe(Effect.provide(real))
  )

  it.live("upstream call: five megabytes of HTML with 502 keep their status and the bound of errors (F15)", () =>
    Effect.gen(function* () {
      const server = yield* httpServer((request, response) => {
        request.resume()
        response
          .writeHead(502, { "content-type": "text/html", "retry-after": "7" })
          .end(`<html>${"x".repeat(5_000_000)}`)
      })
      expect(yield* reasonOf(server.url)).toEqual({
        _tag: "Internal",
        status: 502,
        message: "1000 bytes: <html>xxxxxxxxxxxxxx",
        retryAfterMillis: 7_000
      })
      yield* Effect.promise(() => server.closed(1))
    }).pipe(Effect.provide(real))
  )

  it.live("upstream call: a status is kept when its body is broken (F8)", () =>
    Effect.gen(function* () {
      const server = yield* rawServer((socket) => void socket.end("HTTP/1.1 503 X\r\ncontent-length: 50\r\n\r\nbusy"))
      expect(yield* reasonOf(server.url)).toEqual({ _tag: "Internal", status: 503, message: "4 bytes: busy" })
    }).pipe(Effect.provide(real))
  )

  const encodings: ReadonlyArray<readonly [string, Buffer]> = [
    ["gzip", gzipSync("fine")],
    ["gzip", Buffer.from("plain")],
    ["gzip, gzip", gzipSync(gzipSync("fine"))],
    ["br", gzipSync(Buffer.alloc(1_000_000))]
  ]
  for (const [coding, body] of encodings) {
    it.live(`upstream call: an answer declared ${coding} (${body.length} bytes) is not read (F16)`, () =>
      Effect.gen(function* () {
        const server = yield* httpServer((request, response) => {
          request.resume()
          response.writeHead(200, { "content-encoding": coding }).end(body)
        })
        expect(yield* reasonOf(server.url)).toEqual({
          _tag: "BadReply",
          kind: "unreadable",
          message: "The upstream answered in a content encoding that was not asked for."
        })
      }).pipe(Effect.provide(real))
    )
  }

  it.live("upstream call: an encoded error keeps its status and drops its body (F16)", () =>
    Effect.gen(function* () {
      const server = yield* httpServer((request, response) => {
        request.resume()
        response.writeHead(503, { "content-encoding": "gzip" }).end(gzipSync("busy"))
      })
      expect(yield* reasonOf(server.url)).toEqual({ _tag: "Internal", status: 503, message: "0 bytes: " })
    }).pipe(Effect.provide(real))
  )

  const tooLarge: Reason = {
    _tag: "BadReply",
    kind: "too_large",
    message: "The upstream sent an answer larger than the limit."
  }
  it.live("upstream call: an answer over the bound is refused, announced or not (F17)", () =>
    Effect.gen(function* () {
      const server = yield* httpServer((request, response) => {
        request.resume()
        const announced = server.accepted() === 1
        const body = Buffer.alloc(10_000_000, 97)
        response.writeHead(200, announced ? { "content-length": body.length } : {})
        response.end(body)
      })
      expect(yield* reasonOf(server.url)).toEqual(tooLarge)
      expect(yield* reasonOf(server.url)).toEqual(tooLarge)
      yield* Effect.promise(() => server.closed(2))
    }).pipe(Effect.provide(real))
  )

  it.live("upstream call: a thousand long headers are refused (F17)", () =>
    Effect.gen(function* () {
      const headers = Array.from({ length: 1_000 }, (_, i) => `x-${i}: ${"v".repeat(50)}\r\n`).join("")
      const server = yield* rawServer(
        (socket) => void socket.write(`HTTP/1.1 200 OK\r\n${headers}content-length: 2\r\n\r\nok`)
      )
      expect(yield* reasonOf(server.url)).toEqual(tooLarge)
    }).pipe(Effect.provide(real))
  )

  it.live("upstream call: an early hint is skipped, and a redirect is not followed (F24)", () =>
    Effect.gen(function* () {
      const trap = yield* netServer(() => {})
      const server = yield* rawServer((socket, _, n) => {
        socket.write(
          n === 1
            ? "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"
            : `HTTP/1.1 307 Temporary Redirect\r\nlocation: ${trap.url}\r\ncontent-length: 0\r\n\r\n`
        )
      })
      expect(yield* reasonOf(server.url)).toBe("ok")
      expect(yield* reasonOf(server.url)).toEqual({ _tag: "Internal", status: 307, message: "0 bytes: " })
      expect(trap.accepted()).toBe(0)
    }).pipe(Effect.provide(real))
  )

  it.live("upstream call: an answer that is not HTTP is a broken connection", () =>
    Effect.gen(function* () {
      const server = yield* netServer((socket) => void socket.end("SSH-2.0-OpenSSH_9.2\r\n"))
      expect(yield* reasonOf(server.url)).toEqual({
        _tag: "BadReply",
        kind: "unreadable",
        message: "The upstream did not answer in valid HTTP."
      })
    }).pipe(Effect.provide(real))
  )

  /** The second request of every socket meets a closed door, after it was read. */
  const closing = (count: () => void) =>
    rawServer((socket) => {
      count()
      if (socket.bytesWritten > 0) socket.destroy()
      else socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\nkeep-alive: timeout=60\r\n\r\nok")
    })

  it.live(
    "upstream call: a kept socket that closes just as it is used is a fault of its own, and called once (F25)",
    () =>
      Effect.gen(function* () {
        let calls = 0
        const server = yield* closing(() => calls++)
        for (let i = 0; i < 100; i++) {
          expect(yield* reasonOf(server.url)).toBe("ok")
          yield* turn
          expect(yield* reasonOf(server.url)).toEqual(stale)
        }
        expect([calls, server.accepted()]).toEqual([200, 100])
      }).pipe(Effect.provide(real))
  )

  it.live("upstream call: on a new socket a call takes none of the kept ones (F25)", () =>
    Effect.gen(function* () {
      const server = yield* closing(() => undefined)
      expect(yield* reasonOf(server.url)).toBe("ok")
      yield* turn
      expect(yield* reasonOf(server.url, { isFresh: true })).toBe("ok")
      expect(server.accepted()).toBe(2)
    }).pipe(Effect.provide(real))
  )

  it.live("upstream call: a kept socket that closes later than the limit is a broken connection (F25)", () =>
    Effect.gen(function* () {
      const server = yield* closing(() => undefined)
      expect(yield* reasonOf(server.url)).toBe("ok")
      yield* turn
      expect(yield* reasonOf(server.url)).toEqual(reset)
      expect(server.accepted()).toBe(1)
    }).pipe(Effect.provide(withStale(0)))
  )

  it.live(
    "upstream call: a kept socket that is cut after the first byte of an answer is a broken connection (F25)",
    () =>
      Effect.gen(function* () {
        const server = yield* rawServer((socket, _, n) => {
          if (n === 1) socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok")
          else socket.end("HTTP/1.1 200")
        })
        expect(yield* reasonOf(server.url)).toBe("ok")
        yield* turn
        expect(yield* reasonOf(server.url)).toEqual(reset)
        expect(server.accepted()).toBe(1)
      }).pipe(Effect.provide(real))
  )

  it.live("upstream call: a caller who leaves while waiting closes the upstream socket (F26)", () =>
    Effect.gen(function* () {
      const server = yield* netServer((socket) => void socket.resume())
      const waiting = yield* Effect.forkChild(once(server.url))
      yield* Effect.promise(() => server.connected(1))
      yield* Fiber.interrupt(waiting)
      yield* Effect.promise(() => server.closed(1))
    }).pipe(Effect.provide(real))
  )
})
