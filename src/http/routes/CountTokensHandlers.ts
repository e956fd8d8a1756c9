// POST /v1/chat/completions/count_tokens: what a chat request would cost before it is sent.
// It must not know providers or how bodies are read.
import { strictlyTokenCount } from "../../translate/shared/reply/strictly.ts"
import { ChatRequest } from "../../wire/openai/Chat.ts"
import { checkChat } from "../../router/bodyChecks.ts"
import { unaryRoute } from "./UnaryRoute.ts"

export const CountTokensHandlers = unaryRoute({
  path: "/v1/chat/completions/count_tokens",
  operation: "countTokens",
  body: ChatRequest,
  check: checkChat,
  strictly: strictlyTokenCount,
  // Counting is free.
  usage: () => undefined
})
