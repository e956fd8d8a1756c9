// Tests Claude's thinking options and thoughts sent back from the history: T1821 to T1825, tables 4 and 9.
// Must not open sockets or read clocks.
import { describe, expect, it } from "vitest"
import type { JsonObject } from "../../../src/domain/text/json.ts"
import { packThinking, unpackThinking } from "../../../src/translate/chat-to-claude/messages.ts"
import type { KnownSignature } from "../../../src/translate/Translator.ts"
import type { ContextOptions } from "../../support/chat.ts"
import {
  asked,
  assistant,
  call,
  calling,
  claudeContext,
  functionTool,
  issuer,
  type Messages,
  models,
  refusedParam,
  type Rest,
  sent,
  text,
  tool,
  translated,
  user
} from "../../support/claude.ts"

const f = functionTool("f")
const on = (model: string, rest: Rest) => asked(rest, claudeContext(model))
/** Thinking, effort, answer length and ignored parameters. */
const knobs = (model: string, rest: Rest) => {
  const { body, ignored } = on(model, rest)
  return [body.thinking, body.output_config, body.max_tokens, ignored]
}
const budget = (budget_tokens: number): JsonObject => ({ type: "enabled", budget_tokens })
const enabled = (budget_tokens?: number) => ({
  type: "enabled",
  ...(budget_tokens === undefined ? {} : { budget_tokens })
})
const summarized = { type: "adaptive", display: "summarized" }
const off = { type: "disabled" }

describe("Claude effort (M-200)", () => {
  it.each([
    ["none", off, 32_000],
    ["minimal", budget(1_024), 32_000],
    ["low", budget(1_024), 32_000],
    ["medium", budget(8_192), 32_000],
    ["high", budget(24_576), 32_000],
    ["xhigh", budget(24_576), 32_000],
    ["max", budget(24_576), 32_000]
  ] as const)("effort on models with a budget: %s", (reasoning_effort, thinking, length) => {
    expect(knobs(models.budget, { reasoning_effort })).toStrictEqual([thinking, undefined, length, []])
  })
  it.each([
    ["none", undefined, undefined],
    ["minimal", "low", "low"],
    ["low", "low", "low"],
    ["medium", "medium", "medium"],
    ["high", "high", "high"],
    ["xhigh", "high", "xhigh"],
    ["max", "max", "max"]
  ] as const)("effort on models with adaptive thinking: %s (T1822, M-201)", (reasoning_effort, both, newest) => {
    const config = (effort: string | undefined) => (effort === undefined ? undefined : { effort })
    expect(knobs(models.both, { reasoning_effort })).toStrictEqual([
      both === undefined ? off : { type: "adaptive" },
      config(both),
      32_000,
      []
    ])
    expect(knobs(models.newest, { reasoning_effort })).toStrictEqual([
      newest === undefined ? off : summarized,
      config(newest),
      32_000,
      []
    ])
  })
  it('on models without thinking, "off" is silent and any other option is reported as ignored', () => {
    expect(knobs(models.plain, { reasoning_effort: "none" })).toStrictEqual([undefined, undefined, 8_192, []])
    expect(knobs(models.plain, { reasoning_effort: "high" })).toStrictEqual([
      undefined,
      undefined,
      8_192,
      ["reasoning_effort"]
    ])
    expect(knobs(models.early, { thinking: enabled(2_000) })).toStrictEqual([undefined, undefined, 4_096, ["thinking"]])
    expect(knobs(models.early, { thinking: enabled(0), reasoning_effort: "low" })).toStrictEqual([
      undefined,
      undefined,
      4_096,
      ["reasoning_effort"]
    ])
  })
})

