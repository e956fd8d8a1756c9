// Tests Gemini sampling, thinking, structured output, images and speech, with bodies checked against the schema.
// Must not open sockets or read clocks.
import * as fc from "fast-check"
import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import { SchemaCopies } from "../../../src/translate/chat-to-gemini/schema.ts"
import { generationConfig } from "../../../src/translate/chat-to-gemini/config.ts"
import { googleFields } from "../../../src/translate/chat-to-gemini/request.ts"
import { ParamReader } from "../../../src/translate/shared/chat-request/paramReader.ts"
import type { ChatRequest } from "../../../src/wire/openai/Chat.ts"
import { chatContext, chatRequest, type ContextOptions } from "../../support/chat.ts"
import { loudlySkipped, schemaOracle, sharedDir } from "../../support/shared.ts"

const oracles = {
  google: schemaOracle("google-generativelanguage-v1beta.schema.json", "GenerateContentRequest"),
  "vertex-ai": schemaOracle("google-aiplatform-v1.schema.json", "GenerateContentRequest")
}
if (sharedDir() === undefined) loudlySkipped("generationConfig against the published request schema")

type Words = Omit<Partial<ChatRequest>, "messages">

const run = (words: Words, model: string, options: ContextOptions) => {
  const request = chatRequest([{ role: "user", content: "hello" }], words)
  const { target } = chatContext(model, options)
  const params = new ParamReader(request)
  const { thinking } = googleFields(params, target)
  const bounds = { schemaDepth: 64, copies: new SchemaCopies(1024 * 1024, request) }
  return params.result(generationConfig(params, target, thinking, bounds))
}
const all = (words: Words, model = "gemini-2.5-flash", options: ContextOptions = {}) => {
  const result = Result.getOrThrow(run(words, model, options))
  const check = oracles[options.kind ?? "google"]
  if (check !== undefined) {
    expect([check({ contents: [], generationConfig: result.config }), check.errors]).toStrictEqual([true, null])
  }
  return result
}
const config = (words: Words, model?: string, options?: ContextOptions) => all(words, model, options).config
const refused = (words: Words, model = "gemini-2.5-flash") => {
  const result = run(words, model, {})
  if (Result.isSuccess(result) || result.failure._tag !== "BodyInvalid") throw new Error("was not refused as invalid")
  return [result.failure.param, result.failure.code]
}
const vertex: ContextOptions = { kind: "vertex-ai" }

