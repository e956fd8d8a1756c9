// Tests Gemini tools and tool choice by rule id, with exact bodies checked against the published request schema.
// Must not open sockets or read clocks.
import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import { reading } from "../../../src/domain/Reader.ts"
import { SchemaCopies } from "../../../src/translate/chat-to-gemini/schema.ts"
import { geminiTools } from "../../../src/translate/chat-to-gemini/tools.ts"
import { readToolChoice, readTools } from "../../../src/translate/shared/chat-request/readTools.ts"
import { geminiNames, toolNamesOf } from "../../../src/translate/shared/chat-request/toolCalls.ts"
import type { ChatRequest } from "../../../src/wire/openai/Chat.ts"
import { chatContext, chatRequest } from "../../support/chat.ts"
import { loudlySkipped, schemaOracle, sharedDir } from "../../support/shared.ts"

const oracles = {
  google: schemaOracle("google-generativelanguage-v1beta.schema.json", "GenerateContentRequest"),
  "vertex-ai": schemaOracle("google-aiplatform-v1.schema.json", "GenerateContentRequest")
}
if (sharedDir() === undefined) loudlySkipped("tools against the published request schema")

type Words = Omit<Partial<ChatRequest>, "messages">
type Kind = "google" | "vertex-ai"

const run = (words: Words, model: string, kind: Kind) => {
  const request = chatRequest([{ role: "user", content: "hello" }], words)
  return Result.gen(function* () {
    const asked = yield* readTools(request, { tools: 128 })
    const choice = yield* readToolChoice(request)
    const bounds = { schemaDepth: 64, copies: new SchemaCopies(1024 * 1024, request) }
    const { target } = chatContext(model, { kind })
    return yield* reading((reader) =>
      geminiTools(reader, asked, choice, toolNamesOf(request, geminiNames), target, bounds)
    )
  })
}
const sent = (words: Words, model = "gemini-2.5-flash", kind: Kind = "google") => {
  const { choiceUnused, ...body } = Result.getOrThrow(run(words, model, kind))
  const check = oracles[kind]
  if (check !== undefined) expect([check({ contents: [], ...body }), check.errors]).toStrictEqual([true, null])
  return choiceUnused ? { ...body, choiceUnused } : body
}
const refused = (words: Words, model = "gemini-2.5-flash", kind: Kind = "google") => {
  const result = run(words, model, kind)
  if (Result.isSuccess(result) || result.failure._tag !== "BodyInvalid") throw new Error("was not refused as invalid")
  return [result.failure.param, result.failure.code]
}

const schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] }
const upperSchema = { type: "OBJECT", properties: { city: { type: "STRING" } }, required: ["city"] }
const weather = { type: "function", function: { name: "weather", description: "Tells it", parameters: schema } }
const time = { type: "function", function: { name: "time" } }
const weatherOut = { name: "weather", description: "Tells it", parametersJsonSchema: schema }
const timeOut = { name: "time", description: "" }
const both = [{ functionDeclarations: [weatherOut, timeOut] }]
const named = (name: string, parameters?: unknown) => ({ type: "function", function: { name, parameters } })

