// The composition: the only file that provides one service to another.
// It must not know how any of them works.
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as RateLimiter from "effect/persistence/RateLimiter"
import type * as Redis from "effect/persistence/Redis"
import type * as SqlClient from "effect/sql/SqlClient"
import type * as HttpServer from "effect/http/HttpServer"
import type * as HttpServerError from "effect/http/HttpServerError"
import { Administration } from "./admin/Administration.ts"
import { ProviderTest } from "./admin/ProviderTest.ts"
import { TokenProvider } from "./auth/TokenProvider.ts"
import { Catalog } from "./catalog/Catalog.ts"
import { Configs } from "./catalog/Configs.ts"
import { Prices } from "./catalog/Prices.ts"
import { publicPrices } from "./catalog/PublicPrices.ts"
import { Prompts } from "./catalog/Prompts.ts"
import { Limits } from "./domain/Limits.ts"
import { PackageMissing } from "./domain/PackageMissing.ts"
import type { Settings } from "./domain/settings/Settings.ts"
import { version } from "./domain/version.ts"
import { accountingLayer } from "./accounting/Accounting.ts"
import { circuitMetersLayer } from "./accounting/CircuitMeters.ts"
import { CorsOrigins } from "./http/Cors.ts"
import { WebHandler } from "./http/HttpApi.ts"
import { MetricsAccess } from "./http/routes/MetricsHandlers.ts"
import { Readiness } from "./http/routes/Readiness.ts"
import { Server } from "./http/Server.ts"
import { Admission } from "./keys/Admission.ts"
import { KeyLabel } from "./keys/Budgets.ts"
import { GatewayKeys } from "./keys/GatewayKeys.ts"
import { UsageLog } from "./keys/UsageLog.ts"
import { Circuits } from "./state/Circuits.ts"
import { RateStore } from "./state/RateStore.ts"
import { ResponseCache } from "./state/ResponseCache.ts"
import { SignatureMemory } from "./state/SignatureMemory.ts"
import { CloudPlatformProvider } from "./provider/CloudPlatformProvider.ts"
import { ModelMakerProvider } from "./provider/ModelMakerProvider.ts"
import { Providers } from "./provider/Providers.ts"
import { ProviderRouter } from "./router/ProviderRouter.ts"
import { SharedRedis } from "./store/SharedRedis.ts"
import { Holdings } from "./store/Holdings.ts"
import type { Records } from "./store/Records.ts"
import { RequestTable } from "./store/RequestTable.ts"
import { Spending } from "./store/Spending.ts"
import { awaited, type StoreUnusable } from "./store/Sql.ts"
import * as Store from "./store/Store.ts"
import { Vault } from "./store/Vault.ts"
import { ProcessMetrics } from "./telemetry/ProcessMetrics.ts"
import { mediaFetchLayer } from "./upstream/MediaFetch.ts"
import { Transport } from "./upstream/Transport.ts"
import { Upstream } from "./upstream/Upstream.ts"

/** What the HTTP face needs, and what another Effect application mounts under a router of its own. */
export type GatewayServices =
  | ProviderRouter
  | Catalog
  | Configs
  | Prompts
  | GatewayKeys
  | UsageLog
  | Admission
  | Prices
  | Holdings
  | Records
  | Administration
  | ProviderTest

/** The Redis of several gateways; undefined for one that stands alone. */
type Sharing<E = PackageMissing> = Layer.Layer<SharedRedis | Redis.Redis, E> | undefined

const sharing = ({ redis }: Settings): Sharing => (redis === undefined ? undefined : SharedRedis.layer(redis))

/** What may be lost without harm, shared where there is a Redis. */
const memories = <E>(shared: Sharing<E>): Layer.Layer<SignatureMemory | Circuits | ResponseCache, E> =>
  shared === undefined
    ? Layer.mergeAll(SignatureMemory.layerMemory, Circuits.layerMemory, ResponseCache.layerMemory)
    : Layer.mergeAll(SignatureMemory.layerShared, Circuits.layerShared, ResponseCache.layerShared).pipe(
        Layer.provide(shared)
      )

