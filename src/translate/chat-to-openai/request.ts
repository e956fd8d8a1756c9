// Translates a chat request for an OpenAI-compatible upstream: passes it whole, without the gateway's own fields.
// Must not depend on URLs or credentials.
import * as Result from "effect/Result"
import type { RequestFault } from "../../domain/GatewayError.ts"
import type { ModelRecord } from "../../domain/models/ModelRecord.ts"
import { isJsonObject, type Json } from "../../domain/text/json.ts"
import type { ChatRequest } from "../../wire/openai/Chat.ts"
import { neededTools } from "../shared/chat-request/readTools.ts"
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

/** A model of a publisher; an endpoint of the operator's own has an id without one. */
const isOpen = ({ modelId, record }: TranslateContext["target"]): boolean =>
  record.family === "open" || modelId.includes("/")

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
      const { left, needed, tools } = sortedTools(value, request.tool_choice, isOpen(context.target))
      if (needed !== undefined)
        return invalid(
          needed,
          "unsupported_tool",
          "This model runs no tools of its own; use functions, or a Gemini model."
        )
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

/**
 * Open models take functions alone: other tools are left out, but for one that the choice demands or that an answer needs
 * (W5). Endpoints of the operator's own get what the client sent, without what agents add unasked.
 */
const sortedTools = (given: ReadonlyArray<unknown>, choice: unknown, isOpenModel: boolean) => {
  const typeOf = (tool: unknown): string => {
    if (!isJsonObject(tool)) return "function"
    const { function: declared, type = null } = tool
    return typeof type === "string" ? type : isJsonObject(declared) ? "function" : ""
  }
  const chosen = isJsonObject(choice) ? choice["type"] : undefined
  const runs = (tool: unknown) =>
    isOpenModel ? typeOf(tool) === "function" : !isJsonObject(tool) || tool["optional"] !== true
  const tools = given.filter(runs)
  const isForced = choice === "required" && tools.length === 0
  const needed = given.findIndex(
    (tool) => !runs(tool) && (isForced || neededTools.has(typeOf(tool)) || typeOf(tool) === chosen)
  )
  return {
    tools,
    left: given.flatMap((tool, index) => (runs(tool) ? [] : [`tools[${index}]`])),
    needed: needed < 0 ? undefined : `tools[${needed}]`
  }
}

/** Calls that follow their schemas are asked for by a mode that these upstreams lack (M-400). */
const isValidated = (choice: unknown): boolean =>
  choice === "validated" || (isJsonObject(choice) && choice["type"] === "validated")

const asksForImages = (modalities: unknown): boolean => Array.isArray(modalities) && modalities.includes("image")
