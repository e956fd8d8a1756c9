// A route as a value: method, template of its path, and what answers it. Every server is built from a list of these.
// It must not depend on a server, or on what any route answers. Of the contract it takes the types of paths alone.
import * as Effect from "effect/Effect"
import type * as HttpApi from "effect/http-api/HttpApi"
import type * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import type * as Scope from "effect/Scope"
import type { WholeApi } from "../../api/openApi.ts"
import type { Arrival } from "../node/Exchange.ts"

/** Answers one request, whose scope ends with its answer. No failure is left, unless the client has closed the connection. */
export type Answering = (arrival: Arrival) => Effect.Effect<HttpServerResponse.HttpServerResponse, never, Scope.Scope>

export type RouteMethod = "GET" | "POST" | "PUT" | "DELETE"

type GroupsOf<Api> = Api extends HttpApi.HttpApi<infer _Id, infer Groups> ? Groups : never
type DeclaredIn<Endpoint, Method> = Endpoint extends { readonly method: Method; readonly path: infer Path }
  ? Path
  : never

/** Routes that the contract leaves out, or has as a list and its entries: a trailing wildcard takes the path without its rest as well. */
interface FurtherPaths {
  readonly GET: "/v1/models/*" | "/console/*" | "/admin/v1/session"
  readonly POST: "/admin/v1/session"
  readonly PUT: never
  readonly DELETE: "/admin/v1/session"
}

/** The template of a route within the request lifecycle, which the contract of the API has too. */
export type RoutePath<Method extends RouteMethod> =
  | Extract<DeclaredIn<HttpApiGroup.Endpoints<GroupsOf<typeof WholeApi>>, Method>, `/${string}`>
  | FurtherPaths[Method]

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

const methodOrder: ReadonlyArray<RouteMethod> = ["GET", "POST", "PUT", "DELETE"]

/** The paths of a template: a parameter is one segment, and a wildcard any number of them. */
const grammarOf = (path: string): RegExp => new RegExp(`^${path.replace("/*", "(/[^/]+)*").replace(/:\w+/g, "[^/]+")}$`)

/** The methods of a path among these routes, by which a wrong method differs from an unknown path; empty for the latter. */
export const methodsOf = (routes: ReadonlyArray<Route>): ((path: string) => ReadonlyArray<RouteMethod>) => {
  const templates = [...new Set(routes.map(({ path }) => path))].map((template) => ({
    template,
    grammar: grammarOf(template),
    methods: methodOrder.filter((method) => routes.some((one) => one.path === template && one.method === method))
  }))
  return (path) =>
    // A template without parameters is the more exact one.
    (templates.find(({ template }) => template === path) ?? templates.find(({ grammar }) => grammar.test(path)))
      ?.methods ?? []
}
