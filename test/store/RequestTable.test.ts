// Tests the request log in batches: reads over many batches, the SQL view of single requests, and trimming.
// Must not depend on HTTP.
import { describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as SqlClient from "effect/sql/SqlClient"
import { expect } from "vitest"
import type { Bucket } from "../../src/domain/usage/usageSeries.ts"
import { dayOf } from "../../src/domain/time.ts"
import { defaultLimits, Limits, type LimitValues } from "../../src/domain/Limits.ts"
import type { RequestRow } from "../../src/domain/RequestRow.ts"
import { noUsage } from "../../src/operations/usage.ts"
import { onSqlite } from "../../src/store/database/Sql.ts"
import type { RequestFilter } from "../../src/domain/usage/usageSums.ts"
import { RequestBatch } from "../../src/store/RequestBatch.ts"
import { migrate } from "../../src/store/database/Migrations.ts"
import { RequestTable } from "../../src/store/RequestTable.ts"
import { insertRows } from "../../src/store/usage/RequestRows.ts"
import { trimSeries } from "../../src/store/usage/UsageSeries.ts"
import { backToMigration } from "../support/backToMigration.ts"
import { databases, storeOn } from "../support/databases.ts"
import { packedOf, type RowFacts, rowOf } from "../support/requestRows.ts"

const factsOf = (at: number, keyId: string): RowFacts => ({
  endedMillis: 1_800_000_000_000 + at,
  requestId: `r${at}`,
  traceId: `r${at + 1}`,
  route: "/v1/messages",
  status: 200,
  provider: "google",
  attempts: [],
  stream: false,
  cache: "ü\u{1f600}",
  durationMillis: 1,
  overheadMillis: 0,
  keyId
})
const row = (at: number, keyId: string, more: Partial<RowFacts> = {}): RequestRow =>
  rowOf({ ...factsOf(at, keyId), ...more })
const millisOf = (at: number): number => factsOf(at, "k").endedMillis

const batch = (rows: ReadonlyArray<RequestRow>): RequestBatch => {
  const made = new RequestBatch()
  for (const one of rows)
    made.add(one, { model: "m", client: one.client ?? "", metadata: JSON.stringify(one.metadata ?? {}) })
  return made
}

/** Rows of two keys; the first row alone has the other key. */
const filled = Effect.gen(function* () {
  const table = yield* RequestTable
  yield* table.write(batch([row(0, "early"), row(1, "late")]))
  for (let at = 2; at < 50; at += 2) yield* table.write(batch([row(at, "late"), row(at + 1, "late")]))
  return table
})

describe.each(databases)("requests on $name", (database) => {
  const keeping = (requestsStored: number, more: Partial<LimitValues> = {}) =>
    RequestTable.layer.pipe(
      Layer.provideMerge(Layer.fresh(storeOn(database))),
      Layer.provide(Layer.succeed(Limits, { ...defaultLimits, requestsStored, ...more }))
    )

  it.effect("stored requests: are found after many others, page by page and by id", () =>
    Effect.gen(function* () {
      const table = yield* filled
      expect((yield* table.requests({ limit: 5, key: "early" })).rows).toEqual([row(0, "early")])
      const ids: Array<string> = []
      let cursor: number | undefined
      do {
        const page = yield* table.requests({ limit: 7, cursor })
        ids.push(...page.rows.map(({ request_id: id }) => id))
        cursor = page.next
      } while (cursor !== undefined)
      expect(ids).toEqual(Array.from({ length: 50 }, (_, at) => `r${49 - at}`))
      const latest = (id: string) => table.latest({ id, isOwn: false })
      expect([yield* latest("r4"), yield* latest("r50"), yield* latest("r")]).toEqual([
        row(4, "late"),
        undefined,
        undefined
      ])
    }).pipe(Effect.provide(keeping(1000)))
  )

  it.effect("stored requests: each filter takes the rows with its value, and no others", () =>
    Effect.gen(function* () {
      const table = yield* RequestTable
      const wanted = row(0, "key", {
        provider: "openai",
        model: "m",
        route: "/v1/embeddings",
        cache: "HIT",
        client: "curl",
        config: "patient",
        errorCode: "timeout",
        traceId: "trace",
        durationMillis: 250,
        costMicros: 1000,
        user: "alice",
        metadata: { team: "red" }
      })
      yield* table.write(batch([wanted]))
      yield* table.write(batch([row(1, "other"), wanted, row(2, "other")]))
      const filters: ReadonlyArray<RequestFilter> = [
        { provider: "openai" },
        { model: "m" },
        { key: "key" },
        { user: "alice" },
        { route: "/v1/embeddings" },
        { cache: "HIT" },
        { client: "curl" },
        { config: "patient" },
        { error: "timeout" },
        { requestId: "r0" },
        { traceId: "trace" },
        { minDurationMillis: 250 },
        { minCostMicros: 1000 },
        { metadata: [["team", "red"]] },
        { until: millisOf(1) }
      ]
      for (const filter of filters)
        expect([filter, (yield* table.requests({ ...filter, limit: 10 })).rows]).toEqual([filter, [wanted, wanted]])
      const none: ReadonlyArray<RequestFilter> = [{ metadata: [["team", "blue"]] }, { minDurationMillis: 251 }]
      for (const filter of none) expect((yield* table.requests({ ...filter, limit: 10 })).rows).toEqual([])
    }).pipe(Effect.provide(keeping(1000)))
  )

  it.effect("stored requests: a reader gets a batch that appears below a later one, once", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const table = yield* RequestTable
      yield* table.write(batch([row(0, "a")]))
      const read = yield* table.follow(10)
      // A transaction that took its position first commits last.
      const write = (position: number, at: number) => {
        const one = batch([row(at, "a")])
        const given = sql.literal(onSqlite(sql) ? "" : "OVERRIDING SYSTEM VALUE")
        return Effect.andThen(
          sql`INSERT INTO request_batches (position, batch_id, rows_number, packed) ${given} VALUES (${position}, ${one.id}, 1, '[]')`,
          insertRows(sql, position, one)
        )
      }
      yield* write(9, 2)
      expect(yield* read).toEqual({ rows: [row(2, "a")], skipped: 0 })
      yield* write(8, 1)
      expect(yield* read).toEqual({ rows: [row(1, "a")], skipped: 0 })
      expect(yield* read).toEqual({ rows: [], skipped: 0 })
    }).pipe(Effect.provide(keeping(1000)))
  )

  it.effect("stored requests: a search that finds little stops, and goes on at its cursor", () =>
    Effect.gen(function* () {
      const table = yield* RequestTable
      // Many rows have the key and many the status of the query, but only the first row has both.
      yield* table.write(batch([row(0, "rare", { status: 404 })]))
      for (let at = 1; at < 100; at += 10)
        yield* table.write(
          batch(
            Array.from({ length: 10 }, (_, more) =>
              row(at + more, more < 5 ? "rare" : "common", more < 5 ? {} : { status: 404 })
            )
          )
        )
      const query = { limit: 10, key: "rare", status: 404 }
      const first = yield* table.requests(query)
      // Twenty of the rows with the key are in the last four batches.
      expect([first.rows, first.next]).toEqual([[], 8_000])
      const second = yield* table.requests({ ...query, cursor: first.next })
      expect([second.rows, second.next]).toEqual([[], 4_000])
      const third = yield* table.requests({ ...query, cursor: second.next })
      expect([third.rows.map(({ request_id: id }) => id), third.next]).toEqual([["r0"], undefined])
      // One condition with an index, or a rare one of several, finds every row.
      expect((yield* table.requests({ limit: 100, key: "rare" })).rows.length).toBe(51)
      expect(yield* table.requests({ limit: 10, key: "nobody", status: 404, route: "/v1/messages" })).toEqual({
        rows: [],
        next: undefined
      })
    }).pipe(Effect.provide(keeping(100_000, { requestsSearched: 20 })))
  )

  it.effect("stored requests: a search by id, trace or metadata finds the oldest of many rows in one page", () =>
    Effect.gen(function* () {
      const table = yield* RequestTable
      const wanted = row(0, "k", { id: "own", requestId: "sent", metadata: { team: "red" } })
      yield* table.write(batch([row(5, "k", { metadata: { team: "blue" } }), wanted]))
      for (let at = 10; at < 100; at += 10)
        yield* table.write(batch(Array.from({ length: 10 }, (_, more) => row(at + more, "k"))))
      const filters: ReadonlyArray<RequestFilter> = [
        { requestId: "sent" },
        { traceId: wanted.trace_id },
        { metadata: [["team", "red"]] },
        { metadata: [["team", "red"]], requestId: "sent", route: "/v1/messages" }
      ]
      for (const filter of filters)
        expect(yield* table.requests({ ...filter, limit: 10 })).toEqual({ rows: [wanted], next: undefined })
      expect([
        yield* table.latest({ id: "own", isOwn: true }),
        yield* table.latest({ id: "sent", isOwn: true }),
        yield* table.latest({ id: "sent", isOwn: false, isKeyed: true }),
        yield* table.latest({ id: "sent", isOwn: false, isKeyed: true, notKey: "k" })
      ]).toEqual([wanted, undefined, wanted, undefined])
    }).pipe(Effect.provide(keeping(1000, { requestsSearched: 10 })))
  )

  it.effect("stored requests: the sums of minutes, hours and days are kept as long as set", () =>
    Effect.gen(function* () {
      const table = yield* RequestTable
      const dayMillis = 24 * 3_600_000
      const kept = [0, 30, 39, 40]
      yield* table.write(batch(kept.map((day) => row(day * dayMillis, "k"))))
      const sql = yield* SqlClient.SqlClient
      yield* trimSeries(sql, defaultLimits, millisOf(40 * dayMillis))
      const dayOf = (millis: number) => Math.floor(millis / dayMillis)
      const starts = (bucket: Bucket) =>
        Effect.map(table.series({ bucket, scope: "key", limit: 10 }), ({ points }) =>
          points.map(({ startMillis }) => dayOf(startMillis) - dayOf(millisOf(0)))
        )
      expect([yield* starts("minute"), yield* starts("hour"), yield* starts("day")]).toEqual([
        [39, 40],
        [30, 39, 40],
        kept
      ])
    }).pipe(Effect.provide(keeping(1000)))
  )

  it.effect("stored requests: of a user, of a key or before a moment are deleted, and their sums stay", () =>
    Effect.gen(function* () {
      const table = yield* RequestTable
      const sql = yield* SqlClient.SqlClient
      const team = { metadata: { team: "red" } }
      yield* table.write(batch([row(0, "a", { user: "alice", ...team }), row(1, "b", { user: "alice" }), row(2, "a")]))
      // A batch of the release before, which has its rows as a text.
      const packed = JSON.stringify([packedOf(row(3, "old", team))])
      yield* sql`INSERT INTO request_batches (rows_number, packed) VALUES (1, ${packed})`
      const ids = Effect.map(table.requests({ limit: 10 }), ({ rows }) => rows.map(({ request_id: id }) => id))
      expect(yield* ids).toEqual(["r3", "r2", "r1", "r0"])
      expect([yield* table.remove({ user: "alice", key: "a" }), yield* ids]).toEqual([["r0"], ["r3", "r2", "r1"]])
      expect([yield* table.remove({ until: millisOf(2) }), yield* ids]).toEqual([["r1"], ["r3", "r2"]])
      expect([yield* table.remove({ key: "old" }), yield* ids]).toEqual([["r3"], ["r2"]])
      expect([yield* table.remove({ user: "alice" }), yield* table.remove({ key: "nobody" })]).toEqual([[], []])
      expect(yield* sql`SELECT packed FROM request_batches WHERE packed <> '[]'`).toEqual([])
      expect(yield* sql`SELECT name FROM request_metadata`).toEqual([])
      expect((yield* table.usage({ groupBy: [], limit: 10 })).groups.map(({ requests }) => requests)).toEqual([3])
    }).pipe(Effect.provide(keeping(1000)))
  )

  it.effect("stored requests: appear as one row each in the view", () =>
    Effect.gen(function* () {
      yield* filled
      const sql = yield* SqlClient.SqlClient
      const shown =
        yield* sql`SELECT batch, number, ended_millis, request_id, status, provider, model, key_id FROM requests WHERE batch = 2 ORDER BY number`
      expect(shown).toEqual(
        [2, 3].map((at) => ({
          batch: 2,
          number: at - 2,
          ended_millis: millisOf(at),
          request_id: `r${at}`,
          status: 200,
          provider: "google",
          model: null,
          key_id: "late"
        }))
      )
    }).pipe(Effect.provide(keeping(1000)))
  )

  it.effect("stored requests: a batch that is written again counts once", () =>
    Effect.gen(function* () {
      const table = yield* RequestTable
      const twice = batch([row(0, "k"), row(1, "k")])
      yield* table.write(twice)
      yield* table.write(twice)
      yield* table.write(batch([row(2, "k")]))
      expect((yield* table.requests({ limit: 10 })).rows.map(({ request_id: id }) => id)).toEqual(["r2", "r1", "r0"])
      expect((yield* table.usage({ groupBy: [], limit: 10 })).groups.map(({ requests }) => requests)).toEqual([3])
      const { points } = yield* table.series({ bucket: "day", scope: "all", limit: 10 })
      expect(points.map(({ sums }) => sums.requests)).toEqual([3])
    }).pipe(Effect.provide(keeping(1000)))
  )

  it.effect("stored requests: the first rows of a batch that was stored whole are not stored again (F71)", () =>
    Effect.gen(function* () {
      const table = yield* RequestTable
      const whole = batch([row(0, "k"), row(1, "k"), row(2, "late")])
      // The halves of a batch that was not stored count once each, under two ids.
      const other = batch([row(3, "k"), row(4, "k"), row(5, "late")])
      expect([
        yield* table.write(whole),
        yield* table.write(whole.part(0, 2)),
        yield* table.write(other.part(0, 2)),
        yield* table.write(other.part(0, 2)),
        yield* table.write(other.part(2, 3))
      ]).toEqual([3, 3, 2, 2, 1])
      expect((yield* table.requests({ limit: 10 })).rows.map(({ request_id: id }) => id)).toEqual(
        [5, 4, 3, 2, 1, 0].map((at) => `r${at}`)
      )
      expect((yield* table.usage({ groupBy: ["key"], limit: 10 })).groups.map(({ requests }) => requests)).toEqual([
        4, 2
      ])
    }).pipe(Effect.provide(keeping(1000)))
  )

  it.effect("stored requests: refused values are another failure than a database that is away (F71)", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const table = yield* RequestTable
      const written = yield* Effect.result(table.write(batch([row(0, "half\0")])))
      expect(Result.isFailure(written) ? [written.failure._tag, "reason" in written.failure] : []).toEqual(
        onSqlite(sql) ? [] : ["RowsRefused", true]
      )
      expect(yield* table.write(batch([row(1, "k")]))).toBe(1)
    }).pipe(Effect.provide(keeping(1000)))
  )

  it.effect("stored requests: have their times, tokens, cost and error in the view", () =>
    Effect.gen(function* () {
      const table = yield* RequestTable
      const used = row(0, "k", {
        durationMillis: 12.5,
        ttftMillis: 3,
        usage: { ...noUsage, input: 10, output: 20, cached: 5 },
        costMicros: 1500
      })
      const broken = row(1, "k", {
        status: 400,
        stream: true,
        errorCode: "invalid_value",
        errorMessage: 'A "quote".',
        errorParam: "n"
      })
      yield* table.write(batch([used, broken, row(2, "k", { id: "own" })]))
      const sql = yield* SqlClient.SqlClient
      const shown =
        yield* sql`SELECT request_id, id, route, duration_millis, first_byte_millis, input_tokens, output_tokens, cached_tokens, cost_usd, error_code, error_message, error_param FROM requests ORDER BY number`
      const plain = {
        request_id: "r0",
        id: "r0",
        route: "/v1/messages",
        duration_millis: 1,
        first_byte_millis: null,
        input_tokens: null,
        output_tokens: null,
        cached_tokens: null,
        cost_usd: null,
        error_code: null,
        error_message: null,
        error_param: null
      }
      expect(shown).toEqual([
        {
          ...plain,
          duration_millis: 12.5,
          first_byte_millis: 3,
          input_tokens: 10,
          output_tokens: 20,
          cached_tokens: 5,
          cost_usd: 0.0015
        },
        {
          ...plain,
          request_id: "r1",
          id: "r1",
          error_code: "invalid_value",
          error_message: 'A "quote".',
          error_param: "n"
        },
        { ...plain, request_id: "r2", id: "own" }
      ])
      const second = onSqlite(sql)
        ? sql.literal("substr(ended_at, 1, 23)")
        : sql.literal("to_char(ended_at AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS')")
      expect(yield* sql`SELECT ${second} AS at FROM requests WHERE stream`).toEqual([{ at: "2027-01-15T08:00:00.001" }])
    }).pipe(Effect.provide(keeping(1000)))
  )

  it.effect(
    "stored requests: have their config, client and metadata in the view, also after an upgrade with old sums",
    () =>
      Effect.gen(function* () {
        const table = yield* RequestTable
        const sql = yield* SqlClient.SqlClient
        yield* table.write(
          batch([row(0, "k", { config: "fast", client: "curl", metadata: { team: "red" } }), row(1, "k")])
        )
        const shown = sql`SELECT config, client, metadata FROM requests ORDER BY number`
        const rows = [
          { config: "fast", client: "curl", metadata: '{"team":"red"}' },
          { config: null, client: null, metadata: null }
        ]
        expect(yield* shown).toEqual(rows)
        // The tables of the version before, and its text of these rows.
        yield* backToMigration(10)
        expect(yield* migrate).toEqual([
          [11, "usage_details"],
          [12, "series_days"],
          [13, "compatibility"],
          [14, "reports"],
          [15, "console_sessions"],
          [16, "batch_hashes"],
          [17, "content_owners"],
          [18, "request_rows"]
        ])
        expect(yield* shown).toEqual(rows)
        const { groups } = yield* table.usage({ groupBy: ["key", "client", "metadata.team"], limit: 10 })
        expect(groups.map(({ by, requests }) => ({ by, requests }))).toEqual([
          { by: { key: "k", client: "", "metadata.team": "" }, requests: 2 }
        ])
      }).pipe(Effect.provide(keeping(1000)))
  )

  it.effect("stored requests: a start years ahead deletes no sums, and days that pass do (F74)", () => {
    let now = millisOf(0)
    // Not the clock of the whole test: the pool of a database has timers, which would run for each second of years.
    const clock: Clock.Clock = Object.assign(Object.create(Context.get(Context.empty(), Clock.Clock)), {
      currentTimeMillisUnsafe: () => now,
      currentTimeMillis: Effect.sync(() => now),
      monotonicTimeNanosUnsafe: () => BigInt(now) * 1_000_000n
    })
    return Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const dayMillis = 24 * 3_600_000
      const begun = now
      const started = Effect.map(Layer.build(Layer.fresh(RequestTable.layer)), (context) =>
        Context.get(context, RequestTable)
      )
      const days = Effect.map(sql<{ readonly day: string }>`SELECT day FROM usage_sums ORDER BY day`, (rows) =>
        rows.map(({ day }) => day)
      )
      yield* (yield* started).write(batch([row(0, "k")]))
      // The clock is wrong at a start, for days, and right at the next start.
      now = begun + 730 * dayMillis
      const wrong = yield* started
      yield* wrong.write(batch([row(730 * dayMillis, "k")]))
      now += 3 * dayMillis
      yield* wrong.write(batch([row(733 * dayMillis, "k")]))
      expect(yield* days).toEqual(["2027-01-15", "2029-01-14", "2029-01-17"])
      yield* sql`DELETE FROM usage_sums WHERE day > '2028'`
      now = begun + dayMillis
      const right = yield* started
      yield* right.write(batch([row(dayMillis, "k")]))
      now += (defaultLimits.usageDays + 1) * dayMillis
      yield* right.write(batch([row((defaultLimits.usageDays + 2) * dayMillis, "k")]))
      expect(yield* days).toEqual([dayOf(millisOf((defaultLimits.usageDays + 2) * dayMillis))])
    }).pipe(Effect.provideService(Clock.Clock, clock), Effect.provide(keeping(1000)), Effect.scoped)
  })

  it.effect("stored requests: are trimmed in batches, while the last use of their key stays", () =>
    Effect.gen(function* () {
      const table = yield* filled
      expect((yield* table.requests({ limit: 100 })).rows.map(({ request_id: id }) => id)).toEqual([
        "r49",
        "r48",
        "r47",
        "r46"
      ])
      expect([yield* table.lastUsed("early"), yield* table.lastUsed("late"), yield* table.lastUsed("never")]).toEqual([
        millisOf(0),
        millisOf(49),
        undefined
      ])
    }).pipe(Effect.provide(keeping(3)))
  )

  it.effect("stored requests: far more than are kept are trimmed a part with each batch", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const started = (requestsStored: number) =>
        Effect.map(
          Layer.build(RequestTable.layer).pipe(Effect.provideService(Limits, { ...defaultLimits, requestsStored })),
          (context) => Context.get(context, RequestTable)
        )
      const team = { metadata: { team: "red" } }
      const before = yield* started(10_000)
      for (let at = 0; at < 6; at++)
        yield* before.write(batch(Array.from({ length: 500 }, (_, number) => row(at * 500 + number, "k", team))))
      const after = yield* started(400)
      const left: Array<unknown> = []
      for (let at = 0; at < 4; at++) {
        yield* after.write(batch([row(3000 + at, "k")]))
        left.push(
          ...(yield* sql`SELECT (SELECT COUNT(*) FROM request_rows) AS rows_left, (SELECT COUNT(*) FROM request_metadata) AS values_left,
            (SELECT COUNT(*) FROM request_batches) AS batches_left`)
        )
      }
      expect(left).toEqual([
        { rows_left: 2001, values_left: 2000, batches_left: 5 },
        { rows_left: 1002, values_left: 1000, batches_left: 4 },
        { rows_left: 503, values_left: 500, batches_left: 4 },
        { rows_left: 504, values_left: 500, batches_left: 5 }
      ])
    }).pipe(Effect.scoped, Effect.provide(Layer.fresh(storeOn(database))))
  )

  it.effect.runIf(database.name === "SQLite")("stored requests: a deletion is on the disk when it is answered", () =>
    Effect.gen(function* () {
      const { remove, write } = yield* RequestTable
      const sql = yield* SqlClient.SqlClient
      const durability = Effect.map(
        sql<{ readonly synchronous: number }>`PRAGMA synchronous`,
        ([set]) => set?.synchronous
      )
      yield* write(batch([row(0, "k")]))
      const ofWrite = yield* durability
      yield* remove({ key: "k" })
      // 1 is NORMAL, 2 is FULL.
      expect([ofWrite, yield* durability]).toEqual([1, 2])
    }).pipe(Effect.provide(keeping(1000)))
  )

  it.effect("stored requests: are trimmed with the first batch of a process", () =>
    Effect.gen(function* () {
      const started = (requestsStored: number) =>
        Effect.map(
          Layer.build(RequestTable.layer).pipe(Effect.provideService(Limits, { ...defaultLimits, requestsStored })),
          (context) => Context.get(context, RequestTable)
        )
      const before = yield* started(1000)
      for (let at = 0; at < 5; at++)
        yield* before.write(batch(Array.from({ length: 100 }, (_, number) => row(at * 100 + number, "k"))))
      const after = yield* started(400)
      yield* after.write(batch([row(500, "k")]))
      expect((yield* after.requests({ limit: 1000 })).rows.map(({ request_id: id }) => id)).toEqual(
        Array.from({ length: 401 }, (_, at) => `r${500 - at}`)
      )
    }).pipe(Effect.scoped, Effect.provide(Layer.fresh(storeOn(database))))
  )
})