describe("Gemini tool declarations", () => {
  it.each(["gemini-2.5-flash", "gemini-2.5-pro", "gemini-3-pro-preview", "gemini-9", "gemini-2.5-flash-image"])(
    "%s gets a JSON schema (T301)",
    (model) => {
      expect(sent({ tools: [weather] }, model)).toStrictEqual({ tools: [{ functionDeclarations: [weatherOut] }] })
      expect(sent({ tools: [weather] }, model, "vertex-ai")).toStrictEqual({
        tools: [{ functionDeclarations: [weatherOut] }]
      })
    }
  )
  it.each(["gemini-2.0-flash", "gemini-1.5-pro", "gemma-3-27b-it"])("%s gets the subset (T301)", (model) => {
    const out = {
      tools: [{ functionDeclarations: [{ name: "weather", description: "Tells it", parameters: upperSchema }] }]
    }
    expect(sent({ tools: [weather] }, model)).toStrictEqual(out)
    expect(sent({ tools: [weather] }, model, "vertex-ai")).toStrictEqual(out)
  })
  it("a reference to a missing schema is refused (T307)", () => {
    const tools = [time, named("f", { type: "object", properties: { a: { $ref: "https://example.com/s" } } })]
    expect(refused({ tools })).toStrictEqual(["tools[1].function.parameters", "invalid_schema"])
    expect(refused({ tools }, "gemini-2.0-flash")).toStrictEqual(["tools[1].function.parameters", "invalid_schema"])
  })
  it("missing parameters, empty parameters and a missing description give no field (T319, T320, T331)", () => {
    for (const parameters of [undefined, null, {}, { type: "object", properties: {} }]) {
      const out = { tools: [{ functionDeclarations: [{ name: "f", description: "" }] }] }
      expect(sent({ tools: [named("f", parameters)] })).toStrictEqual(out)
      expect(sent({ tools: [named("f", parameters)] }, "gemini-2.0-flash")).toStrictEqual(out)
    }
    expect(sent({ tools: [{ type: "function", function: { name: "f", description: null } }] })).toStrictEqual({
      tools: [{ functionDeclarations: [{ name: "f", description: "" }] }]
    })
  })
  it("a schema that nests too deep, or is not a schema, is refused (T326, B70)", () => {
    let deep: unknown = { type: "string" }
    for (let level = 0; level < 64; level++) deep = { type: "object", properties: { a: deep } }
    expect(refused({ tools: [named("f", deep)] })).toStrictEqual(["tools[0].function.parameters", "invalid_schema"])
    expect(refused({ tools: [named("f", "x")] })).toStrictEqual(["tools[0].function.parameters", "invalid_schema"])
    expect(refused({ tools: [named("f", [])] })).toStrictEqual(["tools[0].function.parameters", "invalid_schema"])
  })
  it("strict tools with a free choice use VALIDATED on 2.5 and later (T327)", () => {
    const strict = {
      type: "function",
      function: { name: "weather", description: "Tells it", parameters: schema, strict: true }
    }
    const validated = { tools: both, toolConfig: { functionCallingConfig: { mode: "VALIDATED" } } }
    expect(sent({ tools: [strict, time] })).toStrictEqual(validated)
    expect(sent({ tools: [strict, time], tool_choice: "auto" }, "gemini-3-flash-preview", "vertex-ai")).toStrictEqual(
      validated
    )
    expect(sent({ tools: [strict, time], tool_choice: "required" })).toStrictEqual({
      tools: both,
      toolConfig: { functionCallingConfig: { mode: "ANY" } }
    })
    expect(sent({ tools: [named("f"), { ...strict }] }, "gemini-2.0-flash").toolConfig).toBe(undefined)
  })
  it("illegal names are replaced (T328)", () => {
    expect(sent({ tools: [named("files/read all")], tool_choice: named("files/read all") })).toStrictEqual({
      tools: [{ functionDeclarations: [{ name: "files_read_all_6e2b9092", description: "" }] }],
      toolConfig: { functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["files_read_all_6e2b9092"] } }
    })
  })
  it("malformed and duplicate names are refused (T329, B69)", () => {
    const path = ["tools[0].function.name", "invalid_value"]
    for (const name of [undefined, "", 3, "x".repeat(257)]) {
      expect(refused({ tools: [{ type: "function", function: { name } }] })).toStrictEqual(path)
    }
    expect(refused({ tools: [{ type: "function" }] })).toStrictEqual(path)
    const result = run({ tools: [time, weather, time] }, "gemini-2.5-flash", "google")
    expect(Result.isFailure(result) ? result.failure.message : undefined).toBe(
      "tools[0] and tools[2] declare a function of the same name."
    )
    expect(refused({ tools: [time, weather, time] })).toStrictEqual(["tools[2].function.name", "invalid_value"])
  })
  it("functions share one object, every other kind has its own (T330)", () => {
    expect(
      sent(
        { tools: [time, { type: "code_execution" }, weather, { type: "url_context" }] },
        "gemini-2.5-flash",
        "vertex-ai"
      )
    ).toStrictEqual({
      tools: [{ functionDeclarations: [timeOut, weatherOut] }, { codeExecution: {} }, { urlContext: {} }]
    })
  })
  it("legacy functions and function_call are read (T339)", () => {
    const functions = [weather.function, time.function]
    expect(sent({ functions, function_call: { name: "time" } })).toStrictEqual({
      tools: both,
      toolConfig: { functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["time"] } }
    })
    expect(sent({ functions, function_call: "none" }).toolConfig).toStrictEqual({
      functionCallingConfig: { mode: "NONE" }
    })
    expect(refused({ functions: [{ name: "" }] })).toStrictEqual(["functions[0].name", "invalid_value"])
    expect(refused({ functions, function_call: { name: "x" } })).toStrictEqual(["function_call.name", "invalid_value"])
    expect(refused({ functions, function_call: "must" })).toStrictEqual(["function_call", "invalid_value"])
    expect(sent({ functions: [named("web_search").function] })).toStrictEqual({ tools: [{ googleSearch: {} }] })
  })
  it("a request without tools gives no field (T340)", () => {
    expect(sent({ tools: [] })).toStrictEqual({})
    expect(sent({ tools: null, tool_choice: null })).toStrictEqual({})
  })
  it("the response schema of a function is sent (T341)", () => {
    const tool = { type: "function", function: { name: "f", response_schema: schema } }
    expect(sent({ tools: [tool] })).toStrictEqual({
      tools: [{ functionDeclarations: [{ name: "f", description: "", responseJsonSchema: schema }] }]
    })
    expect(sent({ tools: [tool] }, "gemini-2.0-flash")).toStrictEqual({
      tools: [{ functionDeclarations: [{ name: "f", description: "", response: upperSchema }] }]
    })
  })
  it("too many tools, and malformed tools, are refused (B67)", () => {
    const many = (count: number) => Array.from({ length: count }, (_, n) => named(`f${n}`))
    expect(refused({ tools: many(129) })).toStrictEqual(["tools", "array_too_long"])
    expect(Result.isSuccess(run({ tools: many(128) }, "gemini-2.5-flash", "google"))).toBe(true)
    expect(refused({ tools: [null] })).toStrictEqual(["tools", "invalid_type"])
    expect(refused({ functions: ["x"] })).toStrictEqual(["functions", "invalid_type"])
  })
  it("unknown tools are left out, but for those that an answer needs (B68, T338, W5)", () => {
    expect(refused({ tools: [{ type: "mcp" }] })).toStrictEqual(["tools[0]", "unsupported_tool"])
    expect(refused({ tools: [{ type: "file_search", vector_store_ids: ["v"] }] })).toStrictEqual([
      "tools[0]",
      "unsupported_tool"
    ])
    expect(refused({ tools: [{ type: "x" }], tool_choice: "required" })).toStrictEqual([
      "tool_choice",
      "unsupported_tool"
    ])
    const read = run({ tools: [time, {}, { type: "x" }] }, "gemini-2.5-flash", "google")
    expect(Result.isSuccess(read) ? read.success.left : read).toStrictEqual(["tools[1]", "tools[2]"])
    expect(refused({ tools: [{ type: "custom", custom: { name: "x" } }] })).toStrictEqual([
      "tools[0].type",
      "unsupported_tool"
    ])
  })
})

