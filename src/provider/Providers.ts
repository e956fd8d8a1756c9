// The providers: Vertex AI, the Gemini Developer API, and those that an application adds under names of its own.
// It must not depend on the router or our HTTP.
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { TokenProvider } from "../auth/TokenProvider.ts"
import { Limits } from "../domain/Limits.ts"
import type { BuiltInKind, PerKind } from "../domain/ProviderAccount.ts"
import { byFamily } from "./callInput.ts"
import { claudeChat, claudeCount, claudeMedia, geminiChat, geminiCount, openAiChat, predictChat } from "./chat.ts"
import { claudeMessages, claudeMessagesCount, withoutClaude } from "./claudeMessages.ts"
import { embeddings, images } from "./embeddingsAndImages.ts"
import { withOtherCounts, withOtherModels } from "./messagesByChat.ts"
import { nativeContent, nativeUnary } from "./nativeCall.ts"
import type { EveryPrepare, Provider } from "./Provider.ts"
import { cloudRoute, makerRoute } from "./route.ts"

/** Vertex AI: its operations, and its bearer tokens. */
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

/** The Gemini Developer API: its operations, and its API keys. */
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

/** Further providers by the kind of account they serve; the built-in kinds are taken. */
export type MoreProviders<R> = { readonly [kind: string]: Effect.Effect<Provider, never, R> } & {
  readonly [Kind in BuiltInKind]?: never
}

/** The provider of each kind of account. */
export class Providers extends Context.Service<Providers, PerKind<Provider>>()("gateway/provider/Providers") {
  /** Ours and further ones, each a service or whatever else makes a provider: `Providers.layerWith({ acme: AcmeProvider })`. */
  static readonly layerWith = <R>(
    more: MoreProviders<R>
  ): Layer.Layer<Providers, never, CloudPlatformProvider | ModelMakerProvider | R> =>
    Layer.effect(
      Providers,
      Effect.gen(function* () {
        const added = yield* Effect.all(more)
        return { ...added, "vertex-ai": yield* CloudPlatformProvider, google: yield* ModelMakerProvider }
      })
    )

  static readonly layer: Layer.Layer<Providers, never, CloudPlatformProvider | ModelMakerProvider> = Layer.suspend(() =>
    Providers.layerWith({})
  )
}
