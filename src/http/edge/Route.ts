// A route as a value: method, template of its path, and what answers it; and the paths of the service, which separate a wrong method from an unknown path.
// It must not depend on a server, or on what any route answers. A test compares the paths with the router.
import * as Effect from "effect/Effect"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import type * as Scope from "effect/Scope"
import { type OperationPath, operationPaths } from "../../domain/operations.ts"
import type { Arrival } from "../node/Exchange.ts"

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

// The paths of the service and their methods, which separate a wrong method from an unknown path.

const fixedPaths: ReadonlyArray<readonly [path: string, allow: ReadonlyArray<string>]> = [
  ...operationPaths.map((path) => [path, ["POST"]] as const),
  ["/v1/responses", ["POST"]],
  ["/v1/responses/input_tokens", ["POST"]],
  ["/v1/responses/compact", ["POST"]],
  ["/v1/models", ["GET"]],
  ["/admin/v1/audit", ["GET"]],
  ["/admin/v1/check", ["POST"]],
  ["/admin/v1/clients", ["GET"]],
  ["/admin/v1/dry-runs", ["POST"]],
  ["/admin/v1/metrics", ["GET"]],
  ["/admin/v1/models/facts", ["GET"]],
  ["/admin/v1/models/learned", ["DELETE"]],
  ["/admin/v1/requests", ["GET"]],
  ["/admin/v1/requests/events", ["GET"]],
  ["/admin/v1/session", ["GET", "POST", "DELETE"]],
  ["/admin/v1/settings", ["GET"]],
  ["/admin/v1/usage", ["GET"]],
  ["/", ["GET"]],
  ["/api/hello", ["GET"]],
  ["/metrics", ["GET"]],
  ["/openapi.json", ["GET"]],
  ["/docs", ["GET"]],
  ["/health", ["GET"]],
  ["/health/live", ["GET"]],
  ["/health/ready", ["GET"]],
  ["/healthz", ["GET"]],
  ["/livez", ["GET"]],
  ["/readyz", ["GET"]]
]

/** A model id may hold slashes. */
const requestPath = /^\/admin\/v1\/requests\/[\w-]{1,128}(\/content)?$/
const modelPath = /^\/v1\/models\/[^/](.*[^/])?$/

const entriesPath = /^\/admin\/v1\/(providers|keys|configs|prompts)$/
const entryPath = /^\/admin\/v1\/(providers|keys|configs|prompts)\/[^/]+$/
const providerModelsPath = /^\/admin\/v1\/providers\/[^/]+\/models$/
const actionPath = /^\/admin\/v1\/(providers\/[^/]+\/test|keys\/[^/]+\/rotate)$/

/** The id is one segment. */
const promptPath = /^\/v1\/prompts\/[^/]+\/(completions|render)$/

const responsePath = /^\/v1\/responses\/[^/]+$/
const responseItemsPath = /^\/v1\/responses\/[^/]+\/input_items$/
const responseCancelPath = /^\/v1\/responses\/[^/]+\/cancel$/

/** The console and the pages inside it. */
const isConsole = (path: string): boolean => path === "/console" || path.startsWith("/console/")

/** The pages of the documentation; `/docs` itself is the API reference. */
const isGuide = (path: string): boolean => /^\/docs\/[^/]+$/.test(path)

/** Paths of operators, which may have a port of their own. */
export const isOperators = (path: string): boolean =>
  path === "/metrics" || path.startsWith("/admin/") || isConsole(path)

/** The methods of a path; empty for an unknown path. */
export const allowedMethods = (path: string): ReadonlyArray<string> => {
  if (modelPath.test(path) && !path.includes("//")) return ["GET"]
  if (promptPath.test(path)) return ["POST"]
  if (requestPath.test(path) || providerModelsPath.test(path) || isConsole(path) || isGuide(path)) return ["GET"]
  if (entriesPath.test(path)) return ["GET", "POST"]
  if (entryPath.test(path)) return ["GET", "PUT", "DELETE"]
  if (actionPath.test(path)) return ["POST"]
  const fixed = fixedPaths.find(([known]) => known === path)?.[1]
  if (fixed !== undefined) return fixed
  if (responsePath.test(path)) return ["GET", "DELETE"]
  if (responseItemsPath.test(path)) return ["GET"]
  return responseCancelPath.test(path) ? ["POST"] : []
}
