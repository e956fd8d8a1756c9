// Which provider serves which kind of account; a kind without one does not compile.
// It must not know any provider's inside.
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { ProviderKind } from "../domain/ProviderAccount.ts"
import { CloudPlatformProvider } from "./CloudPlatformProvider.ts"
import { ModelMakerProvider } from "./ModelMakerProvider.ts"
import type { Provider } from "./Provider.ts"

export class Providers extends Context.Service<Providers, Readonly<Record<ProviderKind, Provider>>>()(
  "gateway/provider/Providers"
) {
  static readonly layer: Layer.Layer<Providers, never, CloudPlatformProvider | ModelMakerProvider> = Layer.effect(
    Providers,
    Effect.gen(function*() {
      return { "vertex-ai": yield* CloudPlatformProvider, google: yield* ModelMakerProvider }
    })
  )
}
