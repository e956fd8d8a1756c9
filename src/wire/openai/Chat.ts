// Wire schema of the chat-completions request as clients send it, extensions included.
// It must not know any upstream. The schema keeps unknown fields.
import * as Schema from "effect/Schema"

/** An optional field; null means absent in every dialect. */
const opt = <S extends Schema.Constraint>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))
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
  stream: opt(Schema.Boolean),
  stream_options: opt(AnyRecord),
  max_tokens: opt(Schema.Finite),
  max_completion_tokens: opt(Schema.Finite),
  temperature: opt(Schema.Finite),
  top_p: opt(Schema.Finite),
  top_k: opt(Schema.Finite),
  n: opt(Schema.Finite),
  stop: opt(Schema.Unknown),
  /**
   * 64 bits: a number, or an integer kept as its digits. The type is checked with the request, because a declared
   * schema type is not compiled.
   */
  seed: opt(Schema.Unknown),
  presence_penalty: opt(Schema.Finite),
  frequency_penalty: opt(Schema.Finite),
  logprobs: opt(Schema.Boolean),
  top_logprobs: opt(Schema.Finite),
  logit_bias: opt(AnyRecord),
  user: opt(Schema.String),
  store: opt(Schema.Unknown),
  metadata: opt(Schema.Unknown),
  prediction: opt(Schema.Unknown),
  verbosity: opt(Schema.Unknown),
  moderation: opt(Schema.Unknown),
  safety_identifier: opt(Schema.Unknown),
  prompt_cache_key: opt(Schema.Unknown),
  prompt_cache_options: opt(Schema.Unknown),
  prompt_cache_retention: opt(Schema.Unknown),
  service_tier: opt(Schema.String),
  response_format: opt(AnyRecord),
  tools: opt(Schema.Array(Schema.Unknown)),
  tool_choice: opt(Schema.Unknown),
  parallel_tool_calls: opt(Schema.Boolean),
  functions: opt(Schema.Array(Schema.Unknown)),
  function_call: opt(Schema.Unknown),
  web_search_options: opt(AnyRecord),
  reasoning_effort: opt(Schema.Unknown),
  thinking: opt(AnyRecord),
  modalities: opt(Schema.Unknown),
  audio: opt(AnyRecord),
  image_config: opt(AnyRecord),
  media_resolution: opt(Schema.String),
  safety_settings: opt(Schema.Unknown),
  safetySettings: opt(Schema.Unknown),
  labels: opt(Schema.Unknown),
  cached_content: opt(Schema.String),
  continuation_token: opt(Schema.Unknown),
  model_armor_config: opt(AnyRecord),
  anthropic_beta: opt(Schema.Unknown),
  extra_body: opt(AnyRecord),
  google: opt(AnyRecord)
})

/** The body of POST /v1/chat/completions. */
export const ChatRequest = Schema.StructWithRest(ChatParameters, open)
export interface ChatRequest extends Schema.Schema.Type<typeof ChatRequest> {}

/** The names of the known parameters. */
export type KnownParam = keyof typeof ChatParameters.fields
