// A request of the Responses API as a chat, with the plan for the way back.
// It must not know a target: whatever serves the chat serves this. Rules: R101, W4, W20, W46.
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { decodeNumbers } from "../../domain/faults.ts"
import { BodyInvalid } from "../../domain/GatewayError.ts"
import { Reader } from "../../domain/Reader.ts"
import { isJsonObject, type Json, type JsonObject } from "../../domain/text/json.ts"
import { ChatRequest } from "../../wire/openai/Chat.ts"
import { type ResponseEcho, ResponsesRequest } from "../../wire/openai/Responses.ts"
import { withToolConfig } from "../chatBody.ts"
import { invalid } from "../shared/chat-request/paramReader.ts"
import { paramOf, type Plan, type RequestFacts, type ResponsesChat, serviceTier } from "./facts.ts"
import { conversationOf } from "./items.ts"
import { chatMessages } from "./messages.ts"
import { echoedTools, offeredTools, type OfferedTools, type ReadParams, readParams, sentOr } from "./params.ts"
import { type GivenTool, ownChoice, readResponsesTools } from "./tools.ts"

type Read<A> = Result.Result<A, BodyInvalid>

const decode = Schema.decodeUnknownResult(ResponsesRequest)
const decodeChat = Schema.decodeUnknownResult(ChatRequest)

/** Ids in bodies are bounded before a look-up. */
const longestId = 512

/** The body as this route takes it, or the first thing that is wrong with it. */
export const readResponsesRequest = (given: JsonObject): Read<ResponsesRequest> =>
  Result.flatMap(decodeNumbers(decode, ownBody(given)), (body) =>
    (body.previous_response_id ?? "").length > longestId
      ? invalid("previous_response_id", "invalid_value", `previous_response_id is longer than ${longestId} characters.`)
      : Result.succeed(body)
  )

/** Translates a request; the facts hold what was loaded for it. */
export const requestToChat = (given: ResponsesRequest, facts: RequestFacts): Read<ResponsesChat> => {
  const { body, params: prompted } = withPrompt(given, facts)
  const { model } = body
  if (model === undefined || model === null)
    return invalid("model", "missing_required_parameter", "model is missing, and no config or prompt sets one.")
  const reader = new Reader<never>()
  const params = readParams(reader, body)
  const declared = readResponsesTools(reader, givenTools(body), model)
  const offered = offeredTools(reader, body.tool_choice, declared)
  const conversation = conversationOf(reader, body, facts)
  const messages = chatMessages(reader, body.instructions ?? "", conversation.items, facts)
  if (reader.fault !== undefined) return Result.fail(reader.fault)
  const keep = body.store !== false && facts.keeps
  const chat = {
    ...prompted,
    ...params.chat,
    model,
    messages: messages.messages,
    ...toolFields(offered, declared.image)
  }
  const plan: Plan = {
    echo: echoOf(body, params, keep),
    shown: { ...params.shown, carriers: params.shown.carriers || !keep },
    names: declared.names,
    paths: {
      messages: messages.paths,
      tools: offered.tools.map(({ path }) => path),
      user: params.user,
      thinking: params.thinking
    },
    keep,
    input: conversation.input
  }
  const ignored = [
    ...params.ignored,
    ...conversation.ignored,
    ...messages.ignored,
    ...declared.ignored,
    ...offered.ignored,
    ...(body.store === true && !keep ? ["store"] : [])
  ]
  return Result.mapBoth(decodeNumbers(decodeChat, chat), {
    onFailure: (fault) => inOwnWords(fault, plan),
    onSuccess: (read) => ({ chat: read, ignored, plan })
  })
}

/** A fault of the chat, named as the request has it. */
const inOwnWords = (fault: BodyInvalid, { paths }: Pick<Plan, "paths">): BodyInvalid =>
  fault.param === null
    ? fault
    : new BodyInvalid({ code: fault.code, param: paramOf(paths, fault.param), message: fault.message })

