// Tests what a chat request becomes for each generation of Gemini: thinking, prefill, tools, sampling, media.
// Must not open sockets or read clocks.
import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import type { Json } from "../../../src/domain/text/json.ts"
import { chatToGeminiRequest } from "../../../src/translate/chat-to-gemini/request.ts"
import { chatToOpenAiRequest } from "../../../src/translate/chat-to-openai/request.ts"
import { adjustmentText } from "../../../src/translate/Translator.ts"
import type { ChatRequest } from "../../../src/wire/openai/Chat.ts"
import { chatContext, chatRequest, type ContextOptions } from "../../support/chat.ts"
import { answer, chunks } from "../../support/gemini.ts"
import { llamaContext } from "../../support/openAi.ts"
import { loudlySkipped, schemaOracle, sharedDir } from "../../support/shared.ts"

const oracles = {
  google: schemaOracle("google-generativelanguage-v1beta.schema.json", "GenerateContentRequest"),
  "vertex-ai": schemaOracle("google-aiplatform-v1.schema.json", "GenerateContentRequest")
}
if (sharedDir() === undefined) loudlySkipped("generations against the published request schema")

type Words = Partial<ChatRequest>
const user = { role: "user", content: "hi" }
const vertex: ContextOptions = { kind: "vertex-ai" }

const run = ({ messages = [user], ...words }: Words, model: string, options: ContextOptions = {}) =>
  chatToGeminiRequest(chatRequest(messages, words), chatContext(model, options))

/** Body, ignored and adjusted parameters. XHIGH is younger than the published schema. */
const sent = (words: Words, model: string, options: ContextOptions = {}) => {
  const { adjusted = [], body, ignored } = Result.getOrThrow(run(words, model, options))
  const check = oracles[options.kind ?? "google"]
  const known: Json = JSON.parse(JSON.stringify(body).replace('"XHIGH"', '"HIGH"'))
  if (check !== undefined) expect([check(known), check.errors]).toStrictEqual([true, null])
  return { body, ignored, adjusted: adjusted.map(adjustmentText) }
}
const refused = (words: Words, model: string) => {
  const result = run(words, model)
  if (Result.isSuccess(result) || result.failure._tag !== "BodyInvalid") throw new Error("was not refused as invalid")
  return [result.failure.param, result.failure.code, result.failure.message]
}

const efforts = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const

