// A route as a value: method, template of its path, and what answers it. Every server of the routes is built from a list of these.
// It must not depend on a server, or on what any route answers.
import * as Effect from "effect/Effect"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import type * as Scope from "effect/Scope"
import type { OperationPath } from "../../domain/operations.ts"
import type { Arrival } from "../node/Arrival.ts"

/** Answers one request, whose scope ends with its answer. No failure is left, unless the client has closed the connection. */
export type Answering = (arrival: Arrival) => Effect.Effect<HttpServerResponse.HttpServerResponse, never, Scope.Scope>

export type RouteMethod = "GET" | "POST" | "PUT" | "DELETE"

/** The template of a route within the request lifecycle: a trailing wildcard takes the path without its rest as well. */
export type RoutePath =
  | OperationPath
  | `/admin/v1/${string}`
  | "/metrics"
  | "/openapi.json"
  | "/docs"
  | "/docs/:page"
  | "/console/*"

export interface Route {
  readonly method: RouteMethod
  readonly path: `/${string}`
  readonly answer: Answering
}

/** Makes routes, each of whose handlers is built once. */
export type Routes<R = never> = Effect.Effect<ReadonlyArray<Route>, never, R>

/** All of these routes. */
export const together = <const Needs extends ReadonlyArray<unknown>>(
  ...parts: { readonly [Part in keyof Needs]: Routes<Needs[Part]> }
): Routes<Needs[number]> => {
  const all: ReadonlyArray<Routes<Needs[number]>> = parts
  return Effect.map(
    Effect.forEach(all, (part) => part),
    (lists) => lists.flat()
  )
}
