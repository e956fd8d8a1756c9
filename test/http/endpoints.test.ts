// Tests chat with self-deployed endpoints through the whole service: addresses, served names, dialects and failures.
// Must not reach the network: upstreams are scripted.
import { afterEach, describe, expect, it } from "vitest"
import type { EndpointFacts, ProviderAccount } from "../../src/domain/ProviderAccount.ts"
import { vertexAccount } from "../support/account.ts"
import { gatewayOver, replying, type ScriptedGateway } from "../support/scripted.ts"

const path = "/v1/chat/completions"
const place = "/v1/projects/test-project/locations/us-central1/endpoints"
const shared = "https://us-central1-aiplatform.googleapis.com"
const messages = [{ role: "user", content: "Hello" }]

const facts = (dialect: EndpointFacts["dialect"], more: Partial<EndpointFacts> = {}): EndpointFacts => ({
  dialect,
  host: undefined,
  model: undefined,
  ...more
})
const withEndpoints = (endpoints: ProviderAccount["endpoints"]): ProviderAccount => ({ ...vertexAccount, endpoints })

const opened: Array<ScriptedGateway> = []
const over = (...args: Parameters<typeof gatewayOver>): ScriptedGateway => {
  const gateway = gatewayOver(...args)
  opened.push(gateway)
  return gateway
}
afterEach(async () => {
  for (const gateway of opened.splice(0)) await gateway.dispose()
})

const completion = { choices: [{ message: { content: "Hi" }, finish_reason: "stop" }] }

describe("address and served name of an endpoint", () => {
  const host = "12.us-central1-34.prediction.vertexai.goog"
  it.each<readonly [string, ProviderAccount["endpoints"], string, object, object]>([
    [
      "an endpoint without settings: openai, under its id (T2009, T2011)",
      {},
      `${shared}${place}/12/chat/completions`,
      { model: "12", messages },
      completion
    ],
    [
      "the name its account states (T2012)",
      { "12": facts("openai", { model: "my/llm" }) },
      `${shared}${place}/12/chat/completions`,
      { model: "my/llm", messages },
      completion
    ],
    [
      "a host of its own (T2010)",
      { "12": facts("openai", { host }) },
      `https://${host}${place}/12/chat/completions`,
      { model: "12", messages },
      completion
    ],
    [
      "a tuned Gemini model (T2011)",
      { "12": facts("gemini", { host }) },
      `https://${host}${place}/12:generateContent`,
      { contents: [{ role: "user", parts: [{ text: "Hello" }] }] },
      { candidates: [{ content: { parts: [{ text: "Hi" }] }, finishReason: "STOP" }] }
    ],
    [
      "a prompt in the predict dialect (T2013)",
      { "12": facts("predict") },
      `${shared}${place}/12:predict`,
      { instances: [{ prompt: "user: Hello\nassistant:" }] },
      { predictions: ["Hi"] }
    ]
  ])(
    "self-deployed endpoints: the call goes to the right address and name for %s",
    async (_name, endpoints, url, body, reply) => {
      const gateway = over(() => replying(reply), { accounts: [withEndpoints(endpoints)] })
      const answer = await gateway.post(path, { model: "endpoints.12", messages })
      expect([answer.status, (await answer.json()).choices]).toStrictEqual([
        200,
        [
          {
            index: 0,
            finish_reason: "stop",
            logprobs: null,
            message: { role: "assistant", content: "Hi", refusal: null }
          }
        ]
      ])
      expect(gateway.seen).toStrictEqual([
        { method: "POST", url, headers: { "content-type": "application/json" }, body }
      ])
    }
  )
  it.each(["endpoints.", "endpoints.a/b", "endpoints.a:x", "endpoints.."])(
    "self-deployed endpoints: %s is not an endpoint (T2016, B40)",
    async (model) => {
      const gateway = over(() => replying(completion), { accounts: [vertexAccount] })
      const answer = await gateway.post(path, { model, messages })
      expect([answer.status, (await answer.json()).error.code, gateway.seen]).toStrictEqual([
        400,
        "invalid_endpoint",
        []
      ])
    }
  )
})

