// The outermost wrap of every request: counts it, marks it, and turns every failure into an error body.
// It must not know what any handler does.
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
import { type GatewayError, MethodNotAllowed, RouteUnknown } from "../../domain/GatewayError.ts"
import { Limits } from "../../domain/Limits.ts"
import { Accounting } from "../../accounting/Accounting.ts"
import { nodeResponseOf, OwnServer } from "../node/NodeAnswer.ts"
import { type Arrival, arrive, FreshId } from "../request/RequestContexts.ts"
import type { RequestRecord } from "../../accounting/RequestRecord.ts"
import { errorOf, isClientGone, refusal, refuse } from "../response/Refusal.ts"
import { allowedMethods } from "./routes.ts"
import { Traffic } from "../node/Traffic.ts"
import { countOf, headerFault } from "../request/wireFaults.ts"

/** Answers one request; what it knows of the request comes as arguments, so that nothing is looked up twice. */
export type Handler = (
  request: HttpServerRequest.HttpServerRequest,
  arrival: Arrival
) => Effect.Effect<HttpServerResponse.HttpServerResponse, GatewayError, Scope.Scope>

export type RouteMethod = "GET" | "POST" | "PUT" | "DELETE"

/** The template of a route. */
export type RoutePath = `/v1/${string}` | `/admin/v1/${string}` | "/metrics" | "/openapi.json" | "/docs"

/** A handler that leaves no failure unanswered, except to a caller who has gone. */
export type Bounded = Effect.Effect<
  HttpServerResponse.HttpServerResponse,
  never,
  HttpServerRequest.HttpServerRequest | Scope.Scope
>

/** Makes the bounded handlers of a route, whose template names it where requests are counted. */
export const boundary = (method: string, path: string): Effect.Effect<(handler: Handler) => Bounded, never, Traffic> =>
  Effect.gen(function* () {
    const traffic = yield* Traffic
    const arrived = yield* arrivals
    const accounts = (yield* Accounting)?.route(method, path)
    const leave = (exit: Exit.Exit<unknown, unknown>, arrival: Arrival): Effect.Effect<void> => {
      arrival.hold?.end()
      return arrival.record === undefined || accounts === undefined
        ? Effect.void
        : accounts.close(arrival.record, arrival, Exit.isFailure(exit) && isClientGone(exit.cause))
    }
    const closing = (answer: HttpServerResponse.HttpServerResponse) =>
      traffic.draining ? HttpServerResponse.setHeader(answer, "connection", "close") : answer
    return (handler) =>
      Effect.withFiber((fiber) => {
        const request = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
        const arrival = arrived(request, fiber.getRef(Clock.Clock), accounts?.open())
        if (arrival.record !== undefined) accounts?.begin?.(arrival.record, arrival)
        const scope = Context.getUnsafe(fiber.context, Scope.Scope)
        return Effect.flatMap(
          Scope.addFinalizerExit(scope, (exit) => leave(exit, arrival)),
          () =>
            Effect.matchCauseEffect(
              Effect.suspend(() => handler(request, arrival)),
              {
                onSuccess: (answer) => {
                  if (arrival.record?.status === 0)
                    arrival.record.status = arrival.node?.headersSent === true ? arrival.node.statusCode : answer.status
                  return Effect.succeed(closing(answer))
                },
                onFailure: (cause) => Effect.map(answered(cause, arrival), closing)
              }
            )
        )
      })
  })

const answered = (
  cause: Cause.Cause<GatewayError>,
  arrival: Arrival
): Effect.Effect<HttpServerResponse.HttpServerResponse> => {
  if (isClientGone(cause)) return Effect.failCause(Cause.fromReasons(cause.reasons.filter(Cause.isInterruptReason)))
  const error = errorOf(cause)
  return error._tag === "Unexpected"
    ? Effect.as(
        Effect.logError("request failed unexpectedly", arrival.requestId, Cause.pretty(cause)),
        refuse(error, arrival)
      )
    : Effect.succeed(refuse(error, arrival))
}

/** A route that answers within the boundary; `make` builds its handler once. Some SDKs double the version of the API, so both forms are routes. */
export const boundedRoute = <R>(
  method: RouteMethod,
  path: RoutePath,
  make: Effect.Effect<Handler, never, R>
): Layer.Layer<never, never, R | Traffic | HttpRouter.HttpRouter> =>
  HttpRouter.use((router) =>
    Effect.gen(function* () {
      const bounded = yield* boundary(method, path)
      const answer = bounded(yield* make)
      yield* router.add(method, path, answer)
      if (path.startsWith("/v1/")) yield* router.add(method, `/v1${path}`, answer)
    })
  )

/** What no route takes: another method of a known path, or a path unknown here. */
const unrouted =
  (serves: (path: string) => boolean): Handler =>
  ({ method }, { path }) => {
    const allow = serves(path) ? allowedMethods(path) : []
    return Effect.fail(
      allow.length === 0 || allow.includes(method)
        ? new RouteUnknown({ method, path: path.slice(0, 256) })
        : new MethodNotAllowed({ method, allow })
    )
  }

/**
 * The edge of a server that is the gateway and nothing else: refuses header blocks that Node lets through, and answers
 * the paths that no route takes. `serves` says which paths are this server's at all.
 */
export const serverEdge = (
  serves: (path: string) => boolean
): Layer.Layer<never, never, Traffic | HttpRouter.HttpRouter> =>
  HttpRouter.middleware(
    Effect.gen(function* () {
      const limits = yield* Limits
      const arrived = yield* arrivals
      // Nothing is left to fail, but the router's types want to see a failure pass through.
      const answerUnrouted: Effect.Effect<
        HttpServerResponse.HttpServerResponse,
        Types.unhandled,
        HttpServerRequest.HttpServerRequest | Scope.Scope
      > = (yield* boundary("_OTHER", "unmatched"))(unrouted(serves))
      return (app) => {
        const routed = Effect.catch(app, () => answerUnrouted)
        return Effect.withFiber((fiber) => {
          const request = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
          const { source } = request
          const fault = source instanceof IncomingMessage ? headerFault(source, limits.headerCount) : undefined
          return fault === undefined
            ? routed
            : Effect.clockWith((clock) =>
                Effect.succeed(refusal(fault, "MalformedHttp", arrived(request, clock, undefined)))
              )
        })
      }
    }),
    { global: true }
  )

/** Names and values by turns, as they came; none where the request is not Node's. */
const rawHeaders = (request: HttpServerRequest.HttpServerRequest): ReadonlyArray<string> =>
  request.source instanceof IncomingMessage ? request.source.rawHeaders : []

type Arriving = (
  request: HttpServerRequest.HttpServerRequest,
  clock: Clock.Clock,
  record: RequestRecord | undefined
) => Arrival

/** How requests arrive at this server. */
const arrivals: Effect.Effect<Arriving, never, Traffic> = Effect.gen(function* () {
  const traffic = yield* Traffic
  const freshId = yield* FreshId
  const isOurs = yield* OwnServer
  return (request, clock, record) => {
    const millis = clock.currentTimeMillisUnsafe()
    const node = isOurs ? nodeResponseOf(request) : undefined
    return arrive(
      request,
      millis,
      freshId(millis),
      countOf(rawHeaders(request), "authorization") > 1,
      node,
      traffic,
      record
    )
  }
})
