// Composes the gateway's layers from settings: the only file that provides one service to another.
// Must not know how any of them works.
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as HttpServer from "effect/http/HttpServer"
import type * as HttpServerError from "effect/http/HttpServerError"
import { Administration } from "./admin/Administration.ts"
import { ProviderTest } from "./admin/ProviderTest.ts"
import { TokenProvider } from "./auth/TokenProvider.ts"
import { Catalog, Configs, Prompts } from "./catalog/Catalog.ts"
import { Prices, publicPrices } from "./catalog/Prices.ts"
import { isLimited } from "./domain/GatewayKey.ts"
import { Limits } from "./domain/Limits.ts"
import { type ExportSetting, PackageMissing, type Settings } from "./domain/settings/Settings.ts"
import type { NetworkSetting } from "./domain/settings/network.ts"
import { describeStore } from "./domain/settings/storeLocation.ts"
import { version } from "./domain/version.ts"
import { type GatewayParts, partOf, type PartsOverNetwork, storeAround } from "./GatewayParts.ts"
import { accountingLayer } from "./accounting/Accounting.ts"
import { circuitMetersLayer } from "./accounting/CircuitMeters.ts"
import { CorsOrigins } from "./http/edge/Cors.ts"
import { WebHandler } from "./http/HttpApi.ts"
import { MetricsAccess } from "./http/routes/StatusHandlers.ts"
import { CountedMetadata } from "./http/admin/AdminReports.ts"
import { Surroundings } from "./http/admin/AdminService.ts"
import { NativeDefaults } from "./http/routes/NativeRoutes.ts"
import { Readiness, redisState, storeState } from "./http/edge/Readiness.ts"
import { Certificate, ServedCertificate } from "./http/node/Certificate.ts"
import { BasePath, ClientReader, clientReader } from "./http/node/Proxied.ts"
import { Server } from "./http/Server.ts"
import { Admission } from "./keys/Admission.ts"
import { KeyLabel } from "./keys/Budgets.ts"
import { ConsoleSessions } from "./keys/ConsoleSessions.ts"
import { GatewayKeys } from "./keys/GatewayKeys.ts"
import { UsageLog } from "./keys/UsageLog.ts"
import { Circuits } from "./state/Circuits.ts"
import { LearnedRemedies } from "./state/LearnedRemedies.ts"
import { RateStore, SharedState } from "./state/SharedState.ts"
import { ResponseCache } from "./state/ResponseCache.ts"
import { SignatureMemory } from "./state/SignatureMemory.ts"
import { CloudPlatformProvider, ModelMakerProvider, Providers } from "./provider/Providers.ts"
import { ProviderRouter } from "./router/ProviderRouter.ts"
import { type RateCounters, Spending } from "./store/Spending.ts"
import { SharedRedis } from "./store/SharedRedis.ts"
import type { Carriers } from "./store/Carriers.ts"
import { ConfigSnapshot } from "./store/ConfigSnapshot.ts"
import { Records } from "./store/Records.ts"
import { RequestTable } from "./store/RequestTable.ts"
import { awaitReachable, type StoreUnusable } from "./store/database/Sql.ts"
import { ContentStore } from "./store/ContentStore.ts"
import { SessionTable } from "./store/SessionTable.ts"
import { ResponseStore } from "./store/ResponseStore.ts"
import * as Store from "./store/Store.ts"
import { Vault } from "./store/Vault.ts"
import { ProcessMetrics } from "./telemetry/ProcessMetrics.ts"
import { MediaFetch, mediaFetchLayer } from "./upstream/MediaFetch.ts"
import { agentOptions, Network } from "./upstream/Network.ts"
import { Transport } from "./upstream/Transport.ts"
import { Upstream } from "./upstream/Upstream.ts"

/** The services that HTTP needs. An Effect application can mount them under its own router. */
export type GatewayServices =
  | ProviderRouter
  | Catalog
  | Configs
  | Prompts
  | GatewayKeys
  | UsageLog
  | ContentStore
  | LearnedRemedies
  | Admission
  | Prices
  | ConfigSnapshot
  | Records
  | Administration
  | ProviderTest
  | ResponseStore
  | Carriers
  | SessionTable

/** What several processes share, in Redis or in their first process; undefined for a single one. */
type Sharing<E = PackageMissing> = Layer.Layer<SharedState, E> | undefined

const sharing = ({ redis, redisTls }: Settings, { shared }: GatewayParts): Sharing =>
  redis === undefined ? shared : SharedState.layerRedis.pipe(Layer.provideMerge(SharedRedis.layer(redis, redisTls)))

