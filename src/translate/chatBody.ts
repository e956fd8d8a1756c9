// The body of a chat in chat's own words, whichever dialect's spellings the client mixed into it.
// Must not depend on a provider, and refuses only what it cannot read as a chat. Rules: W4, W20, W21, W39, W44.
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { BodyInvalid } from "../domain/GatewayError.ts"
import { Reader } from "../domain/Reader.ts"
import { bodyFault } from "../domain/faults.ts"
import { isJsonObject, type Json, type JsonObject } from "../domain/text/json.ts"
import { ResponsesRequest } from "../wire/openai/Responses.ts"
import { invalid } from "./shared/chat-request/paramReader.ts"
import { chatMessages, chatToolChoice, chatTools } from "./shared/chat-request/spellings.ts"
import { type ItemPaths, paramOf } from "./responses-to-chat/facts.ts"
import { conversationOf } from "./responses-to-chat/items.ts"
import { chatMessages as messagesOfItems } from "./responses-to-chat/messages.ts"
import { readText } from "./responses-to-chat/params.ts"

export interface ChatBody {
  readonly body: JsonObject
  /** Names of custom tools, whose calls come back as custom calls. */
  readonly customs: ReadonlySet<string>
  /** The client's word for a parameter; undefined where all have the same. */
  readonly wordOf: ((param: string) => string) | undefined
}

type Read<A> = Result.Result<A, BodyInvalid>

const noNames: ReadonlySet<string> = new Set()

/** A body that has chat's own words is the same object. */
export const chatBody = (given: JsonObject): Read<ChatBody> =>
  Result.map(Result.flatMap(withMessages(withToolConfig(given)), withParameters), withSpellings)

/** Messages, tools and the choice of one in chat's own spellings. */
const withSpellings = ({ body, wordOf }: Worded): ChatBody => {
  const { messages, tools } = body
  const spelledMessages = Array.isArray(messages) ? chatMessages(messages) : undefined
  const spelledTools = Array.isArray(tools) ? chatTools(tools) : undefined
  const choice = body["tool_choice"]
  const spelledChoice = chatToolChoice(choice)
  const alone = isJsonObject(choice) && choice["disable_parallel_tool_use"] === true
  if (spelledMessages === undefined && spelledTools === undefined && spelledChoice === choice && !alone)
    return { body, customs: noNames, wordOf }
  const places = { messages: spelledMessages?.map(indexOf), tools: spelledTools?.tools.map(indexOf) }
  const placed = (param: string) => placedParam(param, places)
  return {
    body: {
      ...body,
      ...(spelledMessages === undefined ? {} : { messages: spelledMessages.map(({ message }) => asJson(message)) }),
      ...(spelledTools === undefined ? {} : { tools: spelledTools.tools.map(({ tool }) => asJson(tool)) }),
      ...(spelledChoice === undefined ? {} : { tool_choice: asJson(spelledChoice) }),
      ...(alone && body["parallel_tool_calls"] === undefined ? { parallel_tool_calls: false } : {})
    },
    customs: spelledTools?.customs ?? noNames,
    wordOf: wordOf === undefined ? placed : (param) => wordOf(placed(param))
  }
}

/** What was made of values of JSON is JSON. */
const asJson = (value: unknown): Json => value as Json

/** Numbers alone: an open stream keeps them, and must not keep the body. */
interface Places {
  readonly messages: ReadonlyArray<number> | undefined
  readonly tools: ReadonlyArray<number> | undefined
}

const indexOf = ({ index }: { readonly index: number }): number => index

/** One message may have become several, and one tool too. */
const placedParam = (param: string, { messages, tools }: Places): string =>
  param.replace(/^(messages|tools)\[(\d+)\]/, (whole, list: string, index: string) => {
    const place = (list === "messages" ? messages : tools)?.[Number(index)]
    return place === undefined ? whole : `${list}[${place}]`
  })

interface Worded {
  readonly body: JsonObject
  readonly wordOf: ((param: string) => string) | undefined
}

const isThere = (value: Json | undefined): value is Json => value !== undefined && value !== null