describe("generations of Gemini: effort", () => {
  const low = "LOW LOW> LOW MEDIUM HIGH HIGH> HIGH>"
  const four = "MINIMAL MINIMAL LOW MEDIUM HIGH HIGH> HIGH>"
  const two = "MINIMAL MINIMAL MINIMAL> MINIMAL> HIGH HIGH> HIGH>"
  /** By effort; a mark means that the value is adjusted. */
  const rows: ReadonlyArray<readonly [string, string]> = [
    ["gemini-2.5-pro", "128> 1024 1024 8192 24576 32768 32768"],
    ["gemini-2.5-flash", "0 1024 1024 8192 24576 24576> 24576>"],
    ["gemini-2.5-flash-lite", "0 1024 1024 8192 24576 24576> 24576>"],
    ["gemini-3-flash-preview", four],
    ["gemini-3.1-flash-lite", four],
    ["gemini-3.5-flash", four],
    ["gemini-3.5-flash-lite", four],
    ["gemini-3.6-flash", four],
    ["gemini-3.1-pro-preview", low],
    ["gemini-3.7-flash", low],
    ["gemini-3.8-flash", low],
    ["gemini-4-argon", low],
    ["gemini-4-carbon", low],
    ["gemini-flash-latest", low],
    ["gemini-5-xenon", low],
    ["gemini-4-hydrogen", "LOW LOW> LOW MEDIUM HIGH XHIGH XHIGH>"],
    ["gemini-4-neon", "LOW LOW> LOW MEDIUM HIGH XHIGH XHIGH>"],
    ["gemini-3-pro-preview", "LOW LOW> LOW LOW> HIGH HIGH> HIGH>"],
    ["gemma-4-31b-it", two],
    ["gemini-3.1-flash-image", two]
  ]
  it.each(rows)("effort on %s is the nearest lower value the model has (M-200, M-201, M-214, M-230)", (model, row) => {
    const expected = row.split(" ").map((cell, at) => {
      const value = cell.replace(">", "")
      const thinking = /\d/.test(value) ? { thinkingBudget: Number(value) } : { thinkingLevel: value }
      const effort = efforts[at] ?? ""
      const word = /\d/.test(value) && effort !== "none" ? "high" : value.toLowerCase()
      const stops = effort === "none" && value !== "0"
      return {
        config: { ...thinking, includeThoughts: effort !== "none" },
        adjusted: cell.endsWith(">") || stops ? [`reasoning_effort=${effort}>${word}`] : []
      }
    })
    expect(
      efforts.map((reasoning_effort) => {
        const { adjusted, body } = sent({ reasoning_effort }, model)
        return { config: body.generationConfig?.["thinkingConfig"], adjusted }
      })
    ).toStrictEqual(expected)
  })
  const budget = (budget_tokens: number) => ({ thinking: { type: "enabled", budget_tokens } })
  const thinks = (words: Words, model: string) => {
    const { adjusted, body } = sent(words, model)
    return [body.generationConfig?.["thinkingConfig"], adjusted]
  }
  it.each([
    [1, "LOW", "low"],
    [4096, "LOW", "low"],
    [4097, "MEDIUM", "medium"],
    [16_384, "MEDIUM", "medium"],
    [16_385, "HIGH", "high"]
  ])("a budget of %i is a level on Gemini 4 (M-210)", (tokens, thinkingLevel, word) => {
    for (const model of ["gemini-4-argon", "gemini-4-neon"])
      expect(thinks(budget(tokens), model)).toStrictEqual([
        { thinkingLevel, includeThoughts: true },
        [`thinking=budget>${word}`]
      ])
  })
  it("a budget is a level on Gemma 4, and stays a budget from Gemini 3 to 3.7 (M-113, M-210)", () => {
    expect(thinks(budget(9000), "gemma-4-31b-it")).toStrictEqual([
      { thinkingLevel: "MINIMAL", includeThoughts: true },
      ["thinking=budget>minimal"]
    ])
    for (const model of ["gemini-3-flash-preview", "gemini-3.6-flash", "gemini-3.8-flash"])
      expect(thinks(budget(9000), model)).toStrictEqual([{ thinkingBudget: 9000, includeThoughts: true }, []])
  })
  it("a budget beyond the range of 2.5 is named with the one that is sent (M-230)", () => {
    expect(thinks(budget(99_999), "gemini-2.5-flash")).toStrictEqual([
      { thinkingBudget: 24_576, includeThoughts: true },
      ["thinking=99999>24576"]
    ])
    expect(thinks(budget(1), "gemini-2.5-pro")).toStrictEqual([
      { thinkingBudget: 128, includeThoughts: true },
      ["thinking=1>128"]
    ])
  })
  it("thinking that is switched off is effort none; without a size thoughts are shown and nothing else (M-211)", () => {
    for (const thinking of [{ type: "disabled" }, { type: "enabled", budget_tokens: 0 }]) {
      expect(thinks({ thinking }, "gemini-4-neon")).toStrictEqual([
        { thinkingLevel: "LOW", includeThoughts: false },
        ["thinking=disabled>low"]
      ])
      expect(thinks({ thinking }, "gemini-2.5-flash")).toStrictEqual([
        { thinkingBudget: 0, includeThoughts: false },
        []
      ])
    }
    for (const thinking of [{ type: "enabled" }, { type: "adaptive" }, { type: "enabled", budget_tokens: -1 }])
      expect(thinks({ thinking }, "gemini-4-neon")).toStrictEqual([{ includeThoughts: true }, []])
  })
})

