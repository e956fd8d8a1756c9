// One page of usage in the form of the admin API: its rows and the cursor of the next page.
// It must not know whether HTTP or the command line asks.
import * as Effect from "effect/Effect"
import type { StoreUnavailable } from "../../domain/GatewayError.ts"
import type { SeriesQuery, TopQuery } from "../../domain/usage/usageSeries.ts"
import type { UsageQuery } from "../../domain/usage/usageSums.ts"
import type { UsageLog } from "../../keys/UsageLog.ts"
import { seriesCursor, usageCursor } from "./adminQuery.ts"
import { shownPoint, shownSums, shownUsage } from "./adminRows.ts"

export interface ShownUsagePage {
  readonly rows: ReadonlyArray<object>
  readonly cursor: string | undefined
}

export const usagePages =
  (log: UsageLog["Service"], nameOf: (id: string) => string | undefined) =>
  (query: UsageQuery | SeriesQuery | TopQuery): Effect.Effect<ShownUsagePage, StoreUnavailable> => {
    if ("top" in query)
      return Effect.map(log.top(query), (entries) => ({
        rows: entries.map((entry) => shownSums(query.scope, entry, nameOf)),
        cursor: undefined
      }))
    return "bucket" in query
      ? Effect.map(log.series(query), ({ next, points }) => ({
          rows: points.map((point) => shownPoint(point, nameOf)),
          cursor: next === undefined ? undefined : seriesCursor(next)
        }))
      : Effect.map(log.usage(query), ({ groups, next }) => ({
          rows: groups.map((group) => shownUsage(group, nameOf)),
          cursor: next === undefined ? undefined : usageCursor(next)
        }))
  }