/** `input` of the Responses API as messages, where a body has no messages; `system` of Anthropic as the first one. */
const withMessages = (body: JsonObject): Read<Worded> => {
  const { input, messages, system } = body
  const hasMessages = isThere(messages) && !(Array.isArray(messages) && messages.length === 0)
  if (isThere(input) && !hasMessages) return messagesOfInput(body)
  const name = isThere(system) ? "system" : "instructions"
  if (!isThere(body[name]) || !Array.isArray(messages)) return Result.succeed({ body, wordOf: undefined })
  const { [name]: content, ...rest } = body
  return Result.succeed({
    body: { ...rest, messages: [{ role: "system", content }, ...messages] },
    wordOf: (param) =>
      param.replace(/^messages\[(\d+)\]/, (_, index: string) =>
        index === "0" ? name : `messages[${Number(index) - 1}]`
      )
  })
}

const decode = Schema.decodeUnknownResult(ResponsesRequest)

const messagesOfInput = (body: JsonObject): Read<Worded> => {
  if (isThere(body["previous_response_id"]))
    return invalid(
      "previous_response_id",
      "unsupported_parameter",
      "A chat continues no stored response; send the request to /v1/responses."
    )
  const { input, instructions, messages: _messages, ...rest } = body
  const decoded = decode(isThere(instructions) ? { input, instructions } : { input })
  const readable = Result.mapError(decoded, (fault) => bodyFault(fault, body))
  return Result.flatMap(readable, (request) => {
    const reader = new Reader<never>()
    const { items } = conversationOf(reader, request, statelessFacts)
    const { messages, paths } = messagesOfItems(reader, request.instructions ?? "", items, statelessFacts)
    const places: ItemPaths = { messages: paths, tools: [], user: "user", thinking: "thinking" }
    return reader.result({
      body: { ...rest, messages: messages.map(asJson) },
      wordOf: (param: string) => (param.startsWith("messages") ? paramOf(places, param) : param)
    })
  })
}

/** A chat keeps nothing, so nothing is found by an id. */
const statelessFacts = {
  id: `resp_${"0".repeat(32)}`,
  history: [],
  stored: () => undefined,
  prompt: undefined,
  unseal: () => undefined,
  digest: () => "",
  keeps: false,
  rejects: false
}

/** Parameters of other dialects, each with its place in a chat. One next to chat's own stays, and is named as ignored. */
const withParameters = (worded: Worded): Read<Worded> => {
  const { body } = worded
  const names = foreign.filter((name) => isThere(body[name]))
  if (names.length === 0) return Result.succeed(worded)
  const reader = new Reader<never>()
  const replacements = reader.each(names, (name) => {
    const fields = readForeign(reader, name, body[name])
    const isTaken = fields.some(([field]) => isThere(body[field]))
    return isTaken || fields.length === 0 ? undefined : { name, fields }
  })
  const replaced = new Map(
    replacements.flatMap(({ fields, name }) => fields.map(([field]) => [field, wordIn(name, field)]))
  )
  const { wordOf = (param: string) => param } = worded
  return reader.result({
    body: {
      ...Object.fromEntries(Object.entries(body).filter(([field]) => !replacements.some(({ name }) => name === field))),
      ...Object.fromEntries(replacements.flatMap(({ fields }) => fields.map(([name, value]) => [name, asJson(value)])))
    },
    wordOf: (param) => wordOf(param.replace(/^\w+(?:\.json_schema)?/, (name) => wordFor(replaced, name)))
  })
}

/** The members of another dialect's parameters that have a name of their own. */
const members: ReadonlyMap<string, ReadonlyMap<string, string>> = new Map([
  ["reasoning", new Map([["reasoning_effort", "reasoning.effort"]])],
  [
    "text",
    new Map([
      ["verbosity", "text.verbosity"],
      ["response_format", "text.format"]
    ])
  ],
  [
    "output_config",
    new Map([
      ["reasoning_effort", "output_config.effort"],
      ["response_format", "output_config.format"]
    ])
  ]
])

const wordIn = (name: string, field: string): string => members.get(name)?.get(field) ?? name

/** What these dialects have no `json_schema` around. */
const wordFor = (words: ReadonlyMap<string, string>, name: string): string =>
  words.get(name) ?? words.get(name.replace(".json_schema", "")) ?? name

const foreign = ["max_output_tokens", "reasoning", "text", "stop_sequences", "output_config"] as const

const readForeign = (
  reader: Reader<never>,
  name: (typeof foreign)[number],
  value: Json | undefined
): ReadonlyArray<readonly [string, unknown]> => {
  if (name !== "text") return fieldsOf(name, value)
  return isJsonObject(value) ? Object.entries(readText(reader, value)) : []
}

