// Tests the faults of a stream, from the client's side of the whole gateway, over real sockets.
// Must not look inside the gateway.
import { describe, expect, it } from "vitest"
import {
  apiError,
  chunked,
  event,
  fixed,
  gemini,
  lastPiece,
  piece,
  refusal,
  streamed,
  streamOf,
  throughGateway
} from "../support/faulty.ts"
import { sample } from "../support/release.ts"
import { rawServer } from "../upstream/evilServer.ts"

const stream = true
const texts = (count: number) => Array.from({ length: count }, (_, at) => `text ${at}`)
const events = (some: ReadonlyArray<string>) => some.map((text) => piece(event(gemini(text)))).join("")
const cut = apiError("upstream_truncated", "The upstream closed the connection in the middle of its answer.").error
const unfinished = apiError("upstream_truncated", expect.any(String)).error
const busy = JSON.stringify({ error: { code: 503, status: "UNAVAILABLE", message: "The model is overloaded." } })
const unavailable = () => apiError("upstream_unavailable", expect.any(String))

describe("streams through the gateway", () => {
  it("gateway stream: a first event and then silence gives that event, then one error, no [DONE] (F5)", async () => {
    const seen = await throughGateway(
      rawServer((socket) => void socket.write(chunked + events(["Hi"]))),
      { stream, limits: { idleMillis: 50 }, lateIn: "body" }
    )
    expect(streamOf(seen)).toEqual({
      texts: ["Hi"],
      finish: [],
      errors: [
        apiError(
          "upstream_timeout",
          "The upstream fell silent for 50 ms in the middle of its answer (limits.idleMillis, or timeouts.idle of the config)."
        ).error
      ],
      done: false
    })
  })

  it("gateway stream: a head without an event is an ordinary 504 (F5)", async () => {
    const seen = await throughGateway(
      rawServer((socket) => void socket.write(chunked)),
      { stream, limits: { firstByteMillis: 50 }, lateIn: "head" }
    )
    expect(refusal(seen)).toEqual([
      504,
      {},
      apiError(
        "upstream_timeout",
        "The upstream accepted the request and did not begin to answer within 50 ms (limits.firstByteMillis, or request_timeout or timeouts.first_byte of the config)."
      )
    ])
  })

  it("gateway stream: a stream that flows is not cut, however long it takes (W8, W38, RB31)", async () => {
    const drip = rawServer((socket) => {
      socket.write(chunked + events(["Hi"]))
      let left = 12
      const timer = setInterval(() => {
        if (--left > 0) return void socket.write(events(["Hi"]))
        clearInterval(timer)
        socket.end(piece(event(gemini("", "STOP"))) + lastPiece)
      }, 25)
      socket.on("close", () => clearInterval(timer))
    })
    const seen = await throughGateway(drip, { stream, limits: { totalMillis: 200 } })
    expect(streamOf(seen)).toEqual({
      texts: Array.from({ length: 12 }, () => "Hi"),
      finish: ["stop"],
      errors: [],
      done: true
    })
  })

  it.each([1, 10, 1_000])(
    "gateway stream: a reset after %i events gives all of them in order, one error, no finish, no second call (F9)",
    async (count) => {
      const seen = await throughGateway(
        rawServer((socket) => void socket.write(chunked + events(texts(count)), () => socket.end())),
        { stream, limits: { retries: 2 } }
      )
      expect(streamOf(seen)).toEqual({ texts: texts(count), finish: [], errors: [cut], done: false })
      expect(seen.upstream.accepted()).toBe(1)
    }
  )

  it("gateway stream: a reset before the first event is retried (F9)", async () => {
    const seen = await throughGateway(
      rawServer(
        (socket, _, n) =>
          void (n === 1
            ? socket.end(chunked)
            : socket.end(chunked + events(["Hi"]) + piece(event(gemini("", "STOP"))) + lastPiece))
      ),
      { stream, limits: { retries: 2 } }
    )
    expect(streamOf(seen)).toEqual({ texts: ["Hi"], finish: ["stop"], errors: [], done: true })
    expect([seen.upstream.accepted(), seen.answers[0]?.headers.get("x-gateway-retry-attempt-count")]).toEqual([2, "1"])
  })

  it("gateway stream: fewer bytes than announced are a cut stream (F10)", async () => {
    const seen = await throughGateway(
      rawServer((socket) => void socket.end(`HTTP/1.1 200 OK\r\ncontent-length: 9999\r\n\r\n${event(gemini("Hi"))}`)),
      { stream }
    )
    expect(streamOf(seen)).toEqual({ texts: ["Hi"], finish: [], errors: [cut], done: false })
  })

  it("gateway stream: any cut gives a prefix and exactly one error, or an error alone (F11, P7)", async () => {
    const body = event(gemini("smörgås ")) + event(gemini("🙂")) + event(gemini("", "STOP"))
    const bytes = Buffer.from(body)
    const head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n"
    const lengths = sample([...bytes.keys(), bytes.length], 60)
    const cutting = rawServer((socket, _, n) => {
      socket.write(`${head}content-length: ${bytes.length}\r\n\r\n`)
      socket.end(bytes.subarray(0, lengths[n - 1]))
    })
    const seen = await throughGateway(cutting, { stream, times: lengths.length })
    const failed = seen.answers.flatMap(({ status }, at) => (status === 200 ? [] : [[at, status]]))
    // Without a whole event there is nothing to begin with.
    expect(failed).toEqual(failed.map((_, at) => [at, 502]))
    seen.bodies.slice(failed.length, -1).forEach((text) => {
      const { done, errors, texts: got } = streamed(text)
      expect("smörgås 🙂".startsWith(got.join(""))).toBe(true)
      expect([done, errors.length]).toEqual([false, 1])
    })
    expect(streamed(seen.bodies.at(-1) ?? "")).toEqual({
      texts: ["smörgås ", "🙂"],
      finish: ["stop"],
      errors: [],
      done: true
    })
  })

  it("gateway stream: an end without a finish is a cut stream (F12)", async () => {
    const seen = await throughGateway(
      rawServer((socket) => void socket.end(chunked + events(["Hi"]) + lastPiece)),
      { stream }
    )
    expect(streamOf(seen)).toEqual({ texts: ["Hi"], finish: [], errors: [unfinished], done: false })
  })

  it("gateway stream: a cut on the messages route ends in one error event, without message_stop (F12)", async () => {
    const start = `event: message_start\ndata: {"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"c","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}}\n\n`
    const seen = await throughGateway(
      rawServer((socket) => void socket.end(chunked + piece(start) + lastPiece)),
      {
        stream,
        path: "/v1/messages",
        model: "@evil-vertex/anthropic.claude-sonnet-4@20250514",
        body: { max_tokens: 9 }
      }
    )
    expect([
      seen.answers[0]?.status,
      (seen.bodies[0] ?? "").split("\n").filter((line) => line.startsWith("event: "))
    ]).toEqual([200, ["event: message_start", "event: error"]])
  })

  it.each([
    ["an event", chunked + piece(event(busy)) + lastPiece],
    ["a bare object", chunked + piece(busy) + lastPiece],
    ["an array", chunked + piece(`[${busy}]`) + lastPiece]
  ])("gateway stream: an error as %s before other events is a real 503 (F13)", async (_, bytes) => {
    const seen = await throughGateway(
      rawServer((socket) => void socket.end(bytes)),
      { stream }
    )
    expect(refusal(seen)).toEqual([503, {}, unavailable()])
  })

  it("gateway stream: an error as the first event keeps its own status and error type (F13)", async () => {
    const seen = await throughGateway(
      rawServer(
        (socket) => void socket.end(fixed(busy, "503 Service Unavailable", "content-type: text/event-stream\r\n"))
      ),
      { stream }
    )
    expect(refusal(seen)).toEqual([503, {}, unavailable()])
  })

  it.each([
    ["an event", piece(event(busy))],
    ["a bare object", piece(busy)]
  ])("gateway stream: an error as %s after three events is an error frame with its code (F13)", async (_, bytes) => {
    const seen = await throughGateway(
      rawServer((socket) => void socket.end(chunked + events(texts(3)) + bytes + lastPiece)),
      { stream }
    )
    expect(streamOf(seen)).toEqual({ texts: texts(3), finish: [], errors: [unavailable().error], done: false })
  })

  const refused = JSON.stringify({
    error: { code: 401, status: "UNAUTHENTICATED", message: "Request had invalid authentication credentials." }
  })
  it.each([
    ["the caller's", { authorization: "Bearer ya29.callers" }, "provider_credentials_rejected", "authentication_error"],
    ["the stored", {}, "upstream_credentials_rejected", "api_error"]
  ])(
    "gateway stream: a refusal inside a stream names %s credential, which was sent (B105)",
    async (_, headers, code, type) => {
      const seen = await throughGateway(
        rawServer(
          (socket, _request, n) =>
            void socket.end(chunked + (n === 1 ? "" : events(["Hi"])) + piece(event(refused)) + lastPiece)
        ),
        { stream, times: 2, model: "@evil-vertex/gemini-2.5-flash", headers }
      )
      const error = { message: expect.any(String), type, param: null, code }
      expect(seen.answers.map(({ status }) => status)).toEqual([type === "api_error" ? 502 : 401, 200])
      expect(JSON.parse(seen.bodies[0] ?? "")).toEqual({ error })
      expect(streamed(seen.bodies[1] ?? "")).toEqual({ texts: ["Hi"], finish: [], errors: [error], done: false })
    }
  )

  it("gateway stream: a first event that is garbage is 502 (F14)", async () => {
    const seen = await throughGateway(
      rawServer((socket) => void socket.end(chunked + piece(event("%%%")) + lastPiece)),
      { stream }
    )
    expect(refusal(seen)).toEqual([502, {}, apiError("upstream_bad_response", expect.any(String))])
  })

  it("gateway stream: a coded stream is 502 and not read (F16)", async () => {
    const seen = await throughGateway(
      rawServer((socket) => void socket.write("HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n\r\n\u001f\u008b")),
      { stream }
    )
    expect(refusal(seen)).toEqual([
      502,
      {},
      apiError("upstream_bad_response", "The upstream answered in a content encoding that was not asked for.")
    ])
  })

  it("gateway stream: one endless line is refused at the bound of events (F17)", async () => {
    let written = 0
    const endless = rawServer((socket) => {
      socket.write("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: ")
      const more = () => {
        while (written < 100_000_000 && !socket.destroyed) {
          written += 100_000
          if (!socket.write("x".repeat(100_000))) return
        }
      }
      socket.on("drain", more)
      more()
    })
    const seen = await throughGateway(endless, { stream, limits: { eventBytes: 1_000_000, retries: 2 } })
    expect(refusal(seen)).toEqual([
      502,
      { "x-should-retry": "false" },
      apiError("upstream_bad_response", expect.any(String))
    ])
    expect(seen.upstream.accepted()).toBe(1)
    expect(written).toBeLessThan(50_000_000)
  })

  it("gateway stream: any split of the bytes gives the same text (F22, P6)", async () => {
    const body = Buffer.from(event(gemini("smörgås ")) + event(gemini("日本語 🙂")) + event(gemini("", "STOP")))
    const split = rawServer((socket, _, n) => {
      socket.write(chunked)
      const sizes = [body.length, 1, 2, 3, 7][n - 1] ?? 1
      let at = 0
      const next = () => {
        if (at >= body.length) return void socket.write(lastPiece)
        const part = body.subarray(at, (at += sizes))
        socket.write(Buffer.concat([Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from("\r\n")]), () =>
          setImmediate(next)
        )
      }
      socket.setNoDelay(true)
      next()
    })
    const seen = await throughGateway(split, { stream, times: 5, kept: 1 })
    expect(seen.bodies.map((text) => streamed(text)).map(({ done, texts: got }) => [done, got.join("")])).toEqual(
      Array.from({ length: 5 }, () => [true, "smörgås 日本語 🙂"])
    )
  })

  it("gateway stream: ten thousand events in one piece, and one of nine megabytes, are read (F22)", async () => {
    const long = "x".repeat(9_000_000)
    const seen = await throughGateway(
      rawServer(
        (socket, _, n) =>
          void socket.write(
            chunked +
              piece(
                (n === 1 ? texts(10_000) : [long]).map((text) => event(gemini(text))).join("") +
                  event(gemini("", "STOP"))
              ) +
              lastPiece
          )
      ),
      { stream, times: 2, kept: 1 }
    )
    expect(streamed(seen.bodies[0] ?? "").texts).toEqual(texts(10_000))
    expect(streamed(seen.bodies[1] ?? "").texts.join("") === long).toBe(true)
  })

  it("gateway stream: an event of thirty megabytes is 502 (F22)", async () => {
    const seen = await throughGateway(
      rawServer((socket) => void socket.write(chunked + piece(event(gemini("x".repeat(30_000_000)))))),
      { stream }
    )
    expect(refusal(seen)).toEqual([
      502,
      { "x-should-retry": "false" },
      apiError("upstream_bad_response", expect.any(String))
    ])
  })

  it("gateway stream: lines other than data are skipped, and the upstream's head stays hidden (F23, M17)", async () => {
    const head = chunked.replace(
      "\r\n\r\n",
      "\r\ncontent-type: text/plain\r\nset-cookie: a=b\r\nconnection: keep-alive, x-secret\r\nx-secret: 1\r\n\r\n"
    )
    const noise = ": a comment\r\n\r\nretry: 1\r\n\r\nid: 7\r\nevent: odd\r\n"
    const seen = await throughGateway(
      rawServer(
        (socket) =>
          void socket.write(
            head + piece(noise) + events(["Hi"]) + piece(`retry: 9\r\n${event(gemini("", "STOP"))}`) + lastPiece
          )
      ),
      { stream, kept: 1 }
    )
    expect(streamOf(seen)).toEqual({ texts: ["Hi"], finish: ["stop"], errors: [], done: true })
    expect([...(seen.answers[0]?.headers.keys() ?? [])].filter((name) => !name.startsWith("x-gateway-"))).toEqual([
      "cache-control",
      "connection",
      "content-type",
      "date",
      "keep-alive",
      "request-id",
      "transfer-encoding",
      "x-accel-buffering",
      "x-request-id"
    ])
  })

  it("gateway stream: a redirect of a stream is never followed (F24)", async () => {
    let asked = 0
    const seen = await throughGateway(
      rawServer((socket) => {
        asked++
        socket.write(fixed("", "302 Found", "location: /trap\r\n"))
      }),
      { stream, limits: { retries: 2 }, kept: 1 }
    )
    expect(refusal(seen)).toEqual([
      502,
      { "x-should-retry": "false" },
      apiError("upstream_bad_response", expect.any(String))
    ])
    expect(asked).toBe(1)
  })
})
