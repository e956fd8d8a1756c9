// Tests POST /v1/chat/completions with Claude through the whole service: upstream calls, answers and signatures.
// Must not reach the network: upstreams are scripted or simulated.
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import type { TransportScript } from "../../src/upstream/Transport.ts"
import { functionTool, grow, message, sent, start, stop, stream, text, user } from "../support/claude.ts"
import { gatewayOfFile, gatewaysOver, replying, type ScriptedGateway } from "../support/scripted.ts"
import { sse } from "../support/streams.ts"
import { gatewayKey, startTestGateway, type TestGateway } from "../support/TestGateway.ts"

const path = "/v1/chat/completions"
const place =
  "https://us-central1-aiplatform.googleapis.com/v1/projects/test-project/locations/us-central1/publishers/anthropic/models"
const model = "@vertex-ai/anthropic.claude-sonnet-4-5@20250929"
const hello = { model, messages: [user("hi")] }
const loose = { "x-gateway-strict-schema-compliance": "false" }

const over = gatewayOfFile()
/** One that knows no signature of another. */
const fresh = gatewaysOver()
const events = (inner: Parameters<typeof stream>[0], end?: Parameters<typeof stream>[1]) => ({
  status: 200,
  headers: { "content-type": "text/event-stream; charset=utf-8" },
  chunks: [sse(stream(inner, end), "\n")]
})
/** Frames of an answer, without what differs from run to run. */
const frames = (text: string): ReadonlyArray<unknown> =>
  text
    .split("\n\n")
    .filter((frame) => frame !== "")
    .map((frame) => {
      const data = frame.replace(/^data: /, "")
      if (data === "[DONE]") return data
      const { id: _id, created: _created, object: _object, model: _model, ...rest } = JSON.parse(data)
      return rest
    })

describe("chat with Claude", () => {
  it("Claude chat: the upstream call and the answer are exact (T1801, T1802, T1842)", async () => {
    const gateway = over(() => replying(message([text("Hello")])))
    const answer = await gateway.post(
      path,
      { ...hello, max_tokens: 5, seed: 7 },
      { "anthropic-beta": "a-1", "x-gateway-anthropic-beta": "b-2" }
    )
    expect(gateway.seen).toEqual([
      {
        method: "POST",
        url: `${place}/claude-sonnet-4-5@20250929:rawPredict`,
        headers: { "content-type": "application/json", "anthropic-beta": "a-1,b-2" },
        body: {
          anthropic_version: "vertex-2023-10-16",
          max_tokens: 5,
          messages: [{ role: "user", content: [text("hi")] }]
        }
      }
    ])
    expect([
      answer.status,
      answer.headers.get("x-gateway-provider"),
      answer.headers.get("x-gateway-ignored-params")
    ]).toEqual([200, "vertex-ai", "seed"])
    expect(await answer.json()).toEqual({
      id: expect.stringMatching(/^chatcmpl-[0-9a-f-]{36}$/),
      object: "chat.completion",
      created: expect.any(Number),
      model: "claude-sonnet-4-5-20250929",
      usage: { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8, prompt_tokens_details: { cached_tokens: 0 } },
      choices: [
        {
          index: 0,
          finish_reason: "stop",
          logprobs: null,
          message: { role: "assistant", content: "Hello", refusal: null }
        }
      ]
    })
  })
  it.each([
    ["@vertex-ai/claude-sonnet-4-5-20250929", "claude-sonnet-4-5@20250929"],
    ["@vertex-ai/anthropic/claude-opus-4-8", "claude-opus-4-8"],
    ["@vertex-ai/anthropic.claude-haiku-4-5@default", "claude-haiku-4-5@default"]
  ])("Claude chat: the model %s is called as %s (T1802)", async (asked, id) => {
    const gateway = over(() => replying(message([])))
    await gateway.post(path, { ...hello, model: asked })
    expect(gateway.seen.map(({ url }) => url)).toEqual([`${place}/${id}:rawPredict`])
  })
  it("Claude chat: a strict stream is exact (T1837, T1314)", async () => {
    const thinking = [start(0, { type: "thinking", thinking: "hm", signature: "c2ln" }), stop(0)]
    const words = [
      start(1, { type: "text", text: "" }),
      grow(1, { type: "text_delta", text: "Hel" }),
      grow(1, { type: "text_delta", text: "lo" }),
      stop(1)
    ]
    const gateway = over(() => events([...thinking, ...words]))
    const answer = await gateway.post(path, { ...hello, stream: true, stream_options: { include_usage: true } })
    expect([gateway.seen[0]?.url, gateway.seen[0]?.body]).toEqual([
      `${place}/claude-sonnet-4-5@20250929:streamRawPredict`,
      {
        anthropic_version: "vertex-2023-10-16",
        max_tokens: 32_000,
        messages: [{ role: "user", content: [text("hi")] }],
        stream: true
      }
    ])
    const one = (delta: object, finish_reason: string | null = null) => ({
      usage: null,
      choices: [{ index: 0, finish_reason, delta }]
    })
    expect(frames(await answer.text())).toEqual([
      one({ role: "assistant", content: "" }),
      one({ content: "Hel" }),
      one({ content: "lo" }),
      one({}, "stop"),
      {
        usage: { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8, prompt_tokens_details: { cached_tokens: 0 } },
        choices: []
      },
      "[DONE]"
    ])
  })
  it("Claude chat: a dry run shows the call", async () => {
    const gateway = over(() => replying({}))
    const answer = await gateway.post(path, { ...hello, stream: true }, { "x-gateway-dry-run": "true" })
    expect([gateway.seen, await answer.json()]).toEqual([
      [],
      {
        object: "dry_run",
        provider: "vertex-ai",
        target_index: 0,
        method: "POST",
        url: `${place}/claude-sonnet-4-5@20250929:streamRawPredict`,
        headers: { "content-type": "application/json", authorization: "Bearer <redacted>" },
        body: sent([user("hi")], { stream: true }),
        ignored_params: [],
        adjusted_params: []
      }
    ])
  })
  it("Claude chat: its tokens are counted at the address of table 13 (T1701)", async () => {
    const gateway = over(() => replying({ input_tokens: 9 }))
    const answer = await gateway.post(`${path}/count_tokens`, { ...hello, max_tokens: 5, stream: true })
    expect([answer.status, await answer.json()]).toEqual([
      200,
      { object: "token_count", model: "claude-sonnet-4-5@20250929", input_tokens: 9 }
    ])
    expect(gateway.seen).toEqual([
      {
        method: "POST",
        url: `${place}/count-tokens:rawPredict`,
        headers: { "content-type": "application/json" },
        body: {
          anthropic_version: "vertex-2023-10-16",
          model: "claude-sonnet-4-5@20250929",
          messages: [{ role: "user", content: [text("hi")] }]
        }
      }
    ])
  })
})

