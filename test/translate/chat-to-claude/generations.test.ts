// Tests what differs between the generations of Claude: effort, budgets, prefill, tool choice, structured output (M-200 to M-503).
// Must not open sockets or read clocks.
import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import type { JsonObject } from "../../../src/domain/text/json.ts"
import { countToClaude } from "../../../src/translate/chat-to-claude/ChatToClaude.ts"
import { adjustmentText } from "../../../src/translate/Translator.ts"
import { chatRequest } from "../../support/chat.ts"
import {
  answer,
  asked,
  assistant,
  call,
  calling,
  chunks,
  claudeContext,
  functionTool,
  grow,
  message,
  type Messages,
  type Rest,
  start,
  stop,
  stream,
  system,
  text,
  tool,
  translate,
  translated,
  user
} from "../../support/claude.ts"

/** Every listed model with a control of its own, by the column of the effort table. */
const columns = {
  none: ["claude-3-haiku@20240307", "claude-3-5-haiku@20241022"],
  budget: ["claude-3-7-sonnet@20250219", "claude-sonnet-4-5@20250929", "claude-opus-4-5@20251101"],
  both: ["claude-opus-4-6", "claude-sonnet-4-6"],
  quiet: ["claude-opus-4-7", "claude-opus-4-8", "claude-sonnet-5", "claude-opus-5", "claude-haiku-5-5"],
  between: ["claude-sonnet-5-5"],
  always: [
    "claude-opus-5-5",
    "claude-fable-5",
    "claude-fable-5-1",
    "claude-fable-5-2",
    "claude-mythos-5-1",
    "claude-opus-6"
  ]
} as const

const of = (model: string, rest: Rest, messages: Messages = [user("hi")]) => {
  const { adjusted = [], body, ignored } = translated(messages, rest, claudeContext(model))
  return { body, ignored, adjusted: adjusted.map(adjustmentText) }
}
/** Thinking, the rest of the configuration, adjustments. */
const knobs = (model: string, rest: Rest) => {
  const { adjusted, body } = of(model, rest)
  return [body.thinking, body.output_config, adjusted]
}
const summarized = { type: "adaptive", display: "summarized" }
const effort = (word: string) => ({ effort: word })

describe("Claude efforts by generation (M-200)", () => {
  const words = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const
  const table = (model: string) =>
    Object.fromEntries(words.map((word) => [word, knobs(model, { reasoning_effort: word })]))
  const budget = (budget_tokens: number) => ({ type: "enabled", budget_tokens })
  it.each(columns.none)("a model without thinking gets nothing: %s", (model) => {
    expect(table(model)).toStrictEqual(Object.fromEntries(words.map((word) => [word, [undefined, undefined, []]])))
  })
  it.each(columns.budget)("an effort is a budget, at most that of high: %s (M-201)", (model) => {
    expect(table(model)).toStrictEqual({
      none: [{ type: "disabled" }, undefined, []],
      minimal: [budget(1024), undefined, []],
      low: [budget(1024), undefined, []],
      medium: [budget(8192), undefined, []],
      high: [budget(24576), undefined, []],
      xhigh: [budget(24576), undefined, ["reasoning_effort=xhigh>high"]],
      max: [budget(24576), undefined, ["reasoning_effort=max>high"]]
    })
  })
  it.each(columns.both)("the list of 4.6 lacks xhigh: %s (M-201)", (model) => {
    const adaptive = { type: "adaptive" }
    expect(table(model)).toStrictEqual({
      none: [{ type: "disabled" }, undefined, []],
      minimal: [adaptive, effort("low"), ["reasoning_effort=minimal>low"]],
      low: [adaptive, effort("low"), []],
      medium: [adaptive, effort("medium"), []],
      high: [adaptive, effort("high"), []],
      xhigh: [adaptive, effort("high"), ["reasoning_effort=xhigh>high"]],
      max: [adaptive, effort("max"), []]
    })
  })
  const since47 = {
    minimal: [summarized, effort("low"), ["reasoning_effort=minimal>low"]],
    low: [summarized, effort("low"), []],
    medium: [summarized, effort("medium"), []],
    high: [summarized, effort("high"), []],
    xhigh: [summarized, effort("xhigh"), []],
    max: [summarized, effort("max"), []]
  }
  it.each(columns.quiet)("thinking can be switched off: %s", (model) => {
    expect(table(model)).toStrictEqual({ none: [{ type: "disabled" }, undefined, []], ...since47 })
  })
  it.each(columns.between)("thinking stops between tools only, alone in its field: %s (M-212)", (model) => {
    expect(table(model)).toStrictEqual({ none: [{ type: "between_tools" }, undefined, []], ...since47 })
  })
  it.each(columns.always)("thinking that never stops gets the lowest effort: %s", (model) => {
    expect(table(model)).toStrictEqual({
      none: [undefined, effort("low"), ["reasoning_effort=none>low"]],
      ...since47
    })
  })
  it("another word asks for nothing at every model (M-200, W2)", () => {
    for (const model of Object.values(columns).flat())
      expect(of(model, { reasoning_effort: "huge" })).toStrictEqual({
        ...of(model, {}),
        ignored: ["reasoning_effort"]
      })
  })
  it("without thinking, no effort goes with the word that stops it (M-212)", () => {
    for (const model of [...columns.quiet, ...columns.between]) {
      const { body, ignored } = of(model, { thinking: { type: "disabled" }, reasoning_effort: "max" })
      expect([body.output_config, ignored]).toStrictEqual([undefined, ["reasoning_effort"]])
    }
  })
  it("a request that asks for no thinking gets no thinking fields (M-213)", () => {
    for (const model of Object.values(columns).flat())
      expect(knobs(model, {})).toStrictEqual([undefined, undefined, []])
  })
})

