// The outermost wrap of every request: counts it, marks it, and turns every failure into an error body.
// It must not know what any handler does.
import { IncomingMessage } from "node:http"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import type * as Types from "effect/Types"
import { Busy, type GatewayError, MethodNotAllowed } from "../domain/GatewayError.ts"
import { Limits } from "../domain/Limits.ts"
import { Arrival, arrive, FreshId } from "./RequestContexts.ts"
import { errorOf, isClientGone, refusal, refuse } from "./Refusal.ts"
import { allowedMethods } from "./routes.ts"
import { Traffic } from "./Traffic.ts"
import { countOf, headerFault } from "./wireFaults.ts"

/** Some SDKs add the version to a base URL that has it already. */
const undoubled = (request: HttpServerRequest.HttpServerRequest): HttpServerRequest.HttpServerRequest =>
  request.url.startsWith("/v1/v1/") ? request.modify({ url: request.url.slice(3) }) : request

/** An unknown route whose path exists for other methods is a wrong method. */
const withMethods = (error: GatewayError, method: string, path: string): GatewayError => {
  const allow = error._tag === "RouteUnknown" ? allowedMethods(path) : []
  return allow.length === 0 || allow.includes(method) ? error : new MethodNotAllowed({ method, allow })
}

/** Provides the arrival to all routes and leaves no failure unanswered, except to a caller who has gone. */
export const Boundary = HttpRouter.middleware<{ provides: Arrival; handles: GatewayError }>()(
  Effect.gen(function*() {
    const limits = yield* Limits
    const traffic = yield* Traffic
    const freshId = yield* FreshId
    const leave = Effect.sync(() => {
      traffic.inFlight--
    })
    return (app) =>
      Effect.gen(function*() {
        const request = undoubled(yield* HttpServerRequest.HttpServerRequest)
        const millis = yield* Clock.currentTimeMillis
        const raw = request.source instanceof IncomingMessage ? request.source.rawHeaders : []
        const arrival = arrive(request, millis, freshId(millis), countOf(raw, "authorization") > 1)
        const fault = headerFault(raw, limits.headerCount)
        if (fault !== undefined) return refusal(fault, arrival)
        if (traffic.inFlight >= limits.inFlight) {
          return refuse(new Busy({ code: "overloaded", retryAfterMillis: 1000 }), arrival)
        }
        traffic.inFlight++
        yield* Effect.addFinalizer(() => leave)
        const answer = yield* app.pipe(
          Effect.provideService(Arrival, arrival),
          Effect.provideService(HttpServerRequest.HttpServerRequest, request),
          Effect.catchCause((cause): Effect.Effect<HttpServerResponse.HttpServerResponse, Types.unhandled> => {
            if (isClientGone(cause)) return Effect.failCause(Cause.fromReasons(cause.reasons.filter(Cause.isInterruptReason)))
            const error = withMethods(errorOf(cause), request.method, arrival.path)
            return error._tag === "Unexpected"
              ? Effect.as(Effect.logError("request failed unexpectedly", arrival.requestId, Cause.pretty(cause)), refuse(error, arrival))
              : Effect.succeed(refuse(error, arrival))
          })
        )
        return traffic.draining ? HttpServerResponse.setHeader(answer, "connection", "close") : answer
      })
  }),
  { global: true }
)