const fieldsOf = (name: (typeof foreign)[number], value: Json | undefined): ReadonlyArray<readonly [string, Json]> => {
  if (name === "max_output_tokens") return [["max_completion_tokens", value ?? null]]
  if (name === "stop_sequences") return [["stop", value ?? null]]
  if (!isJsonObject(value)) return []
  if (name === "reasoning") return reasoningFields(value)
  const { effort, format } = value
  const schema = isJsonObject(format) ? format["schema"] : undefined
  return name === "output_config"
    ? [
        ...(isThere(effort) ? [["reasoning_effort", effort] as const] : []),
        ...(isThere(schema)
          ? [["response_format", { type: "json_schema", json_schema: { name: "response", schema } }] as const]
          : [])
      ]
    : []
}

/** OpenRouter's object: an effort, a budget or a switch. */
const reasoningFields = ({
  effort,
  enabled,
  max_tokens: tokens
}: JsonObject): ReadonlyArray<readonly [string, Json]> => {
  if (isThere(effort)) return [["reasoning_effort", effort]]
  if (isThere(tokens)) return [["thinking", { type: "enabled", budget_tokens: tokens }]]
  return typeof enabled === "boolean" ? [["thinking", { type: enabled ? "enabled" : "disabled" }]] : []
}

/** Google's settings of tools: a choice, and the place of the user, which is the map tool's. They stand at the top or where Google's own clients of chats put its fields. */
export const withToolConfig = (given: JsonObject): JsonObject => {
  const { extra_body: extra, google, tools } = given
  if (extra === undefined && google === undefined && !hasSettings(given)) return given
  const inExtra = isJsonObject(extra) ? extra["google"] : undefined
  const settings = [given, google, inExtra, extra].flatMap((holder) =>
    isJsonObject(holder) ? [settingsIn(holder)] : []
  )
  const calling = settings.find((entry) => isThere(entry.calling))?.calling
  const asked = settings.find((entry) => isThere(entry.place))?.place
  const place = isJsonObject(asked) && Array.isArray(tools) && tools.some(isMap) ? asked : undefined
  if (place === undefined && !isThere(calling)) return given
  const rest = withoutSettings(given)
  const holders = {
    ...withInner("google", google),
    ...withInner(
      "extra_body",
      isJsonObject(extra) ? { ...extra, google: undefined, ...withInner("google", inExtra) } : extra
    )
  }
  return {
    ...Object.fromEntries(Object.entries(rest).filter(([name]) => name !== "google" && name !== "extra_body")),
    ...holders,
    ...(place === undefined || !Array.isArray(tools) ? {} : { tools: tools.map((tool: Json) => atPlace(tool, place)) }),
    ...(isThere(calling) && !isThere(given["tool_choice"]) ? { tool_choice: { functionCallingConfig: calling } } : {})
  }
}

const settingNames: ReadonlySet<string> = new Set(["tool_config", "toolConfig", "retrieval_config", "retrievalConfig"])

const hasSettings = (given: JsonObject): boolean => {
  for (const name of settingNames) if (name in given) return true
  return false
}

const settingsIn = (holder: JsonObject) => {
  const written = holder["toolConfig"] ?? holder["tool_config"]
  const config = isJsonObject(written) ? written : {}
  return {
    place:
      config["retrievalConfig"] ??
      config["retrieval_config"] ??
      holder["retrievalConfig"] ??
      holder["retrieval_config"],
    calling: config["functionCallingConfig"] ?? config["function_calling_config"]
  }
}

const withoutSettings = (holder: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(holder).filter(([name, value]) => value !== undefined && !settingNames.has(name)))

/** The holder without the settings, if there is anything else in it. */
const withInner = (name: string, holder: Json | undefined): JsonObject => {
  const left = isJsonObject(holder) ? withoutSettings(holder) : holder
  return left === undefined || (isJsonObject(left) && Object.keys(left).length === 0) ? {} : { [name]: left }
}

const mapNames = ["googleMaps", "google_maps"] as const

const mapName = (tool: JsonObject): (typeof mapNames)[number] | undefined =>
  mapNames.find((one) => isThere(tool[one]) || tool["type"] === one)

const isMap = (tool: Json): boolean => isJsonObject(tool) && mapName(tool) !== undefined

const atPlace = (tool: Json, place: JsonObject): Json => {
  const name = isJsonObject(tool) ? mapName(tool) : undefined
  if (!isJsonObject(tool) || name === undefined) return tool
  const written = tool[name]
  return { ...tool, [name]: { ...(isJsonObject(written) ? written : {}), retrieval_config: place } }
}
