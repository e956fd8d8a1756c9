// Translates a chat request for an OpenAI-compatible upstream: all but the gateway's own fields passes.
// It must not depend on URLs or credentials; it leaves validation to the upstream.
import * as Result from "effect/Result"
import type { RequestFault } from "../../domain/GatewayError.ts"
import type { Reader } from "../../domain/Reader.ts"
import type { ModelRecord } from "../../domain/models/ModelRecord.ts"
import { isJsonObject, type Json, type JsonObject } from "../../domain/text/json.ts"
import type { ChatMessage, ChatRequest } from "../../wire/openai/Chat.ts"
import { ParamReader } from "../shared/chat-request/paramReader.ts"
import { chatPart } from "../shared/chat-request/partSpellings.ts"
import { openAiFormat } from "../shared/chat-request/readOptions.ts"
import { neededTools } from "../shared/chat-request/readTools.ts"
import { repairing } from "../shared/chat-request/repairHistory.ts"
import { isPlainMedia, readInline } from "../shared/media/media.ts"
import type { TranslateContext, Translated } from "../Translator.ts"
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
  const params = new ParamReader(request)
  const messages = messagesToOpenAi(params, context.target.record.keeps_reasoning === true)
  const sorted = sortedTools(params, isOpen(context.target))
  const ignored: Array<string> = []
  const fields: Array<readonly [string, unknown]> = []
  for (const [name, value] of Object.entries(request)) {
    if (value === undefined || value === null) continue
    if (heldBack.has(name) || (name === "modalities" && asksForImages(value))) ignored.push(name)
    else if (name === "model") fields.push([name, context.target.modelId])
    else if (name === "response_format") fields.push([name, openAiFormat(request.response_format)])
    else if (name === "messages") fields.push([name, messages])
    else if (name === "tools" && sorted !== undefined) {
      ignored.push(...sorted.left)
      if (sorted.tools.length > 0 || sorted.left.length === 0) fields.push([name, sorted.tools])
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
  // Usage is requested on every stream; the caller filters the chunk for clients that did not request it.
  if (request.stream === true && (request.stream_options ?? undefined) === undefined) {
    fields.push(["stream_options", { include_usage: true }])
  }
  return params.result({
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
const sortedTools = (params: ParamReader, isOpenModel: boolean) => {
  const { tool_choice: choice, tools: given } = params.request
  if (!Array.isArray(given)) return undefined
  const typeOf = (tool: unknown): string => {
    if (!isJsonObject(tool)) return "function"
    const { function: declared, type = null } = tool
    return typeof type === "string" ? type : isJsonObject(declared) ? "function" : ""
  }
  const chosen = isJsonObject(choice) ? choice["type"] : undefined
  const runs = (tool: unknown): boolean =>
    isOpenModel ? typeOf(tool) === "function" : !isJsonObject(tool) || tool["optional"] !== true
  const tools = given.filter(runs)
  const isForced = choice === "required" && tools.length === 0
  const needed = given.findIndex(
    (tool) => !runs(tool) && (isForced || neededTools.has(typeOf(tool)) || typeOf(tool) === chosen)
  )
  if (needed >= 0)
    params.invalid(
      `tools[${needed}]`,
      "unsupported_tool",
      "This model runs no tools of its own; use functions, or a Gemini model."
    )
  return { tools, left: given.flatMap((tool, index) => (runs(tool) ? [] : [`tools[${index}]`])) }
}

/** Calls that follow their schemas are asked for by a mode that these upstreams lack (M-400). */
const isValidated = (choice: unknown): boolean =>
  choice === "validated" || (isJsonObject(choice) && choice["type"] === "validated")

const asksForImages = (modalities: unknown): boolean => Array.isArray(modalities) && modalities.includes("image")

// Messages

type Fields = Readonly<Record<string, unknown>>

/**
 * Refuses media that only Gemini can read, and URLs that are not public. The reasoning of earlier turns goes to models
 * that want it back (W29).
 */
const messagesToOpenAi = (params: ParamReader, keepsReasoning: boolean): ReadonlyArray<Fields> =>
  params.each(params.request.messages, (message, index) => {
    if (isPlain(message)) return message
    const reasoning = keepsReasoning && message.role === "assistant" ? reasoningOf(message) : ""
    const fields = messageToOpenAi(params, message, `messages[${index}]`)
    return reasoning === "" ? fields : { ...fields, reasoning_content: reasoning }
  })

/** Under the names of open models and their servers, else in the thinking parts of the content. */
const reasoningOf = ({ content, reasoning, reasoning_content, thinking }: ChatMessage): string => {
  for (const text of [reasoning_content, reasoning, thinking]) if (typeof text === "string" && text !== "") return text
  if (!Array.isArray(content)) return ""
  return content
    .map((part: unknown) =>
      isJsonObject(part) && part["type"] === "thinking" && typeof part["thinking"] === "string" ? part["thinking"] : ""
    )
    .join("")
}

/** Fields of messages and calls that only the gateway uses. */
const extensions = new Set([
  "content_blocks",
  "content_parts",
  "reasoning_content",
  "reasoning",
  "thinking",
  "thought_signature",
  "issuer",
  "extra_content"
])

/** True for a message that needs no change and no inspection. */
const isPlain = (message: ChatMessage): boolean => {
  for (const name in message) {
    const value = message[name]
    if (
      extensions.has(name) ||
      value === undefined ||
      (typeof value === "object" && !(value === null && name === "content"))
    )
      return false
  }
  return message.role !== "developer"
}

const messageToOpenAi = (reader: Reader, message: ChatMessage, path: string): Fields => {
  const content = contentOf(reader, message, `${path}.content`)
  const fields = Object.entries(message).flatMap(([name, value]): ReadonlyArray<readonly [string, unknown]> => {
    if (name === "content" || value === undefined || value === null || extensions.has(name)) return []
    if (name === "role") return [[name, value === "developer" ? "system" : value]]
    return [[name, name === "tool_calls" && Array.isArray(value) ? value.map(callToOpenAi) : value]]
  })
  return Object.fromEntries(content === undefined ? fields : [...fields, ["content", content]])
}

const contentOf = (reader: Reader, message: ChatMessage, path: string): unknown => {
  const { content, tool_calls } = message
  if (Array.isArray(content) && content.length > 0) return partsToOpenAi(reader, content, path)
  const isSilent = (content ?? "") === "" || Array.isArray(content)
  return isSilent && !Array.isArray(tool_calls) ? textOfExtensions(message) || content : content
}

/** The text of a message that came back in the gateway's extension fields only. */
const textOfExtensions = ({ content_parts, content_blocks }: ChatMessage): string => {
  for (const list of [content_parts, content_blocks]) {
    if (!Array.isArray(list)) continue
    const text = list
      .map((one: unknown) =>
        isJsonObject(one) && one["type"] === "text" && typeof one["text"] === "string" ? one["text"] : ""
      )
      .join("")
    if (text !== "") return text
  }
  return ""
}

/** Parts that represent output of other model families. */
const foreign = new Set<Json | undefined>(["thinking", "redacted_thinking", "image", "provider_part"])

/** Parts of chat's own that Gemini and Claude read as files, and many servers of open models under these names. */
const ofServers = new Set<Json | undefined>(["video_url", "audio_url"])

/** Returns empty text when the list held foreign parts only. */
const partsToOpenAi = (
  reader: Reader,
  parts: ReadonlyArray<unknown>,
  path: string
): ReadonlyArray<unknown> | string => {
  const out = reader.each(parts, (given, index) => {
    if (!isJsonObject(given)) return given
    const part = ofServers.has(given["type"]) ? given : chatPart(given)
    return foreign.has(part["type"]) ? undefined : mediaToOpenAi(reader, part, `${path}[${index}]`)
  })
  return out.length === 0 ? "" : out
}

const mediaHints = new Set(["mime_type", "format", "video_metadata"])

/** Reads `image_url` and similar parts of other servers: `{type:"video_url", video_url:{url}}`. */
const mediaToOpenAi = (reader: Reader, part: JsonObject, path: string): JsonObject | undefined => {
  const type = part["type"]
  if (typeof type !== "string" || !type.endsWith("_url")) return part
  const given = part[type]
  const url = isJsonObject(given) ? given["url"] : given
  if (typeof url !== "string") return part
  if (!isPlainMedia(url)) return reader.invalid(`${path}.${type}.url`, "invalid_media_url", mediaHint)
  const rest = isJsonObject(given) ? Object.entries(given).filter(([name]) => !mediaHints.has(name)) : []
  return { ...part, [type]: { ...Object.fromEntries(rest), url: repairedUri(url) } }
}

/** A picture with white space or of a wrong type is mended; what cannot be read is left to the upstream. */
const repairedUri = (url: string): string => {
  if (!/^data:/i.test(url)) return url
  const read = readInline({ path: "", url, isData: false, declaredType: undefined, filename: undefined })
  return Result.isSuccess(read) && read.success.mimeType.startsWith("image/")
    ? `data:${read.success.mimeType};base64,${read.success.data}`
    : url
}

const mediaHint =
  "This model takes media as data URIs and public https addresses; gs:// URIs, Files API URLs and YouTube links work with Gemini models only."

/** Signatures of other families' calls are not sent. */
const callToOpenAi = (call: unknown): unknown => {
  if (!isJsonObject(call)) return call
  const called = call["function"]
  return isJsonObject(called) ? { ...ownFields(call), function: withArgumentsText(called) } : ownFields(call)
}

/** Arguments are a text in this dialect; those of a call that was cut stay as they are. */
const withArgumentsText = (called: JsonObject): JsonObject => {
  const fields = ownFields(called)
  const { arguments: given } = fields
  return typeof given === "string" ? fields : { ...fields, arguments: JSON.stringify(given ?? {}) }
}

const ownFields = (given: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(given).filter(([name]) => !extensions.has(name)))
