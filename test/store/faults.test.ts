// Tests store faults (F32, F33): a database that is full, hangs, is cut off or returns; two concurrent starts.
// Must not know what the records mean.
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import * as SqlClient from "effect/sql/SqlClient"
import { StoreUnavailable } from "../../src/domain/GatewayError.ts"
import { defaultLimits, Limits } from "../../src/domain/Limits.ts"
import { parseStoreUrl, type StoreLocation } from "../../src/domain/settings/storeLocation.ts"
import { Records } from "../../src/store/Records.ts"
import type { Actor } from "../../src/store/StoredRecord.ts"
import * as Sql from "../../src/store/database/Sql.ts"
import * as Store from "../../src/store/Store.ts"
import { Vault } from "../../src/store/Vault.ts"
import { databases, directory, patiently, someMasters, storeOn } from "../support/databases.ts"
import { startRelay } from "../support/relay.ts"
import { passUntilEnded, stopTime } from "../support/stoppedTime.ts"

const actor: Actor = { id: "cli", requestId: undefined }
const [sqlite, ...servers] = databases
const full = new StoreUnavailable({ reason: "full" })
const unreachable = new StoreUnavailable({ reason: "unreachable" })

describe.each(sqlite === undefined ? [] : [sqlite])("a full disk on $name", (database) => {
  it.effect(
    "full disk: refuses the change, keeps the stored records, and accepts changes again when there is room (F32)",
    () =>
      Effect.gen(function* () {
        const records = yield* Records
        const sql = yield* SqlClient.SqlClient
        yield* records.create("config", "c", { value: { size: "small" } }, actor)
        const revision = yield* records.revision
        const [pages] = yield* sql<{ readonly page_count: number }>`PRAGMA page_count`
        yield* sql.unsafe(`PRAGMA max_page_count = ${pages?.page_count}`)
        const large = { size: "x".repeat(200_000) }
        expect(yield* Effect.flip(records.update("config", "c", { value: large }, actor))).toEqual(full)
        expect(yield* Effect.flip(records.create("config", "d", { value: large }, actor))).toEqual(full)
        expect([(yield* records.list("config")).map(({ id, value }) => [id, value]), yield* records.revision]).toEqual([
          [["c", { size: "small" }]],
          revision
        ])
        yield* sql`PRAGMA max_page_count = 100000`
        expect((yield* records.update("config", "c", { value: large }, actor)).version).toBe(2)
      }).pipe(Effect.provide(storeOn(database)))
  )
})

describe.each(servers)("refused writes on $name", (database) => {
  it.effect("refused writes: are reported once with reads in between, and end with a committed write (F32)", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const records = yield* Records
      const written = yield* Sql.makeStoreWrite
      const said: Array<string> = []
      const logger = Logger.layer([
        Logger.make(({ message }) => {
          said.push(Array.isArray(message) ? message.join(" ") : String(message))
        })
      ])
      const raise = (code: string) =>
        written(
          Sql.durableTransaction(sql)(
            sql.unsafe(`DO $$ BEGIN RAISE EXCEPTION 'no space' USING ERRCODE = '${code}'; END $$`)
          )
        )
      const refusals = { "25006": "read_only", "53100": "disk_full", "58030": "disk_error" }
      const work = Effect.gen(function* () {
        for (const [code, refusal] of Object.entries(refusals)) {
          for (let time = 0; time < 3; time++) {
            expect(yield* Effect.flip(raise(code))).toEqual(full)
            yield* records.revision
            expect(records.writeRefusal()).toBe(refusal)
          }
          yield* written(Sql.durableTransaction(sql)(sql`SELECT 1`))
          expect(records.writeRefusal()).toBe(undefined)
          expect(said.splice(0)).toEqual([
            `store: it takes no writes (${refusal}): no space`,
            "store: it takes writes again"
          ])
        }
      })
      yield* Effect.provide(work, logger)
    }).pipe(Effect.provide(storeOn(database)))
  )

  it.effect.each(["53200", "53300", "53400"])("a lack of memory or connections is no full disk (F32): %s", (code) =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const records = yield* Records
      const written = yield* Sql.makeStoreWrite
      const raised = written(
        Sql.durableTransaction(sql)(sql.unsafe(`DO $$ BEGIN RAISE EXCEPTION 'busy' USING ERRCODE = '${code}'; END $$`))
      )
      expect(yield* Effect.flip(raised)).toEqual(unreachable)
      expect(records.writeRefusal()).toBe(undefined)
    }).pipe(Effect.provide(storeOn(database)))
  )
})

