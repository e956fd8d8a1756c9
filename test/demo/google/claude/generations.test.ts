// Refusals that depend on the generation of a Claude model, in Anthropic's words (table H).
import { describe, expect, it } from "vitest"
import { claudeReply } from "../../../../src/demo/google/claude/replies.ts"
import type { MessagesRequest } from "../../../../src/demo/google/claude/request.ts"
import { validateCountMessages, validateMessages } from "../../../../src/demo/google/claude/validate.ts"

const question = {
  anthropic_version: "vertex-2023-10-16",
  max_tokens: 4000,
  messages: [{ role: "user", content: "Hi" }]
}
const verdict = (model: string, body: object, betaHeader?: string): string => {
  const result = validateMessages({ ...question, ...body }, { model, betaHeader, acceptForeignSignatures: true })
  return result.accepted ? "accepted" : result.message
}
const effort = (value: string, thinking?: object) => ({
  output_config: { effort: value },
  ...(thinking === undefined ? {} : { thinking })
})
const tool = { name: "f", input_schema: { type: "object" } }
const noForce = 'tool_choice: type "tool" and "any" are not supported for this model.'
const adaptiveInstead = 'Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.'
const disabled = { type: "disabled" }
const between = { type: "between_tools" }

type Row = readonly [model: string, body: object, message: string]

const rows: ReadonlyArray<Row> = [
  ["claude-opus-4-7", { temperature: 0.5 }, "`temperature` is deprecated for this model."],
  ["claude-opus-5-5", { top_k: 5 }, "`top_k` is deprecated for this model."],
  [
    "claude-sonnet-5",
    { messages: [...question.messages, { role: "assistant", content: "I" }] },
    "This model does not support assistant message prefill. The conversation must end with a user message."
  ],
  ["claude-opus-5-5", { tools: [tool], tool_choice: { type: "any" } }, noForce],
  ["claude-sonnet-5-5", { tools: [tool], tool_choice: { type: "tool", name: "f" } }, noForce],
  ["claude-haiku-5-5", { tools: [tool], tool_choice: { type: "any" } }, "accepted"],
  [
    "claude-opus-5-5",
    { thinking: disabled },
    `"thinking.type.disabled" is not supported for this model. ${adaptiveInstead}`
  ],
  [
    "claude-fable-5",
    { thinking: { type: "enabled", budget_tokens: 1024 } },
    `"thinking.type.enabled" is not supported for this model. ${adaptiveInstead}`
  ],
  ["claude-opus-5", { thinking: between }, '"thinking.type.between_tools" is not supported for this model.'],
  [
    "claude-sonnet-5-5",
    { thinking: disabled },
    'To turn thinking off on this model, send "thinking": {"type": "between_tools"} instead of {"type": "disabled"}.'
  ],
  ["claude-sonnet-5-5", effort("high", between), "accepted"],
  [
    "claude-haiku-5-5",
    effort("xhigh", disabled),
    "output_config.effort 'xhigh' is not supported when thinking is disabled on this model. " +
      "Use effort 'high' or below, or enable thinking."
  ],
  ["claude-opus-4-8", effort("xhigh", disabled), "accepted"],
  ["claude-sonnet-4-6", effort("xhigh"), "output_config.effort 'xhigh' is not supported for this model."],
  ["claude-haiku-4-5@20251001", effort("low"), "This model does not support the effort parameter."],
  [
    "claude-opus-5-5",
    { tools: [{ type: "computer_20251124", name: "computer", display_width_px: 100, display_height_px: 100 }] },
    "'claude-opus-5-5' does not support tool types: computer_20251124."
  ]
]

describe("refusals of Claude by generation", () => {
  it.each(rows)("the simulator judges as Vertex AI does for %s: case %# (M-1000)", (model, body, message) => {
    const betas = JSON.stringify(body).includes("computer_") ? "computer-use-2025-11-24" : undefined
    expect(verdict(model, body, betas)).toBe(message)
  })

  it("a count of tokens refuses a forced tool as well (M-420)", () => {
    const body = { model: "claude-opus-5-5", messages: question.messages, tools: [tool], tool_choice: { type: "any" } }
    expect(validateCountMessages(body, { betaHeader: undefined, acceptForeignSignatures: true })).toEqual({
      accepted: false,
      message: noForce
    })
  })
})

