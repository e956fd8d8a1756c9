// Tests the whole Claude body of a chat request: T1801, T1803, T1826 to T1828, T1832, tables 7 and 9, section 24.
// Must not open sockets or read clocks.
import * as fc from "fast-check"
import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import { claudeParams } from "../../../src/translate/chat-to-claude/params.ts"
import type { ChatRequest } from "../../../src/wire/openai/Chat.ts"
import {
  asked,
  assistant,
  call,
  claudeContext,
  functionTool,
  models,
  refusedParam,
  type Rest,
  system,
  text,
  tool,
  translate,
  translated,
  user
} from "../../support/claude.ts"
import { runs } from "../../support/release.ts"

const messages = [{ role: "user", content: [text("hi")] }]
const only = (body: object, ignored: ReadonlyArray<string> = [], headers = {}) => ({
  body: { anthropic_version: "vertex-2023-10-16", max_tokens: 32_000, messages, ...body },
  headers,
  ignored
})

describe("whole Claude bodies", () => {
  it("a minimal request gets a version; the model is in the URL and not in the body (T1801, table 7)", () => {
    expect(asked({})).toStrictEqual(only({}))
    expect(asked({ stream: true })).toStrictEqual(only({ stream: true }))
    expect(asked({ stream: false, stream_options: { include_usage: true } })).toStrictEqual(only({}))
  })
  it("a request with all parameters gives the complete body", () => {
    const rest: Rest = {
      stream: true,
      max_completion_tokens: 100,
      reasoning_effort: "low",
      temperature: 0.5,
      stop: "END",
      user: "u-1",
      tools: [functionTool("f")],
      tool_choice: "auto",
      parallel_tool_calls: false,
      anthropic_beta: "b-1",
      seed: 7
    }
    expect(translated([system("S"), user("hi")], rest, claudeContext(models.both, { betas: ["a-1"] }))).toStrictEqual({
      body: {
        anthropic_version: "vertex-2023-10-16",
        max_tokens: 100,
        tools: [{ name: "f", input_schema: { type: "object", properties: { a: {} } } }],
        tool_choice: { type: "auto", disable_parallel_tool_use: true },
        system: [text("S")],
        messages,
        thinking: { type: "adaptive" },
        output_config: { effort: "low" },
        stop_sequences: ["END"],
        metadata: { user_id: "u-1" },
        stream: true
      },
      headers: { "anthropic-beta": "a-1,b-1" },
      ignored: ["temperature", "seed"]
    })
  })
})

describe("Claude max_tokens (T1803, table 9)", () => {
  it.each([
    ["claude-3-opus@20240229", 4_096],
    ["claude-3-sonnet@20240229", 4_096],
    ["claude-3-haiku", 4_096],
    ["claude-3-5-sonnet-v2@20241022", 8_192],
    ["claude-3-5-haiku-20241022", 8_192],
    ["claude-3-7-sonnet@20250219", 32_000],
    ["claude-opus-4@20250514", 32_000],
    ["claude-opus-4-1", 32_000],
    ["claude-sonnet-4-20250514", 32_000],
    ["claude-haiku-4-5@20251001", 32_000],
    ["claude-opus-4-6", 32_000],
    ["claude-opus-4-8", 32_000],
    ["claude-x", 32_000]
  ] as const)("the model's max_tokens: %s", (model, length) => {
    expect(asked({}, claudeContext(model)).body.max_tokens).toBe(length)
  })
  it("the client's max_tokens is used, the newer parameter first (T902)", () => {
    expect(asked({ max_tokens: 7 })).toStrictEqual(only({ max_tokens: 7 }))
    expect(asked({ max_tokens: 7, max_completion_tokens: 8 })).toStrictEqual(only({ max_tokens: 8 }, ["max_tokens"]))
    expect(asked({ max_tokens: 8, max_completion_tokens: 8 })).toStrictEqual(only({ max_tokens: 8 }))
    for (const none of [0, -1]) expect(asked({ max_tokens: none })).toStrictEqual(only({}, ["max_tokens"]))
    expect(asked({ max_tokens: 1.5 }).body.max_tokens).toBe(1)
  })
})

