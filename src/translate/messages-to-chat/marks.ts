// Ids and marks that this gateway gives in messages of other models; a message for Claude goes without them.
// It must not change a byte of a body without such marks, or know where numbers come from. Rules: D308, D313, D406.
import * as Result from "effect/Result"
import { decodeUtf8, isJsonObject, type Json, type JsonObject, parseExactJsonText } from "../../domain/text/json.ts"
import { editTopLevel } from "../../domain/text/topMembers.ts"
import { sealedPrefix } from "../shared/carrier.ts"
import type { Adjustment } from "../Translator.ts"

/** `msg_` and the 32 hex digits of a request's own id. */
export const messageIdOf = (seed: string): string => `msg_${seed.replaceAll("-", "").toLowerCase()}`

const fitting = /^[A-Za-z0-9_-]{1,64}$/

/** The id of a call as the client gets it: the upstream's own, unless its form does not fit or the history has it. */
export const callIdOf = (
  callId: string,
  place: string,
  taken: ReadonlySet<string>,
  digest: (text: string) => string
): string => (fitting.test(callId) && !taken.has(callId) ? callId : `toolu_${digest(place)}`)

export const ownSearchPrefix = "srvtoolu_mg"

export const searchIdOf = (messageId: string, position: number): string =>
  `${ownSearchPrefix}${messageId.slice("msg_".length)}${position.toString(16)}`

// Takes what this gateway put into answers of other models out of a message for Claude, which refuses it.

const isOwn = (value: Json | undefined, prefix: string): boolean =>
  typeof value === "string" && value.startsWith(prefix)

const isOwnBlock = (block: Json): boolean => {
  if (!isJsonObject(block)) return false
  const { data, id, signature, tool_use_id: of, type } = block
  switch (type) {
    case "thinking":
      return isOwn(signature, sealedPrefix)
    case "redacted_thinking":
      return isOwn(data, sealedPrefix)
    case "server_tool_use":
      return isOwn(id, ownSearchPrefix)
    case "web_search_tool_result":
      return isOwn(of, ownSearchPrefix)
    default:
      return false
  }
}

/** The message without our blocks; none where nothing else is in it. */
const withoutBlocks = (message: Json): ReadonlyArray<Json> => {
  const content = isJsonObject(message) ? message["content"] : undefined
  if (!isJsonObject(message) || !Array.isArray(content) || !content.some(isOwnBlock)) return [message]
  const otherBlocks = content.filter((block: Json) => !isOwnBlock(block))
  return otherBlocks.length === 0 ? [] : [{ ...message, content: otherBlocks }]
}

const typeOf = (block: Json | undefined): Json | undefined => (isJsonObject(block) ? block["type"] : undefined)

/** A loop of tools that another model began: Claude wants its own thinking at its beginning. */
const isForeignLoop = (messages: ReadonlyArray<Json>): boolean => {
  const last = messages.findLast((message) => isJsonObject(message) && message["role"] === "assistant")
  const content = isJsonObject(last) && Array.isArray(last["content"]) ? last["content"] : []
  const first = typeOf(content[0])
  const calls = content.some((block: Json) => typeOf(block) === "tool_use")
  return calls && first !== "thinking" && first !== "redacted_thinking"
}

/** Edits that need thinking, which is off. */
const withoutThinkingEdits = (management: Json | undefined): Json | undefined => {
  const edits = isJsonObject(management) ? management["edits"] : undefined
  if (!isJsonObject(management) || !Array.isArray(edits)) return management
  const otherEdits = edits.filter((edit: Json) => !String(typeOf(edit)).startsWith("clear_thinking_"))
  return otherEdits.length === 0 ? undefined : { ...management, edits: otherEdits }
}

export interface Unmarked {
  readonly bytes: Uint8Array
  readonly adjusted: ReadonlyArray<Adjustment> | undefined
}

const dropped: Adjustment = {
  param: "thinking",
  asked: "enabled",
  sent: "dropped",
  takes: ["a loop of tools that begins with Claude's own thinking"]
}

const textOf = (value: Json | undefined): string | undefined =>
  value === undefined ? undefined : JSON.stringify(value)

/** The body without our marks, found by a search of bytes: without a hit nothing is parsed. */
export const withoutOwnMarks = (bytes: Uint8Array): Unmarked => {
  const whole = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (!whole.includes(`"${sealedPrefix}`) && !whole.includes(`"${ownSearchPrefix}`))
    return { bytes, adjusted: undefined }
  const read = parseExactJsonText(decodeUtf8(bytes) ?? "")
  const body: JsonObject = Result.isSuccess(read) && isJsonObject(read.success) ? read.success : {}
  const { context_management: management, messages, thinking } = body
  if (!Array.isArray(messages)) return { bytes, adjusted: undefined }
  const unmarked = messages.flatMap(withoutBlocks)
  if (unmarked.length === messages.length && unmarked.every((message, at) => message === messages[at]))
    return { bytes, adjusted: undefined }
  const isOff = isForeignLoop(unmarked) && typeOf(thinking) === "enabled"
  return {
    bytes: editTopLevel(bytes, {
      messages: JSON.stringify(unmarked),
      ...(isOff ? { thinking: undefined } : {}),
      ...(isOff && management !== undefined ? { context_management: textOf(withoutThinkingEdits(management)) } : {})
    }),
    adjusted: isOff ? [dropped] : undefined
  }
}
