// POST /v1/chat/completions/count_tokens: the input tokens of a chat before it is sent.
// It must not depend on providers, or on how bodies are read.
import { checkChat } from "../../router/bodies/bodyChecks.ts"
import { innerValues } from "../../router/bodies/innerValues.ts"
import { strictlyTokenCount } from "../../translate/shared/reply/strictly.ts"
import { ChatRequest } from "../../wire/openai/Chat.ts"
import { bodyReader } from "../request/ReadBody.ts"
import { answer } from "../response/Reply.ts"
import { fillModel, handleOperation } from "./OperationRoute.ts"

/** Counting is free, so the answer has no usage. */
export const CountTokensHandlers = handleOperation({
  operation: "countTokens",
  read: fillModel(bodyReader(ChatRequest, checkChat, "bodyBytes", innerValues)),
  reply: (full, served, { strict }, incoming) =>
    answer(strict ? strictlyTokenCount(full) : full, served, undefined, incoming)
})
