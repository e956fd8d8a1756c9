// POST /v1/chat/completions/count_tokens: the input tokens of a chat before it is sent.
// It must not depend on providers, or on how bodies are read.
import { strictlyTokenCount } from "../../translate/shared/reply/strictly.ts"
import { chatReader } from "../request/ChatReader.ts"
import { answer } from "../response/Reply.ts"
import { fillModel, handleOperation } from "./OperationRoute.ts"

/** Counting is free, so the answer has no usage. */
export const CountTokensHandlers = handleOperation({
  operation: "countTokens",
  read: fillModel(chatReader),
  reply: (full, served, { strict }, incoming) =>
    answer(strict ? strictlyTokenCount(full) : full, served, undefined, incoming)
})