describe("Claude budgets by generation (M-210)", () => {
  const enabled = (budget_tokens: number) => ({ thinking: { type: "enabled", budget_tokens } })
  it.each([...columns.quiet, ...columns.between, ...columns.always])("a budget selects an effort: %s", (model) => {
    for (const [tokens, word] of [
      [1, "low"],
      [4096, "low"],
      [4097, "medium"],
      [16384, "medium"],
      [16385, "high"]
    ] as const)
      expect(knobs(model, enabled(tokens))).toStrictEqual([summarized, effort(word), [`thinking=budget>${word}`]])
  })
  it("a model with budgets names a budget that had to move", () => {
    expect(knobs("claude-opus-4-6", enabled(2000))).toStrictEqual([
      { type: "enabled", budget_tokens: 2000 },
      undefined,
      []
    ])
    expect(of("claude-sonnet-4-5@20250929", enabled(10)).adjusted).toStrictEqual(["thinking=10>1024"])
    expect(of("claude-sonnet-4-5@20250929", { ...enabled(60_000), max_tokens: 10_000 }).adjusted).toStrictEqual([
      "thinking=60000>54000"
    ])
  })
  it("a budget of 0 is no thinking, one without a size only shows thoughts (M-211)", () => {
    expect(knobs("claude-opus-5-5", enabled(0))).toStrictEqual([undefined, effort("low"), ["thinking=none>low"]])
    expect(knobs("claude-sonnet-5-5", enabled(0))).toStrictEqual([{ type: "between_tools" }, undefined, []])
    for (const thinking of [{ type: "enabled" }, { type: "adaptive" }, { type: "enabled", budget_tokens: -1 }])
      expect(knobs("claude-opus-5-5", { thinking })).toStrictEqual([summarized, undefined, []])
  })
})

const signed = { type: "thinking", thinking: "hm", signature: "c2ln" }

