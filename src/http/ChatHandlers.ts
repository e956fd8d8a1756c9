// POST /v1/chat/completions: body in, completion, stream or dry run out.
// It must not know providers or how bodies are read.
import * as Effect from "effect/Effect"
import { Limits } from "../domain/Limits.ts"
import { ProviderRouter } from "../router/ProviderRouter.ts"
import { ChatRequest } from "../wire/openai/Chat.ts"
import { checkChat } from "./chatChecks.ts"
import { keyedRoute } from "./GatewayAuth.ts"
import { pulse } from "./Pulse.ts"
import { bodyReader } from "./ReadBody.ts"
import { completion, events, json } from "./Reply.ts"
import { requestContext } from "./RequestContexts.ts"

export const ChatHandlers = keyedRoute("POST", "/v1/chat/completions", Effect.gen(function*() {
  const router = yield* ProviderRouter
  const limits = yield* Limits
  const readChat = yield* bodyReader(ChatRequest, checkChat)
  return Effect.fnUntraced(function*({ request, arrival, key }) {
    const context = yield* Effect.fromResult(requestContext(arrival, key))
    const body = yield* readChat(request, arrival.headers)
    if (context.dryRun) return json(yield* router.explain("chat", body, context), arrival)
    if (body.stream !== true) {
      const { served, value } = yield* router.run("chat", body, context)
      return completion(value, served, context.strict, arrival)
    }
    const { chunks, served } = yield* router.open("chat", body, context)
    const wish = { strict: context.strict, usage: body.stream_options?.["include_usage"] === true }
    return yield* events(chunks, served, wish, arrival, yield* pulse(arrival.node, limits.pingMillis))
  })
}))
