// POST /v1/responses and the routes of kept responses through every layer: exact bodies and events.
import * as Layer from "effect/Layer"
import { describe, expect, it } from "vitest"
import { FreshId } from "../../src/http/request/IncomingRequest.ts"
import { gatewayKey } from "../support/TestGateway.ts"
import { accountedGateway } from "../support/accounted.ts"
import { gatewaysOver, replying } from "../support/scripted.ts"

const gatewayWith = gatewaysOver()
const number = "01a1feb1fd447fb5884aaa19e8c22cad"
const id = `resp_${number}`
const item = (prefix: string, position: string) => `${prefix}_${number}${position}`
const references = Layer.succeed(FreshId, () => "01a1feb1-fd44-7fb5-884a-aa19e8c22cad")
const model = "@google/gemini-2.5-flash"
const usageMetadata = { promptTokenCount: 3, candidatesTokenCount: 2, totalTokenCount: 5 }
const said = (text: string) => ({
  candidates: [{ content: { role: "model", parts: [{ text }] }, finishReason: "STOP", index: 0 }],
  usageMetadata,
  modelVersion: "gemini-2.5-flash"
})
const sse = (...values: ReadonlyArray<unknown>) => ({
  status: 200,
  headers: { "content-type": "text/event-stream" },
  chunks: values.map((value) => `data: ${JSON.stringify(value)}\r\n\r\n`)
})

const message = (text: string) => ({
  id: item("msg", "0000"),
  type: "message",
  status: "completed",
  role: "assistant",
  content: [{ type: "output_text", text, annotations: [], logprobs: [] }]
})
const response = (change: object) => ({
  id,
  object: "response",
  created_at: expect.any(Number),
  completed_at: expect.any(Number),
  status: "completed",
  error: null,
  incomplete_details: null,
  model: "gemini-2.5-flash",
  output: [message("Hello")],
  usage: {
    input_tokens: 3,
    input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
    output_tokens: 2,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 5
  },
  background: false,
  instructions: null,
  max_output_tokens: null,
  max_tool_calls: null,
  parallel_tool_calls: true,
  previous_response_id: null,
  prompt_cache_key: null,
  reasoning: { effort: null, summary: null },
  safety_identifier: null,
  service_tier: "default",
  store: true,
  temperature: 1,
  text: { format: { type: "text" } },
  tool_choice: "auto",
  tools: [],
  top_logprobs: 0,
  top_p: 1,
  truncation: "disabled",
  user: null,
  metadata: {},
  frequency_penalty: 0,
  presence_penalty: 0,
  ...change
})
const error = (message: string, code: string, param: string | null, type = "invalid_request_error") => ({
  error: { message, type, param, code }
})
const eventsOf = (text: string): ReadonlyArray<unknown> =>
  text
    .split("\n\n")
    .slice(0, -1)
    .map((frame) => {
      const [, name, data = ""] = /^event: (.*)\ndata: (.*)$/.exec(frame) ?? []
      const value = JSON.parse(data)
      expect(value.type).toBe(name)
      return value
    })

