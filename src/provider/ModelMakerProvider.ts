// The Gemini Developer API as a provider: its operations, and its API keys.
// It must not depend on the router or our HTTP.
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { TokenProvider } from "../auth/TokenProvider.ts"
import { Limits } from "../domain/Limits.ts"
import { byFamily } from "./byFamily.ts"
import { withoutClaude } from "./claudeMessages.ts"
import { geminiCount } from "./countTokens.ts"
import { embeddings } from "./embeddings.ts"
import { geminiChat } from "./geminiChat.ts"
import { images } from "./images.ts"
import { makerRoute } from "./makerRoute.ts"
import { nativeContent, nativeUnary } from "./nativeCall.ts"
import { withOtherCounts, withOtherModels } from "./translated/otherDialect.ts"
import type { EveryPrepare, Provider } from "./Provider.ts"

export class ModelMakerProvider extends Context.Service<ModelMakerProvider, Provider>()(
  "gateway/provider/ModelMakerProvider"
) {
  static readonly layer: Layer.Layer<ModelMakerProvider, never, TokenProvider> = Layer.effect(
    ModelMakerProvider,
    Effect.gen(function* () {
      const tokens = yield* TokenProvider
      const limits = yield* Limits
      const chat = byFamily("chat", { gemini: geminiChat(makerRoute, limits) })
      const countTokens = byFamily("countTokens", { gemini: geminiCount(makerRoute, limits) })
      const prepare: EveryPrepare = {
        chat,
        embeddings: byFamily("embeddings", { gemini: embeddings(makerRoute, limits) }),
        images: byFamily("images", { gemini: images(makerRoute, limits) }),
        countTokens,
        messages: withOtherModels(withoutClaude("messages"), chat, limits),
        messagesCountTokens: withOtherCounts(withoutClaude("messagesCountTokens"), countTokens, limits),
        nativeContent: nativeContent(makerRoute, limits),
        nativeEmbeddings: nativeUnary("nativeEmbeddings", makerRoute),
        nativePredictions: nativeUnary("nativePredictions", makerRoute),
        nativeCount: nativeUnary("nativeCount", makerRoute)
      }
      return {
        prepare,
        authorize: tokens.authorization,
        refresh: tokens.refresh
      }
    })
  )
}