describe("generations of Gemini: prefill", () => {
  const prefilled = [user, { role: "assistant", content: "Once" }]
  const begun = [
    { role: "user", parts: [{ text: "hi" }] },
    { role: "model", parts: [{ text: "Once" }] }
  ]
  it.each(["gemini-3.6-flash", "gemini-3.8-flash", "gemini-4-argon", "gemini-pro-latest", "gemini-5-xenon"])(
    "a prefill on %s is followed by a turn that asks to go on (M-300)",
    (model) => {
      expect(sent({ messages: prefilled }, model)).toStrictEqual({
        body: {
          contents: [...begun, { role: "user", parts: [{ text: "Continue exactly where your last message stopped." }] }]
        },
        ignored: [],
        adjusted: ["messages=prefill>continue"]
      })
    }
  )
  it.each(["gemini-2.5-pro", "gemini-3-flash-preview", "gemini-3.5-flash"])(
    "a prefill on %s is sent as it is (M-301)",
    (model) => {
      expect(sent({ messages: prefilled }, model)).toStrictEqual({
        body: { contents: begun },
        ignored: [],
        adjusted: []
      })
    }
  )
  it("an empty assistant turn at the end is dropped (M-301)", () => {
    for (const model of ["gemini-2.5-pro", "gemini-4-neon"])
      expect(sent({ messages: [user, { role: "assistant", content: "" }] }, model)).toStrictEqual({
        body: { contents: [{ role: "user", parts: [{ text: "hi" }] }] },
        ignored: [],
        adjusted: []
      })
  })
  it("the refusal of a prefill points at the message (M-300)", () => {
    const { adjusted } = Result.getOrThrow(run({ messages: prefilled }, "gemini-4-neon"))
    expect(adjusted?.map(({ refusal }) => refusal)).toStrictEqual([
      { code: "unsupported_value", param: "messages[1]", message: "gemini-4-neon takes no assistant prefill." }
    ])
  })
  const signed = {
    candidates: [
      {
        content: {
          role: "model",
          parts: [
            { text: "upon", thoughtSignature: "c2lnbmVk" },
            { functionCall: { name: "f", args: {} }, thoughtSignature: "c2lnbmVk" },
            { executableCode: { code: "1" }, thoughtSignature: "c2lnbmVk" }
          ]
        },
        finishReason: "STOP"
      }
    ]
  }
  it("an answer to an inserted turn has no signatures (M-303)", () => {
    const model = "gemini-4-neon"
    const asked = (messages: ChatRequest["messages"]) => chatRequest(messages)
    const count = (text: string) => text.split("c2lnbmVk").length - 1
    const signatures = (messages: ChatRequest["messages"]) => [
      count(JSON.stringify(answer(signed, chatContext(model), asked(messages)))),
      count(JSON.stringify(chunks([signed], chatContext(model), asked(messages))))
    ]
    expect(signatures(prefilled)).toStrictEqual([0, 0])
    expect(signatures([user])).toStrictEqual([4, 4])
    expect(signatures([user, { role: "assistant", content: "" }])).toStrictEqual([4, 4])
  })
})

