import { request as httpRequest } from "node:http"
import { once } from "node:events"
import { describe, expect, it } from "vitest"
import { demoEndpoints } from "../../../../src/demo/google/service/endpoints.ts"
import { chatRequest } from "../../../../src/demo/google/shapes/openai.ts"
import { loudlySkipped, recordings, schemaOracle, sharedDir } from "../../../support/shared.ts"
import { asking, bearer, place } from "../asking.ts"
import { mutate, seeded } from "../mutate.ts"

if (sharedDir() === undefined) loudlySkipped("the simulated dialect of OpenAI against the published schemas")

const { ask, url } = asking({
  accessTokens: ["token", "no-endpoints"],
  withoutPredict: ["no-endpoints"],
  projects: ["test-project"],
  now: () => 1_800_000_000_000
})

const shared = `${place}/endpoints/openapi/chat/completions`
const own = (id: string) => `${place}/endpoints/${id}/chat/completions`
const llama = "meta/llama-3.3-70b-instruct-maas"
const says = (content: string, more: Record<string, unknown> = {}) => ({
  model: llama,
  messages: [{ role: "user", content }],
  ...more
})
const greeting =
  "Hello! I am a simulated Llama model, so nothing you write leaves this machine. What would you like to try?"
const weather = {
  type: "function",
  function: {
    name: "get_weather",
    description: "Weather of a city",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] }
  }
}

/** The events of a stream without framing; the closing `[DONE]` as text. */
const eventsOf = (text: string): ReadonlyArray<string> =>
  text
    .split("\n\n")
    .filter((event) => event.startsWith("data: "))
    .map((event) => event.slice("data: ".length))
const chunksOf = (text: string) =>
  eventsOf(text)
    .filter((data) => data !== "[DONE]")
    .map((data) => JSON.parse(data))
const deltas = (text: string) =>
  chunksOf(text)
    .flatMap((chunk) => chunk.choices)
    .map((choice) => choice.delta)

