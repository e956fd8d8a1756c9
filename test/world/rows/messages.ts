// Reports about bodies of Anthropic's clients that Vertex AI does not take as they are.
// Must not depend on the service.
import type { Reply, Row } from "../row.ts"

const path = "/v1/messages"
const hi = { max_tokens: 4_000, messages: [{ role: "user", content: "hi" }] }
const refused = (message: string): Reply => ({
  status: 400,
  body: { type: "error", error: { type: "invalid_request_error", message } }
})
const extra = (field: string): Reply => refused(`${field}: Extra inputs are not permitted`)
const fine: Reply = {
  status: 200,
  body: {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "claude",
    content: [{ type: "text", text: "Hi" }],
    stop_reason: "end_turn",
    stop_sequence: null,
    usage: { input_tokens: 1, output_tokens: 1 }
  }
}
const version = { anthropic_version: "vertex-2023-10-16" }

interface Healed {
  readonly id: string
  readonly title: string
  readonly model?: string
  readonly body: Readonly<Record<string, unknown>>
  readonly beta?: string
  readonly refusals: ReadonlyArray<Reply>
  /** What the last call has of the body. */
  readonly sent: Readonly<Record<string, unknown>>
  readonly ignored?: string | null
  readonly adjusted?: string | null
}

const row = ({
  adjusted = null,
  beta,
  body,
  id,
  ignored = null,
  model = "claude-haiku-4-5",
  refusals,
  sent,
  title
}: Healed): Row => ({
  id,
  kind: "W40",
  title,
  path,
  headers: beta === undefined ? {} : { "anthropic-beta": beta },
  body: { model: `@p/${model}`, ...hi, ...body },
  upstream: [...refusals, fine],
  expected: {
    headers: { "x-gateway-ignored-params": ignored, "x-gateway-adjusted-params": adjusted },
    sent:
      refusals.length === 1
        ? [
            { ...hi, ...body, ...version },
            { ...hi, ...sent, ...version }
          ]
        : [{ ...hi, ...sent, ...version }]
  }
})

const tool = { name: "f", input_schema: { type: "object" } }
const temperature = { temperature: 0.5 }
const safeguards = { safeguards: { dangerous_tool_use: "report" } }

export const messages: ReadonlyArray<Row> = [
  row({
    id: "RB59",
    title: "output_config is left out with its beta",
    body: { output_config: { effort: "high" } },
    beta: "effort-2025-11-24",
    refusals: [extra("output_config")],
    sent: {},
    ignored: "output_config,anthropic-beta.effort-2025-11-24"
  }),
  row({
    id: "W40-1",
    title: "a field of every tool is left out",
    body: { tools: [{ ...tool, eager_input_streaming: true }, tool, { ...tool, eager_input_streaming: false }] },
    refusals: [extra("tools.0.custom.eager_input_streaming")],
    sent: { tools: [tool, tool, tool] },
    ignored: "tools.eager_input_streaming"
  }),
  row({
    id: "W40-2",
    title: "defer_loading is left out with the beta of tool search",
    body: { tools: [{ ...tool, defer_loading: true }] },
    beta: "tool-search-tool-2025-10-19,context-1m-2025-08-07",
    refusals: [extra("tools.0.custom.defer_loading")],
    sent: { tools: [tool] },
    ignored: "tools.defer_loading,anthropic-beta.tool-search-tool-2025-10-19"
  }),
  row({
    id: "W40-3",
    title: "a part of output_config is left out alone",
    body: { output_config: { effort: "high", task_budget: { type: "tokens", total: 1 } } },
    refusals: [extra("output_config.task_budget")],
    sent: { output_config: { effort: "high" } },
    ignored: "output_config.task_budget"
  }),
  row({
    id: "W40-4",
    title: "temperature on the newest Claude is left out",
    model: "claude-opus-5-5",
    body: temperature,
    refusals: [refused("`temperature` is deprecated for this model.")],
    sent: {},
    ignored: "temperature"
  }),
  row({
    id: "W40-5",
    title: "a budget on the newest Claude becomes an effort",
    model: "claude-opus-5-5",
    body: { thinking: { type: "enabled", budget_tokens: 2_000 } },
    refusals: [refused('"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive".')],
    sent: { thinking: { type: "adaptive", display: "summarized" }, output_config: { effort: "low" } },
    adjusted: "thinking=budget>low"
  }),
  row({
    id: "W40-6",
    title: "adaptive thinking becomes a budget on an older Claude",
    body: { thinking: { type: "adaptive" } },
    refusals: [
      refused(
        "thinking: Input tag 'adaptive' found using 'type' does not match any of the expected tags: 'disabled', 'enabled'"
      )
    ],
    sent: { thinking: { type: "enabled", budget_tokens: 2_000 } },
    adjusted: "thinking=adaptive>2000"
  }),
  row({
    id: "W40-7",
    title: "safeguards of Claude Code go with their beta, without a wasted call",
    body: safeguards,
    beta: "dangerous-tool-use-2026-09-03,context-1m-2025-08-07",
    refusals: [],
    sent: {},
    ignored: "anthropic-beta.dangerous-tool-use-2026-09-03,safeguards"
  }),
  row({
    id: "W40-8",
    title: "safeguards without their beta are left out once refused",
    body: safeguards,
    refusals: [extra("safeguards")],
    sent: {},
    ignored: "safeguards"
  }),
  {
    id: "W40-9",
    kind: "W40",
    title: "fields that are refused one after the other are all left out",
    path: "/v1/projects/p/locations/l/publishers/anthropic/models/claude-haiku-4-5:rawPredict",
    headers: { "x-gateway-provider": "p" },
    body: { ...version, ...hi, output_config: {}, thinking: { type: "disabled", display: "x" }, metadata: { a: 1 } },
    upstream: [extra("output_config"), extra("thinking.disabled.display"), extra("metadata.a"), fine],
    expected: {
      headers: { "x-gateway-ignored-params": "project,location,output_config,thinking.display,metadata.a" },
      sent: [
        { ...version, ...hi, output_config: {}, thinking: { type: "disabled", display: "x" }, metadata: { a: 1 } },
        { ...version, ...hi, thinking: { type: "disabled", display: "x" }, metadata: { a: 1 } },
        { ...version, ...hi, thinking: { type: "disabled" }, metadata: { a: 1 } },
        { ...version, ...hi, thinking: { type: "disabled" }, metadata: {} }
      ]
    }
  },
  {
    id: "W40-10",
    kind: "W40",
    title: "content is never taken off",
    path,
    body: { model: "@p/claude-haiku-4-5", ...hi, mcp_servers: [] },
    upstream: [extra("mcp_servers"), fine],
    expected: { status: 400, sent: [{ ...hi, mcp_servers: [], ...version }] }
  }
]