describe("endpoints that cannot answer", () => {
  const refused = async (status: number, body: unknown, headers: Record<string, string> = {}) => {
    const gateway = over(() => ({ status, headers, chunks: [JSON.stringify(body)] }), { accounts: [vertexAccount] })
    const answer = await gateway.post(path, { model: "endpoints.12", messages })
    return [answer.status, (await answer.json()).error, answer.headers.get("retry-after")]
  }
  it("self-deployed endpoints: a dedicated endpoint called at the shared host is an error (T2010)", async () => {
    const message =
      "Dedicated Endpoint cannot be accessed through the shared Vertex AI domain us-central1-aiplatform.googleapis.com. Please access the endpoint using its dedicated domain name '12.us-central1-34.prediction.vertexai.goog'"
    expect(await refused(400, { error: { code: 400, status: "FAILED_PRECONDITION", message } })).toStrictEqual([
      400,
      {
        message:
          "Dedicated Endpoint cannot be accessed through the shared Vertex AI domain [upstream]. Please access the endpoint using its dedicated domain name '[upstream]' Set the endpoint's host in the provider's endpoints to its dedicated host name.",
        type: "invalid_request_error",
        param: null,
        code: "upstream_failed_precondition"
      },
      null
    ])
  })
  it("self-deployed endpoints: a service account without the permission is an error (T2014)", async () => {
    const message =
      "Permission 'aiplatform.endpoints.predict' denied on resource '//aiplatform.googleapis.com/projects/p-1/locations/us-central1/endpoints/12' (or it may not exist)."
    expect(await refused(403, { error: { code: 403, status: "PERMISSION_DENIED", message } })).toStrictEqual([
      403,
      {
        message:
          "The gateway's credential for \"vertex-ai\" may not do this at Google; ask its operator: Permission 'aiplatform.endpoints.predict' denied on resource '//[upstream]' (or it may not exist). Grant it to the service account, for example by the role Vertex AI User; a credential of project id and region alone may lack it.",
        type: "permission_error",
        param: null,
        code: "missing_permission_endpoints_predict"
      },
      null
    ])
  })
  it("self-deployed endpoints: an endpoint that is not ready yet is an error (T2015)", async () => {
    const unavailable = (message: string) => ({ message, type: "api_error", param: null, code: "upstream_unavailable" })
    const cold = "Model is not yet ready for inference."
    expect(
      await refused(429, { error: { code: 429, status: "RESOURCE_EXHAUSTED", message: cold } }, { "retry-after": "20" })
    ).toStrictEqual([503, unavailable(cold), "20"])
    expect(await refused(503, { message: "loading" }, { "retry-after": "5" })).toStrictEqual([
      503,
      unavailable("loading"),
      "5"
    ])
  })
})

describe("endpoints in the predict dialect", () => {
  const accounts = [withEndpoints({ "12": facts("predict", { model: "my-model" }) })]
  const prompt = "system: Be brief.\nuser: Hello\nassistant:"
  const asked = {
    model: "endpoints.12",
    messages: [{ role: "system", content: "Be brief." }, ...messages],
    max_tokens: 5,
    stop: "x",
    logit_bias: {},
    brand_new: 1
  }
  const parameters = { max_tokens: 5, stop: "x" }
  const usage = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0, prompt_tokens_details: { cached_tokens: 0 } }

  it("self-deployed endpoints: the predict call and the answer are exact (T2013)", async () => {
    const gateway = over(() => replying({ predictions: [`Prompt:\n${prompt}\nOutput:\nHi`], deployedModelId: "1" }), {
      accounts
    })
    const answer = await gateway.post(path, asked)
    const { id, created, ...rest } = await answer.json()
    expect([typeof id, typeof created, rest]).toStrictEqual([
      "string",
      "number",
      {
        object: "chat.completion",
        model: "my-model",
        usage,
        choices: [
          {
            index: 0,
            finish_reason: "stop",
            logprobs: null,
            message: { role: "assistant", content: "Hi", refusal: null }
          }
        ]
      }
    ])
    expect(answer.headers.get("x-gateway-ignored-params")).toBe("logit_bias,brand_new")
    expect(gateway.seen.map((call) => call.body)).toStrictEqual([
      { instances: [{ prompt, ...parameters }], parameters }
    ])
  })
  it("self-deployed endpoints: a predict stream is the answer as one chunk, the finish, the mark (T2013)", async () => {
    const gateway = over(() => replying({ predictions: [{ content: "Hi" }] }), { accounts })
    const answer = await gateway.post(path, { ...asked, stream: true, stream_options: { include_usage: true } })
    const seen = (await answer.text()).split("\n\n").map((frame) => {
      if (!frame.startsWith("data: {")) return frame
      const { choices, usage: counted } = JSON.parse(frame.slice(6))
      return [choices, counted]
    })
    expect(seen).toStrictEqual([
      [[{ index: 0, finish_reason: null, delta: { role: "assistant", content: "" } }], null],
      [[{ index: 0, finish_reason: null, delta: { content: "Hi" } }], null],
      [[{ index: 0, finish_reason: "stop", delta: {} }], null],
      [[], usage],
      "data: [DONE]",
      ""
    ])
    expect(gateway.seen.map(({ body, url }) => ({ body, url }))).toStrictEqual([
      { url: `${shared}${place}/12:predict`, body: { instances: [{ prompt, ...parameters }], parameters } }
    ])
  })
  it.each<readonly [string, object]>([
    ["tools", { tools: [{ type: "function", function: { name: "f" } }] }],
    [
      "messages[0].content[0].image_url.url",
      {
        messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } }] }]
      }
    ]
  ])("self-deployed endpoints: a predict prompt cannot carry %s (T2013)", async (param, more) => {
    const gateway = over(() => replying({ predictions: ["Hi"] }), { accounts })
    const answer = await gateway.post(path, { ...asked, ...more })
    const { error } = await answer.json()
    expect([answer.status, error.code, error.param, gateway.seen]).toStrictEqual([
      400,
      "unsupported_parameter",
      param,
      []
    ])
  })
})
