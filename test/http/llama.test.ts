// Tests chat with Llama and other publishers' models through the whole service: upstream calls, answers, errors.
// Must not reach the network: upstreams are scripted.
import { describe, expect, it } from "vitest"
import { googleAccount, vertexAccount } from "../support/account.ts"
import { gatewayOfFile, gatewaysOver, replying } from "../support/scripted.ts"

const path = "/v1/chat/completions"
const loose = { "x-gateway-strict-schema-compliance": "false" }
const url =
  "https://us-central1-aiplatform.googleapis.com/v1/projects/test-project/locations/us-central1/endpoints/openapi/chat/completions"
const llama = "meta/llama-4-maverick-17b-128e-instruct-maas"
const model = "@vertex-ai/meta.llama-4-maverick-17b-128e-instruct-maas"
const messages = [{ role: "user", content: "Hello" }]

const over = gatewayOfFile()
const withOptions = gatewaysOver()

const reply = {
  id: "up-1",
  object: "chat.completion",
  created: 5,
  model: llama,
  choices: [
    {
      index: 0,
      message: { role: "assistant", content: "Hi", reasoning: null },
      logprobs: null,
      finish_reason: "stop",
      stop_reason: 7
    }
  ],
  usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4, queue_time: 0.5 },
  service_tier: "on_demand"
}
const strict = {
  id: "up-1",
  object: "chat.completion",
  created: 5,
  model: llama,
  usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4, prompt_tokens_details: { cached_tokens: 0 } },
  choices: [
    { index: 0, finish_reason: "stop", logprobs: null, message: { role: "assistant", content: "Hi", refusal: null } }
  ]
}

