// The changes of upstream calls by lessons: one test for each row, the whole changed call compared.
import { describe, expect, it } from "@effect/vitest"
import { BodyInvalid } from "../../../src/domain/GatewayError.ts"
import type { ModelRecord } from "../../../src/domain/models/ModelRecord.ts"
import { builtInModels } from "../../../src/domain/models/modelTable.ts"
import type { JsonObject } from "../../../src/domain/text/json.ts"
import { applyLessons } from "../../../src/translate/healing/applyLessons.ts"
import type { HealableCall, HealRow, Lesson } from "../../../src/translate/healing/lessons.ts"
import { adjustmentText } from "../../../src/translate/Translator.ts"

const flash = builtInModels.find("gemini-2.5-flash").record
const withThinking = (thinking: ModelRecord["thinking"]): ModelRecord => ({ ...flash, thinking: thinking ?? {} })

interface Healed {
  readonly body: JsonObject | undefined
  readonly headers: Readonly<Record<string, string>>
  readonly ignored: ReadonlyArray<string>
  readonly adjusted: ReadonlyArray<string>
  readonly applied: ReadonlyArray<Lesson>
}

const healed = (call: Partial<HealableCall>, lessons: ReadonlyArray<Lesson>): Healed => {
  const out = applyLessons(
    { record: flash, body: {}, headers: {}, thinkingParam: "reasoning_effort", ...call },
    lessons
  )
  if (out instanceof BodyInvalid) throw out
  return { ...out, adjusted: out.adjusted.map(adjustmentText) }
}
const lesson = (row: HealRow, value = ""): Lesson => ({ row, value })
const changed = (row: HealRow, value: string, rest: Partial<Healed>): Healed => ({
  body: undefined,
  headers: {},
  ignored: [],
  adjusted: [],
  applied: [lesson(row, value)],
  ...rest
})
const untouched: Healed = { body: undefined, headers: {}, ignored: [], adjusted: [], applied: [] }
const thinking = (thinkingConfig: JsonObject): JsonObject => ({ contents: [], generationConfig: { thinkingConfig } })
const hi = { role: "user", parts: [{ text: "hi" }] }

