// Which provider serves which kind of account: ours, and those an application adds under names of its own.
// It must not depend on the inside of any provider.
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { BuiltInKind, PerKind } from "../domain/ProviderAccount.ts"
import { CloudPlatformProvider } from "./CloudPlatformProvider.ts"
import { ModelMakerProvider } from "./ModelMakerProvider.ts"
import type { Provider } from "./Provider.ts"

/** Further providers by the kind of account they serve; the built-in kinds are taken. */
export type MoreProviders<R> = { readonly [kind: string]: Effect.Effect<Provider, never, R> } & {
  readonly [Kind in BuiltInKind]?: never
}

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