describe.each(databases)("the start on $name", (database) => {
  it.live.runIf(database.takesSeveral)(
    "store start: succeeds for several concurrent processes on an empty database",
    () =>
      Effect.gen(function* () {
        const location = yield* database.empty
        const masters = someMasters()
        const stores = yield* Effect.forEach([1, 2, 3, 4], () => Layer.build(Store.layer(location, masters)), {
          concurrency: 4
        })
        expect(new Set(stores.map((store) => Redacted.value(Context.get(store, Vault).pepper))).size).toBe(1)
        const [first] = stores
        const rows =
          first === undefined
            ? []
            : yield* Context.get(first, SqlClient.SqlClient)<{
                readonly migration_id: number
              }>`SELECT migration_id FROM migrations ORDER BY migration_id`
        expect([rows.length > 1, rows.map((row) => row.migration_id)]).toEqual([true, rows.map((_, at) => at + 1)])
      }).pipe(Effect.scoped, patiently)
  )

  it.effect("store start: leaves a database with later migrations unchanged (F50)", () =>
    Effect.gen(function* () {
      const location = yield* database.location
      const masters = someMasters()
      yield* Effect.scoped(
        Effect.gen(function* () {
          const store = yield* Layer.build(Store.layer(location, masters))
          yield* Context.get(store, Records).create("config", "c", { value: {} }, actor)
          const sql = Context.get(store, SqlClient.SqlClient)
          yield* sql`ALTER TABLE records ADD COLUMN later TEXT`
          yield* sql`INSERT INTO migrations ${sql.insert({ migration_id: 9000, name: "later" })}`
        })
      )
      const store = yield* Layer.build(Store.layer(location, masters))
      yield* Context.get(store, Records).update("config", "c", { value: { kept: true } }, actor)
      expect((yield* Context.get(store, Records).list("config")).map(({ value }) => value)).toEqual([{ kept: true }])
    }).pipe(Effect.scoped)
  )
})

describe("a failed start", () => {
  const refusal = (location: StoreLocation) =>
    Effect.map(Effect.flip(Layer.build(Store.layer(location, someMasters()))), ({ message }) => message)

  it.effect("failed store start: names the file that is not a database", () =>
    Effect.gen(function* () {
      const path = join(yield* directory, "gateway.db")
      writeFileSync(path, "not a database, though long enough to have a header of one. ".repeat(20))
      expect(yield* refusal({ kind: "sqlite", path })).toBe(
        `the store sqlite:${path} cannot be opened: file is not a database`
      )
    }).pipe(Effect.scoped)
  )

  it.effect("failed store start: names the unreachable server without the password", () =>
    Effect.gen(function* () {
      const location = Result.getOrThrow(parseStoreUrl("postgres://me:secret@127.0.0.1:1/gw"))
      expect(yield* refusal(location)).toBe(
        "the store postgres://127.0.0.1:1/gw cannot be reached: connect ECONNREFUSED 127.0.0.1:1"
      )
    }).pipe(Effect.scoped)
  )
})

