// Kept responses on every database the store runs on: one suite.
// It must not know what a response holds.
import { describe, expect, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as SqlClient from "effect/sql/SqlClient"
import * as TestClock from "effect/testing/TestClock"
import { Busy, ConcurrencyReached, StoreUnavailable } from "../../src/domain/GatewayError.ts"
import { defaultLimits, Limits } from "../../src/domain/Limits.ts"
import type { Room, Shortage } from "../../src/domain/RequestContext.ts"
import { type KeptResponse, ResponseStore } from "../../src/store/ResponseStore.ts"
import { rotateSecret } from "../../src/store/Rotation.ts"
import { databases, someMasters, storeOn } from "../support/databases.ts"
import { eventually } from "../support/eventually.ts"

const response = (id: string, change: Partial<KeptResponse> = {}): KeptResponse => ({
  id: `resp_${id}`,
  keyId: "key_1",
  status: "completed",
  previousId: undefined,
  content: { output: [`the answer ${id}`] },
  ...change
})

const ids = (kept: ReadonlyMap<string, KeptResponse> | undefined): ReadonlyArray<string> | undefined =>
  kept === undefined ? undefined : [...kept.keys()].toSorted()

describe.each(databases)("responses kept on $name", (database) => {
  const masters = someMasters()
  const layer = ResponseStore.layer.pipe(Layer.provideMerge(storeOn(database, masters)))
  const bounded = (limits: Partial<typeof defaultLimits>) =>
    Effect.provideService(Limits, { ...defaultLimits, ...limits })

  it.effect("are read by the key that made them, and by no other (R705)", () =>
    Effect.gen(function* () {
      const store = yield* ResponseStore
      expect(yield* store.keep(response("1"))).toBe(true)
      expect(yield* store.get("key_1", "resp_1")).toEqual(response("1"))
      expect(yield* store.get("key_2", "resp_1")).toBeUndefined()
      expect(yield* store.get("key_1", "resp_2")).toBeUndefined()
      expect(yield* store.remove("key_2", "resp_1")).toBe(false)
    }).pipe(Effect.provide(layer))
  )

  it.effect("make a chain, the oldest first; a missing link is named (R706 R708)", () =>
    Effect.gen(function* () {
      const store = yield* ResponseStore
      yield* store.keep(response("1"))
      yield* store.keep(response("2", { previousId: "resp_1", status: "incomplete" }))
      yield* store.keep(response("3", { previousId: "resp_2" }))
      const chain = yield* store.chain("key_1", "resp_3")
      expect(chain).toEqual({
        _tag: "Chain",
        turns: [
          response("1"),
          response("2", { previousId: "resp_1", status: "incomplete" }),
          response("3", { previousId: "resp_2" })
        ]
      })
      expect(yield* store.remove("key_1", "resp_1")).toBe(true)
      expect(yield* store.remove("key_1", "resp_1")).toBe(false)
      expect(yield* store.chain("key_1", "resp_3")).toEqual({ _tag: "Missing", id: "resp_1" })
    }).pipe(Effect.provide(layer))
  )

  it.effect("make a chain in two queries, however long it is (R708)", () =>
    Effect.gen(function* () {
      const store = yield* ResponseStore
      for (const at of [1, 2, 3, 4, 5])
        yield* store.keep(response(`${at}`, { previousId: at === 1 ? undefined : `resp_${at - 1}` }))
      // Those of the sweep that every store begins with are not counted.
      const queries: Array<string> = []
      const sql = yield* SqlClient.SqlClient
      const counting = new Proxy(sql, {
        apply: (target, self, [first, ...rest]) => {
          if (Array.isArray(first) && /^(?:SELECT (?:r\.|$)|WITH)/.test(String(first[0])))
            queries.push(String(first[0]))
          return Reflect.apply(target, self, [first, ...rest])
        }
      })
      const counted = ResponseStore.layerWith({ keeps: true }).pipe(
        Layer.provide(Layer.succeed(SqlClient.SqlClient, counting))
      )
      const chain = yield* Effect.gen(function* () {
        const other = yield* ResponseStore
        queries.splice(0)
        return yield* other.chain("key_1", "resp_5")
      }).pipe(Effect.provide(counted))
      expect([chain._tag === "Chain" && chain.turns.length, queries.length]).toEqual([5, 2])
    }).pipe(Effect.provide(layer))
  )

  it.effect("are written together where they end together, and each is acknowledged (R703)", () =>
    Effect.gen(function* () {
      const inserts: Array<number> = []
      const sql = yield* SqlClient.SqlClient
      const counting = new Proxy(sql, {
        apply: (target, self, [first, ...rest]) => {
          if (Array.isArray(first) && String(first[0]).startsWith("INSERT INTO responses")) inserts.push(1)
          return Reflect.apply(target, self, [first, ...rest])
        }
      })
      const counted = ResponseStore.layerWith({ keeps: true }).pipe(
        Layer.provide(Layer.succeed(SqlClient.SqlClient, counting))
      )
      const some = Array.from({ length: 300 }, (_, at) => response(`${at}`, { keyId: `key_${at % 7}` }))
      const kept = yield* Effect.gen(function* () {
        const store = yield* ResponseStore
        return yield* Effect.forEach(some, store.keep, { concurrency: "unbounded" })
      }).pipe(Effect.provide(counted))
      const store = yield* ResponseStore
      const keys = Map.groupBy(some, ({ keyId }) => keyId)
      const read = yield* Effect.forEach(keys, ([keyId, own]) =>
        store.some(
          keyId,
          own.map(({ id }) => id)
        )
      )
      expect(Object.fromEntries(read.flatMap((found) => [...(found ?? [])]))).toEqual(
        Object.fromEntries(some.map((one) => [one.id, one]))
      )
      expect([new Set(kept), inserts.length]).toEqual([new Set([true]), 2])
    }).pipe(Effect.provide(layer))
  )

  it.effect("fail together where the store fails, and are kept again when it is back (R703)", () =>
    Effect.gen(function* () {
      const store = yield* ResponseStore
      const sql = yield* SqlClient.SqlClient
      const keep = (from: number) =>
        Effect.forEach(
          Array.from({ length: 300 }, (_, at) => response(`${from + at}`)),
          (one) => Effect.result(store.keep(one)),
          { concurrency: "unbounded" }
        )
      yield* sql`ALTER TABLE responses RENAME TO elsewhere`
      const failed = yield* keep(0)
      expect(failed).toEqual(failed.map(() => Result.fail(new StoreUnavailable({ reason: "unreachable" }))))
      yield* sql`ALTER TABLE elsewhere RENAME TO responses`
      const kept = yield* keep(1_000)
      expect(kept).toEqual(kept.map(() => Result.succeed(true)))
    }).pipe(Effect.provide(layer))
  )

  it.effect("are counted as memory of the request before they are read, and refused without room (R708)", () =>
    Effect.gen(function* () {
      const store = yield* ResponseStore
      yield* store.keep(response("1"))
      yield* store.keep(response("2", { previousId: "resp_1" }))
      const bytes = JSON.stringify(response("1").content).length
      const taken: Array<number> = []
      const free: Room = { size: 0, take: (amount) => (taken.push(amount), undefined), give: () => undefined }
      yield* store.get("key_1", "resp_1", free)
      yield* store.some("key_1", ["resp_1", "resp_2"], free)
      yield* store.chain("key_1", "resp_2", free)
      yield* store.get("key_1", "resp_9", free)
      expect(taken).toEqual([bytes, 2 * bytes, 2 * bytes])
      const full = (shortage: Shortage): Room => ({ size: 0, take: () => shortage, give: () => undefined })
      expect(yield* Effect.flip(store.chain("key_1", "resp_2", full("key")))).toEqual(
        new ConcurrencyReached({ resource: "bytes", limit: undefined })
      )
      expect(yield* Effect.flip(store.get("key_1", "resp_2", full("all")))).toEqual(
        new Busy({ code: "overloaded", retryAfterMillis: 1000 })
      )
    }).pipe(Effect.provide(layer))
  )

  it.effect("count their values as memory, and are refused where a chain has too many of them (R708)", () =>
    Effect.gen(function* () {
      const store = yield* ResponseStore
      const content = { output: Array.from({ length: 398 }, () => 0) }
      for (const at of [1, 2, 3])
        yield* store.keep(response(`${at}`, { content, previousId: at === 1 ? undefined : `resp_${at - 1}` }))
      const taken: Array<number> = []
      const free: Room = { size: 0, take: (amount) => (taken.push(amount), undefined), give: () => undefined }
      expect((yield* store.chain("key_1", "resp_2", free))._tag).toBe("Chain")
      const bytes = JSON.stringify(content).length
      expect(taken).toEqual([2 * bytes, 400 * 64, 400 * 64])
      expect(yield* store.chain("key_1", "resp_3")).toEqual({ _tag: "TooLong" })
      expect(ids(yield* store.some("key_1", ["resp_1", "resp_2"]))).toEqual(["resp_1", "resp_2"])
      expect(yield* store.some("key_1", ["resp_1", "resp_2", "resp_3"])).toBeUndefined()
    }).pipe(Effect.provide(layer), bounded({ jsonValues: 100 }))
  )

  it.effect("are refused as a chain that is too long, in turns or in bytes (R708)", () =>
    Effect.gen(function* () {
      const store = yield* ResponseStore
      for (const at of [1, 2, 3])
        yield* store.keep(response(`${at}`, { previousId: at === 1 ? undefined : `resp_${at - 1}` }))
      expect(yield* store.chain("key_1", "resp_3")).toEqual({ _tag: "TooLong" })
      expect((yield* store.chain("key_1", "resp_2"))._tag).toBe("Chain")
    }).pipe(Effect.provide(layer), bounded({ responseChain: 2 }))
  )

  it.effect("leave when they expire (R707)", () =>
    Effect.gen(function* () {
      const store = yield* ResponseStore
      yield* TestClock.setTime(1_000)
      yield* store.keep(response("1"))
      yield* TestClock.setTime(60_999)
      expect(yield* store.get("key_1", "resp_1")).toEqual(response("1"))
      yield* TestClock.setTime(61_000)
      expect(yield* store.get("key_1", "resp_1")).toBeUndefined()
      const sql = yield* SqlClient.SqlClient
      yield* store.sweep
      expect(yield* sql`SELECT id FROM responses`).toEqual([])
    }).pipe(Effect.provide(layer), bounded({ responseMinutes: 1 }))
  )

  it.effect("are bounded for each key and in all, and the oldest leave first (R707)", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const own = Effect.map(Layer.build(Layer.fresh(ResponseStore.layer)), (built) =>
        Context.get(built, ResponseStore)
      )
      yield* Effect.scoped(Effect.flatMap(own, (store) => store.keep(response("0"))))
      yield* sql`UPDATE responses SET expires_millis = 0`
      const store = yield* own
      yield* eventually(
        "the sweep that every store begins with",
        Effect.map(sql`SELECT id FROM responses`, (rows) => rows.length === 0)
      )
      for (const at of [1, 2, 3]) {
        yield* TestClock.setTime(at)
        yield* store.keep(response(`${at}`))
      }
      yield* store.keep(response("4", { keyId: "key_2" }))
      expect(ids(yield* store.some("key_1", ["resp_1", "resp_2", "resp_3"]))).toEqual(["resp_2", "resp_3"])
      expect(yield* store.keep(response("5", { content: { output: "x".repeat(200) } }))).toBe(false)
      expect(yield* store.sweep).toBe(1)
      expect(ids(yield* store.some("key_1", ["resp_2", "resp_3"]))).toEqual(["resp_3"])
    }).pipe(
      Effect.scoped,
      Effect.provide(storeOn(database, masters)),
      bounded({ responsesPerKey: 2, responseBytes: 100, responsesTotalBytes: 80 })
    )
  )

  it.effect("of the key that holds the most leave first, and those of other keys stay (R707b)", () =>
    Effect.gen(function* () {
      const store = yield* ResponseStore
      yield* store.keep(response("first", { keyId: "key_2" }))
      for (const at of [1, 2, 3, 4]) {
        yield* TestClock.setTime(at)
        yield* store.keep(response(`${at}`))
      }
      yield* store.sweep
      const sql = yield* SqlClient.SqlClient
      expect(yield* sql`SELECT id FROM responses ORDER BY id`).toEqual([{ id: "resp_4" }, { id: "resp_first" }])
    }).pipe(Effect.provide(layer), bounded({ responsesTotalBytes: 80 }))
  )

  it.effect("are read together only while they are as large as a history may be (R707 R708)", () =>
    Effect.gen(function* () {
      const store = yield* ResponseStore
      yield* store.keep(response("1"))
      yield* store.keep(response("2"))
      expect(ids(yield* store.some("key_1", ["resp_1"]))).toEqual(["resp_1"])
      expect(ids(yield* store.some("key_1", ["resp_1", "resp_2"]))).toBeUndefined()
      expect(yield* store.chain("key_1", "resp_2")).toMatchObject({ _tag: "Chain" })
    }).pipe(Effect.provide(layer), bounded({ responseHistoryBytes: 50 }))
  )

  it.effect("open after a rotation of the keys, which forgets the old ones (R710)", () =>
    Effect.gen(function* () {
      const store = yield* ResponseStore
      const sql = yield* SqlClient.SqlClient
      yield* store.keep(response("1"))
      const rotated = yield* rotateSecret(masters)
      expect(rotated).toEqual({ records: 0, broken: [], keysRetired: 1 })
      expect(yield* store.get("key_1", "resp_1")).toEqual(response("1"))
      expect(yield* sql`SELECT is_current FROM vault_keys`).toEqual([{ is_current: 1 }])
    }).pipe(Effect.provide(layer))
  )

  it.effect("show nothing of their content in the database (R702 R805)", () =>
    Effect.gen(function* () {
      const store = yield* ResponseStore
      yield* store.keep(response("1"))
      const sql = yield* SqlClient.SqlClient
      const [row] = yield* sql<{ readonly sealed: Uint8Array }>`SELECT sealed FROM responses`
      expect(Buffer.from(row?.sealed ?? []).includes("the answer")).toBe(false)
    }).pipe(Effect.provide(layer))
  )
})
