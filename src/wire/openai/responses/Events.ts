// Every event of a streamed response that the gateway sends.
// It must not know their order.
import * as Schema from "effect/Schema"
import { DeltaLogprob, OutputItem, OutputPart, SummaryPart, UrlCitation } from "./Items.ts"
import { ResponseObject } from "./Response.ts"

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
