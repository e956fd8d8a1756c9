// Takes the extension fields away: what is left is OpenAI's published schema and nothing else.
// It must not know where a reply came from; passed-through replies go the same way.
import { hasKeys, isJsonObject } from "../../domain/json.ts"
import type { ChatChunk, ChatCompletion } from "../../wire/openai/ChatReply.ts"
import type { EmbeddingList } from "../../wire/openai/Embeddings.ts"
import type { ImageList } from "../../wire/openai/Images.ts"
import type { TokenCount } from "../../wire/openai/TokenCount.ts"

/** `true` keeps the value as it is, a set keeps its members only; a record keeps those keys; a list with one shape applies it to each element. */
type Shape = true | ReadonlySet<unknown> | readonly [Shape] | { readonly [field: string]: Shape }

const topLogprob: Shape = { token: true, logprob: true, bytes: true }
const logprobs: Shape = (() => {
  const token: Shape = [{ ...topLogprob, top_logprobs: [topLogprob] }]
  return { content: token, refusal: token }
})()

const usage: Shape = {
  prompt_tokens: true,
  completion_tokens: true,
  total_tokens: true,
  prompt_tokens_details: {
    audio_tokens: true,
    cached_tokens: true,
    text_tokens: true,
    image_tokens: true,
    cache_write_tokens: true
  },
  completion_tokens_details: {
    accepted_prediction_tokens: true,
    audio_tokens: true,
    reasoning_tokens: true,
    text_tokens: true,
    rejected_prediction_tokens: true
  }
}

/** Some upstreams name tiers of their own. */
const tiers: Shape = new Set(["auto", "default", "flex", "scale", "priority", "fast", null])

const functionFields: Shape = { name: true, arguments: true }
const envelope = {
  id: true,
  object: true,
  created: true,
  model: true,
  service_tier: tiers,
  system_fingerprint: true,
  moderation: true,
  usage
} as const

const completion: Shape = {
  ...envelope,
  metadata: true,
  choices: [{
    index: true,
    finish_reason: true,
    logprobs,
    message: {
      role: true,
      content: true,
      refusal: true,
      tool_calls: [{ id: true, type: true, function: functionFields, custom: { name: true, input: true } }],
      function_call: functionFields,
      annotations: [{ type: true, url_citation: { start_index: true, end_index: true, url: true, title: true } }],
      audio: { id: true, data: true, expires_at: true, transcript: true }
    }
  }]
}

const chunk: Shape = {
  ...envelope,
  obfuscation: true,
  choices: [{
    index: true,
    finish_reason: true,
    logprobs,
    delta: {
      role: true,
      content: true,
      refusal: true,
      tool_calls: [{ index: true, id: true, type: true, function: functionFields }],
      function_call: functionFields
    }
  }]
}

const embeddings: Shape = {
  object: true,
  model: true,
  usage: { prompt_tokens: true, total_tokens: true },
  data: [{ object: true, index: true, embedding: true }]
}

const images: Shape = {
  created: true,
  background: true,
  output_format: true,
  quality: true,
  size: true,
  usage: true,
  data: [{ b64_json: true, url: true, revised_prompt: true }]
}

/** Our own answer: no published schema has it, so its standard fields are those of every provider. */
const tokenCount: Shape = { object: true, model: true, input_tokens: true, input_tokens_details: true }

/** A completion without any extension field. */
export const strictlyCompletion = (full: ChatCompletion): ChatCompletion => only(full, completion) as ChatCompletion

/** A chunk without any extension field; undefined when extensions were all it held. */
export const strictlyChunk = (full: ChatChunk): ChatChunk | undefined => {
  const strict = only(full, chunk) as ChatChunk
  if (full.choices.length === 0) return strict
  const choices = strict.choices.filter((choice, position) =>
    choice.finish_reason !== null || hasKeys(choice.delta) || choice.logprobs ||
    !hasKeys(full.choices[position]?.delta ?? {})
  )
  if (choices.length === strict.choices.length) return strict
  return choices.length > 0 || strict.usage ? { ...strict, choices } : undefined
}

export const strictlyEmbeddings = (full: EmbeddingList): EmbeddingList => only(full, embeddings) as EmbeddingList
export const strictlyImages = (full: ImageList): ImageList => only(full, images) as ImageList
export const strictlyTokenCount = (full: TokenCount): TokenCount => only(full, tokenCount) as TokenCount

const only = (value: unknown, shape: Shape): unknown => {
  if (shape === true || typeof value !== "object" || value === null) return value
  if (isList(shape)) return Array.isArray(value) ? value.map((one) => only(one, shape[0])) : value
  if (!isJsonObject(value) || isSet(shape)) return value
  const kept: Record<string, unknown> = {}
  for (const field in shape) {
    const inner = value[field]
    const own = shape[field] ?? true
    if (inner === undefined || (isSet(own) && !own.has(inner))) continue
    kept[field] = only(inner, own)
  }
  return kept
}

const isList = (shape: Shape): shape is readonly [Shape] => Array.isArray(shape)
const isSet = (shape: Shape): shape is ReadonlySet<unknown> => shape instanceof Set
