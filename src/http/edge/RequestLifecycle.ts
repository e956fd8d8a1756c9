// The outermost wrap of every request: counts it, gives it ids, and turns every failure into an error body.
// It must not depend on what any handler does.
import { IncomingMessage } from "node:http"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import type * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import type * as Types from "effect/Types"
import { type GatewayError, MethodNotAllowed, RouteUnknown, UpgradeRequired } from "../../domain/GatewayError.ts"
import { withoutQueryKeys } from "../../domain/text/queryless.ts"
import { canonicalPath } from "../../api/clients/canonicalPath.ts"
import { Limits } from "../../domain/Limits.ts"
import type { OperationPath } from "../../domain/operations.ts"
import { Accounting, unmatchedRoute } from "../../accounting/Accounting.ts"
import { type IncomingRequest, requestReceiver } from "../request/IncomingRequest.ts"
import { errorOf, isClientGone, refusal, refuse } from "../response/ErrorResponse.ts"
import { allowedMethods } from "./routes.ts"
import { Traffic } from "../node/Traffic.ts"
import { headerFault } from "../request/wireFaults.ts"

/** Answers one request. It reads nothing of the request but its argument, so that any server can start it. */
export type Handler = (
  incoming: IncomingRequest
) => Effect.Effect<HttpServerResponse.HttpServerResponse, GatewayError, Scope.Scope>

export type RouteMethod = "GET" | "POST" | "PUT" | "DELETE"

/** The template of a route. */
export type RoutePath = OperationPath | `/admin/v1/${string}` | "/metrics" | "/openapi.json" | "/docs" | "/console/*"

/** The target with the path as the routes know it; the query stays. */
const canonicalTarget = (url: string): string => {
  const query = url.indexOf("?")
  return query < 0 ? canonicalPath(url) : `${canonicalPath(url.slice(0, query))}${url.slice(query)}`
}

/** A handler that answers every failure, unless the client has closed the connection. */
export type Answering = Effect.Effect<
  HttpServerResponse.HttpServerResponse,
  never,
  HttpServerRequest.HttpServerRequest | Scope.Scope
>

/** Makes the bounded handlers of a route, whose template names it where requests are counted. */
export const requestLifecycle = (
  method: string,
  path: string
): Effect.Effect<(handler: Handler) => Answering, never, Traffic> =>
  Effect.gen(function* () {
    const traffic = yield* Traffic
    const receive = yield* requestReceiver
    const accounts = (yield* Accounting)?.route(method, path)
    const leave = (exit: Exit.Exit<unknown, unknown>, incoming: IncomingRequest): Effect.Effect<void> => {
      incoming.hold?.end()
      return incoming.recorder === undefined || accounts === undefined
        ? Effect.void
        : accounts.close(incoming.recorder, incoming, Exit.isFailure(exit) && isClientGone(exit.cause))
    }
    const closing = (answer: HttpServerResponse.HttpServerResponse) =>
      traffic.draining ? HttpServerResponse.setHeader(answer, "connection", "close") : answer
    return (handler) =>
      Effect.withFiber((fiber) => {
        const request = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
        const incoming = receive(request, fiber.getRef(Clock.Clock), accounts?.open())
        if (incoming.recorder !== undefined) accounts?.begin?.(incoming.recorder, incoming)
        const scope = Context.getUnsafe(fiber.context, Scope.Scope)
        return Effect.flatMap(
          Scope.addFinalizerExit(scope, (exit) => leave(exit, incoming)),
          () =>
            Effect.matchCauseEffect(
              Effect.suspend(() => handler(incoming)),
              {
                onSuccess: (answer) => {
                  if (incoming.recorder?.status === 0)
                    incoming.recorder.status =
                      incoming.node?.headersSent === true ? incoming.node.statusCode : answer.status
                  return Effect.succeed(closing(answer))
                },
                onFailure: (cause) => Effect.map(answered(cause, incoming), closing)
              }
            )
        )
      })
  })

const answered = (
  cause: Cause.Cause<GatewayError>,
  incoming: IncomingRequest
): Effect.Effect<HttpServerResponse.HttpServerResponse> => {
  if (isClientGone(cause)) return Effect.failCause(Cause.fromReasons(cause.reasons.filter(Cause.isInterruptReason)))
  const error = errorOf(cause)
  return error._tag === "Unexpected"
    ? Effect.as(
        Effect.logError("request failed unexpectedly", incoming.requestId, withoutQueryKeys(Cause.pretty(cause))),
        refuse(error, incoming)
      )
    : Effect.succeed(refuse(error, incoming))
}

/** A route that answers within the request lifecycle; `make` builds its handler once. Some SDKs double the version of the API, so both forms are routes. */
export const lifecycleRoute = <R>(
  method: RouteMethod,
  path: RoutePath,
  make: Effect.Effect<Handler, never, R>
): Layer.Layer<never, never, R | Traffic | HttpRouter.HttpRouter> =>
  HttpRouter.use((router) =>
    Effect.gen(function* () {
      const bounded = yield* requestLifecycle(method, path)
      const answer = bounded(yield* make)
      yield* router.add(method, path, answer)
      if (path.startsWith("/v1/")) yield* router.add(method, `/v1${path}`, answer)
    })
  )

/** Clients of the Responses API try a WebSocket first; after this status they send the request by POST. */
const asksWebSocket = ({ headers, method, path }: IncomingRequest): boolean =>
  method === "GET" && path === "/v1/responses" && headers["upgrade"]?.toLowerCase() === "websocket"

/** Answers requests without a route: another method of a known path, or an unknown path. */
const unrouted =
  (serves: (path: string) => boolean): Handler =>
  (incoming) => {
    const { method, path } = incoming
    if (asksWebSocket(incoming)) return Effect.fail(new UpgradeRequired())
    const allow = serves(path) ? allowedMethods(path) : []
    return Effect.fail(
      allow.length === 0 || allow.includes(method)
        ? new RouteUnknown({ method, path: path.slice(0, 256) })
        : new MethodNotAllowed({ method, allow })
    )
  }

/**
 * The edge of a server of the gateway alone: refuses header blocks that Node accepts, reads the other spellings of
 * its paths, and answers paths without a route. `serves` is true for the paths of this server.
 */
export const serverEdge = (
  serves: (path: string) => boolean
): Layer.Layer<never, never, Traffic | HttpRouter.HttpRouter> =>
  HttpRouter.middleware(
    Effect.gen(function* () {
      const limits = yield* Limits
      const receive = yield* requestReceiver
      // Nothing is left to fail, but the router's types want to see a failure pass through.
      const answerUnrouted: Effect.Effect<
        HttpServerResponse.HttpServerResponse,
        Types.unhandled,
        HttpServerRequest.HttpServerRequest | Scope.Scope
      > = (yield* requestLifecycle("_OTHER", unmatchedRoute))(unrouted(serves))
      return (app) => {
        const routed = Effect.catch(app, () => answerUnrouted)
        return Effect.withFiber((fiber) => {
          const request = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
          const { source, url } = request
          const target = canonicalTarget(url)
          const fault = source instanceof IncomingMessage ? headerFault(source, limits.headerCount) : undefined
          return fault === undefined
            ? target === url
              ? routed
              : Effect.provideService(routed, HttpServerRequest.HttpServerRequest, request.modify({ url: target }))
            : Effect.clockWith((clock) => Effect.succeed(refusal(fault, receive(request, clock, undefined))))
        })
      }
    }),
    { global: true }
  )
