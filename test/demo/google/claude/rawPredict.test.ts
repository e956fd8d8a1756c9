import { once } from "node:events"
import { request as httpRequest } from "node:http"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { makeSimulator } from "../../../../src/demo/google/Simulator.ts"

const simulator = makeSimulator({
  geminiApiKeys: ["key"],
  accessTokens: ["token"],
  projects: ["test-project"],
  now: () => Date.UTC(2025, 8, 1)
})
let base = ""
let close = async () => {}

beforeAll(async () => {
  const listening = await simulator.listen()
  base = listening.url
  close = listening.close
})
afterAll(() => close())

const place = "projects/test-project/locations/global"
const path = (model: string, operation = "rawPredict") =>
  `/v1/${place}/publishers/anthropic/models/${model}:${operation}`
const haiku = "claude-haiku-4-5@20251001"
const bearer = { authorization: "Bearer token" }
const hello = {
  anthropic_version: "vertex-2023-10-16",
  max_tokens: 100,
  messages: [{ role: "user", content: "Hello" }]
}
const streamed = { ...hello, stream: true }
const requestId = expect.stringMatching(/^req_vrtx_011C[A-Za-z0-9]{22}$/)

const post = async (target: string, body: unknown, headers: Record<string, string> = bearer) => {
  const response = await fetch(base + target, {
    method: "POST",
    body: JSON.stringify(body),
    headers: { "content-type": "application/json", ...headers }
  })
  return { status: response.status, type: response.headers.get("content-type"), text: await response.text() }
}
const json = async (target: string, body: unknown, headers: Record<string, string> = bearer) => {
  const { status, type, text } = await post(target, body, headers)
  return { status, type, body: JSON.parse(text) }
}
/** The events by name, their data read. */
const events = (text: string): ReadonlyArray<readonly [string, Record<string, unknown>]> =>
  text
    .split("\n\n")
    .filter((event) => event !== "")
    .map((event) => {
      const [, name = "", data = ""] = /^event: ([a-z_]+)\ndata: ([^\n]+)$/.exec(event) ?? []
      return [name, JSON.parse(data)]
    })
const names = (text: string) => events(text).map(([name]) => name)

describe("simulated rawPredict", () => {
  it("rawPredict: answers a message in compact JSON, under ids of Vertex AI", async () => {
    const { status, type, body } = await json(path(haiku), hello)
    expect([status, type, body.id, body.model, body.stop_reason]).toEqual([
      200,
      "application/json",
      expect.stringMatching(/^msg_vrtx_01[A-Za-z0-9]{22}$/),
      "claude-haiku-4-5-20251001",
      "end_turn"
    ])
  })
  it("rawPredict: streams named events, with one of Vertex AI's own on every second call", async () => {
    const model = "claude-sonnet-4@20250514"
    const first = await post(path(model, "streamRawPredict"), streamed)
    const second = await post(path(model, "streamRawPredict"), streamed)
    expect([first.status, first.type]).toEqual([200, "text/event-stream; charset=utf-8"])
    expect(names(first.text).slice(0, 3)).toEqual(["message_start", "ping", "content_block_start"])
    expect(names(second.text).slice(0, 3)).toEqual(["message_start", "vertex_event", "ping"])
    expect(events(first.text).every(([name, data]) => data["type"] === name)).toBe(true)
  })
  it("rawPredict: requires verb and `stream` to agree", async () => {
    expect((await json(path(haiku), streamed)).body.error.message).toBe(
      "stream: rawPredict does not stream, use streamRawPredict"
    )
    expect((await json(path(haiku, "streamRawPredict"), hello)).body.error.message).toBe(
      "stream: streamRawPredict needs `stream` to be true"
    )
  })
  it("rawPredict: refuses a body in Anthropic's format", async () => {
    expect(await json(path(haiku), { ...hello, model: "claude-haiku-4-5" })).toEqual({
      status: 400,
      type: "application/json",
      body: {
        type: "error",
        error: { type: "invalid_request_error", message: "model: Extra inputs are not permitted" },
        request_id: requestId
      }
    })
  })
  it("rawPredict: validates the beta header and ignores the flags of Anthropic's own service", async () => {
    const refused = await json(path(haiku), hello, { ...bearer, "anthropic-beta": "oauth-2025-04-20" })
    expect([refused.status, refused.body.error.type]).toEqual([400, "invalid_request_error"])
    expect(
      (await json(path(haiku), hello, { ...bearer, "anthropic-version": "2023-06-01", "x-api-key": "k" })).status
    ).toBe(200)
  })
  it("rawPredict: refuses callers and models in Google's format", async () => {
    expect((await json(path(haiku), hello, { "x-api-key": "k" })).body.error.status).toBe("UNAUTHENTICATED")
    expect((await json(path(haiku).replace("test-project", "other"), hello)).body.error.status).toBe(
      "PERMISSION_DENIED"
    )
    for (const model of ["claude-haiku-4-5-20251001", "gemini-2.5-flash", "claude-2.1"]) {
      expect(await json(path(model), hello)).toEqual({
        status: 404,
        type: "application/json; charset=UTF-8",
        body: {
          error: {
            code: 404,
            message:
              `Publisher Model \`${place}/publishers/anthropic/models/${model}\` was not found or your project does not have access to it. ` +
              "Please ensure you are using a valid model version.",
            status: "NOT_FOUND"
          }
        }
      })
    }
  })
  it("rawPredict: serves dated, undated and aliased ids", async () => {
    for (const model of [
      "claude-3-5-sonnet-v2@20241022",
      "claude-opus-4-8",
      "claude-sonnet-4-5@default",
      "claude-3-5-haiku-latest",
      "claude-fable-5"
    ]) {
      expect([model, (await json(path(model), hello)).status]).toEqual([model, 200])
    }
  })
  it("rawPredict: accepts its own thinking back", async () => {
    const thinking = { type: "enabled", budget_tokens: 1024 }
    const tools = [{ name: "clock", description: "The time", input_schema: { type: "object" } }]
    const first = await json(path(haiku), {
      ...hello,
      max_tokens: 2000,
      thinking,
      tools,
      messages: [{ role: "user", content: "What does the clock say?" }]
    })
    const { content } = first.body
    expect(content.map(({ type }: { type: string }) => type)).toEqual(["thinking", "tool_use"])
    const messages = [
      { role: "user", content: "What does the clock say?" },
      { role: "assistant", content },
      { role: "user", content: [{ type: "tool_result", tool_use_id: content[1].id, content: "noon" }] }
    ]
    const second = await json(path(haiku), { ...hello, max_tokens: 2000, thinking, tools, messages })
    expect([second.status, second.body.content[1]]).toEqual([
      200,
      { type: "text", text: "The tool clock answered noon. That is all I need to answer you." }
    ])
  })
})

