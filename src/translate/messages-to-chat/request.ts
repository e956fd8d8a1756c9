// A message as a chat: fields, thinking, and what is refused or left out.
// It must not know turns or tools. Rules: D102, D201, D209, D210, D213, D214.
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { bodyFault } from "../../domain/faults.ts"
import type { BodyInvalid } from "../../domain/GatewayError.ts"
import { isJsonObject, type Json, type JsonObject } from "../../domain/text/json.ts"
import { ChatRequest } from "../../wire/openai/Chat.ts"
import { invalid } from "../shared/chat-request/paramReader.ts"
import type { Adjustment } from "../Translator.ts"
import { type MessagesChat, MessagesReader, paramOf, type Plan, type RequestFacts, type Shown } from "./facts.ts"
import { readMessages } from "./messages.ts"
import { readToolChoice, readTools } from "./tools.ts"

const decodeChat = Schema.decodeUnknownResult(ChatRequest)

/** Fields that become something, or that mean nothing for these models. */
const known: ReadonlySet<string> = new Set([
  "model",
  "messages",
  "system",
  "max_tokens",
  "stream",
  "tools",
  "tool_choice",
  "thinking",
  "output_config",
  "output_format",
  "stop_sequences",
  "temperature",
  "top_p",
  "top_k",
  "metadata",
  "service_tier",
  "cache_control",
  "anthropic_beta",
  "anthropic_version",
  "thread"
])

const isThere = (value: Json | undefined): boolean => value !== undefined && value !== null

interface ReadThinking {
  readonly chat: JsonObject
  readonly shown: Shown
  /** The parameter that the chat's effort came from. */
  readonly effort: string
}

const readThinking = (reader: MessagesReader, given: Json | undefined, effort: Json | undefined): ReadThinking => {
  const thinking = isJsonObject(given) ? given : {}
  const { budget_tokens: budget, display, type } = thinking
  const word = "output_config.effort"
  const shown: Shown = { thinking: true, texts: display !== "omitted" }
  const hidden: Shown = { thinking: false, texts: false }
  const asked = isThere(effort) ? { reasoning_effort: effort ?? null } : undefined
  if (!isThere(given)) return { chat: asked ?? {}, shown: hidden, effort: word }
  const isOff = type === "disabled" || type === "between_tools"
  const hasBudget = type === "enabled" && isThere(budget)
  if ((isOff || hasBudget) && isThere(effort)) reader.ignored.push(word)
  if (isOff) return { chat: { reasoning_effort: "none" }, shown: hidden, effort: "thinking" }
  if (hasBudget) return { chat: { thinking: { type, budget_tokens: budget ?? null } }, shown, effort: word }
  if (type === "enabled" || type === "adaptive")
    return { chat: asked ?? { thinking: { type: "enabled" } }, shown, effort: word }
  if (type === undefined) reader.invalid("thinking.type", "missing_required_parameter", "thinking.type is missing.")
  else
    reader.invalid(
      "thinking.type",
      "invalid_value",
      "thinking.type must be one of: enabled, adaptive, disabled, between_tools."
    )
  return { chat: {}, shown: hidden, effort: word }
}

/** More than the model gives is more than it takes (M-230). */
const readMost = (
  most: Json | undefined,
  { maxOutput }: RequestFacts
): { most: Json | undefined; adjusted: ReadonlyArray<Adjustment> } =>
  typeof most === "number" && maxOutput !== undefined && maxOutput > 0 && most > maxOutput
    ? {
        most: maxOutput,
        adjusted: [
          { param: "max_tokens", asked: String(most), sent: String(maxOutput), takes: [`at most ${maxOutput} tokens`] }
        ]
      }
    : { most, adjusted: [] }

interface ReadFormat {
  readonly chat: JsonObject
  readonly param: string
}

