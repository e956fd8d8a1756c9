// Tests reports that read sums of periods: the sums in memory for every grouping, late requests, two processes, trimming.
// Must not depend on HTTP.
import { describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as SqlClient from "effect/sql/SqlClient"
import { expect } from "vitest"
import { defaultLimits } from "../../../src/domain/Limits.ts"
import { dayMillis } from "../../../src/domain/time.ts"
import { groupUsage, type UsageBucket, type UsageQuery } from "../../../src/domain/usage/usageSums.ts"
import type { RequestBatch } from "../../../src/store/RequestBatch.ts"
import { RequestTable } from "../../../src/store/RequestTable.ts"
import { rollDay } from "../../../src/store/usage/UsageSums.ts"
import { databases, storeOn } from "../../support/databases.ts"
import { sample } from "../../support/release.ts"
import { batchOf, rowsOf } from "../../support/storeScenario.ts"

const first = Date.parse("2027-01-15")
const now = first + 100 * dayMillis

/** Two requests on every second day: one of a config, a client and a team that change, and one without. */
const batchOfDays = (name: string, days: ReadonlyArray<number>) =>
  batchOf(
    days.flatMap((day) =>
      rowsOf(`${name}-${day}`, day).map((row) =>
        row.config === undefined ? row : { ...row, client: `client${day % 3}`, metadata: { team: `team${day % 5}` } }
      )
    )
  )
const days = Array.from({ length: 50 }, (_, at) => 2 * at)

const groupBys: ReadonlyArray<UsageQuery["groupBy"]> = [
  ["key", "model"],
  ["config"],
  ["client", "metadata.team"],
  ["day", "client"],
  ["metadata.team", "day"]
]
const spans: ReadonlyArray<Pick<UsageQuery, "from" | "to">> = [
  {},
  { from: "2027-01-20", to: "2027-04-11" },
  { from: "2027-02-01", to: "2027-02-28" },
  { from: "2027-04-20" },
  { from: "2027-03-05", to: "2027-03-05" }
]
const filters: ReadonlyArray<NonNullable<UsageQuery["where"]>> = [
  [],
  [["client", "client1"]],
  [
    ["metadata.team", "team2"],
    ["provider", "google"]
  ],
  [["day", "2027-03-04"]],
  [
    ["model", "gemini-3.8-flash"],
    ["key", "key_1"]
  ]
]
const queries = sample(
  groupBys.flatMap((groupBy) =>
    spans.flatMap((span) => filters.map((where): UsageQuery => ({ groupBy, ...span, where, limit: 100 })))
  ),
  40
)

/** Runs at a moment. A test clock that moves there would run every timer of a client of PostgreSQL. */
const writtenAt = <A, E, R>(millis: number, work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.clockWith((clock) =>
    Effect.provideService(work, Clock.Clock, {
      ...clock,
      sleep: (duration) => clock.sleep(duration),
      currentTimeMillisUnsafe: () => millis,
      currentTimeMillis: Effect.succeed(millis),
      // As much time has passed as the wall clock states.
      monotonicTimeNanosUnsafe: () => BigInt(millis) * BigInt(1_000_000)
    })
  )

/** Makes the sums of all complete days. Returns the number of steps. */
const rollAll = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  let steps = 0
  while (yield* sql.withTransaction(rollDay(sql, now))) steps++
  return steps
})

const expectSums = Effect.fnUntraced(function* (buckets: ReadonlyArray<UsageBucket>) {
  const { usage } = yield* RequestTable
  for (const query of queries)
    expect({ query, page: yield* usage(query) }).toEqual({ query, page: groupUsage(buckets, query) })
})

/** The buckets of several batches; `groupUsage` adds up those that are alike. */
const bucketsOf = (batches: ReadonlyArray<ReturnType<typeof batchOf>>) => batches.flatMap(({ sums }) => sums)