describe("simulated chat completion", () => {
  it("completion: is a greeting", async () => {
    const { status, json } = await ask(shared, says("Hello"))
    expect([status, json()]).toEqual([
      200,
      {
        id: expect.stringMatching(/^chatcmpl-[0-9a-f]{32}$/),
        object: "chat.completion",
        created: 1_800_000_000,
        model: llama,
        choices: [
          { index: 0, message: { role: "assistant", content: greeting }, logprobs: null, finish_reason: "stop" }
        ],
        usage: { prompt_tokens: 2, completion_tokens: 27, total_tokens: 29, prompt_tokens_details: null }
      }
    ])
  })
  it("completion: calls tools, one for each place, and a single one on request", async () => {
    const asked = says("What is the weather in Paris and Tokyo?", { tools: [weather] })
    const both = (await ask(shared, asked)).json().choices[0]
    expect(both).toEqual({
      index: 0,
      message: {
        role: "assistant",
        content: null,
        tool_calls: [
          {
            id: expect.stringMatching(/^chatcmpl-tool-/),
            type: "function",
            function: { name: "get_weather", arguments: '{"city":"Paris"}' }
          },
          {
            id: expect.stringMatching(/^chatcmpl-tool-/),
            type: "function",
            function: { name: "get_weather", arguments: '{"city":"Tokyo"}' }
          }
        ]
      },
      logprobs: null,
      finish_reason: "tool_calls"
    })
    const one = (await ask(shared, { ...asked, parallel_tool_calls: false })).json().choices[0].message.tool_calls
    expect(one).toEqual([both.message.tool_calls[0]].map((call) => ({ ...call, id: expect.any(String) })))
  })
  it("completion: follows tool_choice", async () => {
    const finish = async (tool_choice: unknown) =>
      (await ask(shared, says("Weather in Paris?", { tools: [weather], tool_choice }))).json().choices[0].finish_reason
    const forced = { type: "function", function: { name: "get_weather" } }
    expect([await finish("none"), await finish("auto"), await finish("required"), await finish(forced)]).toEqual([
      "stop",
      "tool_calls",
      "tool_calls",
      "tool_calls"
    ])
  })
  it("completion: quotes the results of tools", async () => {
    const messages = [
      { role: "user", content: "Weather in Paris?" },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "a", type: "function", function: { name: "get_weather", arguments: '{"city":"Paris"}' } }]
      },
      { role: "tool", tool_call_id: "a", content: "21 degrees" }
    ]
    const answer = (await ask(shared, { model: llama, messages, tools: [weather] })).json().choices[0]
    expect(answer.message.content).toBe("The tool get_weather answered 21 degrees. That is all I need to answer you.")
  })
  it("completion: fits a schema, stops at limits, has several choices and log probabilities", async () => {
    const schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] }
    const fitted = await ask(
      shared,
      says("Describe the city in Norway", {
        response_format: { type: "json_schema", json_schema: { name: "c", schema } }
      })
    )
    expect(JSON.parse(fitted.json().choices[0].message.content)).toEqual({ city: "Norway" })
    const short = (await ask(shared, says("Hello", { max_tokens: 2 }))).json().choices[0]
    expect([short.message.content, short.finish_reason]).toEqual(["Hello! I", "length"])
    const stopped = (await ask(shared, says("Hello", { stop: " simulated" }))).json().choices[0]
    expect([stopped.message.content, stopped.finish_reason]).toEqual(["Hello! I am a", "stop"])
    const several = (await ask(shared, says("Hello", { n: 2, max_tokens: 2, logprobs: true, top_logprobs: 2 }))).json()
      .choices
    expect(several.map(({ index }: { index: number }) => index)).toEqual([0, 1])
    expect(several[0].logprobs.content[0]).toEqual({
      token: "Hello!",
      logprob: -0.125,
      bytes: [72, 101, 108, 108, 111, 33],
      top_logprobs: [
        { token: "Hello!", logprob: -0.125, bytes: [72, 101, 108, 108, 111, 33] },
        { token: "Hello!~", logprob: -3, bytes: [72, 101, 108, 108, 111, 33, 126] }
      ]
    })
  })
  it("completion: follows a system message and sees images", async () => {
    const content = [
      { type: "text", text: "What is it?" },
      { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } }
    ]
    const answer = await ask(shared, {
      model: llama,
      messages: [
        { role: "developer", content: "Be brief." },
        { role: "user", content }
      ]
    })
    expect(answer.json().choices[0].message.content).toBe(
      'I see an image/png of 3 bytes. You wrote: "What is it?". I keep to the instruction "Be brief.". ' +
        "A simulated model cannot think about it, but it answers in the true wire format."
    )
  })
})

