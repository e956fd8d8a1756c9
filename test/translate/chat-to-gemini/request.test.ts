// Tests the whole Gemini body of a chat request: Google's own fields, ignored parameters, and the laws of bodies.
// Must not open sockets or read clocks.
import * as fc from "fast-check"
import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import { geminiParams } from "../../../src/translate/chat-to-gemini/params.ts"
import { chatToGeminiRequest } from "../../../src/translate/chat-to-gemini/request.ts"
import type { ChatRequest } from "../../../src/wire/openai/Chat.ts"
import { chatContext, chatRequest, type ContextOptions } from "../../support/chat.ts"
import { runs } from "../../support/release.ts"
import { loudlySkipped, schemaOracle, sharedDir } from "../../support/shared.ts"

const oracles = {
  google: schemaOracle("google-generativelanguage-v1beta.schema.json", "GenerateContentRequest"),
  "vertex-ai": schemaOracle("google-aiplatform-v1.schema.json", "GenerateContentRequest")
}
if (sharedDir() === undefined) loudlySkipped("whole bodies against the published request schema")

type Words = Omit<Partial<ChatRequest>, "messages">
const hello: ChatRequest["messages"] = [{ role: "user", content: "hello" }]
const contents = [{ role: "user", parts: [{ text: "hello" }] }]
const vertex: ContextOptions = { kind: "vertex-ai" }

const run = (words: Words, model: string, options: ContextOptions, messages: ChatRequest["messages"]) =>
  chatToGeminiRequest(chatRequest(messages, words), chatContext(model, options))

/** Body, headers and ignored names; the body is checked against the published schema. */
const sent = (words: Words, options: ContextOptions = {}, model = "gemini-2.5-flash", messages = hello) => {
  const translated = Result.getOrThrow(run(words, model, options, messages))
  const check = oracles[options.kind ?? "google"]
  if (check !== undefined) expect([check(translated.body), check.errors]).toStrictEqual([true, null])
  return translated
}
const refused = (words: Words, options: ContextOptions = {}) => {
  const result = run(words, "gemini-2.5-flash", options, hello)
  if (Result.isSuccess(result) || result.failure._tag !== "BodyInvalid") throw new Error("was not refused as invalid")
  return [result.failure.param, result.failure.code]
}
const only = (body: object, ignored: ReadonlyArray<string> = [], headers = {}) => ({
  body: { contents, ...body },
  headers,
  ignored
})
const schema = { type: "object", properties: { city: { type: "string" } } }
const weather = { type: "function", function: { name: "weather", description: "", parameters: schema } }
const weatherOut = [{ functionDeclarations: [{ name: "weather", description: "", parametersJsonSchema: schema }] }]

describe("whole Gemini bodies", () => {
  it("a minimal request gives contents alone (T908, L16)", () => {
    expect(sent({})).toStrictEqual(only({}))
    expect(sent({ tools: [], safety_settings: [], stop: [], image_config: {}, labels: {} }, vertex)).toStrictEqual(
      only({})
    )
  })
  it("a request with all parameters gives the complete body on both products", () => {
    const words: Words = {
      stream: true,
      temperature: 0.5,
      max_tokens: 100,
      reasoning_effort: "low",
      tools: [weather],
      tool_choice: "required",
      safety_settings: [{ category: "HARM_CATEGORY_HARASSMENT", threshold: "OFF", method: "SEVERITY" }],
      labels: { team: "a" },
      service_tier: "flex"
    }
    const system = { role: "system", content: "be brief" }
    const body = {
      contents,
      systemInstruction: { parts: [{ text: "be brief" }] },
      tools: weatherOut,
      toolConfig: { functionCallingConfig: { mode: "ANY" } },
      generationConfig: {
        temperature: 0.5,
        maxOutputTokens: 100,
        thinkingConfig: { thinkingBudget: 1024, includeThoughts: true }
      }
    }
    const harassment = { category: "HARM_CATEGORY_HARASSMENT", threshold: "OFF" }
    expect(sent(words, {}, "gemini-2.5-flash", [system, ...hello])).toStrictEqual({
      body: { ...body, safetySettings: [harassment], serviceTier: "flex" },
      headers: {},
      ignored: ["labels"]
    })
    expect(sent(words, vertex, "gemini-2.5-flash", [system, ...hello])).toStrictEqual({
      body: { ...body, safetySettings: [{ ...harassment, method: "SEVERITY" }], labels: { team: "a" } },
      headers: { "x-vertex-ai-llm-shared-request-type": "flex" },
      ignored: []
    })
  })
  it("the first generation gets the schema joined to the system text (T808)", () => {
    const words: Words = { response_format: { type: "json_schema", json_schema: { schema } } }
    const text = `Answer with JSON that follows this schema: ${JSON.stringify(schema)}`
    const system = { role: "system", content: "be brief" }
    expect(sent(words, {}, "gemini-1.5-pro", [system, ...hello]).body).toStrictEqual({
      contents,
      systemInstruction: { parts: [{ text: "be brief" }, { text }] },
      generationConfig: { responseMimeType: "application/json" }
    })
    expect(sent(words, {}, "gemini-1.5-pro", [{ role: "system", content: "hello" }]).body).toStrictEqual({
      contents,
      systemInstruction: { parts: [{ text }] },
      generationConfig: { responseMimeType: "application/json" }
    })
  })
  it("the added schema text keeps the last turn last (T808, T509)", () => {
    const words: Words = { response_format: { type: "json_schema", json_schema: { schema } } }
    const call = { id: "c", type: "function", function: { name: "f", arguments: "{}" } }
    const talk = [...hello, { role: "assistant", tool_calls: [call] }]
    expect(sent(words, {}, "gemini-1.5-pro", talk).body.contents).toStrictEqual([
      ...contents,
      { role: "model", parts: [{ functionCall: { name: "f", args: {} } }] }
    ])
    expect(Result.isFailure(run(words, "gemini-1.5-pro", {}, []))).toBe(true)
  })
  it("cached content replaces system text and tools, which are reported (T912)", () => {
    const system = { role: "system", content: "be brief" }
    const words: Words = { tools: [weather], tool_choice: "auto", cached_content: "cachedContents/x", temperature: 1 }
    expect(sent(words, {}, "gemini-2.5-flash", [system, ...hello])).toStrictEqual({
      body: { contents, generationConfig: { temperature: 1 }, cachedContent: "cachedContents/x" },
      headers: {},
      ignored: ["tools", "tool_choice", "messages.system"]
    })
    expect(sent({ extra_body: { google: { cached_content: "cachedContents/y" } } }, vertex)).toStrictEqual(
      only({ cachedContent: "cachedContents/y" })
    )
    expect(refused({ google: { cached_content: 3 } })).toStrictEqual(["google.cached_content", "invalid_type"])
  })
})

