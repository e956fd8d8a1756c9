// All routes of the service as one layer on Effect's HttpRouter.
// It must not depend on servers, sockets or where the services come from.
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpEffect from "effect/http/HttpEffect"
import * as HttpRouter from "effect/http/HttpRouter"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type { Catalog } from "../catalog/Catalog.ts"
import type { Configs } from "../catalog/Configs.ts"
import type { Prices } from "../catalog/Prices.ts"
import type { Prompts } from "../catalog/Prompts.ts"
import type { NativeOperation, Operation } from "../domain/operations.ts"
import type { Admission } from "../keys/Admission.ts"
import type { GatewayKeys } from "../keys/GatewayKeys.ts"
import type { UsageLog } from "../keys/UsageLog.ts"
import type { LearnedRemedies } from "../state/LearnedRemedies.ts"
import type { ProviderRouter } from "../router/ProviderRouter.ts"
import type { Administration } from "../admin/Administration.ts"
import type { ProviderTest } from "../admin/ProviderTest.ts"
import type { Carriers } from "../store/Carriers.ts"
import type { ResponseStore } from "../store/ResponseStore.ts"
import { AdminEntries } from "./admin/AdminEntries.ts"
import { AdminHandlers } from "./admin/AdminHandlers.ts"
import { AdminModels } from "./admin/AdminModels.ts"
import { serverEdge } from "./edge/RequestLifecycle.ts"
import { ChatHandlers } from "./routes/ChatHandlers.ts"
import { Cors } from "./Cors.ts"
import { CountTokensHandlers } from "./routes/CountTokensHandlers.ts"
import { DocsHandlers } from "./routes/docs/DocsHandlers.ts"
import { EmbeddingsHandlers } from "./routes/EmbeddingsHandlers.ts"
import { HealthHandlers } from "./routes/HealthHandlers.ts"
import { ImagesHandlers } from "./routes/ImagesHandlers.ts"
import { MessagesCountHandlers, MessagesHandlers } from "./routes/MessagesHandlers.ts"
import { MetricsHandlers } from "./routes/MetricsHandlers.ts"
import { ModelsHandlers } from "./routes/ModelsHandlers.ts"
import { NativeRoutes } from "./routes/NativeRoutes.ts"
import { PromptsHandlers } from "./routes/PromptsHandlers.ts"
import { ConsoleHandlers } from "./routes/console/ConsoleHandlers.ts"
import { ConsoleRootHandlers, RootHandlers } from "./routes/RootHandlers.ts"
import { KeptHandlers } from "./routes/responses/KeptHandlers.ts"
import { ResponsesHandlers } from "./routes/responses/ResponsesHandlers.ts"
import { isOperators } from "./edge/routes.ts"
import { Traffic } from "./node/Traffic.ts"

/** What the routes need from the rest of the gateway. */
export type HttpApiServices =
  | ProviderRouter
  | GatewayKeys
  | Catalog
  | Configs
  | Prompts
  | UsageLog
  | LearnedRemedies
  | Admission
  | Prices
  | Administration
  | ProviderTest
  | ResponseStore
  | Carriers

type Routes = Layer.Layer<never, never, HttpApiServices | Traffic | HttpRouter.HttpRouter>

const ofOperations: Readonly<Record<Exclude<Operation, NativeOperation>, Routes>> = {
  chat: ChatHandlers,
  countTokens: CountTokensHandlers,
  embeddings: EmbeddingsHandlers,
  images: ImagesHandlers,
  messages: MessagesHandlers,
  messagesCountTokens: MessagesCountHandlers
}

/** The routes of clients, which every composition serves. */
const clients: Routes = Layer.mergeAll(
  ModelsHandlers,
  PromptsHandlers,
  ResponsesHandlers,
  KeptHandlers,
  HealthHandlers,
  ...Object.values(ofOperations)
)

const operators: Routes = Layer.mergeAll(AdminHandlers, AdminModels, AdminEntries)

/** Native paths are read after everything else of the edge: middleware that is added last is the innermost. */
const withNative = (edge: Routes): Routes => Layer.provideMerge(NativeRoutes, edge)

/** The routes of a server of the gateway alone; they share the traffic counters of that server. */
const routes: Routes = withNative(
  Layer.mergeAll(
    clients,
    operators,
    MetricsHandlers,
    ConsoleHandlers,
    DocsHandlers,
    ConsoleRootHandlers,
    Cors,
    serverEdge(() => true)
  )
)

/** The routes of clients where operators have a server of their own. */
const routesApart: Routes = withNative(
  Layer.mergeAll(
    clients,
    DocsHandlers,
    RootHandlers,
    Cors,
    serverEdge((path) => !isOperators(path))
  )
)
const operatorRoutes: Routes = Layer.mergeAll(
  operators,
  ConsoleHandlers,
  MetricsHandlers,
  HealthHandlers,
  serverEdge(isOperators)
)

/** The routes for the router of another application, whose other paths stay its own. */
const layer: Layer.Layer<never, never, HttpApiServices | HttpRouter.HttpRouter> = Layer.provide(
  withNative(Layer.merge(clients, operators)),
  Traffic.layer
)

/** Paths are taken literally: the edge of the server reads the other spellings of a path, and no others count. */
const routerConfig = {
  caseSensitive: true,
  ignoreTrailingSlash: false,
  ignoreDuplicateSlashes: false,
  maxParamLength: 1024
}

/** The whole face as a function from web request to web response, without a socket; it rejects when the services cannot be made. */
const webHandler = <E>(
  services: Layer.Layer<HttpApiServices, E>
): {
  readonly handler: (request: Request) => Promise<Response>
  readonly dispose: () => Promise<void>
} =>
  HttpRouter.toWebHandler(routes.pipe(Layer.provide(Traffic.layer), Layer.provide(services)), {
    disableLogger: true,
    routerConfig
  })

/** The whole face as a function of web requests, without a socket. It lives as long as its layer and keeps the clock and ids of its surroundings. */
export class WebHandler extends Context.Service<WebHandler, (request: Request) => Promise<Response>>()(
  "gateway/http/WebHandler"
) {
  static readonly layer: Layer.Layer<WebHandler, never, HttpApiServices> = Layer.effect(
    WebHandler,
    Effect.gen(function* () {
      const app = yield* HttpRouter.toHttpEffect(routes.pipe(Layer.provide(Traffic.layer)))
      const context = yield* Effect.context<HttpApiServices>()
      return HttpEffect.toWebHandlerWith<HttpApiServices, Scope.Scope | HttpServerRequest.HttpServerRequest>(context)(
        app
      )
    }).pipe(Effect.provideService(HttpRouter.RouterConfig, routerConfig))
  )
}

export const HttpApi = { layer, operatorRoutes, routes, routesApart, routerConfig, webHandler }
