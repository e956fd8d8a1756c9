// Captured content of requests on every database the store runs on: one suite.
// It must not know how content is captured.
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as SqlClient from "effect/sql/SqlClient"
import * as TestClock from "effect/testing/TestClock"
import { defaultLimits, Limits } from "../../src/domain/Limits.ts"
import type { RequestContent } from "../../src/domain/RequestRow.ts"
import { ContentStore } from "../../src/store/ContentStore.ts"
import { rotateSecret } from "../../src/store/Rotation.ts"
import { databases, someMasters, storeOn } from "../support/databases.ts"

const content = (words: string): RequestContent => ({
  request: { text: words, bytes: words.length, isCut: false },
  calls: []
})
const waiting = (id: string, endedMillis = 0, keyId = "key_1") => ({
  id,
  keyId,
  endedMillis,
  bytes: 100,
  read: () => content(`words ${id}`)
})

describe.each(databases)("captured content on $name", (database) => {
  const masters = someMasters()
  const layer = ContentStore.layerWith({ isKept: true }).pipe(Layer.provideMerge(storeOn(database, masters)))
  const bounded = (limits: Partial<typeof defaultLimits>) =>
    Effect.provideService(Limits, { ...defaultLimits, ...limits })
  const found = (ids: ReadonlyArray<string>) =>
    Effect.gen(function* () {
      const { find } = yield* ContentStore
      return (yield* Effect.forEach(ids, find)).map((one) => one?.id)
    })

  it.effect("captured content: is read as it was written, and sealed in the database (TH24)", () =>
    Effect.gen(function* () {
      const store = yield* ContentStore
      store.append(waiting("1", 5))
      expect(yield* store.find("1")).toEqual({
        id: "1",
        expiresMillis: 5 + defaultLimits.contentMinutes * 60_000,
        content: content("words 1")
      })
      expect(yield* store.find("2")).toBeUndefined()
      const sql = yield* SqlClient.SqlClient
      const [row] = yield* sql<{ readonly sealed: Uint8Array }>`SELECT sealed FROM request_contents`
      expect(Buffer.from(row?.sealed ?? []).includes("words")).toBe(false)
    }).pipe(Effect.provide(layer))
  )

  it.effect("captured content: opens under its own id only, and a changed one is left out (TH24)", () =>
    Effect.gen(function* () {
      const store = yield* ContentStore
      store.append(waiting("1"))
      yield* store.find("1")
      const sql = yield* SqlClient.SqlClient
      yield* sql`UPDATE request_contents SET id = '2'`
      expect(yield* found(["1", "2"])).toEqual([undefined, undefined])
    }).pipe(Effect.provide(layer))
  )

  it.effect("captured content: stays readable after a rotation of keys (TH24)", () =>
    Effect.gen(function* () {
      const store = yield* ContentStore
      store.append(waiting("1"))
      yield* store.find("1")
      expect(yield* rotateSecret(masters)).toEqual({ records: 0, broken: [], keysRetired: 1 })
      expect(yield* found(["1"])).toEqual(["1"])
    }).pipe(Effect.provide(layer))
  )

  it.effect("captured content: leaves when it expires, and the oldest leaves when it is too much (R707)", () =>
    Effect.gen(function* () {
      const store = yield* ContentStore
      for (const id of ["1", "2", "3"]) store.append(waiting(id, Number(id)))
      expect(yield* found(["1", "2", "3"])).toEqual(["1", "2", "3"])
      yield* store.sweep
      expect(yield* found(["1", "2", "3"])).toEqual([undefined, "2", "3"])
      yield* TestClock.adjust("2 minutes")
      expect(yield* found(["2", "3"])).toEqual([undefined, undefined])
    }).pipe(Effect.provide(layer), bounded({ contentTotalBytes: 150, contentMinutes: 1 }))
  )

  it.effect("captured content: what finds no room in the queue is dropped and counted (TH19)", () =>
    Effect.gen(function* () {
      const store = yield* ContentStore
      for (const id of ["1", "2", "3"]) store.append(waiting(id))
      expect(store.dropped()).toBe(1)
      expect(yield* found(["1", "2", "3"])).toEqual([undefined, "2", "3"])
    }).pipe(Effect.provide(layer), bounded({ contentQueueBytes: 200 }))
  )

  it.effect("captured content: a key that fills the queue drops its own content (TH19 R707b)", () =>
    Effect.gen(function* () {
      const store = yield* ContentStore
      store.append(waiting("first", 0, "key_2"))
      for (const id of ["1", "2", "3", "4"]) store.append(waiting(id))
      expect(store.dropped()).toBe(2)
      expect(yield* found(["first", "1", "2", "3", "4"])).toEqual(["first", undefined, undefined, "3", "4"])
    }).pipe(Effect.provide(layer), bounded({ contentQueueBytes: 300 }))
  )

  it.effect("captured content: a key that fills the store loses its own content, and others keep theirs (R707b)", () =>
    Effect.gen(function* () {
      const store = yield* ContentStore
      store.append(waiting("first", 0, "key_2"))
      for (const id of ["1", "2", "3", "4"]) store.append(waiting(id, Number(id)))
      yield* store.find("4")
      yield* store.sweep
      expect(yield* found(["first", "1", "2", "3", "4"])).toEqual(["first", undefined, undefined, undefined, "4"])
    }).pipe(Effect.provide(layer), bounded({ contentTotalBytes: 150 }))
  )
})
