// Tests the client that reads a SQLite file in a thread of its own, for reports.
// Must not know a table of the store.
import { it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Reactivity from "effect/reactivity/Reactivity"
import { expect } from "vitest"
import * as Sqlite from "../../../src/store/database/Sqlite.ts"
import { directory } from "../../support/databases.ts"

const clients = Effect.gen(function* () {
  const path = `${yield* directory}/gateway.db`
  const writer = yield* Sqlite.make(path)
  yield* writer`CREATE TABLE facts (name TEXT NOT NULL, number INTEGER, bytes BLOB) STRICT`
  yield* writer`INSERT INTO facts ${writer.insert([
    { name: "a", number: 1, bytes: null },
    { name: "b", number: null, bytes: new Uint8Array([1, 2]) }
  ])}`
  return { writer, reader: yield* Sqlite.makeReader(path) }
})

it.effect("reader: has what is written, and answers each of several at a time", () =>
  Effect.gen(function* () {
    const { reader, writer } = yield* clients
    const named = (name: string) => reader`SELECT * FROM facts WHERE name = ${name}`
    const found = yield* Effect.forEach(["b", "a", "c"], named, { concurrency: "unbounded" })
    expect(found).toEqual([
      [{ name: "b", number: null, bytes: new Uint8Array([1, 2]) }],
      [{ name: "a", number: 1, bytes: null }],
      []
    ])
    yield* writer`INSERT INTO facts ${writer.insert({ name: "c", number: 3, bytes: null })}`
    expect(yield* named("c")).toEqual([{ name: "c", number: 3, bytes: null }])
  }).pipe(Effect.scoped, Effect.provide(Reactivity.layer))
)

it.effect("reader: cannot write, and goes on after a statement that fails", () =>
  Effect.gen(function* () {
    const { reader } = yield* clients
    const refused = yield* Effect.flip(reader`DELETE FROM facts`)
    const unknown = yield* Effect.flip(reader`SELECT * FROM elsewhere`)
    expect([refused, unknown].map(({ reason: { cause } }) => cause instanceof Error && cause.message)).toEqual([
      "attempt to write a readonly database",
      "no such table: elsewhere"
    ])
    expect(yield* reader`SELECT COUNT(*) AS total FROM facts`).toEqual([{ total: 2 }])
  }).pipe(Effect.scoped, Effect.provide(Reactivity.layer))
)