describe("provider tools", () => {
  it("code execution is sent (T332)", () => {
    expect(sent({ tools: [{ type: "code_execution" }] })).toStrictEqual({ tools: [{ codeExecution: {} }] })
    expect(sent({ tools: [{ type: "code_execution" }] }, "gemini-2.0-flash", "vertex-ai")).toStrictEqual({
      tools: [{ codeExecution: {} }]
    })
  })
  it.each([
    named("web_search"),
    named("web_search", {}),
    named("web_search", { type: "object", properties: {} }),
    named("google_search"),
    named("googleSearch"),
    { type: "google_search" },
    { type: "web_search", search_context_size: "low" }
  ])("a search tool is sent: %j (T333)", (tool) => {
    expect(sent({ tools: [tool] })).toStrictEqual({ tools: [{ googleSearch: {} }] })
    expect(sent({ tools: [tool] }, "gemini-2.0-flash", "vertex-ai")).toStrictEqual({ tools: [{ googleSearch: {} }] })
  })
  it("retrieval is sent with its configuration (T333)", () => {
    expect(sent({ tools: [named("web_search_retrieval")] }, "gemini-1.5-pro")).toStrictEqual({
      tools: [{ googleSearchRetrieval: {} }]
    })
    const config = { dynamic_retrieval_config: { mode: "MODE_DYNAMIC", dynamic_threshold: 0.7 } }
    expect(sent({ tools: [named("google_search_retrieval", config)] }, "gemini-1.5-pro")).toStrictEqual({
      tools: [{ googleSearchRetrieval: { dynamicRetrievalConfig: { mode: "MODE_DYNAMIC", dynamicThreshold: 0.7 } } }]
    })
  })
  it("a web_search function with properties is a client tool (T333)", () => {
    expect(sent({ tools: [named("web_search", schema)] })).toStrictEqual({
      tools: [{ functionDeclarations: [{ name: "web_search", description: "", parametersJsonSchema: schema }] }]
    })
  })
  it("web_search_options adds a search tool (T333)", () => {
    const options = { search_context_size: "high", user_location: { type: "approximate" } }
    expect(sent({ web_search_options: options })).toStrictEqual({ tools: [{ googleSearch: {} }] })
    expect(sent({ web_search_options: {}, tools: [named("web_search")] })).toStrictEqual({
      tools: [{ googleSearch: {} }]
    })
  })
  it("search and functions may be combined (T334, M-402)", () => {
    const tools = [{ functionDeclarations: [timeOut] }, { googleSearch: {} }]
    const asked = { tools: [time, named("web_search")] }
    expect(sent(asked)).toStrictEqual({ tools })
    expect(sent(asked, "gemini-3-flash-preview")).toStrictEqual({
      tools,
      toolConfig: { functionCallingConfig: { mode: "VALIDATED" }, includeServerSideToolInvocations: true }
    })
    expect(sent(asked, "gemini-3-flash-preview", "vertex-ai")).toStrictEqual({ tools })
  })
  it("URL context, maps, enterprise search and file search are sent (T336)", () => {
    expect(sent({ tools: [named("url_context")] })).toStrictEqual({ tools: [{ urlContext: {} }] })
    expect(
      sent({ tools: [{ type: "google_maps", enable_widget: true, lat_lng: { latitude: 1.5, longitude: -2 } }] })
    ).toStrictEqual({
      tools: [{ googleMaps: { enableWidget: true } }],
      toolConfig: { retrievalConfig: { latLng: { latitude: 1.5, longitude: -2 } } }
    })
    expect(sent({ tools: [named("google_maps")] }, "gemini-2.5-pro", "vertex-ai")).toStrictEqual({
      tools: [{ googleMaps: {} }]
    })
    expect(sent({ tools: [{ type: "enterprise_web_search" }] }, "gemini-2.5-pro", "vertex-ai")).toStrictEqual({
      tools: [{ enterpriseWebSearch: {} }]
    })
    expect(
      sent({ tools: [{ type: "file_search", file_search: { file_search_store_names: ["s"], topK: 3 } }] })
    ).toStrictEqual({
      tools: [{ fileSearch: { fileSearchStoreNames: ["s"], topK: 3 } }]
    })
    const enterprise = run({ tools: [time, { type: "enterprise_web_search" }] }, "gemini-2.5-pro", "google")
    expect(Result.isSuccess(enterprise) ? enterprise.success.left : enterprise).toStrictEqual(["tools[1]"])
    expect(refused({ tools: [named("file_search")] }, "gemini-2.5-pro", "vertex-ai")).toStrictEqual([
      "tools[0]",
      "unsupported_tool"
    ])
  })
  it("browser automation is sent (T337)", () => {
    const browser = { tools: [{ computerUse: { environment: "ENVIRONMENT_BROWSER" } }] }
    for (const kind of ["google", "vertex-ai"] as const) {
      expect(
        sent({ tools: [named("computer_use", { environment: "ENVIRONMENT_BROWSER" })] }, "gemini-2.5-flash", kind)
      ).toStrictEqual(browser)
    }
    expect(sent({ tools: [named("computerUse")] })).toStrictEqual(browser)
    expect(
      sent({
        tools: [
          named("computerUse", { environment: "ENVIRONMENT_MOBILE", excluded_predefined_functions: ["drag_and_drop"] })
        ]
      })
    ).toStrictEqual({
      tools: [{ computerUse: { environment: "ENVIRONMENT_MOBILE", excludedPredefinedFunctions: ["drag_and_drop"] } }]
    })
    expect(sent({ tools: [time, named("computer_use")] }, "gemini-3-flash-preview")).toStrictEqual({
      tools: [{ functionDeclarations: [timeOut] }, { computerUse: { environment: "ENVIRONMENT_BROWSER" } }]
    })
  })
})