/** Those of the request, then those of `additional_tools` items. */
const givenTools = ({ input, tools }: ResponsesRequest): ReadonlyArray<GivenTool> => {
  const listed = (tools ?? []).map((tool, index) => ({ tool, path: `tools[${index}]` }))
  const items: ReadonlyArray<unknown> = Array.isArray(input) ? input : []
  const later = items.flatMap((item, at): ReadonlyArray<GivenTool> => {
    const list = isJsonObject(item) && item["type"] === "additional_tools" ? item["tools"] : undefined
    return Array.isArray(list) ? list.map((tool, index) => ({ tool, path: `input[${at}].tools[${index}]` })) : []
  })
  return later.length === 0 ? listed : [...listed, ...later]
}

interface Prompted {
  readonly body: ResponsesRequest
  /** Parameters of the prompt, for those that the request does not set. */
  readonly params: JsonObject
}

/** The prompt's model and parameters are those of a chat, and stand where the body has none. */
const withPrompt = (body: ResponsesRequest, { prompt }: RequestFacts): Prompted => {
  if (prompt === undefined) return { body, params: {} }
  const { messages: _messages, model: _model, ...params } = prompt.parameters
  const model = body.model ?? prompt.model
  return { body: model === undefined ? body : { ...body, model }, params }
}

const toolFields = (
  { choice, images, tools }: OfferedTools,
  image: { readonly config: JsonObject } | undefined
): Partial<ChatRequest> => ({
  ...(tools.length === 0 ? {} : { tools: tools.map(({ tool }) => tool) }),
  ...(choice === undefined ? {} : { tool_choice: choice }),
  ...(images ? { modalities: ["text", "image"] } : {}),
  ...(images && image !== undefined && Object.keys(image.config).length > 0 ? { image_config: image.config } : {})
})

/** What an answer repeats, defaults filled in (R602). */
const echoOf = (body: ResponsesRequest, { metadata }: ReadParams, keep: boolean): ResponseEcho => {
  const reasoning = body.reasoning ?? {}
  const { prompt_cache_options: options = null, prompt_cache_retention: retention = null } = body
  const text = Object.fromEntries(Object.entries(body.text ?? {}).filter(([, value]) => value !== null))
  return {
    background: false,
    instructions: sentOr(body.instructions, null),
    max_output_tokens: sentOr(body.max_output_tokens, null),
    max_tool_calls: sentOr(body.max_tool_calls, null),
    parallel_tool_calls: sentOr(body.parallel_tool_calls, true),
    previous_response_id: sentOr(body.previous_response_id, null),
    prompt_cache_key: sentOr(body.prompt_cache_key, null),
    ...(retention === null ? {} : { prompt_cache_retention: retention }),
    ...(options === null ? {} : { prompt_cache_options: options }),
    reasoning: {
      effort: wordOf(reasoning["effort"]),
      summary: wordOf(reasoning["summary"]) ?? wordOf(reasoning["generate_summary"])
    },
    safety_identifier: sentOr(body.safety_identifier, null),
    service_tier: serviceTier(body.service_tier ?? undefined),
    store: keep,
    temperature: sentOr(body.temperature, 1),
    text: { ...text, format: text["format"] ?? { type: "text" } },
    tool_choice: ownChoice(body.tool_choice) ?? "auto",
    tools: (body.tools ?? []).flatMap(echoedTools),
    top_logprobs: sentOr(body.top_logprobs, 0),
    top_p: sentOr(body.top_p, 1),
    truncation: "disabled",
    user: sentOr(body.user, null),
    metadata,
    frequency_penalty: numberOf(body["frequency_penalty"]),
    presence_penalty: numberOf(body["presence_penalty"])
  }
}

const wordOf = (value: unknown): string | null => (typeof value === "string" ? value : null)
const numberOf = (value: unknown): number => (typeof value === "number" ? value : 0)

// A body of the Responses API in its own words, where a client mixed those of a chat into it.

const isThere = (value: Json | undefined): value is Json => value !== undefined && value !== null