/** State that may be lost without harm; shared where several processes serve together. */
const memories = <E>(
  { cache, circuits, remedies, signatures }: GatewayParts,
  shared: Sharing<E>
): Layer.Layer<SignatureMemory | LearnedRemedies | Circuits | ResponseCache, E> => {
  const either = <I>(one: Layer.Layer<I>, several: Layer.Layer<I, never, SharedState>): Layer.Layer<I, E> =>
    shared === undefined ? one : Layer.provide(several, shared)
  return Layer.mergeAll(
    partOf(SignatureMemory, signatures, either(SignatureMemory.layerMemory, SignatureMemory.layerShared)),
    partOf(LearnedRemedies, remedies, either(LearnedRemedies.layerMemory, LearnedRemedies.layerShared)),
    partOf(Circuits, circuits, either(Circuits.layerMemory, Circuits.layerShared)),
    partOf(ResponseCache, cache, either(ResponseCache.layerMemory, ResponseCache.layerShared))
  )
}

/** The store; it outlives the process where the settings name one. */
type Kept<E> = Layer.Layer<Store.StoreServices, E>

/** The services of these settings over a network, with the parts in their places. */
const services = <E, F>(
  settings: Settings,
  parts: PartsOverNetwork,
  shared: Sharing<F>,
  store: Kept<E>
): Layer.Layer<GatewayServices, E | F, Transport> =>
  Layer.unwrap(
    Effect.map(storeAround, (around): Layer.Layer<GatewayServices, E | F, Transport> => {
      const given = parts.store ?? around
      return composed(settings, parts, shared, given ?? store, given !== undefined || settings.store !== undefined)
    })
  )

const composed = <E, F>(
  settings: Settings,
  parts: PartsOverNetwork,
  shared: Sharing<F>,
  store: Kept<E>,
  isKept: boolean
): Layer.Layer<GatewayServices, E | F, Transport> => {
  const snapshot = Layer.provideMerge(
    isKept ? ConfigSnapshot.layer(settings) : ConfigSnapshot.layerAlone(settings),
    store
  )
  const catalog = partOf(Catalog, parts.catalog, Catalog.layer).pipe(Layer.provide(snapshot))
  const prices = partOf(Prices, parts.prices, Prices.layer(publicPrices)).pipe(
    Layer.provide(Layer.merge(catalog, snapshot))
  )
  const states = memories(parts, shared).pipe(Layer.provide(circuitMeters(settings, prices)))
  const router = partOf(ProviderRouter, parts.router, ProviderRouter.layer).pipe(
    Layer.provide([
      providersOf(settings, parts),
      partOf(Upstream, parts.upstream, Upstream.layer),
      states,
      catalog,
      mediaOf(settings)
    ])
  )
  const entries = Layer.mergeAll(
    partOf(Configs, parts.configs, Configs.layer),
    partOf(Prompts, parts.prompts, Prompts.layer),
    partOf(Administration, parts.administration, Administration.layer)
  ).pipe(Layer.provideMerge(partOf(GatewayKeys, parts.keys, keys)), Layer.provideMerge(snapshot))
  const test = partOf(ProviderTest, parts.providerTest, ProviderTest.layer).pipe(Layer.provide([router, catalog]))
  const usage = partOf(
    UsageLog,
    parts.usageLog,
    isKept ? UsageLog.layer.pipe(Layer.provide(RequestTable.layer)) : UsageLog.layerMemory
  ).pipe(Layer.provide(store))
  const spending = isKept ? Spending.layer.pipe(Layer.provide(store)) : Spending.layerMemory
  const admission = partOf(
    Admission,
    parts.admission,
    Admission.layer.pipe(
      Layer.provide([rateStore(shared), spending, Layer.succeed(KeyLabel, settings.keyLabel === true)])
    )
  ).pipe(Layer.provide(usage))
  const responses = partOf(
    ResponseStore,
    parts.responses,
    ResponseStore.layerWith({ keeps: settings.responses?.keep !== false })
  ).pipe(Layer.provideMerge(store))
  const contents = ContentStore.layerWith({ isKept }).pipe(Layer.provide(store))
  return Layer.mergeAll(
    contents,
    SessionTable.layer.pipe(Layer.provide(store)),
    responses,
    router,
    states,
    catalog,
    entries,
    test,
    usage,
    prices,
    admission,
    accounting(settings, isKept, [prices, usage, contents])
  ).pipe(Layer.provide(Layer.succeed(Limits, settings.limits)))
}

/** The fetching of media, unless one is provided around the gateway. */
const mediaOf = ({ media }: Settings): Layer.Layer<never, never, Transport> =>
  media?.fetch === true
    ? Layer.unwrap(Effect.map(MediaFetch, (around) => (around === undefined ? mediaFetchLayer : Layer.empty)))
    : Layer.empty

