// Measures reports on a big SQLite store, and how long they hold other work up: `node test/bench/reports.ts [ROWS]`.
// Must not be compared with other machines. There are a million sums and a million requests by default.
import "effect/schema/SchemaJITCompiler/enable"
import { monitorEventLoopDelay } from "node:perf_hooks"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as SqlClient from "effect/sql/SqlClient"
import { migrate } from "../../src/store/database/Migrations.ts"
import { RequestTable } from "../../src/store/RequestTable.ts"
import { rollDay } from "../../src/store/usage/UsageSums.ts"
import { backToMigration } from "../support/backToMigration.ts"
import { databases, storeOn } from "../support/databases.ts"

const rows = Number(process.argv[2] ?? 1_000_000)
const [sqlite] = databases
if (sqlite === undefined) throw new Error("no database")

const hourMillis = 3_600_000
const fromMillis = Date.parse("2027-01-01T00:00:00Z")

/** 100 keys, 3 providers and 10 models on every day. */
const fill = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const upTo = sql.literal("WITH RECURSIVE n (at) AS (SELECT 0 UNION ALL SELECT at + 1 FROM n WHERE at + 1 <")
  yield* sql`INSERT INTO usage_sums ${upTo} ${rows})
    SELECT date('2027-01-01', '+' || (at / 3000) || ' day'), 'key_' || (at % 100), 'provider' || (at / 100 % 3), 'model' || (at / 300 % 10),
    10, 1, 1000, 100, 10, 500, at FROM n`
  yield* sql`INSERT INTO usage_details ${upTo} ${rows})
    SELECT date('2027-01-01', '+' || (at / 3000) || ' day'), 'key_' || (at % 100), 'provider' || (at / 100 % 3), 'model' || (at / 300 % 10),
    'config' || (at % 3), 'client' || (at % 100 % 7), '{"team":"team' || (at % 100 % 9) || '"}', 10, 1, 1000, 100, 10, 500 FROM n`
  const columns = sql.literal(
    "(bucket, scope, start_millis, name, requests, errors, input, output, cached, cost_micros, duration_millis, band_4, band_5, band_6, band_7, band_8, band_9, band_10, band_11)"
  )
  const bands = sql.literal("1, 2, 3, 4, 0, 0, 0, 0")
  yield* sql`INSERT INTO usage_series ${columns} ${upTo} ${rows / 100})
    SELECT 'hour', 'all', ${fromMillis} + at * ${hourMillis}, '', 10, 1, 1000, 100, 10, 500, 1000, ${bands} FROM n`
  yield* sql`INSERT INTO usage_series ${columns} ${upTo} ${rows})
    SELECT 'hour', 'key', ${fromMillis} + at / 100 * ${hourMillis}, 'key_' || (at % 100), 10, 1, 1000, 100, 10, 500, 1000, ${bands} FROM n`
  yield* sql`INSERT INTO request_batches (rows_number, packed) ${upTo} ${rows / 500}) SELECT 500, (
    SELECT json_group_array(json_array(1800000000000 + n.at, 'request-' || n.at || '-' || m.at, 200, 'google', 'gemini-3.8-flash', 'key_' || m.at,
    'trace', '/v1/chat/completions', 0, json('false'), null, 1000, null, 100, null, 5, null, json('[]')))
    FROM (WITH RECURSIVE m (at) AS (SELECT 0 UNION ALL SELECT at + 1 FROM m WHERE at < 499) SELECT at FROM m) AS m) FROM n`
})

/** The upgrade of a store whose `usage_series` has no sums of days. */
const upgrade = Effect.andThen(backToMigration(11), migrate)

/** Makes the sums of periods, as the batches of requests do. Returns what the steps took. */
const roll = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const steps: Array<number> = []
  for (;;) {
    const started = performance.now()
    if (!(yield* sql.withTransaction(rollDay(sql, Date.parse("2100-01-01"))))) break
    steps.push(performance.now() - started)
  }
  const mean = steps.reduce((sum, step) => sum + step, 0) / steps.length
  return `${steps.length} steps, ${mean.toFixed(0)} ms each and ${Math.max(...steps).toFixed(0)} ms at most`
})