describe("Google request fields", () => {
  it("safety settings are an open list and keep their order (T1001, B86)", () => {
    const settings = [
      { category: "HARM_CATEGORY_HATE_SPEECH", threshold: "BLOCK_LOW_AND_ABOVE" },
      { category: "HARM_CATEGORY_SEXUALLY_EXPLICIT", threshold: "BLOCK_NONE" }
    ]
    for (const options of [{}, vertex]) {
      for (const words of [
        { safety_settings: settings },
        { safetySettings: settings },
        { extra_body: { google: { safety_settings: settings } } },
        { google: { safety_settings: settings } }
      ]) {
        expect(sent(words, options)).toStrictEqual(only({ safetySettings: settings }))
      }
    }
    const coming = [{ category: "HARM_CATEGORY_NEW", threshold: "BLOCK_SOMETIMES" }]
    expect(
      Result.getOrThrow(run({ safety_settings: coming }, "gemini-2.5-flash", {}, hello)).body.safetySettings
    ).toStrictEqual(coming)
    expect(sent({ safetySettings: [], safety_settings: settings }).ignored).toStrictEqual(["safetySettings"])
  })
  it("the gateway adds no safety settings (T1002)", () => {
    expect(sent({ safety_settings: null }, vertex)).toStrictEqual(only({}))
  })
  it("safety settings of wrong types are refused (T1003, B86)", () => {
    expect(refused({ safety_settings: "none" })).toStrictEqual(["safety_settings", "invalid_type"])
    expect(refused({ safety_settings: [{}] })).toStrictEqual(["safety_settings[0].category", "invalid_type"])
    expect(refused({ safety_settings: [null] })).toStrictEqual(["safety_settings[0].category", "invalid_type"])
    expect(
      refused({
        safetySettings: [
          { category: "A", threshold: "B" },
          { category: "A", threshold: 1 }
        ]
      })
    ).toStrictEqual(["safetySettings[1].threshold", "invalid_type"])
  })
  it("service tier is sent (T910)", () => {
    for (const service_tier of ["auto", "default", "standard"]) {
      expect(sent({ service_tier })).toStrictEqual(only({}))
      expect(sent({ service_tier }, vertex)).toStrictEqual(only({}))
    }
    expect(sent({ service_tier: "priority" })).toStrictEqual(only({ serviceTier: "priority" }))
    expect(sent({ service_tier: "priority" }, vertex)).toStrictEqual(
      only({}, [], { "x-vertex-ai-llm-shared-request-type": "priority" })
    )
    expect(sent({ service_tier: "scale" }, vertex)).toStrictEqual(only({}, ["service_tier"]))
  })
  it("labels are checked and sent (T911, B87, B88)", () => {
    const labels = { team: "research", größe: "x".repeat(63), "a-b_1": "" }
    expect(sent({ labels }, vertex)).toStrictEqual(only({ labels }))
    expect(sent({ labels })).toStrictEqual(only({}, ["labels"]))
    expect(refused({ labels: ["a"] }, vertex)).toStrictEqual(["labels", "invalid_label"])
    const many = Object.fromEntries(Array.from({ length: 65 }, (_, n) => [`k${n}`, "v"]))
    expect(refused({ labels: many }, vertex)).toStrictEqual(["labels", "invalid_label"])
    expect(refused({ labels: { Team: "a" } }, vertex)).toStrictEqual(["labels.Team", "invalid_label"])
    expect(refused({ labels: { "1a": "a" } }, vertex)).toStrictEqual(["labels.1a", "invalid_label"])
    for (const value of ["x".repeat(64), 3, "a\r\nb"]) {
      expect(refused({ labels: { team: value } }, vertex)).toStrictEqual(["labels.team", "invalid_label"])
    }
  })
  it("unknown extras are reported at their path (T914)", () => {
    expect(
      sent({
        google: { thinking_config: { thinking_budget: 1 }, other: 1 },
        extra_body: { foo: 1, google: { bar: 2, cached_content: "c" } }
      })
    ).toStrictEqual(
      only({ generationConfig: { thinkingConfig: { thinkingBudget: 1 } }, cachedContent: "c" }, [
        "google.other",
        "extra_body.foo",
        "extra_body.google.bar"
      ])
    )
    expect(refused({ extra_body: { google: "x" } })).toStrictEqual(["extra_body.google", "invalid_type"])
  })
  it("Model Armor options are sent (T917)", () => {
    const model_armor_config = { prompt_template_name: "projects/p/locations/l/templates/t" }
    expect(sent({ model_armor_config }, vertex)).toStrictEqual(
      only({ modelArmorConfig: { promptTemplateName: "projects/p/locations/l/templates/t" } })
    )
    expect(sent({ model_armor_config })).toStrictEqual(only({}, ["model_armor_config"]))
    const safety_settings = [{ category: "HARM_CATEGORY_HARASSMENT", threshold: "OFF" }]
    expect(refused({ model_armor_config, safety_settings }, vertex)).toStrictEqual([
      "model_armor_config",
      "invalid_value"
    ])
    expect(refused({ model_armor_config: { prompt_template_name: 1 } }, vertex)).toStrictEqual([
      "model_armor_config.prompt_template_name",
      "invalid_type"
    ])
  })
})