describe("simulated chat stream", () => {
  it("stream: has the role first, the text in pieces, the finish, requested usage, and [DONE]", async () => {
    const { status, type, text } = await ask(
      shared,
      says("Hello", { stream: true, stream_options: { include_usage: true } })
    )
    const chunks = chunksOf(text)
    expect([status, type, eventsOf(text).at(-1), text.endsWith("data: [DONE]\n\n")]).toEqual([
      200,
      "text/event-stream",
      "[DONE]",
      true
    ])
    expect(deltas(text)[0]).toEqual({ role: "assistant", content: "" })
    expect(
      deltas(text)
        .map((delta) => delta.content ?? "")
        .join("")
    ).toBe(greeting)
    expect(chunks.at(-2).choices).toEqual([{ index: 0, delta: {}, logprobs: null, finish_reason: "stop" }])
    expect([chunks.at(-1).choices, chunks.at(-1).usage]).toEqual([
      [],
      { prompt_tokens: 2, completion_tokens: 27, total_tokens: 29, prompt_tokens_details: null }
    ])
    expect(chunks.filter((chunk) => "usage" in chunk)).toHaveLength(1)
  })
  it("stream: has no usage unless requested", async () => {
    expect(chunksOf((await ask(shared, says("Hello", { stream: true }))).text).some((chunk) => "usage" in chunk)).toBe(
      false
    )
  })
  it("stream: has calls in deltas: name and id first, arguments in pieces", async () => {
    const { text } = await ask(
      shared,
      says("What is the weather in Paris and Tokyo?", { tools: [weather], stream: true })
    )
    const calls = deltas(text).flatMap((delta) => delta.tool_calls ?? [])
    const joined = (index: number) =>
      calls
        .filter((call) => call.index === index)
        .map((call) => call.function.arguments)
        .join("")
    expect(calls.filter((call) => "id" in call)).toEqual(
      [0, 1].map((index) => ({
        index,
        id: expect.stringMatching(/^chatcmpl-tool-/),
        type: "function",
        function: { name: "get_weather", arguments: "" }
      }))
    )
    expect([joined(0), joined(1), calls.length]).toEqual(['{"city":"Paris"}', '{"city":"Tokyo"}', 6])
  })
  it("stream: has the text of the completion", async () => {
    for (const words of ["Hello", "Tell me about tides and ships", "Describe it 🎉🎉🎉 ".repeat(9)]) {
      const whole = (await ask(shared, says(words))).json().choices[0].message.content
      expect(
        deltas((await ask(shared, says(words, { stream: true }))).text)
          .map((delta) => delta.content ?? "")
          .join("")
      ).toBe(whole)
    }
  })
  const oracle = schemaOracle("openai.schema.json", "CreateChatCompletionStreamResponse")
  it.skipIf(oracle === undefined)("stream: consists of chunks of the published schema", async () => {
    for (const more of [{}, { tools: [weather], tool_choice: "required" }, { n: 2, logprobs: true }]) {
      const { text } = await ask(
        shared,
        says("Weather in Oslo", { ...more, stream: true, stream_options: { include_usage: true } })
      )
      expect(chunksOf(text).filter((chunk) => oracle?.(chunk) !== true)).toEqual([])
    }
  })
  const unary = schemaOracle("openai.schema.json", "CreateChatCompletionResponse")
  it.skipIf(unary === undefined)("stream: adds up to a completion of the published schema", async () => {
    for (const more of [{}, { tools: [weather], tool_choice: "required" }, { n: 2, logprobs: true }]) {
      expect(unary?.((await ask(shared, says("Weather in Oslo", more))).json())).toBe(true)
    }
  })
})

