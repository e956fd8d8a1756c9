// Chat with a Gemini model, as both providers prepare it; only the route differs.
// It must not know configs, tokens or HTTP of our own side.
import * as Result from "effect/Result"
import type { LimitValues } from "../domain/Limits.ts"
import { chatToGemini } from "../translate/chat-to-gemini/ChatToGemini.ts"
import { prepare } from "../upstream/Prepared.ts"
import type { PrepareModel } from "./byFamily.ts"
import { callInput } from "./callInput.ts"
import type { RouteOf } from "./Route.ts"

export const geminiChat =
  (routeOf: RouteOf, limits: LimitValues): PrepareModel<"chat"> =>
  (request, context, model) =>
    Result.flatMap(
      routeOf(context.account, model, context.stream ? ":streamGenerateContent?alt=sse" : ":generateContent"),
      (route) => prepare({ translator: chatToGemini, request, ...callInput("chat", context, model, route, limits) })
    )