describe("Claude thinking budgets (T1821)", () => {
  it("a budget is at least 1024 and extends a shorter answer", () => {
    expect(knobs(models.budget, { thinking: enabled(2_000) })).toStrictEqual([budget(2_000), undefined, 32_000, []])
    expect(knobs(models.budget, { thinking: enabled(10) })).toStrictEqual([budget(1_024), undefined, 32_000, []])
    expect(knobs(models.budget, { thinking: enabled(2_000), max_tokens: 500 })).toStrictEqual([
      budget(2_000),
      undefined,
      2_500,
      []
    ])
    expect(knobs(models.budget, { thinking: enabled(2_000), max_tokens: 2_000 })).toStrictEqual([
      budget(2_000),
      undefined,
      4_000,
      []
    ])
    expect(knobs(models.budget, { thinking: enabled(2_000), max_tokens: 2_001 })).toStrictEqual([
      budget(2_000),
      undefined,
      2_001,
      []
    ])
  })
  it("a budget extends max_tokens up to the model's limit, then shrinks", () => {
    expect(knobs(models.budget, { thinking: enabled(60_000), max_tokens: 10_000 })).toStrictEqual([
      budget(54_000),
      undefined,
      64_000,
      []
    ])
    expect(knobs("claude-opus-4-1", { thinking: enabled(40_000), max_tokens: 31_500 })).toStrictEqual([
      budget(1_024),
      undefined,
      32_000,
      []
    ])
    expect(knobs(models.both, { thinking: enabled(100_000), max_tokens: 10_000 })).toStrictEqual([
      budget(100_000),
      undefined,
      110_000,
      []
    ])
  })
  it("thinking without an amount uses the medium budget", () => {
    for (const thinking of [enabled(), { type: "adaptive" }, enabled(-1), {}]) {
      expect(knobs(models.budget, { thinking })).toStrictEqual([budget(8_192), undefined, 32_000, []])
      expect(knobs(models.both, { thinking })).toStrictEqual([{ type: "adaptive" }, undefined, 32_000, []])
      expect(knobs(models.newest, { thinking })).toStrictEqual([summarized, undefined, 32_000, []])
    }
  })
  it("thinking can be switched off", () => {
    for (const thinking of [enabled(0), { type: "disabled" }]) {
      for (const model of [models.budget, models.both, models.newest])
        expect(knobs(model, { thinking })).toStrictEqual([off, undefined, 32_000, []])
    }
  })
  it("effort-only models derive the effort from the budget", () => {
    for (const [tokens, effort] of [
      [1, "low"],
      [4_096, "low"],
      [4_097, "medium"],
      [16_384, "medium"],
      [16_385, "high"]
    ] as const) {
      expect(knobs(models.newest, { thinking: enabled(tokens) })).toStrictEqual([summarized, { effort }, 32_000, []])
    }
    expect(knobs("claude-next-9", { thinking: enabled(5_000) })).toStrictEqual([
      summarized,
      { effort: "medium" },
      32_000,
      []
    ])
  })
  it("thinking takes precedence over effort, which is reported (T702)", () => {
    expect(knobs(models.budget, { reasoning_effort: "high", thinking: enabled(2_000) })).toStrictEqual([
      budget(2_000),
      undefined,
      32_000,
      ["reasoning_effort"]
    ])
  })
  it("thinking options of another type are refused (T705, T711)", () => {
    expect(refusedParam({ reasoning_effort: 3 })).toStrictEqual(["reasoning_effort", "invalid_type"])
    for (const tokens of [true, "8k", {}])
      expect(refusedParam({ thinking: { type: "enabled", budget_tokens: tokens } })).toStrictEqual([
        "thinking.budget_tokens",
        "invalid_type"
      ])
  })
})

describe("Claude sampling with thinking (T1823)", () => {
  const sampled = { temperature: 0.5, top_k: 5, top_p: 0.9 }
  it("thinking removes temperature and top_k, and top_p below 0.95", () => {
    const { body, ignored } = on(models.budget, { ...sampled, thinking: enabled(2_000) })
    expect([body.temperature, body.top_k, body.top_p, ignored]).toStrictEqual([
      undefined,
      undefined,
      undefined,
      ["temperature", "top_k", "top_p"]
    ])
    const high = on(models.budgetOne, { temperature: 1, top_p: 0.95, reasoning_effort: "low" })
    expect([high.body.temperature, high.body.top_p, high.ignored]).toStrictEqual([undefined, 0.95, ["temperature"]])
    const adaptive = on(models.both, { ...sampled, reasoning_effort: "low" })
    expect(adaptive.ignored).toStrictEqual(["temperature", "top_k", "top_p"])
    const quiet = on(models.budget, { ...sampled, reasoning_effort: "none" })
    expect([quiet.body.temperature, quiet.body.top_k, quiet.body.top_p, quiet.ignored]).toStrictEqual([0.5, 5, 0.9, []])
  })
  it("a forced call replaces a budget, but not adaptive thinking", () => {
    const wishes: ReadonlyArray<Rest> = [
      { tools: [f], tool_choice: "required" },
      { tools: [f], tool_choice: { type: "function", function: { name: "f" } } },
      { response_format: { type: "json_object" } }
    ]
    for (const rest of wishes) {
      expect(
        knobs(models.budget, { ...rest, thinking: enabled(40_000), max_tokens: 100, temperature: 0.5 })
      ).toStrictEqual([undefined, undefined, 100, ["thinking"]])
      expect(knobs(models.both, { ...rest, reasoning_effort: "low" })).toStrictEqual([
        { type: "adaptive" },
        { effort: "low" },
        32_000,
        []
      ])
      expect(knobs(models.both, { ...rest, thinking: enabled(2_000) })).toStrictEqual([
        undefined,
        undefined,
        32_000,
        ["thinking"]
      ])
      expect(knobs(models.budget, { ...rest, reasoning_effort: "none" })).toStrictEqual([off, undefined, 32_000, []])
    }
    expect(knobs(models.budget, { tools: [f], tool_choice: "required", reasoning_effort: "low" })).toStrictEqual([
      undefined,
      undefined,
      32_000,
      ["reasoning_effort"]
    ])
    expect(knobs(models.budget, { tools: [f], tool_choice: "auto", reasoning_effort: "low" })).toStrictEqual([
      budget(1_024),
      undefined,
      32_000,
      []
    ])
  })
})

