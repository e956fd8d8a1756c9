// Changes a refused Claude body: sampling, prefill, forced tools, thinking, bound thinking blocks, the version.
// Must not depend on the text of the refusal.
import { isJsonObject, type Json, type JsonObject } from "../../domain/text/json.ts"
import { vertexVersion } from "../../wire/anthropic/Messages.ts"
import type { Adjustment } from "../Translator.ts"
import type { HealableCall, Remedy } from "./lessons.ts"
import { arrayAt, objectAt, withoutMembers } from "./members.ts"
import { continueText } from "../shared/chat-request/continueText.ts"

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
