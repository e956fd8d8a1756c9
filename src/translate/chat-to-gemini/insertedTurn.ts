// Reports whether the request of a chat gets an added user turn at its end (M-300).
// Must not depend on answers.
import * as Result from "effect/Result"
import { defaultLimits } from "../../domain/Limits.ts"
import type { ChatRequest } from "../../wire/openai/Chat.ts"
import { readMessages } from "../shared/chat-request/readMessages.ts"
import { repairHistory } from "../shared/chat-request/repairHistory.ts"
import { geminiNames, toolNamesOf } from "../shared/chat-request/toolNames.ts"
import type { TranslateContext } from "../Translator.ts"
import { messagesToGemini } from "./messages.ts"

/** Translates the messages a second time, but only for a request that ends with an assistant message. */
export const insertsTurn = (request: ChatRequest, context: TranslateContext): boolean => {
  if (context.target.facts.allowsPrefill) return false
  const last = request.messages.findLast(({ role }) => role !== "system" && role !== "developer")
  if (last?.role !== "assistant") return false
  const read = Result.flatMap(readMessages(repairHistory(request.messages), defaultLimits), (turns) =>
    messagesToGemini(turns, context, toolNamesOf(request, geminiNames))
  )
  return Result.isSuccess(read) && read.success.insertsTurn === true
}
