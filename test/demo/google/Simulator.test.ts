import { once } from "node:events"
import { request as httpRequest } from "node:http"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { streamAnswer } from "../../../src/demo/google/shared/answers.ts"
import { applyFault } from "../../../src/demo/google/shared/faults.ts"
import { makeSimulator } from "../../../src/demo/google/Simulator.ts"
import { until } from "../../support/eventually.ts"

const now = 1_800_000_000_000
const simulator = makeSimulator({
  geminiApiKeys: ["key"],
  accessTokens: ["token"],
  projects: ["test-project"],
  now: () => now
})
let base = ""
let close = async () => {}

beforeAll(async () => {
  const listening = await simulator.listen()
  base = listening.url
  close = listening.close
})
afterAll(() => close())

const hello = { contents: [{ role: "user", parts: [{ text: "Hello" }] }] }
const place = "/v1/projects/test-project/locations/us-central1"
const keyed = { "x-goog-api-key": "key" }
const bearer = { authorization: "Bearer token" }
const google = (model: string, operation = "generateContent") => `/v1beta/models/${model}:${operation}`
const sse = (model: string) => `${google(model, "streamGenerateContent")}?alt=sse`

const post = async (path: string, body: unknown, headers: Record<string, string> = keyed) => {
  const response = await fetch(base + path, {
    method: "POST",
    body: typeof body === "string" ? body : JSON.stringify(body),
    headers: { "content-type": "application/json", ...headers }
  })
  return { status: response.status, type: response.headers.get("content-type"), response, text: () => response.text() }
}
const json = async (path: string, body: unknown, headers: Record<string, string> = keyed) => {
  const answer = await post(path, body, headers)
  return { status: answer.status, body: JSON.parse(await answer.text()) }
}
const events = (text: string): ReadonlyArray<string> => text.split("\r\n\r\n").filter((event) => event !== "")

/** Reads until the connection ends. Returns the bytes and whether the body was complete. */
const raw = async (path: string) => {
  const request = httpRequest(base + path, { method: "POST", headers: keyed })
  request.end(JSON.stringify(hello))
  const [response] = await once(request, "response")
  const chunks: Array<Buffer> = []
  try {
    for await (const chunk of response) chunks.push(chunk)
  } catch {
    return { text: Buffer.concat(chunks).toString(), complete: false }
  }
  return { text: Buffer.concat(chunks).toString(), complete: true }
}

describe("operations of the simulator", () => {
  it("simulator: answers generateContent on every path of Gemini", async () => {
    const paths: ReadonlyArray<readonly [string, Record<string, string>]> = [
      [google("gemini-2.5-flash"), keyed],
      [`${place}/publishers/google/models/gemini-2.5-flash:generateContent`, bearer],
      [`${place}/endpoints/1234567890:generateContent`, bearer],
      ["/v1/publishers/google/models/gemini-2.5-flash:generateContent", keyed]
    ]
    for (const [path, headers] of paths) {
      const { status, body } = await json(path, hello, headers)
      expect([path, status, body.candidates[0].finishReason]).toEqual([path, 200, "STOP"])
    }
  })
  it("simulator: frames events with CRLF", async () => {
    const answer = await post(sse("gemini-2.5-flash"), hello)
    const text = await answer.text()
    expect(answer.type).toBe("text/event-stream")
    expect(text.endsWith("\r\n\r\n")).toBe(true)
    expect(text.replaceAll("\r\n\r\n", "")).not.toContain("\n")
    expect(events(text).every((event) => event.startsWith("data: {"))).toBe(true)
  })
  it("simulator: writes a JSON array without alt=sse", async () => {
    const answer = await post(google("gemini-2.5-flash", "streamGenerateContent"), hello)
    const text = await answer.text()
    expect(answer.type).toBe("application/json; charset=UTF-8")
    expect(text.startsWith('[{\n  "candidates": [')).toBe(true)
    expect(text).toContain("\n},\r\n{\n")
    expect(JSON.parse(text).at(-1).candidates[0].finishReason).toBe("STOP")
  })
  it("simulator: counts tokens in the format of each service", async () => {
    const counted = { totalTokens: 2, promptTokensDetails: [{ modality: "TEXT", tokenCount: 2 }] }
    const wrapped = { generateContentRequest: { model: "models/gemini-2.5-flash", ...hello } }
    expect(await json(google("gemini-2.5-flash", "countTokens"), wrapped)).toEqual({ status: 200, body: counted })
    expect(await json(`${place}/publishers/google/models/gemini-2.5-flash:countTokens`, hello, bearer)).toEqual({
      status: 200,
      body: { ...counted, totalBillableCharacters: 5 }
    })
  })
  it("simulator: keeps its received calls", async () => {
    await json(google("gemini-2.5-flash"), hello)
    expect(simulator.calls.at(-1)).toMatchObject({
      method: "POST",
      url: google("gemini-2.5-flash"),
      body: hello,
      status: 200,
      headers: { "x-goog-api-key": "key" }
    })
  })
})

