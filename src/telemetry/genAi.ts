// Attributes of spans by the GenAI semantic conventions 1.41.1, from requests and responses of OpenAI's, Anthropic's and Google's dialects.
// Must not know series, spans or HTTP. What it makes of a request of Google is not sent anywhere.
import { isJsonObject, type Json, type JsonObject } from "../domain/text/json.ts"
import type { PerKind, ProviderKind } from "../domain/ProviderAccount.ts"
import type { Usage } from "../domain/Usage.ts"
import type { Attributes, AttributeValue } from "./Tracing.ts"

export const schemaUrl = "https://opentelemetry.io/schemas/1.41.1"

const providers: PerKind<string> = { "vertex-ai": "gcp.vertex_ai", google: "gcp.gemini" }

export const providerName = (kind: ProviderKind): string => providers[kind] ?? kind

type Draft = Record<string, AttributeValue>

const set = (draft: Draft, name: string, value: AttributeValue | undefined): void => {
  if (value !== undefined) draft[name] = value
}

const number = (value: Json | undefined): number | undefined => (typeof value === "number" ? value : undefined)
const text = (value: Json | undefined): string | undefined => (typeof value === "string" ? value : undefined)
const texts = (value: Json | undefined): ReadonlyArray<string> | undefined => {
  const list = Array.isArray(value) ? value : [value]
  const strings = list.filter((one): one is string => typeof one === "string")
  return strings.length === 0 ? undefined : strings
}

/** The output type that a request asks for; undefined when it leaves the type open. */
const outputType = (operation: string, { modalities, response_format: format }: JsonObject): string | undefined => {
  const requested = Array.isArray(modalities) ? modalities : []
  if (operation === "images" || requested.includes("image")) return "image"
  if (requested.includes("audio")) return "speech"
  const type = isJsonObject(format) ? format["type"] : undefined
  return type === "json_object" || type === "json_schema" ? "json" : type === "text" ? "text" : undefined
}

/** The fields of a request that have a name in the conventions. OpenAI's and Anthropic's fields are read alike. */
export const requestAttributes = (operation: string, request: JsonObject): Attributes => {
  const draft: Draft = {}
  const count = number(request["n"])
  set(draft, "gen_ai.request.max_tokens", number(request["max_completion_tokens"]) ?? number(request["max_tokens"]))
  set(draft, "gen_ai.request.temperature", number(request["temperature"]))
  set(draft, "gen_ai.request.top_p", number(request["top_p"]))
  set(draft, "gen_ai.request.top_k", number(request["top_k"]))
  set(draft, "gen_ai.request.frequency_penalty", number(request["frequency_penalty"]))
  set(draft, "gen_ai.request.presence_penalty", number(request["presence_penalty"]))
  set(draft, "gen_ai.request.stop_sequences", texts(request["stop"] ?? request["stop_sequences"]))
  set(draft, "gen_ai.request.seed", number(request["seed"]))
  set(draft, "gen_ai.request.choice.count", count === 1 ? undefined : count)
  set(draft, "gen_ai.request.stream", request["stream"] === true ? true : undefined)
  set(draft, "gen_ai.request.encoding_formats", texts(request["encoding_format"]))
  set(draft, "gen_ai.output.type", outputType(operation, request))
  set(draft, "gen_ai.embeddings.dimension.count", number(request["dimensions"]))
  return draft
}

/** Facts from a response body. */
export interface ResponseFacts {
  readonly id: string | undefined
  readonly model: string | undefined
  readonly finishReasons: ReadonlyArray<string>
}

export const responseAttributes = ({ finishReasons, id, model }: ResponseFacts): Attributes => {
  const draft: Draft = {}
  set(draft, "gen_ai.response.id", text(id))
  set(draft, "gen_ai.response.model", text(model))
  set(draft, "gen_ai.response.finish_reasons", finishReasons.length === 0 ? undefined : finishReasons)
  return draft
}

export const usageAttributes = (usage: Usage): Attributes => {
  const draft: Draft = { "gen_ai.usage.input_tokens": usage.input, "gen_ai.usage.output_tokens": usage.output }
  if (usage.cached > 0) draft["gen_ai.usage.cache_read.input_tokens"] = usage.cached
  if (usage.cacheWritten > 0) draft["gen_ai.usage.cache_creation.input_tokens"] = usage.cacheWritten
  if (usage.reasoning > 0) draft["gen_ai.usage.reasoning.output_tokens"] = usage.reasoning
  return draft
}

// A request of Google's own dialect in the words of a chat, as far as spans show it: settings and messages.

const objects = (value: Json | undefined): ReadonlyArray<JsonObject> =>
  Array.isArray(value) ? value.filter(isJsonObject) : isJsonObject(value) ? [value] : []

const either = (holder: JsonObject, camel: string, snake: string): Json | undefined => holder[camel] ?? holder[snake]

const googlePart = (part: JsonObject): ReadonlyArray<JsonObject> => {
  const inline = either(part, "inlineData", "inline_data")
  const file = either(part, "fileData", "file_data")
  if (typeof part["text"] === "string")
    return [
      part["thought"] === true ? { type: "thinking", thinking: part["text"] } : { type: "text", text: part["text"] }
    ]
  if (isJsonObject(inline)) {
    return [{ type: "image", source: { media_type: either(inline, "mimeType", "mime_type"), data: inline["data"] } }]
  }
  return isJsonObject(file) ? [{ type: "image_url", image_url: either(file, "fileUri", "file_uri") }] : []
}

const googleCall = (call: JsonObject): JsonObject => ({
  id: call["id"],
  function: { name: call["name"], arguments: JSON.stringify(call["args"] ?? {}) }
})

/** Calls and their answers are parts; in chats calls belong to a message, and each answer is one. */
const googleMessages = (role: string, content: JsonObject): ReadonlyArray<JsonObject> => {
  const parts = objects(content["parts"])
  const calls = parts.flatMap((part) => objects(either(part, "functionCall", "function_call")))
  const answers = parts.flatMap((part) => objects(either(part, "functionResponse", "function_response")))
  const shown = parts.flatMap(googlePart)
  return [
    ...(shown.length === 0 && calls.length === 0
      ? []
      : [{ role, content: shown, ...(calls.length === 0 ? {} : { tool_calls: calls.map(googleCall) }) }]),
    ...answers.map(({ id, response }) => ({ role: "tool", tool_call_id: id, content: JSON.stringify(response ?? {}) }))
  ]
}

/** The fields that spans read. */
export const googleAsChat = (body: JsonObject): JsonObject => {
  const [config = {}] = objects(either(body, "generationConfig", "generation_config"))
  const system = objects(either(body, "systemInstruction", "system_instruction"))
  return {
    max_tokens: either(config, "maxOutputTokens", "max_output_tokens"),
    temperature: config["temperature"],
    top_p: either(config, "topP", "top_p"),
    top_k: either(config, "topK", "top_k"),
    frequency_penalty: either(config, "frequencyPenalty", "frequency_penalty"),
    presence_penalty: either(config, "presencePenalty", "presence_penalty"),
    stop: either(config, "stopSequences", "stop_sequences"),
    seed: config["seed"],
    n: either(config, "candidateCount", "candidate_count"),
    messages: [
      ...system.flatMap((content) => googleMessages("system", content)),
      ...objects(body["contents"]).flatMap((content) =>
        googleMessages(content["role"] === "model" ? "assistant" : "user", content)
      )
    ]
  }
}
