// Tests the rows of requests in the store: they are read as they were written, and as older versions packed them.
// Must not depend on HTTP.
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"
import { expect } from "vitest"
import type { RequestRow } from "../../../src/domain/RequestRow.ts"
import { RequestBatch } from "../../../src/store/RequestBatch.ts"
import { insertRows, rowsOfBatch } from "../../../src/store/usage/RequestRows.ts"
import { databases, storeOn } from "../../support/databases.ts"
import { type CallFacts, packedOf, type RowFacts, rowOf } from "../../support/requestRows.ts"

const maybe = <A>(one: fc.Arbitrary<A>): fc.Arbitrary<A | undefined> => fc.option(one, { nil: undefined })
const millis = fc.nat(10_000_000).map((micros) => micros / 1000)
const count = fc.nat(2 ** 31 - 1)

const attempt: fc.Arbitrary<CallFacts> = fc.record({
  provider: fc.string(),
  model: fc.string(),
  target: count,
  startedMillis: millis,
  durationMillis: millis,
  tokenMillis: maybe(millis),
  sentMillis: maybe(millis),
  firstChunkMillis: maybe(millis),
  errorCode: maybe(fc.string()),
  errorMessage: maybe(fc.string()),
  upstreamStatus: maybe(fc.integer({ min: 100, max: 599 }))
})

const fact: fc.Arbitrary<RowFacts> = fc.record({
  endedMillis: fc.nat(),
  user: fc.constant(undefined),
  requestId: fc.string(),
  id: maybe(fc.string()),
  traceId: fc.string(),
  route: fc.string(),
  status: count,
  provider: maybe(fc.string()),
  model: maybe(fc.string()),
  target: maybe(count),
  attempts: fc.array(attempt),
  stream: fc.boolean(),
  cache: maybe(fc.string()),
  durationMillis: millis,
  ttftMillis: maybe(millis),
  overheadMillis: millis,
  usage: maybe(
    fc.record({
      input: count,
      output: count,
      cached: count,
      cacheWritten: count,
      reasoning: count,
      audioInput: count,
      audioOutput: count,
      imageOutput: count,
      images: count
    })
  ),
  isEstimated: maybe(fc.constant(true as const)),
  skipped: maybe(fc.array(fc.nat(99), { minLength: 1 })),
  costMicros: maybe(fc.nat(2 ** 40)),
  saved: maybe(fc.record({ input: count, output: count, costMicros: maybe(count) })),
  keyId: maybe(fc.string()),
  config: maybe(fc.string()),
  client: maybe(fc.string()),
  metadata: maybe(fc.dictionary(fc.stringMatching(/^[a-z-]{1,8}$/), fc.string())),
  ignored: maybe(fc.array(fc.string(), { minLength: 1 })),
  adjusted: maybe(fc.array(fc.string(), { minLength: 1 })),
  errorCode: maybe(fc.string()),
  errorMessage: maybe(fc.string())
})
const row = fc
  .tuple(fact, maybe(fc.string()))
  .map(([one, errorParam]) => rowOf(one.errorMessage === undefined ? one : { ...one, errorParam }))

const batchOf = (rows: ReadonlyArray<RequestRow>): RequestBatch => {
  const batch = new RequestBatch()
  for (const one of rows) batch.add(one, { model: "m", client: "", metadata: "{}" })
  return batch
}

it("request batches: the text is one array of the added rows in order, for any characters", () => {
  const named = fc
    .record({ row, traceId: fc.string({ unit: "binary" }) })
    .map(({ row: one, traceId }): RequestRow => ({ ...one, trace_id: traceId }))
  fc.assert(
    fc.property(fc.array(named, { maxLength: 40 }), (rows) => {
      const batch = new RequestBatch()
      for (const [at, one] of rows.entries()) {
        batch.add(one, { model: "m", client: "", metadata: "{}" })
        expect(JSON.parse(batch.bytes.toString())).toEqual(JSON.parse(JSON.stringify(rows.slice(0, at + 1))))
      }
      expect(batch.rows).toBe(rows.length)
    }),
    { numRuns: 30 }
  )
})

const page = readFileSync(join(import.meta.dirname, "..", "..", "..", "docs", "storage.md"), "utf8")

const call: CallFacts = { provider: "google", model: "m", target: 0, startedMillis: 0, durationMillis: 1 }
const plain: RowFacts = {
  endedMillis: 1,
  requestId: "r",
  traceId: "t",
  route: "/v1/messages",
  status: 503,
  attempts: [],
  stream: false,
  durationMillis: 2.0004999,
  overheadMillis: 1
}

const rows = fc.sample(row, { numRuns: 200, seed: 1 })

describe.each(databases)("rows of requests on $name", (database) => {
  it.effect("stored rows: are read as they were written", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* insertRows(sql, 7, batchOf(rows))
      expect(yield* rowsOfBatch(sql, 7)).toEqual(rows)
    }).pipe(Effect.provide(storeOn(database)))
  )

  it.effect("stored rows: those that the release before packs are the same rows", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const packed = JSON.stringify(rows.map(packedOf))
      const [batch] = yield* sql<{ readonly position: number }>`
        INSERT INTO request_batches (rows_number, packed) VALUES (${rows.length}, ${packed}) RETURNING position`
      expect(yield* rowsOfBatch(sql, batch?.position ?? 0)).toEqual(rows)
      const counted = yield* sql`SELECT COUNT(*) AS number FROM request_metadata`
      const entries = rows.reduce((sum, { metadata = {} }) => sum + Object.keys(metadata).length, 0)
      expect(counted).toEqual([{ number: entries }])
    }).pipe(Effect.provide(storeOn(database)))
  )

  it.effect("stored rows: the queries of the page about storage run, and find a request", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const failed: CallFacts = { ...call, errorCode: "upstream_unavailable" }
      const asked = rowOf({
        ...plain,
        endedMillis: Date.parse("2027-01-31T13:00:00Z"),
        user: "alice",
        attempts: [failed, call],
        errorCode: "upstream_unavailable"
      })
      yield* insertRows(sql, 1, batchOf([asked]))
      const queries = [...page.matchAll(/```sql\n(.+?)```/gs)].map(([, text = ""]) => text)
      expect(queries.length).toBe(5)
      for (const query of queries) expect(yield* sql.unsafe(query)).toHaveLength(1)
    }).pipe(Effect.provide(storeOn(database)))
  )
})
