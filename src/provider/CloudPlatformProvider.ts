// Vertex AI as a provider: its operations, and its bearer tokens.
// It must not depend on the router or our HTTP.
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { TokenProvider } from "../auth/TokenProvider.ts"
import { Limits } from "../domain/Limits.ts"
import { byFamily } from "./byFamily.ts"
import { claudeChat, claudeCount, claudeMedia } from "./claudeChat.ts"
import { claudeMessages, claudeMessagesCount } from "./claudeMessages.ts"
import { cloudRoute } from "./cloudRoute.ts"
import { geminiCount } from "./countTokens.ts"
import { embeddings } from "./embeddings.ts"
import { geminiChat } from "./geminiChat.ts"
import { images } from "./images.ts"
import { openAiChat } from "./openAiChat.ts"
import { withOtherCounts, withOtherModels } from "./translated/otherDialect.ts"
import { predictChat } from "./predictChat.ts"
import { nativeContent, nativeUnary } from "./nativeCall.ts"
import type { EveryPrepare, Provider } from "./Provider.ts"

export class CloudPlatformProvider extends Context.Service<CloudPlatformProvider, Provider>()(
  "gateway/provider/CloudPlatformProvider"
) {
  static readonly layer: Layer.Layer<CloudPlatformProvider, never, TokenProvider> = Layer.effect(
    CloudPlatformProvider,
    Effect.gen(function* () {
      const tokens = yield* TokenProvider
      const limits = yield* Limits
      const embed = embeddings(cloudRoute, limits)
      const chat = byFamily("chat", {
        gemini: geminiChat(cloudRoute, limits),
        claude: claudeChat(cloudRoute, limits),
        openai: openAiChat(cloudRoute, limits),
        predict: predictChat(cloudRoute, limits)
      })
      const countTokens = byFamily("countTokens", {
        gemini: geminiCount(cloudRoute, limits),
        claude: claudeCount(cloudRoute, limits)
      })
      const prepare: EveryPrepare = {
        chat,
        embeddings: byFamily("embeddings", { gemini: embed, openai: embed, predict: embed }),
        images: byFamily("images", { gemini: images(cloudRoute, limits) }),
        countTokens,
        messages: withOtherModels(claudeMessages(cloudRoute, limits), chat, limits),
        messagesCountTokens: withOtherCounts(claudeMessagesCount(cloudRoute, limits), countTokens, limits),
        nativeContent: nativeContent(cloudRoute, limits),
        nativeEmbeddings: nativeUnary("nativeEmbeddings", cloudRoute),
        nativePredictions: nativeUnary("nativePredictions", cloudRoute),
        nativeCount: nativeUnary("nativeCount", cloudRoute)
      }
      return {
        prepare,
        media: { chat: claudeMedia, countTokens: claudeMedia },
        authorize: tokens.authorization,
        refresh: tokens.refresh
      }
    })
  )
}
