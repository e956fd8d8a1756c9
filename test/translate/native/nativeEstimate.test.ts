// Estimates of native requests: everything that becomes input, bounds of the output in each spelling, pictures.
import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import { estimatedUsage, expectedPrompt } from "../../../src/operations/operationRules.ts"
import { noUsage } from "../../../src/operations/usage.ts"
import { type JsonObject, parseExactJsonText } from "../../../src/domain/text/json.ts"
import { nativeOutput, nativePrompt, predictedOutput } from "../../../src/translate/native/nativeEstimate.ts"

const text = "x".repeat(400)
const media = { mimeType: "image/png", data: Buffer.from("\x89PNG\r\n\x1a\n", "latin1").toString("base64") }
const contents = [{ role: "user", parts: [{ text }] }]
const inputOf = (body: JsonObject) => nativePrompt(body).tokens
const outputOf = (body: JsonObject) => nativeOutput({ contents, ...body }, 100).tokens
/** Input beyond that of the contents. */
const addedBy = (body: JsonObject) => inputOf({ contents, ...body }) - inputOf({ contents })

describe("native estimates: input", () => {
  it("native estimate: text counts by its length, media by their size (N310)", () => {
    const snake = { inline_data: { mime_type: media.mimeType, data: media.data } }
    expect([
      inputOf({ contents }),
      inputOf({ contents: [{ role: "user", parts: [{ text }, { inlineData: media }] }] }),
      inputOf({ contents: [{ role: "user", parts: [{ text }, snake] }] })
    ]).toStrictEqual([105, 370, 371])
  })

  const schema = { type: "object", description: text }
  const written = Math.ceil((400 + "typeobjectdescription".length) / 4)
  it.each<readonly [string, JsonObject, number]>([
    ["the system instruction", { systemInstruction: { parts: [{ text }] } }, 103],
    ["the system instruction in snake case", { system_instruction: { parts: [{ text }] } }, 103],
    ["tools", { tools: [{ functionDeclarations: [{ description: text }] }] }, 108],
    ["the choice of tools", { toolConfig: { functionCallingConfig: { allowedFunctionNames: [text] } } }, 111],
    ["the schema of the answer", { generationConfig: { responseSchema: schema } }, written],
    ["a JSON schema of the answer", { generationConfig: { responseJsonSchema: schema } }, written],
    ["a JSON schema in snake case", { generation_config: { response_json_schema: schema } }, written],
    ["a JSON schema under its inner name", { generationConfig: { _responseJsonSchema: schema } }, written],
    ["a wrapped request", { generateContentRequest: { contents } }, 107],
    ["an unknown member", { whatever: text }, 100]
  ])("native estimate: %s counts (N310)", (_name, body, added) => {
    expect(addedBy(body)).toBe(added)
  })

  it.each<readonly [string, JsonObject]>([
    ["labels", { labels: { team: text } }],
    ["safety settings", { safetySettings: [{ category: text }] }],
    ["the model", { model: text }],
    ["settings of speech", { generationConfig: { speechConfig: { languageCode: text } } }],
    ["sequences that end the answer", { generationConfig: { stopSequences: [text] } }]
  ])("native estimate: no model reads %s (N310)", (_name, body) => {
    expect(addedBy(body)).toBe(0)
  })

  it("native estimate: data without a type count as text where that is more (N310)", () => {
    const data = Buffer.alloc(40_000, "x").toString("base64")
    const of = (part: JsonObject) => inputOf({ contents: [{ parts: [part] }] })
    expect([
      of({ inlineData: { data } }),
      of({ inlineData: { mimeType: "", data } }),
      of({ inlineData: { mimeType: "application/octet-stream", data } }),
      of({ inlineData: { mimeType: "image/png", data } }),
      of({ inlineData: { mimeType: "image/png", data: Buffer.alloc(40_000).toString("base64") } })
    ]).toStrictEqual([10_006, 10_008, 10_014, 10_010, 267])
  })

  it("native estimate: a cached content may fill the context of its model, at its own price (N310)", () => {
    const of = (body: JsonObject, model: string) => {
      const { cached, input } = estimatedUsage("nativeContent", { contents, ...body }, 10, model)
      return [input, cached]
    }
    expect([
      of({ cachedContent: "cachedContents/a" }, "gemini-2.5-flash"),
      of({ cached_content: "cachedContents/a" }, "gemini-99-future"),
      of({ cachedContent: "" }, "gemini-2.5-flash")
    ]).toStrictEqual([
      [105 + 1_048_576, 1_048_576],
      [105 + 1_048_576, 1_048_576],
      [105, 0]
    ])
  })

  it("native estimate: counts of tokens are free (N310)", () => {
    for (const operation of ["nativeCount", "messagesCountTokens", "countTokens"] as const)
      expect([expectedPrompt(operation, { contents }), estimatedUsage(operation, { contents }, 100)]).toStrictEqual([
        { input: 0, audioInput: 0, isCached: false },
        noUsage
      ])
  })
})

