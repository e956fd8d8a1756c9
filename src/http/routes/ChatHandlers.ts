// POST /v1/chat/completions: body in, completion, stream or dry run out.
// It must not know providers or how bodies are read.
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { checkChat } from "../../router/bodyChecks.ts"
import { ChatRequest } from "../../wire/openai/Chat.ts"
import { chatAnswer } from "./ChatAnswer.ts"
import { keyedRoute } from "../edge/GatewayAuth.ts"
import { bodyReader } from "../request/ReadBody.ts"
import { requestContext } from "../request/RequestContexts.ts"

export const ChatHandlers = keyedRoute(
  "POST",
  "/v1/chat/completions",
  Effect.gen(function* () {
    const answer = yield* chatAnswer
    const readChat = yield* bodyReader(ChatRequest, checkChat)
    return (call) => {
      const { arrival, request } = call
      const context = requestContext(call)
      if (Result.isFailure(context)) return Effect.fail(context.failure)
      return Effect.flatMapEager(readChat(request, arrival, context.success.config?.model), (body) =>
        answer(body, context.success, arrival)
      )
    }
  })
)
