// Translates a chat request for an OpenAI-compatible upstream: passes it whole, without the gateway's own fields.
// Must not depend on URLs or credentials.
import * as Result from "effect/Result"
import type { RequestFault } from "../../domain/GatewayError.ts"
import type { ModelRecord } from "../../domain/models/ModelRecord.ts"
import { isJsonObject, type Json } from "../../domain/text/json.ts"
import type { ChatRequest } from "../../wire/openai/Chat.ts"
import { repairing } from "../shared/chat-request/repairHistory.ts"
import { ParamReader } from "../shared/chat-request/paramReader.ts"
import type { Translated, TranslateContext } from "../Translator.ts"
import { invalid } from "../shared/fault.ts"
import { openAiFormat } from "../shared/chat-request/readFormat.ts"
import { messagesToOpenAi } from "./messages.ts"
import { heldBack } from "./params.ts"

/** The body: the client's fields in their order, known and unknown. */
export type OpenAiRequest = Readonly<Record<string, unknown>>

/** Efforts that these upstreams accept (table 4); a higher one is sent as the highest of them. */
const knownEfforts: ReadonlyArray<string> = ["none", "minimal", "low", "medium", "high"]

const hasValue = (value: unknown): boolean => value !== undefined && value !== null

/** The longest answer of an open model. The record of any other id is that of another family. */
const longest = ({ family, max_output }: ModelRecord): number | undefined =>
  family === "open" ? max_output : undefined

/** Undefined: the number asks for nothing, and is left out. */
type ReadNumber = (params: ParamReader, record: ModelRecord) => Json | undefined

/** Numbers and the ranges of OpenAI's API. */
const numbers: ReadonlyMap<string, ReadNumber> = new Map<string, ReadNumber>([
  ["temperature", (params) => params.finite("temperature", 0, 2)],
  ["top_p", (params) => params.finite("top_p", 0, 1)],
  ["presence_penalty", (params) => params.finite("presence_penalty", -2, 2)],
  ["frequency_penalty", (params) => params.finite("frequency_penalty", -2, 2)],
  ["n", (params) => params.whole("n", 1, 128)],
  ["top_k", (params) => params.topK(2 ** 31 - 1)],
  ["top_logprobs", (params) => params.whole("top_logprobs", 0, 20)],
  ["seed", (params) => params.longSeed()],
  ["max_tokens", (params, record) => params.bound("max_tokens", longest(record))],
  ["max_completion_tokens", (params, record) => params.bound("max_completion_tokens", longest(record))]
])

const translate = (
  request: ChatRequest,
  context: TranslateContext
): Result.Result<Translated<OpenAiRequest>, RequestFault> => {
  const messages = messagesToOpenAi(request.messages, context.target.record.keeps_reasoning === true)
  const params = new ParamReader(request)
  if (Result.isFailure(messages)) return Result.fail(messages.failure)
  const ignored: Array<string> = []
  const fields: Array<readonly [string, unknown]> = []
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
    else if (name === "stop") {
      const words = params.stop()
      if (words.length > 0) fields.push([name, typeof value === "string" ? value : words])
    } else if (numbers.has(name)) {
      const sent = numbers.get(name)?.(params, context.target.record)
      if (sent === undefined) ignored.push(name)
      else fields.push([name === "max_completion_tokens" && !hasValue(request.max_tokens) ? "max_tokens" : name, sent])
    } else if (name === "reasoning_effort") {
      const isHigher = value === "xhigh" || value === "max"
      fields.push([name, isHigher ? "high" : value])
      if (isHigher) params.adjusted.push({ param: name, asked: value, sent: "high", takes: knownEfforts })
    } else if (name === "tool_choice" && isValidated(value)) fields.push([name, "auto"])
    else fields.push([name, value])
  }
  if (params.fault !== undefined) return Result.fail(params.fault)
  // Usage is requested on every stream; the caller filters the chunk for clients that did not request it.
  if (request.stream === true && (request.stream_options ?? undefined) === undefined) {
    fields.push(["stream_options", { include_usage: true }])
  }
  return Result.succeed({
    body: Object.fromEntries(fields),
    headers: {},
    ignored,
    ...(params.adjusted.length === 0 ? {} : { adjusted: params.adjusted })
  })
}

/** Leaves defaults and unknown values to the upstream; null counts as absent. */
export const chatToOpenAiRequest = repairing(translate)

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
