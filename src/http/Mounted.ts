// Routes in the router of another Effect application, whose other paths and middleware stay its own.
// It must not depend on what any route answers.
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type * as Types from "effect/Types"
import type { Answering, Routes } from "./edge/Route.ts"
import { type Arrival, arrivalOfEffect } from "./node/Arrival.ts"

/** The answer to the request at hand of an Effect server. */
export const answering = (
  answer: Answering
): Effect.Effect<HttpServerResponse.HttpServerResponse, never, HttpServerRequest.HttpServerRequest | Scope.Scope> =>
  Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => answer(arrivalOfEffect(request)))

/** The answer to a path of Google's dialects; undefined for every other request. */
export type ReadsNative = (arrival: Arrival) => ReturnType<Answering> | undefined

/** The layer that adds these routes, and `native`, which is asked before any route, to a router. */
export const mounted = <R, S>(
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
            > = read(arrivalOfEffect(request)) ?? app
            return answer
          })
      ),
      { global: true }
    )
  )
