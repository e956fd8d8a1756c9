// All routes of the service: for its own servers, for a web handler, and for the router of another application.
// It must not depend on servers, sockets or where the services come from.
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpEffect from "effect/http/HttpEffect"
import type * as HttpRouter from "effect/http/HttpRouter"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
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
import type { ContentStore } from "../store/content/ContentStore.ts"
import type { ResponseStore } from "../store/ResponseStore.ts"
import { AdminClients } from "./admin/AdminClients.ts"
import { AdminChecks } from "./admin/AdminChecks.ts"
import { AdminEntries } from "./admin/AdminEntries.ts"
import { AdminHandlers } from "./admin/AdminHandlers.ts"
import { DryRuns } from "./DryRuns.ts"
import { AdminMetrics } from "./admin/AdminMetrics.ts"
import { AdminModels } from "./admin/AdminModels.ts"
import { AdminSettings } from "./admin/AdminSettings.ts"
import { RequestEvents } from "./admin/RequestEvents.ts"
import { dispatching } from "./edge/Dispatch.ts"
import { type Answering, type Routes, together } from "./edge/Route.ts"
import { ChatHandlers } from "./routes/ChatHandlers.ts"
import { withCors } from "./Cors.ts"
import { CountTokensHandlers } from "./routes/CountTokensHandlers.ts"
import { DocsHandlers } from "./routes/docs/DocsHandlers.ts"
import { GuidesHandlers } from "./routes/docs/GuidesHandlers.ts"
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
import { answering, mounted, type ReadsNative } from "./Mounted.ts"
import { Traffic } from "./node/Traffic.ts"

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

const ofOperations: Readonly<Record<Exclude<Operation, NativeOperation>, Routes<Needed>>> = {
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
  ...Object.values(ofOperations)
)

/** The group `admin` has no dry runs, for these need all that calls need. */
const operators: Routes<Needed> = together(
  AdminHandlers,
  RequestEvents,
  AdminModels,
  AdminMetrics,
  AdminClients,
  AdminChecks,
  AdminSettings,
  AdminEntries,
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

/** Answers every request of a server of clients; `serves` is true for its paths. */
const answeringClients = (
  parts: Routes<Needed>,
  serves: (path: string) => boolean
): Effect.Effect<Answering, never, Needed> =>
  Effect.gen(function* () {
    return yield* withCors(yield* dispatching({ routes: yield* parts, native: yield* NativeRoutes, serves }))
  })

/** What answers on each server: on a single one, or on two where operators have a server of their own. */
const servers = {
  single: answeringClients(routes, () => true),
  clients: answeringClients(
    together(clients, DocsHandlers, GuidesHandlers, RootHandlers),
    (path) => !isOperators(path)
  ),
  operators: Effect.flatMap(together(operators, ConsoleHandlers, MetricsHandlers, HealthHandlers), (routes) =>
    dispatching({ routes, native: () => undefined, serves: isOperators })
  )
}

/** Routes for the router of another application; all of them count the same traffic. */
const mount = <R, S = never>(
  own: Routes<R>,
  native: Effect.Effect<ReadsNative, never, S> = Effect.succeed(() => undefined)
): Layer.Layer<never, never, Exclude<R | S, Traffic> | HttpRouter.HttpRouter> =>
  Layer.provide(mounted(own, native), Traffic.layer)

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
  admin: mount(together(AdminHandlers, RequestEvents, AdminModels, AdminMetrics, AdminClients, AdminEntries)),
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
