// Stored records: one suite on every database.
// Must not know how the database is accessed.
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as TestClock from "effect/testing/TestClock"
import { defaultLimits, Limits } from "../../src/domain/Limits.ts"
import { Records } from "../../src/store/Records.ts"
import { type Actor, RecordMissing, RecordsMoved, RecordTaken } from "../../src/store/StoredRecord.ts"
import { databases, storeOn } from "../support/databases.ts"

const actor: Actor = { id: "key_admin", requestId: "req_1" }
const secret = (text: string) => Redacted.make({ text })
const shown = (record: { readonly secret: Redacted.Redacted<unknown> | undefined }) => ({
  ...record,
  secret: record.secret === undefined ? undefined : Redacted.value(record.secret)
})

describe.each(databases)("Records on $name", (database) => {
  const layer = storeOn(database)

  it.effect("records: can be created, read, updated and removed", () =>
    Effect.gen(function* () {
      const records = yield* Records
      yield* TestClock.setTime(1_000)
      const made = yield* records.create(
        "prompt",
        "a",
        { value: { slug: "a", n: [1, null] }, secret: secret("one") },
        actor
      )
      expect(shown(made)).toEqual({
        kind: "prompt",
        id: "a",
        version: 1,
        createdMillis: 1_000,
        updatedMillis: 1_000,
        value: { slug: "a", n: [1, null] },
        secret: { text: "one" }
      })
      expect(shown(yield* records.get("prompt", "a"))).toEqual(shown(made))
      yield* TestClock.setTime(2_000)
      const second = yield* records.update("prompt", "a", { value: { slug: "a" } }, actor, 1)
      expect(shown(second)).toEqual({
        kind: "prompt",
        id: "a",
        version: 2,
        createdMillis: 1_000,
        updatedMillis: 2_000,
        value: { slug: "a" },
        secret: { text: "one" }
      })
      expect(shown(yield* records.get("prompt", "a"))).toEqual(shown(second))
      expect(shown(yield* records.update("prompt", "a", { value: {}, secret: secret("two") }, actor)).secret).toEqual({
        text: "two"
      })
      expect(shown(yield* records.update("prompt", "a", { value: {}, secret: null }, actor)).secret).toBeUndefined()
      expect((yield* records.get("prompt", "a")).secret).toBeUndefined()
      expect((yield* records.versions("prompt", ["a"])).map((one) => [one.version, one.value, one.secret])).toEqual([
        [1, { slug: "a", n: [1, null] }, undefined],
        [2, { slug: "a" }, undefined],
        [3, {}, undefined],
        [4, {}, undefined]
      ])
      yield* records.remove("prompt", "a", actor, 4)
      expect(yield* Effect.flip(records.get("prompt", "a"))).toEqual(new RecordMissing({ kind: "prompt", id: "a" }))
      expect(yield* records.versions("prompt", ["a"])).toEqual([])
    }).pipe(Effect.provide(layer))
  )

  it.effect("records: keep every version of a prompt, the latest of a config, and only the newest of other kinds", () =>
    Effect.gen(function* () {
      const records = yield* Records
      for (const kind of ["provider", "key", "config", "prompt"] as const) {
        yield* records.create(kind, "a", { value: { n: 1 } }, actor)
        yield* records.create(kind, "b", { value: { n: 1 } }, actor)
        for (const n of [2, 3]) yield* records.update(kind, "a", { value: { n } }, actor)
        const found = (yield* records.histories(kind)).map(({ id, value, version }) => [id, version, value["n"]])
        expect([kind, found]).toEqual([
          kind,
          kind === "prompt"
            ? [
                ["a", 1, 1],
                ["a", 2, 2],
                ["a", 3, 3],
                ["b", 1, 1]
              ]
            : [...(kind === "config" ? [["a", 2, 2]] : []), ["a", 3, 3], ["b", 1, 1]]
        ])
      }
    }).pipe(Effect.provide(layer), Effect.provideService(Limits, { ...defaultLimits, configVersions: 2 }))
  )

  it.effect("records: keep the secret of the newest version only", () =>
    Effect.gen(function* () {
      const records = yield* Records
      yield* records.create("prompt", "k", { value: {}, secret: secret("one") }, actor)
      yield* records.update("prompt", "k", { value: {} }, actor)
      expect((yield* records.versions("prompt", ["k"])).map((one) => shown(one).secret)).toEqual([
        undefined,
        { text: "one" }
      ])
      yield* records.create("prompt", "j", { value: { j: 1 }, secret: secret("two") }, actor)
      expect((yield* records.histories("prompt")).map((one) => [one.id, one.version, shown(one).secret])).toEqual([
        ["j", 1, { text: "two" }],
        ["k", 1, undefined],
        ["k", 2, { text: "one" }]
      ])
      expect(yield* records.histories("provider")).toEqual([])
    }).pipe(Effect.provide(layer))
  )

  it.effect("records: refuse a conflicting change without a trace", () =>
    Effect.gen(function* () {
      const records = yield* Records
      yield* records.create("config", "c", { value: { first: true } }, actor)
      yield* records.update("config", "c", { value: { second: true } }, actor)
      const before = [yield* records.revision, yield* records.audit(10, undefined)]
      expect(yield* Effect.flip(records.create("config", "c", { value: {} }, actor))).toEqual(
        new RecordTaken({ kind: "config", id: "c" })
      )
      for (const revision of [1, 3]) {
        expect(yield* Effect.flip(records.create("config", "d", { value: {} }, actor, revision))).toEqual(
          new RecordsMoved()
        )
        expect(yield* Effect.flip(records.update("config", "c", { value: {} }, actor, revision))).toEqual(
          new RecordsMoved()
        )
        expect(yield* Effect.flip(records.remove("config", "c", actor, revision))).toEqual(new RecordsMoved())
      }
      expect(yield* Effect.flip(records.update("config", "d", { value: {} }, actor))).toEqual(
        new RecordMissing({ kind: "config", id: "d" })
      )
      expect(yield* Effect.flip(records.remove("prompt", "c", actor))).toEqual(
        new RecordMissing({ kind: "prompt", id: "c" })
      )
      expect([yield* records.revision, yield* records.audit(10, undefined)]).toEqual(before)
      expect((yield* records.get("config", "c")).value).toEqual({ second: true })
    }).pipe(Effect.provide(layer))
  )

  it.effect("records: are listed by id in pages, in byte order", () =>
    Effect.gen(function* () {
      const records = yield* Records
      for (const id of ["b", "a", "B", "ä", "a-1", "Z"]) yield* records.create("prompt", id, { value: { id } }, actor)
      yield* records.create("config", "aa", { value: {} }, actor)
      const ids = ["B", "Z", "a", "a-1", "b", "ä"]
      expect((yield* records.list("prompt")).map(({ id }) => id)).toEqual(ids)
      const first = yield* records.page("prompt", 4, undefined)
      expect([first.rows.map(({ id }) => id), first.next]).toEqual([ids.slice(0, 4), "a-1"])
      const second = yield* records.page("prompt", 4, first.next)
      expect([second.rows.map(({ id }) => id), second.next]).toEqual([ids.slice(4), undefined])
      expect(yield* records.page("prompt", 2, "b")).toEqual({
        rows: yield* Effect.map(records.get("prompt", "ä"), (one) => [one]),
        next: undefined
      })
      expect(yield* records.list("provider")).toEqual([])
    }).pipe(Effect.provide(layer))
  )

  it.effect("records: log every change in the audit log, the newest first", () =>
    Effect.gen(function* () {
      const records = yield* Records
      yield* TestClock.setTime(5)
      yield* records.create("key", "k", { value: {} }, actor)
      yield* records.update("key", "k", { value: {} }, { id: "cli", requestId: undefined })
      yield* records.remove("key", "k", actor)
      const row = { atMillis: 5, actor: "key_admin", requestId: "req_1", kind: "key", id: "k" }
      const log = [
        { ...row, action: "delete", version: 2 },
        { ...row, actor: "cli", requestId: undefined, action: "update", version: 2 },
        { ...row, action: "create", version: 1 }
      ]
      const first = yield* records.audit(2, undefined)
      expect(first.rows).toEqual(log.slice(0, 2))
      expect(yield* records.audit(2, first.next)).toEqual({ rows: log.slice(2), next: undefined })
      expect(yield* records.audit(2, "no cursor")).toEqual({ rows: [], next: undefined })
      expect(yield* records.revision).toBe(3)
    }).pipe(Effect.provide(layer))
  )

  it.effect("records: drop the oldest entries of the audit log beyond its limit", () =>
    Effect.gen(function* () {
      const records = yield* Records
      yield* records.create("key", "k", { value: {} }, actor)
      for (let version = 2; version <= 5; version++) yield* records.update("key", "k", { value: {} }, actor)
      expect((yield* records.audit(10, undefined)).rows.map(({ version }) => version)).toEqual([5, 4, 3])
      expect(yield* records.revision).toBe(5)
    }).pipe(Effect.provide(layer), Effect.provideService(Limits, { ...defaultLimits, auditStored: 3 }))
  )

  it.effect.runIf(database.takesSeveral)(
    "records: accept one of several concurrent changes from the same revision",
    () =>
      Effect.gen(function* () {
        const records = yield* Records
        yield* records.create("config", "c", { value: {} }, actor)
        const tries = yield* Effect.forEach(
          Array.from({ length: 8 }, (_, n) => n),
          (n) => Effect.result(records.update("config", "c", { value: { n } }, actor, 1)),
          { concurrency: 8 }
        )
        expect(tries.map((one) => one._tag).sort()).toEqual([...Array<string>(7).fill("Failure"), "Success"])
        expect((yield* records.get("config", "c")).version).toBe(2)
        expect(yield* records.revision).toBe(2)
      }).pipe(Effect.provide(layer))
  )
})

it.effect("records: in memory belong to one process and one scope", () =>
  Effect.gen(function* () {
    const ids = Effect.flatMap(Records, (records) =>
      Effect.map(records.list("config"), (all) => all.map(({ id }) => id))
    )
    const added = Effect.flatMap(Records, (records) => records.create("config", "c", { value: {} }, actor))
    expect(yield* Effect.provide(Effect.andThen(added, ids), Records.layerMemory)).toEqual(["c"])
    expect(yield* Effect.provide(ids, Records.layerMemory)).toEqual([])
  })
)
