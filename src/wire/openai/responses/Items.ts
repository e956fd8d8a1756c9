// What an answer of the Responses API is made of: its items and their parts.
// It must not know events or the response around them.
import * as Schema from "effect/Schema"

const opt = Schema.optionalKey

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
