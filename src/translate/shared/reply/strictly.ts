// Takes the extension fields away: what is left is OpenAI's published schema and nothing else.
// It must not know where a reply came from; passed-through replies go the same way.
import { hasKeys, isJsonObject } from "../../../domain/text/json.ts"
import type { ChatChunk, ChatCompletion } from "../../../wire/openai/ChatReply.ts"
import type { EmbeddingList } from "../../../wire/openai/Embeddings.ts"
import type { ImageList } from "../../../wire/openai/Images.ts"
import type { TokenCount } from "../../../wire/openai/TokenCount.ts"

/** What a schema keeps of a value; undefined for nothing. */
type Keep = (value: unknown) => unknown

const all: Keep = (value) => value

/** Keeps the members of a set only. */
const oneOf = (...members: ReadonlyArray<unknown>): Keep => {
  const known = new Set(members)
  return (value) => (known.has(value) ? value : undefined)
}

/** Keeps of each element what the schema of elements does. */
const list =
  (keep: Keep): Keep =>
  (value) =>
    Array.isArray(value) ? value.map(keep) : value

/** Keeps these fields of an object. Every answer and chunk passes by here, so names and schemas are laid out beforehand. */
const fields = (shape: Readonly<Record<string, Keep>>): Keep => {
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

const topLogprob = { token: all, logprob: all, bytes: all }
const logprobs: Keep = (() => {
  const tokens = list(fields({ ...topLogprob, top_logprobs: list(fields(topLogprob)) }))
  return fields({ content: tokens, refusal: tokens })
})()

const usage: Keep = fields({
  prompt_tokens: all,
  completion_tokens: all,
  total_tokens: all,
  prompt_tokens_details: fields({
    audio_tokens: all,
    cached_tokens: all,
    text_tokens: all,
    image_tokens: all,
    cache_write_tokens: all
  }),
  completion_tokens_details: fields({
    accepted_prediction_tokens: all,
    audio_tokens: all,
    reasoning_tokens: all,
    text_tokens: all,
    rejected_prediction_tokens: all
  })
})

/** Some upstreams name tiers of their own. */
const tiers = oneOf("auto", "default", "flex", "scale", "priority", "fast", null)

const functionFields: Keep = fields({ name: all, arguments: all })
const envelope = {
  id: all,
  object: all,
  created: all,
  model: all,
  service_tier: tiers,
  system_fingerprint: all,
  moderation: all,
  usage
}

const completion: Keep = fields({
  ...envelope,
  metadata: all,
  choices: list(
    fields({
      index: all,
      finish_reason: all,
      logprobs,
      message: fields({
        role: all,
        content: all,
        refusal: all,
        tool_calls: list(
          fields({ id: all, type: all, function: functionFields, custom: fields({ name: all, input: all }) })
        ),
        function_call: functionFields,
        annotations: list(
          fields({ type: all, url_citation: fields({ start_index: all, end_index: all, url: all, title: all }) })
        ),
        audio: fields({ id: all, data: all, expires_at: all, transcript: all })
      })
    })
  )
})

const chunk: Keep = fields({
  ...envelope,
  obfuscation: all,
  choices: list(
    fields({
      index: all,
      finish_reason: all,
      logprobs,
      delta: fields({
        role: all,
        content: all,
        refusal: all,
        tool_calls: list(fields({ index: all, id: all, type: all, function: functionFields })),
        function_call: functionFields
      })
    })
  )
})

const embeddings: Keep = fields({
  object: all,
  model: all,
  usage: fields({ prompt_tokens: all, total_tokens: all }),
  data: list(fields({ object: all, index: all, embedding: all }))
})

const images: Keep = fields({
  created: all,
  background: all,
  output_format: all,
  quality: all,
  size: all,
  usage: all,
  data: list(fields({ b64_json: all, url: all, revised_prompt: all }))
})

/** Our own answer: no published schema has it, so its standard fields are those of every provider. */
const tokenCount: Keep = fields({ object: all, model: all, input_tokens: all, input_tokens_details: all })

/** A completion without any extension field. */
export const strictlyCompletion = (full: ChatCompletion): ChatCompletion => completion(full) as ChatCompletion

/** A chunk without any extension field; undefined when extensions were all it held. */
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

export const strictlyEmbeddings = (full: EmbeddingList): EmbeddingList => embeddings(full) as EmbeddingList
export const strictlyImages = (full: ImageList): ImageList => images(full) as ImageList
export const strictlyTokenCount = (full: TokenCount): TokenCount => tokenCount(full) as TokenCount