describe("ignored Gemini parameters", () => {
  it("ignored and unknown parameters are listed in request order (T909, T919)", () => {
    expect(
      sent({
        zzz: 1,
        logit_bias: { "1": 1 },
        user: "u",
        stream_options: { include_usage: true },
        store: false,
        metadata: {},
        temperature: 1,
        prediction: {},
        verbosity: "low",
        moderation: {},
        safety_identifier: "s",
        prompt_cache_key: "k",
        prompt_cache_options: {},
        prompt_cache_retention: "24h",
        audio: { voice: "Kore" },
        anthropic_beta: "x",
        aaa: null,
        bbb: 0
      })
    ).toStrictEqual(
      only({ generationConfig: { temperature: 1 } }, [
        "zzz",
        "logit_bias",
        "user",
        "store",
        "metadata",
        "prediction",
        "verbosity",
        "moderation",
        "safety_identifier",
        "prompt_cache_key",
        "prompt_cache_options",
        "prompt_cache_retention",
        "audio",
        "anthropic_beta",
        "bbb"
      ])
    )
  })
  it("parallel_tool_calls: false is listed as ignored (T406)", () => {
    expect(sent({ parallel_tool_calls: false })).toStrictEqual(only({}, ["parallel_tool_calls"]))
    expect(sent({ parallel_tool_calls: true })).toStrictEqual(only({}))
  })
  it("newer parameters take precedence over older ones (T339)", () => {
    const functions = [{ name: "old" }]
    expect(sent({ functions, tools: [weather], function_call: "none", tool_choice: "auto" })).toStrictEqual(
      only({ tools: weatherOut, toolConfig: { functionCallingConfig: { mode: "AUTO" } } }, [
        "functions",
        "function_call"
      ])
    )
  })
  it("a tool choice without an equivalent is listed as ignored (T403)", () => {
    expect(sent({ tools: [{ type: "web_search" }], tool_choice: "required" })).toStrictEqual(
      only({ tools: [{ googleSearch: {} }] }, ["tool_choice"])
    )
  })
  it("names of Object.prototype members are unknown parameters", () => {
    expect(sent({ constructor: 1, toString: 2 }).ignored).toStrictEqual(["constructor", "toString"])
  })
  it("the parameter table has a rule for every parameter, and bodies follow the rules", () => {
    const ruled = Object.entries(geminiParams)
      .filter(([, rule]) => rule.kind === "ignored")
      .map(([name]) => name)
    const words = Object.fromEntries(ruled.map((name) => [name, name === "logit_bias" ? {} : "x"]))
    expect(sent(words).ignored).toStrictEqual(ruled)
  })
})