describe("Gemini sampling and limits", () => {
  it("stop sequences are sent as a list (T901)", () => {
    expect(config({ stop: "END" })).toStrictEqual({ stopSequences: ["END"] })
    expect(config({ stop: ["a", "b"] })).toStrictEqual({ stopSequences: ["a", "b"] })
    expect(config({ stop: ["a", "b", "c", "d", "a", "e", "f", "g"] })).toStrictEqual({
      stopSequences: ["a", "b", "c", "d", "e"]
    })
    for (const none of ["", [""], null, []]) expect(config({ stop: none })).toStrictEqual({})
    expect(config({ stop: null })).toStrictEqual({})
    expect(config({ stop: [] })).toStrictEqual({})
    for (const stop of [3, {}, [1]]) expect(refused({ stop })).toStrictEqual(["stop", "invalid_type"])
  })
  it("the newer max tokens parameter takes precedence (T902, B74, B75)", () => {
    expect(config({ max_tokens: 10 })).toStrictEqual({ maxOutputTokens: 10 })
    expect(all({ max_tokens: 10, max_completion_tokens: 20 })).toStrictEqual({
      config: { maxOutputTokens: 20 },
      systemText: undefined,
      unused: ["max_tokens"]
    })
    expect(all({ max_tokens: 20, max_completion_tokens: 20 }).unused).toStrictEqual([])
    for (const param of ["max_tokens", "max_completion_tokens"]) {
      for (const none of [0, -1]) {
        expect([config({ [param]: none }), all({ [param]: none }).unused]).toStrictEqual([{}, [param]])
      }
      for (const [value, maxOutputTokens] of [
        [1.5, 1],
        [Infinity, 65_536],
        [131_072, 65_536]
      ] as const)
        expect(config({ [param]: value })).toStrictEqual({ maxOutputTokens })
    }
  })
  it("n becomes candidateCount (T903, B78)", () => {
    expect(config({ n: 1 })).toStrictEqual({})
    expect(config({ n: 8 })).toStrictEqual({ candidateCount: 8 })
    expect(config({ n: 9 })).toStrictEqual({ candidateCount: 8 })
    expect(config({ n: 1.5 })).toStrictEqual({ candidateCount: 2 })
    for (const n of [0, -1]) expect(config({ n })).toStrictEqual({})
  })
  it("penalties and sampling parameters are sent (T904, T907)", () => {
    expect(
      config(
        { temperature: 0, top_p: 0.5, top_k: 40, presence_penalty: -1, frequency_penalty: 0.25 },
        "gemini-2.5-flash",
        vertex
      )
    ).toStrictEqual({ temperature: 0, topP: 0.5, topK: 40, presencePenalty: -1, frequencyPenalty: 0.25 })
    for (const temperature of [99, Infinity]) expect(config({ temperature })).toStrictEqual({ temperature: 2 })
    expect(config({ top_k: 1.5 })).toStrictEqual({ topK: 2 })
    for (const top_k of [0, -1]) expect([config({ top_k }), all({ top_k }).unused]).toStrictEqual([{}, ["top_k"]])
    expect(config({ presence_penalty: 2 }, "gemini-2.5-flash", vertex)).toStrictEqual({ presencePenalty: 1.99 })
  })
  it("seed is sent by its lowest 32 bits (T905, W24)", () => {
    for (const seed of [0, -(2 ** 31), 2 ** 31 - 1]) expect(config({ seed })).toStrictEqual({ seed })
    for (const [seed, folded] of [
      [2 ** 31, -(2 ** 31)],
      [1_234_567_890_123, 1_912_276_171],
      [0.5, 0]
    ] as const)
      expect(config({ seed })).toStrictEqual({ seed: folded })
    expect(refused({ seed: "x" })).toStrictEqual(["seed", "invalid_type"])
  })
  it("logprobs and top_logprobs are sent (T906, B80)", () => {
    expect(config({ logprobs: true, top_logprobs: 5 }, "gemini-2.5-flash", vertex)).toStrictEqual({
      responseLogprobs: true,
      logprobs: 5
    })
    expect(config({ logprobs: false })).toStrictEqual({})
    for (const [top_logprobs, logprobs] of [
      [21, 20],
      [-1, 0],
      [0.5, 1]
    ] as const)
      expect(config({ top_logprobs }, "gemini-2.5-flash", vertex)).toStrictEqual({ logprobs })
  })
  it("a bare request has no generationConfig (T908, T920)", () => {
    expect(config({})).toStrictEqual({})
    expect(
      config({ temperature: null, top_p: null, n: null, seed: null, modalities: null, thinking: null })
    ).toStrictEqual({})
  })
  it("media resolution is sent in Google's spelling (T216)", () => {
    expect(config({ media_resolution: "low" })).toStrictEqual({ mediaResolution: "MEDIA_RESOLUTION_LOW" })
    expect(config({ media_resolution: "MEDIA_RESOLUTION_HIGH" })).toStrictEqual({
      mediaResolution: "MEDIA_RESOLUTION_HIGH"
    })
    expect([config({ media_resolution: "" }), all({ media_resolution: "" }).unused]).toStrictEqual([
      {},
      ["media_resolution"]
    ])
  })
})

const thinks = (words: Words, model?: string, options?: ContextOptions) =>
  config(words, model, options)["thinkingConfig"]

