// Finds the route of a request, and wraps what answers it: counts the request, gives it ids, and turns every failure into an error body.
// It must not depend on a server, or on what any handler does.
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FindMyWay from "effect/http/FindMyWay"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Scope from "effect/Scope"
import { Accounting, unmatchedRoute } from "../../accounting/Accounting.ts"
import { type GatewayError, MethodNotAllowed, UpgradeRequired } from "../../domain/GatewayError.ts"
import { Limits } from "../../domain/Limits.ts"
import { withoutQueryKeys } from "../../domain/text/publicText.ts"
import { answered, type Arrival } from "../node/Exchange.ts"
import { Traffic } from "../node/Traffic.ts"
import { type IncomingRequest, requestReceiver, pathUnknown } from "../request/IncomingRequest.ts"
import { headerFault } from "../request/wireFaults.ts"
import { errorOf, isClientGone, refusal, refuse } from "../response/ErrorResponse.ts"
import { type Answering, methodsOf, type Route, type RouteMethod, type RoutePath, type Routes } from "./Route.ts"

/** Clients of the Responses API try a WebSocket first; after this status they send the request by POST. */
const asksWebSocket = ({ headers, method, path }: IncomingRequest): boolean =>
  method === "GET" && path === "/v1/responses" && headers["upgrade"]?.toLowerCase() === "websocket"

/** Answers requests without a route: another method of a known path, or an unknown path. */
const unrouted = (routes: ReadonlyArray<Route>): Handler => {
  const allowed = methodsOf(routes)
  return (incoming) => {
    const { method, path } = incoming
    if (asksWebSocket(incoming)) return Effect.fail(new UpgradeRequired())
    const allow = allowed(path)
    return Effect.fail(
      // A path with too long an id has a template, and no route.
      allow.length === 0 || allow.some((one) => one === method)
        ? pathUnknown(incoming)
        : new MethodNotAllowed({ method, allow })
    )
  }
}

/** Paths are taken literally; their other spellings are read before. */
const literalPaths = {
  caseSensitive: true,
  ignoreTrailingSlash: false,
  ignoreDuplicateSlashes: false,
  maxParamLength: 1024
}

const tableOf = (routes: ReadonlyArray<Route>): FindMyWay.Router<Answering> => {
  const table = FindMyWay.make<Answering>(literalPaths)
  for (const { answer, method, path } of routes) {
    table.on(method, path, answer)
    const above = path.slice(0, -"/*".length)
    if (path.endsWith("/*") && above.startsWith("/")) table.on(method, `/${above.slice(1)}`, answer)
  }
  return table
}

/**
 * Answers every request of a server: refuses header blocks that Node accepts, and answers paths without a route. HEAD is
 * answered by the route of GET. `native` answers requests that no template describes; undefined for all others.
 */
export const dispatching = (
  routes: ReadonlyArray<Route>,
  native: (arrival: Arrival) => ReturnType<Answering> | undefined
): Effect.Effect<Answering, never, Traffic> =>
  Effect.gen(function* () {
    const { headerCount } = yield* Limits
    const receive = yield* requestReceiver
    const answerUnrouted = (yield* requestLifecycle("_OTHER", unmatchedRoute))(unrouted(routes))
    const table = tableOf(routes)
    return (arrival) => {
      const { exchange, method, path } = arrival
      const fault = exchange.head === undefined ? undefined : headerFault(exchange.head, headerCount)
      if (fault !== undefined)
        return Effect.clockWith((clock) => Effect.succeed(refusal(fault, receive(arrival, clock, undefined))))
      const nativeAnswer = native(arrival)
      if (nativeAnswer !== undefined) return nativeAnswer
      const route = table.find(method === "HEAD" ? "GET" : method, path)
      return (route?.handler ?? answerUnrouted)(arrival)
    }
  })

// The outermost wrap of every request: counts it, gives it ids, and turns every failure into an error body.

/** Answers one request. It reads nothing of the request but its argument, so that any server can start it. */
export type Handler = (
  incoming: IncomingRequest
) => Effect.Effect<HttpServerResponse.HttpServerResponse, GatewayError, Scope.Scope>

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
      traffic.drainingSince !== undefined && answer !== answered
        ? HttpServerResponse.setHeader(answer, "connection", "close")
        : answer
    return (handler) => (arrival) =>
      Effect.withFiber((fiber) => {
        const incoming = receive(arrival, fiber.getRef(Clock.Clock), accounts?.open())
        if (incoming.recorder !== undefined) accounts?.begin?.(incoming.recorder, incoming)
        const scope = Context.getUnsafe(fiber.context, Scope.Scope)
        return Effect.flatMap(
          Scope.addFinalizerExit(scope, (exit) => leave(exit, incoming)),
          () =>
            Effect.matchCauseEffect(
              // What follows is not: a request that is interrupted by a shutdown still gets its answer.
              Effect.interruptible(Effect.suspend(() => handler(incoming))),
              {
                onSuccess: (answer) => {
                  if (incoming.recorder?.status === 0)
                    incoming.recorder.status = incoming.exchange.sentStatus ?? answer.status
                  return Effect.succeed(closing(answer))
                },
                onFailure: (cause) => Effect.map(answerOf(cause, incoming), closing)
              }
            )
        )
      })
  })

const answerOf = (
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
export const lifecycleRoute = <R, Method extends RouteMethod>(
  method: Method,
  path: RoutePath<Method>,
  make: Effect.Effect<Handler, never, R>
): Routes<R | Traffic> =>
  Effect.gen(function* () {
    const bounded = yield* requestLifecycle(method, path)
    const answer = bounded(yield* make)
    const paths = path.startsWith("/v1/") ? [path, `/v1${path}` as const] : [path]
    return paths.map((one) => ({ method, path: one, answer }))
  })

/** A route without a key, whose handler needs nothing of services. */
export const openRoute = <Method extends RouteMethod>(
  method: Method,
  path: RoutePath<Method>,
  handler: Handler
): Routes<Traffic> => lifecycleRoute(method, path, Effect.succeed(handler))
