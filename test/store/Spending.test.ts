// Tests the spending of keys on every database: it survives a restart and counts once; leases stay within the budget.
// Must not depend on requests.
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as SqlClient from "effect/sql/SqlClient"
import * as TestClock from "effect/testing/TestClock"
import { database } from "../../src/store/database/Migrations.ts"
import { Spending, type SpendingChange } from "../../src/store/Spending.ts"
import { databases } from "../support/databases.ts"

const change = (more: Partial<SpendingChange>): SpendingChange => ({
  keyId: "ci",
  period: "2027-01",
  budgetMicros: 1000,
  turn: 1,
  spentMicros: 0,
  wantedMicros: 0,
  ...more
})

describe.each(databases)("spending on $name", ({ location, name }) => {
  /** Processes on one database, each with its own client. */
  const processes = (count: number) =>
    Effect.flatMap(location, (at) =>
      Effect.forEach(
        Array.from({ length: count }),
        () =>
          Effect.map(
            Layer.build(Layer.fresh(Spending.layer.pipe(Layer.provide(Layer.fresh(database(at)))))),
            (context) => (changes: Partial<SpendingChange>) =>
              Effect.provide(
                Effect.flatMap(Spending, ({ exchange }) => exchange([change(changes)])),
                context
              )
          ),
        { concurrency: 1 }
      )
    )

  it.effect("spending: outlives the process, counts a repeated change once, and separates periods and keys", () =>
    Effect.gen(function* () {
      const [one, other] = yield* processes(2)
      if (one === undefined || other === undefined) return yield* Effect.die("two were asked for")
      expect(yield* one({ spentMicros: 0, wantedMicros: 300 })).toEqual([{ spentMicros: 0, leasedMicros: 300 }])
      expect(yield* one({ turn: 2, spentMicros: 250, wantedMicros: 300 })).toEqual([
        { spentMicros: 250, leasedMicros: 300 }
      ])
      expect(yield* one({ turn: 2, spentMicros: 250, wantedMicros: 300 })).toEqual([
        { spentMicros: 250, leasedMicros: 300 }
      ])
      // The lease of one process is not available to the other one until it is returned.
      expect(yield* other({ wantedMicros: 600 })).toEqual([{ spentMicros: 250, leasedMicros: 450 }])
      expect(yield* one({ turn: 3, spentMicros: 300 })).toEqual([{ spentMicros: 550, leasedMicros: 0 }])
      expect(yield* other({ turn: 2, spentMicros: 400, wantedMicros: 600 })).toEqual([
        { spentMicros: 950, leasedMicros: 50 }
      ])
      expect(yield* other({ keyId: "two", wantedMicros: 5 })).toEqual([{ spentMicros: 0, leasedMicros: 5 }])
      expect(yield* other({ period: "2027-02", wantedMicros: 5 })).toEqual([{ spentMicros: 0, leasedMicros: 5 }])
    }).pipe(Effect.scoped)
  )

  it.effect("spending: a budget that is set within its period begins with what the key has cost in it (W10)", () =>
    Effect.gen(function* () {
      const at = yield* location
      const context = yield* Layer.build(Spending.layer.pipe(Layer.provideMerge(database(at))))
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { exchange, spent } = yield* Spending
        const cost = (day: string, keyId: string, model: string, micros: number) =>
          sql`INSERT INTO usage_sums (day, key_id, provider, model, requests, errors, input, output, cached, cost_micros)
            VALUES (${day}, ${keyId}, 'google', ${model}, 1, 0, 1, 1, 0, ${micros})`
        yield* cost("2026-12-31", "ci", "a", 400)
        yield* cost("2027-01-01", "ci", "a", 30)
        yield* cost("2027-01-15", "ci", "a", 200)
        yield* cost("2027-01-15", "ci", "b", 70)
        yield* cost("2027-01-15", "other", "a", 500)
        expect(yield* spent("ci", "2027-01")).toBe(300)
        expect(yield* exchange([change({ wantedMicros: 900 })])).toEqual([{ spentMicros: 300, leasedMicros: 700 }])
        expect(yield* exchange([change({ turn: 2, spentMicros: 50 })])).toEqual([{ spentMicros: 350, leasedMicros: 0 }])
        expect(yield* spent("ci", "2027-01")).toBe(350)
        const day = { period: "2027-01-15", wantedMicros: 900 }
        expect(yield* exchange([change(day)])).toEqual([{ spentMicros: 270, leasedMicros: 730 }])
        expect(yield* exchange([change({ ...day, keyId: "new" })])).toEqual([{ spentMicros: 0, leasedMicros: 900 }])
      }).pipe(Effect.provide(context))
    }).pipe(Effect.scoped)
  )

  it.effect("spending: frees a lease that is not renewed for a minute", () =>
    Effect.gen(function* () {
      const [one, other] = yield* processes(2)
      if (one === undefined || other === undefined) return yield* Effect.die("two were asked for")
      yield* one({ wantedMicros: 900 })
      expect(yield* other({ wantedMicros: 900 })).toEqual([{ spentMicros: 0, leasedMicros: 100 }])
      yield* TestClock.adjust("1 minute")
      expect(yield* other({ turn: 2, wantedMicros: 900 })).toEqual([{ spentMicros: 0, leasedMicros: 900 }])
      expect(yield* one({ turn: 2, spentMicros: 10, wantedMicros: 900 })).toEqual([
        { spentMicros: 10, leasedMicros: 90 }
      ])
    }).pipe(Effect.scoped)
  )

  // PGlite has one session for all clients, so concurrent transactions are not isolated.
  it.effect.skipIf(name === "PGlite")("spending: grants concurrent processes no more than the budget", () =>
    Effect.gen(function* () {
      const all = yield* processes(3)
      const asked = all.flatMap((ask) => [1, 2, 3, 4].map((turn) => ask({ turn, spentMicros: 10, wantedMicros: 400 })))
      yield* Effect.all(asked, { concurrency: 12 })
      const states = yield* Effect.forEach(all, (ask) =>
        Effect.map(ask({ turn: 5, wantedMicros: 400 }), ([state]) => state)
      )
      expect(states.map((state) => state?.spentMicros)).toEqual([120, 120, 120])
      expect(states.reduce((sum, state) => sum + (state?.leasedMicros ?? 0), 120)).toBe(1000)
    }).pipe(Effect.scoped)
  )
})