describe("a response", () => {
  it("responses: is the chat it becomes, kept and read again (R101 R103 R703)", async () => {
    const gateway = gatewayWith(() => replying(said("Hello")), { references })
    const answer = await gateway.post("/v1/responses", {
      model,
      input: "Hi",
      client_metadata: {},
      metadata: { a: "b" }
    })
    const made = await answer.json()
    expect([answer.status, made]).toEqual([200, response({ metadata: { a: "b" } })])
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      "x-gateway-provider": "google",
      "x-gateway-ignored-params": "client_metadata",
      "x-gateway-cache-status": "DISABLED",
      "x-request-id": "request-1"
    })
    expect(gateway.seen.map(({ body }) => body)).toEqual([{ contents: [{ role: "user", parts: [{ text: "Hi" }] }] }])
    const again = await gateway.send(`/v1/responses/${id}`, { headers: { "x-gateway-api-key": gatewayKey } })
    expect([again.status, await again.json()]).toEqual([200, made])
  })

  it("responses: streams its events, the last one with the whole response (R501 R703)", async () => {
    const gateway = gatewayWith(
      () => sse({ candidates: [{ content: { role: "model", parts: [{ text: "Hel" }] }, index: 0 }] }, said("lo")),
      { references }
    )
    const answer = await gateway.post("/v1/responses", { model, input: "Hi", stream: true })
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "text/event-stream; charset=utf-8"])
    const begun = response({ status: "in_progress", completed_at: null, output: [], usage: null })
    const place = { item_id: item("msg", "0000"), output_index: 0, content_index: 0 }
    const part = { type: "output_text", text: "", annotations: [], logprobs: [] }
    expect(eventsOf(await answer.text())).toEqual(
      [
        { type: "response.created", response: begun },
        { type: "response.in_progress", response: begun },
        {
          type: "response.output_item.added",
          output_index: 0,
          item: { ...message(""), status: "in_progress", content: [] }
        },
        { type: "response.content_part.added", ...place, part },
        { type: "response.output_text.delta", ...place, delta: "Hel", logprobs: [] },
        { type: "response.output_text.delta", ...place, delta: "lo", logprobs: [] },
        { type: "response.output_text.done", ...place, text: "Hello", logprobs: [] },
        { type: "response.content_part.done", ...place, part: { ...part, text: "Hello" } },
        { type: "response.output_item.done", output_index: 0, item: message("Hello") },
        { type: "response.completed", response: response({}) }
      ].map((event, sequence_number) => ({ ...event, sequence_number }))
    )
    const again = await gateway.send(`/v1/responses/${id}`, { headers: { "x-gateway-api-key": gatewayKey } })
    expect(await again.json()).toEqual(response({}))
  })

  it("responses: a stream that breaks ends in both forms of the error, and nothing is kept (R513)", async () => {
    const piece = { candidates: [{ content: { role: "model", parts: [{ text: "Hel" }] }, index: 0 }] }
    const gateway = gatewayWith(() => ({ ...sse(piece), fault: "reset" as const }), { references })
    const answer = await gateway.post("/v1/responses", { model, input: "Hi", stream: true })
    const words = "The upstream closed the connection in the middle of its answer."
    const events = eventsOf(await answer.text())
    expect(events.slice(-2)).toEqual([
      {
        type: "error",
        code: "upstream_truncated",
        message: words,
        param: null,
        sequence_number: 5,
        error: { type: "api_error", code: "upstream_truncated", message: words, param: null }
      },
      {
        type: "response.failed",
        sequence_number: 6,
        response: response({
          status: "failed",
          completed_at: null,
          error: { code: "server_error", message: words },
          output: [],
          usage: null,
          store: false
        })
      }
    ])
    const again = await gateway.send(`/v1/responses/${id}`, { headers: { "x-gateway-api-key": gatewayKey } })
    expect(again.status).toBe(404)
  })

  it("responses: a dry run shows the chat's upstream request and keeps nothing (R115)", async () => {
    const gateway = gatewayWith(() => replying(said("Hello")), { references })
    const answer = await gateway.post(
      "/v1/responses",
      { model, input: "Hi", max_tool_calls: 1, text: { verbosity: "low" } },
      { "x-gateway-dry-run": "true" }
    )
    expect(await answer.json()).toMatchObject({
      object: "dry_run",
      body: { contents: [{ role: "user", parts: [{ text: "Hi" }] }] },
      ignored_params: ["max_tool_calls", "text.verbosity"]
    })
    expect(gateway.seen).toEqual([])
    const again = await gateway.send(`/v1/responses/${id}`, { headers: { "x-gateway-api-key": gatewayKey } })
    expect(again.status).toBe(404)
  })

  it("responses: with the store off are served, named and not kept (R701)", async () => {
    const gateway = gatewayWith(() => replying(said("Hello")), { references, settings: { responses: { keep: false } } })
    const answer = await gateway.post("/v1/responses", { model, input: "Hi", store: true })
    expect([answer.headers.get("x-gateway-ignored-params"), await answer.json()]).toEqual([
      "store",
      response({ store: false })
    ])
    const again = await gateway.send(`/v1/responses/${id}`, { headers: { "x-gateway-api-key": gatewayKey } })
    expect(again.status).toBe(404)
  })
})

