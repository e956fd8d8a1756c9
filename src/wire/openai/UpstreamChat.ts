// Wire schema of chat replies and streamed events from OpenAI-compatible upstreams.
// It must not know how they are translated. The fields that are read have types; all others pass unchanged.
import * as Schema from "effect/Schema"
import { JsonValue, maybe } from "../json.ts"

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
