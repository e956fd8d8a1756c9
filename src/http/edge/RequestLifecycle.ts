// The outermost wrap of every request: counts it, gives it ids, and turns every failure into an error body.
// It must not depend on what any handler does.
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Scope from "effect/Scope"
import type { GatewayError } from "../../domain/GatewayError.ts"
import { withoutQueryKeys } from "../../domain/text/queryless.ts"
import { Accounting } from "../../accounting/Accounting.ts"
import { type IncomingRequest, requestReceiver } from "../request/IncomingRequest.ts"
import { errorOf, isClientGone, refuse } from "../response/ErrorResponse.ts"
import type { Answering, RouteMethod, RoutePath, Routes } from "./Route.ts"
import { answered } from "../node/NodeAnswer.ts"
import { Traffic } from "../node/Traffic.ts"

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
                    incoming.recorder.status =
                      incoming.node?.headersSent === true ? incoming.node.statusCode : answer.status
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
export const lifecycleRoute = <R>(
  method: RouteMethod,
  path: RoutePath,
  make: Effect.Effect<Handler, never, R>
): Routes<R | Traffic> =>
  Effect.gen(function* () {
    const bounded = yield* requestLifecycle(method, path)
    const answer = bounded(yield* make)
    const paths = path.startsWith("/v1/") ? [path, `/v1${path}` as const] : [path]
    return paths.map((one) => ({ method, path: one, answer }))
  })