describe("thinking of Gemini", () => {
  it("a level: becomes the budget of the same effort (H1)", () => {
    const record = withThinking({ control: "budget", budget_min: 128, budget_max: 32_768 })
    expect(
      healed({ record, body: thinking({ thinkingLevel: "MEDIUM", includeThoughts: true }) }, [lesson("H1")])
    ).toEqual(
      changed("H1", "", {
        body: thinking({ includeThoughts: true, thinkingBudget: 8_192 }),
        adjusted: ["reasoning_effort=medium>8192"]
      })
    )
  })

  it("a level: becomes the nearest lower one, and the lowest without a lower one (H2)", () => {
    const record = withThinking({ control: "level", levels: ["minimal", "low", "medium", "high"] })
    expect(healed({ record, body: thinking({ thinkingLevel: "MEDIUM" }) }, [lesson("H2", "medium")])).toEqual(
      changed("H2", "medium", {
        body: thinking({ thinkingLevel: "LOW" }),
        adjusted: ["reasoning_effort=medium>low"]
      })
    )
    expect(healed({ record, body: thinking({ thinkingLevel: "MINIMAL" }) }, [lesson("H2", "minimal")])).toEqual(
      changed("H2", "minimal", {
        body: thinking({ thinkingLevel: "LOW" }),
        adjusted: ["reasoning_effort=minimal>low"]
      })
    )
  })

  it("a level: skips every level that was refused before, and stays when another one was (H3)", () => {
    const record = withThinking({ control: "level", levels: ["minimal", "low", "medium", "high"] })
    const lessons = [lesson("H3", "minimal"), lesson("H3", "low")]
    expect(healed({ record, body: thinking({ thinkingLevel: "MINIMAL" }) }, lessons)).toEqual(
      changed("H3", "minimal", {
        body: thinking({ thinkingLevel: "MEDIUM" }),
        adjusted: ["reasoning_effort=minimal>medium"]
      })
    )
    expect(healed({ record, body: thinking({ thinkingLevel: "HIGH" }) }, lessons)).toEqual(untouched)
  })

  it.each(["H4", "H6"] as const)("a budget of 0: becomes the lowest budget (%s)", (row) => {
    const body = thinking({ thinkingBudget: 0, includeThoughts: false })
    const expected = changed(row, "", {
      body: thinking({ thinkingBudget: 128, includeThoughts: false }),
      adjusted: ["reasoning_effort=none>128"]
    })
    expect(healed({ record: withThinking({ control: "budget", budget_min: 128 }), body }, [lesson(row)])).toEqual(
      expected
    )
    expect(healed({ record: withThinking({ control: "budget", budget_min: 0 }), body }, [lesson(row)])).toEqual(
      expected
    )
    expect(healed({ body: thinking({ thinkingBudget: 1 }) }, [lesson(row)])).toEqual(untouched)
  })

  it("a budget: becomes the largest one of the record, else the level HIGH (H5)", () => {
    const call = { body: thinking({ thinkingBudget: 60_000 }), thinkingParam: "thinking" }
    const lessons = [lesson("H5", "52428")]
    expect(healed({ ...call, record: withThinking({ budget_max: 32_768 }) }, lessons)).toEqual(
      changed("H5", "52428", {
        body: thinking({ thinkingBudget: 32_768 }),
        adjusted: ["thinking=60000>32768"]
      })
    )
    expect(healed({ ...call, record: withThinking({}) }, lessons)).toEqual(
      changed("H5", "52428", { body: thinking({ thinkingLevel: "HIGH" }), adjusted: ["thinking=60000>high"] })
    )
    expect(healed({ record: withThinking({}), body: thinking({ thinkingBudget: 1_024 }) }, lessons)).toEqual(untouched)
  })
})

