// The operations of Anthropic's dialect: messages, and the count of their tokens. Bodies and answers pass as their own bytes.
// It must not depend on providers, accounts, or where answers and signatures are kept.
import * as Result from "effect/Result"
import { isJsonObject, type JsonObject } from "../domain/text/json.ts"
import { editTopLevel } from "../domain/text/topMembers.ts"
import { translatedHistory } from "../provider/messagesByChat.ts"
import { type MessagesRequest, readCountRequest, readMessagesRequest } from "../translate/messages-to-claude.ts"
import { parsedBody } from "../translate/native/nativeBody.ts"
import { SignedBytes } from "../translate/shared/chat-request/signatures.ts"
import { checkModel } from "./checks.ts"
import { billedOf, outputOf, readMembers } from "./estimates.ts"
import { eventsVerdict, hasValue, objectsIn, recordedBytes, recordedUnary, replyVerdict } from "./passed.ts"
import type { BodyRules, OperationRules, Verdict } from "./rules.ts"

/** Only edited members are written again; the rest stays as the client wrote it (T1901, T1912). */
const passedBody = (read: typeof readMessagesRequest): BodyRules<MessagesRequest> => ({
  labels: false,
  params: ({ bytes }) => parsedBody(bytes),
  revise: (request, edit) => {
    const before = parsedBody(request.bytes)
    const after = edit({ ...before, model: request.model })
    const changed = Object.keys({ ...before, ...after }).filter((key) => key !== "model" && before[key] !== after[key])
    const edits = changed.map(
      (key) => [key, after[key] === undefined ? undefined : JSON.stringify(after[key])] as const
    )
    return Result.flatMap(
      read(after, edits.length === 0 ? request.bytes : editTopLevel(request.bytes, Object.fromEntries(edits))),
      (revised) => Result.map(checkModel(revised.model), () => revised)
    )
  }
})

/** A message of Anthropic's, whole. */
const messageVerdict = (message: JsonObject): Verdict => {
  if (message["stop_reason"] === "refusal") return "refusal"
  const isText = ({ text, type }: JsonObject) => type === "text" && !hasValue(text)
  return objectsIn(message["content"]).every(isText) ? "empty" : "content"
}

const messageEventVerdict = (event: JsonObject): Verdict => {
  const delta = isJsonObject(event["delta"]) ? event["delta"] : {}
  if (event["type"] === "content_block_delta") return "content"
  if (event["type"] === "content_block_start") {
    const block = isJsonObject(event["content_block"]) ? event["content_block"] : {}
    return block["type"] === "text" || block["type"] === "thinking" ? undefined : "content"
  }
  if (event["type"] !== "message_delta" || typeof delta["stop_reason"] !== "string") return undefined
  return delta["stop_reason"] === "refusal" ? "refusal" : "empty"
}

export const messages: OperationRules<"messages"> = {
  body: passedBody(readMessagesRequest),
  estimate: {
    prompt: readMembers,
    usage: (asked, { read, usualOutput }) => ({
      ...read,
      ...billedOf(asked),
      output: outputOf(asked, usualOutput, false)
    })
  },
  recorded: recordedBytes,
  judges: { whole: replyVerdict(messageVerdict), chunk: eventsVerdict(messageEventVerdict) },
  signatures: {
    history: translatedHistory,
    reply: ({ signed = [] }) => signed,
    chunks: (chunks) => chunks.flatMap((bytes) => (bytes instanceof SignedBytes ? bytes.signed : []))
  },
  healed: "own"
}

export const messagesCountTokens: OperationRules<"messagesCountTokens"> = {
  body: passedBody(readCountRequest),
  estimate: undefined,
  recorded: recordedUnary,
  signatures: { history: translatedHistory },
  healed: "own"
}