describe("refusals of the simulator", () => {
  const vertexPath = `${place}/publishers/google/models/gemini-2.5-flash:generateContent`
  const rows: ReadonlyArray<readonly [string, string, Record<string, string>, number, string, string | undefined]> = [
    [
      "a wrong key",
      google("gemini-2.5-flash"),
      { "x-goog-api-key": "bad" },
      400,
      "INVALID_ARGUMENT",
      "API_KEY_INVALID"
    ],
    ["no key", google("gemini-2.5-flash"), {}, 403, "PERMISSION_DENIED", undefined],
    [
      "a wrong token",
      vertexPath,
      { authorization: "Bearer bad" },
      401,
      "UNAUTHENTICATED",
      "ACCESS_TOKEN_TYPE_UNSUPPORTED"
    ],
    ["an API key on Vertex", vertexPath, keyed, 401, "UNAUTHENTICATED", "CREDENTIALS_MISSING"],
    ["no token", vertexPath, {}, 401, "UNAUTHENTICATED", "CREDENTIALS_MISSING"],
    [
      "a foreign project",
      vertexPath.replace("test-project", "other"),
      bearer,
      403,
      "PERMISSION_DENIED",
      "IAM_PERMISSION_DENIED"
    ],
    [
      "a wrong express key",
      "/v1/publishers/google/models/gemini-2.5-flash:generateContent",
      { "x-goog-api-key": "bad" },
      400,
      "INVALID_ARGUMENT",
      "API_KEY_INVALID"
    ],
    ["an unknown model", google("there-is-no-such-model"), keyed, 404, "NOT_FOUND", undefined]
  ]
  for (const [name, path, headers, code, status, reason] of rows) {
    it(`simulator: refuses ${name}`, async () => {
      const { status: httpStatus, body } = await json(path, hello, headers)
      expect([httpStatus, body.error.code, body.error.status, body.error.details?.[0].reason]).toEqual([
        code,
        code,
        status,
        reason
      ])
    })
  }
  it("simulator: names the unknown model as the service does", async () => {
    const { body } = await json(google("there-is-no-such-model"), hello)
    expect(body.error.message).toBe(
      "models/there-is-no-such-model is not found for API version v1beta, or is not supported for generateContent. " +
        "Call ListModels to see the list of available models and their supported methods."
    )
  })
  it("simulator: answers a page for an unknown path", async () => {
    for (const path of [
      "/v2/x",
      `/v1/projects/test-project/locations/Mars/publishers/google/models/m:generateContent`,
      google("gemini-2.5-flash", "sing")
    ]) {
      const answer = await post(path, hello)
      expect([answer.status, answer.type]).toEqual([404, "text/html; charset=UTF-8"])
    }
  })
  it("simulator: refuses invalid JSON", async () => {
    expect((await json(google("gemini-2.5-flash"), "{")).body.error.message).toMatch(/^Invalid JSON payload received/)
  })
  it("simulator: puts a stream's error into an array unless events were requested", async () => {
    expect((await json(google("gemini-2.5-flash", "streamGenerateContent"), {})).body[0].error.code).toBe(400)
    expect((await json(sse("gemini-2.5-flash"), {})).body.error.code).toBe(400)
  })
})

