// What budgets and rate limits count: spending of keys per period with the leases of budgets, and the buckets of rate limits.
// Must not know keys, requests or prices; it adds up millionths of a US dollar, and takes from buckets.
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { dayMillis, monotonicMillis } from "../domain/time.ts"
import { type RateAnswer, type RateAsk, RateCounts } from "../domain/RateCounts.ts"
import { randomUUID } from "node:crypto"
import * as Clock from "effect/Clock"
import * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import type { StoreUnavailable } from "../domain/GatewayError.ts"
import { Limits } from "../domain/Limits.ts"
import { bulkInsert, givenRows } from "./database/BulkRows.ts"
import { makeRetentionClock } from "./database/Retention.ts"
import { lazyTransaction, makeStoreCall, makeStoreWrite, onSqlite } from "./database/Sql.ts"

export class RateCounters extends Context.Service<
  RateCounters,
  {
    /**
     * Takes from several buckets together, in their order, until one of them refuses. `isForced` takes or returns
     * whatever the buckets hold.
     */
    readonly take: (asks: ReadonlyArray<RateAsk>, isForced: boolean) => Effect.Effect<RateAnswer>
  }
>()("gateway/domain/RateCounters") {
  /** Buckets of this process only. */
  static readonly layerMemory: Layer.Layer<RateCounters> = Layer.sync(RateCounters, () => {
    const counts = new RateCounts()
    return {
      take: (asks, isForced) =>
        Effect.clockWith((clock) => Effect.sync(() => counts.take(asks, isForced, monotonicMillis(clock))))
    }
  })
}

// Spending of keys per period, and budget leases: the part of a budget that a process may spend without a round trip.

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

interface Budget {
  readonly key_id: string
  readonly period: string
}

interface SpendingRow extends Budget {
  readonly spent_micros: number
}

interface LeaseRow extends Budget {
  readonly holder: string
  readonly micros: number
  readonly turn: number
  readonly until_millis: number
}

const nameOf = ({ key_id: keyId, period }: Budget): string => `${keyId}\n${period}`

/** PostgreSQL's SUM of whole numbers is a decimal. */
const wholeSum = (sql: SqlClient.SqlClient) => sql.literal(onSqlite(sql) ? "INTEGER" : "BIGINT")

/** What the requests of a period have cost so far, with a budget or without. */
const costSoFar = (sql: SqlClient.SqlClient, keyId: string, period: string): Effect.Effect<number, SqlError> =>
  Effect.map(
    sql<{ readonly micros: number | null }>`
      SELECT CAST(SUM(cost_micros) AS ${wholeSum(sql)}) AS micros FROM usage_sums
      WHERE key_id = ${keyId} AND day LIKE ${`${period}%`}`,
    ([sum]) => Number(sum?.micros ?? 0)
  )

/** Of each budget once. */
const budgetsOf = (changes: ReadonlyArray<SpendingChange>): ReadonlyArray<readonly [keyId: string, period: string]> => [
  ...new Map(changes.map(({ keyId, period }) => [`${keyId}\n${period}`, [keyId, period] as const])).values()
]

const lockRows = bulkInsert({
  table: "spending",
  texts: ["key_id", "period"],
  numbers: ["spent_micros", "updated_millis"],
  then: "ON CONFLICT (key_id, period) DO UPDATE SET updated_millis = excluded.updated_millis RETURNING key_id, period, spent_micros"
})

/** Replaces what has been spent: the rows are locked, so no other process has added to them. */
const putSpent = bulkInsert({
  table: "spending",
  texts: ["key_id", "period"],
  numbers: ["spent_micros", "updated_millis"],
  then: "ON CONFLICT (key_id, period) DO UPDATE SET spent_micros = excluded.spent_micros"
})

const putLeases = bulkInsert({
  table: "spending_leases",
  texts: ["key_id", "period", "holder"],
  numbers: ["micros", "turn", "until_millis"],
  then: "ON CONFLICT (key_id, period, holder) DO UPDATE SET micros = excluded.micros, turn = excluded.turn, until_millis = excluded.until_millis"
})