describe("refusals of Claude chat", () => {
  const refusal = async (script: TransportScript, body: object, headers: Record<string, string> = {}) => {
    const gateway = over(script)
    const answer = await gateway.post(path, { ...hello, ...body }, headers)
    const {
      error
    }: { readonly error: { readonly type: string; readonly code: string; readonly param: string | null } } =
      await answer.json()
    return [answer.status, error.type, error.code, error.param, gateway.seen.length]
  }
  const none: TransportScript = () => replying({})
  const told =
    (status: number, type: string, words = "m"): TransportScript =>
    () => ({ status, chunks: [JSON.stringify({ type: "error", error: { type, message: words } })] })
  it("Claude chat: Claude does not live on google (T1844)", async () => {
    for (const one of ["@google/anthropic.claude-sonnet-4-5", "@google/claude-opus-4-8"]) {
      expect(await refusal(none, { model: one })).toEqual([
        400,
        "invalid_request_error",
        "unsupported_operation",
        "model",
        0
      ])
    }
  })
  it("Claude chat: faults are found before any call (T1828, T1813, T1832)", async () => {
    expect(await refusal(none, { n: 2 }, { "x-gateway-unsupported-params": "reject" })).toEqual([
      400,
      "invalid_request_error",
      "unsupported_parameter",
      "n",
      0
    ])
    expect(await refusal(none, { seed: 1 }, { "x-gateway-unsupported-params": "reject" })).toEqual([
      400,
      "invalid_request_error",
      "unsupported_parameter",
      "seed",
      0
    ])
    const image = { type: "image_url", image_url: { url: "https://example.com/a.png" } }
    expect(await refusal(none, { messages: [user([image])] })).toEqual([
      400,
      "invalid_request_error",
      "invalid_media_url",
      "messages[0].content[0].image_url.url",
      0
    ])
    expect(await refusal(none, { anthropic_beta: "a b" })).toEqual([
      400,
      "invalid_request_error",
      "invalid_header",
      "anthropic-beta",
      0
    ])
  })
  it.each<readonly [string, object, string, string]>([
    ["an effort that the model lacks", { reasoning_effort: "minimal" }, "unsupported_parameter", "reasoning_effort"],
    ["a budget", { thinking: { type: "enabled", budget_tokens: 9_000 } }, "unsupported_parameter", "thinking"],
    [
      "a prefill",
      { messages: [user("q"), { role: "assistant", content: "The answer is" }] },
      "unsupported_value",
      "messages[1]"
    ],
    [
      "a demanded call",
      { tools: [{ type: "function", function: { name: "f" } }], tool_choice: "required" },
      "unsupported_value",
      "tool_choice"
    ],
    [
      "a recursive schema",
      {
        response_format: {
          type: "json_schema",
          json_schema: { schema: { type: "object", properties: { a: { $ref: "#" } } } }
        }
      },
      "unsupported_parameter",
      "response_format"
    ]
  ])("a request that forbids adjustments is refused for %s (M-230)", async (_name, body, code, param) => {
    const asked = { ...body, model: "@vertex-ai/anthropic.claude-opus-5-5" }
    expect(await refusal(none, asked, { "x-gateway-unsupported-params": "reject" })).toEqual([
      400,
      "invalid_request_error",
      code,
      param,
      0
    ])
    const gateway = over(() => ({ status: 500 }))
    const answer = await gateway.post(path, { ...hello, ...asked }, { "x-gateway-dry-run": "true" })
    expect(answer.status).toBe(200)
  })
  it.each<readonly [string, TransportScript, ReadonlyArray<unknown>]>([
    [
      "429 of Google's",
      () => ({
        status: 429,
        chunks: [JSON.stringify({ error: { code: 429, message: "Quota", status: "RESOURCE_EXHAUSTED" } })]
      }),
      [429, "rate_limit_error", "rate_limit_exceeded"]
    ],
    ["400", told(400, "invalid_request_error"), [400, "invalid_request_error", "upstream_invalid_argument"]],
    [
      "a broken signature",
      told(400, "invalid_request_error", "Invalid `signature` in `thinking` block"),
      [400, "invalid_request_error", "thought_signature_invalid"]
    ],
    [
      "a long prompt",
      told(400, "invalid_request_error", "prompt is too long: 2 tokens > 1 maximum"),
      [400, "invalid_request_error", "context_length_exceeded"]
    ],
    ["404", told(404, "not_found_error"), [404, "not_found_error", "model_not_found"]],
    ["529", told(529, "overloaded_error"), [503, "api_error", "upstream_overloaded"]],
    ["an error in a 200", told(200, "overloaded_error"), [503, "api_error", "upstream_overloaded"]],
    ["no message in a 200", () => replying({}), [502, "api_error", "upstream_bad_response"]]
  ])("Claude chat: the upstream failure has its row of table 14: %s", async (_name, script, expected) => {
    expect((await refusal(script, {})).slice(0, 3)).toEqual(expected)
  })
  it("Claude chat: an error before the first content of a stream is an ordinary one (T1317, T1840)", async () => {
    const [head] = stream([])
    const script: TransportScript = () => ({
      status: 200,
      chunks: [
        sse(
          [head, { type: "ping" }, { type: "error", error: { type: "overloaded_error", message: "Overloaded" } }],
          "\n"
        )
      ]
    })
    expect(await refusal(script, { stream: true })).toEqual([503, "api_error", "upstream_overloaded", null, 1])
  })
  it("Claude chat: an error after the first content is a frame without [DONE] (T1318, T1840)", async () => {
    const gateway = over(() => ({
      status: 200,
      chunks: [
        sse(
          [
            ...stream([start(0, text("a"))]).slice(0, 2),
            { type: "error", error: { type: "api_error", message: "Broken" } }
          ],
          "\n"
        )
      ]
    }))
    const answer = await gateway.post(path, { ...hello, stream: true })
    expect([answer.status, frames(await answer.text())]).toEqual([
      200,
      [
        { choices: [{ index: 0, finish_reason: null, delta: { role: "assistant", content: "" } }] },
        { choices: [{ index: 0, finish_reason: null, delta: { content: "a" } }] },
        { error: { message: "Broken", type: "api_error", param: null, code: "upstream_error" } }
      ]
    ])
  })
})