describe("Claude prefill by generation (M-300)", () => {
  const [half, request] = ["The answer is ", [user("q"), assistant("The answer is ")]]
  const continued = { role: "user", content: [text("Continue exactly where your last message stopped.")] }
  const question = { role: "user", content: [text("q")] }
  const turnsOf = (model: string, messages: Messages, rest: Rest = {}) => {
    const { adjusted, body } = of(model, rest, messages)
    return [body.messages, adjusted]
  }
  it.each([...columns.both, ...columns.quiet, ...columns.between, ...columns.always])(
    "a model without prefill is asked to continue: %s",
    (model) => {
      const expected = [
        [question, { role: "assistant", content: [text(half)] }, continued],
        ["messages=prefill>continue"]
      ]
      expect(turnsOf(model, request)).toStrictEqual(expected)
      expect(turnsOf(model, [...request, system("S")])).toStrictEqual(expected)
    }
  )
  it.each([...columns.none, ...columns.budget])("a model with prefill gets the turn: %s (M-301)", (model) => {
    expect(turnsOf(model, request)).toStrictEqual([
      [question, { role: "assistant", content: [text("The answer is")] }],
      []
    ])
  })
  it("an empty last answer is dropped everywhere, and one with calls gets its results (M-301)", () => {
    for (const model of Object.values(columns).flat()) {
      expect(turnsOf(model, [user("q"), assistant("")])).toStrictEqual([[question], []])
      const { adjusted, body } = of(model, { tools: [functionTool("f")] }, [user("q"), calling(call("1"))])
      expect([body.messages.at(-1)?.role, adjusted]).toStrictEqual(["user", []])
    }
  })
  it("the added turn ends the need for thinking before the answer", () => {
    const { adjusted, body } = of("claude-opus-4-6", { thinking: { type: "enabled", budget_tokens: 2000 } }, request)
    expect([body.thinking, adjusted]).toStrictEqual([
      { type: "enabled", budget_tokens: 2000 },
      ["messages=prefill>continue"]
    ])
  })
  it("an answer to the added turn has no signatures, as a whole and in a stream (M-303)", () => {
    const blocks = [
      signed,
      { type: "redacted_thinking", data: "ZGF0YQ==" },
      { type: "tool_use", id: "toolu", name: "f", input: {} }
    ]
    const reply = message(blocks, { stop_reason: "tool_use" })
    const inner = [
      start(0, { type: "thinking", thinking: "", signature: "" }),
      grow(0, { type: "thinking_delta", thinking: "hm" }),
      grow(0, { type: "signature_delta", signature: "c2ln" }),
      stop(0),
      ...blocks.slice(1).flatMap((block, at) => [start(at + 1, block), stop(at + 1)])
    ]
    const signatures = (model: string, messages: Messages) => {
      const asking = chatRequest(messages, { tools: [functionTool("f")] })
      const context = claudeContext(model)
      const whole = JSON.stringify(answer(reply, context, asking))
      const streamed = JSON.stringify(chunks(stream(inner), context, asking))
      return [whole, streamed].map((shown) => [/signature/.test(shown), /redacted|"data"/.test(shown)])
    }
    const none = [
      [false, false],
      [false, false]
    ]
    const all = [
      [true, true],
      [true, true]
    ]
    expect(signatures("claude-opus-5-5", request)).toStrictEqual(none)
    expect(signatures("claude-opus-5-5", [...request, system("S")])).toStrictEqual(none)
    expect(signatures("claude-opus-5-5", [user("q")])).toStrictEqual(all)
    expect(signatures("claude-opus-5-5", [user("q"), assistant(" ")])).toStrictEqual(all)
    expect(signatures("claude-opus-4-5@20251101", request)).toStrictEqual(all)
  })
})

