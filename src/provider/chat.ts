// Chat and the count of its tokens, for each family of models: the URL, the facts and the translator.
// It must not depend on configs, access tokens or HTTP of our own side.
import * as Result from "effect/Result"
import type { LimitValues } from "../domain/Limits.ts"
import type { ProviderAccount } from "../domain/ProviderAccount.ts"
import { chatToClaude, countToClaude } from "../translate/chat-to-claude/ChatToClaude.ts"
import { chatToGemini, continuesAnswer, countToGemini, mayContinue } from "../translate/chat-to-gemini/ChatToGemini.ts"
import { chatToOpenAi } from "../translate/chat-to-openai/ChatToOpenAi.ts"
import { chatToPredict } from "../translate/chat-to-predict/ChatToPredict.ts"
import { mediaUrls } from "../translate/shared/media/fetchedMedia.ts"
import type { Translator, Unary } from "../translate/Translator.ts"
import { prepare, prepareUnary } from "../upstream/Prepared.ts"
import type { ChatRequest, TokenCount } from "../wire/openai/Chat.ts"
import type { ChatChunk, ChatCompletion } from "../wire/openai/ChatReply.ts"
import { callInput, type PrepareModel, targetFacts } from "./callInput.ts"
import type { Provider } from "./Provider.ts"
import { type RouteOf, targetModel } from "./route.ts"

/** A chat at one URL of its model for answers, and one for streams. */
const chatAt =
  <Body, Reply, Event, State>(
    translator: Translator<ChatRequest, Body, Reply, Event, ChatCompletion, ChatChunk, State>,
    unaryCall: string,
    streamCall: string
  ) =>
  (routeOf: RouteOf, limits: LimitValues): PrepareModel<"chat"> =>
  (request, context, model) =>
    Result.flatMap(routeOf(context.account, model, context.stream ? streamCall : unaryCall), (route) =>
      prepare({ translator, request, ...callInput("chat", context, model, route, limits) })
    )

export const claudeChat = chatAt(chatToClaude, ":rawPredict", ":streamRawPredict")

/** One URL for both forms of the answer: the body asks for a stream. */
export const openAiChat = chatAt(chatToOpenAi, "/chat/completions", "/chat/completions")

/** A self-deployed model that takes a prompt. Its server knows no streams: one answer is a stream of one event. */
export const predictChat = chatAt(chatToPredict, ":predict", ":predict")

export const geminiChat =
  (routeOf: RouteOf, limits: LimitValues): PrepareModel<"chat"> =>
  (request, context, model) => {
    const { account, stream } = context
    const factsNow = targetFacts(context, model)
    const { facts } = factsNow
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
        prepare({
          translator: chatToGemini,
          request,
          hops,
          ...callInput("chat", context, model, route, limits, factsNow)
        })
    )
  }

/** Vertex AI knows the token of a continued answer in v1beta1 only (M-602). */
const withTokens = (account: ProviderAccount): ProviderAccount =>
  account.kind === "vertex-ai" ? { ...account, api_version: "v1beta1" } : account

/** Claude takes bytes only (T1813). Most requests name no media, and are looked at no further. */
export const claudeMedia: NonNullable<NonNullable<Provider["media"]>["chat"]> = (request, { account, modelId }) => {
  const urls = mediaUrls(request)
  if (urls.length === 0) return urls
  const model = targetModel(modelId, account)
  return Result.isSuccess(model) && model.success.family === "claude" ? urls : []
}

/** The count of a chat; the URL has `resource` in the place of the model, where there is one. */
const countAt =
  <Body, Reply>(translator: Unary<ChatRequest, Body, Reply, TokenCount>, call: string, resource?: string) =>
  (routeOf: RouteOf, limits: LimitValues): PrepareModel<"countTokens"> =>
  (request, context, model) =>
    Result.flatMap(
      routeOf(context.account, resource === undefined ? model : { ...model, modelId: resource }, call),
      (route) => prepareUnary({ translator, request, ...callInput("countTokens", context, model, route, limits) })
    )

export const geminiCount = countAt(countToGemini, ":countTokens")

/** The URL has `count-tokens` instead of the model, and the body names the model (table 13). */
export const claudeCount = countAt(countToClaude, ":rawPredict", "count-tokens")
