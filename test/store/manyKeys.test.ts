// Tests the store under many active keys: the statements of a batch and of an exchange, and a slow way to the database.
// Must not assert a duration.
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as SqlClient from "effect/sql/SqlClient"
import * as TestClock from "effect/testing/TestClock"
import type { Budget, GatewayKey } from "../../src/domain/GatewayKey.ts"
import { defaultLimits, Limits } from "../../src/domain/Limits.ts"
import type { RequestRow } from "../../src/domain/RequestRow.ts"
import { parseStoreUrl } from "../../src/domain/settings/storeLocation.ts"
import { Admission, type Admitted } from "../../src/keys/Admission.ts"
import { UsageLog } from "../../src/keys/UsageLog.ts"
import { RateStore } from "../../src/state/SharedState.ts"
import { database as openDatabase } from "../../src/store/database/Migrations.ts"
import { RequestBatch } from "../../src/store/RequestBatch.ts"
import { RequestTable } from "../../src/store/RequestTable.ts"
import { Spending, type SpendingChange } from "../../src/store/Spending.ts"
import { databases, storeOn } from "../support/databases.ts"
import { recordInto } from "../support/keptStores.ts"
import { startRelay } from "../support/relay.ts"
import { rowOf } from "../support/requestRows.ts"

const noon = Date.parse("2027-01-31T12:00:00Z")
const row = (at: number, day: number): RequestRow =>
  rowOf({
    endedMillis: noon + day * 24 * 3_600_000,
    requestId: `r${at}`,
    traceId: `r${at}`,
    route: "/v1/chat/completions",
    status: 200,
    provider: "google",
    model: "m",
    target: undefined,
    attempts: [],
    stream: false,
    cache: undefined,
    durationMillis: 1,
    ttftMillis: undefined,
    overheadMillis: 0,
    usage: undefined,
    costMicros: 7,
    keyId: `key-${at}`,
    errorCode: undefined
  })

const batchOf = (keys: number, day: number): RequestBatch => {
  const batch = new RequestBatch()
  for (let at = 0; at < keys; at++) batch.add(row(at, day), { model: `m${at % 3}`, client: "", metadata: "{}" })
  return batch
}

const changesOf = (keys: number, turn: number): ReadonlyArray<SpendingChange> =>
  Array.from({ length: keys }, (_, at) => ({
    keyId: `key-${at}`,
    period: "2027-01",
    budgetMicros: 1000,
    turn,
    spentMicros: turn - 1,
    wantedMicros: 10
  }))

describe.each(databases)("many keys on $name", (database) => {
  const isServer = database.name !== "SQLite"
  const services = Layer.merge(RequestTable.layer, Spending.layer).pipe(
    Layer.provideMerge(Layer.fresh(storeOn(database))),
    Layer.provide(Layer.succeed(Limits, { ...defaultLimits, requestsStored: 1_000_000 }))
  )
  /** The number of statements of each work; those that begin and end a transaction are not among them. */
  const counted = <A, E, R>(work: Effect.Effect<A, E, R>) =>
    Effect.suspend(() => {
      const statements: Parameters<typeof recordInto>[0] = []
      return Effect.map(recordInto(statements)(work), () => statements.length)
    })

  it.effect(
    "many keys: a batch of 1,000 keys and an exchange of 1,000 budgets need no more statements than one (F70)",
    () =>
      Effect.gen(function* () {
        const { series, usage, write } = yield* RequestTable
        const { exchange } = yield* Spending
        // The first of each also trims, and the next ones add a past day to the periods.
        yield* exchange(changesOf(1, 1))
        yield* write(batchOf(1, -10))
        for (let step = 0; step < 5; step++) yield* write(batchOf(1, 0))
        const one = [yield* counted(write(batchOf(1, 0))), yield* counted(exchange(changesOf(1, 2)))]
        const many = [yield* counted(write(batchOf(1000, 0))), yield* counted(exchange(changesOf(1000, 1)))]
        const again = yield* counted(exchange(changesOf(1000, 2)))
        const late = [yield* counted(write(batchOf(1, -10))), yield* counted(write(batchOf(1000, -10)))]
        if (isServer) expect([one, many, again, late]).toEqual([[6, 5], [6, 6], 5, [14, 14]])
        const { groups } = yield* usage({ groupBy: [], limit: 10 })
        expect(groups.map(({ costMicros, requests }) => [requests, costMicros])).toEqual([[2008, 14_056]])
        const { points } = yield* series({ bucket: "day", scope: "key", limit: 10_000 })
        expect([points.length, points.reduce((sum, { sums }) => sum + sums.requests, 0)]).toEqual([2000, 2008])
        // What the key cost before its budget began, and what it spent in its second turn.
        const states = yield* exchange(changesOf(1000, 3).map((change) => ({ ...change, spentMicros: 0 })))
        expect(states.map(({ leasedMicros, spentMicros }) => [spentMicros, leasedMicros])).toEqual(
          states.map((_, at) => [at === 0 ? 2 : 8, 10])
        )
      }).pipe(Effect.provide(services), (work) => Effect.andThen(TestClock.setTime(noon), work))
  )
})

