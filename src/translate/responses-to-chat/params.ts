// Every field of a request that is neither item nor tool: what the chat, the answer and the offered tools get of it.
// It must not know items, or how a tool was declared. Rules: R301-R310, R324, R325, R327, R329, table 1.
import type { Reader } from "../../domain/Reader.ts"
import { isJsonObject, type Json, type JsonObject } from "../../domain/text/json.ts"
import type { KnownParam } from "../../wire/openai/Chat.ts"
import type { ResponsesParam, ResponsesRequest } from "../../wire/openai/Responses.ts"
import type { Shown } from "./facts.ts"
import {
  hostedKind,
  type HostedTool,
  isNotOffered,
  joinedName,
  ownChoice,
  ownTools,
  type ReadTools,
  unsupportedTool
} from "./tools.ts"

/** Fields of the chat by name, and the request's fields that change nothing. */
export interface ReadParams {
  readonly chat: Readonly<Partial<Record<KnownParam, unknown>>>
  readonly ignored: ReadonlyArray<string>
  readonly shown: Shown
  readonly metadata: Readonly<Record<string, string>>
  /** The parameters that `user` and `thinking` of the chat came from. */
  readonly user: string
  readonly thinking: string
}

/** Fields that only this route has; everything else is the chat's, or unknown. */
const translatedParams: ReadonlySet<string> = new Set<ResponsesParam>([
  "input",
  "instructions",
  "tools",
  "tool_choice",
  "max_tool_calls",
  "reasoning",
  "text",
  "max_output_tokens",
  "truncation",
  "safety_identifier",
  "previous_response_id",
  "conversation",
  "store",
  "prompt",
  "metadata",
  "include",
  "background",
  "context_management",
  "stream_options",
  "top_logprobs"
])

/** Fields of the chat that this route takes as they are, its extensions included. */
const passed: ReadonlySet<string> = new Set<KnownParam | "betas">([
  "model",
  "stream",
  "temperature",
  "top_p",
  "top_k",
  "frequency_penalty",
  "presence_penalty",
  "seed",
  "stop",
  "service_tier",
  "user",
  "parallel_tool_calls",
  "prompt_cache_key",
  "prompt_cache_retention",
  "prompt_cache_options",
  "moderation",
  "extra_body",
  "google",
  "safety_settings",
  "labels",
  "cached_content",
  "media_resolution",
  "thinking",
  "betas",
  "anthropic_beta"
])

export const readParams = (reader: Reader<never>, body: ResponsesRequest): ReadParams => {
  refuseFields(reader, body)
  const { ignored: notShown, ...shown } = readInclude(body)
  const metadata = readMetadata(body.metadata ?? {})
  const reasoning = readReasoning(body)
  const text = readText(reader, body.text ?? {})
  const chat: Record<string, unknown> = {}
  const ignored: Array<string> = []
  for (const [name, value] of Object.entries(body)) {
    if (value === undefined || value === null || translatedParams.has(name)) continue
    if (!passed.has(name)) ignored.push(name)
    else if (name !== "thinking" || !reasoning.asks) chat[name] = value
    else ignored.push(name)
  }
  const user = body.user ?? undefined
  const safety = body.safety_identifier ?? undefined
  if (user === undefined && safety !== undefined) chat["user"] = safety
  if ((body.max_output_tokens ?? undefined) !== undefined) chat["max_completion_tokens"] = body.max_output_tokens
  if ((body.truncation ?? "disabled") !== "disabled") ignored.push("truncation")
  if ((body.max_tool_calls ?? undefined) !== undefined) ignored.push("max_tool_calls")
  if ((body.context_management ?? undefined) !== undefined) ignored.push("context_management")
  const logprobs = shown.logprobs || (body.top_logprobs ?? 0) > 0
  return {
    chat: {
      ...chat,
      ...reasoning.chat,
      ...text,
      ...(logprobs ? { logprobs: true } : {}),
      ...((body.top_logprobs ?? 0) > 0 ? { top_logprobs: body.top_logprobs } : {})
    },
    ignored: [...ignored, ...notShown, ...metadata.ignored, ...reasoning.ignored],
    shown: { ...shown, summaries: reasoning.summaries, logprobs },
    metadata: metadata.pairs,
    user: user === undefined && safety !== undefined ? "safety_identifier" : "user",
    thinking: reasoning.asks ? "reasoning.summary" : "thinking"
  }
}

