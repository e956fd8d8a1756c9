// Finds the route of a request on a server of the gateway alone, which also answers what no route does.
// It must not depend on a server, or on what any route answers.
import * as Effect from "effect/Effect"
import * as FindMyWay from "effect/http/FindMyWay"
import { unmatchedRoute } from "../../accounting/Accounting.ts"
import { MethodNotAllowed, RouteUnknown, UpgradeRequired } from "../../domain/GatewayError.ts"
import { Limits } from "../../domain/Limits.ts"
import type { Arrival } from "../node/Arrival.ts"
import type { Traffic } from "../node/Traffic.ts"
import { type IncomingRequest, requestReceiver } from "../request/IncomingRequest.ts"
import { headerFault } from "../request/wireFaults.ts"
import { refusal } from "../response/ErrorResponse.ts"
import { type Handler, requestLifecycle } from "./RequestLifecycle.ts"
import type { Answering, Route } from "./Route.ts"
import { allowedMethods } from "./routes.ts"

/** Clients of the Responses API try a WebSocket first; after this status they send the request by POST. */
const asksWebSocket = ({ headers, method, path }: IncomingRequest): boolean =>
  method === "GET" && path === "/v1/responses" && headers["upgrade"]?.toLowerCase() === "websocket"

/** Answers requests without a route: another method of a known path, or an unknown path. */
const unrouted =
  (serves: (path: string) => boolean): Handler =>
  (incoming) => {
    const { method, path } = incoming
    if (asksWebSocket(incoming)) return Effect.fail(new UpgradeRequired())
    const allow = serves(path) ? allowedMethods(path) : []
    return Effect.fail(
      allow.length === 0 || allow.includes(method)
        ? new RouteUnknown({ method, path: path.slice(0, 256) })
        : new MethodNotAllowed({ method, allow })
    )
  }

/** Paths are taken literally; their other spellings are read before. */
const literally = {
  caseSensitive: true,
  ignoreTrailingSlash: false,
  ignoreDuplicateSlashes: false,
  maxParamLength: 1024
}

const tableOf = (routes: ReadonlyArray<Route>): FindMyWay.Router<Answering> => {
  const table = FindMyWay.make<Answering>(literally)
  for (const { answer, method, path } of routes) {
    table.on(method, path, answer)
    const above = path.slice(0, -"/*".length)
    if (path.endsWith("/*") && above.startsWith("/")) table.on(method, `/${above.slice(1)}`, answer)
  }
  return table
}

/** How the requests of a server are answered. */
interface Dispatching {
  readonly routes: ReadonlyArray<Route>
  /** Answers requests that no template describes; undefined for all others. */
  readonly native: (arrival: Arrival) => ReturnType<Answering> | undefined
  /** True for the paths of this server. */
  readonly serves: (path: string) => boolean
}

/**
 * Answers every request of a server: refuses header blocks that Node accepts, and answers paths without a route. HEAD is
 * answered by the route of GET.
 */
export const dispatching = ({ native, routes, serves }: Dispatching): Effect.Effect<Answering, never, Traffic> =>
  Effect.gen(function* () {
    const { headerCount } = yield* Limits
    const receive = yield* requestReceiver
    const answerUnrouted = (yield* requestLifecycle("_OTHER", unmatchedRoute))(unrouted(serves))
    const table = tableOf(routes)
    return (arrival) => {
      const { message, method, path } = arrival
      const fault = message === undefined ? undefined : headerFault(message, headerCount)
      if (fault !== undefined)
        return Effect.clockWith((clock) => Effect.succeed(refusal(fault, receive(arrival, clock, undefined))))
      const own = native(arrival)
      if (own !== undefined) return own
      const found = table.find(method === "HEAD" ? "GET" : method, path)
      return (found?.handler ?? answerUnrouted)(arrival)
    }
  })