/** Every provider with its credentials. */
const providersOf = (settings: Settings, parts: GatewayParts): Layer.Layer<Providers, never, Transport> =>
  partOf(Providers, parts.providers, Providers.layer).pipe(
    Layer.provide([
      partOf(CloudPlatformProvider, parts.cloudPlatform, CloudPlatformProvider.layer),
      partOf(ModelMakerProvider, parts.modelMaker, ModelMakerProvider.layer)
    ]),
    Layer.provide(
      partOf(
        TokenProvider,
        parts.tokenProvider,
        TokenProvider.layerWith({
          credentialsFile: settings.applicationCredentialsFile,
          metadataUrl: settings.metadataUrl
        })
      )
    )
  )

/** The pepper of keys comes from the store, so that key digests are the same in every process on it. */
const keys: Layer.Layer<GatewayKeys, never, Vault | ConfigSnapshot> = Layer.unwrap(
  Effect.map(Vault, ({ pepper }) => GatewayKeys.layer(pepper))
)

const rateStore = <E>(shared: Sharing<E>): Layer.Layer<RateCounters, E> =>
  shared === undefined ? RateStore.layerMemory : RateStore.layerShared.pipe(Layer.provide(shared))

/** Limits of a key need accounting, which counts its usage. A store may have such keys at any time. */
const mayLimit = ({ keys }: Settings, isKept: boolean): boolean => isKept || keys.some(isLimited)

const isConsoleOn = ({ server }: Settings): boolean => server.console !== undefined && server.console !== false

/** Requests are kept only where an admin key or the console can list them. */
const accounting = <E>(
  settings: Settings,
  isKept: boolean,
  services: readonly [Layer.Layer<Prices, E>, Layer.Layer<UsageLog, E>, Layer.Layer<ContentStore, E>]
): Layer.Layer<never, E> => {
  const isOff = settings.accounting === false
  return isOff && !mayLimit(settings, isKept)
    ? Layer.empty
    : accountingLayer({
        log: { format: isOff ? "off" : (settings.log?.format ?? "off"), level: settings.log?.level ?? "info" },
        content: settings.log?.content ?? "off",
        byKey: settings.keyLabel === true,
        countedMetadata: settings.usageMetadata ?? [],
        endUser: settings.endUser ?? "hashed",
        warns: !isOff,
        propagate: !isOff && settings.propagateUpstream === true,
        keep:
          !isOff &&
          (isKept || isConsoleOn(settings) || settings.keys.some(({ scopes }) => scopes?.includes("admin") === true))
      }).pipe(Layer.provide([...services]))
}

const circuitMeters = <E>({ accounting }: Settings, prices: Layer.Layer<Prices, E>): Layer.Layer<never, E> =>
  accounting === false ? Layer.empty : circuitMetersLayer.pipe(Layer.provide(prices))

/** The administration and the reports of the store of these settings without a server, for the command line. */
const layerAdministration = (settings: Settings): Layer.Layer<Administration | UsageLog, StoreUnusable> =>
  Layer.merge(Administration.layer, UsageLog.layer.pipe(Layer.provide(RequestTable.layer))).pipe(
    Layer.provide(keys),
    Layer.provide(ConfigSnapshot.layerAlone(settings)),
    Layer.provide(Store.layerOf(settings.store)),
    Layer.provide(Layer.succeed(Limits, settings.limits))
  )

/** The captured content in the store, for work that deletes requests. */
export const layerContents = ({ limits, store }: Settings): Layer.Layer<ContentStore, StoreUnusable> =>
  ContentStore.layerWith({ isKept: true }).pipe(
    Layer.provide(Store.layerOf(store)),
    Layer.provide(Layer.succeed(Limits, limits))
  )

/** All services without the network: provide a Transport, real or scripted. */
const layerNoDeps = (
  settings: Settings,
  parts: PartsOverNetwork = {}
): Layer.Layer<GatewayServices, StoreUnusable | PackageMissing, Transport> =>
  services(settings, parts, sharing(settings, parts), Store.layerOf(settings.store, awaitReachable))

/** The SDK connects by itself. */
const exportAgents = (network: NetworkSetting, { endpoints = {} }: ExportSetting) => ({
  traces: agentOptions(network, endpoints.traces),
  metrics: agentOptions(network, endpoints.metrics)
})

/** How other hosts are reached. */
const networkOf = ({ network }: Settings): Layer.Layer<never> =>
  network === undefined ? Layer.empty : Layer.succeed(Network, network)

