// Limits cache marks (`cache_control`) of a Claude request to four; later marks are removed.
// Must not depend on the reason for a mark.
import { isJsonObject, type Json, type JsonObject } from "../../domain/text/json.ts"
import type { MessagesBody } from "../../wire/anthropic/Messages.ts"

/** Source: Anthropic, prompt caching, "You can define up to 4 cache breakpoints". */
const most = 4

type Marked = Pick<MessagesBody, "tools" | "tool_choice" | "system" | "messages">

/** Returns the same fields for four marks or fewer. Marks count in prompt order: tools, system, messages. */
export const withFourMarks = (fields: Marked): Marked => {
  let marks = countIn(fields.tools ?? []) + countIn(fields.system ?? [])
  for (const message of fields.messages) marks += countIn(message.content)
  if (marks <= most) return fields
  const left = { marks: most }
  const keep = (blocks: ReadonlyArray<JsonObject>) => blocks.map((block) => withinLimit(block, left))
  return {
    ...fields,
    ...(fields.tools === undefined ? {} : { tools: keep(fields.tools) }),
    ...(fields.system === undefined ? {} : { system: keep(fields.system) }),
    messages: fields.messages.map((message) => ({ ...message, content: keep(message.content) }))
  }
}

/** Tool results contain blocks of their own. */
const inner = (block: JsonObject): ReadonlyArray<JsonObject> =>
  block["type"] === "tool_result" && Array.isArray(block["content"]) ? block["content"].filter(isJsonObject) : []

const countIn = (blocks: ReadonlyArray<JsonObject>): number => {
  let marks = 0
  for (const block of blocks) marks += (block["cache_control"] === undefined ? 0 : 1) + countIn(inner(block))
  return marks
}

const withinLimit = (block: JsonObject, left: { marks: number }): JsonObject => {
  const held = inner(block)
  const content: { content?: Json } = held.length === 0 ? {} : { content: held.map((one) => withinLimit(one, left)) }
  if (block["cache_control"] === undefined) return { ...block, ...content }
  if (left.marks-- > 0) return { ...block, ...content }
  const { cache_control: _mark, ...bare } = block
  return { ...bare, ...content }
}