describe("betas on Vertex AI", () => {
  const refused = (values: string) =>
    `Unexpected value(s) ${values} for the \`anthropic-beta\` header. ` +
    "Please consult our documentation at docs.anthropic.com or try again without the header."

  it("the values of the table are taken, in the header and in the body (M-820)", () => {
    const taken =
      "interleaved-thinking-2025-05-14 context-1m-2025-08-07 context-management-2025-06-27 compact-2026-01-12 " +
      "web-search-2025-03-05 tool-search-tool-2025-10-19 computer-use-2025-01-24 computer-use-2025-11-24 " +
      "mid-conversation-tool-changes-2026-07-01 mid-conversation-system-clear-at-2026-08-21 " +
      "mid-conversation-output-config-2026-07-01 thinking-display-updates-2026-08-18 thinking-binding-controls-2026-08-01 " +
      "task-budgets-2026-03-13"
    expect([
      verdict("claude-sonnet-4-6", {}, taken.replaceAll(" ", ",")),
      verdict("claude-sonnet-4-6", { anthropic_beta: taken.split(" ") })
    ]).toEqual(["accepted", "accepted"])
  })

  it("the others are refused together, by name (M-820)", () => {
    const asked =
      "server-side-fallback-2026-06-01,context-1m-2025-08-07,mcp-client-2025-11-20,files-api-2025-04-14,skills-2025-10-02," +
      "code-execution-2025-08-25,prompt-caching-scope-2026-01-05,effort-2025-11-24,advanced-tool-use-2025-11-20"
    const names = asked.split(",").filter((value) => value !== "context-1m-2025-08-07")
    expect(verdict("claude-sonnet-4-6", {}, asked)).toBe(refused(names.map((name) => `\`${name}\``).join(", ")))
  })

  it("a field is known with its own beta alone (M-811)", () => {
    const edits = { context_management: { edits: [] } }
    expect([
      verdict("claude-sonnet-4-6", edits),
      verdict("claude-sonnet-4-6", edits, "context-1m-2025-08-07"),
      verdict("claude-sonnet-4-6", edits, "context-management-2025-06-27")
    ]).toEqual([
      "context_management: Extra inputs are not permitted",
      "context_management: Extra inputs are not permitted",
      "accepted"
    ])
  })
})

describe("versions of Anthropic's API", () => {
  const versionVerdict = (anthropic_version: string, day: string, body: object = {}): string => {
    const checking = { model: "claude-opus-4-6", betaHeader: undefined, acceptForeignSignatures: true, day }
    const result = validateMessages({ ...question, anthropic_version, ...body }, checking)
    return result.accepted ? "accepted" : result.message
  }
  const unknown = "anthropic_version: Input should be 'vertex-2023-10-16'"

  it("a dated version is taken from its day on, and others never (M-830)", () => {
    expect([
      versionVerdict("vertex-2023-10-16", "2026-10-20"),
      versionVerdict("2026-10-21", "2026-10-20"),
      versionVerdict("2026-10-21", "2026-10-21"),
      versionVerdict("2023-06-01", "2026-11-22"),
      versionVerdict("2026-10-21 ", "2026-11-22"),
      versionVerdict("2026-10-21", "2026-11-22", { temperature: 1 })
    ]).toEqual(["accepted", unknown, "accepted", unknown, unknown, "`temperature` is deprecated for this model."])
  })
})

describe("thinking that is bound to its conversation", () => {
  const model = "claude-fable-5-2"
  const asked: MessagesRequest = {
    ...question,
    system: [{ type: "text", text: "Be brief." }],
    messages: [{ role: "user", content: "Hi" }],
    thinking: { type: "adaptive" }
  }
  const [thinking] = claudeReply(asked, model).content
  const next = (change: Partial<MessagesRequest>) => {
    const messages = [
      ...asked.messages,
      { role: "assistant", content: [thinking, { type: "text", text: "Hello." }] },
      { role: "user", content: "More." }
    ]
    const result = validateMessages(
      { ...asked, messages, ...change },
      { model, betaHeader: undefined, acceptForeignSignatures: false }
    )
    return result.accepted ? "accepted" : result.message
  }

  it("a block is taken with its system prompt, tools and messages, and refused with others (M-440)", () => {
    const refused =
      "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to the conversation it was made in."
    const marked = [{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } as const }]
    expect([next({}), next({ system: "Be long." }), next({ tools: [tool] }), next({ system: marked })]).toEqual([
      "accepted",
      refused,
      refused,
      "accepted"
    ])
  })
})