describe("unary Llama chat", () => {
  it("Llama chat: the call and the answer are exact, strict and not (T2001, T2002, T2005)", async () => {
    const gateway = over(() => replying(reply))
    const rest = {
      temperature: 0.5,
      logit_bias: { "1": 2 },
      top_k: 5,
      guided_regex: "a",
      reasoning_effort: "low",
      labels: { a: "b" },
      thinking: { type: "enabled" }
    }
    const answer = await gateway.post(path, { model, messages, ...rest })
    expect([answer.status, await answer.json()]).toStrictEqual([200, strict])
    expect([answer.headers.get("x-gateway-ignored-params"), answer.headers.get("x-gateway-provider")]).toStrictEqual([
      "thinking,labels",
      "vertex-ai"
    ])
    const { labels, thinking, ...passed } = rest
    expect([labels, thinking, gateway.seen]).toStrictEqual([
      rest.labels,
      rest.thinking,
      [
        {
          method: "POST",
          url,
          headers: { "content-type": "application/json" },
          body: { model: llama, messages, ...passed }
        }
      ]
    ])
    expect(await (await gateway.post(path, { model, messages }, loose)).json()).toStrictEqual({
      ...strict,
      choices: [{ ...strict.choices[0], native_finish_reason: "stop", stop_reason: 7 }],
      usage: { ...reply.usage, prompt_tokens_details: { cached_tokens: 0 }, cost: 0.000002 },
      service_tier: "on_demand",
      provider: "vertex-ai"
    })
  })
  it.each([
    ["deepseek-ai/deepseek-v3.1-maas", "deepseek-ai/deepseek-v3.1-maas"],
    ["publishers/qwen/models/qwen3-235b-maas", "qwen/qwen3-235b-maas"],
    ["meta/llama-3.3-70b-instruct-maas", "meta/llama-3.3-70b-instruct-maas"]
  ])("Llama chat: the model %s is called as %s at the same address (T2001, T2102)", async (asked, sent) => {
    const gateway = over(() => replying(reply))
    expect((await gateway.post(path, { model: `@vertex-ai/${asked}`, messages })).status).toBe(200)
    expect(gateway.seen.map((call) => [call.url, call.body])).toStrictEqual([[url, { model: sent, messages }]])
  })
  it("Llama chat: long integers keep their digits in the call and the answer (L27)", async () => {
    const long = "12345678901234567890"
    const texts: Array<string> = []
    const gateway = over(({ body }) => {
      texts.push(String(body))
      return { status: 200, chunks: [`{"choices":[{"message":{"content":"a"},"token_id":${long}}]}`] }
    })
    const raw = JSON.rawJSON(long)
    const answer = await gateway.post(path, { model, messages, seed: raw, own: [raw] }, loose)
    expect(texts).toStrictEqual([
      `{"model":"${llama}","messages":[{"role":"user","content":"Hello"}],"seed":${long},"own":[${long}]}`
    ])
    expect(/"token_id":(\d+)/.exec(await answer.text())?.[1]).toBe(long)
  })
  it("Llama chat: a dry run shows the call and makes none", async () => {
    const gateway = over(() => replying(reply))
    const answer = await gateway.post(path, { model, messages, stream: true }, { "x-gateway-dry-run": "true" })
    expect([await answer.json(), gateway.seen]).toStrictEqual([
      {
        object: "dry_run",
        provider: "vertex-ai",
        target_index: 0,
        method: "POST",
        url,
        headers: { "content-type": "application/json", authorization: "Bearer <redacted>" },
        body: { model: llama, messages, stream: true, stream_options: { include_usage: true } },
        ignored_params: [],
        adjusted_params: []
      },
      []
    ])
  })
  it.each([
    ["a MaaS model", model, llama],
    ["a self-deployed endpoint", "@vertex-ai/endpoints.1234567890", "1234567890"]
  ])(
    "Llama chat: efforts above high are sent as high to %s, and the answer names the adjustment (M-201, M-230)",
    async (_name, asked, sent) => {
      const gateway = over(() => replying(reply))
      const named = async (reasoning_effort: string, headers: Record<string, string> = {}) => {
        const answer = await gateway.post(path, { model: asked, reasoning_effort, messages }, headers)
        const portkey = answer.headers.get("x-portkey-adjusted-params")
        return [answer.status, gateway.seen.at(-1)?.body, answer.headers.get("x-gateway-adjusted-params"), portkey]
      }
      const body = (reasoning_effort: string) => ({ model: sent, reasoning_effort, messages })
      expect(await named("xhigh")).toEqual([200, body("high"), "reasoning_effort=xhigh>high", null])
      expect(await named("max", { "x-portkey-trace-id": "t" })).toEqual([
        200,
        body("high"),
        "reasoning_effort=max>high",
        "reasoning_effort=max>high"
      ])
      for (const effort of ["none", "minimal", "low", "medium", "high", "odd"])
        expect(await named(effort)).toEqual([200, body(effort), null, null])
    }
  )
  it("Llama chat: a dry run and a stream's headers name the adjusted parameters (M-230, M-905)", async () => {
    const gateway = over(() => ({
      status: 200,
      chunks: [
        `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: "Hi" }, finish_reason: "stop" }] })}\n\ndata: [DONE]\n\n`
      ]
    }))
    const asked = { model, messages, reasoning_effort: "max", labels: {} }
    const dry = await gateway.post(path, asked, { "x-gateway-dry-run": "true" })
    expect(await dry.json()).toEqual({
      object: "dry_run",
      provider: "vertex-ai",
      target_index: 0,
      method: "POST",
      url,
      headers: { "content-type": "application/json", authorization: "Bearer <redacted>" },
      body: { model: llama, messages, reasoning_effort: "high" },
      ignored_params: ["labels"],
      adjusted_params: ["reasoning_effort=max>high"]
    })
    const stream = await gateway.post(path, { ...asked, stream: true })
    expect([stream.status, stream.headers.get("x-gateway-adjusted-params")]).toEqual([200, "reasoning_effort=max>high"])
  })
  it("Llama chat: an adjustment is refused where the request asks for refusal (B114, M-230)", async () => {
    const gateway = over(() => replying(reply))
    const answer = await gateway.post(
      path,
      { model, messages, reasoning_effort: "xhigh" },
      { "x-gateway-unsupported-params": "reject" }
    )
    expect([answer.status, await answer.json(), gateway.seen]).toStrictEqual([
      400,
      {
        error: {
          message:
            '"reasoning_effort" is one of none, minimal, low, medium, high at this model, and the request asked for refusal of other values.',
          type: "invalid_request_error",
          param: "reasoning_effort",
          code: "unsupported_parameter"
        }
      },
      []
    ])
  })
  it("Llama chat: a parameter of the gateway's own is refused where the request asks for refusal", async () => {
    const gateway = over(() => replying(reply))
    const answer = await gateway.post(
      path,
      { model, messages, labels: {} },
      { "x-gateway-unsupported-params": "reject" }
    )
    expect([answer.status, (await answer.json()).error.param, gateway.seen]).toStrictEqual([400, "labels", []])
  })
})

const frames = (...events: ReadonlyArray<unknown>): string =>
  events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("")
const chunk = (delta: object, finish_reason: string | null = null, rest: object = {}) => ({
  id: "up-1",
  object: "chat.completion.chunk",
  created: 5,
  model: llama,
  choices: [{ index: 0, finish_reason, delta }],
  ...rest
})
const upstream = frames(
  chunk({ role: "assistant", content: "" }, null, { x_groq: { id: "r" } }),
  chunk({ role: "assistant", content: "Hé" }),
  chunk({ content: "!" }, "eos_token"),
  {
    ...chunk({}),
    choices: [],
    usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5, prompt_tokens_details: { cached_tokens: 0 } }
  }
)
const shown = (usage: object = {}) =>
  frames(
    chunk({ role: "assistant", content: "" }, null, usage),
    chunk({ content: "Hé" }, null, usage),
    chunk({ content: "!" }, null, usage),
    chunk({}, "stop", usage)
  )