describe("simulated habits of other hosts", () => {
  const habit = (name: string, more: Record<string, unknown> = {}) =>
    ask(shared, says(`Weather in Paris? demo:quirk-${name}`, more))
  const calls = { tools: [weather] }
  it("host habit: writes comments between events", async () => {
    expect((await habit("comments", { stream: true })).text.startsWith(": PROCESSING\n\ndata: {")).toBe(true)
  })
  it("host habit: writes a role in every delta", async () => {
    const all = deltas((await habit("role-everywhere", { stream: true })).text)
    expect(all.length).toBeGreaterThan(3)
    expect(all.every((delta) => delta.role === "assistant" && typeof delta.content === "string")).toBe(true)
  })
  it("host habit: writes times in the usage", async () => {
    const answer = (await habit("queue-time")).json()
    expect([answer.service_tier, answer.x_groq, answer.usage.queue_time]).toEqual([
      "on_demand",
      { id: "req_01k92s237sf8fbxzedfmbvwb47" },
      0.034199604
    ])
  })
  it("host habit: writes fields of the vendor", async () => {
    const answer = (await habit("vendor-fields")).json()
    expect([answer.provider, answer.choices[0].native_finish_reason, answer.choices[0].message.reasoning]).toEqual([
      "DeepInfra",
      "stop",
      null
    ])
  })
  it("host habit: leaves out fields", async () => {
    const answer = (await habit("missing-fields")).json()
    expect([Object.keys(answer), Object.keys(answer.choices[0]), Object.keys(answer.choices[0].message)]).toEqual([
      ["model", "choices", "usage"],
      ["index", "message"],
      ["content"]
    ])
    const chunks = chunksOf((await habit("missing-fields", { stream: true })).text)
    expect(Object.keys(chunks[0])).toEqual(["model", "choices"])
    expect(chunks.at(-1).choices[0].finish_reason).toBe("stop")
  })
  it("host habit: writes arguments as an object, unary and streamed", async () => {
    const [call] = (await habit("object-arguments", calls)).json().choices[0].message.tool_calls
    expect(call.function.arguments).toEqual({ city: "Paris" })
    const streamed = deltas((await habit("object-arguments", { ...calls, stream: true })).text).flatMap(
      (delta) => delta.tool_calls ?? []
    )
    expect(streamed.map((one) => one.function)).toEqual([{ name: "get_weather", arguments: { city: "Paris" } }])
  })
  it("host habit: writes arguments in one piece", async () => {
    const streamed = deltas((await habit("whole-arguments", { ...calls, stream: true })).text).flatMap(
      (delta) => delta.tool_calls ?? []
    )
    expect(streamed.map((one) => one.function)).toEqual([{ name: "get_weather", arguments: '{"city":"Paris"}' }])
  })
  it("host habit: writes empty ids, a list for content, and combines two habits", async () => {
    const message = (await habit("empty-ids demo:quirk-list-content", calls)).json().choices[0].message
    expect([message.content, message.tool_calls[0].id]).toEqual([[], ""])
  })
  it("host habit: writes other names of the finish reason", async () => {
    expect((await habit("foreign-finish")).json().choices[0].finish_reason).toBe("eos_token")
    expect((await habit("stop-for-calls", calls)).json().choices[0].finish_reason).toBe("stop")
  })
  it("host habit: writes usage in a chunk with a choice", async () => {
    const last = chunksOf(
      (await habit("usage-beside-choice", { stream: true, stream_options: { include_usage: true } })).text
    ).at(-1)
    expect([last.choices, typeof last.usage.total_tokens]).toEqual([
      [{ index: 0, delta: { role: "assistant", content: "" }, finish_reason: null }],
      "number"
    ])
  })
  it("host habit: writes no [DONE], or no finish", async () => {
    const undone = (await habit("no-done", { stream: true })).text
    expect([undone.includes("[DONE]"), undone.includes('"finish_reason":"stop"')]).toEqual([false, true])
    const endless = (await habit("no-finish", { stream: true })).text
    expect([endless.includes("[DONE]"), endless.includes('"finish_reason":"stop"')]).toEqual([false, false])
  })
  it("host habit: writes JSON in place of a stream", async () => {
    const answer = await habit("json-stream", { stream: true })
    expect([answer.type, answer.json().object]).toEqual(["application/json; charset=UTF-8", "chat.completion"])
  })
  it("host habit: fails a call, unary and streamed, in the recorded formats", async () => {
    const asked = says("demo:tool-use-failed", calls)
    const error = {
      message:
        "tool call validation failed: parameters for tool did not match schema: errors: [`/age`: expected integer, but got string]",
      type: "invalid_request_error",
      code: "tool_use_failed",
      failed_generation: '[{"name": "structured_output", "parameters": {"age": "30"}}]'
    }
    const whole = await ask(shared, asked)
    expect([whole.status, whole.json()]).toEqual([400, { error }])
    const streamed = await ask(shared, { ...asked, stream: true })
    expect([streamed.status, streamed.text]).toEqual([
      200,
      `event: error\ndata: ${JSON.stringify({ error: { ...error, status_code: 400 } })}\n\n`
    ])
  })
})

