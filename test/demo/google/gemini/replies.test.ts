import { describe, expect, it } from "vitest"
import { type GeminiIdentity, streamChunks, unaryBody } from "../../../../src/demo/google/gemini/generateContent.ts"
import { drawJpeg, drawPng } from "../../../../src/demo/google/shared/pictures.ts"
import { replyTo } from "../../../../src/demo/google/gemini/replies.ts"
import type {
  FunctionDeclaration,
  GenerateRequest,
  JsonSchema
} from "../../../../src/demo/google/shared/generateRequest.ts"
import { signatureOwner } from "../../../../src/demo/google/shared/signatures.ts"

const ask = (text: string, more: Partial<GenerateRequest> = {}): GenerateRequest => ({
  contents: [{ role: "user", parts: [{ text }] }],
  ...more
})
const google: GeminiIdentity = {
  backend: "google",
  model: "gemini-2.5-flash",
  responseId: "r",
  createTime: "2026-01-01T00:00:00.000000Z"
}
const vertex: GeminiIdentity = { ...google, backend: "vertex" }
const parts = (request: GenerateRequest, model = "gemini-2.5-flash") =>
  replyTo(request, { backend: "google", model }).candidates[0]?.parts ?? []
const unary = (request: GenerateRequest, identity = google) => unaryBody(replyTo(request, identity), identity)
const greeting =
  "Hello! I am a simulated Gemini model, so nothing you write leaves this machine. What would you like to try?"

const weather: FunctionDeclaration = {
  name: "get_weather",
  description: "Weather of a city",
  parametersJsonSchema: {
    type: "object",
    properties: { city: { type: "string" }, unit: { type: "string", enum: ["celsius", "fahrenheit"] } },
    required: ["city"]
  }
}
const withWeather = { tools: [{ functionDeclarations: [weather] }] }

describe("bodies of simulated Gemini", () => {
  it("Gemini body: is a greeting on the Gemini API", () => {
    expect(unary(ask("Hello"))).toEqual({
      candidates: [{ content: { parts: [{ text: greeting }], role: "model" }, finishReason: "STOP", index: 0 }],
      usageMetadata: {
        promptTokenCount: 2,
        candidatesTokenCount: 27,
        totalTokenCount: 77,
        promptTokensDetails: [{ modality: "TEXT", tokenCount: 2 }],
        thoughtsTokenCount: 48,
        serviceTier: "standard"
      },
      modelVersion: "gemini-2.5-flash",
      responseId: "r"
    })
  })
  it("Gemini body: on Vertex AI has no index, a creation time, traffic type and answer details", () => {
    expect(unary(ask("Hello"), vertex)).toEqual({
      candidates: [{ content: { parts: [{ text: greeting }], role: "model" }, finishReason: "STOP" }],
      usageMetadata: {
        promptTokenCount: 2,
        candidatesTokenCount: 27,
        totalTokenCount: 77,
        promptTokensDetails: [{ modality: "TEXT", tokenCount: 2 }],
        candidatesTokensDetails: [{ modality: "TEXT", tokenCount: 27 }],
        thoughtsTokenCount: 48,
        trafficType: "ON_DEMAND"
      },
      modelVersion: "gemini-2.5-flash",
      createTime: "2026-01-01T00:00:00.000000Z",
      responseId: "r"
    })
  })
  it("Gemini stream: has the same text, usage on every event, the finish on the last", () => {
    const chunks = streamChunks(replyTo(ask("Hello"), google), google).map(({ value }) => value)
    const text = chunks
      .flatMap((chunk) => JSON.parse(JSON.stringify(chunk)).candidates)
      .map((candidate) => candidate.content.parts[0].text)
      .join("")
    expect(text).toBe(greeting)
    expect(chunks.length).toBeGreaterThan(3)
    expect(chunks.filter((chunk) => JSON.stringify(chunk).includes("promptTokenCount"))).toHaveLength(chunks.length)
    expect(chunks.map((chunk) => JSON.stringify(chunk).includes("finishReason")).indexOf(true)).toBe(chunks.length - 1)
  })
  it("Gemini stream: on Vertex AI has only the traffic type in between", () => {
    const chunks = streamChunks(replyTo(ask("Hello"), vertex), vertex).map(({ value }) => value["usageMetadata"])
    expect(chunks[0]).toEqual({ trafficType: "ON_DEMAND" })
    expect(chunks.at(-1)).toMatchObject({ promptTokenCount: 2, totalTokenCount: 77 })
  })
  it("Gemini body: a Gemini 3 text ends with a signature in an empty part", () => {
    const identity = { ...google, model: "gemini-3-flash-preview" }
    const last = streamChunks(replyTo(ask("Hello"), identity), identity).at(-1)
    const { candidates } = JSON.parse(JSON.stringify(last?.value))
    expect(candidates[0].content.parts[0].text).toBe("")
    expect(signatureOwner(candidates[0].content.parts[0].thoughtSignature)).toBe("google")
    expect(candidates[0].finishReason).toBe("STOP")
  })
})