describe("Gemini thinking", () => {
  it.each([
    ["none", { thinkingBudget: 0, includeThoughts: false }],
    ["minimal", { thinkingBudget: 1024, includeThoughts: true }],
    ["low", { thinkingBudget: 1024, includeThoughts: true }],
    ["medium", { thinkingBudget: 8192, includeThoughts: true }],
    ["high", { thinkingBudget: 24_576, includeThoughts: true }],
    ["xhigh", { thinkingBudget: 24_576, includeThoughts: true }],
    ["max", { thinkingBudget: 24_576, includeThoughts: true }]
  ])("effort %s on 2.5 becomes a budget (T703, T705, T706, T709)", (reasoning_effort, expected) => {
    expect(thinks({ reasoning_effort })).toStrictEqual(expected)
    expect(thinks({ reasoning_effort }, "gemini-2.5-flash", vertex)).toStrictEqual(expected)
  })
  it.each([
    ["gemini-3-flash-preview", ["MINIMAL", "LOW", "MEDIUM", "HIGH", "MINIMAL"]],
    ["gemini-3-pro-preview", ["LOW", "LOW", "LOW", "HIGH", "LOW"]],
    ["gemini-3.1-pro-preview", ["LOW", "LOW", "MEDIUM", "HIGH", "LOW"]],
    ["gemini-3.7-flash", ["LOW", "LOW", "MEDIUM", "HIGH", "LOW"]],
    ["gemini-9", ["LOW", "LOW", "MEDIUM", "HIGH", "LOW"]]
  ])("effort on %s becomes a level (T704, T710)", (model, [minimal, low, medium, high, none]) => {
    const levels = Object.entries({ minimal, low, medium, high, xhigh: high, max: high })
    for (const [reasoning_effort, thinkingLevel] of levels) {
      expect(thinks({ reasoning_effort }, model)).toStrictEqual({ thinkingLevel, includeThoughts: true })
    }
    const off = { thinkingLevel: none, includeThoughts: false }
    for (const words of [
      { reasoning_effort: "none" },
      { thinking: { type: "disabled" } },
      { thinking: { type: "enabled", budget_tokens: 0 } }
    ]) {
      expect(thinks(words, model)).toStrictEqual(off)
      expect(thinks(words, model, vertex)).toStrictEqual(off)
    }
  })
  it("other efforts are left out, other types are refused (T705, B81, W2)", () => {
    for (const reasoning_effort of ["extreme", ""])
      expect([config({ reasoning_effort }), all({ reasoning_effort }).unused]).toStrictEqual([{}, ["reasoning_effort"]])
    expect(config({ reasoning_effort: "HIGH" })).toStrictEqual(config({ reasoning_effort: "high" }))
    expect(refused({ reasoning_effort: 3 })).toStrictEqual(["reasoning_effort", "invalid_type"])
  })
  it("precedence is verbatim config, thinking, effort; the others are reported (T702, B83)", () => {
    const verbatim = { extra_body: { google: { thinking_config: { thinking_budget: 7, include_thoughts: true } } } }
    const thinking = { type: "enabled", budget_tokens: 2000 }
    expect(all({ ...verbatim, thinking, reasoning_effort: "low" })).toStrictEqual({
      config: { thinkingConfig: { thinkingBudget: 7, includeThoughts: true } },
      systemText: undefined,
      unused: ["thinking", "reasoning_effort"]
    })
    expect(all({ reasoning_effort: "low", thinking })).toStrictEqual({
      config: { thinkingConfig: { thinkingBudget: 2000, includeThoughts: true } },
      systemText: undefined,
      unused: ["reasoning_effort"]
    })
    expect(thinks({ google: { thinking_config: { thinking_level: "low" } } }, "gemini-3-pro-preview")).toStrictEqual({
      thinkingLevel: "low"
    })
  })
  it("of a budget and a level together the level is sent (T701, W2)", () => {
    const both = { google: { thinking_config: { thinking_budget: 1, thinking_level: "LOW" } } }
    expect([config(both), all(both).unused]).toStrictEqual([
      { thinkingConfig: { thinkingLevel: "LOW" } },
      ["google.thinking_config.thinking_budget"]
    ])
    expect(refused({ extra_body: { google: { thinking_config: 3 } } })).toStrictEqual([
      "extra_body.google.thinking_config",
      "invalid_type"
    ])
  })
  it("a request without thinking options sends none (T706)", () => {
    for (const model of ["gemini-2.5-flash", "gemini-3-pro-preview", "gemini-2.0-flash"])
      expect(thinks({}, model)).toBe(undefined)
  })
  it("budgets are clamped on 2.5 and unchanged on 3 (T707)", () => {
    const budget = (budget_tokens: number, model: string) =>
      thinks({ thinking: { type: "enabled", budget_tokens } }, model)
    const tokens = (thinkingBudget: number) => ({ thinkingBudget, includeThoughts: true })
    expect(budget(5000, "gemini-2.5-flash")).toStrictEqual(tokens(5000))
    expect(budget(99_999, "gemini-2.5-flash")).toStrictEqual(tokens(24_576))
    expect(budget(99_999, "gemini-2.5-pro")).toStrictEqual(tokens(32_768))
    expect(budget(1, "gemini-2.5-pro")).toStrictEqual(tokens(128))
    expect(budget(1, "gemini-2.5-flash-lite")).toStrictEqual(tokens(512))
    expect(budget(99_999, "gemini-3-pro-preview")).toStrictEqual(tokens(99_999))
  })
  it("thinking without an amount includes thoughts only (T708)", () => {
    for (const thinking of [{ type: "enabled" }, { type: "adaptive" }, { type: "enabled", budget_tokens: null }]) {
      for (const model of ["gemini-2.5-flash", "gemini-3-pro-preview", "gemini-3-pro-image-preview"]) {
        expect(thinks({ thinking }, model)).toStrictEqual({ includeThoughts: true })
      }
    }
  })
  it("thinking can be switched off on 2.5 (T709)", () => {
    for (const words of [
      { reasoning_effort: "none" },
      { thinking: { type: "disabled" } },
      { thinking: { type: "enabled", budget_tokens: 0 } }
    ]) {
      expect(thinks(words, "gemini-2.5-flash")).toStrictEqual({ thinkingBudget: 0, includeThoughts: false })
      expect(thinks(words, "gemini-2.5-flash-lite")).toStrictEqual({ thinkingBudget: 0, includeThoughts: false })
      expect(thinks(words, "gemini-2.5-pro")).toStrictEqual({ thinkingBudget: 128, includeThoughts: false })
      expect(thinks(words, "1234567", { tuned: true })).toStrictEqual({ thinkingBudget: 0, includeThoughts: false })
    }
  })
  it("the dynamic budget is accepted, malformed budgets are refused (T711, B82)", () => {
    const thinking = { type: "enabled", budget_tokens: -1 }
    expect(thinks({ thinking })).toStrictEqual({ thinkingBudget: -1, includeThoughts: true })
    expect(thinks({ thinking }, "gemini-3-pro-preview")).toStrictEqual({ includeThoughts: true })
    expect(thinks({ thinking: { type: "enabled", budget_tokens: -5 } })).toStrictEqual(thinks({ thinking }))
    for (const budget_tokens of ["2000", 1999.6])
      expect(thinks({ thinking: { type: "enabled", budget_tokens } })).toStrictEqual({
        thinkingBudget: 2000,
        includeThoughts: true
      })
    expect(refused({ thinking: { type: "enabled", budget_tokens: "8k" } })).toStrictEqual([
      "thinking.budget_tokens",
      "invalid_type"
    ])
    expect(thinks({ thinking: { type: "sometimes" } })).toStrictEqual({ includeThoughts: true })
    expect(refused({ thinking: { type: 3 } })).toStrictEqual(["thinking.type", "invalid_type"])
  })
  it.each(["gemini-1.5-pro", "gemini-2.0-flash", "gemma-3-27b-it", "gemini-2.5-flash-image"])(
    "models without thinking get no config: %s (T712)",
    (model) => {
      const silent = (words: Words) => all(words, model)
      const out = (unused: ReadonlyArray<string>) => ({ config: {}, systemText: undefined, unused })
      expect(silent({ reasoning_effort: "none" })).toStrictEqual(out([]))
      expect(silent({ thinking: { type: "disabled" } })).toStrictEqual(out([]))
      expect(silent({ reasoning_effort: "high" })).toStrictEqual(out(["reasoning_effort"]))
      expect(silent({ thinking: { type: "enabled", budget_tokens: 9 } })).toStrictEqual(out(["thinking"]))
      expect(silent({ google: { thinking_config: { thinking_budget: 9 } } })).toStrictEqual(
        out(["google.thinking_config"])
      )
    }
  )
  it("gemini-3-pro-image accepts budgets (T713)", () => {
    const model = "gemini-3-pro-image-preview"
    expect(thinks({ reasoning_effort: "high" }, model)).toStrictEqual({ thinkingBudget: 24_576, includeThoughts: true })
    expect(thinks({ reasoning_effort: "none" }, model)).toStrictEqual({ includeThoughts: false })
    expect(thinks({ thinking: { type: "enabled", budget_tokens: 1 } }, model)).toStrictEqual({
      thinkingBudget: 1,
      includeThoughts: true
    })
    expect(thinks({ thinking: { type: "enabled", budget_tokens: -1 } }, model)).toStrictEqual({ includeThoughts: true })
  })
  it("thinkingConfig has one control, none for models without thinking, and no thoughts when off (L21)", () => {
    const models = [
      "gemini-1.5-pro",
      "gemini-2.0-flash",
      "gemini-2.5-flash",
      "gemini-2.5-pro",
      "gemini-3-pro-preview",
      "gemini-3-pro-image",
      "gemma-3",
      "gemini-7"
    ]
    const effort = fc.constantFrom("none", "minimal", "low", "medium", "high", "xhigh", "max", null)
    const thinking = fc.option(
      fc.record({
        type: fc.constantFrom("enabled", "disabled", "adaptive"),
        budget_tokens: fc.option(fc.integer({ min: -1, max: 50_000 }))
      })
    )
    fc.assert(
      fc.property(
        fc.constantFrom(...models),
        effort,
        thinking,
        fc.constantFrom<ContextOptions>({}, vertex),
        (model, reasoning_effort, wish, options) => {
          const words = { reasoning_effort, thinking: wish }
          const { config: sent } = all(words, model, options)
          const knob = JSON.stringify(sent["thinkingConfig"] ?? {})
          expect(knob.includes("thinkingBudget") && knob.includes("thinkingLevel")).toBe(false)
          const cannot = chatContext(model, options).target.facts.thinking === "none"
          expect(cannot && knob !== "{}").toBe(false)
          const isOff = reasoning_effort === "none" && wish === null
          expect(isOff && knob.includes('"includeThoughts":true')).toBe(false)
        }
      )
    )
  })
})

