// The reports of the admin API: the latest requests and the usage of all requests.
// It must not depend on how requests run or are counted.
import * as Effect from "effect/Effect"
import { RecordUnknown, RouteUnknown } from "../../domain/GatewayError.ts"
import { UsageLog } from "../../keys/UsageLog.ts"
import { requestQuery, seriesCursor, usageCursor, usageQuery } from "./adminQuery.ts"
import { RequestContents } from "./RequestContents.ts"
import { listOf, shownRequest, shownPoint, shownSums, shownUsage } from "./adminRows.ts"
import { keyedRoute } from "../edge/GatewayAuth.ts"
import { together } from "../edge/Route.ts"
import { json } from "../response/Reply.ts"
import { allowedMethods } from "../edge/routes.ts"

const list = "/admin/v1/requests"

/** Effect's wildcard takes the path without its rest as well. */
const requests = keyedRoute(
  "GET",
  `${list}/*`,
  Effect.gen(function* () {
    const log = yield* UsageLog
    return ({ incoming }) => {
      if (incoming.path === list) {
        return Effect.flatMap(Effect.fromResult(requestQuery(incoming.url)), (query) =>
          Effect.flatMap(log.requests(query), ({ next, rows }) => json(listOf(rows.map(shownRequest), next), incoming))
        )
      }
      if (allowedMethods(incoming.path).length === 0)
        return Effect.fail(new RouteUnknown({ method: "GET", path: incoming.path.slice(0, 256) }))
      const id = incoming.path.slice(list.length + 1)
      return Effect.flatMap(log.request(id), (row) =>
        row === undefined ? Effect.fail(new RecordUnknown({ kind: "request", id })) : json(shownRequest(row), incoming)
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
    return ({ incoming }) =>
      Effect.flatMap(Effect.fromResult(usageQuery(incoming.url)), (query) => {
        if ("top" in query)
          return Effect.flatMap(log.top(query), (entries) =>
            json(
              listOf(
                entries.map((entry) => shownSums(query.scope, entry)),
                undefined
              ),
              incoming
            )
          )
        if ("bucket" in query)
          return Effect.flatMap(log.series(query), ({ next, points }) =>
            json(listOf(points.map(shownPoint), next === undefined ? undefined : seriesCursor(next)), incoming)
          )
        return Effect.flatMap(log.usage(query), ({ groups, next }) =>
          json(listOf(groups.map(shownUsage), next === undefined ? undefined : usageCursor(next)), incoming)
        )
      })
  }),
  "admin"
)

export const AdminHandlers = together(requests, RequestContents, usage)
