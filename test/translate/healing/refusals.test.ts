// The lessons of refusals in the words of Google and Anthropic, row by row.
import { describe, expect, it } from "@effect/vitest"
import { isLearnable, readLessons, type RefusedCall } from "../../../src/translate/healing/refusals.ts"
import { healRows } from "../../../src/translate/healing/lessons.ts"

const gemini = { dialect: "gemini", native: false } as const
const claude = { dialect: "claude", native: false } as const

/** The lessons of a text for a call of few words. */
const lessonsOf = (refused: RefusedCall, text: string) =>
  readLessons(refused, text, {
    body: { anthropic_version: "2026-10-21", messages: [{ role: "user", content: "hi" }] },
    headers: { "anthropic-beta": "effort-2025-11-24" },
    target: { modelId: "model-1" }
  })

describe("refusals of Gemini", () => {
  it.each([
    ["H1", "Thinking level is not supported for this model.", ""],
    ["H2", "Thinking level MINIMAL is not supported for this model.", "minimal"],
    [
      "H3",
      "Unable to submit request because thinking_level MEDIUM is not supported by this model. Learn more: https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/gemini",
      "medium"
    ],
    ["H4", "Unable to submit request because The model does not support setting thinking_budget to 0", ""],
    ["H5", "The thinking budget (52428) is invalid.", "52428"],
    ["H5", "The thinking budget 52428 is invalid. Please choose a value between 128 and 32768.", "52428"],
    ["H6", "Budget 0 is invalid. This model only works in thinking mode.", ""],
    [
      "H7",
      "Requests ending with a model turn are not supported unless the last part is a function response. This model takes no assistant prefill.",
      ""
    ],
    ["H8", "Penalty is not enabled for models/gemini-2.5-flash-preview-05-20", ""],
    ["H9", "Logprobs is not enabled for models/gemini-2.5-flash", ""],
    ["H10", "Unable to submit request because Logprobs is not supported for this model.", ""],
    ["H11", "Multiple candidates is not enabled for this model", ""],
    [
      "H11",
      "Unable to submit request because candidateCount must be 1 but the entered value was 3. Update the candidateCount value and try again.",
      ""
    ],
    ["H12", "Function calling with a response mime type: 'application/json' is unsupported", ""],
    [
      "H13",
      "Unable to submit request because function call `f` in the 2. content block is missing a `thought_signature`.",
      ""
    ],
    ["H13", "Function call is missing a thought_signature in functionCall parts. This is required.", ""]
  ] as const)("a refusal of Gemini: its text teaches row %s: %s (M-904)", (row, text, value) => {
    expect(lessonsOf(gemini, text)).toStrictEqual([{ row, value }])
    expect(lessonsOf(gemini, text.toUpperCase())).toStrictEqual([{ row, value }])
    expect(lessonsOf(claude, text)).toStrictEqual([])
  })
})