describe("other fields of Gemini", () => {
  it("a last model turn: is followed by a user turn, unless it has a call (H7)", () => {
    const said = { role: "model", parts: [{ text: "Once" }] }
    expect(healed({ body: { contents: [hi, said] } }, [lesson("H7")])).toEqual(
      changed("H7", "", {
        body: {
          contents: [hi, said, { role: "user", parts: [{ text: "Continue exactly where your last message stopped." }] }]
        },
        adjusted: ["messages=prefill>continue"]
      })
    )
    const called = { role: "model", parts: [{ functionCall: { name: "f", args: {} } }] }
    expect(healed({ body: { contents: [hi, called] } }, [lesson("H7")])).toEqual(untouched)
    expect(healed({ body: { contents: [hi] } }, [lesson("H7")])).toEqual(untouched)
  })

  it("penalties: are left out (H8)", () => {
    const body = { contents: [hi], generationConfig: { presencePenalty: 1, frequencyPenalty: 0, topP: 1 } }
    expect(healed({ body }, [lesson("H8")])).toEqual(
      changed("H8", "", {
        body: { contents: [hi], generationConfig: { topP: 1 } },
        ignored: ["presence_penalty", "frequency_penalty"]
      })
    )
  })

  it.each(["H9", "H10"] as const)("log probabilities: are left out (%s)", (row) => {
    const body = { contents: [hi], generationConfig: { responseLogprobs: true, logprobs: 3 } }
    expect(healed({ body }, [lesson(row)])).toEqual(
      changed(row, "", { body: { contents: [hi], generationConfig: {} }, ignored: ["logprobs", "top_logprobs"] })
    )
    expect(healed({ body: { contents: [hi] } }, [lesson(row)])).toEqual(untouched)
  })

  it("a longer answer than the model gives: is asked for as long as the refusal states (H30)", () => {
    expect(healed({ body: { generationConfig: { maxOutputTokens: 9 } } }, [lesson("H30", "8")])).toEqual(
      changed("H30", "8", {
        body: { generationConfig: { maxOutputTokens: 8 } },
        adjusted: ["max_tokens=9>8"]
      })
    )
    expect(healed({ body: { max_tokens: 9 } }, [lesson("H30", "8")])).toEqual(
      changed("H30", "8", {
        body: { max_tokens: 8 },
        adjusted: ["max_tokens=9>8"]
      })
    )
    expect(healed({ body: { max_tokens: 7 } }, [lesson("H30", "8")])).toEqual(untouched)
  })

  it("several candidates: one is asked for (H11)", () => {
    expect(healed({ body: { generationConfig: { candidateCount: 2 } } }, [lesson("H11")])).toEqual(
      changed("H11", "", {
        body: { generationConfig: {} },
        adjusted: ["n=2>1"]
      })
    )
    expect(healed({ body: { contents: [] } }, [lesson("H11")])).toEqual(untouched)
  })

  it("tools with a schema: are refused (H12)", () => {
    const body = { tools: [], generationConfig: { responseMimeType: "application/json" } }
    expect(applyLessons({ record: flash, body, headers: {}, thinkingParam: "" }, [lesson("H12")])).toEqual(
      new BodyInvalid({
        code: "tools_with_schema_unsupported",
        param: "response_format",
        message: "This model takes no tools together with response_format; send one of them."
      })
    )
  })

  it("unsigned calls: get the sentinel, the first one of each turn (H13)", () => {
    const turn = (...parts: ReadonlyArray<JsonObject>) => ({ role: "model", parts })
    const call = (name: string, more: JsonObject = {}) => ({ functionCall: { name, args: {} }, ...more })
    const signed = { thoughtSignature: "kept" }
    const body = { contents: [hi, turn(call("a"), call("b")), turn({ text: "x" }), turn(call("c", signed))] }
    const sentinel = { thoughtSignature: "skip_thought_signature_validator" }
    expect(healed({ body }, [lesson("H13")])).toEqual(
      changed("H13", "", {
        body: {
          contents: [hi, turn(call("a", sentinel), call("b")), turn({ text: "x" }), turn(call("c", signed))]
        },
        adjusted: ["messages=signature>sentinel"]
      })
    )
    expect(healed({ body: { contents: [turn(call("c", signed))] } }, [lesson("H13")])).toEqual(untouched)
  })
})

