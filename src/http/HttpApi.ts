// All routes of the service: for its own servers, for a web handler, and for the router of another application.
// It must not depend on servers, sockets or where the services come from.
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpEffect from "effect/http/HttpEffect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import type * as Scope from "effect/Scope"
import type * as Types from "effect/Types"
import type { Catalog, Configs, Prompts } from "../catalog/Catalog.ts"
import type { Prices } from "../catalog/Prices.ts"
import type { NativeOperation, Operation } from "../domain/operations.ts"
import type { Admission } from "../keys/Admission.ts"
import type { GatewayKeys } from "../keys/GatewayKeys.ts"
import type { UsageLog } from "../keys/UsageLog.ts"
import type { LearnedRemedies } from "../state/LearnedRemedies.ts"
import type { ProviderRouter } from "../router/ProviderRouter.ts"
import type { Administration } from "../admin/Administration.ts"
import type { ProviderTest } from "../admin/ProviderTest.ts"
import type { Carriers } from "../store/Carriers.ts"
import type { ContentStore } from "../store/ContentStore.ts"
import type { ResponseStore } from "../store/ResponseStore.ts"
import { type Answering, type Routes, together } from "./edge/Route.ts"
import { type Arrival, arrivalOf, EffectExchange } from "./node/Exchange.ts"
import { AdminService, AdminSettings } from "./admin/AdminService.ts"
import { AdminChecks, AdminEntries } from "./admin/AdminEntries.ts"
import { AdminReports } from "./admin/AdminReports.ts"
import { DryRuns } from "./DryRuns.ts"
import { dispatching } from "./edge/RequestLifecycle.ts"
import {
  ChatHandlers,
  CountTokensHandlers,
  EmbeddingsHandlers,
  ImagesHandlers,
  MessagesCountHandlers,
  MessagesHandlers
} from "./routes/OperationHandlers.ts"
import { withCors } from "./edge/Cors.ts"
import { DocsHandlers, GuidesHandlers } from "./routes/docs/DocsHandlers.ts"
import { ConsoleRootHandlers, HealthHandlers, MetricsHandlers, RootHandlers } from "./routes/StatusHandlers.ts"
import { ModelsHandlers } from "./routes/ModelsHandlers.ts"
import { NativeRoutes } from "./routes/NativeRoutes.ts"
import { PromptsHandlers } from "./routes/PromptsHandlers.ts"
import { ConsoleHandlers } from "./routes/ConsoleHandlers.ts"
import { KeptHandlers, ResponsesHandlers } from "./routes/ResponsesHandlers.ts"
import { BasePath } from "./node/Proxied.ts"
import { Traffic } from "./node/Traffic.ts"

/** The answer to the request at hand of an Effect server. */
export const answering = (
  answer: Answering
): Effect.Effect<HttpServerResponse.HttpServerResponse, never, HttpServerRequest.HttpServerRequest | Scope.Scope> =>
  Effect.flatMap(Effect.all([HttpServerRequest.HttpServerRequest, BasePath]), ([request, base]) =>
    answer(arrivalOf(new EffectExchange(request), base))
  )

/** The answer to a path of Google's dialects; undefined for every other request. */
type ReadsNative = (arrival: Arrival) => ReturnType<Answering> | undefined

/** The layer that adds these routes, and `native`, which is asked before any route, to a router. */
const mounted = <R, S>(
  make: Routes<R>,
  native: Effect.Effect<ReadsNative, never, S>
): Layer.Layer<never, never, R | S | HttpRouter.HttpRouter> =>
  Layer.merge(
    HttpRouter.use((router) =>
      Effect.flatMap(make, (routes) =>
        Effect.forEach(routes, ({ answer, method, path }) => router.add(method, path, answering(answer)), {
          discard: true
        })
      )
    ),
    HttpRouter.middleware(
      Effect.map(
        native,
        (read) => (app) =>
          Effect.withFiber((fiber) => {
            const request = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
            const answer: Effect.Effect<
              HttpServerResponse.HttpServerResponse,
              Types.unhandled,
              HttpServerRequest.HttpServerRequest | Scope.Scope
            > = read(arrivalOf(new EffectExchange(request), fiber.getRef(BasePath))) ?? app
            return answer
          })
      ),
      { global: true }
    )
  )

// All routes of the service: for its own servers, for a web handler, and for the router of another application.

/** What the routes need from the rest of the gateway. */
export type HttpApiServices =
  | ProviderRouter
  | GatewayKeys
  | Catalog
  | Configs
  | Prompts
  | UsageLog
  | ContentStore
  | LearnedRemedies
  | Admission
  | Prices
  | Administration
  | ProviderTest
  | ResponseStore
  | Carriers