describe("demanded calls by generation (M-420)", () => {
  const f = functionTool("f")
  const named = { type: "function", function: { name: "f" } }
  const chosen = (model: string, rest: Rest) => {
    const { adjusted, body, ignored } = of(model, { tools: [f], ...rest })
    return [body.tool_choice, body.tools?.map(({ name }) => name), adjusted, ignored]
  }
  const refusing = ["claude-fable-5-1", "claude-fable-5-2", "claude-mythos-5-1", "claude-opus-5-5", "claude-sonnet-5-5"]
  it.each(refusing)("a model that refuses demanded calls decides by itself: %s", (model) => {
    for (const tool_choice of ["required", named])
      expect(chosen(model, { tool_choice })).toStrictEqual([{ type: "auto" }, ["f"], ["tool_choice=required>auto"], []])
    expect(chosen(model, { tool_choice: "required", parallel_tool_calls: false })[0]).toStrictEqual({
      type: "auto",
      disable_parallel_tool_use: true
    })
    expect(chosen(model, { tool_choice: "none" })).toStrictEqual([{ type: "none" }, ["f"], [], []])
    const legacy = of(model, { functions: [{ name: "f" }], function_call: { name: "f" } })
    expect([legacy.body.tool_choice, legacy.adjusted]).toStrictEqual([
      { type: "auto" },
      ["function_call=required>auto"]
    ])
  })
  it("a validated choice is automatic (M-400)", () => {
    for (const tool_choice of ["validated", { type: "validated" }])
      expect(chosen("claude-opus-5-5", { tool_choice })).toStrictEqual([{ type: "auto" }, ["f"], [], []])
  })
  it("a count asks as the chat does", () => {
    const out = Result.getOrThrow(
      countToClaude.request(
        chatRequest([user("hi")], { tools: [f], tool_choice: "required" }),
        claudeContext("claude-opus-5-5")
      )
    )
    expect([out.body.tool_choice, out.adjusted?.map(adjustmentText)]).toStrictEqual([
      { type: "auto" },
      ["tool_choice=required>auto"]
    ])
  })
  it.each([...columns.both, ...columns.quiet, "claude-fable-5"])(
    "a demanded call goes with adaptive thinking: %s (M-423)",
    (model) => {
      const { adjusted, body, ignored } = of(model, { tools: [f], tool_choice: named, reasoning_effort: "low" })
      expect([body.tool_choice, body.thinking?.["type"], adjusted, ignored]).toStrictEqual([
        { type: "tool", name: "f" },
        "adaptive",
        [],
        []
      ])
    }
  )
  it.each(columns.budget)("a demanded call excludes a budget: %s (M-423)", (model) => {
    const { body, ignored } = of(model, { tools: [f], tool_choice: "required", reasoning_effort: "low" })
    expect([body.tool_choice, body.thinking, ignored]).toStrictEqual([{ type: "any" }, undefined, ["reasoning_effort"]])
  })
})

