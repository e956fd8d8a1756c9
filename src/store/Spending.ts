// Spending of keys per period, and budget leases: the part of a budget that a process may spend without a round trip.
// Must not know keys, requests or prices; it adds up millionths of a US dollar.
import { randomUUID } from "node:crypto"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import { dayMillis } from "../domain/text/days.ts"
import type { StoreUnavailable } from "../domain/GatewayError.ts"
import { Limits } from "../domain/Limits.ts"
import { lazyTransaction, makeStoreCall, makeStoreWrite, onSqlite } from "./database/Sql.ts"

/** What a process reports about one budget. */
export interface SpendingChange {
  readonly keyId: string
  /** A day or month of UTC. A budget that is set within a period begins with what the key has cost in it. */
  readonly period: string
  readonly budgetMicros: number
  /** The number of this change. A change that is sent again under its number counts once. */
  readonly turn: number
  /** Spent since the previous change. */
  readonly spentMicros: number
  /** The lease that the process requests from now on; 0 returns its lease. */
  readonly wantedMicros: number
}

/** The state of the budget after the change. */
export interface SpendingState {
  /** Spent by all processes, as far as they have reported. */
  readonly spentMicros: number
  /**
   * The lease of this process: what it requested, or what is left. Leases and spending together never exceed the
   * budget.
   */
  readonly leasedMicros: number
}

export class Spending extends Context.Service<
  Spending,
  {
    /** Applies all changes or none. The results have the order of the changes. */
    readonly exchange: (
      changes: ReadonlyArray<SpendingChange>
    ) => Effect.Effect<ReadonlyArray<SpendingState>, StoreUnavailable>
    /** Spent by all processes in a period, as far as they have reported. */
    readonly spent: (keyId: string, period: string) => Effect.Effect<number, StoreUnavailable>
  }
>()("gateway/store/Spending") {
  /** Shared by all processes on the database. A lease that is not renewed for `leaseReclaimMillis` becomes free. */
  static readonly layer: Layer.Layer<Spending, never, SqlClient.SqlClient> = Layer.effect(
    Spending,
    Effect.suspend(() => make)
  )

  /** For this process only; it ends with the process. Beyond `usageEntries` periods the oldest ones leave. */
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

/** Spent according to a row that was just inserted. */
const newRow = -1

interface LeaseRow {
  readonly holder: string
  readonly micros: number
  readonly turn: number
  readonly until_millis: number
}

/** What the requests of a period have cost so far, with a budget or without. */
const costSoFar = (sql: SqlClient.SqlClient, keyId: string, period: string): Effect.Effect<number, SqlError> =>
  Effect.map(
    sql<{ readonly micros: number | null }>`
      SELECT CAST(SUM(cost_micros) AS ${sql.literal(onSqlite(sql) ? "INTEGER" : "BIGINT")}) AS micros FROM usage_sums
      WHERE key_id = ${keyId} AND day LIKE ${`${period}%`}`,
    ([sum]) => Number(sum?.micros ?? 0)
  )

/** Locks the row of a period, so that the processes take turns. A new row has the mark until the transaction ends. */
const lockedSpending = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  keyId: string,
  period: string,
  now: number
) {
  const [row] = yield* sql<{ readonly spent_micros: number }>`
    INSERT INTO spending (key_id, period, spent_micros, updated_millis) VALUES (${keyId}, ${period}, ${newRow}, ${now})
    ON CONFLICT (key_id, period) DO UPDATE SET updated_millis = excluded.updated_millis RETURNING spent_micros`
  if (row?.spent_micros !== newRow) return row?.spent_micros ?? 0
  const spent = yield* costSoFar(sql, keyId, period)
  yield* sql`UPDATE spending SET spent_micros = ${spent} WHERE key_id = ${keyId} AND period = ${period}`
  return spent
})

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const within = yield* makeStoreCall
  const written = yield* makeStoreWrite
  const { leaseReclaimMillis, usageDays } = yield* Limits
  const holder = randomUUID()

  const exchanged = Effect.fnUntraced(function* (
    { budgetMicros, keyId, period, spentMicros, turn, wantedMicros }: SpendingChange,
    now: number
  ) {
    const before = yield* lockedSpending(sql, keyId, period, now)
    const leases = yield* sql<LeaseRow>`
      SELECT holder, micros, turn, until_millis FROM spending_leases WHERE key_id = ${keyId} AND period = ${period}`
    const isRepeated = leases.some((lease) => lease.holder === holder && lease.turn === turn)
    const [after] =
      isRepeated || spentMicros === 0
        ? [{ spent_micros: before }]
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
      INSERT INTO spending_leases ${sql.insert({ key_id: keyId, period, holder, micros: leased, turn, until_millis: now + leaseReclaimMillis })}
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
  yield* Effect.ignore(written(tidied))

  return Spending.of({
    exchange: (changes) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) =>
        written(lazyTransaction(sql)(Effect.forEach(changes, (change) => exchanged(change, now))))
      ),
    spent: (keyId, period) =>
      within(
        Effect.flatMap(
          sql<{
            readonly spent_micros: number
          }>`SELECT spent_micros FROM spending WHERE key_id = ${keyId} AND period = ${period}`,
          ([row]) => (row === undefined ? costSoFar(sql, keyId, period) : Effect.succeed(row.spent_micros))
        )
      )
  })
})