describe("simulated count-tokens", () => {
  const counted = { anthropic_version: "vertex-2023-10-16", model: haiku, messages: hello.messages }
  it("count-tokens: equals the prompt tokens of the answer", async () => {
    expect(await json(path("count-tokens"), counted)).toEqual({
      status: 200,
      type: "application/json",
      body: { input_tokens: 8 }
    })
    expect((await json(path(haiku), hello)).body.usage.input_tokens).toBe(8)
  })
  it("count-tokens: refuses fields of an answer, and unknown ids", async () => {
    expect((await json(path("count-tokens"), { ...counted, stream: false })).body.error.message).toBe(
      "stream: Extra inputs are not permitted"
    )
    for (const model of ["claude-sonnet-4-5@default", "claude-3-5-haiku-latest", "claude-haiku-4-5-20251001"]) {
      expect([model, (await json(path("count-tokens"), { ...counted, model })).status]).toEqual([model, 404])
    }
  })
})

describe("simulated faults of rawPredict", () => {
  it("rawPredict: overload in a stream comes as its first event, else as 529", async () => {
    const overloaded = {
      type: "error",
      error: { type: "overloaded_error", message: "Overloaded" },
      request_id: requestId
    }
    expect(await json(path("demo-overloaded"), hello)).toEqual({
      status: 529,
      type: "application/json",
      body: overloaded
    })
    const stream = await post(path("demo-overloaded", "streamRawPredict"), streamed)
    expect([stream.status, events(stream.text)]).toEqual([200, [["error", overloaded]]])
  })
  it("rawPredict: errors come first, midstream, or in a 200", async () => {
    const first = await post(path("demo-error-first-event", "streamRawPredict"), streamed)
    expect(events(first.text).map(([name, { error }]) => [name, error])).toEqual([
      ["error", { type: "api_error", message: "Internal server error" }]
    ])
    const later = await post(path("demo-error-midstream", "streamRawPredict"), streamed)
    expect(names(later.text)).toEqual([
      "message_start",
      "ping",
      "content_block_start",
      "content_block_delta",
      "content_block_delta",
      "error"
    ])
    const unary = await json(path("demo-error-first-event"), hello)
    expect([unary.status, unary.body.type]).toEqual([200, "error"])
    expect((await json(path("demo-error-midstream"), hello)).body.error.type).toBe("api_error")
  })
  it("rawPredict: quota and a failed front end stay in Google's format", async () => {
    expect((await json(path("demo-flaky-429"), hello)).body.error.status).toBe("RESOURCE_EXHAUSTED")
    expect((await json(path("demo-flaky-429"), hello)).status).toBe(200)
    expect((await json(path("demo-503"), hello)).body.error.status).toBe("UNAVAILABLE")
  })
  it("rawPredict: ends without message_stop", async () => {
    const { text } = await post(path("demo-truncated", "streamRawPredict"), streamed)
    expect(names(text).at(-1)).toBe("message_delta")
  })
  it("rawPredict: streams without an end, in events of the dialect", async () => {
    const request = httpRequest(base + path("demo-endless", "streamRawPredict"), { method: "POST", headers: bearer })
    request.end(JSON.stringify(streamed))
    const [response] = await once(request, "response")
    const [chunk] = await once(response, "data")
    response.destroy()
    expect(
      chunk
        .toString()
        .startsWith(
          'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Line 1 of'
        )
    ).toBe(true)
  })
})
