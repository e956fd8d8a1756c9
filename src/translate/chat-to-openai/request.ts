// Translates a chat request for an OpenAI-compatible upstream: passes it whole, without the gateway's own fields.
// Must not depend on URLs or credentials.
import * as Result from "effect/Result"
import type { RequestFault } from "../../domain/GatewayError.ts"
import { isJsonObject } from "../../domain/text/json.ts"
import type { ChatRequest } from "../../wire/openai/Chat.ts"
import type { Adjustment, Translated, TranslateContext } from "../Translator.ts"
import { invalid } from "../shared/fault.ts"
import { openAiFormat } from "../shared/chat-request/readFormat.ts"
import { messagesToOpenAi } from "./messages.ts"
import { heldBack } from "./params.ts"

/** The body: the client's fields in their order, known and unknown. */
export type OpenAiRequest = Readonly<Record<string, unknown>>

/** Efforts that these upstreams accept (table 4). */
const knownEfforts: ReadonlyArray<string> = ["none", "minimal", "low", "medium", "high"]

/** A higher effort is sent as the highest accepted one. */
const adjustedEffort = (name: string, value: unknown): Adjustment | undefined =>
  name === "reasoning_effort" && (value === "xhigh" || value === "max")
    ? { param: name, asked: value, sent: "high", takes: knownEfforts }
    : undefined

/** Leaves defaults, ranges and checks to the upstream; null counts as absent. */
export const chatToOpenAiRequest = (
  request: ChatRequest,
  context: TranslateContext
): Result.Result<Translated<OpenAiRequest>, RequestFault> => {
  const messages = messagesToOpenAi(request.messages)
  if (Result.isFailure(messages)) return Result.fail(messages.failure)
  const ignored: Array<string> = []
  const fields: Array<readonly [string, unknown]> = []
  let effort: Adjustment | undefined
  for (const [name, value] of Object.entries(request)) {
    if (value === undefined || value === null) continue
    if (heldBack.has(name) || (name === "modalities" && asksForImages(value))) ignored.push(name)
    else if (name === "model") fields.push([name, context.target.modelId])
    else if (name === "response_format") fields.push([name, openAiFormat(request.response_format)])
    else if (name === "messages") fields.push([name, messages.success])
    else if (name === "tools" && Array.isArray(value)) {
      const { left, needed, tools } = sortedTools(value)
      if (needed !== undefined)
        return invalid(needed, "unsupported_tool", "This tool is one of Gemini's; use a Gemini model, or leave it out.")
      ignored.push(...left)
      if (tools.length > 0 || left.length === 0) fields.push([name, tools])
    } else if (name === "stream_options" && request.stream === true)
      fields.push([name, { ...request.stream_options, include_usage: true }])
    else if (name === "max_completion_tokens" && (request.max_tokens ?? undefined) === undefined)
      fields.push(["max_tokens", value])
    else if (name === "tool_choice" && isValidated(value)) fields.push([name, "auto"])
    else {
      const adjusted = adjustedEffort(name, value)
      effort ??= adjusted
      fields.push([name, adjusted?.sent ?? value])
    }
  }
  // Usage is requested on every stream; the caller filters the chunk for clients that did not request it.
  if (request.stream === true && (request.stream_options ?? undefined) === undefined) {
    fields.push(["stream_options", { include_usage: true }])
  }
  return Result.succeed({
    body: Object.fromEntries(fields),
    headers: {},
    ignored,
    ...(effort === undefined ? {} : { adjusted: [effort] })
  })
}

/** A tool that is marked is one of another family: left out where it may be, else the first that may not be. */
const sortedTools = (given: ReadonlyArray<unknown>) => {
  const markOf = (tool: unknown) => (isJsonObject(tool) ? tool["optional"] : undefined)
  const isOptional = (tool: unknown) => markOf(tool) === true
  const needed = given.findIndex((tool) => markOf(tool) === false)
  return {
    tools: given.some(isOptional) ? given.filter((tool) => !isOptional(tool)) : given,
    left: given.flatMap((tool, index) => (isOptional(tool) ? [`tools[${index}]`] : [])),
    needed: needed < 0 ? undefined : `tools[${needed}]`
  }
}

/** Calls that follow their schemas are asked for by a mode that these upstreams lack (M-400). */
const isValidated = (choice: unknown): boolean =>
  choice === "validated" || (isJsonObject(choice) && choice["type"] === "validated")

const asksForImages = (modalities: unknown): boolean => Array.isArray(modalities) && modalities.includes("image")
