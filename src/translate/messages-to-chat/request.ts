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
import { type MessagesChat, paramOf, type Plan, type RequestFacts, type Shown } from "./facts.ts"
import { readMessages } from "./messages.ts"
import { readToolChoice, readTools } from "./tools.ts"

type Read<A> = Result.Result<A, BodyInvalid>

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
  readonly ignored: ReadonlyArray<string>
  /** The parameter that the chat's effort came from. */
  readonly effort: string
}

const readThinking = (given: Json | undefined, effort: Json | undefined): Read<ReadThinking> => {
  const thinking = isJsonObject(given) ? given : {}
  const { budget_tokens: budget, display, type } = thinking
  const word = "output_config.effort"
  const shown: Shown = { thinking: true, texts: display !== "omitted" }
  const hidden: Shown = { thinking: false, texts: false }
  const unused = isThere(effort) ? [word] : []
  switch (isThere(given) ? type : undefined) {
    case undefined:
      return isThere(given)
        ? invalid("thinking.type", "missing_required_parameter", "thinking.type is missing.")
        : Result.succeed({
            chat: isThere(effort) ? { reasoning_effort: effort ?? null } : {},
            shown: hidden,
            ignored: [],
            effort: word
          })
    case "disabled":
    case "between_tools":
      return Result.succeed({ chat: { reasoning_effort: "none" }, shown: hidden, ignored: unused, effort: "thinking" })
    case "adaptive":
      return Result.succeed(
        isThere(effort)
          ? { chat: { reasoning_effort: effort ?? null }, shown, ignored: [], effort: word }
          : { chat: { thinking: { type: "enabled" } }, shown, ignored: [], effort: word }
      )
    case "enabled":
      return isThere(budget)
        ? Result.succeed({
            chat: { thinking: { type: "enabled", budget_tokens: budget } },
            shown,
            ignored: unused,
            effort: word
          })
        : readThinking({ ...thinking, type: "adaptive" }, effort)
    default:
      return invalid(
        "thinking.type",
        "invalid_value",
        "thinking.type must be one of: enabled, adaptive, disabled, between_tools."
      )
  }
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

const readFormat = ({ output_config: config, output_format: old }: JsonObject): Read<ReadFormat> => {
  const current = isJsonObject(config) ? config["format"] : undefined
  const param = isThere(current) ? "output_config.format" : "output_format"
  const format = isThere(current) ? current : old
  if (!isThere(format)) return Result.succeed({ chat: {}, param })
  if (!isJsonObject(format) || format["type"] !== "json_schema" || !isJsonObject(format["schema"]))
    return invalid(param, "invalid_value", `${param} must be {type: "json_schema", schema}.`)
  const schema = { name: "answer", schema: format["schema"] }
  return Result.succeed({ chat: { response_format: { type: "json_schema", json_schema: schema } }, param })
}

const refusedFields = (body: JsonObject): BodyInvalid | undefined => {
  const { container, mcp_servers: servers } = body
  const refused = (param: string) =>
    invalid(
      param,
      "unsupported_parameter",
      `${param} names what runs at Anthropic and is not there for this model; leave it out, or use a Claude model.`
    ).pipe((fault) => (Result.isFailure(fault) ? fault.failure : undefined))
  if (Array.isArray(servers) && servers.length > 0) return refused("mcp_servers")
  return isJsonObject(container) && isThere(container["skills"]) ? refused("container.skills") : undefined
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
export const requestToChat = (body: JsonObject, facts: RequestFacts): Read<MessagesChat> =>
  Result.gen(function* () {
    const refused = refusedFields(body)
    if (refused !== undefined) return yield* Result.fail(refused)
    const { messages: given, output_config: config, service_tier: tier, stop_sequences: stops, stream, system } = body
    const messages = yield* readMessages(system, Array.isArray(given) ? given : [], facts)
    const tools = yield* readTools(body["tools"], messages.mentions, facts)
    const choice = yield* readToolChoice(body["tool_choice"])
    const asked = messages.effort ?? (isJsonObject(config) ? config["effort"] : undefined)
    const thinking = yield* readThinking(body["thinking"], asked)
    const format = yield* readFormat(body)
    const { adjusted, most } = readMost(body["max_tokens"], facts)
    const hasTools = tools.tools.length > 0
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
      ...(hasTools ? { tools: tools.tools.map(({ tool }) => tool), ...choice } : {})
    }
    const plan: Plan = {
      paths: {
        messages: messages.paths,
        tools: tools.tools.map(({ path }) => path),
        effort: thinking.effort,
        format: format.param
      },
      shown: thinking.shown,
      stops: Array.isArray(stops) ? stops.filter((stop) => typeof stop === "string") : [],
      taken: messages.callIds
    }
    const ignored = [...ignoredFields(body), ...messages.ignored, ...tools.ignored, ...thinking.ignored]
    const read = decodeChat(chat)
    if (Result.isSuccess(read)) return { chat: read.success, ignored, adjusted, plan }
    const { code, message, param } = bodyFault(read.failure, chat)
    return yield* invalid(param === null ? "" : paramOf(plan.paths, param), code, message)
  })