describe("refusals of the shared path", () => {
  const refused = async (body: unknown) => {
    const { status, json } = await ask(shared, body)
    return [status, json()]
  }
  const google = (code: number, status: string, message: string) => [code, [{ error: { code, message, status } }]]
  const contained = (message: string, more: Record<string, unknown> = {}) => [
    400,
    { error: { message, type: "invalid_request_error", ...more } }
  ]

  it("shared path: refuses a model without publisher, or with more than one", async () => {
    const words = "Malformed publisher model name: expected format '<publisher>/<model>'"
    for (const model of ["llama-3.3", "publishers/meta/models/llama-3.3-70b-instruct-maas", "", undefined]) {
      expect(await refused({ ...says("Hello"), model })).toEqual(google(400, "INVALID_ARGUMENT", words))
    }
  })
  it("shared path: refuses an unknown model", async () => {
    expect(await refused({ ...says("Hello"), model: "meta/llama-9" })).toEqual(
      google(
        404,
        "NOT_FOUND",
        "Publisher Model `projects/test-project/locations/us-central1/publishers/meta/models/llama-9` not found."
      )
    )
    expect((await refused({ ...says("Hello"), model: "nobody/llama-3.3-70b-instruct-maas" }))[0]).toBe(404)
  })
  it("shared path: refuses a body of the wrong shape, by its field path", async () => {
    expect(await refused({ model: llama, messages: [{ role: "user", content: 7 }] })).toEqual(
      contained("Invalid value at 'messages[0].content': expected a string.", { param: "messages[0].content" })
    )
    expect(await refused({ model: llama, messages: [] })).toEqual(
      contained("Invalid value at 'messages': expected an array of at least 1.", { param: "messages" })
    )
    expect(await refused(says("Hello", { temperature: 3 }))).toEqual(
      contained("Invalid value at 'temperature': expected a number between 0 and 2.", { param: "temperature" })
    )
  })
  it("shared path: refuses what vLLM refuses", async () => {
    expect(await refused(says("Hello", { stream_options: { include_usage: true } }))).toEqual(
      contained("Stream options can only be defined when `stream=True`.")
    )
    expect(await refused(says("Hello", { tool_choice: "required" }))).toEqual(
      contained("When using `tool_choice`, `tools` must be set.")
    )
    expect(await refused(says("Hello", { top_logprobs: 2 }))).toEqual(
      contained("when using `top_logprobs`, `logprobs` must be set to true.")
    )
    expect(await refused(says("Hello", { max_tokens: 0 }))).toEqual(
      contained("max_tokens must be at least 1, got 0.", { param: "max_tokens" })
    )
    const file = [{ type: "image_url", image_url: { url: "gs://bucket/cat.png" } }]
    expect(await refused({ model: llama, messages: [{ role: "user", content: file }] })).toEqual(
      contained("The URL must be either a HTTP or data URL.")
    )
    expect((await refused(says("word ".repeat(110_000))))[1].error.code).toBe("context_length_exceeded")
  })
  it("shared path: treats nulls as unset, and passes unknown fields", async () => {
    expect(
      (await ask(shared, says("Hello", { max_tokens: null, stop: null, stream: null, guided_json: {} }))).status
    ).toBe(200)
  })
  it("shared path: reports faults in OpenAI's dialect", async () => {
    const of = (id: string, more: Record<string, unknown> = {}) =>
      ask(shared, { ...says("Hello", more), model: `meta/${id}` })
    expect((await of("demo-503")).json()).toEqual([
      { error: { code: 503, message: "The model is overloaded. Please try again later.", status: "UNAVAILABLE" } }
    ])
    expect([
      (await of("demo-flaky-429")).status,
      (await of("demo-503")).status,
      (await of("demo-flaky-429")).status
    ]).toEqual([429, 503, 200])
    const late = (await of("demo-error-midstream", { stream: true })).text
    expect(late.split("\n\n").at(-2)).toBe(
      'event: error\ndata: {"error":{"message":"An internal error has occurred. Please retry or report it.","type":"server_error","code":500}}'
    )
  })
})