const refuseFields = (reader: Reader<never>, body: ResponsesRequest): void => {
  if (body.background === true)
    reader.invalid(
      "background",
      "unsupported_parameter",
      "Responses are not made in the background here; leave background out and wait, or stream."
    )
  if ((body.conversation ?? undefined) !== undefined)
    reader.invalid(
      "conversation",
      "unsupported_parameter",
      "Conversations are not kept here; chain responses by previous_response_id."
    )
}

const mostIncluded = 16
/** Every published word; those without a meaning here have nothing to show. */
const includable: ReadonlySet<unknown> = new Set([
  "reasoning.encrypted_content",
  "message.output_text.logprobs",
  "web_search_call.action.sources",
  "web_search_call.results",
  "code_interpreter_call.outputs",
  "file_search_call.results",
  "message.input_image.image_url",
  "computer_call_output.output.image_url"
])

/** What these words show; also of a response that is asked for again. */
export const shownBy = (words: ReadonlyArray<unknown>): Omit<Shown, "summaries"> => ({
  carriers: words.includes("reasoning.encrypted_content"),
  logprobs: words.includes("message.output_text.logprobs"),
  sources: words.includes("web_search_call.action.sources") || words.includes("web_search_call.results"),
  outputs: words.includes("code_interpreter_call.outputs")
})

/** Words that are not published show nothing. */
export const readInclude = ({
  include
}: Pick<ResponsesRequest, "include">): Omit<Shown, "summaries"> & { readonly ignored: ReadonlyArray<string> } => {
  const words = include ?? []
  return {
    ...shownBy(words),
    ignored: words.flatMap((word, index) => (includable.has(word) ? [] : [`include[${index}]`])).slice(0, mostIncluded)
  }
}

const mostPairs = 16
const longestKey = 64
const longestValue = 512

interface ReadMetadata {
  readonly pairs: Readonly<Record<string, string>>
  readonly ignored: ReadonlyArray<string>
}

/** The pairs that an answer can repeat; others are left out and named. */
const readMetadata = (given: Readonly<Record<string, unknown>>): ReadMetadata => {
  const pairs = Object.entries(given)
    .flatMap(([key, value]): ReadonlyArray<readonly [string, string]> =>
      typeof value === "string" && key.length <= longestKey && value.length <= longestValue ? [[key, value]] : []
    )
    .slice(0, mostPairs)
  return {
    pairs: Object.fromEntries(pairs),
    ignored: pairs.length === Object.keys(given).length ? [] : ["metadata"]
  }
}

interface Reasoning {
  readonly chat: Readonly<Partial<Record<KnownParam, unknown>>>
  readonly summaries: boolean
  /** It has an effort or a summary, so `thinking` loses. */
  readonly asks: boolean
  readonly ignored: ReadonlyArray<string>
}

const readReasoning = ({ reasoning }: ResponsesRequest): Reasoning => {
  const given = reasoning ?? {}
  const effort = given["effort"] ?? undefined
  // Every summary is as long as the thoughts; words for its length change nothing.
  const summary = given["summary"] ?? given["generate_summary"] ?? undefined
  const chat =
    effort !== undefined ? { reasoning_effort: effort } : summary !== undefined ? { thinking: { type: "enabled" } } : {}
  return {
    chat,
    summaries: summary !== undefined,
    asks: effort !== undefined || summary !== undefined,
    ignored: ["mode", "context"].flatMap((name) =>
      (given[name] ?? undefined) === undefined ? [] : [`reasoning.${name}`]
    )
  }
}

