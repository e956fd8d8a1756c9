// Tests the faults of one complete answer, from the client's side of the whole gateway, over real sockets.
// Must not look inside the gateway.
import { gzipSync } from "node:zlib"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import { apiError, chunked, fixed, gemini, piece, refusal, throughGateway } from "../support/faulty.ts"
import { isRelease } from "../support/release.ts"
import { closedPort, netServer, rawServer } from "../upstream/evilServer.ts"

const good = fixed(gemini("Hi", "STOP"))
const cutShort = "The upstream closed the connection before its answer was complete."
const twice = { retries: 2 }

describe("unary answers through the gateway", () => {
  it("gateway: a closed port is tried three times, then 502 (F1)", async () => {
    const baseUrl = await Effect.runPromise(closedPort)
    const seen = await throughGateway(
      netServer(() => undefined),
      { baseUrl, limits: twice }
    )
    expect(refusal(seen)).toEqual([502, {}, apiError("upstream_unreachable", "The upstream refused the connection.")])
    expect(seen.answers[0]?.headers.get("x-gateway-retry-attempt-count")).toBe("2")
  })

  it("gateway: an upstream that never answers is 504 without a retry, and its socket is closed (F2)", async () => {
    const seen = await throughGateway(
      netServer((socket) => void socket.resume()),
      { limits: { ...twice, unaryFirstByteMillis: 50 }, lateIn: "head" }
    )
    expect(refusal(seen)).toEqual([
      504,
      {},
      apiError(
        "upstream_timeout",
        "The upstream accepted the request and did not begin to answer within 50 ms (limits.unaryFirstByteMillis, or timeouts.first_byte of the config)."
      )
    ])
    expect(seen.upstream.accepted()).toBe(1)
  })

  it("gateway: a head and then a silent body is 504 by the idle timer (F4)", async () => {
    const seen = await throughGateway(
      rawServer((socket) => void socket.write("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n{")),
      { limits: { idleMillis: 50 }, lateIn: "head" }
    )
    expect(refusal(seen)).toEqual([
      504,
      {},
      apiError(
        "upstream_timeout",
        "The upstream fell silent for 50 ms in the middle of its answer (limits.idleMillis, or timeouts.idle of the config)."
      )
    ])
  })

  it("gateway: a body that drips forever is 504 by the total timer (F6)", async () => {
    const drip = rawServer((socket) => {
      socket.write("HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n")
      const timer = setInterval(() => socket.write(" "), 5)
      socket.on("close", () => clearInterval(timer))
    })
    expect(refusal(await throughGateway(drip, { limits: { totalMillis: 150 }, lateIn: "head" }))).toEqual([
      504,
      {},
      apiError(
        "upstream_timeout",
        "The upstream did not finish its answer within 150 ms (limits.totalMillis, x-gateway-request-timeout, or request_timeout or timeouts.total of the config)."
      )
    ])
  })

  it("gateway: a reset before the head is retried within the bound, then 502 (F7)", async () => {
    const seen = await throughGateway(
      rawServer((socket) => void socket.resetAndDestroy()),
      { limits: twice }
    )
    expect(refusal(seen)).toEqual([502, {}, apiError("upstream_unreachable", cutShort)])
    expect(seen.upstream.accepted()).toBe(3)
  })

  it("gateway: a reset before the head is followed by a second call that succeeds (F7)", async () => {
    const seen = await throughGateway(
      rawServer((socket, _, n) => void (n === 1 ? socket.resetAndDestroy() : socket.write(good))),
      { limits: twice, kept: 1 }
    )
    expect([seen.answers[0]?.status, seen.answers[0]?.headers.get("x-gateway-retry-attempt-count")]).toEqual([200, "1"])
  })

  const broken: ReadonlyArray<readonly [string, string]> = [
    ["a reset inside the body (F8)", 'HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{"candidates":[]}'],
    [
      "a content-length that is too long (F10)",
      `HTTP/1.1 200 OK\r\ncontent-length: 5000\r\nconnection: close\r\n\r\n${gemini("Hi", "STOP")}`
    ],
    ["no terminator of the chunks (F10)", chunked + piece(gemini("Hi", "STOP"))],
    ["a chunk size that is not a number (F10)", `${chunked}xyz\r\n{}\r\n`]
  ]
  it.each(broken)("gateway: a broken answer is 502, never a part of the answer with 200: %s", async (_, bytes) => {
    expect(refusal(await throughGateway(rawServer((socket) => void socket.end(bytes))))).toEqual([
      502,
      {},
      apiError("upstream_unreachable", cutShort)
    ])
  })

  it("gateway: a content-length that is too short is a cut answer, and its socket is closed (F10)", async () => {
    const seen = await throughGateway(
      rawServer((socket) => void socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 20\r\n\r\n${gemini("Hi", "STOP")}`))
    )
    expect(refusal(seen)).toEqual([
      502,
      {},
      apiError("upstream_bad_response", "The upstream answered with something that is not JSON text.")
    ])
  })

  const unusable: ReadonlyArray<readonly [string, string]> = [
    ["garbage", "%%%"],
    ["a wrong shape", '{"candidates":7}'],
    ["nothing", ""],
    ["null", "null"],
    ["no candidates", '{"usageMetadata":{}}']
  ]
  it.each(unusable)("gateway: 200 with %s is 502 (F14)", async (_, body) => {
    const seen = await throughGateway(
      rawServer((socket) => void socket.write(fixed(body))),
      { kept: 1 }
    )
    expect(refusal(seen)).toEqual([502, {}, apiError("upstream_bad_response", expect.any(String))])
  })

  it("gateway: a blocked prompt is 200 with content_filter (F14)", async () => {
    const blocked = fixed(
      JSON.stringify({
        promptFeedback: { blockReason: "SAFETY" },
        usageMetadata: { promptTokenCount: 1, totalTokenCount: 1 }
      })
    )
    const seen = await throughGateway(
      rawServer((socket) => void socket.write(blocked)),
      { kept: 1 }
    )
    expect([seen.answers[0]?.status, JSON.parse(seen.bodies[0] ?? "").choices[0].finish_reason]).toEqual([
      200,
      "content_filter"
    ])
  })

  it.each([
    ["502 Bad Gateway", 502, "upstream_error"],
    ["503 Busy", 503, "upstream_unavailable"]
  ])(
    "gateway: five megabytes of HTML with %s become the gateway's own error body (F15)",
    async (line, status, code) => {
      const seen = await throughGateway(
        rawServer(
          (socket) =>
            void socket.write(fixed(`<html>${"x".repeat(5_000_000)}</html>`, line, "content-type: text/html\r\n"))
        )
      )
      expect(refusal(seen)).toEqual([status, {}, apiError(code, expect.stringMatching(/^[^<>]{1,300}$/))])
    }
  )

  const codings: ReadonlyArray<readonly [string, string, Buffer]> = [
    ["sound gzip", "gzip", gzipSync(gemini("Hi", "STOP"))],
    ["corrupt gzip", "gzip", Buffer.from("\u001f\u008bxxxxxx", "latin1")],
    ["truncated gzip", "gzip", gzipSync(gemini("Hi", "STOP")).subarray(0, 20)],
    ["plain text", "gzip", Buffer.from(gemini("Hi", "STOP"))],
    ["two codings", "gzip, br", gzipSync(gzipSync("x"))],
    ["a bomb", "gzip", gzipSync(Buffer.alloc(20_000_000))]
  ]
  it.each(codings)("gateway: %s declared as a coding is 502 and not read (F16)", async (_, coding, body) => {
    const seen = await throughGateway(
      rawServer((socket) => void socket.write(fixed(body, "200 OK", `content-encoding: ${coding}\r\n`)))
    )
    expect(refusal(seen)).toEqual([
      502,
      {},
      apiError("upstream_bad_response", "The upstream answered in a content encoding that was not asked for.")
    ])
  })

  const tooLarge = [
    502,
    { "x-should-retry": "false" },
    apiError("upstream_bad_response", "The upstream sent an answer larger than the limit.")
  ]
  it("gateway: a hundred megabytes are refused at the bound, announced or not (F17)", async () => {
    let written = 0
    const endless = rawServer((socket, _, n) => {
      socket.write(
        n === 1
          ? "HTTP/1.1 200 OK\r\ncontent-length: 100000000\r\n\r\n"
          : "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n"
      )
      const more = () => {
        while (written < 100_000_000 && !socket.destroyed) {
          written += 100_000
          if (!socket.write(Buffer.alloc(100_000, 32))) return
        }
      }
      socket.on("drain", more)
      more()
    })
    const seen = await throughGateway(endless, { times: 2, limits: { ...twice, replyBytes: 1_000_000 } })
    expect(
      seen.bodies.map((body, at) => refusal({ ...seen, answers: seen.answers.slice(at), bodies: [body] }))
    ).toEqual([tooLarge, tooLarge])
    expect(seen.upstream.accepted()).toBe(2)
    // The rest is what the buffers of two sockets hold.
    expect(written).toBeLessThan(50_000_000)
  })

  it("gateway: a thousand headers are refused (F17)", async () => {
    const headers = Array.from({ length: 1_000 }, (_, at) => `x-${at}: ${"v".repeat(50)}\r\n`).join("")
    expect(
      refusal(
        await throughGateway(rawServer((socket) => void socket.write(fixed(gemini("Hi", "STOP"), "200 OK", headers))))
      )
    ).toEqual(tooLarge)
  })

  const limited = (retryDelay: string | undefined, header = "") =>
    fixed(
      JSON.stringify({
        error: {
          code: 429,
          status: "RESOURCE_EXHAUSTED",
          message: "Slow down.",
          ...(retryDelay === undefined
            ? {}
            : { details: [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay }] })
        }
      }),
      "429 Too Many Requests",
      header
    )
  const advice: ReadonlyArray<readonly [string, Buffer, Record<string, string>, number]> = [
    ["RetryInfo of 7 s", limited("7s"), { "retry-after": "7", "retry-after-ms": "7000" }, 1],
    ["RetryInfo of 6.4 s", limited("6.4s"), { "retry-after": "7", "retry-after-ms": "6400" }, 1],
    ["Retry-After of 7", limited(undefined, "retry-after: 7\r\n"), { "retry-after": "7", "retry-after-ms": "7000" }, 1],
    [
      "Retry-After of an hour",
      limited(undefined, "retry-after: 3600\r\n"),
      { "retry-after": "3600", "retry-after-ms": "3600000" },
      1
    ],
    ["garbage", limited("soon", "retry-after: soon\r\n"), {}, 3],
    ["a negative number", limited("-1s", "retry-after: -1\r\n"), {}, 3],
    ["ten milliseconds", limited("0.01s"), { "retry-after": "1", "retry-after-ms": "10" }, 3]
  ]
  it.each(advice)(
    "gateway: 429 with %s is retried or reported by that delay (F18)",
    async (_, answer, headers, calls) => {
      let asked = 0
      const seen = await throughGateway(
        rawServer((socket) => {
          asked++
          socket.write(answer)
        }),
        { limits: twice, kept: calls }
      )
      expect(refusal(seen)).toEqual([
        429,
        headers,
        { error: { message: expect.any(String), type: "rate_limit_error", param: null, code: "rate_limit_exceeded" } }
      ])
      expect(asked).toBe(calls)
    }
  )

  it("gateway: one byte per read, splits inside characters and between CR and LF change nothing (F22)", async () => {
    const bytes = [...fixed(gemini("smörgås 日本語 🙂", "STOP"))]
    const slow = rawServer((socket) => {
      const rest = [...bytes]
      const next = () => {
        const byte = rest.shift()
        if (byte !== undefined) socket.write(Buffer.of(byte), () => setImmediate(next))
      }
      socket.setNoDelay(true)
      next()
    })
    const seen = await throughGateway(slow, { kept: 1 })
    expect(JSON.parse(seen.bodies[0] ?? "").choices[0].message.content).toBe("smörgås 日本語 🙂")
  })

  it("gateway: nothing of the upstream's head reaches the client (F23)", async () => {
    const headers =
      "content-type: application/json\r\ncontent-type: text/html\r\nset-cookie: a=b\r\nserver: ESF\r\nx-secret: 1\r\nconnection: keep-alive, x-secret\r\nvia: 1.1 x\r\n"
    const seen = await throughGateway(
      rawServer((socket) => void socket.write(fixed(gemini("Hi", "STOP"), "200 OK", headers))),
      { kept: 1 }
    )
    expect(seen.answers[0]?.status).toBe(200)
    expect([...(seen.answers[0]?.headers.keys() ?? [])].filter((name) => !name.startsWith("x-gateway-"))).toEqual([
      "cache-control",
      "connection",
      "content-length",
      "content-type",
      "date",
      "keep-alive",
      "request-id",
      "x-request-id"
    ])
  })

  it.each(["301 Moved Permanently", "302 Found", "307 Temporary Redirect"])(
    "gateway: %s is never followed (F24)",
    async (line) => {
      let asked = 0
      const seen = await throughGateway(
        rawServer((socket) => {
          asked++
          socket.write(fixed("", line, "location: /trap\r\n"))
        }),
        { limits: twice, kept: 1 }
      )
      expect(refusal(seen)).toEqual([
        502,
        { "x-should-retry": "false" },
        apiError("upstream_bad_response", expect.any(String))
      ])
      expect(asked).toBe(1)
    }
  )

  it("gateway: 204, an answer without a body, is 502 (F24)", async () => {
    const seen = await throughGateway(
      rawServer((socket) => void socket.write("HTTP/1.1 204 No Content\r\n\r\n")),
      { kept: 1 }
    )
    expect(refusal(seen)).toEqual([502, {}, apiError("upstream_bad_response", expect.any(String))])
  })

  it("gateway: an unrequested 100 Continue is a broken answer (F24)", async () => {
    const seen = await throughGateway(
      rawServer((socket) => void socket.write(Buffer.concat([Buffer.from("HTTP/1.1 100 Continue\r\n\r\n"), good])))
    )
    expect(refusal(seen)).toEqual([502, {}, apiError("upstream_unreachable", cutShort)])
  })

  it("gateway: early hints are skipped (F24)", async () => {
    const hints = "HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n"
    const seen = await throughGateway(
      rawServer((socket) => void socket.write(Buffer.concat([Buffer.from(hints), good]))),
      { kept: 1 }
    )
    expect(JSON.parse(seen.bodies[0] ?? "").choices[0].message.content).toBe("Hi")
  })

  /** Sockets that serve so many requests; the next one meets a closed door, after it was read. */
  const closingAfter = (most: number, count: () => void) => {
    const served = new WeakMap<object, number>()
    return rawServer((socket) => {
      count()
      const before = served.get(socket) ?? 0
      served.set(socket, before + 1)
      if (before >= most) socket.destroy()
      else socket.write(good)
    })
  }
  const early = { staleMillis: 60_000 }

  it("gateway: idle sockets that close just as they are used cost no request, and each call is logged (F25)", async () => {
    let calls = 0
    const times = isRelease ? 300 : 60
    const seen = await throughGateway(
      closingAfter(9, () => calls++),
      { times, kept: 1, limits: early, lateIn: "nothing" }
    )
    expect(seen.answers.map(({ status }) => status)).toEqual(Array<number>(times).fill(200))
    // Each tenth call meets a closed door, and is sent again on a socket that is not kept.
    expect(calls).toBe(times + times / 10)
    expect(seen.attempts).toEqual({ logged: calls, counted: calls })
  })

  it("gateway: calls on sockets that close are sent again within the budget of retries only (F25)", async () => {
    let calls = 0
    const seen = await throughGateway(
      closingAfter(1, () => calls++),
      { times: 60, kept: 1, limits: early, lateIn: "nothing" }
    )
    const failed = seen.answers.filter(({ status }) => status === 502).length
    expect(seen.attempts).toEqual({ logged: calls, counted: calls })
    // A fifth of the requests at most is sent again, less a margin.
    expect([failed, calls]).toEqual([19, 71])
  })

  it.each([
    ["a call that a closed socket took is sent again once, before the usual retries", 60_000, 5],
    ["a socket that closes after the upstream could work leaves the usual retries alone", 0, 4]
  ])("gateway: %s, and the log has every call (F25)", async (_, staleMillis, expected) => {
    let calls = 0
    const breaking = rawServer((socket) => {
      if (++calls === 1) socket.write(good)
      else socket.destroy()
    })
    const seen = await throughGateway(breaking, { times: 2, limits: { retries: 2, staleMillis } })
    expect(seen.answers.map(({ status }) => status)).toEqual([200, 502])
    expect(seen.answers[1]?.headers.get("x-gateway-retry-attempt-count")).toBe(String(expected - 2))
    expect([calls, seen.attempts]).toEqual([expected, { logged: expected, counted: expected }])
  })
})
