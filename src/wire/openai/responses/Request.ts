// The body of POST /v1/responses as clients write it: top-level fields typed, everything inside them read by the pair.
// It must not know chat or any upstream; unknown fields are kept.
import * as Schema from "effect/Schema"

/** An optional field; null means absent. */
const opt = <S extends Schema.Constraint>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))
const open = [Schema.Record(Schema.String, Schema.Unknown)] as const
const AnyRecord = Schema.Record(Schema.String, Schema.Unknown)

/** Every parameter the gateway knows of this route. `input` and the items of lists are read where they can be named exactly. */
export const ResponsesParameters = Schema.Struct({
  model: opt(Schema.String),
  input: Schema.optionalKey(Schema.Unknown),
  instructions: opt(Schema.String),
  stream: opt(Schema.Boolean),
  stream_options: opt(AnyRecord),
  tools: opt(Schema.Array(Schema.Unknown)),
  tool_choice: opt(Schema.Unknown),
  parallel_tool_calls: opt(Schema.Boolean),
  max_tool_calls: opt(Schema.Finite),
  reasoning: opt(AnyRecord),
  text: opt(AnyRecord),
  max_output_tokens: opt(Schema.Finite),
  truncation: opt(Schema.String),
  temperature: opt(Schema.Finite),
  top_p: opt(Schema.Finite),
  top_logprobs: opt(Schema.Finite),
  service_tier: opt(Schema.String),
  user: opt(Schema.String),
  safety_identifier: opt(Schema.String),
  prompt_cache_key: opt(Schema.String),
  prompt_cache_retention: opt(Schema.String),
  prompt_cache_options: opt(AnyRecord),
  previous_response_id: opt(Schema.String),
  conversation: opt(Schema.Unknown),
  store: opt(Schema.Boolean),
  prompt: opt(AnyRecord),
  metadata: opt(AnyRecord),
  include: opt(Schema.Array(Schema.Unknown)),
  background: opt(Schema.Boolean),
  context_management: opt(Schema.Unknown)
})
export const ResponsesRequest = Schema.StructWithRest(ResponsesParameters, open)
export interface ResponsesRequest extends Schema.Schema.Type<typeof ResponsesRequest> {}

/** The fields this route names itself; every other one is a chat field or unknown. */
export type ResponsesParam = keyof typeof ResponsesParameters.fields
