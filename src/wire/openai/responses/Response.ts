// The response object of the Responses API as the gateway answers it.
// It must not know how it came about.
import * as Schema from "effect/Schema"
import { OutputItem } from "./Items.ts"

const opt = Schema.optionalKey
const orNull = <S extends Schema.Constraint>(schema: S) => Schema.NullOr(schema)
const AnyRecord = Schema.Record(Schema.String, Schema.Unknown)

export const ResponseUsage = Schema.Struct({
  input_tokens: Schema.Number,
  input_tokens_details: Schema.Struct({ cached_tokens: Schema.Number, cache_write_tokens: Schema.Number }),
  output_tokens: Schema.Number,
  output_tokens_details: Schema.Struct({ reasoning_tokens: Schema.Number }),
  total_tokens: Schema.Number
})
export interface ResponseUsage extends Schema.Schema.Type<typeof ResponseUsage> {}

/** What an answer repeats of its request, defaults filled in. */
const echoed = {
  background: Schema.Literal(false),
  instructions: orNull(Schema.String),
  max_output_tokens: orNull(Schema.Number),
  max_tool_calls: orNull(Schema.Number),
  parallel_tool_calls: Schema.Boolean,
  previous_response_id: orNull(Schema.String),
  prompt_cache_key: orNull(Schema.String),
  prompt_cache_retention: opt(Schema.String),
  prompt_cache_options: opt(AnyRecord),
  reasoning: Schema.Struct({ effort: orNull(Schema.String), summary: orNull(Schema.String) }),
  safety_identifier: orNull(Schema.String),
  service_tier: Schema.String,
  store: Schema.Boolean,
  temperature: Schema.Number,
  text: AnyRecord,
  tool_choice: Schema.Unknown,
  tools: Schema.Array(Schema.Unknown),
  top_logprobs: Schema.Number,
  top_p: Schema.Number,
  truncation: Schema.Literal("disabled"),
  user: orNull(Schema.String),
  metadata: Schema.Record(Schema.String, Schema.String),
  frequency_penalty: Schema.Number,
  presence_penalty: Schema.Number
}
export const ResponseEcho = Schema.Struct(echoed)
export interface ResponseEcho extends Schema.Schema.Type<typeof ResponseEcho> {}

export const ResponseStatus = Schema.Literals(["in_progress", "completed", "incomplete", "failed"])
export type ResponseStatus = typeof ResponseStatus.Type

export const ResponseObject = Schema.Struct({
  id: Schema.String,
  object: Schema.Literal("response"),
  created_at: Schema.Number,
  completed_at: orNull(Schema.Number),
  status: ResponseStatus,
  error: orNull(Schema.Struct({ code: Schema.String, message: Schema.String })),
  incomplete_details: orNull(Schema.Struct({ reason: Schema.Literals(["max_output_tokens", "content_filter"]) })),
  model: Schema.String,
  output: Schema.Array(OutputItem),
  usage: orNull(ResponseUsage),
  ...echoed
})
export interface ResponseObject extends Schema.Schema.Type<typeof ResponseObject> {}

/** The items that led to a response, a page of them. */
export const ResponseItemList = Schema.Struct({
  object: Schema.Literal("list"),
  data: Schema.Array(AnyRecord),
  first_id: Schema.String,
  last_id: Schema.String,
  has_more: Schema.Boolean
})
export interface ResponseItemList extends Schema.Schema.Type<typeof ResponseItemList> {}

export const ResponseDeleted = Schema.Struct({
  id: Schema.String,
  object: Schema.Literal("response"),
  deleted: Schema.Literal(true)
})
export interface ResponseDeleted extends Schema.Schema.Type<typeof ResponseDeleted> {}
