// The body of a chat from the fields of a form and the turns so far, and samples that fill the fields.
// It must not know the form or the network.
import type { ChatBody } from "../../../api/bodies.ts"
import { isFields, readJson } from "../../readJson.ts"
import type { Media } from "../../mediaIn.ts"
import type { Answer } from "./chatStream.ts"

/** A turn of a chat. */
export type Entry =
  | { readonly kind: "question"; readonly text: string; readonly media: ReadonlyArray<Media> }
  | {
      readonly kind: "answer"
      readonly answer: Answer
      /** Empty until the answer has ended. */
      readonly requestId: string
      readonly millis: number
      readonly firstMillis: number | undefined
    }
  | { readonly kind: "results"; readonly results: ReadonlyArray<{ readonly id: string; readonly content: string }> }

export interface Chat {
  readonly model: string
  readonly messages: ReadonlyArray<Readonly<Record<string, unknown>>>
  readonly [parameter: string]: unknown
}

/** The parameters that have a place of their own in the form. */
type Placed =
  | "model"
  | "messages"
  | "stream"
  | "stream_options"
  | "tools"
  | "response_format"
  | "temperature"
  | "max_tokens"
  | "reasoning_effort"

/** The names of an open object, without those that it leaves open. */
type NamesOf<A> = keyof { [Name in keyof A as string extends Name ? never : Name]: true }

export type ParameterKind = "number" | "flag" | "text" | "json"

/** Every other parameter; a parameter that the contract gains does not compile without its row. */
export const parameterKinds: Readonly<Record<Exclude<NamesOf<ChatBody>, Placed>, ParameterKind>> = {
  max_completion_tokens: "number",
  top_p: "number",
  top_k: "number",
  n: "number",
  stop: "json",
  seed: "number",
  presence_penalty: "number",
  frequency_penalty: "number",
  logprobs: "flag",
  top_logprobs: "number",
  logit_bias: "json",
  user: "text",
  store: "flag",
  metadata: "json",
  prediction: "json",
  verbosity: "text",
  moderation: "json",
  safety_identifier: "text",
  prompt_cache_key: "text",
  prompt_cache_options: "json",
  prompt_cache_retention: "text",
  service_tier: "text",
  tool_choice: "json",
  parallel_tool_calls: "flag",
  functions: "json",
  function_call: "json",
  web_search_options: "json",
  thinking: "json",
  modalities: "json",
  audio: "json",
  image_config: "json",
  media_resolution: "text",
  safety_settings: "json",
  safetySettings: "json",
  labels: "json",
  cached_content: "text",
  continuation_token: "text",
  model_armor_config: "json",
  anthropic_beta: "json",
  extra_body: "json",
  google: "json"
}

/** Reads a value as JSON; a word that is no JSON is a text, such as `auto`. */
const jsonOf = (name: string, text: string): unknown => {
  const value = readJson(text)
  if (value !== undefined) return value
  if (/^[[{"]/.test(text)) throw new Error(`${name} is not valid JSON.`)
  return text
}

const valueOf = (name: string, kind: ParameterKind, text: string): unknown => {
  if (kind === "number") return Number(text)
  if (kind === "flag") return text === "true"
  return kind === "json" ? jsonOf(name, text) : text
}

type Field = (name: string) => string

const formatOf = (field: Field): unknown => {
  const type = field("format")
  if (type !== "json_schema") return type === "" ? undefined : { type }
  const schema = readJson(field("schema"))
  if (!isFields(schema)) throw new Error("The schema of the answer is not a JSON object.")
  return { type, json_schema: { name: "answer", schema } }
}

const toolsOf = (field: Field): unknown => {
  if (field("tools") === "") return undefined
  const tools = readJson(field("tools"))
  if (!Array.isArray(tools)) throw new Error("Tools are a JSON array of tools.")
  return tools
}

/** The parameters of a form, without those that are empty. Throws with what is wrong. */
export const parametersOf = (field: Field): Readonly<Record<string, unknown>> => {
  const placed: ReadonlyArray<readonly [string, ParameterKind]> = [
    ["temperature", "number"],
    ["max_tokens", "number"],
    ["reasoning_effort", "text"],
    ...Object.entries(parameterKinds)
  ]
  const values = placed.flatMap(([name, kind]) => {
    const text = field(name)
    return text === "" ? [] : [[name, valueOf(name, kind, text)] as const]
  })
  const tools = toolsOf(field)
  const format = formatOf(field)
  return {
    ...Object.fromEntries(values),
    ...(tools === undefined ? {} : { tools }),
    ...(format === undefined ? {} : { response_format: format })
  }
}

const messagesOf = (entry: Entry): Chat["messages"] => {
  if (entry.kind === "results")
    return entry.results.map(({ content, id }) => ({ role: "tool", tool_call_id: id, content }))
  if (entry.kind === "question") {
    const { media, text } = entry
    const parts = media.map(({ data, type }) => ({
      type: "image_url",
      image_url: { url: `data:${type};base64,${data}` }
    }))
    return [{ role: "user", content: media.length === 0 ? text : [{ type: "text", text }, ...parts] }]
  }
  const { calls, pictures, text } = entry.answer
  return [
    {
      role: "assistant",
      content: text === "" && calls.length > 0 ? null : text,
      ...(calls.length === 0 ? {} : { tool_calls: calls.map(callOf) }),
      // The parts take precedence over the content, so they have its text too.
      ...(pictures.length === 0
        ? {}
        : { content_parts: [...(text === "" ? [] : [{ type: "text", text }]), ...pictures.map(partOf)] })
    }
  ]
}

const partOf = ({ data, type }: Media) => ({ type: "image", image: { b64_json: data, mime_type: type } })

const callOf = ({ arguments: text, id, name, signature }: Answer["calls"][number]) => ({
  id,
  type: "function",
  function: { name, arguments: text, ...(signature === undefined ? {} : { thought_signature: signature }) }
})

export const chatOf = (
  model: string,
  system: string,
  entries: ReadonlyArray<Entry>,
  parameters: Readonly<Record<string, unknown>>
): Chat => ({
  model,
  messages: [...(system === "" ? [] : [{ role: "system", content: system }]), ...entries.flatMap(messagesOf)],
  ...parameters
})

// Samples that fill the fields of the playground.

export const sampleTools = JSON.stringify(
  [
    {
      type: "function",
      function: {
        name: "get_weather",
        description: "The weather of a city now.",
        parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] }
      }
    }
  ],
  null,
  2
)

export const sampleSchema = JSON.stringify(
  {
    type: "object",
    properties: { answer: { type: "string" }, confidence: { type: "number" } },
    required: ["answer", "confidence"]
  },
  null,
  2
)

/** What a tool may return: its name and arguments, so that the model has something to read. */
export const sampleResult = (name: string, given: string): string =>
  JSON.stringify({ tool: name, arguments: given, result: "18 °C and sunny" })