describe("simulated endpoints", () => {
  const served = (id: string) => demoEndpoints[id]?.servedModel ?? id
  it("endpoint: answers under its served name, unary and streamed", async () => {
    for (const id of ["demo-llama", "demo-vllm", "demo-dedicated", "1234567890"]) {
      const asked = { ...says("Hello"), model: served(id) }
      const whole = await ask(own(id), asked)
      expect([id, whole.status, whole.json().model]).toEqual([id, 200, served(id)])
      expect(eventsOf((await ask(own(id), { ...asked, stream: true })).text).at(-1)).toBe("[DONE]")
    }
  })
  it("endpoint: checks the name, each in its own format", async () => {
    const message = "The model `other` does not exist."
    const answers = await Promise.all(
      ["demo-llama", "demo-vllm", "demo-fastapi"].map((id) => ask(own(id), { ...says("Hello"), model: "other" }))
    )
    expect(answers.map(({ status, json }) => [status, json()])).toEqual([
      [404, { error: { message, type: "NotFoundError", param: "model", code: "model_not_found" } }],
      [404, { object: "error", message, type: "NotFoundError", param: "model", code: 404 }],
      [404, { detail: message }]
    ])
  })
  it("endpoint: an unknown one is not found", async () => {
    const answer = await ask(own("nobody"), says("Hello"))
    expect([answer.status, answer.json()]).toEqual([
      404,
      [
        {
          error: {
            code: 404,
            message: "Endpoint `projects/test-project/locations/us-central1/endpoints/nobody` not found.",
            status: "NOT_FOUND"
          }
        }
      ]
    ])
  })
  it("endpoint: accepts one dialect", async () => {
    expect((await ask(own("demo-predict"), says("Hello"))).json()).toEqual({ detail: "Not Found" })
    expect((await ask(`${place}/endpoints/demo-llama:predict`, { instances: [{ prompt: "Hello" }] })).json()).toEqual({
      detail: "Not Found"
    })
    const contents = [{ role: "user", parts: [{ text: "Hello" }] }]
    expect((await ask(`${place}/endpoints/demo-llama:generateContent`, { contents })).status).toBe(404)
    expect((await ask(`${place}/endpoints/demo-tuned:generateContent`, { contents })).json().modelVersion).toBe(
      "demo-tuned"
    )
    expect((await ask(`${place}/endpoints/demo-tuned:countTokens`, { contents })).json().totalTokens).toBe(2)
  })
  it("endpoint: refuses a principal without the permission, and only that one", async () => {
    const lacking = { authorization: "Bearer no-endpoints" }
    const resource = "projects/test-project/locations/us-central1/endpoints/demo-llama"
    const answer = await ask(own("demo-llama"), { ...says("Hello"), model: "demo-llama" }, lacking)
    expect([answer.status, answer.json()]).toEqual([
      403,
      [
        {
          error: {
            code: 403,
            message: `Permission 'aiplatform.endpoints.predict' denied on resource '//aiplatform.googleapis.com/${resource}' (or it may not exist).`,
            status: "PERMISSION_DENIED",
            details: [
              {
                "@type": "type.googleapis.com/google.rpc.ErrorInfo",
                reason: "IAM_PERMISSION_DENIED",
                domain: "aiplatform.googleapis.com",
                metadata: { permission: "aiplatform.endpoints.predict", resource }
              }
            ]
          }
        }
      ]
    ])
    const gemini = `${place}/publishers/google/models/gemini-2.5-flash:generateContent`
    expect((await ask(gemini, { contents: [{ role: "user", parts: [{ text: "Hello" }] }] }, lacking)).status).toBe(200)
  })
  it("endpoint: is not ready when scaled to zero, or still loading", async () => {
    const cold = { ...says("Hello"), model: "demo-cold" }
    const first = await ask(own("demo-cold"), cold)
    expect([first.status, first.json()[0].error.details]).toEqual([
      429,
      [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "0.2s" }]
    ])
    expect(first.json()[0].error.message).toBe(
      "Model is not yet ready for inference. Please wait and then try your request again."
    )
    expect((await ask(own("demo-cold"), cold)).status).toBe(200)
    expect((await ask(own("demo-loading"), says("Hello"))).status).toBe(503)
  })
})

describe("simulated dedicated endpoint", () => {
  /** Asks under a host name of its own, as if no base URL stood between. */
  const under = async (host: string) => {
    const request = httpRequest(url() + own("demo-dedicated"), {
      method: "POST",
      headers: { ...bearer, host, "content-type": "application/json" }
    })
    request.end(JSON.stringify({ ...says("Hello"), model: "demo-dedicated" }))
    const [response] = await once(request, "response")
    const chunks: Array<Buffer> = []
    for await (const chunk of response) chunks.push(chunk)
    return { status: response.statusCode, body: JSON.parse(Buffer.concat(chunks).toString()) }
  }
  const only = "demo-dedicated.us-central1-123456789012.prediction.vertexai.goog"

  it("dedicated endpoint: refuses the shared host with Google's message", async () => {
    expect(await under("us-central1-aiplatform.googleapis.com")).toEqual({
      status: 400,
      body: [
        {
          error: {
            code: 400,
            message:
              "Dedicated Endpoint cannot be accessed through the shared Vertex AI domain us-central1-aiplatform.googleapis.com. " +
              `Please access the endpoint using its dedicated domain name '${only}'`,
            status: "FAILED_PRECONDITION"
          }
        }
      ]
    })
  })
  it("dedicated endpoint: answers under its own host, and where a base URL hides the host", async () => {
    expect((await under(only)).status).toBe(200)
    expect((await under(`${only}:443`)).status).toBe(200)
    expect((await under("127.0.0.1:9")).status).toBe(200)
  })
})