/** What an application puts in the place of our own. */
export interface GatewayParts {
  /** With providers of its own beside ours: `Providers.layerWith({ acme: AcmeProvider })`. */
  readonly providers?: Layer.Layer<
    Providers,
    never,
    CloudPlatformProvider | ModelMakerProvider | TokenProvider | Transport
  >
}

/** What outlives the process where the settings name a store. */
type Kept<E> = Layer.Layer<SqlClient.SqlClient | Vault | Records, E>

const services = <E, F>(
  settings: Settings,
  parts: GatewayParts,
  shared: Sharing<F>,
  kept: Kept<E>
): Layer.Layer<GatewayServices, E | F, Transport> => {
  const limits = Layer.succeed(Limits, settings.limits)
  const providers = (parts.providers ?? Providers.layer).pipe(
    Layer.provide([CloudPlatformProvider.layer, ModelMakerProvider.layer]),
    Layer.provide(TokenProvider.layerWith({ credentialsFile: settings.applicationCredentialsFile }))
  )
  const held = Layer.provideMerge(
    settings.store === undefined ? Holdings.layerAlone(settings) : Holdings.layer(settings),
    kept
  )
  const catalog = Catalog.layer.pipe(Layer.provide(held))
  const prices = Prices.layerWith(settings.prices ?? {}, publicPrices).pipe(Layer.provide(catalog))
  const media = settings.media?.fetch === true ? mediaFetchLayer : Layer.empty
  const router = ProviderRouter.layer.pipe(
    Layer.provide([
      providers,
      Upstream.layer,
      memories(shared).pipe(Layer.provide(circuitMeters(settings, prices))),
      catalog,
      media
    ])
  )
  const entries = Layer.mergeAll(Configs.layer, Prompts.layer, Administration.layer).pipe(
    Layer.provideMerge(keys),
    Layer.provideMerge(held)
  )
  const test = ProviderTest.layer.pipe(Layer.provide([router, catalog]))
  const usage =
    settings.store === undefined
      ? UsageLog.layerMemory
      : UsageLog.layer.pipe(Layer.provide(RequestTable.layer), Layer.provide(kept))
  const spending = settings.store === undefined ? Spending.layerMemory : Spending.layer.pipe(Layer.provide(kept))
  const admission = Admission.layer.pipe(
    Layer.provide([rateStore(shared), spending, usage, Layer.succeed(KeyLabel, settings.keyLabel === true)])
  )
  return Layer.mergeAll(
    router,
    catalog,
    entries,
    test,
    usage,
    prices,
    admission,
    accounting(settings, prices, usage)
  ).pipe(Layer.provide(limits))
}

/** The pepper of keys is the store's, so that their digests hold for every process on it. */
const keys: Layer.Layer<GatewayKeys, never, Vault | Holdings> = Layer.unwrap(
  Effect.map(Vault, ({ pepper }) => GatewayKeys.layer(pepper))
)

const rateStore = <E>(shared: Sharing<E>): Layer.Layer<RateLimiter.RateLimiterStore, E> =>
  shared === undefined ? RateStore.layerMemory : RateStore.layerShared.pipe(Layer.provide(shared))

/** What a key with limits has used is known from the accounts of its requests; a store may hold such keys at any time. */
const mayLimit = ({ keys, store }: Settings): boolean =>
  store !== undefined || keys.some(({ budget, rateLimit }) => budget !== undefined || rateLimit !== undefined)

/** Requests are kept only where somebody may list them. */
const accounting = <E>(
  settings: Settings,
  prices: Layer.Layer<Prices, E>,
  usage: Layer.Layer<UsageLog, E>
): Layer.Layer<never, E> => {
  const isOff = settings.accounting === false
  return isOff && !mayLimit(settings)
    ? Layer.empty
    : accountingLayer({
        log: { format: isOff ? "off" : (settings.log?.format ?? "off"), level: settings.log?.level ?? "info" },
        byKey: settings.keyLabel === true,
        propagate: !isOff && settings.propagateUpstream === true,
        keep:
          !isOff &&
          (settings.store !== undefined || settings.keys.some(({ scopes }) => scopes?.includes("admin") === true))
      }).pipe(Layer.provide([prices, usage]))
}

const circuitMeters = <E>({ accounting }: Settings, prices: Layer.Layer<Prices, E>): Layer.Layer<never, E> =>
  accounting === false ? Layer.empty : circuitMetersLayer.pipe(Layer.provide(prices))