describe.each(databases)("reports on $name", (database) => {
  const table = RequestTable.layer.pipe(Layer.provideMerge(Layer.fresh(storeOn(database))))

  it.effect("usage reports: have the sums of memory before, while and after periods are made", () =>
    Effect.gen(function* () {
      const { write } = yield* RequestTable
      const sql = yield* SqlClient.SqlClient
      const batch = batchOfDays("a", days)
      yield* write(batch)
      yield* expectSums(batch.sums)
      for (let step = 0; step < 70; step++) expect(yield* sql.withTransaction(rollDay(sql, now))).toBe(true)
      yield* expectSums(batch.sums)
      // Two tables and two lengths of each of 50 days.
      expect(yield* rollAll).toBe(4 * 50 - 70)
      yield* expectSums(batch.sums)
      const periods = yield* sql<{ readonly n: number }>`SELECT COUNT(*) AS n FROM usage_sum_periods`
      expect(periods).toEqual([{ n: 2 * (4 + 13) }])
    }).pipe(Effect.provide(table))
  )

  it.effect("usage reports: each batch takes one step, and a late request is in its period", () =>
    Effect.gen(function* () {
      const { write: writeAt } = yield* RequestTable
      const write = (batch: RequestBatch) => writtenAt(now, writeAt(batch))
      const sql = yield* SqlClient.SqlClient
      const batches = [batchOfDays("a", [0, 4])]
      for (let at = 0; at < 9; at++) batches.push(batchOfDays(`b${at}`, [100]))
      for (const batch of batches) yield* write(batch)
      const through = sql`SELECT DISTINCT through_day FROM usage_rolled`
      expect(yield* through).toEqual([{ through_day: "2027-01-19" }])
      const late = batchOfDays("late", [0, 2, 4, 99])
      yield* write(late)
      yield* expectSums(bucketsOf([...batches, late]))
      expect(yield* sql`SELECT CAST(SUM(requests) AS BIGINT) AS n FROM usage_detail_periods`).toEqual([
        { n: 2 * (4 + 6) }
      ])
    }).pipe(Effect.provide(table))
  )

  it.effect("usage reports: periods are trimmed with their days", () =>
    Effect.gen(function* () {
      const { usage, write } = yield* RequestTable
      yield* write(batchOfDays("a", days))
      yield* rollAll
      // The first batch of a later day deletes the days up to the 5th of February.
      yield* writtenAt(Date.parse("2027-02-05") + defaultLimits.usageDays * dayMillis, write(batchOfDays("b", [])))
      const query: UsageQuery = { groupBy: ["key", "model"], limit: 100 }
      const { groups } = yield* usage(query)
      const kept = days.filter((day) => first + day * dayMillis >= Date.parse("2027-02-05"))
      expect(groups).toEqual(groupUsage(batchOfDays("a", kept).sums, query).groups)
    }).pipe(Effect.provide(table))
  )

  it.effect("usage reports: a page by day ends where it has read enough, and the next one goes on", () =>
    Effect.gen(function* () {
      const { usage } = yield* RequestTable
      const sql = yield* SqlClient.SqlClient
      // 30 days of 3,000 rows.
      const numbers = sql.literal("WITH RECURSIVE n (at) AS (SELECT 0 UNION ALL SELECT at + 1 FROM n WHERE at < 2999)")
      for (let day = 10; day < 40; day++) {
        const name = new Date(first + day * dayMillis).toISOString().slice(0, 10)
        yield* sql`INSERT INTO usage_details ${numbers} SELECT CAST(${name} AS TEXT), 'key_' || at, 'google', '', 'fast', '', '{}', 1, 0, 1, 1, 0, 1 FROM n`
      }
      const query: UsageQuery = { groupBy: ["day", "config"], limit: 100 }
      const pages = [yield* usage(query)]
      for (let next = pages[0]?.next; next !== undefined; next = pages.at(-1)?.next)
        pages.push(yield* usage({ ...query, cursor: next }))
      expect(pages.map(({ groups }) => groups.length)).toEqual([17, 13])
      expect(pages.flatMap(({ groups }) => groups.map(({ by, requests }) => [by.day, requests]))).toEqual(
        Array.from({ length: 30 }, (_, at) => [
          new Date(first + (at + 10) * dayMillis).toISOString().slice(0, 10),
          3000
        ])
      )
    }).pipe(Effect.provide(table))
  )
})