describe("generations of Gemini: tools", () => {
  const named = (name: string, strict?: boolean) => ({
    type: "function",
    function: { name, parameters: { type: "object" }, ...(strict === undefined ? {} : { strict }) }
  })
  const declared = (...names: ReadonlyArray<string>) => [
    { functionDeclarations: names.map((name) => ({ name, description: "" })) }
  ]
  const calling = (words: Words, model: string, options?: ContextOptions) => {
    const { tools, toolConfig } = sent(words, model, options).body
    return { tools, toolConfig }
  }
  const mode = (functionCallingConfig: Json) => ({ functionCallingConfig })
  it("validated calls can be asked for by a word or an object (M-400)", () => {
    for (const tool_choice of ["validated", { type: "validated" }]) {
      const words = { tools: [named("f")], tool_choice }
      expect(calling(words, "gemini-4-neon")).toStrictEqual({
        tools: declared("f"),
        toolConfig: mode({ mode: "VALIDATED" })
      })
      expect(calling(words, "gemini-2.0-flash")).toStrictEqual({
        tools: declared("f"),
        toolConfig: mode({ mode: "AUTO" })
      })
      const { body } = Result.getOrThrow(chatToOpenAiRequest(chatRequest([user], words), llamaContext()))
      expect(body["tool_choice"]).toBe("auto")
    }
  })
  it("allowed tools without force are names of validated calls on Gemini 3 and later (M-400)", () => {
    const words = {
      tools: [named("f"), named("g")],
      tool_choice: {
        type: "allowed_tools",
        allowed_tools: { mode: "auto", tools: [{ type: "function", function: { name: "g" } }] }
      }
    }
    expect(calling(words, "gemini-3.8-flash")).toStrictEqual({
      tools: declared("f", "g"),
      toolConfig: mode({ mode: "VALIDATED", allowedFunctionNames: ["g"] })
    })
    expect(calling(words, "gemini-2.5-flash")).toStrictEqual({
      tools: declared("g"),
      toolConfig: mode({ mode: "AUTO" })
    })
  })
  it("a strict function asks for validated calls (M-401)", () => {
    for (const words of [{}, { tool_choice: "auto" }])
      expect(calling({ tools: [named("f", true)], ...words }, "gemini-4-neon")).toStrictEqual({
        tools: declared("f"),
        toolConfig: mode({ mode: "VALIDATED" })
      })
  })
  it("built-in tools go with functions on Gemini 3 and later (M-402)", () => {
    const words = { tools: [named("f"), { type: "google_search" }] }
    const tools = [...declared("f"), { googleSearch: {} }]
    expect(calling(words, "gemini-4-neon")).toStrictEqual({
      tools,
      toolConfig: { ...mode({ mode: "VALIDATED" }), includeServerSideToolInvocations: true }
    })
    expect(calling({ ...words, tool_choice: "required" }, "gemini-4-neon")).toStrictEqual({
      tools,
      toolConfig: { ...mode({ mode: "ANY" }), includeServerSideToolInvocations: true }
    })
    expect(calling(words, "gemini-4-neon", vertex)).toStrictEqual({ tools, toolConfig: undefined })
  })
  it("tool choice none leaves out built-in tools and keeps declarations (M-403)", () => {
    const words = { tools: [named("f"), { type: "google_search" }, { type: "google_maps" }], tool_choice: "none" }
    expect(calling(words, "gemini-4-neon")).toStrictEqual({
      tools: declared("f"),
      toolConfig: mode({ mode: "NONE" })
    })
    expect(calling({ tools: [{ type: "google_search" }], tool_choice: "none" }, "gemini-4-neon")).toStrictEqual({
      tools: undefined,
      toolConfig: undefined
    })
  })
})

describe("generations of Gemini: sampling, candidates, caches", () => {
  const words = {
    temperature: 0.5,
    top_p: 0.5,
    top_k: 4,
    presence_penalty: 1,
    frequency_penalty: 1,
    logprobs: true,
    top_logprobs: 2,
    seed: 7
  }
  const penalties = ["presence_penalty", "frequency_penalty", "logprobs", "top_logprobs"]
  const all = { temperature: 0.5, topP: 0.5, topK: 4, seed: 7 }
  const penalised = { ...all, presencePenalty: 1, frequencyPenalty: 1, responseLogprobs: true, logprobs: 2 }
  it.each<readonly [string, ContextOptions, Json, ReadonlyArray<string>]>([
    ["gemini-2.5-flash", {}, all, penalties],
    ["gemini-2.5-flash", vertex, penalised, []],
    ["gemini-3-flash-preview", {}, all, penalties],
    ["gemini-3.5-flash", vertex, all, penalties],
    ["gemini-3-pro-image", vertex, all, penalties],
    ["gemini-3.6-flash", {}, { seed: 7 }, ["temperature", "top_p", "top_k", ...penalties]],
    ["gemini-4-neon", vertex, { seed: 7 }, ["temperature", "top_p", "top_k", ...penalties]],
    ["gemini-2.0-flash", {}, penalised, []]
  ])("what %s ignores or refuses is not sent and named (M-500, M-501, M-502)", (model, options, config, ignored) => {
    const seen = sent(words, model, options)
    expect([seen.body.generationConfig, seen.ignored]).toStrictEqual([config, ignored])
  })
  it("more answers than a model gives are lowered to those (M-503, W24)", () => {
    expect(sent({ n: 8 }, "gemini-3.1-pro-preview").body.generationConfig).toStrictEqual({ candidateCount: 8 })
    for (const model of ["gemini-4-neon", "gemini-3-flash-preview", "gemini-2.5-flash-image"])
      expect([sent({ n: 2 }, model).adjusted, sent({ n: 2 }, model).body.generationConfig]).toStrictEqual([
        ["n=2>1"],
        undefined
      ])
  })
  it("a cache that a model cannot read is ignored, and the prompt stays whole (M-505)", () => {
    const asked = {
      messages: [{ role: "system", content: "Be brief." }, user],
      cached_content: "cachedContents/1",
      tools: [{ type: "google_search" }]
    }
    const contents = [{ role: "user", parts: [{ text: "hi" }] }]
    expect(sent(asked, "gemini-4-neon")).toStrictEqual({
      body: { contents, systemInstruction: { parts: [{ text: "Be brief." }] }, tools: [{ googleSearch: {} }] },
      ignored: ["cached_content"],
      adjusted: []
    })
    expect(sent(asked, "gemini-3.8-flash").body).toStrictEqual({ contents, cachedContent: "cachedContents/1" })
  })
})

