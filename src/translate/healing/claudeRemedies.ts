// Changes a refused Claude body and its `anthropic-beta` header: sampling, prefill, tools, thinking, the version, refused flags.
// Must not depend on the text of the refusal.
import { isJsonObject, type Json, type JsonObject } from "../../domain/text/json.ts"
import { vertexVersion } from "../../wire/anthropic.ts"
import { continueText } from "../shared/chat-request/repairHistory.ts"
import type { Adjustment } from "../Translator.ts"
import {
  arrayAt,
  type CallChange,
  type HealableCall,
  type Lesson,
  objectAt,
  type Remedy,
  withoutMembers,
  withoutPath
} from "./lessons.ts"

const typeOf = (value: Json | undefined): Json | undefined => (isJsonObject(value) ? value["type"] : undefined)

const withEffort = (body: JsonObject, effort: string): JsonObject => ({
  ...body,
  output_config: { ...objectAt(body, "output_config"), effort }
})

/** One of `temperature`, `top_p`, `top_k`. */
export const withoutSampling: Remedy = ({ body }, field) =>
  body[field] === undefined ? undefined : { body: withoutMembers(body, field), ignored: [field] }

/** The last turn is the assistant's, without a call: its continuation is asked for. */
export const continuedMessage: Remedy = ({ body }) => {
  const messages = arrayAt(body, "messages")
  const last = messages?.at(-1)
  if (messages === undefined || !isJsonObject(last) || last["role"] !== "assistant") return undefined
  const content = last["content"]
  if (Array.isArray(content) && content.some((block) => typeOf(block) === "tool_use")) return undefined
  return {
    body: { ...body, messages: [...messages, { role: "user", content: [{ type: "text", text: continueText }] }] },
    adjusted: [{ param: "messages", asked: "prefill", sent: "continue", takes: ["a user message at the end"] }]
  }
}

/** The names of the tool by which the gateway asks for JSON. */
const outputTool = /^json_output(_\d+)?$/

/** All tools stay, since thinking blocks are bound to them. */
export const freeToolChoice: Remedy = ({ body }) => {
  const { name, type, ...others } = objectAt(body, "tool_choice")
  if (type !== "any" && type !== "tool") return undefined
  const change: Adjustment =
    typeof name === "string" && outputTool.test(name)
      ? { param: "response_format", asked: "schema", sent: "tool", takes: ["no forced tool"] }
      : { param: "tool_choice", asked: "required", sent: "auto", takes: ["auto", "none"] }
  return { body: { ...body, tool_choice: { ...others, type: "auto" } }, adjusted: [change] }
}

/** The model always thinks. */
export const lowEffort: Remedy = ({ body, thinkingParam }) =>
  typeOf(body["thinking"]) !== "disabled"
    ? undefined
    : {
        body: withEffort(withoutMembers(body, "thinking"), "low"),
        adjusted: [{ param: thinkingParam, asked: "none", sent: "low", takes: ["low", "medium", "high"] }]
      }

/** The effort of a budget. */
const effortOfBudget = (tokens: Json | undefined): "low" | "medium" | "high" =>
  typeof tokens !== "number" || tokens > 16_384 ? "high" : tokens > 4_096 ? "medium" : "low"

const budgets: Readonly<Record<string, number>> = { low: 4_096, medium: 16_384 }
const largestBudget = 32_768
const smallestBudget = 1_024

/** The budget of an effort, below what the answer may have; a smaller one than models take is none. */
const budgetOf = ({ body, record }: HealableCall): number | undefined => {
  const { effort = "medium" } = objectAt(body, "output_config")
  const asked = typeof effort === "string" ? (budgets[effort] ?? largestBudget) : largestBudget
  const most = body["max_tokens"]
  const { budget_max: limit = largestBudget, control } = record.thinking ?? { control: "none" }
  const budget = Math.min(asked, limit, typeof most === "number" ? Math.floor(most / 2) : asked)
  return control === "none" || budget < smallestBudget ? undefined : budget
}

/** Models before 4.6 think by a budget, or not at all. */
const budgetedThinking: Remedy = (call) => {
  const { body, thinkingParam } = call
  const budget = budgetOf(call)
  const sent = budget === undefined ? "none" : String(budget)
  return {
    body:
      budget === undefined
        ? withoutMembers(body, "thinking")
        : { ...body, thinking: { type: "enabled", budget_tokens: budget } },
    adjusted: [{ param: thinkingParam, asked: "adaptive", sent, takes: ["enabled", "disabled"] }]
  }
}

/** A budget becomes an effort, adaptive thinking a budget, and `between_tools` becomes `disabled`. */
export const otherThinking: Remedy = (call, value, values) => {
  const { body, thinkingParam } = call
  const thinking = objectAt(body, "thinking")
  if (thinking["type"] !== value) return undefined
  if (value === "adaptive") return budgetedThinking(call, value, values)
  if (value === "between_tools") {
    return {
      body: { ...body, thinking: { type: "disabled" } },
      adjusted: [{ param: thinkingParam, asked: "none", sent: "disabled", takes: ["disabled", "adaptive"] }]
    }
  }
  const effort = effortOfBudget(thinking["budget_tokens"])
  return {
    body: withEffort({ ...body, thinking: { type: "adaptive", display: "summarized" } }, effort),
    adjusted: [{ param: thinkingParam, asked: "budget", sent: effort, takes: ["low", "medium", "high"] }]
  }
}

