// Allows pages of the origins that the operator names to call the API. Without an origin, browsers hide the answers from every other page.
// It must not depend on keys: a page sends its own in a header, and cookies are never read.
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { quoteValue } from "../../domain/faults.ts"
import { anyOrigin } from "../../domain/settings/Settings.ts"
import type { Arrival } from "../node/Exchange.ts"
import type { Answering } from "./Route.ts"

/** Origins whose pages may call. */
export const CorsOrigins: Context.Reference<ReadonlyArray<string>> = Context.Reference<ReadonlyArray<string>>(
  "gateway/http/CorsOrigins",
  {
    defaultValue: () => []
  }
)

/** Operators and health are for no page. */
const isPages = (path: string): boolean => /^\/v1(alpha|beta1?)?\//.test(path)

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

const isPreflight = ({ headers, method }: Arrival): boolean =>
  method === "OPTIONS" && headers["access-control-request-method"] !== undefined

/** What answers, with a line in the log for an origin whose pages may not call. */
const loggingRefusals = (answer: Answering): Answering => {
  const isNews = firstOfHour()
  return (arrival) => {
    const { headers, path } = arrival
    const origin = isPreflight(arrival) && isPages(path) ? headers["origin"] : undefined
    if (origin === undefined) return answer(arrival)
    return Effect.clockWith((clock) => {
      const name = quoteValue(origin)
      return isNews(name, clock.currentTimeMillisUnsafe())
        ? Effect.andThen(Effect.logWarning(refusedText(name)), answer(arrival))
        : answer(arrival)
    })
  }
}

const refusedText = (origin: string): string =>
  `A page of ${origin} may not call this gateway: its origin is not in server.cors. Add it there to let its pages call /v1.`

/** What answers, with the permission of the pages it answers. */
const allowing = (origins: ReadonlyArray<string>, answer: Answering): Answering => {
  const permitted = permissionOf(origins)
  return (arrival) => {
    const { exchange, headers, path } = arrival
    const permission = isPages(path) ? permitted(headers["origin"]) : undefined
    if (permission === undefined) return answer(arrival)
    if (isPreflight(arrival)) {
      return Effect.succeed(HttpServerResponse.empty({ status: 204, headers: { ...permission, ...preflight } }))
    }
    return exchange.withHeaders(permission, answer(arrival))
  }
}

export const withCors = (answer: Answering): Effect.Effect<Answering> =>
  Effect.map(CorsOrigins, (origins) => {
    const refusing = loggingRefusals(answer)
    return origins.length === 0 ? refusing : allowing(origins, refusing)
  })

// Chooses the names that get a log line: each once an hour, and a bounded number of them, as clients choose the names.

const hourMillis = 60 * 60 * 1000
const mostNames = 32

/** True for the first time of a name in an hour of the clock, for at most 32 names of that hour. */
export const firstOfHour = (): ((name: string, nowMillis: number) => boolean) => {
  const names = new Set<string>()
  let hour = -1
  return (name, nowMillis) => {
    const now = Math.floor(nowMillis / hourMillis)
    if (now !== hour) {
      hour = now
      names.clear()
    }
    if (names.has(name) || names.size >= mostNames) return false
    names.add(name)
    return true
  }
}