describe("fields of Claude", () => {
  const messages = [{ role: "user", content: "hi" }]

  it("sampling: the refused field is left out (H14)", () => {
    expect(healed({ body: { messages, temperature: 1, top_p: 0.5 } }, [lesson("H14", "top_p")])).toEqual(
      changed("H14", "top_p", { body: { messages, temperature: 1 }, ignored: ["top_p"] })
    )
    expect(healed({ body: { messages } }, [lesson("H14", "top_p")])).toEqual(untouched)
  })

  it("a last assistant message: is followed by a user message (H15)", () => {
    const said = [...messages, { role: "assistant", content: [{ type: "text", text: "Once" }] }]
    expect(healed({ body: { messages: said } }, [lesson("H15")])).toEqual(
      changed("H15", "", {
        body: {
          messages: [
            ...said,
            {
              role: "user",
              content: [{ type: "text", text: "Continue exactly where your last message stopped." }]
            }
          ]
        },
        adjusted: ["messages=prefill>continue"]
      })
    )
    expect(healed({ body: { messages } }, [lesson("H15")])).toEqual(untouched)
  })

  it("a forced tool: becomes free, and all tools stay (H16)", () => {
    const tools = [{ name: "f" }]
    const body = { messages, tools, tool_choice: { type: "any", disable_parallel_tool_use: true } }
    expect(healed({ body }, [lesson("H16")])).toEqual(
      changed("H16", "", {
        body: { messages, tools, tool_choice: { type: "auto", disable_parallel_tool_use: true } },
        adjusted: ["tool_choice=required>auto"]
      })
    )
    expect(healed({ body: { messages, tool_choice: { type: "tool", name: "json_output" } } }, [lesson("H16")])).toEqual(
      changed("H16", "", {
        body: { messages, tool_choice: { type: "auto" } },
        adjusted: ["response_format=schema>tool"]
      })
    )
    expect(healed({ body: { messages, tool_choice: { type: "none" } } }, [lesson("H16")])).toEqual(untouched)
  })

  it("disabled thinking: becomes the low effort (H17)", () => {
    expect(healed({ body: { messages, thinking: { type: "disabled" } } }, [lesson("H17")])).toEqual(
      changed("H17", "", {
        body: { messages, output_config: { effort: "low" } },
        adjusted: ["reasoning_effort=none>low"]
      })
    )
  })

  it.each([
    [4_096, "low"],
    [16_384, "medium"],
    [16_385, "high"]
  ])("a budget of %i: becomes the effort %s (H18)", (budget, effort) => {
    const body = { messages, thinking: { type: "enabled", budget_tokens: budget } }
    expect(healed({ body, thinkingParam: "thinking" }, [lesson("H18", "enabled")])).toEqual(
      changed("H18", "enabled", {
        body: { messages, thinking: { type: "adaptive", display: "summarized" }, output_config: { effort } },
        adjusted: [`thinking=budget>${effort}`]
      })
    )
  })

  it("thinking between tools: becomes disabled thinking (H18)", () => {
    expect(
      healed({ body: { messages, thinking: { type: "between_tools" } } }, [lesson("H18", "between_tools")])
    ).toEqual(
      changed("H18", "between_tools", {
        body: { messages, thinking: { type: "disabled" } },
        adjusted: ["reasoning_effort=none>disabled"]
      })
    )
  })

  it("disabled thinking: becomes thinking between tools, with an effort of at most high (H19)", () => {
    const body = { messages, thinking: { type: "disabled" }, output_config: { effort: "xhigh" } }
    expect(healed({ body }, [lesson("H19", "disabled")])).toEqual(
      changed("H19", "disabled", {
        body: { messages, thinking: { type: "between_tools" }, output_config: { effort: "high" } },
        adjusted: ["reasoning_effort=none>between_tools"]
      })
    )
    expect(healed({ body }, [lesson("H19", "xhigh")])).toEqual(
      changed("H19", "xhigh", {
        body: { messages, thinking: { type: "disabled" }, output_config: { effort: "high" } },
        adjusted: ["reasoning_effort=xhigh>high"]
      })
    )
  })

  it("thinking of another history: is left out of every message (H23)", () => {
    const said = (...content: ReadonlyArray<JsonObject>) => ({ role: "assistant", content })
    const thought = { type: "thinking", thinking: "hm", signature: "s" }
    const text = { type: "text", text: "Yes." }
    const body = { messages: [...messages, said(thought, text), said({ type: "redacted_thinking", data: "d" })] }
    expect(healed({ body }, [lesson("H23")])).toEqual(
      changed("H23", "", { body: { messages: [...messages, said(text)] }, adjusted: ["messages=thinking>dropped"] })
    )
    expect(healed({ body: { messages } }, [lesson("H23")])).toEqual(untouched)
  })

  it("a dated version: becomes the first one (H24)", () => {
    expect(healed({ body: { messages, anthropic_version: "2026-10-21" } }, [lesson("H24")])).toEqual(
      changed("H24", "", {
        body: { messages, anthropic_version: "vertex-2023-10-16" },
        adjusted: ["anthropic_version=2026-10-21>vertex-2023-10-16"]
      })
    )
    expect(healed({ body: { messages, anthropic_version: "vertex-2023-10-16" } }, [lesson("H24")])).toEqual(untouched)
  })
})