describe("refusals of the Responses API", () => {
  const gone = "resp_00000000000000000000000000000000"
  it.each([
    [
      "an unknown previous response",
      { previous_response_id: gone },
      "previous_response_not_found",
      "previous_response_id"
    ],
    ["no id at all", { previous_response_id: "x" }, "previous_response_not_found", "previous_response_id"],
    ["the background", { background: true }, "unsupported_parameter", "background"],
    ["a conversation", { conversation: "c" }, "unsupported_parameter", "conversation"],
    [
      "an unknown reference",
      { input: [{ type: "item_reference", id: `msg_${number}0000` }] },
      "item_not_found",
      "input[0].id"
    ],
    ["a remote server of tools", { tools: [{ type: "mcp" }] }, "unsupported_tool", "tools[0].type"],
    ["a wrong type", { max_output_tokens: "x" }, "invalid_type", "max_output_tokens"],
    ["nothing", { input: [] }, "empty_array", "input"]
  ])("responses: %s is refused by name (R301)", async (_what, body, code, param) => {
    const gateway = gatewayWith(() => replying(said("Hello")))
    const answer = await gateway.post("/v1/responses", { model, input: "Hi", ...body })
    expect([answer.status, await answer.json()]).toMatchObject([400, { error: { code, param } }])
    expect(gateway.seen).toEqual([])
  })

  it("responses: a fault of the chat is named in the client's words (R612)", async () => {
    const gateway = gatewayWith(() => replying(said("Hello")))
    const answer = await gateway.post("/v1/responses", {
      model,
      input: [{ role: "user", content: [{ type: "input_image", image_url: "ftp://x/y.png" }] }]
    })
    expect([answer.status, (await answer.json()).error.param]).toEqual([400, "input[0].content[0].image_url"])
  })

  it("responses: a parameter without effect is refused where the request asks for that (R611)", async () => {
    const gateway = gatewayWith(() => replying(said("Hello")))
    const reject = { "x-gateway-unsupported-params": "reject" }
    const own = await gateway.post("/v1/responses", { model, input: "Hi", max_tool_calls: 1 }, reject)
    const ofChat = await gateway.post("/v1/responses", { model, input: "Hi", text: { verbosity: "low" } }, reject)
    expect([(await own.json()).error.param, (await ofChat.json()).error.param]).toEqual([
      "max_tool_calls",
      "text.verbosity"
    ])
  })

  it("responses: kept ones that are not there, never were or have another form are one answer (R112)", async () => {
    const gateway = gatewayWith(() => replying(said("Hello")))
    const unknown = error("There is no such response.", "response_not_found", "response_id", "not_found_error")
    const headers = { "x-gateway-api-key": gatewayKey }
    for (const [method, path] of [
      ["GET", gone],
      ["GET", "resp_x"],
      ["DELETE", gone],
      ["GET", `${gone}/input_items`],
      ["POST", `${gone}/cancel`]
    ] as const) {
      const answer = await gateway.send(`/v1/responses/${path}`, { method, headers })
      expect([answer.status, await answer.json()]).toEqual([404, unknown])
    }
  })

  it("responses: queries of kept ones are checked (R111)", async () => {
    const gateway = gatewayWith(() => replying(said("Hello")))
    const params = await Promise.all(
      [`?stream=true`, `/input_items?limit=0`, `/input_items?order=up`].map(async (query) => {
        const answer = await gateway.send(`/v1/responses/${gone}${query}`, {
          headers: { "x-gateway-api-key": gatewayKey }
        })
        return [answer.status, (await answer.json()).error.param]
      })
    )
    expect(params).toEqual([
      [400, "stream"],
      [400, "limit"],
      [400, "order"]
    ])
  })

  it("responses: compaction is refused, a WebSocket is answered 426 (R113 R223)", async () => {
    const gateway = gatewayWith(() => replying(said("Hello")))
    const compact = await gateway.post("/v1/responses/compact", {})
    expect([compact.status, (await compact.json()).error.code]).toEqual([400, "unsupported_operation"])
    const upgrade = await gateway.send("/v1/responses", { headers: { upgrade: "websocket" } })
    expect([upgrade.status, await upgrade.json()]).toEqual([
      426,
      error(
        "There are no WebSockets here; send the request by POST, and stream the answer as events.",
        "upgrade_required",
        null
      )
    ])
    const plain = await gateway.send("/v1/responses")
    expect([plain.status, plain.headers.get("allow")]).toEqual([405, "POST"])
  })
})

describe("accounts of responses", () => {
  it("responses: metrics and the list of requests know them, with the tokens of the chat (R103)", async () => {
    const gateway = accountedGateway(() => replying(said("Hello")))
    await gateway.post("/v1/responses", { model, input: "Hi" })
    const lines = await gateway.metrics()
    const tokens = lines.filter((line) => line.startsWith("gen_ai_client_token_usage_sum"))
    expect(
      tokens.map((line) => [
        /operation_name="([^"]*)"/.exec(line)?.[1],
        /token_type="([^"]*)"/.exec(line)?.[1],
        line.split(" ").at(-1)
      ])
    ).toEqual([
      ["responses", "input", "3"],
      ["responses", "output", "2"]
    ])
    expect(await gateway.admin("/admin/v1/requests")).toMatchObject({ data: [{ route: "/v1/responses", status: 200 }] })
    await gateway.dispose()
  })
})