const run = Effect.gen(function* () {
  yield* fill
  const table = yield* RequestTable
  const timed = Effect.fnUntraced(function* <A, E>(name: string, report: Effect.Effect<A, E>) {
    const delay = monitorEventLoopDelay({ resolution: 1 })
    delay.enable()
    const started = performance.now()
    yield* report
    const took = performance.now() - started
    delay.disable()
    console.log(`${name}: ${took.toFixed(0)} ms; other work waited at most ${(delay.max / 1e6).toFixed(0)} ms`)
  })
  const started = performance.now()
  yield* upgrade
  console.log(`the upgrade took ${(performance.now() - started).toFixed(0)} ms`)
  console.log(`sums of periods: ${yield* roll}`)
  const limit = 1000
  yield* timed(
    "the first report, with the start of the thread",
    table.usage({ groupBy: [], limit, from: "2099-01-01" })
  )
  for (const times of [1, 2]) {
    console.log(`round ${times}`)
    yield* timed(
      "usage by day, key, provider, model",
      table.usage({ groupBy: ["day", "key", "provider", "model"], limit })
    )
    yield* timed("usage by day", table.usage({ groupBy: ["day"], limit }))
    yield* timed("usage by key", table.usage({ groupBy: ["key"], limit }))
    yield* timed("usage by day and key", table.usage({ groupBy: ["day", "key"], limit }))
    yield* timed("usage by day of a key", table.usage({ groupBy: ["day"], where: [["key", "key_7"]], limit }))
    const most = { from: "2027-01-02", to: "2027-11-28" } as const
    for (const groupBy of [["key", "model"], ["config"], ["client", "model"], ["metadata.team"]] as const) {
      yield* timed(`usage by ${groupBy.join(" and ")}`, table.usage({ groupBy, limit }))
      yield* timed(
        `usage by ${groupBy.join(" and ")}, a span without its edges`,
        table.usage({ groupBy, ...most, limit })
      )
    }
    yield* timed("usage by day and config", table.usage({ groupBy: ["day", "config"], limit }))
    yield* timed("usage by key, model and day", table.usage({ groupBy: ["key", "model", "day"], limit }))
    yield* timed(
      "usage by day of an unknown client",
      table.usage({ groupBy: ["day"], where: [["client", "none"]], limit })
    )
    yield* timed(
      "usage of 30 days by model",
      table.usage({ groupBy: ["model"], from: "2027-03-01", to: "2027-03-30", limit })
    )
    const hours = { bucket: "hour", from: fromMillis, to: fromMillis + 720 * hourMillis, limit } as const
    yield* timed("30 days by the hour", table.series({ ...hours, scope: "all" }))
    yield* timed("30 days by the hour and key, a page", table.series({ ...hours, scope: "key" }))
    yield* timed("requests of a key that has none", table.requests({ limit: 100, key: "nobody" }))
    yield* timed("requests of a status that none has", table.requests({ limit: 100, status: 404 }))
    yield* timed("requests of an id that none has", table.requests({ limit: 100, requestId: "nobody" }))
    yield* timed("requests of a trace that none has", table.requests({ limit: 100, traceId: "nobody" }))
    yield* timed("requests of metadata that none has", table.requests({ limit: 100, metadata: [["team", "nobody"]] }))
    yield* timed("one request by an id that none has", table.latest({ id: "nobody", isOwn: true }))
    yield* timed("one request by its id, the oldest", table.latest({ id: "request-0-7", isOwn: false }))
    yield* timed("requests since later", table.requests({ limit: 100, since: 1_900_000_000_000 }))
    yield* timed("requests of a key", table.requests({ limit: 100, key: "key_7" }))
  }
})

await Effect.runPromise(
  Effect.scoped(run.pipe(Effect.provide(RequestTable.layer.pipe(Layer.provideMerge(storeOn(sqlite))))))
)
process.exit()