const thought = (signature: string | undefined, thinking = "hm") => ({
  type: "thinking",
  thinking,
  ...(signature === undefined ? {} : { signature })
})
const redacted = { type: "redacted_thinking", data: "ZGF0YQ==" }
const thinks: Rest = { thinking: enabled(2_000), tools: [f] }
/** The blocks of the first assistant message. */
const turn = (messages: Messages, rest: Rest = thinks, options: ContextOptions = {}, model = models.budget) =>
  sent(messages, rest, claudeContext(model, options)).messages.find(({ role }) => role === "assistant")?.content
const looped = (first: ReturnType<typeof assistant>): Messages => [user("q"), first, tool("1", "r")]
const use = { type: "tool_use", id: "1", name: "f", input: {} }

describe("thoughts of the history (T1824, T1825)", () => {
  it("thoughts from content or content_blocks go first, unchanged and in order", () => {
    const blocks = [thought("c2ln"), redacted, text("a")]
    expect(turn([user("q"), assistant(blocks), user("w")])).toStrictEqual(blocks)
    expect(turn([user("q"), assistant("a", { content_blocks: blocks }), user("w")])).toStrictEqual(blocks)
    expect(turn(looped(assistant("a", { content_blocks: blocks, tool_calls: [call("1")] })))).toStrictEqual([
      ...blocks,
      use
    ])
    expect(turn([user("q"), assistant([text("a"), thought("c2ln"), redacted]), user("w")])).toStrictEqual([
      thought("c2ln"),
      redacted,
      text("a")
    ])
    expect(turn([user("q"), assistant([thought("c2ln", "")]), user("w")])).toStrictEqual([thought("c2ln", "")])
  })
  it("thoughts between texts keep their position", () => {
    const blocks = [thought("MQ=="), text("a"), thought("Mg=="), text("b")]
    expect(turn(looped(assistant("ab", { content_blocks: blocks, tool_calls: [call("1")] })))).toStrictEqual([
      ...blocks,
      use
    ])
  })
  it("unsigned thoughts are dropped", () => {
    expect(turn([user("q"), assistant([thought(undefined), text("a")]), user("w")])).toStrictEqual([text("a")])
    expect(turn([user("q"), assistant([thought(""), text("a")]), user("w")])).toStrictEqual([text("a")])
  })
  it("without thinking, thoughts are sent only in turns with calls", () => {
    const blocks = [thought("c2ln"), text("a")]
    for (const rest of [{}, { reasoning_effort: "none" }]) {
      expect(turn([user("q"), assistant(blocks), user("w")], rest)).toStrictEqual([text("a")])
      expect(turn(looped(assistant(blocks, { tool_calls: [call("1")] })), rest)).toStrictEqual([...blocks, use])
    }
    expect(turn(looped(assistant(blocks, { tool_calls: [call("1")] })), {}, {}, models.plain)).toStrictEqual([
      text("a"),
      use
    ])
  })
  it("thoughts of another known issuer are dropped (T609, T610)", () => {
    const known: Record<string, KnownSignature> = { "1": { issuer: "gemini/vertex-ai", signature: "c2ln" } }
    const blocks = [thought("c2ln"), redacted, text("a")]
    expect(turn(looped(assistant(blocks, { tool_calls: [call("1")] })), {}, { known })).toStrictEqual([text("a"), use])
    expect(
      turn(
        looped(assistant(blocks, { tool_calls: [call("1")] })),
        {},
        { known: { "1": { issuer, signature: "c2ln" } } }
      )
    ).toStrictEqual([...blocks, use])
  })
})

