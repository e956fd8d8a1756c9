// Token counting with Gemini, as both providers prepare it; only the route differs.
// It must not depend on configs, tokens of access or HTTP of our own side.
import * as Result from "effect/Result"
import type { LimitValues } from "../domain/Limits.ts"
import { countToGemini } from "../translate/count-to-gemini.ts"
import { prepareUnary } from "../upstream/Prepared.ts"
import type { PrepareModel } from "./byFamily.ts"
import { callInput } from "./callInput.ts"
import type { RouteOf } from "./callRoute.ts"

export const geminiCount =
  (routeOf: RouteOf, limits: LimitValues): PrepareModel<"countTokens"> =>
  (request, context, model) =>
    Result.flatMap(routeOf(context.account, model, ":countTokens"), (route) =>
      prepareUnary({ translator: countToGemini, request, ...callInput("countTokens", context, model, route, limits) })
    )