/** True for an effort that needs thinking. */
const needsThinking = (effort: Json | undefined): boolean => effort === "xhigh" || effort === "max"

/** Thinking that is off takes another word, or an effort up to high. */
export const quietThinking: Remedy = ({ body, thinkingParam }, value) => {
  const off = typeOf(body["thinking"])
  const effort = objectAt(body, "output_config")["effort"]
  if (value === "disabled") {
    return off !== "disabled"
      ? undefined
      : {
          body: {
            ...(needsThinking(effort) ? withEffort(body, "high") : body),
            thinking: { type: "between_tools" }
          },
          adjusted: [{ param: thinkingParam, asked: "none", sent: "between_tools", takes: ["between_tools"] }]
        }
  }
  return (off !== "disabled" && off !== "between_tools") || effort !== value
    ? undefined
    : {
        body: withEffort(body, "high"),
        adjusted: [{ param: "reasoning_effort", asked: value, sent: "high", takes: ["low", "medium", "high"] }]
      }
}

const isThinking = (block: Json): boolean => {
  const type = typeOf(block)
  return type === "thinking" || type === "redacted_thinking"
}

/** The message without its thinking; undefined where nothing else is in it. */
const withoutThinking = (message: Json): Json | undefined => {
  const content = isJsonObject(message) ? arrayAt(message, "content") : undefined
  if (!isJsonObject(message) || content === undefined || !content.some(isThinking)) return message
  const others = content.filter((block) => !isThinking(block))
  return others.length === 0 ? undefined : { ...message, content: others }
}

/** Thinking that is bound to another history is left out of all messages (M-912). */
export const withoutThinkingBlocks: Remedy = ({ body }) => {
  const messages = arrayAt(body, "messages") ?? []
  const unbound = messages.map(withoutThinking)
  return unbound.every((message, at) => message === messages[at])
    ? undefined
    : {
        body: { ...body, messages: unbound.filter((message) => message !== undefined) },
        adjusted: [{ param: "messages", asked: "thinking", sent: "dropped", takes: ["thinking of the same history"] }]
      }
}

/** The version that Vertex AI has always taken. */
export const firstVersion: Remedy = ({ body }) => {
  const version = body["anthropic_version"]
  return typeof version !== "string" || version === vertexVersion
    ? undefined
    : {
        body: { ...body, anthropic_version: vertexVersion },
        adjusted: [{ param: "anthropic_version", asked: version, sent: vertexVersion, takes: [vertexVersion] }]
      }
}

// Takes refused values off the `anthropic-beta` header, and the fields that go with a value out of the body.

const header = "anthropic-beta"

/** A value of Anthropic's own service, and the value under which Vertex AI offers the same. */
const successors: Readonly<Record<string, string>> = {
  "advanced-tool-use-2025-11-20": "tool-search-tool-2025-10-19"
}

/** Fields that are refused without their value. */
const companions: Readonly<Record<string, string>> = {
  "context-management-2025-06-27": "context_management",
  "thinking-binding-controls-2026-08-01": "block_binding",
  "prompt-caching-scope-2026-01-05": "scope",
  "dangerous-tool-use-2026-09-03": "safeguards",
  "task-budgets-2026-03-13": "output_config.task_budget"
}

/** The beginnings of values that nothing but this field needs; a path holds its field at any depth. */
const values: ReadonlyArray<readonly [field: RegExp, beginnings: ReadonlyArray<string>]> = [
  [/^output_config$/, ["effort-", "structured-outputs-", "task-budgets-"]],
  [/^output_config\.effort$/, ["effort-"]],
  [/^output_(config\.)?format$|\bstrict$/, ["structured-outputs-"]],
  [/\btask_budget$/, ["task-budgets-"]],
  [/^context_management\b/, ["context-management-"]],
  [/\bblock_binding$/, ["thinking-binding-controls-"]],
  [/\bscope$/, ["prompt-caching-scope-"]],
  [/\bdefer_loading$/, ["advanced-tool-use-", "tool-search-tool-"]],
  [/\b(input_examples|allowed_callers)$/, ["advanced-tool-use-"]],
  [/\beager_input_streaming$/, ["fine-grained-tool-streaming-"]],
  [/^safeguards\b/, ["dangerous-tool-use-"]]
]

/**
 * Values that Vertex AI does not offer: features of Anthropic's own service, by their beginnings. They are taken off before
 * a call. Source: Anthropic's page on the features of each platform, and refusals in anthropics/claude-code #21625, #34802.
 */
