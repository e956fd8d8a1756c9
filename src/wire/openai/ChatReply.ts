// Wire schemas of chat completions and chunks: the full form with the gateway's extensions, and what upstreams send.
// It must not know how they are translated. `strictly` removes the extensions.
import * as Schema from "effect/Schema"
import { JsonValue, maybe } from "../json.ts"

const opt = Schema.optionalKey

/**
 * Upstream parts without an OpenAI form: code execution, server-side tools, new kinds. They return to that provider
 * only.
 */
const providerPart = {
  provider: Schema.String,
  part: Schema.Unknown
}

/** One block of the answer in order: thinking, text, or a provider's own part. */
export const ContentBlock = Schema.Union([
  Schema.Struct({ type: Schema.Literal("thinking"), thinking: Schema.String, signature: opt(Schema.String) }),
  Schema.Struct({ type: Schema.Literal("text"), text: Schema.String, signature: opt(Schema.String) }),
  Schema.Struct({ type: Schema.Literal("redacted_thinking"), data: Schema.String }),
  Schema.Struct({ type: Schema.Literal("provider_part"), ...providerPart })
])
export type ContentBlock = typeof ContentBlock.Type

/** A piece of the block with that index. */
export const ContentBlockDelta = Schema.Struct({
  index: Schema.Number,
  delta: Schema.Struct({
    thinking: opt(Schema.String),
    text: opt(Schema.String),
    signature: opt(Schema.String),
    data: opt(Schema.String),
    provider_part: opt(Schema.Struct(providerPart))
  })
})
export interface ContentBlockDelta extends Schema.Schema.Type<typeof ContentBlockDelta> {}

/** Text and images of an answer in order; assistant messages may contain them again. */
export const ContentPart = Schema.Union([
  Schema.Struct({ type: Schema.Literal("text"), text: Schema.String }),
  Schema.Struct({
    type: Schema.Literal("image"),
    image: Schema.Struct({ b64_json: Schema.String, mime_type: Schema.String }),
    thought_signature: opt(Schema.String)
  })
])
export type ContentPart = typeof ContentPart.Type

/** The pictures of an answer once more, where OpenRouter's clients look for them; the address is a data URI. */
export const ImageLink = Schema.Struct({
  type: Schema.Literal("image_url"),
  image_url: Schema.Struct({ url: Schema.String }),
  index: Schema.Number
})
export type ImageLink = typeof ImageLink.Type

/** The field in which other clients read the signature of a call. */
export const ExtraContent = Schema.Struct({
  google: Schema.Struct({ thought_signature: Schema.String })
})

/** The source of a piece of text: offsets in the content, and the provider's own form when it contains more. */
export const Citation = Schema.Struct({
  start_index: opt(Schema.Number),
  end_index: opt(Schema.Number),
  uri: opt(Schema.String),
  title: opt(Schema.String),
  license: opt(Schema.String),
  upstream: opt(Schema.Unknown)
})
export interface Citation extends Schema.Schema.Type<typeof Citation> {}

// Wire schema of chat completions and chunks in full form: OpenAI's published fields and the gateway's extensions.

export const FinishReason = Schema.Literals(["stop", "length", "tool_calls", "content_filter", "function_call"])
export type FinishReason = typeof FinishReason.Type

export const ToolCall = Schema.Struct({
  id: Schema.String,
  type: Schema.Literal("function"),
  function: Schema.Struct({
    name: Schema.String,
    arguments: Schema.String,
    thought_signature: opt(Schema.String)
  }),
  extra_content: opt(ExtraContent)
})
export interface ToolCall extends Schema.Schema.Type<typeof ToolCall> {}

export const Annotation = Schema.Struct({
  type: Schema.Literal("url_citation"),
  url_citation: Schema.Struct({
    start_index: Schema.Number,
    end_index: Schema.Number,
    url: Schema.String,
    title: Schema.String
  })
})
export interface Annotation extends Schema.Schema.Type<typeof Annotation> {}

export const LogprobToken = Schema.Struct({
  token: Schema.String,
  logprob: Schema.Number,
  bytes: Schema.NullOr(Schema.Array(Schema.Number)),
  top_logprobs: Schema.Array(
    Schema.Struct({
      token: Schema.String,
      logprob: Schema.Number,
      bytes: Schema.NullOr(Schema.Array(Schema.Number))
    })
  )
})
export const Logprobs = Schema.Struct({
  content: Schema.NullOr(Schema.Array(LogprobToken)),
  refusal: Schema.NullOr(Schema.Array(LogprobToken))
})
export interface Logprobs extends Schema.Schema.Type<typeof Logprobs> {}

