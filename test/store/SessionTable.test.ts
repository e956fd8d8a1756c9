// Tests the sessions of the console in the store: for all processes on it, until they end, and within a bound.
// Must not depend on HTTP or keys.
import { describe, it } from "@effect/vitest"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as SqlClient from "effect/sql/SqlClient"
import * as TestClock from "effect/testing/TestClock"
import { expect } from "vitest"
import { SessionTable } from "../../src/store/SessionTable.ts"
import { databases, storeOn } from "../support/databases.ts"

/** The table of a process of its own on the store. */
const table = Effect.provide(SessionTable, Layer.fresh(SessionTable.layer))
const twoTables = Effect.all([table, table])

describe.each(databases)("console sessions on $name", (database) => {
  const store = Layer.fresh(storeOn(database))

  it.effect("console sessions: are found by every process on the store until they end (TH30)", () =>
    Effect.gen(function* () {
      const [one, other] = yield* twoTables
      const session = { keyDigest: "k", expiresMillis: 1000 }
      yield* one.add("a", session)
      yield* one.add("b", { keyDigest: undefined, expiresMillis: 2000 })
      expect([yield* other.find("a"), yield* other.find("b"), yield* other.find("c")]).toEqual([
        session,
        { keyDigest: undefined, expiresMillis: 2000 },
        undefined
      ])
      yield* TestClock.adjust(1000)
      expect([yield* other.find("a"), yield* other.take("a")]).toEqual([undefined, undefined])
    }).pipe(Effect.provide(store))
  )

  it.effect("console sessions: of several processes one takes a code (TH30)", () =>
    Effect.gen(function* () {
      const [one, other] = yield* twoTables
      yield* one.add("code", { keyDigest: undefined, expiresMillis: 1000 })
      const taken = yield* Effect.all([other.take("code"), one.take("code"), other.take("code")], {
        concurrency: "unbounded"
      })
      expect(taken.filter((session) => session !== undefined)).toEqual([{ keyDigest: undefined, expiresMillis: 1000 }])
    }).pipe(Effect.provide(store))
  )

  it.effect("console sessions: a new one removes the ended ones, and beyond 256 the one that ends first", () =>
    Effect.gen(function* () {
      const { add } = yield* table
      const sql = yield* SqlClient.SqlClient
      const digests = sql`SELECT digest FROM console_sessions ORDER BY expires_millis`
      yield* add("ended", { keyDigest: undefined, expiresMillis: 1 })
      yield* TestClock.adjust(1)
      const rows = Arr.makeBy(255, (at) => ({
        digest: `s${at}`,
        key_digest: null,
        expires_millis: 1000 + at
      }))
      yield* sql`INSERT INTO console_sessions ${sql.insert(rows)}`
      for (let at = 255; at < 258; at++) yield* add(`s${at}`, { keyDigest: undefined, expiresMillis: 1000 + at })
      expect(yield* digests).toEqual(Array.from({ length: 256 }, (_, at) => ({ digest: `s${at + 2}` })))
    }).pipe(Effect.provide(store))
  )
})
