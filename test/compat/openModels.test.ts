// Tests models of other publishers and self-deployed endpoints through the whole gateway, with the simulated Vertex AI.
// Must not reach the network beyond its own sockets.
import OpenAI from "openai"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { gatewayKey, serviceAccount, startTestGateway, type TestGateway } from "../support/TestGateway.ts"

let gateway: TestGateway
let poor: TestGateway
let client: OpenAI
beforeAll(async () => {
  gateway = await startTestGateway()
  poor = await startTestGateway({ simulator: { withoutPredict: [serviceAccount.clientEmail] } })
  client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gatewayKey, maxRetries: 0 })
})
afterAll(() => Promise.all([gateway.close(), poor.close()]))

type Body = ReturnType<typeof JSON.parse>
const open = { "x-gateway-strict-schema-compliance": "false" }

const post = async (body: Record<string, unknown>, headers: Record<string, string> = {}, to = gateway) => {
  const response = await fetch(`${to.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-gateway-api-key": gatewayKey, ...headers },
    body: JSON.stringify({ messages: [{ role: "user", content: "Hello" }], ...body })
  })
  return { status: response.status, headers: response.headers, text: await response.text() }
}
const chat = async (
  body: Record<string, unknown>,
  headers: Record<string, string> = {},
  to = gateway
): Promise<{ status: number; answer: Body; sent: Body; url: string }> => {
  const { status, text } = await post(body, headers, to)
  const call = to.simulator.calls.at(-1)
  return { status, answer: JSON.parse(text), sent: call?.body, url: call?.url ?? "" }
}
const chunks = async (
  body: Record<string, unknown>,
  headers: Record<string, string> = {}
): Promise<ReadonlyArray<Body>> => {
  const data = (await post({ ...body, stream: true }, headers)).text
    .split("\n\n")
    .filter((frame) => frame.startsWith("data: "))
    .map((frame) => frame.slice(6))
  expect(data.filter((one) => one === "[DONE]")).toHaveLength(1)
  expect(data.at(-1)).toBe("[DONE]")
  return data.slice(0, -1).map((one) => JSON.parse(one))
}

const llama = "@vertex-ai/meta.llama-3.3-70b-instruct-maas"
const place = "/v1/projects/test-project/locations/us-central1"
const greeting = (family: string) =>
  `Hello! I am a simulated ${family} model, so nothing you write leaves this machine. What would you like to try?`
const weather = {
  type: "function" as const,
  function: {
    name: "get_weather",
    description: "Weather of a city",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] }
  }
}

describe("models of other publishers", () => {
  it("open models: accept the prefix of Llama, and publisher/model of any other", async () => {
    const rows = [
      ["meta.llama-3.3-70b-instruct-maas", "meta/llama-3.3-70b-instruct-maas", "Llama"],
      ["deepseek-ai/deepseek-v3.2-maas", "deepseek-ai/deepseek-v3.2-maas", "DeepSeek"],
      ["qwen/qwen3-coder-480b-a35b-instruct-maas", "qwen/qwen3-coder-480b-a35b-instruct-maas", "Qwen"],
      ["openai/gpt-oss-120b-maas", "openai/gpt-oss-120b-maas", "language"]
    ] as const
    for (const [model, upstream, family] of rows) {
      const { answer, sent, status, url } = await chat({ model: `@vertex-ai/${model}` })
      expect([status, url, sent.model]).toEqual([200, `${place}/endpoints/openapi/chat/completions`, upstream])
      expect(answer.choices).toEqual([
        {
          index: 0,
          message: { role: "assistant", content: greeting(family), refusal: null },
          logprobs: null,
          finish_reason: "stop"
        }
      ])
    }
  })
  it("open models: every field of OpenAI's passes, and the gateway's own fields are removed", async () => {
    const { sent, status } = await chat({
      model: llama,
      temperature: 0.5,
      top_p: 0.9,
      max_completion_tokens: 50,
      stop: ["x"],
      seed: 4,
      n: 2,
      frequency_penalty: 1,
      presence_penalty: 1,
      logprobs: true,
      top_logprobs: 2,
      user: "u",
      metadata: { a: "b" },
      guided_choice: ["a"],
      safety_settings: [],
      labels: { a: "b" },
      messages: [
        { role: "developer", content: "Be kind." },
        { role: "user", content: "Hello" }
      ]
    })
    expect([status, sent]).toEqual([
      200,
      {
        model: "meta/llama-3.3-70b-instruct-maas",
        temperature: 0.5,
        top_p: 0.9,
        max_tokens: 50,
        stop: ["x"],
        seed: 4,
        n: 2,
        frequency_penalty: 1,
        presence_penalty: 1,
        logprobs: true,
        top_logprobs: 2,
        user: "u",
        metadata: { a: "b" },
        guided_choice: ["a"],
        messages: [
          { role: "system", content: "Be kind." },
          { role: "user", content: "Hello" }
        ]
      }
    ])
  })
  it("open models: a stream adds up to the same text, and shows usage when asked", async () => {
    const asked = { model: llama, messages: [{ role: "user", content: "Tell me about tides" }] }
    const whole = (await chat(asked)).answer
    const streamed = await chunks({ ...asked, stream_options: { include_usage: true } })
    expect(streamed.map((chunk) => chunk.choices[0]?.delta.content ?? "").join("")).toBe(
      whole.choices[0].message.content
    )
    expect([streamed.at(-1).choices, streamed.at(-1).usage]).toEqual([[], whole.usage])
    expect((await chunks(asked)).some((chunk) => chunk.usage)).toBe(false)
  })
  it("open models: the openai SDK runs a tool loop with parallel calls", async () => {
    const question = { role: "user" as const, content: "What is the weather in Paris and Tokyo?" }
    const first = await client.chat.completions.create({ model: llama, tools: [weather], messages: [question] })
    const message = first.choices[0]?.message
    if (message?.tool_calls === undefined) throw new Error("no calls")
    expect(message.tool_calls.map((call) => call.type === "function" && call.function.arguments)).toEqual([
      '{"city":"Paris"}',
      '{"city":"Tokyo"}'
    ])
    const results = message.tool_calls.map((call) => ({
      role: "tool" as const,
      tool_call_id: call.id,
      content: "21 degrees"
    }))
    const last = await client.chat.completions.create({
      model: llama,
      tools: [weather],
      messages: [question, message, ...results]
    })
    expect(last.choices[0]?.message.content).toBe(
      "The tool get_weather answered 21 degrees. The tool get_weather answered 21 degrees. That is all I need to answer you."
    )
  })
  it("open models: an answer follows its schema", async () => {
    const schema = {
      type: "object",
      properties: { city: { type: "string" } },
      required: ["city"],
      additionalProperties: false
    }
    const { answer } = await chat({
      model: llama,
      response_format: { type: "json_schema", json_schema: { name: "c", schema } }
    })
    expect(Object.keys(JSON.parse(answer.choices[0].message.content))).toEqual(["city"])
  })
  it("open models: refuse an unknown model, a publisher that is not offered, and a provider without it", async () => {
    expect((await chat({ model: "@vertex-ai/meta.llama-9" })).answer.error.code).toBe("model_not_found")
    const elsewhere = await chat({ model: "@google/meta.llama-3.3-70b-instruct-maas" })
    expect([elsewhere.status, elsewhere.answer.error.code]).toEqual([400, "unsupported_operation"])
  })
})

/** An answer without what differs from call to call: ids, the time, the word that was quoted. */
const comparable = (answer: Body, word: string): Body => {
  const choices = answer.choices.map(({ message, ...choice }: Body) => {
    const { tool_calls: calls, ...rest } = message
    return {
      ...choice,
      message: {
        ...rest,
        ...(calls === undefined ? {} : { tool_calls: calls.map((call: Body) => ({ ...call, id: "" })) })
      }
    }
  })
  return JSON.parse(JSON.stringify({ ...answer, id: "", created: 0, choices }).replaceAll(word, ""))
}
const joined = (streamed: ReadonlyArray<Body>) => ({
  content: streamed.map((chunk) => chunk.choices[0]?.delta.content ?? "").join(""),
  roles: streamed.flatMap((chunk) => chunk.choices[0]?.delta.role ?? []),
  finishes: streamed.flatMap((chunk) => chunk.choices[0]?.finish_reason ?? []),
  calls: streamed
    .flatMap((chunk) => chunk.choices[0]?.delta.tool_calls ?? [])
    .map((call: Body) => call.function?.arguments ?? "")
    .join("")
})

describe("hosts with unusual answers", () => {
  const habits = [
    "comments",
    "role-everywhere",
    "queue-time",
    "vendor-fields",
    "missing-fields",
    "object-arguments",
    "whole-arguments",
    "empty-ids",
    "list-content",
    "foreign-finish",
    "stop-for-calls",
    "usage-beside-choice",
    "no-done",
    "json-stream"
  ]
  const words = (habit: string) => `Weather in Paris? demo:quirk-${habit}`
  it.each(habits)("open models: a strict client gets the usual answer from a host with %s", async (habit) => {
    for (const more of [{}, { tools: [weather], tool_choice: "auto" }]) {
      // An unknown word of the same length: the answer quotes it, and its length is counted.
      const plain = "x".repeat(habit.length)
      const clean = (await chat({ model: llama, ...more, messages: [{ role: "user", content: words(plain) }] })).answer
      const odd = (await chat({ model: llama, ...more, messages: [{ role: "user", content: words(habit) }] })).answer
      expect(comparable(odd, habit)).toEqual(comparable(clean, plain))
      const streamed = joined(
        await chunks({
          model: llama,
          ...more,
          messages: [{ role: "user", content: words(habit) }],
          stream_options: { include_usage: true }
        })
      )
      expect(streamed).toEqual({
        content: odd.choices[0].message.content ?? "",
        roles: ["assistant"],
        finishes: [odd.choices[0].finish_reason],
        calls: (odd.choices[0].message.tool_calls ?? []).map((call: Body) => call.function.arguments).join("")
      })
    }
  })
  it("open models: a failed tool call keeps its host's code, unary and streamed", async () => {
    const asked = { model: llama, messages: [{ role: "user", content: "demo:tool-use-failed" }] }
    const { answer, status } = await chat(asked)
    expect([status, answer.error.code]).toEqual([400, "tool_use_failed"])
    const streamed = await post({ ...asked, stream: true })
    expect([streamed.status, JSON.parse(streamed.text).error.code]).toEqual([400, "tool_use_failed"])
  })
  it("open models: a stream without any finish is an error", async () => {
    const { text } = await post({
      model: llama,
      messages: [{ role: "user", content: "demo:quirk-no-finish" }],
      stream: true
    })
    expect(text).not.toContain("[DONE]")
    expect(JSON.parse(text.trimEnd().split("\n\n").at(-1)?.slice(6) ?? "").error.type).toBe("api_error")
  })
})

describe("self-deployed endpoints", () => {
  const on = (id: string) => `@vertex-ai/endpoints.${id}`
  it("self-deployed endpoints: OpenAI's dialect is called under the served name", async () => {
    for (const [id, served] of [
      ["demo-llama", "demo-llama"],
      ["demo-vllm", "meta-llama/Llama-3.1-8B-Instruct"],
      ["1234567890", "1234567890"]
    ] as const) {
      const { answer, sent, status, url } = await chat({ model: on(id) })
      expect([status, url, sent.model]).toEqual([200, `${place}/endpoints/${id}/chat/completions`, served])
      expect(answer.choices[0].finish_reason).toBe("stop")
    }
  })
  it("self-deployed endpoints: a dedicated host is called", async () => {
    expect((await chat({ model: on("demo-dedicated") })).status).toBe(200)
  })
  it("self-deployed endpoints: the predict dialect is read in each known form of answer, streamed too", async () => {
    for (const id of [
      "demo-predict",
      "demo-predict-text",
      "demo-predict-content",
      "demo-predict-generated-text",
      "demo-predict-output"
    ]) {
      const asked = {
        model: on(id),
        messages: [
          { role: "system", content: "Be kind." },
          { role: "user", content: "Hello" }
        ],
        max_tokens: 100
      }
      const { answer, sent, url } = await chat(asked)
      expect([url, sent]).toEqual([
        `${place}/endpoints/${id}:predict`,
        {
          instances: [{ prompt: "system: Be kind.\nuser: Hello\nassistant:", max_tokens: 100 }],
          parameters: { max_tokens: 100 }
        }
      ])
      expect(answer.choices[0].message.content).toBe(greeting("language"))
      expect(joined(await chunks(asked))).toEqual({
        content: greeting("language"),
        roles: ["assistant"],
        finishes: ["stop"],
        calls: ""
      })
    }
  })
  it("self-deployed endpoints: a tuned Gemini model answers", async () => {
    expect((await chat({ model: on("demo-tuned") })).answer.choices[0].message.content).toBe(greeting("Gemini"))
  })
  it("self-deployed endpoints: an unknown endpoint is an error", async () => {
    expect((await chat({ model: on("nobody") })).answer.error.code).toBe("model_not_found")
  })
  it("self-deployed endpoints: a service account without the permission to predict is an error", async () => {
    const { answer, status } = await chat({ model: on("demo-llama") }, {}, poor)
    expect([status, answer.error.type, answer.error.code]).toEqual([
      403,
      "permission_error",
      "missing_permission_endpoints_predict"
    ])
    expect((await chat({ model: "@vertex-ai/gemini-2.5-flash" }, {}, poor)).status).toBe(200)
  })
  it("self-deployed endpoints: an endpoint that is not ready is retryable, with the upstream's delay", async () => {
    const cold = await post({ model: on("demo-cold") })
    expect([cold.status, cold.headers.get("retry-after")]).toEqual([503, "1"])
    expect((await post({ model: on("demo-loading") })).status).toBe(503)
  })
  it("self-deployed endpoints: a dedicated one called on the shared host is refused with its own host", async () => {
    gateway.simulator.script([
      {
        status: 400,
        body: [
          {
            error: {
              code: 400,
              message:
                "Dedicated Endpoint cannot be accessed through the shared Vertex AI domain us-central1-aiplatform.googleapis.com. Please access the endpoint using its dedicated domain name '11.us-central1-1.prediction.vertexai.goog'",
              status: "FAILED_PRECONDITION"
            }
          }
        ]
      }
    ])
    const { answer, status } = await chat({ model: on("1234567890") }, open)
    expect([status, answer.error.message.includes("host")]).toEqual([400, true])
  })
})