describe("native estimates: output", () => {
  it.each<readonly [string, JsonObject, number]>([
    ["nothing is asked for", {}, 100],
    ["a bound", { generationConfig: { maxOutputTokens: 7 } }, 7],
    ["a bound and answers", { generationConfig: { maxOutputTokens: 7, candidateCount: 2 } }, 14],
    ["a bound in snake case", { generation_config: { max_output_tokens: 7 } }, 7],
    ["a bound as a text", { generationConfig: { maxOutputTokens: "60000" } }, 60_000],
    ["a bound as a text with an exponent", { generationConfig: { maxOutputTokens: "6e4" } }, 60_000],
    ["a bound as a text with blanks", { generationConfig: { max_output_tokens: " 60000.0 " } }, 60_000],
    ["answers as a text", { generationConfig: { maxOutputTokens: 7, candidateCount: "8" } }, 56],
    ["a bound that is no number", { generationConfig: { maxOutputTokens: "many" } }, 100],
    ["a bound that is null", { generationConfig: { maxOutputTokens: null } }, 100],
    ["a budget of thoughts", { generationConfig: { thinkingConfig: { thinkingBudget: 5 } } }, 105],
    ["a budget of thoughts as a text", { generation_config: { thinking_config: { thinking_budget: "5" } } }, 105],
    ["a budget that the model chooses", { generationConfig: { thinkingConfig: { thinkingBudget: -1 } } }, 100],
    ["a level of thoughts", { generationConfig: { thinkingConfig: { thinkingLevel: "LOW" } } }, 1_124],
    ["an unknown level", { generationConfig: { thinkingConfig: { thinkingLevel: 3 } } }, 24_676],
    [
      "thoughts inside of a bound",
      { generationConfig: { maxOutputTokens: 7, thinkingConfig: { thinkingBudget: 5 } } },
      7
    ]
  ])("native estimate: output where %s (N310)", (_name, body, tokens) => {
    expect(outputOf(body)).toBe(tokens)
  })

  it("native estimate: an integer beyond 2^53 is the largest bound (N310)", () => {
    const generationConfig = Result.getOrThrow(parseExactJsonText('{"maxOutputTokens":9007199254740993}'))
    expect(outputOf({ generationConfig })).toBe(Number.MAX_SAFE_INTEGER)
  })

  it("native estimate: pictures and sound count where the body or the model asks for them (N310)", () => {
    const of = (generationConfig: JsonObject, model = "gemini-2.5-flash") => {
      const { audioOutput, imageOutput, output } = estimatedUsage("nativeContent", { generationConfig }, 100, model)
      return [output, imageOutput, audioOutput]
    }
    expect([
      of({ responseModalities: ["TEXT", "Image"] }),
      of({ response_modalities: [2] }),
      of({ responseModalities: ["IMAGE"], imageConfig: { imageSize: "4K" }, candidateCount: "2", maxOutputTokens: 10 }),
      of({}, "gemini-2.5-flash-image"),
      of({ responseModalities: ["AUDIO"] })
    ]).toStrictEqual([
      [1390, 1290, 0],
      [1390, 1290, 0],
      [5060, 5040, 0],
      [1390, 1290, 0],
      [100, 0, 100]
    ])
  })
})

describe("native estimates: predictions", () => {
  it.each<readonly [string, JsonObject, number, number]>([
    ["the number of pictures", { instances: [{ prompt: "x" }], parameters: { sampleCount: 3 } }, 3, 0],
    ["the number as a text", { instances: [{ prompt: "x" }], parameters: { sampleCount: "3" } }, 3, 0],
    ["the larger of two spellings", { instances: [{}], parameters: { sampleCount: 1, sample_count: 8 } }, 8, 0],
    ["Imagen's own number where there is none", { instances: [{ prompt: "x" }] }, 4, 0],
    ["pictures without a prompt", { instances: [{ personImage: {} }], parameters: { sampleCount: 2 } }, 2, 0],
    ["pictures of each instance", { instances: [{}, {}], parameters: { sampleCount: 2 } }, 4, 0],
    ["as many instances as a body holds", { instances: Array.from({ length: 300_000 }, () => ({})) }, 1_200_000, 0],
    ["text of a deployed model", { instances: [{ prompt: "x", max_tokens: 50 }, {}] }, 8, 100]
  ])("native estimate: a prediction counts %s (N310)", (_name, body, images, tokens) => {
    expect(predictedOutput(body)).toStrictEqual({ images, tokens })
  })

  it("native estimate: embeddings by predict have no output (N310)", () => {
    expect(estimatedUsage("nativeEmbeddings", { instances: [{ content: text }] }, 1)).toStrictEqual({
      ...noUsage,
      input: 102
    })
  })
})
