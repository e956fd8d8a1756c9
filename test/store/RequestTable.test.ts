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
import { defaultLimits, Limits } from "../../src/domain/Limits.ts"
import type { RequestRow } from "../../src/domain/RequestRow.ts"
import { noUsage } from "../../src/operations/usage.ts"
import { onSqlite } from "../../src/store/database/Sql.ts"
import { rareId, type RequestFilter } from "../../src/domain/usage/usageSums.ts"
import { RequestBatch } from "../../src/store/RequestBatch.ts"
import { migrate } from "../../src/store/database/Migrations.ts"
import { RequestTable } from "../../src/store/RequestTable.ts"
import { trimSeries } from "../../src/store/usage/UsageSeries.ts"
import { backToMigration } from "../support/backToMigration.ts"
import { databases, storeOn } from "../support/databases.ts"

const row = (at: number, keyId: string): RequestRow => ({
  endedMillis: 1_800_000_000_000 + at,
  requestId: `r${at}`,
  traceId: `r${at + 1}`,
  route: "/v1/messages",
  status: 200,
  provider: "google",
  model: undefined,
  target: undefined,
  attempts: [],
  stream: false,
  cache: "ü\u{1f600}",
  durationMillis: 1,
  ttftMillis: undefined,
  overheadMillis: 0,
  usage: undefined,
  costMicros: undefined,
  keyId,
  errorCode: undefined
})

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
  const keeping = (requestsStored: number) =>
    RequestTable.layer.pipe(
      Layer.provideMerge(Layer.fresh(storeOn(database))),
      Layer.provide(Layer.succeed(Limits, { ...defaultLimits, requestsStored }))
    )

  it.effect("stored requests: are found after many others, page by page and by id", () =>
    Effect.gen(function* () {
      const table = yield* filled
      expect((yield* table.requests({ limit: 5, key: "early" })).rows).toEqual([row(0, "early")])
      const ids: Array<string> = []
      let cursor: number | undefined
      do {
        const page = yield* table.requests({ limit: 7, cursor })
        ids.push(...page.rows.map(({ requestId }) => requestId))
        cursor = page.next
      } while (cursor !== undefined)
      expect(ids).toEqual(Array.from({ length: 50 }, (_, at) => `r${49 - at}`))
      const latest = (id: string) => table.latest(id, ({ requestId }) => requestId === id)
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
      const wanted: RequestRow = {
        ...row(0, "key"),
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
        metadata: { team: "red" }
      }
      yield* table.write(batch([wanted]))
      yield* table.write(batch([row(1, "other"), wanted, row(2, "other")]))
      const filters: ReadonlyArray<RequestFilter> = [
        { provider: "openai" },
        { model: "m" },
        { key: "key" },
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
        { until: wanted.endedMillis + 1 }
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
        const { bytes: _bytes, id, rows, text } = batch([row(at, "a")])
        const given = sql.literal(onSqlite(sql) ? "" : "OVERRIDING SYSTEM VALUE")
        return sql`INSERT INTO request_batches (position, batch_id, rows_number, packed) ${given} VALUES (${position}, ${id}, ${rows}, ${text})`
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
      // All batches have the key and the status of the query, but only the first row has both.
      yield* table.write(batch([{ ...row(0, "rare"), status: 404 }]))
      for (let at = 1; at <= 22_000; at += 500)
        yield* table.write(
          batch(
            Array.from({ length: 500 }, (_, more) => row(at + more, "common"))
              .with(0, row(at, "rare"))
              .with(1, { ...row(at + 1, "common"), status: 404 })
          )
        )
      const query = { limit: 10, key: "rare", status: 404 }
      const first = yield* table.requests(query)
      expect([first.rows, first.next]).toEqual([[], 6_000])
      const second = yield* table.requests({ ...query, cursor: first.next })
      expect([second.rows.map(({ requestId }) => requestId), second.next]).toEqual([["r0"], undefined])
      // No batch has such a row, so none is read.
      expect(yield* table.requests({ limit: 10, key: "nobody" })).toEqual({ rows: [], next: undefined })
    }).pipe(Effect.provide(keeping(100_000)))
  )

  it.effect(
    "stored requests: a search by id or metadata reads the batches whose hashes may have it, and no others",
    () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const table = yield* RequestTable
        const wanted: RequestRow = { ...row(0, "k"), id: "own", requestId: "sent", metadata: { team: "red" } }
        const filters: ReadonlyArray<RequestFilter> = [
          { requestId: "sent" },
          { traceId: wanted.traceId },
          { metadata: [["team", "red"]] }
        ]
        const latest = (id: string) => table.latest(id, (one) => one.id === id || one.requestId === id)
        const found = Effect.gen(function* () {
          const pages = yield* Effect.forEach(filters, (filter) => table.requests({ ...filter, limit: 10 }))
          return [...pages.map(({ rows }) => rows), [yield* latest("own")], [yield* latest("sent")]]
        })
        const all = Array.from({ length: 5 }, () => [wanted])
        yield* table.write(batch([row(5, "k"), wanted]))
        yield* table.write(batch([row(6, "k"), row(7, "k")]))
        expect(yield* found).toEqual(all)
        // The hashes of versions before migration 16, and the names and hashes of those before migration 14.
        yield* sql`UPDATE request_batch_names SET hashes = NULL WHERE position = 1`
        expect(yield* found).toEqual(all)
        yield* sql`DELETE FROM request_batch_names WHERE position = 1`
        expect(yield* found).toEqual(all)
        // A batch with other hashes is not read: the search would fail there.
        yield* sql`UPDATE request_batches SET packed = '"sent"' WHERE position = 2`
        expect(yield* found).toEqual(all)
        // A hash that is also that of another value finds nothing.
        const { hash } = rareId("nobody")
        yield* sql`UPDATE request_batches SET packed = ${batch([row(6, "k")]).text} WHERE position = 2`
        yield* sql`UPDATE request_batch_names SET hashes = ${hash} WHERE position = 2`
        expect(yield* table.requests({ requestId: "nobody", limit: 10 })).toEqual({ rows: [], next: undefined })
        expect(yield* latest("nobody")).toBe(undefined)
      }).pipe(Effect.provide(keeping(1000)))
  )

  it.effect("stored requests: the sums of minutes, hours and days are kept as long as set", () =>
    Effect.gen(function* () {
      const table = yield* RequestTable
      const dayMillis = 24 * 3_600_000
      const kept = [0, 30, 39, 40]
      yield* table.write(batch(kept.map((day) => row(day * dayMillis, "k"))))
      const sql = yield* SqlClient.SqlClient
      yield* trimSeries(sql, defaultLimits, row(40 * dayMillis, "k").endedMillis)
      const dayOf = (millis: number) => Math.floor(millis / dayMillis)
      const starts = (bucket: Bucket) =>
        Effect.map(table.series({ bucket, scope: "key", limit: 10 }), ({ points }) =>
          points.map(({ startMillis }) => dayOf(startMillis) - dayOf(row(0, "k").endedMillis))
        )
      expect([yield* starts("minute"), yield* starts("hour"), yield* starts("day")]).toEqual([
        [39, 40],
        [30, 39, 40],
        kept
      ])
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
          ended_millis: row(at, "late").endedMillis,
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
      expect((yield* table.requests({ limit: 10 })).rows.map(({ requestId }) => requestId)).toEqual(["r2", "r1", "r0"])
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
      expect((yield* table.requests({ limit: 10 })).rows.map(({ requestId }) => requestId)).toEqual(
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
      const used: RequestRow = {
        ...row(0, "k"),
        durationMillis: 12.5,
        ttftMillis: 3,
        usage: { ...noUsage, input: 10, output: 20, cached: 5 },
        costMicros: 1500
      }
      const broken: RequestRow = {
        ...row(1, "k"),
        status: 400,
        stream: true,
        errorCode: "invalid_value",
        errorMessage: 'A "quote".',
        errorParam: "n"
      }
      yield* table.write(batch([used, broken, { ...row(2, "k"), id: "own" }]))
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
          batch([{ ...row(0, "k"), config: "fast", client: "curl", metadata: { team: "red" } }, row(1, "k")])
        )
        const shown = sql`SELECT config, client, metadata FROM requests ORDER BY number`
        const rows = [
          { config: "fast", client: "curl", metadata: '{"team":"red"}' },
          { config: null, client: null, metadata: null }
        ]
        expect(yield* shown).toEqual(rows)
        // The tables of the version before.
        yield* backToMigration(10)
        expect(yield* migrate).toEqual([
          [11, "usage_details"],
          [12, "series_days"],
          [13, "compatibility"],
          [14, "reports"],
          [15, "console_sessions"],
          [16, "batch_hashes"],
          [17, "content_owners"]
        ])
        expect(yield* shown).toEqual(rows)
        const { groups } = yield* table.usage({ groupBy: ["key", "client", "metadata.team"], limit: 10 })
        expect(groups.map(({ by, requests }) => ({ by, requests }))).toEqual([
          { by: { key: "k", client: "", "metadata.team": "" }, requests: 2 }
        ])
      }).pipe(Effect.provide(keeping(1000)))
  )

  it.effect("stored requests: a start years ahead deletes no sums, and days that pass do (F74)", () => {
    let now = row(0, "k").endedMillis
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
      expect(yield* days).toEqual([dayOf(row((defaultLimits.usageDays + 2) * dayMillis, "k").endedMillis)])
    }).pipe(Effect.provideService(Clock.Clock, clock), Effect.provide(keeping(1000)), Effect.scoped)
  })

  it.effect("stored requests: are trimmed in batches, while the last use of their key stays", () =>
    Effect.gen(function* () {
      const table = yield* filled
      expect((yield* table.requests({ limit: 100 })).rows.map(({ requestId }) => requestId)).toEqual([
        "r49",
        "r48",
        "r47",
        "r46"
      ])
      expect([yield* table.lastUsed("early"), yield* table.lastUsed("late"), yield* table.lastUsed("never")]).toEqual([
        row(0, "early").endedMillis,
        row(49, "late").endedMillis,
        undefined
      ])
    }).pipe(Effect.provide(keeping(3)))
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
      expect((yield* after.requests({ limit: 1000 })).rows.map(({ requestId }) => requestId)).toEqual(
        Array.from({ length: 401 }, (_, at) => `r${500 - at}`)
      )
    }).pipe(Effect.scoped, Effect.provide(Layer.fresh(storeOn(database))))
  )
})
