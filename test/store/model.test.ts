// P11: any sequence of changes, restarts, crashes and rotations leaves the store as a plain map would have it.
// It must not know how the store does that.
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
import { type Actor, recordKinds, Records } from "../../src/store/Records.ts"
import { rotateSecret } from "../../src/store/Rotation.ts"
import * as Store from "../../src/store/Store.ts"
import { databases, patiently, someMasters } from "../support/databases.ts"

const actor: Actor = { id: "cli", requestId: undefined }

const kind = fc.constantFrom(...recordKinds)
const id = fc.constantFrom("a", "b", "ü/\u{1f600}'\"")
// Whole numbers from 2^53 on come back as their digits, which no plain map would do.
const value: fc.Arbitrary<JsonObject> = fc
  .dictionary(
    fc.string(),
    fc.oneof(fc.string({ unit: "binary" }), fc.double({ min: -1e15, max: 1e15, noNaN: true }), fc.constant(null)),
    { maxKeys: 3 }
  )
  .map((one): JsonObject => JSON.parse(JSON.stringify(one)))
const secret = fc.option(fc.option(value, { nil: null }), { nil: undefined })
/** How far the revision is behind that a change was judged by. */
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
/** Every version that is kept of every record, and how many changes there were. */
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

/** A copy of the files as a killed process leaves them: the log is not written back. */
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

describe.each(databases)("P11 on $name", (database) => {
  it("the store is as a map would be", { timeout: 120_000 }, async () => {
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