describe("thinking between calls", () => {
  const thought = { type: "thinking", thinking: "hm", signature: "c2ln" }
  const use = { type: "tool_use", id: "toolu_1", name: "f", input: { a: 1 } }
  const asking = { ...hello, tools: [functionTool("f")], thinking: { type: "enabled", budget_tokens: 2_000 } }
  const script: TransportScript = ({ url }) =>
    url.endsWith("streamRawPredict")
      ? events([start(0, thought), stop(0), start(1, use), stop(1)], { stop_reason: "tool_use" })
      : replying(message([thought, use], { stop_reason: "tool_use" }))
  const second = async (gateway: ScriptedGateway, call: object, headers: Record<string, string> = {}) => {
    const result = { role: "tool", tool_call_id: "id" in call ? call.id : "", content: "r" }
    await gateway.post(
      path,
      { ...asking, messages: [user("hi"), { role: "assistant", content: null, tool_calls: [call] }, result] },
      headers
    )
    const body: unknown = gateway.seen.at(-1)?.body
    return body
  }
  const assistantOf = (body: unknown) =>
    typeof body === "object" && body !== null && "messages" in body && Array.isArray(body.messages)
      ? body.messages[1]?.content
      : undefined

  it("Claude chat: thinking returns to strict clients from memory, streamed or not (T605, T606, T1824)", async () => {
    const gateway = fresh(script)
    const unary = await (await gateway.post(path, asking)).json()
    const [call] = unary.choices[0].message.tool_calls
    expect(call).toEqual({
      id: expect.stringMatching(/^call-/),
      type: "function",
      function: { name: "f", arguments: '{"a":1}' }
    })
    expect(assistantOf(await second(gateway, call))).toEqual([thought, { ...use, id: call.id }])
    const streamed = frames(await (await gateway.post(path, { ...asking, stream: true })).text())
    const deltas = streamed
      .flatMap((frame) =>
        typeof frame === "object" && frame !== null && "choices" in frame && Array.isArray(frame.choices)
          ? frame.choices
          : []
      )
      .flatMap(({ delta }) => delta.tool_calls ?? [])
    expect(deltas.map((delta) => delta.function)).toEqual([{ name: "f", arguments: "" }, { arguments: '{"a":1}' }])
    const again = { id: deltas[0].id, type: "function", function: { name: "f", arguments: '{"a":1}' } }
    expect(assistantOf(await second(gateway, again))).toEqual([thought, { ...use, id: again.id }])
  })
  it("Claude chat: non-strict clients get thinking inside the call, for any gateway (T605, T606, T1824)", async () => {
    const full = await (await fresh(script).post(path, asking, loose)).json()
    const [call] = full.choices[0].message.tool_calls
    expect(full.choices[0].message.content_blocks).toEqual([thought])
    const other = fresh(script)
    expect(assistantOf(await second(other, call, loose))).toEqual([thought, { ...use, id: call.id }])
  })
  it("Claude chat: thinking never goes to another publisher's model (T605, T606, T1824)", async () => {
    const gateway = fresh((request) =>
      request.url.includes("anthropic")
        ? script(request)
        : replying({ candidates: [{ content: { parts: [{ text: "a" }] }, finishReason: "STOP" }] })
    )
    const full = await (await gateway.post(path, asking, loose)).json()
    const history = [
      user("hi"),
      full.choices[0].message,
      { role: "tool", tool_call_id: full.choices[0].message.tool_calls[0].id, content: "r" }
    ]
    await gateway.post(path, { model: "@vertex-ai/gemini-3-pro-preview", messages: history })
    expect(JSON.stringify(gateway.seen.at(-1)?.body).includes("c2ln")).toBe(false)
    const unknowing = fresh(script)
    await unknowing.post(path, { model: "@vertex-ai/gemini-3-pro-preview", messages: history })
    expect(
      JSON.stringify(unknowing.seen.at(-1)?.body).includes(
        full.choices[0].message.tool_calls[0].function.thought_signature
      )
    ).toBe(false)
  })
  it("Claude chat: a turn without its thinking has no budget, and reports that (T605, T606, T1824)", async () => {
    const gateway = fresh(script)
    const lost = { id: "call-1", type: "function", function: { name: "f", arguments: "{}" } }
    const answer = await gateway.post(path, {
      ...asking,
      messages: [
        user("hi"),
        { role: "assistant", content: null, tool_calls: [lost] },
        { role: "tool", tool_call_id: "call-1", content: "r" }
      ]
    })
    expect([answer.status, answer.headers.get("x-gateway-ignored-params")]).toEqual([200, "thinking"])
    expect(gateway.seen[0]?.body).not.toHaveProperty("thinking")
  })
})