type Needed = HttpApiServices | Traffic

const operationRoutes: Readonly<Record<Exclude<Operation, NativeOperation>, Routes<Needed>>> = {
  chat: ChatHandlers,
  countTokens: CountTokensHandlers,
  embeddings: EmbeddingsHandlers,
  images: ImagesHandlers,
  messages: MessagesHandlers,
  messagesCountTokens: MessagesCountHandlers
}

/** The routes of clients, which every composition serves. */
const clients: Routes<Needed> = together(
  ModelsHandlers,
  PromptsHandlers,
  ResponsesHandlers,
  KeptHandlers,
  HealthHandlers,
  ...Object.values(operationRoutes)
)

/** The group `admin` has no dry runs, for these need all that calls need. */
const operators: Routes<Needed> = together(
  AdminReports,
  AdminService,
  AdminSettings,
  AdminEntries,
  AdminChecks,
  DryRuns
)

/** The routes of a server of the gateway alone. */
const routes: Routes<Needed> = together(
  clients,
  operators,
  MetricsHandlers,
  ConsoleHandlers,
  DocsHandlers,
  GuidesHandlers,
  ConsoleRootHandlers
)

/** Answers every request of a server of clients. */
const answeringClients = (parts: Routes<Needed>): Effect.Effect<Answering, never, Needed> =>
  Effect.gen(function* () {
    return yield* withCors(yield* dispatching(yield* parts, yield* NativeRoutes))
  })

/** What answers on each server: on a single one, or on two where operators have a server of their own. */
const servers = {
  single: answeringClients(routes),
  clients: answeringClients(together(clients, DocsHandlers, GuidesHandlers, RootHandlers)),
  operators: Effect.flatMap(together(operators, ConsoleHandlers, MetricsHandlers, HealthHandlers), (routes) =>
    dispatching(routes, () => undefined)
  )
}

/** Routes for the router of another application; all of them count the same traffic. */
const mount = <R, S = never>(
  make: Routes<R>,
  native: Effect.Effect<ReadsNative, never, S> = Effect.succeed(() => undefined)
): Layer.Layer<never, never, Exclude<R | S, Traffic> | HttpRouter.HttpRouter> =>
  Layer.provide(mounted(make, native), Traffic.layer)

/** The routes for the router of another application, whose other paths stay its own. */
const layer: Layer.Layer<never, never, HttpApiServices | HttpRouter.HttpRouter> = mount(
  together(clients, operators),
  NativeRoutes
)

/**
 * The routes of one subject each, for an application that mounts some of them. A group needs what its own routes
 * need: `chat` needs no administration.
 */
const groups = {
  admin: mount(together(AdminReports, AdminService, AdminEntries)),
  chat: mount(together(ChatHandlers, CountTokensHandlers)),
  docs: mount(DocsHandlers),
  embeddings: mount(EmbeddingsHandlers),
  health: mount(HealthHandlers),
  images: mount(ImagesHandlers),
  messages: mount(together(MessagesHandlers, MessagesCountHandlers)),
  metrics: mount(MetricsHandlers),
  models: mount(ModelsHandlers),
  native: mount(together(), NativeRoutes),
  prompts: mount(PromptsHandlers),
  responses: mount(together(ResponsesHandlers, KeptHandlers))
}

/** The whole face as a function of web requests, without a socket. It lives as long as its layer and keeps the clock and ids of its surroundings. */
export class WebHandler extends Context.Service<WebHandler, (request: Request) => Promise<Response>>()(
  "gateway/http/WebHandler"
) {
  static readonly layer: Layer.Layer<WebHandler, never, HttpApiServices> = Layer.effect(
    WebHandler,
    Effect.gen(function* () {
      const answer = yield* servers.single
      const context = yield* Effect.context<HttpApiServices>()
      return HttpEffect.toWebHandlerWith<HttpApiServices, Scope.Scope | HttpServerRequest.HttpServerRequest>(context)(
        answering(answer)
      )
    })
  ).pipe(Layer.provide(Traffic.layer))
}

/** The whole face as a function from web request to web response, without a socket; it rejects when the services cannot be made. */
const webHandler = <E>(
  services: Layer.Layer<HttpApiServices, E>
): {
  readonly handler: (request: Request) => Promise<Response>
  readonly dispose: () => Promise<void>
} => {
  const runtime = ManagedRuntime.make(Layer.provide(WebHandler.layer, services))
  return {
    handler: async (request) => (await runtime.runPromise(WebHandler))(request),
    dispose: () => runtime.dispose()
  }
}

export const HttpApi = { groups, layer, routes, servers, webHandler }
