// Wire schema of one event of a streamed Claude message: the JSON of its data line.
// It must not know how events are translated.
import * as Schema from "effect/Schema"
import { JsonValue, maybe } from "../json.ts"
import { OpenRecord } from "./Messages.ts"

/** Every event in one schema; `type`, which repeats the name of the event, decides which members are present. */
export const ClaudeMessageEvent = Schema.Struct({
  type: maybe(JsonValue),
  index: maybe(Schema.Number),
  message: maybe(Schema.Struct({ model: maybe(Schema.String), usage: maybe(OpenRecord) })),
  content_block: maybe(OpenRecord),
  delta: maybe(OpenRecord),
  usage: maybe(OpenRecord),
  error: maybe(JsonValue)
})
export type ClaudeMessageEvent = typeof ClaudeMessageEvent.Type