/** Locks the rows of these budgets, in their order, so that the processes take turns. Returns what each has spent. */
const lockedSpending = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  budgets: ReadonlyArray<readonly [keyId: string, period: string]>,
  now: number
) {
  const rows = yield* lockRows<SpendingRow>(
    sql,
    budgets.map((budget) => [...budget, newRow, now])
  )
  const spent = new Map(rows.map((row) => [nameOf(row), row.spent_micros]))
  // A new row has the mark until the transaction ends.
  const fresh = budgets.filter((budget) => spent.get(budget.join("\n")) === newRow)
  if (fresh.length === 0) return spent
  for (const budget of fresh) spent.set(budget.join("\n"), 0)
  const [firstPeriod] = fresh.map(([, period]) => period).toSorted()
  const seeded = yield* sql<SpendingRow>`SELECT value ->> 0 AS key_id, value ->> 1 AS period,
      CAST(SUM(cost_micros) AS ${wholeSum(sql)}) AS spent_micros
    FROM ${givenRows(sql, fresh)} JOIN usage_sums ON key_id = value ->> 0 AND day LIKE (value ->> 1) || '%'
    WHERE day >= ${firstPeriod}
    GROUP BY value ->> 0, value ->> 1`
  for (const row of seeded) spent.set(nameOf(row), row.spent_micros)
  return spent
})

/** The leases of these budgets, by budget. */
const readLeases = (sql: SqlClient.SqlClient, budgets: ReadonlyArray<readonly [keyId: string, period: string]>) =>
  Effect.map(
    sql<LeaseRow>`SELECT key_id, period, holder, micros, turn, until_millis FROM spending_leases
      WHERE (key_id, period) IN (SELECT value ->> 0, value ->> 1 FROM ${givenRows(sql, budgets)})`,
    (leases) => Map.groupBy(leases, nameOf)
  )

/** Nine statements at most on PostgreSQL, those of the transaction included, whatever the number of changes. */
const exchanging = (sql: SqlClient.SqlClient, holder: string, leaseReclaimMillis: number) =>
  Effect.fnUntraced(function* (changes: ReadonlyArray<SpendingChange>, now: number) {
    const budgets = budgetsOf(changes)
    const spent = yield* lockedSpending(sql, budgets, now)
    const stored = yield* readLeases(sql, budgets)
    /** The turn and the lease of this process, by budget. */
    const leased = new Map<string, { turn: number; micros: number }>()
    const expired = new Set<string>()
    const states = changes.map(({ budgetMicros, keyId, period, spentMicros, turn, wantedMicros }): SpendingState => {
      const name = `${keyId}\n${period}`
      const leases = stored.get(name) ?? []
      const before = leased.get(name) ?? leases.find((lease) => lease.holder === holder)
      const total = (spent.get(name) ?? 0) + (before?.turn === turn ? 0 : spentMicros)
      spent.set(name, total)
      const others = leases.filter((lease) => lease.holder !== holder)
      const running = others.filter((lease) => lease.until_millis > now)
      if (others.length > running.length) expired.add(name)
      const taken = running.reduce((sum, { micros }) => sum + micros, total)
      const leasedMicros = granted(budgetMicros, wantedMicros, taken)
      leased.set(name, { turn, micros: leasedMicros })
      return { spentMicros: total, leasedMicros }
    })
    yield* putSpent(
      sql,
      budgets.map((budget) => [...budget, spent.get(budget.join("\n")) ?? 0, now])
    )
    yield* putLeases(
      sql,
      budgets.map((budget) => {
        const { micros, turn } = leased.get(budget.join("\n")) ?? { micros: 0, turn: 0 }
        return [...budget, holder, micros, turn, now + leaseReclaimMillis]
      })
    )
    const left = budgets.filter((budget) => expired.has(budget.join("\n")))
    if (left.length > 0) {
      yield* sql`DELETE FROM spending_leases WHERE until_millis <= ${now}
        AND (key_id, period) IN (SELECT value ->> 0, value ->> 1 FROM ${givenRows(sql, left)})`
    }
    return states
  })

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const within = yield* makeStoreCall
  const written = yield* makeStoreWrite
  const { leaseReclaimMillis, usageDays } = yield* Limits
  const exchanged = exchanging(sql, randomUUID(), leaseReclaimMillis)

  const newest = Effect.map(
    sql<{ readonly millis: number | null }>`SELECT MAX(updated_millis) AS millis FROM spending`,
    ([row]) => row?.millis ?? undefined
  )
  const tidied = Effect.flatMap(makeRetentionClock(sql, newest), (now) => {
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
        changes.length === 0 ? Effect.succeed([]) : written(lazyTransaction(sql)(exchanged(changes, now)))
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
