// What keys have spent, and which part of a budget each process on the store may spend without asking.
// It must not know keys, requests or prices; it adds up millionths of a US dollar.
import { randomUUID } from "node:crypto"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as SqlClient from "effect/sql/SqlClient"
import { dayMillis } from "../domain/text/days.ts"
import type { StoreUnavailable } from "../domain/GatewayError.ts"
import { Limits } from "../domain/Limits.ts"
import { answered, lazily } from "./Sql.ts"

/** What a process tells of one budget. */
export interface SpendingChange {
  readonly keyId: string
  /** A day or month of UTC; each begins with nothing spent. */
  readonly period: string
  readonly budgetMicros: number
  /** The number of this change. Told again under its number, because the answer got lost, it counts once. */
  readonly turn: number
  /** Spent since the change before. */
  readonly spentMicros: number
  /** How much the process wants for itself from now on; 0 gives back what it has. */
  readonly wantedMicros: number
}

/** How the budget stands after that. */
export interface SpendingState {
  /** By all processes, as far as they have told. */
  readonly spentMicros: number
  /** What the process has for itself: what it wanted, or what there is. All of these and what was spent never exceed the budget by themselves. */
  readonly leasedMicros: number
}

export class Spending extends Context.Service<
  Spending,
  {
    /** All changes or none; the answers in their order. */
    readonly exchange: (
      changes: ReadonlyArray<SpendingChange>
    ) => Effect.Effect<ReadonlyArray<SpendingState>, StoreUnavailable>
    /** What all processes have spent of a period, as far as they have told. */
    readonly spent: (keyId: string, period: string) => Effect.Effect<number, StoreUnavailable>
  }
>()("gateway/store/Spending") {
  /** Shared by all processes on the database; a part that is not renewed for `leaseMillis` is anybody's again. */
  static readonly layer: Layer.Layer<Spending, never, SqlClient.SqlClient> = Layer.effect(
    Spending,
    Effect.suspend(() => make)
  )

  /** Of this process alone, gone when it ends; so many periods as fit, the oldest go first. */
  static readonly layerMemory: Layer.Layer<Spending> = Layer.effect(
    Spending,
    Effect.map(Limits, ({ usageEntries }) => {
      const sums = new Map<string, { turn: number; micros: number }>()
      const exchanged = ({
        budgetMicros,
        keyId,
        period,
        spentMicros,
        turn,
        wantedMicros
      }: SpendingChange): SpendingState => {
        const name = `${keyId}\n${period}`
        const sum = sums.get(name) ?? { turn: 0, micros: 0 }
        if (sum.turn !== turn) sum.micros += spentMicros
        sum.turn = turn
        sums.set(name, sum)
        const [first] = sums.keys()
        if (sums.size > usageEntries && first !== undefined) sums.delete(first)
        return { spentMicros: sum.micros, leasedMicros: granted(budgetMicros, wantedMicros, sum.micros) }
      }
      return {
        exchange: (changes) => Effect.sync(() => changes.map(exchanged)),
        spent: (keyId, period) => Effect.sync(() => sums.get(`${keyId}\n${period}`)?.micros ?? 0)
      }
    })
  )
}

const granted = (budget: number, wanted: number, taken: number): number => Math.max(0, Math.min(wanted, budget - taken))

interface LeaseRow {
  readonly holder: string
  readonly micros: number
  readonly turn: number
  readonly until_millis: number
}

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const within = yield* answered
  const { leaseMillis, usageDays } = yield* Limits
  const holder = randomUUID()

  const exchanged = Effect.fnUntraced(function* (
    { budgetMicros, keyId, period, spentMicros, turn, wantedMicros }: SpendingChange,
    now: number
  ) {
    // Takes the row's lock, so that all processes exchange in turn.
    const [before] = yield* sql<{ readonly spent_micros: number }>`
      INSERT INTO spending (key_id, period, spent_micros, updated_millis) VALUES (${keyId}, ${period}, 0, ${now})
      ON CONFLICT (key_id, period) DO UPDATE SET updated_millis = excluded.updated_millis RETURNING spent_micros`
    const leases = yield* sql<LeaseRow>`
      SELECT holder, micros, turn, until_millis FROM spending_leases WHERE key_id = ${keyId} AND period = ${period}`
    const isTold = leases.some((lease) => lease.holder === holder && lease.turn === turn)
    const [after] =
      isTold || spentMicros === 0
        ? [before]
        : yield* sql<{ readonly spent_micros: number }>`
      UPDATE spending SET spent_micros = spent_micros + ${spentMicros}
      WHERE key_id = ${keyId} AND period = ${period} RETURNING spent_micros`
    const spent = after?.spent_micros ?? 0
    const others = leases.filter((lease) => lease.holder !== holder && lease.until_millis > now)
    const leased = granted(
      budgetMicros,
      wantedMicros,
      others.reduce((sum, { micros }) => sum + micros, spent)
    )
    yield* sql`
      INSERT INTO spending_leases ${sql.insert({ key_id: keyId, period, holder, micros: leased, turn, until_millis: now + leaseMillis })}
      ON CONFLICT (key_id, period, holder) DO UPDATE SET micros = excluded.micros, turn = excluded.turn, until_millis = excluded.until_millis`
    if (leases.length > others.length + 1) {
      yield* sql`DELETE FROM spending_leases WHERE key_id = ${keyId} AND period = ${period} AND until_millis <= ${now}`
    }
    return { spentMicros: spent, leasedMicros: leased }
  })

  const tidied = Effect.flatMap(Clock.currentTimeMillis, (now) => {
    const oldest = now - usageDays * dayMillis
    return Effect.andThen(
      sql`DELETE FROM spending WHERE updated_millis < ${oldest}`,
      sql`DELETE FROM spending_leases WHERE until_millis < ${oldest}`
    )
  })
  yield* Effect.ignore(within(tidied))

  return Spending.of({
    exchange: (changes) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) =>
        within(lazily(sql)(Effect.forEach(changes, (change) => exchanged(change, now))))
      ),
    spent: (keyId, period) =>
      Effect.map(
        within(
          sql<{
            readonly spent_micros: number
          }>`SELECT spent_micros FROM spending WHERE key_id = ${keyId} AND period = ${period}`
        ),
        ([row]) => row?.spent_micros ?? 0
      )
  })
})
