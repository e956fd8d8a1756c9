// Wire schemas of the Responses API: the request as clients write it, the response and its items, and every event of its stream.
// It must not know chat or any upstream, or how a response comes about; unknown fields are kept.
import * as Schema from "effect/Schema"
import { maybe } from "../json.ts"

const opt = Schema.optionalKey
const open = [Schema.Record(Schema.String, Schema.Unknown)] as const
const AnyRecord = Schema.Record(Schema.String, Schema.Unknown)

/** Every parameter the gateway knows of this route. `input` and the items of lists are read where they can be named exactly. */
export const ResponsesParameters = Schema.Struct({
  model: maybe(Schema.String),
  input: Schema.optionalKey(Schema.Unknown),
  instructions: maybe(Schema.String),
  stream: maybe(Schema.Boolean),
  stream_options: maybe(AnyRecord),
  tools: maybe(Schema.Array(Schema.Unknown)),
  tool_choice: maybe(Schema.Unknown),
  parallel_tool_calls: maybe(Schema.Boolean),
  max_tool_calls: maybe(Schema.Finite),
  reasoning: maybe(AnyRecord),
  text: maybe(AnyRecord),
  max_output_tokens: maybe(Schema.Finite),
  truncation: maybe(Schema.String),
  temperature: maybe(Schema.Finite),
  top_p: maybe(Schema.Finite),
  top_logprobs: maybe(Schema.Finite),
  service_tier: maybe(Schema.String),
  user: maybe(Schema.String),
  safety_identifier: maybe(Schema.String),
  prompt_cache_key: maybe(Schema.String),
  prompt_cache_retention: maybe(Schema.String),
  prompt_cache_options: maybe(AnyRecord),
  previous_response_id: maybe(Schema.String),
  conversation: maybe(Schema.Unknown),
  store: maybe(Schema.Boolean),
  prompt: maybe(AnyRecord),
  metadata: maybe(AnyRecord),
  include: maybe(Schema.Array(Schema.Unknown)),
  background: maybe(Schema.Boolean),
  context_management: maybe(Schema.Unknown)
})
export const ResponsesRequest = Schema.StructWithRest(ResponsesParameters, open)
export interface ResponsesRequest extends Schema.Schema.Type<typeof ResponsesRequest> {}

/** The fields this route names itself; every other one is a chat field or unknown. */
export type ResponsesParam = keyof typeof ResponsesParameters.fields

// What an answer of the Responses API is made of: its items and their parts.

export const UrlCitation = Schema.Struct({
  type: Schema.Literal("url_citation"),
  url: Schema.String,
  title: Schema.String,
  start_index: Schema.Int,
  end_index: Schema.Int
})
export interface UrlCitation extends Schema.Schema.Type<typeof UrlCitation> {}

/** A token of a text part. */
export const TextLogprob = Schema.Struct({
  token: Schema.String,
  logprob: Schema.Number,
  bytes: Schema.Array(Schema.Int),
  top_logprobs: Schema.Array(
    Schema.Struct({ token: Schema.String, logprob: Schema.Number, bytes: Schema.Array(Schema.Int) })
  )
})
export interface TextLogprob extends Schema.Schema.Type<typeof TextLogprob> {}

/** The same in events, which have no bytes. */
export const DeltaLogprob = Schema.Struct({
  token: Schema.String,
  logprob: Schema.Number,
  top_logprobs: Schema.Array(Schema.Struct({ token: Schema.String, logprob: Schema.Number }))
})
export interface DeltaLogprob extends Schema.Schema.Type<typeof DeltaLogprob> {}

export const OutputText = Schema.Struct({
  type: Schema.Literal("output_text"),
  text: Schema.String,
  annotations: Schema.Array(UrlCitation),
  logprobs: Schema.Array(TextLogprob)
})
export const RefusalPart = Schema.Struct({ type: Schema.Literal("refusal"), refusal: Schema.String })
export const OutputPart = Schema.Union([OutputText, RefusalPart])
export type OutputPart = typeof OutputPart.Type

export const SummaryPart = Schema.Struct({ type: Schema.Literal("summary_text"), text: Schema.String })
export interface SummaryPart extends Schema.Schema.Type<typeof SummaryPart> {}

const callStatus = Schema.Literals(["in_progress", "completed", "incomplete"])

export const MessageItem = Schema.Struct({
  id: Schema.String,
  type: Schema.Literal("message"),
  status: callStatus,
  role: Schema.Literal("assistant"),
  content: Schema.Array(OutputPart)
})
export interface MessageItem extends Schema.Schema.Type<typeof MessageItem> {}

export const ReasoningItem = Schema.Struct({
  id: Schema.String,
  type: Schema.Literal("reasoning"),
  summary: Schema.Array(SummaryPart),
  encrypted_content: opt(Schema.String)
})
export interface ReasoningItem extends Schema.Schema.Type<typeof ReasoningItem> {}

export const FunctionCallItem = Schema.Struct({
  id: Schema.String,
  type: Schema.Literal("function_call"),
  status: callStatus,
  call_id: Schema.String,
  namespace: opt(Schema.String),
  name: Schema.String,
  arguments: Schema.String
})
export interface FunctionCallItem extends Schema.Schema.Type<typeof FunctionCallItem> {}

export const CustomToolCallItem = Schema.Struct({
  id: Schema.String,
  type: Schema.Literal("custom_tool_call"),
  call_id: Schema.String,
  namespace: opt(Schema.String),
  name: Schema.String,
  input: Schema.String
})
export interface CustomToolCallItem extends Schema.Schema.Type<typeof CustomToolCallItem> {}