const schema = {
  type: "object",
  properties: { z: { type: "string" }, a: { type: ["integer", "null"] } },
  required: ["z"]
}
const upper = {
  type: "OBJECT",
  properties: { z: { type: "STRING" }, a: { type: "INTEGER", nullable: true } },
  required: ["z"],
  propertyOrdering: ["z", "a"]
}
const formatted = (named: object): Words => ({ response_format: { type: "json_schema", json_schema: named } })

describe("Gemini structured output", () => {
  it("the schema goes under the field the model reads (T801, T804, T806)", () => {
    const words = formatted({ name: "answer", description: "d", strict: true, schema })
    const json = {
      responseMimeType: "application/json",
      responseJsonSchema: { title: "answer", description: "d", ...schema }
    }
    const subset = {
      responseMimeType: "application/json",
      responseSchema: { title: "answer", description: "d", ...upper }
    }
    for (const options of [{}, vertex]) {
      expect(config(words, "gemini-2.5-flash", options)).toStrictEqual(json)
      expect(config(words, "gemini-3-pro-preview", options)).toStrictEqual(json)
      expect(config(words, "gemini-2.0-flash", options)).toStrictEqual(subset)
      expect(config(words, "12345", { ...options, tuned: true })).toStrictEqual(subset)
    }
  })
  it("json_object and text set the MIME type (T802)", () => {
    expect(config({ response_format: { type: "json_object" } })).toStrictEqual({ responseMimeType: "application/json" })
    expect(config({ response_format: { type: "text" } })).toStrictEqual({})
  })
  it("a root reference is resolved, anyOf is kept (T805)", () => {
    const root = { $ref: "#/$defs/A", $defs: { A: schema } }
    expect(config(formatted({ schema: root }))).toStrictEqual({
      responseMimeType: "application/json",
      responseJsonSchema: { ...schema, $defs: { A: schema } }
    })
    expect(config(formatted({ schema: root }), "gemini-2.0-flash")).toStrictEqual({
      responseMimeType: "application/json",
      responseSchema: upper
    })
    const either = { anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }] }
    expect(config(formatted({ schema: either }))).toStrictEqual({
      responseMimeType: "application/json",
      responseJsonSchema: either
    })
  })
  it("the schema's own title and description stay (T806)", () => {
    const own = { title: "T", description: "D", ...schema }
    expect(config(formatted({ name: "n", description: "d", schema: own }))["responseJsonSchema"]).toStrictEqual(own)
  })
  it("Vertex AI gets nothing next to anyOf (T806, T310)", () => {
    const either = { anyOf: [{ type: "object", properties: { a: { type: "string" } } }, { type: "string" }] }
    expect(
      config(formatted({ name: "n", schema: either }), "gemini-2.0-flash", vertex)["responseSchema"]
    ).toStrictEqual({
      anyOf: [{ type: "OBJECT", properties: { a: { type: "STRING" } }, propertyOrdering: ["a"] }, { type: "STRING" }]
    })
  })
  it("an enum of strings is sent as a bare word format (T807)", () => {
    const words = formatted({ name: "n", schema: { type: "string", enum: ["yes", "no", "yes"], description: "d" } })
    const out = { responseMimeType: "text/x.enum", responseSchema: { type: "STRING", enum: ["yes", "no"] } }
    expect(config(words)).toStrictEqual(out)
    expect(config(words, "gemini-2.0-flash", vertex)).toStrictEqual(out)
  })
  it("models without a schema field get the schema as text (T808)", () => {
    const systemText = `Answer with JSON that follows this schema: ${JSON.stringify(schema)}`
    expect(all(formatted({ schema }), "gemini-1.5-pro")).toStrictEqual({
      config: { responseMimeType: "application/json" },
      systemText,
      unused: []
    })
    expect(all(formatted({ schema }), "gemma-3-27b-it")).toStrictEqual({ config: {}, systemText, unused: [] })
  })
  it("malformed formats are refused (T810, B89)", () => {
    const path = "response_format.json_schema.schema"
    expect(refused({ response_format: {} })).toStrictEqual(["response_format.type", "invalid_value"])
    expect(refused({ response_format: { type: "xml" } })).toStrictEqual(["response_format.type", "invalid_value"])
    expect(refused({ response_format: { type: "json_schema" } })).toStrictEqual([path, "invalid_value"])
    expect(refused(formatted({ name: "n" }))).toStrictEqual([path, "invalid_value"])
    expect(refused(formatted({ schema: { $ref: "https://example.com" } }))).toStrictEqual([path, "invalid_value"])
    let deep: object = { type: "string" }
    for (let level = 0; level < 64; level++) deep = { type: "array", items: deep }
    for (const model of ["gemini-2.5-flash", "gemini-2.0-flash", "gemini-1.5-pro"]) {
      expect(refused(formatted({ schema: deep }), model)).toStrictEqual([path, "invalid_value"])
    }
  })
})