describe("faults of the simulator", () => {
  it("simulator: refuses every second call with a retry delay", async () => {
    const first = await json(google("demo-flaky-429"), hello)
    expect([first.status, first.body.error.details[1]]).toEqual([
      429,
      { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "0.2s" }
    ])
    expect((await json(google("demo-flaky-429"), hello)).status).toBe(200)
    expect((await json(google("demo-flaky-429"), hello)).status).toBe(429)
  })
  it("simulator: is slow, and paces tokens, by pauses between the writes", () => {
    const wire = { refusal: () => streamAnswer([], true), errorEvent: () => "", lineEvent: () => "" }
    const context = { callNumber: 1, streaming: true, sse: true, wire }
    const good = streamAnswer(
      [
        { value: 1, pauseMillis: 0 },
        { value: 2, pauseMillis: 40 }
      ],
      true
    )
    expect([...good.steps]).toEqual([{ write: "data: 1\r\n\r\n" }, { pauseMillis: 40 }, { write: "data: 2\r\n\r\n" }])
    const again = streamAnswer([{ value: 1, pauseMillis: 0 }], true)
    expect([...applyFault("demo-slow", again, context).steps]).toEqual([
      { pauseMillis: 2000 },
      { write: "data: 1\r\n\r\n" },
      { pauseMillis: 500 }
    ])
  })
  it("simulator: is silent for twenty seconds after its first event", () => {
    const wire = { refusal: () => streamAnswer([], true), errorEvent: () => "", lineEvent: () => "" }
    const good = streamAnswer(
      [1, 2].map((value) => ({ value, pauseMillis: 0 })),
      true
    )
    expect([...applyFault("demo-silent", good, { callNumber: 1, streaming: true, sse: true, wire }).steps]).toEqual([
      { write: "data: 1\r\n\r\n" },
      { pauseMillis: 20_000 },
      { write: "data: 2\r\n\r\n" }
    ])
  })
  it("simulator: is overloaded, or answers a page of HTML", async () => {
    expect((await json(google("demo-503"), hello)).body.error.status).toBe("UNAVAILABLE")
    const page = await post(google("demo-html-502"), hello)
    expect([page.status, page.type]).toEqual([502, "text/html; charset=UTF-8"])
  })
  it("simulator: breaks off with events already sent", async () => {
    const { text, complete } = await raw(sse("demo-dies-midstream"))
    expect([complete, events(text).length, text.includes("finishReason")]).toEqual([false, 2, false])
    const unary = await raw(google("demo-dies-midstream"))
    expect([unary.complete, unary.text.startsWith("{\n")]).toEqual([false, true])
  })
  it("simulator: ends without a finish reason", async () => {
    const { text, complete } = await raw(sse("demo-truncated"))
    expect([complete, text.includes("finishReason"), events(text).length > 2]).toEqual([true, false, true])
  })
  it("simulator: puts errors into the stream", async () => {
    const first = events(await (await post(sse("demo-error-first-event"), hello)).text())
    expect([first.length, JSON.parse(first[0]?.slice(6) ?? "").error.code]).toEqual([1, 500])
    const later = events(await (await post(sse("demo-error-midstream"), hello)).text())
    expect([later.length, JSON.parse(later.at(-1)?.slice(6) ?? "").error.status]).toEqual([3, "INTERNAL"])
  })
  it("simulator: writes garbage", async () => {
    const text = await (await post(sse("demo-garbage"), hello)).text()
    expect(() => JSON.parse(text.slice(6))).toThrow(SyntaxError)
  })
  it("simulator: compresses its answers", async () => {
    const answer = await post(sse("demo-gzip"), hello)
    expect(answer.response.headers.get("content-encoding")).toBe("gzip")
    expect(events(await answer.text()).length).toBeGreaterThan(2)
  })
  it("simulator: stays silent until the caller leaves", async () => {
    const before = simulator.counters.requests
    const leaving = new AbortController()
    const waiting = fetch(base + google("demo-hangs"), {
      method: "POST",
      body: JSON.stringify(hello),
      headers: keyed,
      signal: leaving.signal
    })
    await until(() => simulator.counters.requests > before)
    leaving.abort()
    await expect(waiting).rejects.toThrow("aborted")
  })
  it("simulator: holds back an endless stream without a reader, and notices that the caller leaves", async () => {
    const aborted = simulator.counters.abortedStreams
    const request = httpRequest(base + sse("demo-endless"), { method: "POST", headers: keyed })
    request.end(JSON.stringify(hello))
    const [response] = await once(request, "response")
    const [chunk] = await once(response, "data")
    expect(chunk.toString()).toContain("an answer without an end")
    expect(simulator.counters.openStreams).toBe(1)
    response.destroy()
    await until(() => simulator.counters.openStreams === 0)
    expect(simulator.counters.abortedStreams).toBe(aborted + 1)
    expect(simulator.counters.lastAbortMillis).toBe(now)
  })
})

describe("script of the simulator", () => {
  it("script: replaces the next answers, for each kind of call separately", async () => {
    simulator.script([
      { for: "token", status: 500, body: { error: "internal_failure" } },
      { status: 418, headers: { "x-demo": "1" }, body: { error: { code: 418 } } },
      { headers: { "content-type": "text/event-stream" }, chunks: ['data: {"a"', ":1}\r\n\r\n"] },
      { body: "half", end: "close" }
    ])
    const first = await post(google("gemini-2.5-flash"), hello)
    expect([first.status, first.response.headers.get("x-demo"), await first.text()]).toEqual([
      418,
      "1",
      '{"error":{"code":418}}'
    ])
    expect(await (await post(sse("gemini-2.5-flash"), hello)).text()).toBe('data: {"a":1}\r\n\r\n')
    expect(await raw(google("gemini-2.5-flash"))).toEqual({ text: "half", complete: false })
    expect((await json("/token", "grant_type=x")).status).toBe(500)
    expect((await json(google("gemini-2.5-flash"), hello)).status).toBe(200)
  })
  it("script: resets the connection", async () => {
    simulator.script([{ end: "reset" }])
    await expect(post(google("gemini-2.5-flash"), hello)).rejects.toThrow("fetch failed")
  })
})
