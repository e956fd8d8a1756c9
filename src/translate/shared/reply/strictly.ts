// Removes extension fields in strict mode: completions, chunks, embeddings, images keep OpenAI's published fields only.
// Must not depend on the reply's origin; passed-through replies use the same schemas.
import { hasKeys, isJsonObject } from "../../../domain/text/json.ts"
import type { ChatChunk, ChatCompletion } from "../../../wire/openai/ChatReply.ts"
import type { EmbeddingList } from "../../../wire/openai/Embeddings.ts"
import type { ImageList } from "../../../wire/openai/Images.ts"
import type { TokenCount } from "../../../wire/openai/TokenCount.ts"

/** The part of a value that a schema keeps; undefined removes the value. */
type Keep = (value: unknown) => unknown

const keepAny: Keep = (value) => value

/** Keeps only the members of a set. */
const keepMembers = (...members: ReadonlyArray<unknown>): Keep => {
  const known = new Set(members)
  return (value) => (known.has(value) ? value : undefined)
}

/** Applies a schema to each element of a list. */
const keepEach =
  (keep: Keep): Keep =>
  (value) =>
    Array.isArray(value) ? value.map(keep) : value

/**
 * Keeps only these fields of an object. Runs on every answer and chunk, so names and schemas are prepared in advance.
 */
const keepFields = (shape: Readonly<Record<string, Keep>>): Keep => {
  const names = Object.keys(shape)
  const keeps = Object.values(shape)
  return (value) => {
    if (!isJsonObject(value)) return value
    const kept: Record<string, unknown> = {}
    for (let at = 0; at < names.length; at++) {
      const name = names[at] ?? ""
      const inner = value[name]
      if (inner === undefined) continue
      const own = keeps[at]?.(inner)
      if (own !== undefined) kept[name] = own
    }
    return kept
  }
}

const topLogprob = { token: keepAny, logprob: keepAny, bytes: keepAny }
const logprobs: Keep = (() => {
  const tokens = keepEach(keepFields({ ...topLogprob, top_logprobs: keepEach(keepFields(topLogprob)) }))
  return keepFields({ content: tokens, refusal: tokens })
})()

const usage: Keep = keepFields({
  prompt_tokens: keepAny,
  completion_tokens: keepAny,
  total_tokens: keepAny,
  prompt_tokens_details: keepFields({
    audio_tokens: keepAny,
    cached_tokens: keepAny,
    text_tokens: keepAny,
    image_tokens: keepAny,
    cache_write_tokens: keepAny
  }),
  completion_tokens_details: keepFields({
    accepted_prediction_tokens: keepAny,
    audio_tokens: keepAny,
    reasoning_tokens: keepAny,
    text_tokens: keepAny,
    rejected_prediction_tokens: keepAny
  })
})

/** Some upstreams use tiers of their own. */
const tiers = keepMembers("auto", "default", "flex", "scale", "priority", "fast", null)

const audio: Keep = keepFields({ id: keepAny, data: keepAny, expires_at: keepAny, transcript: keepAny })
const functionFields: Keep = keepFields({ name: keepAny, arguments: keepAny })
const envelope = {
  id: keepAny,
  object: keepAny,
  created: keepAny,
  model: keepAny,
  service_tier: tiers,
  system_fingerprint: keepAny,
  moderation: keepAny,
  usage
}

const completion: Keep = keepFields({
  ...envelope,
  metadata: keepAny,
  choices: keepEach(
    keepFields({
      index: keepAny,
      finish_reason: keepAny,
      logprobs,
      message: keepFields({
        role: keepAny,
        content: keepAny,
        refusal: keepAny,
        tool_calls: keepEach(
          keepFields({
            id: keepAny,
            type: keepAny,
            function: functionFields,
            custom: keepFields({ name: keepAny, input: keepAny })
          })
        ),
        function_call: functionFields,
        annotations: keepEach(
          keepFields({
            type: keepAny,
            url_citation: keepFields({ start_index: keepAny, end_index: keepAny, url: keepAny, title: keepAny })
          })
        ),
        audio
      })
    })
  )
})

const chunk: Keep = keepFields({
  ...envelope,
  obfuscation: keepAny,
  choices: keepEach(
    keepFields({
      index: keepAny,
      finish_reason: keepAny,
      logprobs,
      delta: keepFields({
        role: keepAny,
        content: keepAny,
        refusal: keepAny,
        tool_calls: keepEach(keepFields({ index: keepAny, id: keepAny, type: keepAny, function: functionFields })),
        function_call: functionFields,
        // Not in the published schema, but in OpenAI's own streams and in its clients.
        audio
      })
    })
  )
})

const embeddings: Keep = keepFields({
  object: keepAny,
  model: keepAny,
  usage: keepFields({ prompt_tokens: keepAny, total_tokens: keepAny }),
  data: keepEach(keepFields({ object: keepAny, index: keepAny, embedding: keepAny }))
})

const images: Keep = keepFields({
  created: keepAny,
  background: keepAny,
  output_format: keepAny,
  quality: keepAny,
  size: keepAny,
  usage: keepAny,
  data: keepEach(keepFields({ b64_json: keepAny, url: keepAny, revised_prompt: keepAny }))
})

/** The gateway's own answer has no published schema; the standard fields are those all providers share. */
const tokenCount: Keep = keepFields({
  object: keepAny,
  model: keepAny,
  input_tokens: keepAny,
  input_tokens_details: keepAny
})

// Casts of all functions below: a schema keeps every field of the published type, so the result has that type.

/** A completion without extension fields. */
export const strictlyCompletion = (full: ChatCompletion): ChatCompletion => completion(full) as ChatCompletion

/** A chunk without extension fields; undefined when it held only extensions. */
export const strictlyChunk = (full: ChatChunk): ChatChunk | undefined => {
  const strict = chunk(full) as ChatChunk
  if (full.choices.length === 0) return strict
  const choices = strict.choices.filter(
    (choice, position) =>
      choice.finish_reason !== null ||
      hasKeys(choice.delta) ||
      choice.logprobs ||
      !hasKeys(full.choices[position]?.delta ?? {})
  )
  if (choices.length === strict.choices.length) return strict
  return choices.length > 0 || strict.usage ? { ...strict, choices } : undefined
}

// A strict form has the type of the full one, whose other fields are optional.
export const strictlyEmbeddings = (full: EmbeddingList): EmbeddingList => embeddings(full) as EmbeddingList
export const strictlyImages = (full: ImageList): ImageList => images(full) as ImageList
export const strictlyTokenCount = (full: TokenCount): TokenCount => tokenCount(full) as TokenCount
