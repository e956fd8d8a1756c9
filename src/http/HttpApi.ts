// All routes of the service as one layer on Effect's HttpRouter.
// It must not know servers, sockets or where the services come from.
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
import type { Admission } from "../keys/Admission.ts"
import type { GatewayKeys } from "../keys/GatewayKeys.ts"
import type { UsageLog } from "../keys/UsageLog.ts"
import type { ProviderRouter } from "../router/ProviderRouter.ts"
import type { Administration } from "../admin/Administration.ts"
import type { ProviderTest } from "../admin/ProviderTest.ts"
import { AdminEntries } from "./admin/AdminEntries.ts"
import { AdminHandlers } from "./admin/AdminHandlers.ts"
import { serverEdge } from "./edge/Boundary.ts"
import { ChatHandlers } from "./routes/ChatHandlers.ts"
import { Cors } from "./Cors.ts"
import { CountTokensHandlers } from "./routes/CountTokensHandlers.ts"
import { DocsHandlers } from "./routes/DocsHandlers.ts"
import { EmbeddingsHandlers } from "./routes/EmbeddingsHandlers.ts"
import { HealthHandlers } from "./routes/HealthHandlers.ts"
import { ImagesHandlers } from "./routes/ImagesHandlers.ts"
import { MessagesHandlers } from "./routes/MessagesHandlers.ts"
import { MetricsHandlers } from "./routes/MetricsHandlers.ts"
import { ModelsHandlers } from "./routes/ModelsHandlers.ts"
import { PromptsHandlers } from "./routes/PromptsHandlers.ts"
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
  | Admission
  | Prices
  | Administration
  | ProviderTest

type Routes = Layer.Layer<never, never, HttpApiServices | Traffic | HttpRouter.HttpRouter>

const everybodys: Routes = Layer.mergeAll(
  ChatHandlers,
  CountTokensHandlers,
  EmbeddingsHandlers,
  ImagesHandlers,
  MessagesHandlers,
  ModelsHandlers,
  PromptsHandlers,
  HealthHandlers
)

const operators: Routes = Layer.merge(AdminHandlers, AdminEntries)

/** The routes of a server that is the gateway and nothing else; they share the traffic counters of that server. */
const routes: Routes = Layer.mergeAll(
  everybodys,
  operators,
  MetricsHandlers,
  DocsHandlers,
  Cors,
  serverEdge(() => true)
)

/** The same where operators have a server of their own, and that one. */
const routesApart: Routes = Layer.mergeAll(
  everybodys,
  DocsHandlers,
  Cors,
  serverEdge((path) => !isOperators(path))
)
const operatorRoutes: Routes = Layer.mergeAll(operators, MetricsHandlers, HealthHandlers, serverEdge(isOperators))

/** The routes for a router of somebody else, whose other paths stay its own. */
const layer: Layer.Layer<never, never, HttpApiServices | HttpRouter.HttpRouter> = Layer.provide(
  Layer.merge(everybodys, operators),
  Traffic.layer
)

/** Paths are taken literally: a doubled or trailing slash or another case is another path. */
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