const notOffered = [
  "advisor-tool-",
  "cache-diagnosis-",
  "code-execution-",
  "dangerous-tool-use-",
  "files-api-",
  "inline-tools-",
  "mcp-client-",
  "message-threads-",
  "prompt-caching-scope-",
  "server-side-fallback-",
  "skills-"
]

/** The values of a call that would be refused. */
export const betasNotOffered = (headers: Readonly<Record<string, string>>): ReadonlyArray<Lesson> => {
  const sent = headers[header]
  if (sent === undefined) return none
  return sent
    .split(",")
    .filter((value) => notOffered.some((beginning) => value.startsWith(beginning)))
    .map((value) => ({ row: "H20", value }))
}

const none: ReadonlyArray<Lesson> = []

/** The same value, where no `cache_control` has a scope; a value without any scope is returned itself. */
const unscoped = (value: Json): Json => {
  if (Array.isArray(value)) {
    const items = value.map(unscoped)
    return items.every((item, at) => item === value[at]) ? value : items
  }
  if (!isJsonObject(value)) return value
  const entries = Object.entries(value).map(([name, inner]): readonly [string, Json | undefined] => {
    if (inner === undefined) return [name, inner]
    return name === "cache_control" && isJsonObject(inner) && inner["scope"] !== undefined
      ? [name, withoutMembers(inner, "scope")]
      : // A tool's input is the model's own data, and a schema is the client's.
        [name, name === "input" || name === "input_schema" ? inner : unscoped(inner)]
  })
  return entries.every(([name, inner]) => inner === value[name]) ? value : Object.fromEntries(entries)
}

/** The top-level members that may have cache marks. */
const marked = ["system", "messages", "tools", "cache_control"]

const unscopedBody = (body: JsonObject): JsonObject | undefined => {
  const changed = marked.flatMap((name): ReadonlyArray<readonly [string, Json]> => {
    const value = body[name]
    const before: JsonObject = value === undefined ? {} : { [name]: value }
    const after = unscoped(before)
    const inner = isJsonObject(after) ? after[name] : undefined
    return after === before || inner === undefined ? [] : [[name, inner]]
  })
  return changed.length === 0 ? undefined : { ...body, ...Object.fromEntries(changed) }
}

/** A field by its path, with the values of the header that nothing else needs. */
export const withoutExtraInput: Remedy = (call, field) => {
  const dropped = withoutField(call.body, field)
  if (dropped === undefined) return undefined
  const betas = (call.headers[header] ?? "").split(",").filter((value) => value !== "")
  const [, beginnings = []] = values.find(([pattern]) => pattern.test(field)) ?? []
  const gone = betas.filter((value) => beginnings.some((beginning) => value.startsWith(beginning)))
  return gone.length === 0
    ? dropped
    : {
        ...dropped,
        headers: withBetas(
          call.headers,
          betas.filter((value) => !gone.includes(value))
        ),
        ignored: [...dropped.ignored, ...gone.map((value) => `${header}.${value}`)]
      }
}

interface Dropped {
  readonly body: JsonObject
  readonly ignored: ReadonlyArray<string>
}

/** `block_binding` of thinking, `scope` of every cache mark, and any other field by its path. */
const withoutField = (body: JsonObject, field: string): Dropped | undefined => {
  if (field === "scope") {
    const unmarked = unscopedBody(body)
    return unmarked === undefined ? undefined : { body: unmarked, ignored: ["cache_control.scope"] }
  }
  if (field === "block_binding") {
    const thinking = body["thinking"]
    return !isJsonObject(thinking) || thinking["block_binding"] === undefined
      ? undefined
      : { body: { ...body, thinking: withoutMembers(thinking, "block_binding") }, ignored: ["thinking.block_binding"] }
  }
  const shortened = withoutPath(body, field)
  return shortened === undefined ? undefined : { body: shortened.body, ignored: [shortened.name] }
}

/** The header with the values; no header without any. */
const withBetas = (
  headers: Readonly<Record<string, string>>,
  betas: ReadonlyArray<string>
): Readonly<Record<string, string>> => {
  const { [header]: _before, ...others } = headers
  return betas.length === 0 ? others : { ...others, [header]: betas.join(",") }
}

/** The rest stays in order (M-911). A field that goes with the value goes too. */
export const withoutBeta: Remedy = (call, value, refused): CallChange | undefined => {
  const betas = (call.headers[header] ?? "").split(",")
  if (!betas.includes(value)) return undefined
  const named = successors[value]
  const successor = named === undefined || refused.includes(named) ? undefined : named
  const remaining = betas.flatMap((beta) => (beta !== value ? beta : (successor ?? [])))
  const field = companions[value]
  const dropped = field === undefined ? undefined : withoutField(call.body, field)
  const { body, ignored = [] }: Partial<Dropped> = dropped ?? {}
  return {
    headers: withBetas(call.headers, [...new Set(remaining)]),
    ...(body === undefined ? {} : { body }),
    ...(successor === undefined
      ? { ignored: [`${header}.${value}`, ...ignored] }
      : { ignored, adjusted: [{ param: header, asked: value, sent: successor, takes: [successor] }] })
  }
}