describe("packed thinking on calls (T605, T606)", () => {
  const blocks = [{ type: "thinking", thinking: "hm é漢🐎", signature: "c2ln" }, redacted]
  const packed = packThinking(blocks) ?? ""
  const signed = (signature: string, id = "1") => call(id, "f", "{}", { thought_signature: signature })
  it("packing round-trips byte for byte, and other texts give no blocks (L18)", () => {
    expect(unpackThinking(packed)).toStrictEqual(blocks)
    expect(packThinking([])).toBe(undefined)
    const pack = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64")
    for (const foreign of [
      undefined,
      "",
      "c2ln",
      packed.slice(0, -8),
      pack([{ type: "text", text: "x" }]),
      pack([{ type: "thinking", thinking: "x" }]),
      pack([{ type: "tool_use", id: "1" }, blocks[0]]),
      pack({ type: "thinking" }),
      `${packed.slice(0, 16)}-_${packed.slice(18)}`
    ])
      expect(unpackThinking(foreign)).toStrictEqual([])
    expect(
      unpackThinking(pack([{ type: "thinking", thinking: "x", signature: "y", cache_control: {} }]))
    ).toStrictEqual([{ type: "thinking", thinking: "x", signature: "y" }])
  })
  it("packed thinking goes before the text, from client or memory; the client's takes precedence", () => {
    const wanted = [...blocks, text("a"), use]
    const other = packThinking([{ type: "thinking", thinking: "other", signature: "b3RoZXI=" }]) ?? ""
    expect(turn(looped(assistant("a", { tool_calls: [signed(packed)] })))).toStrictEqual(wanted)
    expect(
      turn(looped(assistant("a", { tool_calls: [call("1")] })), thinks, {
        known: { "1": { issuer, signature: packed } }
      })
    ).toStrictEqual(wanted)
    expect(
      turn(looped(assistant("a", { tool_calls: [signed(packed)] })), thinks, {
        known: { "1": { issuer, signature: other } }
      })
    ).toStrictEqual(wanted)
    expect(
      turn(looped(assistant("a", { tool_calls: [signed("c2ln")] })), thinks, {
        known: { "1": { issuer, signature: packed } }
      })
    ).toStrictEqual(wanted)
  })
  it("blocks from the client replace packed thinking", () => {
    const sentBack = [thought("Y2xpZW50"), text("a")]
    expect(turn(looped(assistant("a", { content_blocks: sentBack, tool_calls: [signed(packed)] })))).toStrictEqual([
      ...sentBack,
      use
    ])
  })
  it("thinking between two calls goes between them", () => {
    const later = { type: "thinking", thinking: "then", signature: "dGhlbg==" }
    const calls = [signed(packed), signed(packThinking([later]) ?? "", "2")]
    expect(turn([user("q"), assistant("a", { tool_calls: calls }), tool("1", "r"), tool("2", "s")])).toStrictEqual([
      ...blocks,
      text("a"),
      use,
      later,
      { ...use, id: "2" }
    ])
  })
  it("packed thinking of another issuer, and Gemini signatures, are not sent (T609, T610)", () => {
    const quiet: Rest = { tools: [f] }
    expect(
      turn(looped(calling(signed(packed))), quiet, {
        known: { "1": { issuer: "gemini/vertex-ai", signature: packed } }
      })
    ).toStrictEqual([use])
    expect(turn(looped(calling(signed("Q2lRQg=="))), quiet)).toStrictEqual([use])
    expect(
      turn(looped(calling(call("1"))), quiet, { known: { "1": { issuer: "gemini/google", signature: "Q2lRQg==" } } })
    ).toStrictEqual([use])
  })
})

describe("lost thinking", () => {
  const lost = [user("q"), calling(call("1")), tool("1", "r")]
  const of = (messages: Messages, rest: Rest = thinks, model = models.budget) => {
    const { body, ignored } = translated(messages, rest, claudeContext(model))
    return [body.thinking, body.max_tokens, ignored]
  }
  it("a continued turn without its thinking is sent without a budget, which Claude would reject", () => {
    expect(of(lost)).toStrictEqual([undefined, 32_000, ["thinking"]])
    expect(of([...lost, user("by the way")])).toStrictEqual([undefined, 32_000, ["thinking"]])
    expect(of(lost, { reasoning_effort: "low", max_tokens: 100, temperature: 0 })).toStrictEqual([
      undefined,
      100,
      ["reasoning_effort"]
    ])
  })
  it("a prefill has no thinking, so the budget is dropped", () => {
    expect(of([user("q"), assistant("once")])).toStrictEqual([undefined, 32_000, ["thinking"]])
    expect(of([user("q"), assistant([thought("c2ln"), text("once")])])).toStrictEqual([budget(2_000), 32_000, []])
    expect(of([user("q"), assistant(null)])).toStrictEqual([budget(2_000), 32_000, []])
  })
  it("thoughts of other turns are dropped together with the budget", () => {
    const { messages } = sent(
      [user("p"), assistant([thought("c2ln"), text("a")]), ...lost],
      thinks,
      claudeContext(models.budget)
    )
    expect(messages[1]?.content).toStrictEqual([text("a")])
  })
  it("a finished turn, and adaptive thinking, need no earlier thoughts", () => {
    expect(of([...lost, assistant("done"), user("next")])).toStrictEqual([budget(2_000), 32_000, []])
    expect(of(lost, { reasoning_effort: "low" }, models.both)).toStrictEqual([{ type: "adaptive" }, 32_000, []])
  })
})
