// Chat and the count of its tokens, for each family of models: the URL, the facts and the translator.
// It must not depend on configs, access tokens or HTTP of our own side.
import * as Result from "effect/Result"
import type { LimitValues } from "../domain/Limits.ts"
import type { ProviderAccount } from "../domain/ProviderAccount.ts"
import { chatToGemini, continuesAnswer, countToGemini, mayContinue } from "../translate/chat-to-gemini/ChatToGemini.ts"
import { prepare, prepareUnary } from "../upstream/Prepared.ts"
import { callInput, type PrepareModel, targetFacts } from "./callInput.ts"
import { type RouteOf, targetModel } from "./route.ts"
import { chatToClaude, countToClaude } from "../translate/chat-to-claude/ChatToClaude.ts"
import { mediaUrls } from "../translate/shared/media/fetchedMedia.ts"
import type { Provider } from "./Provider.ts"
import { chatToOpenAi } from "../translate/chat-to-openai/ChatToOpenAi.ts"
import { chatToPredict } from "../translate/chat-to-predict/ChatToPredict.ts"

export const geminiChat =
  (routeOf: RouteOf, limits: LimitValues): PrepareModel<"chat"> =>
  (request, context, model) => {
    const { account, stream } = context
    const found = targetFacts(context, model)
    const { facts } = found
    const isLong = facts.longDecode !== undefined
    const hops =
      isLong && limits.longDecodeCalls > 1 && mayContinue(request, facts, stream) ? limits.longDecodeCalls : undefined
    const knowsToken = hops !== undefined || (isLong && continuesAnswer(request))
    return Result.flatMap(
      routeOf(
        knowsToken ? withTokens(account) : account,
        model,
        stream ? ":streamGenerateContent?alt=sse" : ":generateContent"
      ),
      (route) =>
        prepare({ translator: chatToGemini, request, hops, ...callInput("chat", context, model, route, limits, found) })
    )
  }

/** Vertex AI knows the token of a continued answer in v1beta1 only (M-602). */
const withTokens = (account: ProviderAccount): ProviderAccount =>
  account.kind === "vertex-ai" ? { ...account, api_version: "v1beta1" } : account

// Chat with a Claude model on Vertex AI, and the count of its tokens.

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

// Chat with a model on an OpenAI-compatible endpoint: other publishers' models, and self-deployed ones.

/** One URL for both forms of the answer: the body asks for a stream. */
export const openAiChat =
  (routeOf: RouteOf, limits: LimitValues): PrepareModel<"chat"> =>
  (request, context, model) =>
    Result.flatMap(routeOf(context.account, model, "/chat/completions"), (route) =>
      prepare({ translator: chatToOpenAi, request, ...callInput("chat", context, model, route, limits) })
    )

// Chat with a self-deployed model that takes a prompt, by predict.

/** The upstream knows no streams: one answer is a stream of one event. */
export const predictChat =
  (routeOf: RouteOf, limits: LimitValues): PrepareModel<"chat"> =>
  (request, context, model) =>
    Result.flatMap(routeOf(context.account, model, ":predict"), (route) =>
      prepare({ translator: chatToPredict, request, ...callInput("chat", context, model, route, limits) })
    )

// Token counting with Gemini, as both providers prepare it; only the route differs.

export const geminiCount =
  (routeOf: RouteOf, limits: LimitValues): PrepareModel<"countTokens"> =>
  (request, context, model) =>
    Result.flatMap(routeOf(context.account, model, ":countTokens"), (route) =>
      prepareUnary({ translator: countToGemini, request, ...callInput("countTokens", context, model, route, limits) })
    )