export const WebSearchItem = Schema.Struct({
  id: Schema.String,
  type: Schema.Literal("web_search_call"),
  status: Schema.Literals(["in_progress", "completed"]),
  action: Schema.Struct({
    type: Schema.Literal("search"),
    query: Schema.String,
    queries: Schema.Array(Schema.String),
    sources: opt(Schema.Array(Schema.Struct({ type: Schema.Literal("url"), url: Schema.String })))
  })
})
export interface WebSearchItem extends Schema.Schema.Type<typeof WebSearchItem> {}

export const CodeOutput = Schema.Union([
  Schema.Struct({ type: Schema.Literal("logs"), logs: Schema.String }),
  Schema.Struct({ type: Schema.Literal("image"), url: Schema.String })
])
export type CodeOutput = typeof CodeOutput.Type

export const CodeInterpreterItem = Schema.Struct({
  id: Schema.String,
  type: Schema.Literal("code_interpreter_call"),
  status: Schema.Literals(["in_progress", "completed", "failed"]),
  container_id: Schema.String,
  code: Schema.String,
  outputs: Schema.NullOr(Schema.Array(CodeOutput))
})
export interface CodeInterpreterItem extends Schema.Schema.Type<typeof CodeInterpreterItem> {}

export const ImageGenerationItem = Schema.Struct({
  id: Schema.String,
  type: Schema.Literal("image_generation_call"),
  status: Schema.Literals(["in_progress", "completed"]),
  result: Schema.NullOr(Schema.String)
})
export interface ImageGenerationItem extends Schema.Schema.Type<typeof ImageGenerationItem> {}

export const OutputItem = Schema.Union([
  MessageItem,
  ReasoningItem,
  FunctionCallItem,
  CustomToolCallItem,
  WebSearchItem,
  CodeInterpreterItem,
  ImageGenerationItem
])
export type OutputItem = typeof OutputItem.Type

// The response object of the Responses API as the gateway answers it.

const orNull = <S extends Schema.Constraint>(schema: S) => Schema.NullOr(schema)

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

// Every event of a streamed response that the gateway sends.

const event = <const Type extends string, const Fields extends Schema.Struct.Fields>(type: Type, fields: Fields) =>
  Schema.Struct({ type: Schema.Literal(type), sequence_number: Schema.Int, ...fields })

const whole = { response: ResponseObject }
const place = { output_index: Schema.Int, item_id: Schema.String }
const inContent = { ...place, content_index: Schema.Int }
const inSummary = { ...place, summary_index: Schema.Int }
const added = { output_index: Schema.Int, item: OutputItem }

/** In both known forms: clients look for `error`, the published schema has the fields at the top. */
export const ErrorEvent = event("error", {
  code: Schema.NullOr(Schema.String),
  message: Schema.String,
  param: Schema.NullOr(Schema.String),
  error: Schema.Struct({
    type: Schema.String,
    code: Schema.NullOr(Schema.String),
    message: Schema.String,
    param: Schema.NullOr(Schema.String)
  })
})

export const ResponsesEvent = Schema.Union([
  event("response.created", whole),
  event("response.in_progress", whole),
  event("response.completed", whole),
  event("response.incomplete", whole),
  event("response.failed", whole),
  event("response.output_item.added", added),
  event("response.output_item.done", added),
  event("response.content_part.added", { ...inContent, part: OutputPart }),
  event("response.content_part.done", { ...inContent, part: OutputPart }),
  event("response.output_text.delta", {
    ...inContent,
    delta: Schema.String,
    logprobs: Schema.Array(DeltaLogprob)
  }),
  event("response.output_text.done", { ...inContent, text: Schema.String, logprobs: Schema.Array(DeltaLogprob) }),
  event("response.output_text.annotation.added", {
    ...inContent,
    annotation_index: Schema.Int,
    annotation: UrlCitation
  }),
  event("response.refusal.delta", { ...inContent, delta: Schema.String }),
  event("response.refusal.done", { ...inContent, refusal: Schema.String }),
  event("response.reasoning_summary_part.added", { ...inSummary, part: SummaryPart }),
  event("response.reasoning_summary_part.done", { ...inSummary, part: SummaryPart }),
  event("response.reasoning_summary_text.delta", { ...inSummary, delta: Schema.String }),
  event("response.reasoning_summary_text.done", { ...inSummary, text: Schema.String }),
  event("response.function_call_arguments.delta", { ...place, delta: Schema.String }),
  event("response.function_call_arguments.done", { ...place, name: Schema.String, arguments: Schema.String }),
  event("response.custom_tool_call_input.delta", { ...place, delta: Schema.String }),
  event("response.custom_tool_call_input.done", { ...place, input: Schema.String }),
  event("response.web_search_call.in_progress", place),
  event("response.web_search_call.searching", place),
  event("response.web_search_call.completed", place),
  event("response.code_interpreter_call.in_progress", place),
  event("response.code_interpreter_call.interpreting", place),
  event("response.code_interpreter_call.completed", place),
  event("response.code_interpreter_call_code.delta", { ...place, delta: Schema.String }),
  event("response.code_interpreter_call_code.done", { ...place, code: Schema.String }),
  event("response.image_generation_call.in_progress", place),
  event("response.image_generation_call.generating", place),
  event("response.image_generation_call.completed", place),
  ErrorEvent
])
export type ResponsesEvent = typeof ResponsesEvent.Type