describe("betas of Claude", () => {
  it("a refused beta: is taken off, and the rest stays in order (H20)", () => {
    const headers = { "x-a": "1", "anthropic-beta": "b-1,effort-2025-11-24,a-1" }
    expect(healed({ headers }, [lesson("H20", "effort-2025-11-24")])).toEqual(
      changed("H20", "effort-2025-11-24", {
        headers: { "x-a": "1", "anthropic-beta": "b-1,a-1" },
        ignored: ["anthropic-beta.effort-2025-11-24"]
      })
    )
    expect(healed({ headers: { "anthropic-beta": "a-1" } }, [lesson("H20", "a-1")])).toEqual(
      changed("H20", "a-1", { headers: {}, ignored: ["anthropic-beta.a-1"] })
    )
    expect(healed({ headers: { "anthropic-beta": "a-1" } }, [lesson("H20", "a")])).toEqual({
      ...untouched,
      headers: { "anthropic-beta": "a-1" }
    })
  })

  it("a beta with a successor on Vertex AI: becomes the successor (H20)", () => {
    const headers = { "anthropic-beta": "advanced-tool-use-2025-11-20,a-1" }
    expect(healed({ headers }, [lesson("H20", "advanced-tool-use-2025-11-20")])).toEqual(
      changed("H20", "advanced-tool-use-2025-11-20", {
        headers: { "anthropic-beta": "tool-search-tool-2025-10-19,a-1" },
        adjusted: ["anthropic-beta=advanced-tool-use-2025-11-20>tool-search-tool-2025-10-19"]
      })
    )
  })

  it("a refused beta: takes its field with it (H20)", () => {
    const headers = { "anthropic-beta": "context-management-2025-06-27" }
    const body = { messages: [], context_management: { edits: [] } }
    expect(healed({ headers, body }, [lesson("H20", "context-management-2025-06-27")])).toEqual(
      changed("H20", "context-management-2025-06-27", {
        body: { messages: [] },
        ignored: ["anthropic-beta.context-management-2025-06-27", "context_management"]
      })
    )
  })

  it("a field without its beta: is left out (H21)", () => {
    const thinking = { type: "adaptive", block_binding: "off" }
    expect(healed({ body: { messages: [], thinking } }, [lesson("H21", "block_binding")])).toEqual(
      changed("H21", "block_binding", {
        body: { messages: [], thinking: { type: "adaptive" } },
        ignored: ["thinking.block_binding"]
      })
    )
    expect(healed({ body: { context_management: {} } }, [lesson("H21", "context_management")])).toEqual(
      changed("H21", "context_management", { body: {}, ignored: ["context_management"] })
    )
  })

  it("a scope of cache marks: is left out everywhere but in inputs of tools (H21)", () => {
    const mark = { type: "ephemeral", scope: "global" }
    const input = { cache_control: mark }
    const body = {
      system: [{ type: "text", text: "s", cache_control: mark }],
      tools: [{ name: "f", input_schema: { cache_control: mark }, cache_control: { type: "ephemeral" } }],
      messages: [{ role: "assistant", content: [{ type: "tool_use", input, cache_control: mark }] }]
    }
    expect(healed({ body }, [lesson("H21", "scope")])).toEqual(
      changed("H21", "scope", {
        body: {
          system: [{ type: "text", text: "s", cache_control: { type: "ephemeral" } }],
          tools: body.tools,
          messages: [
            { role: "assistant", content: [{ type: "tool_use", input, cache_control: { type: "ephemeral" } }] }
          ]
        },
        ignored: ["cache_control.scope"]
      })
    )
  })
})

describe("several lessons", () => {
  it("two changes of one parameter: are named as one, from the asked value to the sent one (M-902)", () => {
    const body = { thinking: { type: "disabled" } }
    expect(healed({ body }, [lesson("H19", "disabled"), lesson("H18", "between_tools")]).adjusted).toEqual([
      "reasoning_effort=none>disabled"
    ])
    const levels = thinking({ thinkingLevel: "HIGH" })
    const record = withThinking({ control: "level", levels: ["low", "medium", "high"] })
    expect(healed({ record, body: levels }, [lesson("H2", "high"), lesson("H1")]).adjusted).toEqual([
      "reasoning_effort=high>8192"
    ])
  })
})