/** Values that change something upstream where their parameter has a place there. */
const meaningful = {
  temperature: fc.constantFrom(0, 0.5),
  top_p: fc.constant(0.9),
  top_k: fc.constant(40),
  n: fc.constant(2),
  seed: fc.constant(7),
  stop: fc.constantFrom<unknown>("a", ["a", "b"]),
  max_tokens: fc.constant(10),
  max_completion_tokens: fc.constant(20),
  presence_penalty: fc.constant(0.1),
  logprobs: fc.constant(true),
  top_logprobs: fc.constant(3),
  logit_bias: fc.constant({}),
  user: fc.constant("u"),
  metadata: fc.constant({}),
  reasoning_effort: fc.constantFrom("low", "high"),
  thinking: fc.constant({ type: "enabled", budget_tokens: 3000 }),
  response_format: fc.constantFrom({ type: "json_object" }, { type: "json_schema", json_schema: { schema } }),
  tools: fc.constantFrom<ReadonlyArray<unknown>>([weather], [{ type: "code_execution" }, weather]),
  functions: fc.constant([{ name: "old" }]),
  parallel_tool_calls: fc.constant(false),
  web_search_options: fc.constant({}),
  modalities: fc.constantFrom(["image"], ["audio"]),
  audio: fc.constant({ voice: "Kore" }),
  image_config: fc.constant({ aspect_ratio: "1:1" }),
  media_resolution: fc.constant("low"),
  safety_settings: fc.constant([{ category: "HARM_CATEGORY_HARASSMENT", threshold: "OFF" }]),
  safetySettings: fc.constant([{ category: "HARM_CATEGORY_HATE_SPEECH", threshold: "OFF" }]),
  labels: fc.constant({ a: "b" }),
  cached_content: fc.constant("c"),
  service_tier: fc.constantFrom("flex", "scale"),
  model_armor_config: fc.constant({ prompt_template_name: "t" }),
  extra_body: fc.constantFrom(
    { google: { thinking_config: { thinking_budget: 11 } } },
    { google: { cached_content: "d" } }
  ),
  unheard_of: fc.constant(1)
}
const wordsArb = fc.record(meaningful, { requiredKeys: [] })
const targetArb = fc.record({
  model: fc.constantFrom("gemini-2.5-flash", "gemini-3-pro-preview", "gemini-2.0-flash"),
  kind: fc.constantFrom("google" as const, "vertex-ai" as const)
})

/** Paths of members that must not be sent: undefined, null, `{}` as a part, empty containers that mean "absent". */
const empties = (body: object): ReadonlyArray<string> => {
  const text = JSON.stringify(body)
  const emptied = [
    "contents",
    "tools",
    "parts",
    "generationConfig",
    "toolConfig",
    "safetySettings",
    "labels",
    "stopSequences"
  ]
  const found = emptied.filter((name) => text.includes(`"${name}":[]`) || text.includes(`"${name}":{}`))
  const holes: Array<string> = []
  const visit = (value: unknown, path: string): void => {
    if (value === undefined || value === null) holes.push(path)
    else if (typeof value === "object") for (const [key, inner] of Object.entries(value)) visit(inner, `${path}.${key}`)
  }
  visit(body, "body")
  return [...found, ...holes]
}

describe("Gemini body laws", () => {
  it("whole bodies keep the laws (L8, L12, L16, L29)", () => {
    fc.assert(
      fc.property(wordsArb, targetArb, (words, { model, kind }) => {
        const first = run(words, model, { kind }, hello)
        if (Result.isFailure(first)) return
        const { body, headers, ignored } = sent(words, { kind }, model)
        const { adjusted = [], ...plain } = first.success
        expect({ body, headers, ignored }).toStrictEqual(plain)
        expect(empties(body)).toStrictEqual([])
        for (const name of Object.keys(words)) {
          const { [name]: _, ...others } = Object.fromEntries(Object.entries(words))
          const without = run(others, model, { kind }, hello)
          if (Result.isFailure(without)) continue
          const changes =
            JSON.stringify([without.success.body, without.success.headers]) !== JSON.stringify([body, headers])
          const named = ignored.some((path) => path === name || path.startsWith(`${name}.`))
          if (!adjusted.some(({ param }) => param === name)) expect([name, named]).toStrictEqual([name, !changes])
        }
      }),
      { numRuns: runs(500) }
    )
  })
})