describe("tool calls of simulated Gemini", () => {
  it("Gemini call: is the tool that the prompt names", () => {
    expect(parts(ask("What is the weather in Paris?", withWeather))).toEqual([
      { functionCall: { name: "get_weather", args: { city: "Paris" } }, thoughtSignature: expect.any(String) }
    ])
  })
  it("Gemini call: is made for each place, signed on the first only, with ids on Gemini 3", () => {
    const calls = parts(ask("What is the weather in Paris and Tokyo?", withWeather), "gemini-3-pro-preview")
    expect(calls).toEqual([
      {
        functionCall: { id: expect.stringMatching(/^call_/), name: "get_weather", args: { city: "Paris" } },
        thoughtSignature: expect.any(String)
      },
      { functionCall: { id: expect.stringMatching(/^call_/), name: "get_weather", args: { city: "Tokyo" } } }
    ])
  })
  it("Gemini call: is unsigned on 2.5 when thinking is off", () => {
    const request = ask("Weather in Paris?", {
      ...withWeather,
      generationConfig: { thinkingConfig: { thinkingBudget: 0 } }
    })
    expect(parts(request)).toEqual([{ functionCall: { name: "get_weather", args: { city: "Paris" } } }])
  })
  it("Gemini call: is replaced by text when no tool fits, and when mode is NONE", () => {
    expect(parts(ask("Hello", withWeather))).toEqual([{ text: greeting }])
    const none = { ...withWeather, toolConfig: { functionCallingConfig: { mode: "NONE" } } }
    expect(parts(ask("Weather in Paris?", none))[0]?.functionCall).toBeUndefined()
  })
  it("Gemini call: is always made with mode ANY, among the allowed names", () => {
    const tools = [{ functionDeclarations: [weather, { name: "other" }] }]
    const toolConfig = { functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["other"] } }
    expect(parts(ask("Hello", { tools, toolConfig }))[0]?.functionCall).toEqual({ name: "other", args: {} })
  })
  it("Gemini call: its results are quoted afterwards", () => {
    const contents = [
      { role: "user", parts: [{ text: "Weather in Paris?" }] },
      { role: "model", parts: [{ functionCall: { name: "get_weather", args: { city: "Paris" } } }] },
      { role: "user", parts: [{ functionResponse: { name: "get_weather", response: { output: "18 degrees" } } }] }
    ]
    expect(parts({ contents, ...withWeather })).toEqual([
      { text: "The tool get_weather answered 18 degrees. That is all I need to answer you." }
    ])
  })
  it("Gemini call: opens the browser for computer use", () => {
    expect(
      parts(ask("Find shoes", { tools: [{ computerUse: { environment: "ENVIRONMENT_BROWSER" } }] }))[0]?.functionCall
    ).toEqual({ name: "open_web_browser", args: {} })
  })
})