/** A body that has this API's own words is the same object. A field of a chat next to this API's own stays, and is named as ignored. */
const ownBody = (given: JsonObject): JsonObject => {
  const body = withToolConfig(given)
  const renamed = [inputOf(body), lengthOf(body), effortOf(body), textOf(body)].filter((one) => one !== undefined)
  if (renamed.length === 0) return body
  const taken = new Set(renamed.flatMap(({ from }) => from))
  const rest = Object.fromEntries(Object.entries(body).filter(([name]) => !taken.has(name)))
  return { ...rest, ...Object.fromEntries(renamed.map(({ name, value }) => [name, value])) }
}

interface Found {
  readonly from: ReadonlyArray<string>
  readonly name: string
  readonly value: Json
}

const inputOf = ({ input, messages }: JsonObject): Found | undefined => {
  const isOwn = isThere(input)
  const given = isOwn ? input : messages
  const list = isJsonObject(given) ? [given] : given
  if (!Array.isArray(list) || (isOwn && list === input && !list.some(isForeign))) return undefined
  return { from: isOwn ? [] : ["messages"], name: "input", value: list.flatMap(ownItems) }
}

const isForeign = (item: Json): boolean =>
  typeof item === "string" || (isJsonObject(item) && (item["role"] === "tool" || Array.isArray(item["tool_calls"])))

/** A message of a chat holds what items hold each by itself. */
const ownItems = (item: Json): ReadonlyArray<Json> => {
  if (typeof item === "string") return [{ role: "user", content: item }]
  if (!isJsonObject(item) || !isForeign(item)) return [item]
  const { content, tool_call_id: id, tool_calls: calls, ...message } = item
  if (message["role"] === "tool") return [{ type: "function_call_output", call_id: id, output: content ?? "" }]
  return [
    ...(isThere(content) && content !== "" ? [{ ...message, content }] : []),
    ...(Array.isArray(calls) ? calls.flatMap(ownCall) : [])
  ]
}

const ownCall = (call: Json): ReadonlyArray<Json> => {
  const called = isJsonObject(call) ? call["function"] : undefined
  if (!isJsonObject(call) || !isJsonObject(called)) return []
  return [{ type: "function_call", call_id: call["id"], name: called["name"], arguments: called["arguments"] ?? "" }]
}

const lengths = ["max_completion_tokens", "max_tokens"] as const

const lengthOf = (body: JsonObject): Found | undefined => {
  const name = lengths.find((one) => isThere(body[one]))
  if (name === undefined || isThere(body["max_output_tokens"])) return undefined
  return { from: [name], name: "max_output_tokens", value: body[name] ?? null }
}

const effortOf = ({ reasoning, reasoning_effort: effort }: JsonObject): Found | undefined => {
  const options = isThere(reasoning) ? reasoning : {}
  if (!isThere(effort) || !isJsonObject(options) || isThere(options["effort"])) return undefined
  return { from: ["reasoning_effort"], name: "reasoning", value: { ...options, effort } }
}

const textOf = ({ response_format: format, text, verbosity }: JsonObject): Found | undefined => {
  const options = isThere(text) ? text : {}
  if (!isJsonObject(options)) return undefined
  const nested = isThere(options["format"]) ? undefined : format
  const asked = isThere(nested) ? nested : options["format"]
  const flat = flatFormat(asked)
  const words = isThere(options["verbosity"]) ? undefined : verbosity
  if (!isThere(nested) && flat === asked && !isThere(words)) return undefined
  return {
    from: [...(isThere(nested) ? ["response_format"] : []), ...(isThere(words) ? ["verbosity"] : [])],
    name: "text",
    value: { ...options, ...(isThere(flat) ? { format: flat } : {}), ...(isThere(words) ? { verbosity: words } : {}) }
  }
}

/** A chat has the schema's fields in an object of their own. */
const flatFormat = (format: Json | undefined): Json | undefined => {
  if (!isJsonObject(format) || !isJsonObject(format["json_schema"])) return format
  const { json_schema: schema, ...rest } = format
  return { ...rest, ...schema }
}