const readFormat = (reader: MessagesReader, { output_config: config, output_format: old }: JsonObject): ReadFormat => {
  const current = isJsonObject(config) ? config["format"] : undefined
  const param = isThere(current) ? "output_config.format" : "output_format"
  const format = isThere(current) ? current : old
  if (isJsonObject(format) && format["type"] === "json_schema" && isJsonObject(format["schema"])) {
    const schema = { name: "answer", schema: format["schema"] }
    return { chat: { response_format: { type: "json_schema", json_schema: schema } }, param }
  }
  if (isThere(format)) reader.invalid(param, "invalid_value", `${param} must be {type: "json_schema", schema}.`)
  return { chat: {}, param }
}

const refuseFields = (reader: MessagesReader, { container, mcp_servers: servers }: JsonObject): void => {
  const refuse = (param: string): void =>
    reader.invalid(
      param,
      "unsupported_parameter",
      `${param} names what runs at Anthropic and is not there for this model; leave it out, or use a Claude model.`
    )
  if (Array.isArray(servers) && servers.length > 0) refuse("mcp_servers")
  if (isJsonObject(container) && isThere(container["skills"])) refuse("container.skills")
}

/** Named, because they have an effect with Claude. */
const ignoredFields = (body: JsonObject): ReadonlyArray<string> => {
  const { output_config: config } = body
  const isSent = (value: Json | undefined): boolean => isThere(value) && !(Array.isArray(value) && value.length === 0)
  const budget = isJsonObject(config) && isThere(config["task_budget"]) ? ["output_config.task_budget"] : []
  return [...Object.keys(body).filter((name) => !known.has(name) && isSent(body[name])), ...budget]
}

const sampling = ["temperature", "top_p", "top_k"] as const

const readSampling = (body: JsonObject): JsonObject =>
  Object.fromEntries(sampling.flatMap((name) => (isThere(body[name]) ? [[name, body[name] ?? null] as const] : [])))

/** Translates a request, as far as the family that serves it decides about it. */
export const requestToChat = (body: JsonObject, facts: RequestFacts): Result.Result<MessagesChat, BodyInvalid> => {
  const reader = new MessagesReader()
  refuseFields(reader, body)
  const { messages: given, output_config: config, service_tier: tier, stop_sequences: stops, stream, system } = body
  const messages = readMessages(reader, system, Array.isArray(given) ? given : [], facts)
  const tools = readTools(reader, body["tools"], messages.mentions, facts)
  const choice = readToolChoice(reader, body["tool_choice"])
  const asked = messages.effort ?? (isJsonObject(config) ? config["effort"] : undefined)
  const thinking = readThinking(reader, body["thinking"], asked)
  const format = readFormat(reader, body)
  const { adjusted, most } = readMost(body["max_tokens"], facts)
  const chat = {
    model: body["model"],
    messages: messages.messages,
    ...(isThere(most) ? { max_completion_tokens: most } : {}),
    ...(stream === true ? { stream } : {}),
    ...readSampling(body),
    ...(Array.isArray(stops) && stops.length > 0 ? { stop: stops } : {}),
    ...(tier === "standard_only" ? { service_tier: "default" } : {}),
    ...thinking.chat,
    ...format.chat,
    ...(tools.length > 0 ? { tools: tools.map(({ tool }) => tool), ...choice } : {})
  }
  const plan: Plan = {
    paths: {
      messages: messages.paths,
      tools: tools.map(({ path }) => path),
      effort: thinking.effort,
      format: format.param
    },
    shown: thinking.shown,
    stops: Array.isArray(stops) ? stops.filter((stop) => typeof stop === "string") : [],
    taken: messages.callIds
  }
  if (reader.fault !== undefined) return Result.fail(reader.fault)
  const ignored = [...ignoredFields(body), ...reader.ignored]
  const read = decodeChat(chat)
  if (Result.isSuccess(read)) return Result.succeed({ chat: read.success, ignored, adjusted, plan })
  const { code, message, param } = bodyFault(read.failure, chat)
  return invalid(param === null ? "" : paramOf(plan.paths, param), code, message)
}