describe.each(servers)("an outage of $name", (database) => {
  const again = Effect.retry({ schedule: Schedule.spaced(50), times: 200 })
  /** The outcome of work; so many milliseconds pass at each turn of the event loop until then. */
  const passing =
    (millis: number) =>
    <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
      Effect.flatMap(Effect.forkChild(work), (fiber) =>
        Effect.andThen(
          Effect.promise(() => passUntilEnded(millis, Effect.runPromise(Fiber.await(fiber)))),
          Fiber.join(fiber)
        )
      )
  /** Longer than the answer of a server takes, and shorter than that. */
  const [late, soon] = [passing(10_000), passing(10)]

  it.live("store outage: is reported in time when the server hangs or is cut off, and ends when it returns (F33)", () =>
    Effect.gen(function* () {
      const location = yield* database.location
      const masters = someMasters()
      yield* patiently(Effect.scoped(Layer.build(Store.layer(location, masters))))
      const url = new URL(location.kind === "postgres" ? Redacted.value(location.url) : "")
      const relay = yield* Effect.acquireRelease(
        Effect.promise(() => startRelay(url.hostname, Number(url.port))),
        ({ close }) => Effect.promise(close)
      )
      url.host = `127.0.0.1:${relay.port}`
      const said: Array<string> = []
      const logger = Logger.layer([
        Logger.make(({ message }) => {
          said.push(Array.isArray(message) ? message.join(" ") : String(message))
        })
      ])
      stopTime()
      const limits = { ...defaultLimits, storeAnswerMillis: 60_000, storeConnections: 3 }
      const work = Effect.gen(function* () {
        const store = yield* Layer.build(Store.layer(Result.getOrThrow(parseStoreUrl(url.href)), masters))
        const records = Context.get(store, Records)
        const get = Effect.map(records.get("config", "c"), ({ value }) => value)
        yield* records.create("config", "c", { value: { n: 1 } }, actor)
        yield* Effect.all(
          Array.from({ length: 12 }, () => get),
          { concurrency: 12 }
        )
        expect(relay.peak()).toBeLessThanOrEqual(3)
        said.length = 0

        relay.stall()
        expect(yield* late(Effect.flip(get))).toEqual(unreachable)
        expect(yield* late(Effect.flip(records.update("config", "c", { value: { n: 2 } }, actor)))).toEqual(unreachable)
        expect(
          yield* late(
            Effect.all([Effect.flip(get), Effect.flip(get), Effect.flip(records.revision)], { concurrency: 3 })
          )
        ).toEqual([unreachable, unreachable, unreachable])
        relay.heal()
        yield* soon(again(get))
        expect(said).toEqual(["store: no answer in 60000 ms", "store: it answers again"])

        relay.cut()
        expect(yield* late(Effect.flip(get))).toEqual(unreachable)
        expect(yield* late(Effect.flip(records.revision))).toEqual(unreachable)
        relay.heal()
        yield* soon(again(get))
        expect([said.length, said[3]]).toEqual([4, "store: it answers again"])

        relay.delay(300_000)
        expect(yield* late(Effect.flip(get))).toEqual(unreachable)
        relay.heal()
        yield* soon(again(get))
        relay.reset()
        yield* soon(again(records.update("config", "c", { value: { n: 3 } }, actor)))
        expect(yield* soon(again(get))).toEqual({ n: 3 })
      })
      yield* Effect.provide(Effect.provideService(work, Limits, limits), logger)
    }).pipe(Effect.scoped)
  )

  it.live("store outage: delays the start of a service until the server returns; other failures do not (F33)", () =>
    Effect.gen(function* () {
      const location = yield* database.location
      const url = new URL(location.kind === "postgres" ? Redacted.value(location.url) : "")
      const relay = yield* Effect.acquireRelease(
        Effect.promise(() => startRelay(url.hostname, Number(url.port))),
        ({ close }) => Effect.promise(close)
      )
      url.host = `127.0.0.1:${relay.port}`
      const start = (name: string, storeStartMillis: number) => {
        url.pathname = name
        const store = Store.layer(Result.getOrThrow(parseStoreUrl(url.href)), someMasters(), Sql.awaitReachable)
        return Effect.provideService(Effect.scoped(Effect.asVoid(Layer.build(store))), Limits, {
          ...defaultLimits,
          storeAnswerMillis: 60_000,
          storeStartMillis
        })
      }
      stopTime()
      const said: Array<string> = []
      const logger = Logger.layer([
        Logger.make(({ message }) => {
          said.push(Array.isArray(message) ? message.join(" ") : String(message))
          relay.heal()
        })
      ])
      const name = url.pathname
      relay.cut()
      expect(yield* Effect.flip(Effect.provide(start(name, 0), logger))).toMatchObject({ isAway: true })
      expect(said).toEqual([])
      yield* soon(Effect.provide(start(name, 60_000), logger))
      expect(said).toEqual([
        expect.stringMatching(/^the store postgres:\/\/127\.0\.0\.1:\d+\/\w+ cannot be reached: .+; it is waited for$/)
      ])
      if (!database.takesSeveral) return
      expect(yield* Effect.flip(start("/nothing", 60_000))).toEqual(
        new Sql.StoreUnusable({
          message: `the store postgres://${url.host}/nothing cannot be reached: database "nothing" does not exist`,
          isAway: false
        })
      )
    }).pipe(Effect.scoped)
  )

  it.live.runIf(database.takesSeveral)(
    "store outage: includes a connection that ends in the middle of a transaction (F33)",
    () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const within = yield* Sql.makeStoreCall
        const ended = sql`SELECT pg_terminate_backend(pg_backend_pid())`
        for (const transaction of [Sql.durableTransaction(sql), Sql.lazyTransaction(sql)]) {
          expect(yield* Effect.flip(within(transaction(ended)))).toEqual(unreachable)
          expect(yield* again(within(transaction(sql`SELECT 1 AS one`)))).toEqual([{ one: 1 }])
        }
      }).pipe(Effect.provide(storeOn(database)), patiently)
  )

  it.effect("store outage: includes a read-only database, which is reported as full (F33)", () =>
    Effect.gen(function* () {
      const location = yield* database.location
      const masters = someMasters()
      yield* Effect.scoped(
        Effect.flatMap(Layer.build(Store.layer(location, masters)), (store) =>
          Context.get(store, Records).create("config", "c", { value: {} }, actor)
        )
      )
      const sqlLayer = Layer.orDie(Sql.sqlClientLayer(location))
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const records = yield* Records
        yield* sql
          .withTransaction(
            Effect.gen(function* () {
              yield* sql`SET TRANSACTION READ ONLY`
              expect((yield* records.get("config", "c")).version).toBe(1)
              expect(yield* Effect.flip(records.create("config", "d", { value: {} }, actor))).toEqual(full)
            })
          )
          .pipe(Effect.ignore)
        expect((yield* records.list("config")).length).toBe(1)
      }).pipe(Effect.provide(Records.layer.pipe(Layer.provide(Vault.layer(masters)), Layer.provideMerge(sqlLayer))))
    }).pipe(Effect.scoped)
  )
})
