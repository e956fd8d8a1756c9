// One event of a streamed message: the JSON of its data line, whose `type` repeats the name of the event.
// It must not know what becomes of events.
import * as Schema from "effect/Schema"
import { JsonValue, maybe } from "../json.ts"
import { OpenRecord } from "./Messages.ts"

/** Every event in one shape; which members it has goes by `type`. */
export const MessageEvent = Schema.Struct({
  type: maybe(JsonValue),
  index: maybe(Schema.Number),
  message: maybe(Schema.Struct({ model: maybe(Schema.String), usage: maybe(OpenRecord) })),
  content_block: maybe(OpenRecord),
  delta: maybe(OpenRecord),
  usage: maybe(OpenRecord),
  error: maybe(JsonValue)
})
export type MessageEvent = typeof MessageEvent.Type