describe("Gemini tool choice", () => {
  const tools = [weather, time]
  it.each([
    ["auto", { mode: "AUTO" }],
    ["none", { mode: "NONE" }],
    ["required", { mode: "ANY" }],
    ["any", { mode: "ANY" }],
    [
      { type: "function", function: { name: "time" } },
      { mode: "ANY", allowedFunctionNames: ["time"] }
    ]
  ])("a tool choice maps: %j (T401)", (tool_choice, functionCallingConfig) => {
    expect(sent({ tools, tool_choice })).toStrictEqual({ tools: both, toolConfig: { functionCallingConfig } })
  })
  it("allowed tools restrict the declarations (T402)", () => {
    const allowed = (mode: string) => ({
      type: "allowed_tools",
      allowed_tools: { mode, tools: [{ type: "function", function: { name: "time" } }] }
    })
    expect(sent({ tools, tool_choice: allowed("required") })).toStrictEqual({
      tools: both,
      toolConfig: { functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["time"] } }
    })
    expect(sent({ tools, tool_choice: allowed("auto") })).toStrictEqual({
      tools: [{ functionDeclarations: [timeOut] }],
      toolConfig: { functionCallingConfig: { mode: "AUTO" } }
    })
    expect(refused({ tools: [weather], tool_choice: allowed("auto") })).toStrictEqual([
      "tool_choice.allowed_tools.tools[0].function.name",
      "invalid_value"
    ])
    expect(refused({ tools, tool_choice: allowed("often") })).toStrictEqual([
      "tool_choice.allowed_tools.mode",
      "invalid_value"
    ])
    expect(refused({ tools, tool_choice: { type: "allowed_tools", allowed_tools: { tools: [] } } })).toStrictEqual([
      "tool_choice.allowed_tools.tools",
      "invalid_value"
    ])
  })
  it("a choice without function declarations is dropped (T403)", () => {
    const search = [{ type: "web_search" }]
    expect(sent({ tools: search, tool_choice: "auto" })).toStrictEqual({ tools: [{ googleSearch: {} }] })
    expect(sent({ tool_choice: "none" })).toStrictEqual({})
    expect(sent({ tools: search, tool_choice: "required" })).toStrictEqual({
      tools: [{ googleSearch: {} }],
      choiceUnused: true
    })
    expect(refused({ tool_choice: "required" })).toStrictEqual(["tool_choice", "invalid_value"])
    expect(refused({ tools: [], tool_choice: "required" })).toStrictEqual(["tool_choice", "invalid_value"])
  })
  it("a choice that names a provider tool cannot be forced (T403)", () => {
    expect(sent({ tools: [time, named("web_search")], tool_choice: named("web_search") })).toStrictEqual({
      tools: [{ functionDeclarations: [timeOut] }, { googleSearch: {} }],
      choiceUnused: true
    })
  })
  it("a choice of a missing tool, and unknown words, are refused (T404, B72)", () => {
    expect(refused({ tools, tool_choice: named("absent") })).toStrictEqual([
      "tool_choice.function.name",
      "invalid_value"
    ])
    expect(refused({ tools, tool_choice: { type: "function" } })).toStrictEqual([
      "tool_choice.function.name",
      "invalid_value"
    ])
    for (const tool_choice of ["always", 3, {}, { type: "web_search" }]) {
      expect(refused({ tools, tool_choice })).toStrictEqual(["tool_choice", "invalid_value"])
    }
  })
  it("a request without tool choice sends none (T405)", () => {
    expect(sent({ tools })).toStrictEqual({ tools: both })
  })
})