const keyOf = (id: string, budget: Budget): GatewayKey => ({
  id,
  name: id,
  scopes: ["inference"],
  budget
})

describe.each(databases.filter(({ name }) => name === "PostgreSQL"))("a slow way to $name", (database) => {
  it.live("many keys: 2,000 active budgets settle at a round trip of 20 ms, and none is refused (F70)", () =>
    Effect.gen(function* () {
      const location = yield* database.location
      const url = new URL(location.kind === "postgres" ? Redacted.value(location.url) : "")
      const relay = yield* Effect.acquireRelease(
        Effect.promise(() => startRelay(url.hostname, Number(url.port))),
        ({ close }) => Effect.promise(close)
      )
      url.host = `127.0.0.1:${relay.port}`
      const lines: Array<unknown> = []
      const logger = Logger.layer([Logger.make(({ message }) => void lines.push(message))])
      const sql = Layer.fresh(openDatabase(Result.getOrThrow(parseStoreUrl(url.href))))
      const services = Admission.layer.pipe(
        Layer.provide([RateStore.layerMemory, UsageLog.layerMemory]),
        Layer.provideMerge(Spending.layer),
        Layer.provideMerge(sql),
        // One exchange after another at that round trip would take this time forty times.
        Layer.provide(Layer.succeed(Limits, { ...defaultLimits, storeAnswerMillis: 4000 })),
        Layer.provideMerge(logger)
      )
      const keys = Array.from({ length: 2000 }, (_, at) => keyOf(`key-${at}`, { usd: 0.001, per: "month" }))
      yield* Effect.gen(function* () {
        const { admit } = yield* Admission
        relay.delay(10)
        yield* Effect.forEach(
          keys,
          (key) =>
            Effect.suspend(() => {
              const held: Array<Admitted> = []
              return Effect.flatMap(
                admit(key, { tokens: 0, costMicros: 5 }, (admitted) => void held.push(admitted)),
                () => Effect.forEach(held, ({ settle }) => settle({ tokens: 0, costMicros: 3 }))
              )
            }),
          { concurrency: "unbounded" }
        )
      }).pipe(Effect.provide(services))
      // The end of the services has reported what was spent, and returned the leases.
      yield* Effect.gen(function* () {
        const client = yield* SqlClient.SqlClient
        expect(
          yield* client`SELECT COUNT(*) AS keys, CAST(SUM(spent_micros) AS BIGINT) AS micros,
            (SELECT CAST(SUM(micros) AS BIGINT) FROM spending_leases) AS leased FROM spending`
        ).toEqual([{ keys: 2000, micros: 6000, leased: 0 }])
        expect(lines).toEqual([])
      }).pipe(Effect.provide(Layer.fresh(openDatabase(location))))
    }).pipe(Effect.scoped)
  )
})
