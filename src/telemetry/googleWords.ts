// A request of Google's own dialect in the words of a chat, as far as spans show it: settings and messages.
// It must not be sent anywhere; parts without a name in the conventions are left out.
import { isJsonObject, type Json, type JsonObject } from "../domain/text/json.ts"

const objects = (value: Json | undefined): ReadonlyArray<JsonObject> =>
  Array.isArray(value) ? value.filter(isJsonObject) : isJsonObject(value) ? [value] : []

const either = (holder: JsonObject, camel: string, snake: string): Json | undefined => holder[camel] ?? holder[snake]

const partOf = (part: JsonObject): ReadonlyArray<JsonObject> => {
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

const callOf = (call: JsonObject): JsonObject => ({
  id: call["id"],
  function: { name: call["name"], arguments: JSON.stringify(call["args"] ?? {}) }
})

/** Calls and their answers are parts; in chats calls belong to a message, and each answer is one. */
export const googleMessages = (role: string, content: JsonObject): ReadonlyArray<JsonObject> => {
  const parts = objects(content["parts"])
  const calls = parts.flatMap((part) => objects(either(part, "functionCall", "function_call")))
  const answers = parts.flatMap((part) => objects(either(part, "functionResponse", "function_response")))
  const shown = parts.flatMap(partOf)
  return [
    ...(shown.length === 0 && calls.length === 0
      ? []
      : [{ role, content: shown, ...(calls.length === 0 ? {} : { tool_calls: calls.map(callOf) }) }]),
    ...answers.map(({ id, response }) => ({ role: "tool", tool_call_id: id, content: JSON.stringify(response ?? {}) }))
  ]
}

/** The fields that spans read. */
export const inChatWords = (body: JsonObject): JsonObject => {
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