describe("Claude sampling (T1826)", () => {
  const of = (model: string, rest: Rest) => {
    const {
      body: { temperature, top_p, top_k },
      ignored
    } = asked(rest, claudeContext(model))
    return [temperature, top_p, top_k, ignored]
  }
  it("temperature is limited to 1", () => {
    for (const [given, goes] of [
      [-0.1, 0],
      [0, 0],
      [0.3, 0.3],
      [1, 1],
      [1.2, 1],
      [2, 1],
      [2.1, 1]
    ] as const)
      expect(of(models.plain, { temperature: given })).toStrictEqual([goes, undefined, undefined, []])
  })
  it("each model generation gets the sampling parameters it accepts", () => {
    const rest = { temperature: 0.5, top_p: 0.9, top_k: 40 }
    for (const model of [
      models.early,
      models.plain,
      "claude-3-7-sonnet",
      "claude-opus-4",
      "claude-sonnet-4-0",
      models.budget
    ]) {
      expect(of(model, rest)).toStrictEqual([0.5, 0.9, 40, []])
    }
    for (const model of ["claude-opus-4-1", models.budgetOne, "claude-opus-4-5", "claude-haiku-4-5", models.both]) {
      expect(of(model, rest)).toStrictEqual([0.5, undefined, 40, ["top_p"]])
      expect(of(model, { top_p: 0.9 })).toStrictEqual([undefined, 0.9, undefined, []])
    }
    for (const model of ["claude-opus-4-7", models.newest, "claude-next"]) {
      expect(of(model, rest)).toStrictEqual([undefined, undefined, undefined, ["temperature", "top_p", "top_k"]])
    }
  })
  it("top_k is a whole number above 0 (T907, W24)", () => {
    expect(of(models.plain, { top_k: 1.5 })).toStrictEqual([undefined, undefined, 2, []])
    for (const top_k of [0, -1])
      expect(of(models.plain, { top_k })).toStrictEqual([undefined, undefined, undefined, ["top_k"]])
  })
})

describe("Claude stop sequences (T1827)", () => {
  it("stop sequences are sent as a list without blank ones", () => {
    expect(asked({ stop: "a" })).toStrictEqual(only({ stop_sequences: ["a"] }))
    expect(asked({ stop: ["a", "\n", " b "] })).toStrictEqual(only({ stop_sequences: ["a", " b "] }))
    expect(asked({ stop: ["\n\n"] })).toStrictEqual(only({}))
    expect(asked({ stop: [] })).toStrictEqual(only({}))
  })
  it("malformed stop sequences are refused (T901)", () => {
    for (const bad of [7, [1], {}]) expect(refusedParam({ stop: bad })).toStrictEqual(["stop", "invalid_type"])
  })
})

describe("other Claude parameters (T1828)", () => {
  it("one answer is given, and a request for other output than text is refused (M-503)", () => {
    expect(asked({ n: 1, modalities: ["text"] })).toStrictEqual(only({}))
    for (const n of [0, 2, 9, 1.5]) expect(asked({ n }).body).toStrictEqual(only({}).body)
    expect(asked({ modalities: ["text", "image"] })).toStrictEqual(only({}, ["modalities"]))
    expect(refusedParam({ modalities: ["image"] })).toStrictEqual(["modalities", "UnsupportedParameter"])
    for (const bad of [[], ["smell"], "text"])
      expect(refusedParam({ modalities: bad })).toStrictEqual(["modalities", "invalid_value"])
  })
  it("user is sent as metadata", () => {
    expect(asked({ user: "u" })).toStrictEqual(only({ metadata: { user_id: "u" } }))
    expect(asked({ user: "" })).toStrictEqual(only({}))
  })
  it("parameters without an equivalent are listed as ignored (section 24)", () => {
    const nothing: Rest = {
      seed: 1,
      presence_penalty: 1,
      frequency_penalty: 1,
      logprobs: true,
      top_logprobs: 2,
      logit_bias: {},
      store: true,
      metadata: {},
      prediction: {},
      verbosity: "low",
      moderation: {},
      safety_identifier: "s",
      prompt_cache_key: "k",
      prompt_cache_options: {},
      prompt_cache_retention: "24h",
      service_tier: "flex",
      audio: {},
      image_config: {},
      media_resolution: "low",
      safety_settings: [],
      safetySettings: [],
      labels: {},
      cached_content: "c",
      model_armor_config: {},
      extra_body: { google: {} },
      google: {},
      mystery: 1,
      toString: 2
    }
    expect(asked(nothing)).toStrictEqual(only({}, Object.keys(nothing)))
  })
})

describe("Claude beta header (T1832)", () => {
  const of = (anthropic_beta: unknown, betas: ReadonlyArray<string> = []) =>
    asked({ anthropic_beta }, claudeContext(models.budgetOne, { betas })).headers
  it("flags of header and body are sent once each, in order", () => {
    expect(of(undefined, ["a-1", "b-2"])).toStrictEqual({ "anthropic-beta": "a-1,b-2" })
    expect(of("c-3, a-1", ["a-1"])).toStrictEqual({ "anthropic-beta": "a-1,c-3" })
    expect(of(["d-4", "c-3,d-4"])).toStrictEqual({ "anthropic-beta": "d-4,c-3" })
    for (const none of [null, "", []]) expect(of(none)).toStrictEqual({})
  })
  it("flags that a header cannot contain are refused (TH10, B91)", () => {
    for (const bad of [
      "a\r\nx: y",
      "a b",
      "a,,b",
      ",",
      7,
      [7],
      {},
      "x".repeat(1_025),
      Array.from({ length: 21 }, (_, n) => `f-${n}`)
    ]) {
      expect(refusedParam({ anthropic_beta: bad })).toStrictEqual(["anthropic-beta", "invalid_header"])
    }
  })
})

