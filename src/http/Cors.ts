// Allows pages of the origins that the operator names to call the API. Without an origin, browsers hide the answers from every other page.
// It must not depend on keys: a page sends its own in a header, and cookies are never read.
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import { canonicalPath } from "../api/clients/canonicalPath.ts"
import { anyOrigin } from "../domain/settings/Settings.ts"
import { headersOf, nodeResponseOf } from "./node/NodeAnswer.ts"

/** Origins whose pages may call. */
export const CorsOrigins: Context.Reference<ReadonlyArray<string>> = Context.Reference<ReadonlyArray<string>>(
  "gateway/http/CorsOrigins",
  {
    defaultValue: () => []
  }
)

/** Operators and health are for no page. */
const isPages = (url: string): boolean => /^\/v1(alpha|beta1?)?\//.test(canonicalPath(url.split("?", 1)[0] ?? ""))

/** A star does not include `authorization`. The age is in seconds. */
const preflight = {
  "access-control-allow-methods": "GET, POST, DELETE",
  "access-control-allow-headers": "*, authorization",
  "access-control-max-age": "600"
}

/** The headers that allow a page of this origin to read an answer; undefined for other pages. */
const permissionOf =
  (origins: ReadonlyArray<string>) =>
  (origin: string | undefined): Record<string, string> | undefined => {
    if (origin === undefined) return undefined
    if (origins.includes(anyOrigin)) return { "access-control-allow-origin": "*", "access-control-expose-headers": "*" }
    return origins.includes(origin)
      ? { "access-control-allow-origin": origin, "access-control-expose-headers": "*", vary: "Origin" }
      : undefined
  }

const allowing = (origins: ReadonlyArray<string>) =>
  HttpRouter.middleware(
    (app) => {
      const permitted = permissionOf(origins)
      return Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
        const headers = headersOf(request)
        const permission = isPages(request.url) ? permitted(headers["origin"]) : undefined
        if (permission === undefined) return app
        if (request.method === "OPTIONS" && headers["access-control-request-method"] !== undefined) {
          return Effect.succeed(HttpServerResponse.empty({ status: 204, headers: { ...permission, ...preflight } }))
        }
        const response = nodeResponseOf(request)
        if (response === undefined)
          return Effect.map(app, (answer) => HttpServerResponse.setHeaders(answer, permission))
        // Most answers are written on it past this middleware, and take these along.
        for (const [name, value] of Object.entries(permission)) response.setHeader(name, value)
        return app
      })
    },
    { global: true }
  )

export const Cors: Layer.Layer<never, never, HttpRouter.HttpRouter> = Layer.unwrap(
  Effect.map(CorsOrigins, (origins) => (origins.length === 0 ? Layer.empty : allowing(origins)))
)