const inOrder = (text: string): ReadonlyArray<unknown> =>
  text.split("\n\n").map((frame) => (frame.startsWith("data: {") ? JSON.parse(frame.slice(6)) : frame))

describe("streamed Llama chat", () => {
  const streamed = { model, messages, stream: true }
  it("Llama chat: a stream requests usage, shows it only where asked, and ends once (T2003, T2006, T1105)", async () => {
    const gateway = over(() => ({
      status: 200,
      headers: { "content-type": "text/event-stream" },
      chunks: [`: PROCESSING\n\n${upstream}`]
    }))
    const answer = await gateway.post(path, streamed)
    expect(answer.headers.get("content-type")).toBe("text/event-stream; charset=utf-8")
    expect(inOrder(await answer.text())).toStrictEqual(inOrder(`${shown()}data: [DONE]\n\n`))
    const counted = await gateway.post(path, { ...streamed, stream_options: { include_usage: true } })
    expect(inOrder(await counted.text())).toStrictEqual(
      inOrder(
        `${shown({ usage: null })}${frames({ ...chunk({}), choices: [], usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5, prompt_tokens_details: { cached_tokens: 0 } } })}data: [DONE]\n\n`
      )
    )
    const body = { model: llama, messages, stream: true, stream_options: { include_usage: true } }
    expect(gateway.seen.map((call) => [call.url, call.body])).toStrictEqual([
      [url, body],
      [url, body]
    ])
  })
  it("Llama chat: an error in the first event is an ordinary answer with its own status (T1317)", async () => {
    const error = {
      error: {
        message: "tool call validation failed",
        type: "invalid_request_error",
        code: "tool_use_failed",
        status_code: 400
      }
    }
    const answer = await over(() => ({ status: 200, chunks: [`event: error\n${frames(error)}`] })).post(path, streamed)
    expect([answer.status, await answer.json()]).toStrictEqual([
      400,
      {
        error: {
          message: "tool call validation failed",
          type: "invalid_request_error",
          param: null,
          code: "tool_use_failed"
        }
      }
    ])
  })
  it("Llama chat: an error, or an end, after the first chunk is one frame and no mark (T1318, T1321)", async () => {
    const begun = frames(chunk({ role: "assistant", content: "Hé" }))
    const after = async (tail: string) =>
      inOrder(await (await over(() => ({ status: 200, chunks: [begun, tail] })).post(path, streamed)).text()).slice(1)
    const framed = (message: string, code: string) => [{ error: { message, type: "api_error", param: null, code } }, ""]
    expect(await after(frames({ error: { message: "busy", code: 503 } }))).toStrictEqual(
      framed("busy", "upstream_unavailable")
    )
    expect(await after("")).toStrictEqual(
      framed("The upstream ended its answer without a finish reason; it is not complete.", "upstream_truncated")
    )
  })
})