/** Values that change something upstream where their parameter has a place there. */
const meaningful = {
  max_tokens: fc.integer({ min: 1, max: 9_999 }),
  max_completion_tokens: fc.integer({ min: 10_000, max: 30_000 }),
  temperature: fc.double({ min: 0, max: 2, noNaN: true }),
  top_p: fc.double({ min: 0, max: 1, noNaN: true }),
  top_k: fc.nat(50),
  stop: fc.constantFrom("a", ["a", "b"], [" "]),
  reasoning_effort: fc.constantFrom("minimal", "low", "medium", "high", "xhigh", "max"),
  thinking: fc.oneof(
    fc.integer({ min: 1, max: 150_000 }).map((budget_tokens) => ({ type: "enabled", budget_tokens })),
    fc.constant({ type: "adaptive" })
  ),
  tools: fc.constantFrom([functionTool("f")], [functionTool("a b"), functionTool("g")]),
  functions: fc.constant([{ name: "old" }]),
  parallel_tool_calls: fc.constant(false),
  response_format: fc.constantFrom(
    { type: "json_object" },
    { type: "json_schema", json_schema: { schema: { type: "array" } } }
  ),
  stream: fc.constant(true),
  user: fc.constant("u"),
  anthropic_beta: fc.constant("a-1"),
  modalities: fc.constant(["text", "image"]),
  seed: fc.nat(),
  labels: fc.constant({ a: "b" }),
  web_search_options: fc.constant({}),
  mystery: fc.nat()
}
const talks: ReadonlyArray<ChatRequest["messages"]> = [
  [user("hi")],
  [system("S"), user("q"), assistant("a", { tool_calls: [call("1", "a b")] }), tool("1", "r")],
  [assistant([{ type: "thinking", thinking: "t", signature: "c2ln" }, text("x")]), user("y")],
  [user("q"), assistant("The answer is")]
]

/** Paths of members that must not be sent: undefined values and empty lists. */
const empties = (value: unknown, path = "body"): ReadonlyArray<string> => {
  if (value === undefined || value === null || (Array.isArray(value) && value.length === 0)) return [path]
  return typeof value === "object"
    ? Object.entries(value).flatMap(([key, inner]) => empties(inner, `${path}.${key}`))
    : []
}

describe("Claude body laws", () => {
  it("whole bodies keep the laws (L8, L9, L12, L16, L21, L29)", () => {
    const words = fc.record(meaningful, { requiredKeys: [] })
    fc.assert(
      fc.property(words, fc.constantFrom(...talks), fc.constantFrom(...Object.values(models)), (rest, talk, model) => {
        const context = claudeContext(model)
        const out = translated(talk, rest, context)
        expect(translated(talk, rest, context)).toStrictEqual(out)
        const { body, headers, ignored } = out
        expect(empties(body)).toStrictEqual([])
        if (body.thinking?.["type"] === "enabled") {
          expect(body.max_tokens > Number(body.thinking["budget_tokens"])).toBe(true)
          expect([body.output_config, body.temperature, body.top_k]).toStrictEqual([undefined, undefined, undefined])
          expect([undefined, "auto", "none"]).toContain(body.tool_choice?.["type"])
        }
        for (const name of Object.keys(rest)) {
          // Without thinking, effort would be used.
          if (name === "thinking" && "reasoning_effort" in rest) continue
          // The gateway itself looks for white space.
          if (name === "stop" && empties(rest.stop).length === 0 && body.stop_sequences === undefined) continue
          const { [name]: _, ...others } = Object.fromEntries(Object.entries(rest))
          const without = translated(talk, others, context)
          const changes = JSON.stringify([without.body, without.headers]) !== JSON.stringify([body, headers])
          const isBent = out.adjusted?.some(({ param }) => param === name) === true
          if (!isBent) expect([name, ignored.includes(name)]).toStrictEqual([name, !changes])
        }
      }),
      { numRuns: runs(200) }
    )
  })
  it("the parameter table has a rule for every parameter, and bodies follow the rules", () => {
    const ruled = Object.entries(claudeParams)
      .filter(([, rule]) => rule.kind === "ignored")
      .map(([name]) => name)
    expect(
      asked(Object.fromEntries(ruled.map((name) => [name, name === "logit_bias" ? {} : "x"]))).ignored
    ).toStrictEqual(ruled)
    expect(Result.getOrThrow(translate([user("hi")])).ignored).toStrictEqual([])
  })
})