export const Audio = Schema.Struct({
  id: Schema.String,
  data: Schema.String,
  expires_at: Schema.Number,
  transcript: Schema.String
})
export interface Audio extends Schema.Schema.Type<typeof Audio> {}

export const ReplyMessage = Schema.Struct({
  role: Schema.Literal("assistant"),
  content: Schema.NullOr(Schema.String),
  refusal: Schema.NullOr(Schema.String),
  tool_calls: opt(Schema.Array(ToolCall)),
  function_call: opt(Schema.Struct({ name: Schema.String, arguments: Schema.String })),
  annotations: opt(Schema.Array(Annotation)),
  audio: opt(Audio),
  reasoning_content: opt(Schema.String),
  content_blocks: opt(Schema.Array(ContentBlock)),
  content_parts: opt(Schema.Array(ContentPart)),
  images: opt(Schema.Array(ImageLink)),
  /** In which order the upstream gave blocks, calls and pictures; only for translations that ask for it. */
  item_order: opt(Schema.Array(Schema.Tuple([Schema.Literals(["block", "call", "part"]), Schema.Number])))
})
export interface ReplyMessage extends Schema.Schema.Type<typeof ReplyMessage> {}

/** Extensions of a choice and of a chunk's choice. */
const choiceExtensions = {
  native_finish_reason: opt(Schema.String),
  safetyRatings: opt(Schema.Unknown),
  groundingMetadata: opt(Schema.Unknown),
  citations: opt(Schema.Array(Citation)),
  /** Sent back with the same messages, it asks for the rest of an answer that is cut at its length. */
  continuation_token: opt(Schema.String)
}

export const Choice = Schema.Struct({
  index: Schema.Number,
  message: ReplyMessage,
  logprobs: Schema.NullOr(Logprobs),
  finish_reason: FinishReason,
  ...choiceExtensions
})
export interface Choice extends Schema.Schema.Type<typeof Choice> {}

/** What the counts cost in US dollars; partial where the price of something is not known (extensions). */
export const costFields = {
  cost: opt(Schema.Number),
  cost_partial: opt(Schema.Literal(true))
}

/** Counts are inclusive: prompt includes cached tokens, completion includes thoughts; total is their sum. */
export const Usage = Schema.Struct({
  prompt_tokens: Schema.Number,
  completion_tokens: Schema.Number,
  total_tokens: Schema.Number,
  prompt_tokens_details: opt(
    Schema.Struct({
      cached_tokens: opt(Schema.Number),
      cache_write_tokens: opt(Schema.Number),
      /** What of them is kept for an hour, and what of the cached tokens is sound (extensions). */
      cache_write_1h_tokens: opt(Schema.Number),
      cached_audio_tokens: opt(Schema.Number),
      audio_tokens: opt(Schema.Number),
      image_tokens: opt(Schema.Number),
      text_tokens: opt(Schema.Number)
    })
  ),
  completion_tokens_details: opt(
    Schema.Struct({
      reasoning_tokens: opt(Schema.Number),
      audio_tokens: opt(Schema.Number),
      image_tokens: opt(Schema.Number),
      text_tokens: opt(Schema.Number)
    })
  ),
  /** The provider's own usage object, unchanged (extension). */
  upstream: opt(Schema.Unknown),
  /** Searches of the provider's own (extension). */
  searches: opt(Schema.Number),
  /** The tier that served the request (extension). */
  service_tier: opt(Schema.String),
  ...costFields
})
export interface Usage extends Schema.Schema.Type<typeof Usage> {}

/** What the provider reports of its model's life (extension). */
export const ModelStatus = Schema.Struct({
  stage: opt(Schema.String),
  retirement_time: opt(Schema.String),
  message: opt(Schema.String)
})
export interface ModelStatus extends Schema.Schema.Type<typeof ModelStatus> {}

/** The unary answer, full form. */
export const ChatCompletion = Schema.Struct({
  id: Schema.String,
  object: Schema.Literal("chat.completion"),
  created: Schema.Number,
  model: Schema.String,
  choices: Schema.Array(Choice),
  usage: Usage,
  /** The rest of a long answer could not be had; the choice has what there is (extension). */
  continuation: opt(Schema.Literal("interrupted")),
  system_fingerprint: opt(Schema.String),
  provider: opt(Schema.String),
  model_status: opt(ModelStatus)
})
export interface ChatCompletion extends Schema.Schema.Type<typeof ChatCompletion> {}

