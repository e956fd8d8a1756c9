// The services of the gateway that an application can replace, and the rule that chooses between a replacement and ours.
// Must not know settings, or how any service works.
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as SqlClient from "effect/sql/SqlClient"
import type { Administration } from "./admin/Administration.ts"
import type { ProviderTest } from "./admin/ProviderTest.ts"
import type { TokenProvider } from "./auth/TokenProvider.ts"
import type { Catalog, Configs, Prompts } from "./catalog/Catalog.ts"
import type { Prices } from "./catalog/Prices.ts"
import type { Readiness } from "./http/edge/Readiness.ts"
import type { Admission } from "./keys/Admission.ts"
import type { GatewayKeys } from "./keys/GatewayKeys.ts"
import type { UsageLog } from "./keys/UsageLog.ts"
import type { CloudPlatformProvider, ModelMakerProvider, Providers } from "./provider/Providers.ts"
import type { ProviderRouter } from "./router/ProviderRouter.ts"
import type { Circuits } from "./state/Circuits.ts"
import type { LearnedRemedies } from "./state/LearnedRemedies.ts"
import type { ResponseCache } from "./state/ResponseCache.ts"
import type { SharedState } from "./state/SharedState.ts"
import type { SignatureMemory } from "./state/SignatureMemory.ts"
import { Carriers } from "./store/Carriers.ts"
import type { ConfigSnapshot } from "./store/ConfigSnapshot.ts"
import { Records } from "./store/Records.ts"
import type { ResponseStore } from "./store/ResponseStore.ts"
import type { StoreServices } from "./store/Store.ts"
import { Vault } from "./store/Vault.ts"
import type { Transport } from "./upstream/Transport.ts"
import type { Upstream } from "./upstream/Upstream.ts"

/** Every service that a routing decision reads. */
export type RouterServices =
  | Catalog
  | Providers
  | Upstream
  | SignatureMemory
  | LearnedRemedies
  | Circuits
  | ResponseCache

/**
 * Replacements of the gateway's services. A replacement may need the services that ours needs. It cannot fail:
 * a layer that can is provided around the gateway, which uses it in the same way, or made to with `Layer.orDie`.
 */
export interface GatewayParts {
  /** The network to the providers. */
  readonly transport?: Layer.Layer<Transport>
  /** Credentials as header values. */
  readonly tokenProvider?: Layer.Layer<TokenProvider, never, Transport>
  /** Vertex AI. */
  readonly cloudPlatform?: Layer.Layer<CloudPlatformProvider, never, TokenProvider | Transport>
  /** The Gemini Developer API. */
  readonly modelMaker?: Layer.Layer<ModelMakerProvider, never, TokenProvider | Transport>
  /** Adds providers to the built-in ones: `Providers.layerWith({ acme: AcmeProvider })`. */
  readonly providers?: Layer.Layer<
    Providers,
    never,
    CloudPlatformProvider | ModelMakerProvider | TokenProvider | Transport
  >
  /** Calls what a provider has prepared. */
  readonly upstream?: Layer.Layer<Upstream, never, Transport>
  readonly router?: Layer.Layer<ProviderRouter, never, RouterServices>
  readonly catalog?: Layer.Layer<Catalog, never, ConfigSnapshot>
  readonly configs?: Layer.Layer<Configs, never, ConfigSnapshot>
  readonly prompts?: Layer.Layer<Prompts, never, ConfigSnapshot>
  readonly prices?: Layer.Layer<Prices, never, Catalog>
  /** Finds the key of a caller. */
  readonly keys?: Layer.Layer<GatewayKeys, never, Vault | ConfigSnapshot>
  /** Rate limits and budgets. */
  readonly admission?: Layer.Layer<Admission, never, UsageLog>
  readonly usageLog?: Layer.Layer<UsageLog, never, StoreServices>
  /** What this process shares with others where no Redis is set; else its state is its own. */
  readonly shared?: Layer.Layer<SharedState>
  readonly signatures?: Layer.Layer<SignatureMemory>
  readonly remedies?: Layer.Layer<LearnedRemedies>
  readonly circuits?: Layer.Layer<Circuits>
  readonly cache?: Layer.Layer<ResponseCache>
  /** Kept answers of the Responses API. */
  readonly responses?: Layer.Layer<ResponseStore, never, StoreServices>
  readonly administration?: Layer.Layer<Administration, never, Records | ConfigSnapshot | GatewayKeys>
  readonly providerTest?: Layer.Layer<ProviderTest, never, ProviderRouter | Catalog>
  /** Database, secrets and records: `Store.layer(...)`, or layers of your own. It counts as a store that outlives the process. */
  readonly store?: Layer.Layer<StoreServices>
  /** Dependencies that the health routes report in addition to store and Redis. */
  readonly readiness?: Readiness
}

/** The parts of a gateway whose network is provided around it. */
export type PartsOverNetwork = Omit<GatewayParts, "transport">

/**
 * The part, else the service that is provided around the gateway, else ours. So an own layer is used wherever it is
 * handed in.
 */
export const partOf = <I, S, E, R>(
  key: Context.Key<I, S>,
  part: Layer.Layer<I, never, R> | undefined,
  ours: Layer.Layer<I, E, R>
): Layer.Layer<I, E, R> =>
  part ??
  Layer.unwrap(
    Effect.map(
      Effect.serviceOption(key),
      Option.match({
        onNone: () => ours,
        onSome: (around): Layer.Layer<I, E, R> => Layer.succeed(key, around)
      })
    )
  )

/** The store that is provided around the gateway; undefined unless it is whole, since its parts fit each other only. */
export const storeAround: Effect.Effect<Layer.Layer<StoreServices> | undefined> = Effect.gen(function* () {
  const whole = Option.all({
    sql: yield* Effect.serviceOption(SqlClient.SqlClient),
    vault: yield* Effect.serviceOption(Vault),
    records: yield* Effect.serviceOption(Records),
    carriers: yield* Effect.serviceOption(Carriers)
  })
  return Option.getOrUndefined(
    Option.map(whole, ({ carriers, records, sql, vault }) =>
      Layer.mergeAll(
        Layer.succeed(SqlClient.SqlClient, sql),
        Layer.succeed(Vault, vault),
        Layer.succeed(Records, records),
        Layer.succeed(Carriers, carriers)
      )
    )
  )
})
