// GET /admin/v1/requests and /admin/v1/usage: the latest requests and what all of them used, for holders of an admin key.
// It must not know how requests run or are counted.
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { RecordUnknown, RouteUnknown } from "../../domain/GatewayError.ts"
import { UsageLog } from "../../keys/UsageLog.ts"
import { requestQuery, usageQuery } from "./adminQuery.ts"
import { listOf, shownRequest, shownUsage } from "./adminRows.ts"
import { keyedRoute } from "../edge/GatewayAuth.ts"
import { json } from "../response/Reply.ts"
import { allowedMethods } from "../edge/routes.ts"

const list = "/admin/v1/requests"

/** Effect's wildcard takes the path without its rest as well. */
const requests = keyedRoute(
  "GET",
  `${list}/*`,
  Effect.gen(function* () {
    const log = yield* UsageLog
    return ({ arrival, request }) => {
      if (arrival.path === list) {
        return Effect.flatMap(Effect.fromResult(requestQuery(request.url)), (query) =>
          Effect.flatMap(log.requests(query), ({ next, rows }) => json(listOf(rows.map(shownRequest), next), arrival))
        )
      }
      if (allowedMethods(arrival.path).length === 0)
        return Effect.fail(new RouteUnknown({ method: "GET", path: arrival.path.slice(0, 256) }))
      const id = arrival.path.slice(list.length + 1)
      return Effect.flatMap(log.request(id), (row) =>
        row === undefined ? Effect.fail(new RecordUnknown({ kind: "request", id })) : json(shownRequest(row), arrival)
      )
    }
  }),
  "admin"
)

const usage = keyedRoute(
  "GET",
  "/admin/v1/usage",
  Effect.gen(function* () {
    const log = yield* UsageLog
    return ({ arrival, request }) =>
      Effect.flatMap(Effect.fromResult(usageQuery(request.url)), (query) =>
        Effect.flatMap(log.usage(query), (groups) => json(listOf(groups.map(shownUsage), undefined), arrival))
      )
  }),
  "admin"
)

export const AdminHandlers = Layer.merge(requests, usage)