/** Members only OpenAI's own service reads; the simulated containers do not know them. */
const unread = ["moderation", "prompt_cache_options", "prompt_cache_breakpoint"]

describe("shape of chat completions compared with the published schema", () => {
  const oracle = schemaOracle("openai.schema.json", "CreateChatCompletionRequest")
  const own: ReadonlyArray<unknown> = [
    says("Hello", {
      tools: [weather],
      tool_choice: { type: "function", function: { name: "get_weather" } },
      stop: ["a"],
      n: 2,
      logit_bias: { "5": 1 }
    }),
    says("Hello", {
      response_format: { type: "json_schema", json_schema: { name: "a", schema: {}, strict: true } },
      seed: 4,
      logprobs: true,
      top_logprobs: 2
    }),
    says("Hello", {
      modalities: ["text", "audio"],
      audio: { voice: { id: "v" }, format: "wav" },
      metadata: { a: "b" },
      reasoning_effort: "low",
      verbosity: "high"
    }),
    says("Hello", {
      tool_choice: { type: "allowed_tools", allowed_tools: { mode: "auto", tools: [{}] } },
      prediction: { type: "content", content: "x" }
    }),
    says("Hello", {
      tools: [
        {
          type: "custom",
          custom: { name: "c", format: { type: "grammar", grammar: { definition: "x", syntax: "lark" } } }
        }
      ]
    }),
    says("Hello", {
      functions: [{ name: "f", parameters: {} }],
      function_call: { name: "f" },
      web_search_options: { search_context_size: "low" }
    }),
    {
      model: llama,
      messages: [
        { role: "developer", content: [{ type: "text", text: "a" }] },
        {
          role: "user",
          content: [
            { type: "image_url", image_url: { url: "data:,", detail: "low" } },
            { type: "input_audio", input_audio: { data: "", format: "wav" } },
            { type: "file", file: { file_id: "f" } }
          ]
        },
        {
          role: "assistant",
          content: [{ type: "refusal", refusal: "no" }],
          tool_calls: [{ id: "a", type: "custom", custom: { name: "c", input: "" } }]
        },
        { role: "tool", tool_call_id: "a", content: [{ type: "text", text: "b" }] },
        { role: "function", name: "f", content: null },
        { role: "assistant", content: null, function_call: { name: "f", arguments: "" } }
      ]
    }
  ]
  const bodies = () => [...own, ...recordings("vertex-openapi").map(({ request }) => request.body)]

  it.skipIf(oracle === undefined)("chat shape: agrees on recorded and written requests and on their mutants", () => {
    const differing: Array<string> = []
    const counts = { accepted: 0, refused: 0 }
    for (const [index, body] of bodies().entries()) {
      const random = seeded(index + 1)
      for (let round = 0; round < 400; round++) {
        const { body: mutant, done } = round === 0 ? { body, done: "nothing" } : mutate(body, random)
        if (unread.some((name) => JSON.stringify(mutant).includes(`"${name}"`))) continue
        const expected = oracle?.(mutant) === true
        counts[expected ? "accepted" : "refused"] += 1
        const fault = chatRequest(mutant, "")
        if (expected !== (fault === undefined))
          differing.push(`${index} ${done}: schema ${expected}, ours ${JSON.stringify(fault)}`)
      }
    }
    expect(differing).toEqual([])
    expect(Math.min(counts.accepted, counts.refused)).toBeGreaterThan(1000)
  })
})
