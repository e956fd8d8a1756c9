// Tests the owner's requirement over sockets: each stated form is sent as stated, and call and answer are compared.
// Must not reach the network beyond its own sockets.
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { gatewayKey, startTestGateway, type TestGateway } from "../support/TestGateway.ts"

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startTestGateway({ simulator: { day: "2025-12-01" } })
})
afterAll(() => gateway.close())

type Body = ReturnType<typeof JSON.parse>

const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(`${gateway.url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-gateway-api-key": gatewayKey, ...headers },
    body: JSON.stringify(body)
  })
const open = { "x-gateway-strict-schema-compliance": "false" }

/** A chat request, its answer, and the body the simulated provider got for it. */
const chat = async (
  body: Record<string, unknown>,
  headers: Record<string, string> = {}
): Promise<{ status: number; answer: Body; sent: Body }> => {
  const response = await post(
    "/v1/chat/completions",
    { messages: [{ role: "user", content: "Hello" }], ...body },
    headers
  )
  const answer: Body = await response.json()
  return { status: response.status, answer, sent: gateway.simulator.calls.at(-1)?.body }
}
/** The chunks of a streamed chat request. */
const chunks = async (
  body: Record<string, unknown>,
  headers: Record<string, string> = {}
): Promise<ReadonlyArray<Body>> => {
  const response = await post(
    "/v1/chat/completions",
    { messages: [{ role: "user", content: "Hello" }], ...body, stream: true },
    headers
  )
  const data = (await response.text())
    .split("\n\n")
    .filter((frame) => frame.startsWith("data: "))
    .map((frame) => frame.slice(6))
  expect(data.at(-1)).toBe("[DONE]")
  return data.slice(0, -1).map((one) => JSON.parse(one))
}

describe.each(["google", "vertex-ai"])("requirement: Gemini on %s", (slug) => {
  const flash = `@${slug}/gemini-2.5-flash`
  const pro3 = `@${slug}/gemini-3-pro-preview`

  it("Gemini: the model has a prefix, or the header names the provider, written with @ or without", async () => {
    const asked: ReadonlyArray<readonly [string, Record<string, string>]> = [
      [flash, {}],
      ["gemini-2.5-flash", { "x-gateway-provider": slug }],
      ["gemini-2.5-flash", { "x-gateway-provider": `@${slug}` }]
    ]
    const answers = await Promise.all(asked.map(([model, headers]) => chat({ model }, headers)))
    expect(answers.map(({ status, answer }) => [status, answer.model])).toEqual(
      asked.map(() => [200, "gemini-2.5-flash"])
    )
  })

  it("Gemini: a system message becomes the system instruction", async () => {
    const { sent } = await chat({
      model: flash,
      messages: [
        { role: "system", content: "Be kind." },
        { role: "user", content: "Hello" }
      ]
    })
    expect([sent.systemInstruction, sent.contents]).toEqual([
      { parts: [{ text: "Be kind." }] },
      [{ role: "user", parts: [{ text: "Hello" }] }]
    ])
  })

  it("Gemini: every listed type of media passes as a data URI", async () => {
    const types = [
      "image/png",
      "image/jpeg",
      "image/webp",
      "image/heic",
      "image/heif",
      "audio/wav",
      "audio/mp3",
      "audio/aiff",
      "audio/aac",
      "audio/ogg",
      "audio/flac",
      "audio/pcm",
      "audio/m4a",
      "audio/mpeg",
      "audio/mpga",
      "audio/mp4",
      "audio/webm",
      "video/mp4",
      "video/mpeg",
      "video/mov",
      "video/avi",
      "video/webm",
      "video/wmv",
      "application/pdf"
    ]
    const content = types.map((type) => ({ type: "image_url", image_url: { url: `data:${type};base64,AAAA` } }))
    const { status, sent } = await chat({
      model: flash,
      messages: [{ role: "user", content: [{ type: "text", text: "What is it?" }, ...content] }]
    })
    expect([status, sent.contents[0].parts.slice(1)]).toEqual([
      200,
      types.map((mimeType) => ({ inlineData: { mimeType, data: "AAAA" } }))
    ])
  })

  it("Gemini: a public address gets its type from the extension, and a YouTube address needs none", async () => {
    const urls = ["https://example.com/a/cat.png", "https://www.youtube.com/watch?v=dQw4w9WgXcQ"]
    const content = urls.map((url) => ({ type: "image_url", image_url: { url } }))
    const { status, sent } = await chat({
      model: flash,
      messages: [{ role: "user", content: [{ type: "text", text: "What is it?" }, ...content] }]
    })
    expect([status, sent.contents[0].parts.slice(1).map((part: Body) => part.fileData.fileUri)]).toEqual([200, urls])
    expect(sent.contents[0].parts[1].fileData.mimeType).toBe("image/png")
    const bare = await chat({
      model: flash,
      messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: "https://example.com/cat" } }] }]
    })
    expect([bare.status, bare.answer.error.param]).toEqual([400, "messages[0].content[0].image_url.url"])
  })

  it("Gemini: a function is called and answered by id, and its result is used", async () => {
    const tools = [
      {
        type: "function",
        function: {
          name: "get_weather",
          description: "Weather of a city",
          parameters: {
            type: "object",
            properties: { city: { type: "string", description: "Where" }, unit: { type: "string", enum: ["c", "f"] } },
            required: ["city"]
          }
        }
      }
    ]
    const question = { role: "user", content: "What is the weather in Paris?" }
    const { answer } = await chat({ model: flash, tools, messages: [question] })
    const { message, finish_reason } = answer.choices[0]
    expect([finish_reason, message.content, message.tool_calls]).toEqual([
      "tool_calls",
      null,
      [
        {
          id: expect.stringMatching(/^call-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/),
          type: "function",
          function: { name: "get_weather", arguments: '{"city":"Paris"}' }
        }
      ]
    ])
    const result = { role: "tool", tool_call_id: message.tool_calls[0].id, content: "21 degrees" }
    const last = await chat({ model: flash, tools, messages: [question, message, result] })
    expect(last.answer.choices[0].message.content).toBe(
      "The tool get_weather answered 21 degrees. That is all I need to answer you."
    )
  })

  it("Gemini: code is executed", async () => {
    const { answer, sent } = await chat({
      model: flash,
      tools: [{ type: "code_execution" }],
      messages: [{ role: "user", content: "What is 6 * 7?" }]
    })
    expect([sent.tools, answer.choices[0].finish_reason]).toEqual([[{ codeExecution: {} }], "stop"])
  })

  it("Gemini: the search tools ground an answer, each under its name", async () => {
    const named = (name: string) => [{ type: "function", function: { name } }]
    const newer = await chat({ model: flash, tools: named("web_search") }, open)
    expect([newer.sent.tools, typeof newer.answer.choices[0].groundingMetadata]).toEqual([
      [{ googleSearch: {} }],
      "object"
    ])
    const older = await chat({ model: `@${slug}/gemini-1.5-flash`, tools: named("web_search_retrieval") }, open)
    expect([older.sent.tools, typeof older.answer.choices[0].groundingMetadata]).toEqual([
      [{ googleSearchRetrieval: {} }],
      "object"
    ])
  })

  it("Gemini: a browser is driven over several turns, under both names of the tool", async () => {
    for (const name of ["computer_use", "computerUse"]) {
      const tools = [{ type: "function", function: { name, parameters: { environment: "ENVIRONMENT_BROWSER" } } }]
      const model = `@${slug}/gemini-2.5-computer-use-preview-10-2025`
      const question = { role: "user", content: "Find the newest shoes" }
      const first = await chat({ model, tools, messages: [question] }, open)
      expect(first.sent.tools).toEqual([{ computerUse: { environment: "ENVIRONMENT_BROWSER" } }])
      const { message } = first.answer.choices[0]
      expect(message.tool_calls[0].function.name).toBe("open_web_browser")
      const later = await chat(
        { model, tools, messages: [question, message, { role: "user", content: "Go on" }] },
        open
      )
      expect(later.status).toBe(200)
      expect(later.sent.contents[1].parts[0].functionCall.name).toBe("open_web_browser")
    }
  })

  it.each([
    ["none", 0],
    ["low", 1024],
    ["medium", 8192],
    ["high", 24576]
  ])("Gemini: effort %s on 2.5 is a budget of %d", async (effort, budget) => {
    const { sent } = await chat({ model: flash, reasoning_effort: effort })
    expect(sent.generationConfig.thinkingConfig.thinkingBudget).toBe(budget)
  })

  it.each(["minimal", "low", "medium", "high"])("Gemini: effort %s on 3 is a level", async (effort) => {
    const { status, sent } = await chat({ model: `@${slug}/gemini-3-flash-preview`, reasoning_effort: effort })
    expect([status, sent.generationConfig.thinkingConfig.thinkingLevel]).toEqual([200, effort.toUpperCase()])
  })

  it("Gemini: a thinking budget returns thinking in content_blocks, and a budget of 0 returns none", async () => {
    const thinking = { type: "enabled", budget_tokens: 2048 }
    const streamed = await chunks({ model: flash, thinking }, open)
    const blocks = streamed.flatMap((chunk) => chunk.choices[0]?.delta.content_blocks ?? [])
    expect([...new Set(blocks.flatMap((block) => Object.keys(block.delta)))]).toEqual(["thinking", "text"])
    const words = streamed.map((chunk) => chunk.choices[0]?.delta.content ?? "").join("")
    expect(words).toBe(blocks.map((block) => block.delta.text ?? "").join(""))
    const off = await chat({ model: flash, thinking: { type: "enabled", budget_tokens: 0 } }, open)
    expect([
      off.sent.generationConfig.thinkingConfig.thinkingBudget,
      off.answer.usage.completion_tokens_details?.reasoning_tokens ?? 0
    ]).toEqual([0, 0])
  })

  it("Gemini: thought signatures are returned when not strict, and the newest pro model accepts them back", async () => {
    const tools = [
      {
        type: "function",
        function: {
          name: "check_flight",
          description: "Check a flight",
          parameters: { type: "object", properties: { flight: { type: "string" } }, required: ["flight"] }
        }
      }
    ]
    const question = { role: "user", content: "Check the flight AA100" }
    const first = await chat({ model: pro3, tools, messages: [question] }, open)
    const { message } = first.answer.choices[0]
    const signature = message.tool_calls[0].function.thought_signature
    expect(typeof signature).toBe("string")
    const later = await chat(
      {
        model: pro3,
        tools,
        messages: [question, message, { role: "tool", tool_call_id: message.tool_calls[0].id, content: "delayed" }]
      },
      open
    )
    expect([
      later.status,
      later.sent.contents[1].parts.find((part: Body) => part.functionCall).thoughtSignature
    ]).toEqual([200, signature])
    const strict = await chat({ model: pro3, tools, messages: [question] })
    expect(Object.keys(strict.answer.choices[0].message.tool_calls[0].function)).toEqual(["name", "arguments"])
  })

  it("Gemini: a signature of another backend is refused as a foreign one", async () => {
    const messages = [
      { role: "user", content: "Check the flight AA100" },
      {
        role: "assistant",
        content: null,
        tool_calls: [
          { id: "a", type: "function", function: { name: "f", arguments: "{}", thought_signature: "AY89a1AAAA==" } }
        ]
      },
      { role: "tool", tool_call_id: "a", content: "delayed" }
    ]
    const { status, answer } = await chat({ model: pro3, messages })
    expect([status, answer.error.code]).toEqual([400, "thought_signature_invalid"])
  })

  it("Gemini: images are drawn in a chat, and sent back in a later turn", async () => {
    const model = `@${slug}/gemini-2.5-flash-image`
    const asked = {
      model,
      max_tokens: 32768,
      modalities: ["text", "image"],
      image_config: { aspect_ratio: "16:9", image_size: "1K" }
    }
    const question = { role: "user", content: "Draw a cat" }
    const first = await chat({ ...asked, messages: [question] }, open)
    expect(first.sent.generationConfig).toEqual({
      maxOutputTokens: 32768,
      responseModalities: ["TEXT", "IMAGE"],
      imageConfig: { aspectRatio: "16:9", imageSize: "1K" }
    })
    const { message } = first.answer.choices[0]
    expect(message.content_parts).toEqual([
      { type: "text", text: 'Here is a small picture for "Draw a cat".' },
      { type: "image", image: { b64_json: expect.stringMatching(/^iVBOR/), mime_type: "image/png" } }
    ])
    const later = await chat({ ...asked, messages: [question, message, { role: "user", content: "Now a dog" }] }, open)
    expect([later.status, later.sent.contents[1].parts.find((part: Body) => part.inlineData)]).toEqual([
      200,
      {
        inlineData: { mimeType: "image/png", data: message.content_parts[1].image.b64_json }
      }
    ])
    const strict = await chat({ ...asked, messages: [question] })
    expect(Object.keys(strict.answer.choices[0].message).sort()).toEqual(["content", "refusal", "role"])
  })

  it("Gemini: safety settings are sent, and ratings return on the choice", async () => {
    const categories = ["SEXUALLY_EXPLICIT", "HATE_SPEECH", "HARASSMENT", "DANGEROUS_CONTENT"].map(
      (word) => `HARM_CATEGORY_${word}`
    )
    const safety_settings = categories.map((category) => ({ category, threshold: "BLOCK_LOW_AND_ABOVE" }))
    const { answer, sent } = await chat({ model: flash, safety_settings }, open)
    expect(sent.safetySettings).toEqual(safety_settings)
    expect(answer.choices[0].safetyRatings.map((rating: Body) => rating.category).sort()).toEqual(
      [...categories].sort()
    )
    expect("safetyRatings" in (await chat({ model: flash, safety_settings })).answer.choices[0]).toBe(false)
  })

  it("Gemini: an experimental thinking model joins thinking and answer, and only answers when strict", async () => {
    const model = `@${slug}/gemini-2.0-flash-thinking-exp-01-21`
    const whole = (await chat({ model }, open)).answer.choices[0].message.content
    const strict = (await chat({ model })).answer.choices[0].message.content
    expect(whole.split("\r\n\r\n").at(-1)).toBe(strict)
    expect(whole.length).toBeGreaterThan(strict.length + 4)
    expect(strict).toBe(
      "Hello! I am a simulated Gemini model, so nothing you write leaves this machine. What would you like to try?"
    )
  })

  it("Gemini: no thinking message has to be sent back", async () => {
    const messages = [
      { role: "user", content: "Hello" },
      { role: "assistant", content: [{ type: "text", text: "Hi." }] },
      { role: "user", content: "Thanks" }
    ]
    expect((await chat({ model: `@${slug}/gemini-3-flash-preview`, messages })).status).toBe(200)
  })

  it("Gemini: a mix of tools and grounding is refused with this reason", async () => {
    const tools = [
      { type: "function", function: { name: "web_search" } },
      { type: "function", function: { name: "get_weather" } }
    ]
    const { status, answer } = await chat({ model: flash, tools })
    expect([status, answer.error.code]).toEqual([400, "tools_cannot_be_mixed"])
  })
})

describe("requirement: Claude on Vertex AI", () => {
  const model = "@vertex-ai/anthropic.claude-haiku-4-5@20251001"
  const thinking = { type: "enabled", budget_tokens: 2030 }

  it("Claude: is reached by the prefix of its family, and the beta header is sent under both names", async () => {
    for (const name of ["anthropic-beta", "x-gateway-anthropic-beta"]) {
      const { answer, status } = await chat({ model, max_tokens: 250 }, { [name]: "interleaved-thinking-2025-05-14" })
      expect([status, answer.model]).toEqual([200, "claude-haiku-4-5-20251001"])
      const call = gateway.simulator.calls.at(-1)
      expect([call?.url.split("/").at(-1), call?.headers["anthropic-beta"]]).toEqual([
        "claude-haiku-4-5@20251001:rawPredict",
        "interleaved-thinking-2025-05-14"
      ])
    }
  })

  it("Claude: streams thinking in content_blocks, and accepts the signed block in the next turn", async () => {
    const question = { role: "user", content: "When does the flight from Baltimore to Boston land?" }
    const streamed = await chunks({ model, max_tokens: 3000, thinking, messages: [question] }, open)
    const deltas = streamed.flatMap((chunk) => chunk.choices[0]?.delta.content_blocks ?? []).map((block) => block.delta)
    const all = (name: string) => deltas.map((delta) => delta[name] ?? "").join("")
    expect([all("thinking") !== "", all("signature") !== "", all("text")]).toEqual([
      true,
      true,
      streamed.map((chunk) => chunk.choices[0]?.delta.content ?? "").join("")
    ])
    const block = { type: "thinking", thinking: all("thinking"), signature: all("signature") }
    const later = await chat(
      {
        model,
        max_tokens: 3000,
        thinking,
        messages: [
          question,
          { role: "assistant", content: [block, { type: "text", text: all("text") }] },
          { role: "user", content: "Thanks. To Chicago?" }
        ]
      },
      open
    )
    expect([later.status, later.sent.messages[1].content[0]]).toEqual([200, block])
  })

  it("Claude: returns no thinking to a strict client", async () => {
    const { answer } = await chat({ model, max_tokens: 3000, thinking })
    expect(Object.keys(answer.choices[0].message).sort()).toEqual(["content", "refusal", "role"])
  })

  it("Claude: tokens are counted", async () => {
    const response = await post("/v1/chat/completions/count_tokens", {
      model,
      messages: [{ role: "user", content: "Hello" }]
    })
    const counted: Body = await response.json()
    expect([response.status, counted.object, counted.input_tokens > 0]).toEqual([200, "token_count", true])
  })

  it("Claude: its messages route returns the native answer, and refuses other models", async () => {
    const native: Body = await (
      await post("/v1/messages", { model, max_tokens: 250, messages: [{ role: "user", content: "Hello" }] })
    ).json()
    expect([native.type, native.role, native.content[0].type, native.stop_reason]).toEqual([
      "message",
      "assistant",
      "text",
      "end_turn"
    ])
    const other = await post("/v1/messages", {
      model: "@vertex-ai/gemini-2.5-flash",
      max_tokens: 250,
      messages: [{ role: "user", content: "Hello" }]
    })
    const { error, type }: Body = await other.json()
    expect([other.status, type, error.type, error.message.includes("/v1/chat/completions")]).toEqual([
      400,
      "error",
      "invalid_request_error",
      true
    ])
  })
})

describe("requirement: features of one provider", () => {
  const content = (url: string) => ({
    messages: [
      {
        role: "user",
        content: [
          { type: "text", text: "What is it?" },
          { type: "image_url", image_url: { url } }
        ]
      }
    ]
  })
  it("Vertex AI: accepts labels and gs:// addresses", async () => {
    const { sent } = await chat({
      model: "@vertex-ai/gemini-2.5-flash",
      labels: { team: "search" },
      ...content("gs://bucket/cat.png")
    })
    expect([sent.labels, sent.contents[0].parts[1]]).toEqual([
      { team: "search" },
      { fileData: { fileUri: "gs://bucket/cat.png", mimeType: "image/png" } }
    ])
    const maker = await chat({ model: "@google/gemini-2.5-flash", labels: { team: "search" } })
    expect([maker.status, "labels" in maker.sent]).toEqual([200, false])
  })
  it("Gemini API: accepts addresses of the Files API", async () => {
    const url = "https://generativelanguage.googleapis.com/v1beta/files/abc-123"
    const { sent } = await chat({ model: "@google/gemini-2.5-flash", ...content(url) })
    expect(sent.contents[0].parts[1].fileData.fileUri).toBe(url)
  })
})

describe("requirement: the service", () => {
  it("service: JSON is accepted and returned under /v1, with errors in one format", async () => {
    const good = await post("/v1/chat/completions", {
      model: "@google/gemini-2.5-flash",
      messages: [{ role: "user", content: "Hello" }]
    })
    expect([good.status, good.headers.get("content-type")]).toEqual([200, "application/json"])
    for (const [path, body, status] of [
      ["/v1/chat/completions", {}, 400],
      ["/chat/completions", {}, 400],
      ["/v1/completions", {}, 404]
    ] as const) {
      const response = await post(path, body)
      const { error }: Body = await response.json()
      expect([response.status, Object.keys(error)]).toEqual([status, ["message", "type", "param", "code"]])
    }
  })
  it("service: every request needs the gateway key", async () => {
    const refused = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: "{}"
    })
    const { error }: Body = await refused.json()
    expect([refused.status, error.code]).toEqual([401, "missing_gateway_key"])
  })
})