describe("structured output by generation (M-421)", () => {
  const schema = { type: "object", properties: { a: { type: "string" } }, required: ["a"] }
  const format = (given: JsonObject) => ({ type: "json_schema", json_schema: { name: "n", schema: given } })
  const strict = { ...schema, additionalProperties: false }
  const native = { format: { type: "json_schema", schema: strict } }
  const f = functionTool("f")
  const shaped = (model: string, rest: Rest) => {
    const { adjusted, body, ignored } = of(model, rest)
    return [body.output_config, body.tools?.map(({ name }) => name), body.tool_choice, adjusted, ignored]
  }
  it.each(["claude-fable-5-1", "claude-fable-5-2", "claude-opus-5-5", "claude-sonnet-5-5"])(
    "a schema goes in the model's own field: %s",
    (model) => {
      const response_format = format(schema)
      expect(shaped(model, { response_format })).toStrictEqual([native, undefined, undefined, [], []])
      expect(shaped(model, { response_format, reasoning_effort: "max" })[0]).toStrictEqual({ effort: "max", ...native })
      expect(shaped(model, { response_format, tools: [f], tool_choice: "required" })).toStrictEqual([
        native,
        ["f"],
        { type: "auto" },
        ["tool_choice=required>auto"],
        []
      ])
      expect(shaped(model, { response_format, tools: [f], tool_choice: "none" })).toStrictEqual([
        native,
        ["f"],
        { type: "none" },
        [],
        []
      ])
    }
  )
  it("functions and a schema go together (M-404)", () => {
    expect(shaped("claude-opus-5-5", { response_format: format(schema), tools: [f] })).toStrictEqual([
      native,
      ["f"],
      undefined,
      [],
      []
    ])
  })
  it("JSON without a schema is a tool that the model may call, and its text counts as the answer", () => {
    const rest: Rest = { response_format: { type: "json_object" } }
    expect(shaped("claude-opus-5-5", rest)).toStrictEqual([undefined, ["json_output"], { type: "auto" }, [], []])
    const asking = chatRequest([user("hi")], rest)
    const context = claudeContext("claude-opus-5-5")
    const content = (block: JsonObject) => answer(message([block]), context, asking).choices[0]?.message.content
    expect([
      content(text('{"a":1}')),
      content({ type: "tool_use", id: "t", name: "json_output", input: { a: 1 } })
    ]).toStrictEqual(['{"a":1}', '{"a":1}'])
  })
  it("without calls, the tool for JSON cannot be offered", () => {
    const rest: Rest = { response_format: { type: "json_object" }, tools: [f], tool_choice: "none" }
    expect(shaped("claude-opus-5-5", rest)).toStrictEqual([undefined, ["f"], { type: "none" }, [], ["response_format"]])
  })
  it("a schema beyond the field is a tool that the model may call", () => {
    const recursive = { type: "object", properties: { a: { $ref: "#" } } }
    expect(shaped("claude-opus-5-5", { response_format: format(recursive) })).toStrictEqual([
      undefined,
      ["json_output"],
      { type: "auto" },
      ["response_format=schema>tool"],
      []
    ])
  })
  it("a bound becomes part of the description", () => {
    const bounded = { type: "object", properties: { a: { type: "number", minimum: 1 } }, required: ["a"] }
    expect(shaped("claude-opus-5-5", { response_format: format(bounded) })).toStrictEqual([
      {
        format: {
          type: "json_schema",
          schema: {
            type: "object",
            properties: { a: { type: "number", description: "{minimum: 1}" } },
            required: ["a"],
            additionalProperties: false
          }
        }
      },
      undefined,
      undefined,
      ["response_format=bounds>description"],
      []
    ])
  })
  it("the text of a native answer is the content, as a whole and in a stream", () => {
    const asking = chatRequest([user("hi")], { response_format: format(schema) })
    const context = claudeContext("claude-opus-5-5")
    const pieces = ['{"a":', '"x"}']
    const events = [start(0, text("")), ...pieces.map((piece) => grow(0, { type: "text_delta", text: piece })), stop(0)]
    expect(answer(message([text(pieces.join(""))]), context, asking).choices[0]?.message.content).toBe('{"a":"x"}')
    expect(
      chunks(stream(events), context, asking).flatMap(({ choices }) =>
        choices.flatMap(({ delta }) => delta.content ?? [])
      )
    ).toStrictEqual(["", ...pieces])
  })
  it("the record decides between the field and the tool (M-422)", () => {
    const structured = (model: string, structured_output: "native" | "tool") => {
      const context = claudeContext(model)
      const record = { ...context.target.record, structured_output }
      const { adjusted, body } = translated(
        [user("hi")],
        { response_format: format(schema) },
        { ...context, target: { ...context.target, record } }
      )
      return [body.output_config, body.tool_choice, adjusted]
    }
    expect(structured("claude-opus-4-8", "native")).toStrictEqual([native, undefined, undefined])
    expect(structured("claude-opus-5-5", "tool")).toStrictEqual([undefined, { type: "auto" }, undefined])
  })
  it.each([...columns.budget, ...columns.both, ...columns.quiet, "claude-fable-5"])(
    "another model must call the tool: %s (M-422)",
    (model) => {
      expect(shaped(model, { response_format: format(schema) })).toStrictEqual([
        undefined,
        ["json_output"],
        { type: "tool", name: "json_output" },
        [],
        []
      ])
    }
  )
})