describe("refusals of Claude", () => {
  it.each([
    ["H14", "`temperature` is deprecated for this model.", "temperature"],
    ["H14", "top_k is deprecated for this model.", "top_k"],
    [
      "H15",
      "This model does not support assistant message prefill. The conversation must end with a user message.",
      ""
    ],
    ["H16", 'tool_choice: type "tool" and "any" are not supported for this model.', ""],
    [
      "H17",
      '"thinking.type.disabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.',
      ""
    ],
    ["H18", '"thinking.type.enabled" is not supported for this model. Use another.', "enabled"],
    ["H18", '"thinking.type.between_tools" is not supported for this model.', "between_tools"],
    [
      "H19",
      'To turn thinking off on this model, send "thinking": {"type": "between_tools"} instead of {"type": "disabled"}. See the guide.',
      "disabled"
    ],
    [
      "H19",
      "output_config.effort 'xhigh' is not supported when thinking is disabled on this model. Use effort 'high' or below, or enable thinking.",
      "xhigh"
    ],
    ["H21", "context_management: Extra inputs are not permitted", "context_management"],
    ["H21", "thinking.adaptive.block_binding: Extra inputs are not permitted", "block_binding"],
    ["H21", "system.2.cache_control.ephemeral.scope: Extra inputs are not permitted", "scope"],
    ["H18", "thinking: Input tag 'adaptive' found using 'type' does not match any of the expected tags", "adaptive"],
    ["H18", "Adaptive thinking is not supported on this model.", "adaptive"],
    ["H21", "output_config: Extra inputs are not permitted", "output_config"],
    [
      "H21",
      "tools.3.custom.eager_input_streaming: Extra inputs are not permitted",
      "tools.*.custom.eager_input_streaming"
    ],
    ["H21", "messages.12.content.3.caller: Extra inputs are not permitted", "messages.*.content.*.caller"],
    ["H23", "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to its history.", ""],
    ["H24", "anthropic_version: this version is not supported.", ""],
    ["H30", "max_tokens: 128000 > 64000, which is the maximum allowed number of output tokens for claude-x", "64000"]
  ] as const)("a refusal of Claude: its text teaches row %s: %s (M-904)", (row, text, value) => {
    expect(lessonsOf(claude, text)).toStrictEqual([{ row, value }])
    expect(lessonsOf(gemini, text)).toStrictEqual([])
  })

  it("a refusal of Claude: each refused beta is a lesson of its own (M-911)", () => {
    const text =
      "Unexpected value(s) `prompt-caching-scope-2026-01-05`, `effort-2025-11-24` for the `anthropic-beta` header. Please consult our documentation."
    expect(lessonsOf(claude, text)).toStrictEqual([
      { row: "H20", value: "prompt-caching-scope-2026-01-05" },
      { row: "H20", value: "effort-2025-11-24" }
    ])
  })

  it("a refusal on /v1/messages: all but content teaches, which stays the client's (M-903, W40)", () => {
    const native = { dialect: "claude", native: true } as const
    const rowsOf = (text: string) => lessonsOf(native, text).map(({ row }) => row)
    expect(rowsOf("Unexpected value(s) `a-1` for the `anthropic-beta` header.")).toStrictEqual(["H20"])
    expect(rowsOf("context_management: Extra inputs are not permitted")).toStrictEqual(["H21"])
    expect(rowsOf("anthropic_version: unknown")).toStrictEqual(["H24"])
    expect(rowsOf("`temperature` is deprecated for this model.")).toStrictEqual(["H14"])
    expect(rowsOf('"thinking.type.enabled" is not supported for this model.')).toStrictEqual(["H18"])
    expect(rowsOf("This model does not support assistant message prefill.")).toStrictEqual([])
  })

  it("a refusal: teaches nothing by words that are in the call (M-908)", () => {
    const said = "The thinking budget (52428) is invalid."
    const call = (text: string) => ({ body: { contents: [text] }, headers: {}, target: { modelId: "model-1" } })
    expect([
      readLessons(gemini, said, call("What is a thinking budget?")),
      readLessons(gemini, `Invalid value: "${said}"`, call(`My log: ${said}`)),
      readLessons(gemini, `${said} Penalty is not enabled for this model`, call(said))
    ]).toStrictEqual([[{ row: "H5", value: "52428" }], [], []])
  })
})

describe("refusals without a lesson", () => {
  it.each([
    "Request contains an invalid argument.",
    "messages.0.content.0.text: Extra inputs are not permitted",
    "messages.0.content.0.input.city: Extra inputs are not permitted",
    "tools.0.input_schema.title: Extra inputs are not permitted",
    "mcp_servers: Extra inputs are not permitted",
    "prompt is too long: 250000 tokens > 200000 maximum",
    "Invalid `signature` in `thinking` block",
    "thinking level"
  ])("a refusal: teaches nothing: %s (M-904)", (text) => {
    expect([...lessonsOf(gemini, text), ...lessonsOf(claude, text)]).toStrictEqual([])
  })

  it("a lesson: holds for later requests unless it is about one conversation or one mix of fields (M-912)", () => {
    expect(healRows.filter((row) => !isLearnable({ row, value: "" }))).toStrictEqual(["H12", "H23"])
  })
})
