// Chat with a self-deployed model that takes a prompt, by predict.
// It must not depend on configs, tokens or HTTP of our own side.
import * as Result from "effect/Result"
import type { LimitValues } from "../domain/Limits.ts"
import { chatToPredict } from "../translate/chat-to-predict/ChatToPredict.ts"
import { prepare } from "../upstream/Prepared.ts"
import type { PrepareModel } from "./byFamily.ts"
import { callInput } from "./callInput.ts"
import type { RouteOf } from "./callRoute.ts"

/** The upstream knows no streams: one answer is a stream of one event. */
export const predictChat =
  (routeOf: RouteOf, limits: LimitValues): PrepareModel<"chat"> =>
  (request, context, model) =>
    Result.flatMap(routeOf(context.account, model, ":predict"), (route) =>
      prepare({ translator: chatToPredict, request, ...callInput("chat", context, model, route, limits) })
    )