export const readText = (
  reader: Reader<never>,
  text: Readonly<Record<string, unknown>>
): Readonly<Partial<Record<KnownParam, unknown>>> => {
  const verbosity = text["verbosity"] ?? undefined
  const format = readFormat(reader, text["format"] ?? undefined)
  return {
    ...(verbosity === undefined ? {} : { verbosity }),
    ...(format === undefined ? {} : { response_format: format })
  }
}

/** Undefined for a plain text. */
const readFormat = (reader: Reader<never>, format: unknown): JsonObject | undefined => {
  if (format === undefined) return undefined
  if (!isJsonObject(format)) return reader.invalid("text.format", "invalid_type", "text.format must be an object.")
  switch (format["type"]) {
    case "text":
      return undefined
    case "json_object":
      // A schema next to it is kept (W43).
      return format
    case "json_schema": {
      const { type: _type, ...named } = format
      const schema = Object.fromEntries(Object.entries(named).filter(([, value]) => value !== null))
      return { type: "json_schema", json_schema: schema }
    }
    default:
      return reader.invalid(
        "text.format.type",
        "invalid_value",
        "text.format.type must be text, json_object or json_schema."
      )
  }
}

/** The value as an answer repeats it: what the client sent, else the default. */
export const sentOr = <A>(value: A | null | undefined, otherwise: A): A => value ?? otherwise

/** Tools as they were sent, in this API's words; a function's `strict` and `parameters` are always there. */
export const echoedTools = (tool: unknown): ReadonlyArray<Json> =>
  isJsonObject(tool)
    ? ownTools(tool).map((spelled): JsonObject =>
        spelled["type"] === "function" ? { strict: null, parameters: null, ...spelled } : spelled
      )
    : [null]

// The tool choice of a request, and which tools are left to offer after it.

export interface OfferedTools {
  readonly tools: ReadTools["tools"]
  /** Pictures may be made. */
  readonly images: boolean
  readonly choice: Json | undefined
  /** The choice that cannot be obeyed exactly. */
  readonly ignored: ReadonlyArray<string>
}

/** A tool that is listed or chosen: a function of the chat by name, or a hosted one. */
type Meant =
  | { readonly _tag: "Function"; readonly name: string }
  | { readonly _tag: "Hosted"; readonly kind: HostedTool }

const words: ReadonlySet<unknown> = new Set(["auto", "none", "required"])

export const offeredTools = (reader: Reader<never>, asked: unknown, read: ReadTools): OfferedTools => {
  const given = ownChoice(asked)
  const all: OfferedTools = { tools: read.tools, images: read.image !== undefined, choice: undefined, ignored: [] }
  if (given === undefined || given === null) return all
  if (words.has(given)) {
    // A picture is no call: nothing can be required of a request that offers nothing else.
    const idle = given === "required" && read.tools.length === 0 && read.image !== undefined
    return idle ? { ...all, ignored: ["tool_choice"] } : { ...all, choice: String(given) }
  }
  return chosenTools(reader, given, read, all) ?? all
}

/** Those that a choice of tools leaves. */
const chosenTools = (
  reader: Reader<never>,
  given: unknown,
  read: ReadTools,
  all: OfferedTools
): OfferedTools | undefined => {
  if (!isJsonObject(given))
    return reader.invalid(
      "tool_choice",
      "invalid_value",
      'tool_choice must be "auto", "none", "required" or an object.'
    )
  const { type } = given
  if (type === "allowed_tools") return allowed(reader, given, read)
  if (typeof type === "string" && isNotOffered(type)) return unsupportedTool(reader, "tool_choice.type", type)
  const meant = meantBy(given, read)
  if (meant === undefined && type === "image_generation")
    return reader.invalid(
      "tool_choice",
      "unsupported_tool",
      "image_generation works with Gemini's image models, for example gemini-2.5-flash-image and gemini-3-pro-image-preview."
    )
  if (meant === undefined && typeof type === "string" && !namesFunction(type) && hostedKind(type) === undefined)
    return unsupportedTool(reader, "tool_choice.type", type)
  if (meant === undefined)
    return reader.invalid(
      namesFunction(type) ? "tool_choice.name" : "tool_choice",
      "invalid_value",
      "tool_choice names a tool that the request does not declare."
    )
  return meant._tag === "Function"
    ? { ...all, choice: { type: "function", function: { name: meant.name } } }
    : { ...only(read, [meant]), choice: undefined, ignored: ["tool_choice"] }
}