describe("Gemini images and speech", () => {
  it("modalities are sent (T915, B84)", () => {
    expect(config({ modalities: ["text", "image"] })).toStrictEqual({ responseModalities: ["TEXT", "IMAGE"] })
    expect(config({ modalities: ["image", "text"] }, "gemini-2.5-flash-image", vertex)).toStrictEqual({
      responseModalities: ["IMAGE", "TEXT"]
    })
    expect(config({ modalities: ["text"] })).toStrictEqual({})
    for (const modalities of [[], ["video"], "image", [3], ["text", "smell"]]) {
      expect(refused({ modalities })).toStrictEqual(["modalities", "invalid_value"])
    }
  })
  it("image configuration is sent (T916, B85)", () => {
    const image_config = { aspect_ratio: "16:9", image_size: "2K", person_generation: "ALLOW_ADULT" }
    expect(all({ image_config }, "gemini-2.5-flash-image", vertex)).toStrictEqual({
      config: { imageConfig: { aspectRatio: "16:9", imageSize: "2K", personGeneration: "ALLOW_ADULT" } },
      systemText: undefined,
      unused: []
    })
    expect(all({ image_config: { ...image_config, seed: 1 } })).toStrictEqual({
      config: { imageConfig: { aspectRatio: "16:9", imageSize: "2K" } },
      systemText: undefined,
      unused: ["image_config.person_generation", "image_config.seed"]
    })
    expect(config({ image_config: {} })).toStrictEqual({})
    expect(refused({ image_config: { aspect_ratio: 1 } })).toStrictEqual(["image_config.aspect_ratio", "invalid_type"])
    expect(refused({ image_config: { image_size: 1024 } })).toStrictEqual(["image_config.image_size", "invalid_type"])
  })
  it("speech configuration is sent (T1407)", () => {
    const spoken = {
      responseModalities: ["AUDIO"],
      speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: "Kore" } } }
    }
    const model = "gemini-2.5-flash-preview-tts"
    expect(config({ modalities: ["text", "audio"], audio: { voice: "Kore", format: "wav" } }, model)).toStrictEqual(
      spoken
    )
    expect(config({ modalities: ["audio"], audio: { voice: "Kore", format: "pcm16" } }, model, vertex)).toStrictEqual(
      spoken
    )
    expect(config({ modalities: ["audio"] }, model)).toStrictEqual({ responseModalities: ["AUDIO"] })
    expect(refused({ modalities: ["audio"], audio: { format: "mp3" } })).toStrictEqual([
      "audio.format",
      "invalid_value"
    ])
    expect(refused({ modalities: ["audio"], audio: { voice: {} } })).toStrictEqual(["audio.voice", "invalid_type"])
    expect(config({ modalities: ["audio"], stream: true }, model)).toStrictEqual({ responseModalities: ["AUDIO"] })
    expect(refused({ modalities: ["audio"], audio: { voices: [{ speaker: "A" }] } })).toStrictEqual([
      "audio.voices",
      "invalid_value"
    ])
    expect(all({ audio: { voice: "Kore" } }).unused).toStrictEqual(["audio"])
    expect(all({ audio: { voice: "Kore" }, modalities: ["text"] }).unused).toStrictEqual(["audio"])
  })
})