export const ToolCallDelta = Schema.Struct({
  index: Schema.Number,
  id: opt(Schema.String),
  type: opt(Schema.Literal("function")),
  function: Schema.Struct({
    name: opt(Schema.String),
    arguments: opt(Schema.String),
    thought_signature: opt(Schema.String)
  }),
  extra_content: opt(ExtraContent)
})
export interface ToolCallDelta extends Schema.Schema.Type<typeof ToolCallDelta> {}

/** A piece of a spoken answer; what is not data is in the first one. */
export const AudioDelta = Schema.Struct({
  id: opt(Schema.String),
  data: opt(Schema.String),
  expires_at: opt(Schema.Number),
  transcript: opt(Schema.String)
})
export interface AudioDelta extends Schema.Schema.Type<typeof AudioDelta> {}

export const Delta = Schema.Struct({
  role: opt(Schema.Literal("assistant")),
  content: opt(Schema.NullOr(Schema.String)),
  refusal: opt(Schema.NullOr(Schema.String)),
  tool_calls: opt(Schema.Array(ToolCallDelta)),
  function_call: opt(Schema.Struct({ name: Schema.String, arguments: Schema.String })),
  audio: opt(AudioDelta),
  reasoning_content: opt(Schema.String),
  annotations: opt(Schema.Array(Annotation)),
  content_blocks: opt(Schema.Array(ContentBlockDelta)),
  content_parts: opt(Schema.Array(ContentPart)),
  images: opt(Schema.Array(ImageLink))
})
export interface Delta extends Schema.Schema.Type<typeof Delta> {}

export const ChunkChoice = Schema.Struct({
  index: Schema.Number,
  delta: Delta,
  logprobs: opt(Schema.NullOr(Logprobs)),
  finish_reason: Schema.NullOr(FinishReason),
  ...choiceExtensions
})
export interface ChunkChoice extends Schema.Schema.Type<typeof ChunkChoice> {}

/**
 * One streamed chunk, full form. The translator always ends with one usage chunk (`choices: []`). The route forwards
 * that chunk only to clients that set `stream_options.include_usage`.
 */
export const ChatChunk = Schema.Struct({
  id: Schema.String,
  object: Schema.Literal("chat.completion.chunk"),
  created: Schema.Number,
  model: Schema.String,
  choices: Schema.Array(ChunkChoice),
  usage: opt(Schema.NullOr(Usage)),
  system_fingerprint: opt(Schema.String),
  provider: opt(Schema.String),
  model_status: opt(ModelStatus)
})
export interface ChatChunk extends Schema.Schema.Type<typeof ChatChunk> {}

// Wire schema of chat replies and streamed events from OpenAI-compatible upstreams.

const open = <const Fields extends Schema.Struct.Fields>(fields: Fields) =>
  Schema.StructWithRest(Schema.Struct(fields), [Schema.Record(Schema.String, JsonValue)])

/** A call or a piece of one. Some servers send arguments as an object, or leave the index out. */
export const UpstreamCall = open({
  index: maybe(Schema.Number),
  id: maybe(JsonValue),
  function: maybe(open({ name: maybe(Schema.String), arguments: maybe(JsonValue) }))
})
export interface UpstreamCall extends Schema.Schema.Type<typeof UpstreamCall> {}

/** A message or a delta. Some servers send content as a list of parts. */
export const UpstreamMessage = open({
  content: maybe(Schema.Union([Schema.String, Schema.Array(JsonValue)])),
  tool_calls: maybe(Schema.Array(UpstreamCall))
})
export interface UpstreamMessage extends Schema.Schema.Type<typeof UpstreamMessage> {}

export const UpstreamChoice = open({
  index: maybe(Schema.Number),
  message: maybe(UpstreamMessage),
  delta: maybe(UpstreamMessage),
  finish_reason: maybe(Schema.String)
})
export interface UpstreamChoice extends Schema.Schema.Type<typeof UpstreamChoice> {}

/** The unary reply, and every streamed event. Some servers answer a streaming request with one completion. */
export const UpstreamChat = open({ choices: maybe(Schema.Array(UpstreamChoice)) })
export interface UpstreamChat extends Schema.Schema.Type<typeof UpstreamChat> {}
