// Chat with a model on an OpenAI-compatible endpoint: other publishers' models, and self-deployed ones.
// It must not depend on configs, tokens or HTTP of our own side.
import * as Result from "effect/Result"
import type { LimitValues } from "../domain/Limits.ts"
import { chatToOpenAi } from "../translate/chat-to-openai/ChatToOpenAi.ts"
import { prepare } from "../upstream/Prepared.ts"
import type { PrepareModel } from "./byFamily.ts"
import { callInput } from "./callInput.ts"
import type { RouteOf } from "./callRoute.ts"

/** One URL for both forms of the answer: the body asks for a stream. */
export const openAiChat =
  (routeOf: RouteOf, limits: LimitValues): PrepareModel<"chat"> =>
  (request, context, model) =>
    Result.flatMap(routeOf(context.account, model, "/chat/completions"), (route) =>
      prepare({ translator: chatToOpenAi, request, ...callInput("chat", context, model, route, limits) })
    )
