// Tests the sums of days in the store: every grouping and filter against the sums in memory, an upgrade, and trimming.
// Must not depend on HTTP.
import { describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as SqlClient from "effect/sql/SqlClient"
import { expect } from "vitest"
import { noUsage } from "../../../src/operations/usage.ts"
import { defaultLimits } from "../../../src/domain/Limits.ts"
import type { RequestRow } from "../../../src/domain/RequestRow.ts"
import { dayMillis } from "../../../src/domain/time.ts"
import { groupUsage, type UsageQuery } from "../../../src/domain/usage/usageSums.ts"
import { migrate } from "../../../src/store/database/Migrations.ts"
import { RequestBatch } from "../../../src/store/RequestBatch.ts"
import { RequestTable } from "../../../src/store/RequestTable.ts"
import { trimDays } from "../../../src/store/usage/UsageSums.ts"
import { trimSeries } from "../../../src/store/usage/UsageSeries.ts"
import { backToMigration } from "../../support/backToMigration.ts"
import { databases, storeOn } from "../../support/databases.ts"
import { rowOf } from "../../support/requestRows.ts"

const firstMillis = Date.parse("2027-01-30T23:59:59.999Z")

const row = (at: number): RequestRow =>
  rowOf({
    endedMillis: firstMillis + (at % 4) * dayMillis + (at % 2),
    requestId: `r${at}`,
    traceId: `r${at}`,
    route: "/v1/messages",
    status: 200,
    provider: `p${at % 3}`,
    model: undefined,
    target: undefined,
    attempts: [],
    stream: false,
    cache: undefined,
    durationMillis: 7,
    ttftMillis: undefined,
    overheadMillis: 0,
    usage: { ...noUsage, input: at, output: 2 * at, cached: 1 },
    costMicros: 3 * at,
    keyId: at % 5 === 0 ? undefined : `k${at % 5}`,
    errorCode: at % 7 === 0 ? "timeout" : undefined
  })

const filledBatch = (): RequestBatch => {
  const batch = new RequestBatch()
  for (let at = 0; at < 120; at++) batch.add(row(at), { model: `m${at % 2}`, client: "", metadata: "{}" })
  return batch
}

const groupBys: ReadonlyArray<UsageQuery["groupBy"]> = [
  [],
  ["day"],
  ["key"],
  ["provider"],
  ["model"],
  ["key", "day"],
  ["day", "model"],
  ["key", "provider"]
]
const times: ReadonlyArray<Pick<UsageQuery, "from" | "to">> = [
  {},
  { from: "2027-01-31" },
  { to: "2027-02-01" },
  { from: "2027-02-01", to: "2027-02-01" },
  { from: "2028-01-01" }
]
const filters: ReadonlyArray<UsageQuery["where"]> = [
  undefined,
  [["key", "k1"]],
  [["key", ""]],
  [["day", "2027-02-01"]],
  [
    ["provider", "p1"],
    ["model", "m1"]
  ]
]
const queries = groupBys.flatMap((groupBy) =>
  times.flatMap((time) =>
    filters.map((where): UsageQuery => ({ groupBy, ...time, limit: 100, ...(where === undefined ? {} : { where }) }))
  )
)

describe.each(databases)("sums of days on $name", (database) => {
  const table = RequestTable.layer.pipe(Layer.provideMerge(Layer.fresh(storeOn(database))))

  it.effect("usage: each grouping, time and filter has the sums that memory has", () =>
    Effect.gen(function* () {
      const { usage, write } = yield* RequestTable
      const batch = filledBatch()
      yield* write(batch)
      for (const query of queries)
        expect({ query, page: yield* usage(query) }).toEqual({ query, page: groupUsage(batch.sums, query) })
    }).pipe(Effect.provide(table))
  )

  it.effect("usage: pages by one dimension follow each other", () =>
    Effect.gen(function* () {
      const { usage, write } = yield* RequestTable
      yield* write(filledBatch())
      const query: UsageQuery = { groupBy: ["day", "key"], limit: 7 }
      const pages = [yield* usage(query)]
      for (let next = pages[0]?.next; next !== undefined; next = pages.at(-1)?.next)
        pages.push(yield* usage({ ...query, cursor: next }))
      expect(pages.map(({ groups }) => groups.length)).toEqual([7, 7, 1])
      expect(pages.flatMap(({ groups }) => groups)).toEqual((yield* usage({ ...query, limit: 100 })).groups)
    }).pipe(Effect.provide(table))
  )

  it.effect("usage: an upgrade adds missing days to the series, and keeps the durations of others", () =>
    Effect.gen(function* () {
      const { series, usage, write } = yield* RequestTable
      const sql = yield* SqlClient.SqlClient
      const batch = filledBatch()
      yield* write(batch)
      const durations = Effect.map(series({ bucket: "day", scope: "key", limit: 100 }), ({ points }) =>
        points.map(({ name, startMillis, sums }) => [startMillis, name, sums.requests, sums.durationMillis])
      )
      const before = yield* durations
      const firstDay = Date.parse("2027-01-30")
      // The store of a version that began the series later, in the middle of a day.
      yield* sql`DELETE FROM usage_series WHERE start_millis < ${firstDay + dayMillis}`
      yield* sql`UPDATE usage_series SET requests = 1 WHERE start_millis = ${firstDay + 2 * dayMillis}`
      yield* backToMigration(11)
      expect(yield* migrate).toEqual([
        [12, "series_days"],
        [13, "compatibility"],
        [14, "reports"],
        [15, "console_sessions"],
        [16, "batch_hashes"],
        [17, "content_owners"],
        [18, "request_rows"]
      ])
      for (const query of queries) expect(yield* usage(query)).toEqual(groupUsage(batch.sums, query))
      expect(yield* durations).toEqual(
        before.map(([start, name, requests, millis]) => [start, name, requests, start === firstDay ? 0 : millis])
      )
    }).pipe(Effect.provide(table))
  )

  it.effect("usage: the sums of a day and its points are trimmed together", () =>
    Effect.gen(function* () {
      const { usage, write } = yield* RequestTable
      const sql = yield* SqlClient.SqlClient
      yield* write(filledBatch())
      const noon = Date.parse("2027-01-31T12:00:00Z")
      yield* trimDays(sql, "2027-01-31")
      yield* trimSeries(sql, defaultLimits, noon + defaultLimits.usageDays * dayMillis)
      const requests = (groupBy: UsageQuery["groupBy"]) =>
        Effect.map(usage({ groupBy, limit: 100 }), ({ groups }) =>
          groups.reduce((sum, group) => sum + group.requests, 0)
        )
      expect([yield* requests(["key"]), yield* requests(["key", "provider"])]).toEqual([90, 90])
    }).pipe(Effect.provide(table))
  )
})