/** What operators keep in the store of these settings, for those who change it without serving. */
const layerAdministration = (settings: Settings): Layer.Layer<Administration, StoreUnusable> =>
  Administration.layer.pipe(
    Layer.provide(keys),
    Layer.provide(Holdings.layerAlone(settings)),
    Layer.provide(Store.layerOf(settings.store)),
    Layer.provide(Layer.succeed(Limits, settings.limits))
  )

/** Every service but the network: give it a Transport, a real one or a scripted one. */
const layerNoDeps = (
  settings: Settings,
  parts: GatewayParts = {}
): Layer.Layer<GatewayServices, StoreUnusable | PackageMissing, Transport> =>
  services(settings, parts, sharing(settings), Store.layerOf(settings.store, awaited))

/** The services over the real network, without HTTP of our own. */
const layerServices = (
  settings: Settings,
  parts: GatewayParts = {},
  shared = sharing(settings)
): Layer.Layer<GatewayServices, StoreUnusable | PackageMissing> =>
  services(settings, parts, shared, Store.layerOf(settings.store, awaited)).pipe(
    Layer.provide(Transport.layer.pipe(Layer.provide(Layer.succeed(Limits, settings.limits))))
  )

/** The whole service: listens until the layer's scope closes, then drains. Its services can be reached beside it. */
const layer = (
  settings: Settings,
  parts?: GatewayParts
): Layer.Layer<
  HttpServer.HttpServer | GatewayServices,
  HttpServerError.ServeError | PackageMissing | StoreUnusable
> => {
  const shared = sharing(settings)
  return Server.layer(settings.server).pipe(
    Layer.provide([ProcessMetrics.layer(version), readiness(settings, shared)]),
    Layer.provideMerge(layerServices(settings, parts, shared)),
    Layer.provide(accessOf(settings)),
    Layer.provide(exporting(settings)),
    Layer.provide(Layer.succeed(Limits, settings.limits))
  )
}

/** Whom the HTTP face lets at what, besides keys. */
const accessOf = ({ server: { cors = [], metricsAuth = "none" } }: Settings): Layer.Layer<never> =>
  Layer.merge(Layer.succeed(MetricsAccess, metricsAuth), Layer.succeed(CorsOrigins, cors))

/** What the health routes tell of: what there is besides the process. */
const readiness = (settings: Settings, shared: Sharing): Layer.Layer<never, PackageMissing, Holdings> =>
  Layer.effect(
    Readiness,
    Effect.gen(function* () {
      const { isFresh } = yield* Holdings
      const redis = yield* Effect.serviceOption(SharedRedis)
      return {
        ...(settings.store === undefined ? {} : { store: isFresh }),
        ...(Option.isNone(redis) ? {} : { redis: redis.value.isUp })
      }
    })
  ).pipe(Layer.provide(shared ?? Layer.empty))

/** The whole service as a function of web requests over the given network, for tests: it stands alone, keeps everything in memory and opens no socket. */
const layerTest = (
  settings: Settings,
  parts: GatewayParts = {}
): Layer.Layer<GatewayServices | WebHandler, never, Transport> =>
  WebHandler.layer.pipe(
    Layer.provideMerge(services<never, never>(settings, parts, undefined, Store.layerMemory)),
    Layer.provide([Layer.succeed(Limits, settings.limits), accessOf(settings)])
  )

/** The SDK is large and optional: it is loaded where there is somebody to export to. */
const exporting = ({ export: wanted }: Settings): Layer.Layer<never, PackageMissing> =>
  wanted === undefined
    ? Layer.empty
    : Layer.unwrap(
        Effect.map(
          Effect.tryPromise({
            try: () => import("./telemetry/Exporter.ts"),
            catch: () =>
              new PackageMissing({
                setting: "an OTEL_EXPORTER_OTLP_ENDPOINT",
                packages: "the packages of OpenTelemetry",
                also: "@effect/opentelemetry"
              })
          }),
          ({ exporter }) => exporter(version, wanted)
        )
      )

export const Gateway = { layer, layerAdministration, layerServices, layerNoDeps, layerTest }