describe("chat with the simulated Vertex AI", () => {
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startTestGateway({ simulator: { day: "2025-12-01" } })
  })
  afterAll(() => gateway.close())

  interface Answered {
    readonly choices: ReadonlyArray<{
      readonly finish_reason: string
      readonly message: {
        readonly content: string | null
        readonly tool_calls?: ReadonlyArray<{
          readonly id: string
          readonly function: { readonly name: string; readonly arguments: string }
        }>
      }
    }>
    readonly usage: { readonly prompt_tokens: number }
  }
  const post = async (body: object, headers: Record<string, string> = {}, to = path, ignored: string | null = null) => {
    const answer = await fetch(`${gateway.url}${to}`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-gateway-api-key": gatewayKey, ...headers },
      body: JSON.stringify(body)
    })
    const value: Answered & { readonly input_tokens: number } = await answer.json()
    expect([answer.status, answer.headers.get("x-gateway-ignored-params"), value]).toMatchObject([200, ignored, {}])
    return value
  }
  const weather = {
    type: "function",
    function: {
      name: "get_weather",
      parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] }
    }
  }

  it.each([
    ["claude-sonnet-4-5@20250929", "true"],
    ["claude-sonnet-4-5@20250929", "false"],
    ["claude-opus-4-6", "true"],
    ["claude-opus-4-8", "true"],
    ["claude-opus-4-8", "false"]
  ])("Claude chat: three turns of calls with %s that thinks, strict %s (T1824)", async (id, strict) => {
    const messages: Array<object> = []
    const words: Array<string | null> = []
    const calls: Array<string> = []
    for (const city of ["Paris", "Rome", "Oslo"]) {
      messages.push(user(`What is the weather in ${city}?`))
      for (let turns = 1; ; turns++) {
        if (turns > 10) throw new Error("the model still calls tools after 10 turns")
        const { choices } = await post(
          { model: `@vertex-ai/anthropic.${id}`, messages, tools: [weather], reasoning_effort: "low" },
          { "x-gateway-strict-schema-compliance": strict }
        )
        const said = choices[0]?.message
        if (said === undefined) throw new Error("no choice")
        messages.push(said)
        if (said.tool_calls === undefined) {
          words.push(said.content)
          break
        }
        for (const call of said.tool_calls) {
          calls.push(call.function.arguments)
          messages.push({ role: "tool", tool_call_id: call.id, content: "21 degrees" })
        }
      }
    }
    expect(calls).toEqual(["Paris", "Rome", "Oslo"].map((city) => JSON.stringify({ city })))
    expect(words.length).toBe(3)
  })
  it("Claude chat: counts what chat then uses (T1701)", async () => {
    const body = {
      model: "@vertex-ai/anthropic.claude-haiku-4-5",
      messages: [{ role: "system", content: "Be terse." }, user("Hello")],
      tools: [weather]
    }
    const { input_tokens } = await post(body, {}, `${path}/count_tokens`)
    const { usage } = await post(body)
    expect(input_tokens).toBe(usage.prompt_tokens)
    expect(input_tokens).toBeGreaterThan(0)
  })
  it.each([
    ["claude-3-5-haiku@20241022", "reasoning_effort"],
    ["claude-3-7-sonnet@20250219", "reasoning_effort"],
    ["claude-opus-4-1@20250805", "top_p,reasoning_effort"],
    ["claude-haiku-4-5@20251001", "top_p,reasoning_effort"],
    ["claude-opus-4-6", "temperature,top_p,top_k"],
    ["claude-opus-4-8", "temperature,top_p,top_k"]
  ])(
    "Claude chat: what the translator builds for %s the service takes; left out is %s (T1826, T1829)",
    async (id, ignored) => {
      const body = {
        model: `@vertex-ai/anthropic.${id}`,
        temperature: 1.5,
        top_p: 0.9,
        top_k: 5,
        stop: ["\n\n\n", "ENDE"],
        reasoning_effort: "high",
        user: "u",
        response_format: {
          type: "json_schema",
          json_schema: { name: "n", schema: { type: "array", items: { type: "string" } } }
        },
        messages: [
          user([
            { type: "text", text: "Some cities" },
            { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } }
          ])
        ]
      }
      const { choices } = await post(body, {}, path, ignored)
      expect([choices[0]?.finish_reason, Array.isArray(JSON.parse(choices[0]?.message.content ?? ""))]).toEqual([
        "stop",
        true
      ])
    }
  )
})
