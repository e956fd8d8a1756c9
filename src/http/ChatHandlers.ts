// POST /v1/chat/completions: body in, completion, stream or dry run out.
// It must not know providers or how bodies are read.
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import { Limits } from "../domain/Limits.ts"
import { ProviderRouter } from "../router/ProviderRouter.ts"
import { CurrentKey } from "./AuthLayers.ts"
import { pulse } from "./Pulse.ts"
import { readChat } from "./ReadBody.ts"
import { completion, events, json } from "./Reply.ts"
import { Arrival, requestContext } from "./RequestContexts.ts"
import { Traffic } from "./Traffic.ts"

const chat = Effect.gen(function*() {
  const router = yield* ProviderRouter
  const limits = yield* Limits
  const traffic = yield* Traffic
  return Effect.gen(function*() {
    const request = yield* HttpServerRequest.HttpServerRequest
    const arrival = yield* Arrival
    const context = yield* Effect.fromResult(requestContext(request.headers, yield* CurrentKey, arrival))
    const body = yield* readChat(request, limits, traffic)
    if (context.dryRun) return json(yield* router.explain("chat", body, context), arrival)
    if (body.stream !== true) {
      const { served, value } = yield* router.run("chat", body, context)
      return completion(value, served, context.strict, arrival)
    }
    const { chunks, served } = yield* router.open("chat", body, context)
    const wish = { strict: context.strict, usage: body.stream_options?.["include_usage"] === true }
    return events(chunks, served, wish, arrival, yield* pulse(request, limits.pingMillis))
  })
})

export const ChatHandlers = HttpRouter.use((router) =>
  Effect.flatMap(chat, (handler) => router.add("POST", "/v1/chat/completions", handler))
)