describe("other answers of simulated Gemini", () => {
  const finish = (request: GenerateRequest) => replyTo(request, google).candidates[0]?.finishReason
  it("Gemini answer: is JSON for a schema", () => {
    const responseSchema: JsonSchema = {
      type: "OBJECT",
      properties: { city: { type: "STRING" }, hot: { type: "BOOLEAN" } },
      required: ["city"]
    }
    const [part] = parts(
      ask("Weather in Oslo", { generationConfig: { responseMimeType: "application/json", responseSchema } })
    )
    expect(JSON.parse(part?.text ?? "")).toEqual({ city: "Oslo", hot: true })
  })
  it("Gemini answer: is a JSON object without a schema", () => {
    expect(
      JSON.parse(parts(ask("Hello", { generationConfig: { responseMimeType: "application/json" } }))[0]?.text ?? "")
    ).toEqual({ answer: greeting })
  })
  it("Gemini answer: stops at the token limit and at a stop sequence", () => {
    const short = ask("Hello", { generationConfig: { maxOutputTokens: 2 } })
    expect([parts(short), finish(short)]).toEqual([[{ text: "Hello! I" }], "MAX_TOKENS"])
    const stopped = ask("Hello", { generationConfig: { stopSequences: [" simulated"] } })
    expect([parts(stopped), finish(stopped)]).toEqual([[{ text: "Hello! I am a" }], "STOP"])
  })
  it("Gemini answer: contains visible thinking when requested", () => {
    const request = ask("Hello", { generationConfig: { thinkingConfig: { includeThoughts: true } } })
    expect(parts(request)[0]).toMatchObject({ thought: true, text: expect.stringContaining("**Reading the Request**") })
    expect(parts(request)[1]).toEqual({ text: greeting })
  })
  it("Gemini answer: contains thinking on experimental models: unflagged, or flagged when requested", () => {
    const model = "gemini-2.0-flash-thinking-exp-01-21"
    expect(parts(ask("Hello"), model)).toEqual([{ text: expect.stringContaining("**Reading") }, { text: greeting }])
    const asked = ask("Hello", { generationConfig: { thinkingConfig: { includeThoughts: true } } })
    expect(parts(asked, model)[0]?.thought).toBe(true)
  })
  it("Gemini answer: draws an image with text, or alone", () => {
    const both = parts(
      ask("a cat", { generationConfig: { responseModalities: ["TEXT", "IMAGE"] } }),
      "gemini-2.5-flash-image"
    )
    expect(both).toEqual([
      { text: 'Here is a small picture for "a cat".' },
      { inlineData: { mimeType: "image/png", data: drawPng("a cat", undefined) } }
    ])
    const alone = ask("a cat", { generationConfig: { responseModalities: ["IMAGE"] } })
    expect(parts(alone, "gemini-2.5-flash-image")).toHaveLength(1)
    expect(unary(alone, { ...google, model: "gemini-2.5-flash-image" })["usageMetadata"]).toMatchObject({
      candidatesTokensDetails: [{ modality: "IMAGE", tokenCount: 1290 }]
    })
  })
  it("Gemini answer: draws in the requested format, ratio and size, at the price of the model", () => {
    const imageConfig = { aspectRatio: "16:9", imageSize: "4K", imageOutputOptions: { mimeType: "image/jpeg" } }
    const asked = ask("a cat", { generationConfig: { responseModalities: ["IMAGE"], imageConfig } })
    const model = "gemini-3-pro-image-preview"
    expect(parts(asked, model)[0]?.inlineData).toEqual({ mimeType: "image/jpeg", data: drawJpeg("a cat", "16:9", 256) })
    expect(unary(asked, { ...google, model })["usageMetadata"]).toMatchObject({
      candidatesTokensDetails: [{ modality: "IMAGE", tokenCount: 2000 }]
    })
  })
  it("Gemini answer: describes media", () => {
    const contents = [
      { role: "user", parts: [{ inlineData: { mimeType: "image/png", data: "AAAA" } }, { text: "What is it?" }] }
    ]
    expect(parts({ contents })[0]?.text).toMatch(/^I see an image\/png of 3 bytes\. You wrote: "What is it\?"/)
  })
  it("Gemini answer: is grounded, with offsets in bytes", () => {
    const candidate = replyTo(ask("Käse?", { tools: [{ googleSearch: {} }] }), google).candidates[0]
    const text = Buffer.from(candidate?.parts[0]?.text ?? "")
    const { groundingSupports, groundingChunks } = JSON.parse(JSON.stringify(candidate?.groundingMetadata))
    expect(groundingChunks[0].web.uri).toMatch(/^https:/)
    for (const { segment } of groundingSupports) {
      expect(text.subarray(segment.startIndex ?? 0, segment.endIndex).toString()).toBe(segment.text)
    }
  })
  it("Gemini answer: runs code", () => {
    expect(parts(ask("What is 6 * 7?", { tools: [{ codeExecution: {} }] })).slice(0, 2)).toEqual([
      { executableCode: { language: "PYTHON", code: "print(6 * 7)\n" } },
      { codeExecutionResult: { outcome: "OUTCOME_OK", output: "42\n" } }
    ])
  })
  it("Gemini answer: blocks the prompt, or the answer", () => {
    expect(unary(ask("x"), { ...google, model: "demo-safety-block" })).toMatchObject({
      promptFeedback: { blockReason: "SAFETY" }
    })
    expect(unary(ask("x"), { ...google, model: "demo-safety-block" })).not.toHaveProperty("candidates")
    expect(finish(ask("demo:block-answer"))).toBe("SAFETY")
  })
  it("Gemini answer: rates safety when requested", () => {
    const safetySettings = [{ category: "HARM_CATEGORY_HARASSMENT", threshold: "BLOCK_NONE" }]
    expect(replyTo(ask("Hello", { safetySettings }), google).candidates[0]?.safetyRatings).toContainEqual({
      category: "HARM_CATEGORY_HARASSMENT",
      probability: "NEGLIGIBLE"
    })
  })
  it("Gemini answer: has several candidates and log probabilities", () => {
    expect(replyTo(ask("Hello", { generationConfig: { candidateCount: 3 } }), google).candidates).toHaveLength(3)
    const result = replyTo(
      ask("Hello", { generationConfig: { responseLogprobs: true, logprobs: 2, maxOutputTokens: 2 } }),
      google
    ).candidates[0]?.logprobs
    expect(result?.logprobsResult["chosenCandidates"]).toEqual([
      { token: "Hello!", tokenId: 1000, logProbability: -0.125 },
      { token: " I", tokenId: 1001, logProbability: -0.25 }
    ])
  })
})
