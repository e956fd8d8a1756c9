// Chat with a Claude model on Vertex AI, and the count of its tokens.
// It must not depend on configs, tokens of access or HTTP of our own side.
import * as Result from "effect/Result"
import type { LimitValues } from "../domain/Limits.ts"
import { chatToClaude } from "../translate/chat-to-claude/ChatToClaude.ts"
import { countToClaude } from "../translate/count-to-claude.ts"
import { mediaUrls } from "../translate/shared/media/mediaUrls.ts"
import { prepare, prepareUnary } from "../upstream/Prepared.ts"
import type { PrepareModel } from "./byFamily.ts"
import { callInput } from "./callInput.ts"
import type { Provider } from "./Provider.ts"
import { type RouteOf, targetModel } from "./callRoute.ts"

export const claudeChat =
  (routeOf: RouteOf, limits: LimitValues): PrepareModel<"chat"> =>
  (request, context, model) =>
    Result.flatMap(routeOf(context.account, model, context.stream ? ":streamRawPredict" : ":rawPredict"), (route) =>
      prepare({ translator: chatToClaude, request, ...callInput("chat", context, model, route, limits) })
    )

/** The URL has `count-tokens` instead of the model, and the body names the model (table 13). */
export const claudeCount =
  (routeOf: RouteOf, limits: LimitValues): PrepareModel<"countTokens"> =>
  (request, context, model) =>
    Result.flatMap(routeOf(context.account, { ...model, modelId: "count-tokens" }, ":rawPredict"), (route) =>
      prepareUnary({ translator: countToClaude, request, ...callInput("countTokens", context, model, route, limits) })
    )

/** Claude takes bytes only (T1813). Most requests name no media, and are looked at no further. */
export const claudeMedia: NonNullable<NonNullable<Provider["media"]>["chat"]> = (request, { account, modelId }) => {
  const urls = mediaUrls(request)
  if (urls.length === 0) return urls
  const model = targetModel(modelId, account)
  return Result.isSuccess(model) && model.success.family === "claude" ? urls : []
}