describe("upstream errors of Llama chat", () => {
  const openAi = (message: string, rest: object = {}) => ({
    error: { message, type: "invalid_request_error", param: null, code: null, ...rest }
  })
  const google = (code: number, status: string, message: string) => ({ error: { code, status, message } })
  it.each<readonly [string, number, unknown, number, object]>([
    [
      "a code in words is kept (T2008)",
      400,
      openAi("m", { code: "tool_use_failed", param: "tools" }),
      400,
      { message: "m", type: "invalid_request_error", param: "tools", code: "tool_use_failed" }
    ],
    [
      "the prompt is too long (T2306)",
      400,
      openAi("This model's maximum context length is 8192 tokens."),
      400,
      {
        message: "This model's maximum context length is 8192 tokens.",
        type: "invalid_request_error",
        param: "messages",
        code: "context_length_exceeded"
      }
    ],
    [
      "a stored credential is refused (B105)",
      401,
      google(401, "UNAUTHENTICATED", "m"),
      502,
      {
        message: 'The gateway\'s credential for "vertex-ai" was refused by Google; ask its operator: m',
        type: "api_error",
        param: null,
        code: "upstream_credentials_rejected"
      }
    ],
    [
      "the permission is missing (T2014)",
      403,
      google(403, "PERMISSION_DENIED", "aiplatform.endpoints.predict denied"),
      403,
      {
        message:
          'The gateway\'s credential for "vertex-ai" may not do this at Google; ask its operator: aiplatform.endpoints.predict denied Grant it to the service account, for example by the role Vertex AI User; a credential of project id and region alone may lack it.',
        type: "permission_error",
        param: null,
        code: "missing_permission_endpoints_predict"
      }
    ],
    [
      "an unknown model",
      404,
      [google(404, "NOT_FOUND", "m")],
      404,
      { message: "m", type: "not_found_error", param: "model", code: "model_not_found" }
    ],
    [
      "FastAPI's own form",
      422,
      { detail: [{ msg: "m" }] },
      400,
      { message: "m", type: "invalid_request_error", param: null, code: "upstream_invalid_argument" }
    ],
    [
      "a rate limit",
      429,
      google(429, "RESOURCE_EXHAUSTED", "m"),
      429,
      { message: "m", type: "rate_limit_error", param: null, code: "rate_limit_exceeded" }
    ],
    [
      "an internal failure",
      500,
      openAi("m", { code: "boom" }),
      502,
      { message: "m", type: "api_error", param: null, code: "upstream_error" }
    ],
    [
      "no capacity",
      503,
      "no",
      503,
      { message: "upstream returned 503", type: "api_error", param: null, code: "upstream_unavailable" }
    ],
    [
      "an error as a 200 (T1209)",
      200,
      openAi("m", { type: "rate_limit_error" }),
      429,
      { message: "m", type: "rate_limit_error", param: null, code: "rate_limit_exceeded" }
    ]
  ])("Llama chat: the upstream failure becomes its exact error: %s", async (_name, status, body, answered, error) => {
    const gateway = over(() => ({ status, chunks: [typeof body === "string" ? body : JSON.stringify(body)] }))
    for (const stream of [false, true]) {
      const answer = await gateway.post(path, { model, messages, stream })
      expect([answer.status, await answer.json()]).toStrictEqual([answered, { error }])
    }
  })
})

describe("invalid answers of Llama chat", () => {
  it.each<readonly [unknown, boolean, string]>([
    [{ choices: [] }, false, "The upstream answered without any choice. Try again."],
    [{ choices: [] }, true, "The upstream ended its answer without any choice. Try again."],
    [{ choices: "x" }, false, "The upstream answered with JSON of a shape that cannot be read."],
    [{ choices: "x" }, true, "The upstream sent an event that does not have the shape of an answer."]
  ])("Llama chat: %j, streamed: %s, is an upstream error (T1208, T2312)", async (body, stream, message) => {
    const answer = await over(() => replying(body)).post(path, { model, messages, stream })
    expect([answer.status, await answer.json()]).toStrictEqual([
      502,
      { error: { message, type: "api_error", param: null, code: "upstream_bad_response" } }
    ])
  })
})

describe("refusals of Llama chat before the call", () => {
  const refused = async (body: object) => {
    const gateway = over(() => replying(reply))
    const answer = await gateway.post(path, { messages, ...body })
    const { error } = await answer.json()
    return [answer.status, error.code, error.param, gateway.seen.length]
  }
  it.each(["meta.llama-4", "deepseek-ai/deepseek-r1", "endpoints.my-llm", "anthropic.claude-sonnet-4-5"])(
    "Llama chat: %s does not exist on google (T2016, B43)",
    async (id) => {
      expect(await refused({ model: `@google/${id}` })).toStrictEqual([400, "unsupported_operation", "model", 0])
    }
  )
  it.each(["mistralai.mistral-medium-3", "ai21.jamba-1.5-mini"])(
    "Llama chat: refuses the unsupported publisher of %s (T2017)",
    async (id) => {
      expect(await refused({ model: `@vertex-ai/${id}` })).toStrictEqual([400, "unsupported_operation", "model", 0])
    }
  )
  it.each(["meta.", "meta/"])("Llama chat: refuses an empty name after %s (T2016)", async (id) => {
    expect(await refused({ model: `@vertex-ai/${id}` })).toStrictEqual([400, "invalid_model", "model", 0])
  })
  it("Llama chat: refuses media that only Gemini can fetch (T2004)", async () => {
    const content = [{ type: "image_url", image_url: { url: "gs://bucket/a.png" } }]
    expect(await refused({ model, messages: [{ role: "user", content }] })).toStrictEqual([
      400,
      "invalid_media_url",
      "messages[0].content[0].image_url.url",
      0
    ])
  })
  it("Llama chat: refuses an API key, which reaches Gemini only (T2108)", async () => {
    const account = { ...vertexAccount, credentials: googleAccount.credentials }
    const gateway = withOptions(() => replying(reply), { accounts: [account] })
    const answer = await gateway.post(path, { model, messages })
    expect([answer.status, (await answer.json()).error.code, gateway.seen]).toStrictEqual([
      400,
      "unsupported_operation",
      []
    ])
  })
})
