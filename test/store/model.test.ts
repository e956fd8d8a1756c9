// Tests that after any sequence of changes, restarts, crashes and rotations the store equals a plain map (P11).
// Must not know how the store works.
import { copyFileSync, existsSync, mkdirSync } from "node:fs"
import { dirname, join } from "node:path"
import { describe, expect, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import * as fc from "fast-check"
import type { JsonObject } from "../../src/domain/text/json.ts"
import type { StoreLocation } from "../../src/domain/settings/storeLocation.ts"
import { Records } from "../../src/store/Records.ts"
import { type Actor, recordKinds } from "../../src/store/StoredRecord.ts"
import { rotateSecret } from "../../src/store/Rotation.ts"
import * as Store from "../../src/store/Store.ts"
import { databases, patiently, someMasters } from "../support/databases.ts"

const actor: Actor = { id: "cli", requestId: undefined }

const kind = fc.constantFrom(...recordKinds)
const id = fc.constantFrom("a", "b", "ü/\u{1f600}'\"")
// The store returns integers from 2^53 on as digits, which a plain map would not.
const value: fc.Arbitrary<JsonObject> = fc
  .dictionary(
    fc.string(),
    fc.oneof(fc.string({ unit: "binary" }), fc.double({ min: -1e15, max: 1e15, noNaN: true }), fc.constant(null)),
    { maxKeys: 3 }
  )
  .map((one): JsonObject => JSON.parse(JSON.stringify(one)))
const secret = fc.option(fc.option(value, { nil: null }), { nil: undefined })
/** By how many changes the expected revision is out of date. */
const behind = fc.option(fc.integer({ min: 0, max: 1 }), { nil: undefined })

const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ act: fc.constant("create" as const), kind, id, value, secret, behind }) },
  { weight: 4, arbitrary: fc.record({ act: fc.constant("update" as const), kind, id, value, secret, behind }) },
  { weight: 2, arbitrary: fc.record({ act: fc.constant("remove" as const), kind, id, behind }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constantFrom("rotate" as const, "restart" as const, "crash" as const) }) }
)
type Step = typeof step extends fc.Arbitrary<infer A> ? A : never
type Change = Extract<Step, { readonly id: string }>

interface Entry {
  readonly version: number
  readonly value: JsonObject
  readonly secret: JsonObject | undefined
}
/** The stored versions of every record, and the number of changes. */
interface Model {
  readonly records: Map<string, ReadonlyArray<Entry>>
  revision: number
}

const outcome = (model: Model, one: Change): string => {
  const name = `${one.kind} ${one.id}`
  const past = model.records.get(name)
  if (one.behind === 1) return "RecordsMoved"
  if (one.act === "create") {
    if (past !== undefined) return "RecordTaken"
    model.records.set(name, [{ value: one.value, secret: one.secret ?? undefined, version: 1 }])
  } else {
    if (past === undefined) return "RecordMissing"
    if (one.act === "remove") model.records.delete(name)
    else {
      const kept = one.secret === undefined ? past.at(-1)?.secret : (one.secret ?? undefined)
      const older = one.kind === "prompt" ? past.map((entry) => ({ ...entry, secret: undefined })) : []
      model.records.set(name, [...older, { value: one.value, secret: kept, version: (past.at(-1)?.version ?? 0) + 1 }])
    }
  }
  model.revision++
  return "done"
}

const redacted = (one: JsonObject | null | undefined) => (one === undefined || one === null ? one : Redacted.make(one))

/** A copy of the files as a killed process leaves them, with the write-ahead log not merged into the database. */
const crashed = (location: StoreLocation, round: number): StoreLocation => {
  if (location.kind !== "sqlite") return location
  const path = join(dirname(location.path), String(round), "gateway.db")
  mkdirSync(dirname(path))
  for (const ending of ["", "-wal"])
    if (existsSync(location.path + ending)) copyFileSync(location.path + ending, path + ending)
  return { kind: "sqlite", path }
}

const run = (start: StoreLocation, steps: ReadonlyArray<Step>) =>
  Effect.gen(function* () {
    const masters = someMasters()
    const model: Model = { records: new Map(), revision: 0 }
    let location = start
    const opened = Effect.gen(function* () {
      const scope = yield* Scope.make()
      const context = yield* Scope.provide(Layer.build(Store.layer(location, masters)), scope)
      return { context, close: Scope.close(scope, Exit.void) }
    })
    let store = yield* opened
    for (const [round, one] of steps.entries()) {
      const records = Context.get(store.context, Records)
      if ("id" in one) {
        const expected = one.behind === undefined ? undefined : model.revision - one.behind
        const change: Effect.Effect<unknown, { readonly _tag: string }> =
          one.act === "create"
            ? records.create(one.kind, one.id, { value: one.value, secret: redacted(one.secret) }, actor, expected)
            : one.act === "update"
              ? records.update(one.kind, one.id, { value: one.value, secret: redacted(one.secret) }, actor, expected)
              : records.remove(one.kind, one.id, actor, expected)
        const said = yield* Effect.match(change, { onFailure: ({ _tag }) => _tag, onSuccess: () => "done" })
        expect(said).toBe(outcome(model, one))
      } else if (one.act === "rotate") yield* Effect.provideContext(rotateSecret(masters), store.context)
      else {
        if (one.act === "crash") location = crashed(location, round)
        yield* store.close
        store = yield* opened
      }
    }
    const records = Context.get(store.context, Records)
    const found = new Map<string, ReadonlyArray<Entry>>()
    for (const each of recordKinds) {
      for (const one of yield* records.histories(each)) {
        const name = `${one.kind} ${one.id}`
        const entry = {
          version: one.version,
          value: one.value,
          secret: one.secret === undefined ? undefined : Redacted.value(one.secret)
        }
        found.set(name, [...(found.get(name) ?? []), entry])
      }
    }
    expect(found).toEqual(model.records)
    expect([yield* records.revision, (yield* records.audit(1_000, undefined)).rows.length]).toEqual([
      model.revision,
      model.revision
    ])
    yield* store.close
  })

describe.each(databases)("the record store on $name", (database) => {
  it("record store: equals a plain map after every sequence of operations (P11)", { timeout: 120_000 }, async () => {
    expect.hasAssertions()
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), (steps) =>
        Effect.runPromise(
          patiently(Effect.scoped(Effect.flatMap(database.location, (location) => run(location, steps))))
        )
      ),
      { numRuns: database.name === "SQLite" ? 25 : 6 }
    )
  })
})