describe("generations of Gemini: media", () => {
  const image = (detail: string | undefined, resolution?: string) => ({
    type: "image_url",
    image_url: { url: "data:image/png;base64,iVBORw0KGgo=", ...(detail === undefined ? {} : { detail }) },
    ...(resolution === undefined ? {} : { media_resolution: resolution })
  })
  const partsOf = (part: Json, model: string) =>
    sent({ messages: [{ role: "user", content: [part] }] }, model).body.contents[0]?.parts
  const inlineData = { mimeType: "image/png", data: "iVBORw0KGgo=" }
  it.each([
    ["low", undefined, "MEDIA_RESOLUTION_LOW"],
    ["high", undefined, "MEDIA_RESOLUTION_HIGH"],
    ["auto", undefined, undefined],
    [undefined, "ultra_high", "MEDIA_RESOLUTION_ULTRA_HIGH"],
    ["low", "ultra_high", "MEDIA_RESOLUTION_ULTRA_HIGH"]
  ])("detail %s with resolution %s is the part's own on Gemini 3 and later (M-710)", (detail, resolution, level) => {
    expect(partsOf(image(detail, resolution), "gemini-4-neon")).toStrictEqual([
      { inlineData, ...(level === undefined ? {} : { mediaResolution: { level } }) }
    ])
    expect(partsOf(image(detail, resolution), "gemini-2.5-flash")).toStrictEqual([{ inlineData }])
  })
  const officeType = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
  const file = (filename: string) => ({ type: "file", file: { filename, file_data: "UEsDBA==" } })
  it("office files go to the models that read them (M-711)", () => {
    expect(partsOf(file("a.docx"), "gemini-4-hydrogen")).toStrictEqual([
      { inlineData: { mimeType: officeType, data: "UEsDBA==" } }
    ])
    for (const [name, model] of [
      ["a.docx", "gemini-4-neon"],
      ["a.zip", "gemini-4-hydrogen"]
    ] as const) {
      const [param, code] = refused({ messages: [{ role: "user", content: [file(name)] }] }, model)
      expect([param, code]).toStrictEqual(["messages[0].content[0].file.file_data", "unsupported_media_type"])
    }
  })
  it("an office file of a tool is in its response (M-711)", () => {
    const url = `data:${officeType};base64,UEsDBA==`
    const messages = [
      user,
      { role: "assistant", tool_calls: [{ id: "c1", type: "function", function: { name: "f", arguments: "{}" } }] },
      { role: "tool", tool_call_id: "c1", content: [{ type: "image_url", image_url: { url } }] }
    ]
    const { contents } = sent({ messages }, "gemini-4-hydrogen").body
    expect(contents.at(-1)).toStrictEqual({
      role: "user",
      parts: [
        {
          functionResponse: {
            name: "f",
            response: { output: "" },
            id: "c1",
            parts: [{ inlineData: { mimeType: officeType, data: "UEsDBA==" } }]
          }
        }
      ]
    })
  })
})
