// Chat with a Claude model on Vertex AI, and the count of its tokens.
// It must not know configs, tokens of access or HTTP of our own side.
import * as Result from "effect/Result"
import type { LimitValues } from "../domain/Limits.ts"
import { chatToClaude } from "../translate/chat-to-claude/ChatToClaude.ts"
import { countToClaude } from "../translate/count-to-claude.ts"
import { prepare, prepareUnary } from "../upstream/Prepared.ts"
import type { PrepareModel } from "./byFamily.ts"
import { callInput } from "./callInput.ts"
import type { RouteOf } from "./Route.ts"

export const claudeChat = (routeOf: RouteOf, limits: LimitValues): PrepareModel<"chat"> => (request, context, model) =>
  Result.flatMap(
    routeOf(context.account, model, context.stream ? ":streamRawPredict" : ":rawPredict"),
    (route) => prepare({ translator: chatToClaude, request, ...callInput("chat", context, model, route, limits) })
  )

/** The URL names an operation where the model stands, and the body the model (table 13). */
export const claudeCount = (routeOf: RouteOf, limits: LimitValues): PrepareModel<"countTokens"> => (request, context, model) =>
  Result.flatMap(
    routeOf(context.account, { ...model, modelId: "count-tokens" }, ":rawPredict"),
    (route) => prepareUnary({ translator: countToClaude, request, ...callInput("countTokens", context, model, route, limits) })
  )
