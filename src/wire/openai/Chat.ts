// Wire schemas of the chat-completions request as clients send it, extensions included, and of the answer that counts its tokens.
// It must not know any upstream. The schema keeps unknown fields.
import * as Schema from "effect/Schema"
import { maybe } from "../json.ts"

const open = [Schema.Record(Schema.String, Schema.Unknown)] as const
const AnyRecord = Schema.Record(Schema.String, Schema.Unknown)

/** One call of an assistant turn. `readMessages` finds faults inside the call and names their exact path. */
export const ChatMessage = Schema.StructWithRest(
  Schema.Struct({
    role: Schema.Unknown.pipe(Schema.optionalKey),
    content: Schema.Unknown.pipe(Schema.optionalKey),
    name: Schema.Unknown.pipe(Schema.optionalKey),
    tool_calls: Schema.Unknown.pipe(Schema.optionalKey),
    tool_call_id: Schema.Unknown.pipe(Schema.optionalKey),
    function_call: Schema.Unknown.pipe(Schema.optionalKey),
    refusal: Schema.Unknown.pipe(Schema.optionalKey),
    content_blocks: Schema.Unknown.pipe(Schema.optionalKey),
    content_parts: Schema.Unknown.pipe(Schema.optionalKey),
    reasoning_content: Schema.Unknown.pipe(Schema.optionalKey)
  }),
  open
)
export interface ChatMessage extends Schema.Schema.Type<typeof ChatMessage> {}

/** Every parameter the gateway knows. Each translator must decide what happens to each of them. */
export const ChatParameters = Schema.Struct({
  model: Schema.String,
  messages: Schema.Array(ChatMessage),
  stream: maybe(Schema.Boolean),
  stream_options: maybe(AnyRecord),
  max_tokens: maybe(Schema.Finite),
  max_completion_tokens: maybe(Schema.Finite),
  temperature: maybe(Schema.Finite),
  top_p: maybe(Schema.Finite),
  top_k: maybe(Schema.Finite),
  n: maybe(Schema.Finite),
  stop: maybe(Schema.Unknown),
  /**
   * 64 bits: a number, or an integer kept as its digits. The type is checked with the request, because a declared
   * schema type is not compiled.
   */
  seed: maybe(Schema.Unknown),
  presence_penalty: maybe(Schema.Finite),
  frequency_penalty: maybe(Schema.Finite),
  logprobs: maybe(Schema.Boolean),
  top_logprobs: maybe(Schema.Finite),
  logit_bias: maybe(AnyRecord),
  user: maybe(Schema.String),
  store: maybe(Schema.Unknown),
  metadata: maybe(Schema.Unknown),
  prediction: maybe(Schema.Unknown),
  verbosity: maybe(Schema.Unknown),
  moderation: maybe(Schema.Unknown),
  safety_identifier: maybe(Schema.Unknown),
  prompt_cache_key: maybe(Schema.Unknown),
  prompt_cache_options: maybe(Schema.Unknown),
  prompt_cache_retention: maybe(Schema.Unknown),
  service_tier: maybe(Schema.String),
  response_format: maybe(AnyRecord),
  tools: maybe(Schema.Array(Schema.Unknown)),
  tool_choice: maybe(Schema.Unknown),
  parallel_tool_calls: maybe(Schema.Boolean),
  functions: maybe(Schema.Array(Schema.Unknown)),
  function_call: maybe(Schema.Unknown),
  web_search_options: maybe(AnyRecord),
  reasoning_effort: maybe(Schema.Unknown),
  thinking: maybe(AnyRecord),
  modalities: maybe(Schema.Unknown),
  audio: maybe(AnyRecord),
  image_config: maybe(AnyRecord),
  media_resolution: maybe(Schema.String),
  safety_settings: maybe(Schema.Unknown),
  safetySettings: maybe(Schema.Unknown),
  labels: maybe(Schema.Unknown),
  cached_content: maybe(Schema.String),
  continuation_token: maybe(Schema.Unknown),
  model_armor_config: maybe(AnyRecord),
  anthropic_beta: maybe(Schema.Unknown),
  extra_body: maybe(AnyRecord),
  google: maybe(AnyRecord)
})

/** The body of POST /v1/chat/completions. */
export const ChatRequest = Schema.StructWithRest(ChatParameters, open)
export interface ChatRequest extends Schema.Schema.Type<typeof ChatRequest> {}

/** The names of the known parameters. */
export type KnownParam = keyof typeof ChatParameters.fields

// Wire schema of the token counting answer; its request is a chat request.

/** The answer, full form. */
export const TokenCount = Schema.Struct({
  object: Schema.Literal("token_count"),
  model: Schema.String,
  input_tokens: Schema.Number,
  input_tokens_details: Schema.optionalKey(
    Schema.Struct({
      cached_tokens: Schema.optionalKey(Schema.Number),
      text_tokens: Schema.optionalKey(Schema.Number),
      image_tokens: Schema.optionalKey(Schema.Number),
      audio_tokens: Schema.optionalKey(Schema.Number),
      video_tokens: Schema.optionalKey(Schema.Number)
    })
  ),
  /** The billing unit of some models on Vertex AI (extension). */
  total_billable_characters: Schema.optionalKey(Schema.Number),
  provider: Schema.optionalKey(Schema.String)
})
export interface TokenCount extends Schema.Schema.Type<typeof TokenCount> {}
