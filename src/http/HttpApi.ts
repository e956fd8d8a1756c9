// All routes of the service under their middleware, as one layer on Effect's HttpRouter.
// It must not know servers, sockets or where the services come from.
import * as Layer from "effect/Layer"
import * as HttpRouter from "effect/http/HttpRouter"
import type { Catalog } from "../catalog/Catalog.ts"
import type { GatewayKeys } from "../keys/GatewayKeys.ts"
import type { ProviderRouter } from "../router/ProviderRouter.ts"
import { GatewayAuth } from "./AuthLayers.ts"
import { Boundary } from "./Boundary.ts"
import { ChatHandlers } from "./ChatHandlers.ts"
import { HealthHandlers } from "./HealthHandlers.ts"
import { ModelsHandlers } from "./ModelsHandlers.ts"
import { Traffic } from "./Traffic.ts"

/** What the routes need from the rest of the gateway. */
export type HttpApiServices = ProviderRouter | GatewayKeys | Catalog

/** Routes that share the traffic counters of the server that runs them. */
const routes: Layer.Layer<never, never, HttpApiServices | Traffic | HttpRouter.HttpRouter> = Layer.mergeAll(
  ChatHandlers,
  ModelsHandlers
).pipe(
  Layer.provide(GatewayAuth.layer),
  Layer.merge(HealthHandlers),
  Layer.provide(Boundary)
)

/** The routes for a router of somebody else. */
const layer: Layer.Layer<never, never, HttpApiServices | HttpRouter.HttpRouter> = Layer.provide(routes, Traffic.layer)

/** Paths are taken literally: a doubled or trailing slash or another case is another path. */
const routerConfig = {
  caseSensitive: true,
  ignoreTrailingSlash: false,
  ignoreDuplicateSlashes: false,
  maxParamLength: 1024
}

/** The whole face as a function from web request to web response, without a socket. */
const webHandler = (services: Layer.Layer<HttpApiServices>): {
  readonly handler: (request: Request) => Promise<Response>
  readonly dispose: () => Promise<void>
} => HttpRouter.toWebHandler(Layer.provide(layer, services), { disableLogger: true, routerConfig })

export const HttpApi = { layer, routes, routerConfig, webHandler }