/** The services over the real network, without an HTTP server. */
const layerServices = (
  settings: Settings,
  parts: GatewayParts = {},
  shared = sharing(settings, parts)
): Layer.Layer<GatewayServices, StoreUnusable | PackageMissing> =>
  services(settings, parts, shared, Store.layerOf(settings.store, awaitReachable)).pipe(
    Layer.provide(
      partOf(Transport, parts.transport, Transport.layer).pipe(
        Layer.provide([Layer.succeed(Limits, settings.limits), networkOf(settings)])
      )
    )
  )

/** The whole service: listens until the layer's scope closes, then drains. The layer also provides its services. */
const layer = (
  settings: Settings,
  parts: GatewayParts = {}
): Layer.Layer<
  HttpServer.HttpServer | GatewayServices,
  HttpServerError.ServeError | PackageMissing | StoreUnusable
> => {
  const shared = sharing(settings, parts)
  const { serverTls } = settings
  const certificate = Layer.succeed(Certificate, serverTls === undefined ? undefined : new ServedCertificate(serverTls))
  return Server.layer(settings.server).pipe(
    Layer.provide([ProcessMetrics.layer(version), readiness(settings, parts, shared), sessions(settings, shared)]),
    Layer.provideMerge(layerServices(settings, parts, shared)),
    Layer.provideMerge(certificate),
    Layer.provide(accessOf(settings)),
    Layer.provide(exporting(settings)),
    Layer.provide(Layer.succeed(Limits, settings.limits))
  )
}

/** What HTTP needs of the settings beyond keys: CORS origins, the metrics route, the slugs of native paths, the counted metadata, what the service runs on. */
const accessOf = ({
  export: exported,
  native = {},
  redis,
  server: { basePath = "", cors = [], metricsAuth = "none", trustedProxies = [] },
  store,
  usageMetadata = []
}: Settings): Layer.Layer<never> =>
  Layer.mergeAll(
    Layer.succeed(BasePath, basePath),
    Layer.succeed(ClientReader, clientReader(trustedProxies)),
    Layer.succeed(MetricsAccess, metricsAuth),
    Layer.succeed(CorsOrigins, cors),
    Layer.succeed(NativeDefaults, native),
    Layer.succeed(CountedMetadata, usageMetadata),
    Layer.succeed(Surroundings, {
      store: store === undefined ? undefined : describeStore(store.location),
      hasRedis: redis !== undefined,
      export: exported
    })
  )

/** The sessions of the console, where there is one. Failed sign-ins count in what several processes share. */
const sessions = <E>({ server }: Settings, shared: Sharing<E>): Layer.Layer<never, E, GatewayKeys | SessionTable> =>
  ConsoleSessions.layerWith(server.console === false ? undefined : server.console).pipe(
    Layer.provide(rateStore(shared))
  )

/** The dependencies that the health routes report: store and Redis. */
const readiness = (
  settings: Settings,
  parts: GatewayParts,
  shared: Sharing
): Layer.Layer<never, PackageMissing, ConfigSnapshot | Records | UsageLog> =>
  Layer.effect(
    Readiness,
    Effect.gen(function* () {
      const { isFresh } = yield* ConfigSnapshot
      const { writeRefusal } = yield* Records
      const { backlog } = yield* UsageLog
      const redis = Option.getOrUndefined(yield* Effect.serviceOption(SharedRedis))
      return {
        ...(settings.store === undefined ? {} : { store: () => storeState(isFresh(), writeRefusal(), backlog?.()) }),
        ...(redis === undefined ? {} : { redis: () => redisState(redis.isUp()) }),
        ...parts.readiness
      }
    })
  ).pipe(Layer.provide(shared ?? Layer.empty))

/**
 * For tests: the service as a function of web requests over the given network, with all state in memory and no socket.
 */
const layerTest = (
  settings: Settings,
  parts: PartsOverNetwork = {}
): Layer.Layer<GatewayServices | WebHandler, never, Transport> =>
  WebHandler.layer.pipe(
    Layer.provide(sessions<never>(settings, undefined)),
    Layer.provideMerge(services<never, never>(settings, parts, undefined, Store.layerMemory)),
    Layer.provide([Layer.succeed(Limits, settings.limits), accessOf(settings)])
  )

/** The OpenTelemetry SDK is large and optional, so it is loaded only where an endpoint is set. */
const exporting = ({ export: wanted, network }: Settings): Layer.Layer<never, PackageMissing> =>
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
          ({ exporter }) => exporter(version, wanted, network === undefined ? undefined : exportAgents(network, wanted))
        )
      )

export const Gateway = { layer, layerAdministration, layerServices, layerNoDeps, layerTest }