describe("answers by generation", () => {
  const sampled = { temperature: 0.5, top_p: 0.9, top_k: 5 }
  it("sampling follows the record (M-504)", () => {
    for (const model of [...columns.quiet, ...columns.between, ...columns.always])
      expect(of(model, sampled).ignored).toStrictEqual(["temperature", "top_p", "top_k"])
    for (const model of columns.both) expect(of(model, sampled).ignored).toStrictEqual(["top_p"])
  })
  it("a temperature above Claude's range is named", () => {
    const { adjusted, body } = of("claude-sonnet-4-5@20250929", { temperature: 1.5 })
    expect([body.temperature, adjusted]).toStrictEqual([1, ["temperature=1.5>1"]])
  })
  it("one answer is given where several are asked for (M-503)", () => {
    const { adjusted, ignored } = of("claude-opus-5-5", { n: 2 })
    expect([adjusted, ignored]).toStrictEqual([["n=2>1"], []])
  })
  it("the category of a refusal goes with its reason, and the answer may be empty (M-702)", () => {
    const details = { type: "refusal", category: "cyber", explanation: "No." }
    const whole = answer(message([], { stop_reason: "refusal", stop_details: details })).choices[0]
    expect(whole).toStrictEqual({
      index: 0,
      message: { role: "assistant", content: "", refusal: "No." },
      logprobs: null,
      finish_reason: "content_filter",
      native_finish_reason: "refusal:cyber"
    })
    expect(
      chunks(stream([], { stop_reason: "refusal", stop_details: details })).flatMap(({ choices }) => choices)
    ).toStrictEqual([
      { index: 0, delta: { role: "assistant", content: "" }, finish_reason: null },
      { index: 0, delta: { refusal: "No." }, finish_reason: null },
      { index: 0, delta: {}, finish_reason: "content_filter", native_finish_reason: "refusal:cyber" }
    ])
  })
  it("an answer that spends its length on thinking is not a fault (M-213)", () => {
    expect(answer(message([], { stop_reason: "max_tokens" })).choices[0]?.finish_reason).toBe("length")
  })
  it("thinking between calls is thinking (M-712)", () => {
    const use = (id: string) => ({ type: "tool_use", id, name: "f", input: {} })
    const [first] = answer(message([use("1"), signed, use("2")], { stop_reason: "tool_use" })).choices
    expect([first?.message.content, first?.message.reasoning_content, first?.message.tool_calls?.length]).toStrictEqual(
      [null, "hm", 2]
    )
  })
  it("thoughts of earlier turns stay where the model thinks without being asked (M-440)", () => {
    const history = [user("q"), assistant([signed, text("a")]), user("w")]
    const kept = (model: string) => of(model, {}, history).body.messages[1]?.content
    expect(["claude-opus-5-5", "claude-sonnet-5", "claude-opus-4-8"].map(kept)).toStrictEqual([
      [signed, text("a")],
      [signed, text("a")],
      [text("a")]
    ])
  })
  it("an image of an earlier answer goes into the next user turn (T1807)", () => {
    const image = { type: "image", image: { b64_json: "iVBORw0KGgo=", mime_type: "image/png" } }
    const block = { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" } }
    const drawn = assistant("A cat.", { content_parts: [{ type: "text", text: "A cat." }, image] })
    expect(of("claude-opus-5-5", {}, [user("draw"), drawn, user("blue")]).body.messages).toStrictEqual([
      { role: "user", content: [text("draw")] },
      { role: "assistant", content: [text("A cat.")] },
      { role: "user", content: [block, text("blue")] }
    ])
    const calls = assistant([text("A cat."), image], { tool_calls: [call("1")] })
    const { body } = of("claude-opus-5-5", { tools: [functionTool("f")] }, [user("draw"), calls, tool("1", "r")])
    expect(body.messages.at(-1)).toStrictEqual({
      role: "user",
      content: [{ type: "tool_result", tool_use_id: "1", content: "r" }, block]
    })
  })
  it("a scoped cache mark brings its beta (M-820)", () => {
    const mark = { type: "ephemeral", scope: "global" }
    // The published schema has no scope yet, so the body is not held to it.
    const headers = (messages: Messages) => Result.getOrThrow(translate(messages)).headers
    const beta = { "anthropic-beta": "prompt-caching-scope-2026-01-05" }
    expect(headers([user([{ type: "text", text: "a", cache_control: mark }])])).toStrictEqual(beta)
    expect(headers([system([{ type: "text", text: "a", cache_control: mark }]), user("b")])).toStrictEqual(beta)
    expect(headers([user([{ type: "text", text: "a", cache_control: { type: "ephemeral" } }])])).toStrictEqual({})
    expect(asked({}).headers).toStrictEqual({})
  })
})