const namesFunction = (type: Json | undefined): boolean => type === "function" || type === "custom"

const meantBy = (chosen: JsonObject, { image, names, tools }: ReadTools): Meant | undefined => {
  const { name, namespace, type } = chosen
  if (namesFunction(type) && typeof name === "string") {
    const full = typeof namespace === "string" ? joinedName(namespace, name) : name
    if (tools.some((tool) => tool.name === full)) return { _tag: "Function", name: full }
    const inside = [...names].filter(([, tool]) => tool.name === name)
    const firstName = inside[0]?.[0]
    return inside.length === 1 && firstName !== undefined ? { _tag: "Function", name: firstName } : undefined
  }
  const kind = hostedKind(type)
  if (kind === undefined) return undefined
  const isThere = kind === "image_generation" ? image !== undefined : tools.some(({ hosted }) => hosted === kind)
  return isThere ? { _tag: "Hosted", kind } : undefined
}

const isLeft = (type: string, { image }: ReadTools): boolean =>
  isNotOffered(type) || (type === "image_generation" && image === undefined)

const only = (read: ReadTools, meant: ReadonlyArray<Meant>): Pick<OfferedTools, "tools" | "images"> => {
  const kinds = new Set(meant.flatMap((one) => (one._tag === "Hosted" ? [one.kind] : [])))
  const functions = new Set(meant.flatMap((one) => (one._tag === "Function" ? [one.name] : [])))
  return {
    tools: read.tools.filter(({ hosted, name }) =>
      hosted === undefined ? functions.has(name ?? "") : kinds.has(hosted)
    ),
    images: read.image !== undefined && kinds.has("image_generation")
  }
}

const allowed = (reader: Reader<never>, choice: JsonObject, read: ReadTools): OfferedTools | undefined => {
  const { mode = "auto", tools } = choice
  if (mode !== "auto" && mode !== "required")
    return reader.invalid("tool_choice.mode", "invalid_value", "tool_choice.mode must be auto or required.")
  if (!Array.isArray(tools) || tools.length === 0)
    return reader.invalid(
      "tool_choice.tools",
      "invalid_value",
      "tool_choice.tools must be an array of at least one tool."
    )
  const meant = reader.each(tools, (tool, index): Meant | undefined => {
    // A tool that was left out of the request is left out of the list.
    if (isJsonObject(tool) && typeof tool["type"] === "string" && isLeft(tool["type"], read)) return undefined
    const chosen = ownChoice(tool)
    const named = isJsonObject(chosen) ? meantBy(chosen, read) : undefined
    return (
      named ??
      reader.invalid(
        `tool_choice.tools[${index}]`,
        "invalid_value",
        "tool_choice.tools names a tool that the request does not declare."
      )
    )
  })
  const left = only(read, meant)
  const functions = meant.flatMap((one) => (one._tag === "Function" ? [one.name] : []))
  if (functions.length === 0) return { ...left, choice: undefined, ignored: ["tool_choice"] }
  // The functions that are not listed stay declared: the chat's own choice keeps them from being called.
  return {
    tools: read.tools.filter((tool) => tool.hosted === undefined || left.tools.includes(tool)),
    images: left.images,
    choice: {
      type: "allowed_tools",
      allowed_tools: { mode, tools: functions.map((name) => ({ type: "function", function: { name } })) }
    },
    ignored: []
  }
}
