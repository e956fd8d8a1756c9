// Statements on many rows: on PostgreSQL one statement with one parameter, however many rows there are.
// Must not know any table.
import * as Effect from "effect/Effect"
import type * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import { onSqlite } from "./Sql.ts"

interface BulkTable {
  readonly table: string
  /** The columns of texts come before those of numbers in every row. */
  readonly texts: ReadonlyArray<string>
  readonly numbers: ReadonlyArray<string>
  /** What follows the values: `ON CONFLICT ...`, and `RETURNING ...` of columns. */
  readonly then: string
}

type BulkRow = ReadonlyArray<string | number>

/** SQLite needs no round trip, and bound values cost it a fraction of JSON: it gets this many rows a statement. */
const sqliteRows = 100

/**
 * Inserts rows, in their order. No two rows may be the same row of the table. A statement as a kept text costs a third of
 * one that is put together each time.
 */
export const bulkInsert = ({ numbers, table, texts, then }: BulkTable) => {
  const columns = [...texts, ...numbers]
  const into = `INSERT INTO ${table} (${columns.join(", ")})`
  const values = [
    ...texts.map((_, at) => `given.value ->> ${at}`),
    ...numbers.map((_, at) => `CAST(given.value ->> ${texts.length + at} AS BIGINT)`)
  ]
  const postgres = `${into} SELECT ${values.join(", ")}
    FROM jsonb_array_elements(CAST(CAST($1 AS TEXT) AS JSONB)) AS given (value) ${then}`
  const places = `(${columns.map(() => "?").join(", ")})`
  const statements = new Map<number, string>()
  const sqlite = (rows: number): string => {
    const text =
      statements.get(rows) ?? `${into} VALUES ${Array.from({ length: rows }, () => places).join(", ")} ${then}`
    statements.set(rows, text)
    return text
  }
  return <A extends object>(
    sql: SqlClient.SqlClient,
    rows: ReadonlyArray<BulkRow>
  ): Effect.Effect<ReadonlyArray<A>, SqlError> => {
    if (rows.length === 0) return Effect.succeed([])
    if (!onSqlite(sql)) return sql.unsafe<A>(postgres, [JSON.stringify(rows)])
    const starts = Array.from({ length: Math.ceil(rows.length / sqliteRows) }, (_, part) => part * sqliteRows)
    return Effect.map(
      Effect.forEach(starts, (start) => {
        const some = rows.slice(start, start + sqliteRows)
        return sql.unsafe<A>(sqlite(some.length), some.flat())
      }),
      (parts) => parts.flat()
    )
  }
}

/** The rows as a table `given` with one column `value`, of which `value ->> 0` is the first text. */
export const givenRows = (sql: SqlClient.SqlClient, rows: ReadonlyArray<ReadonlyArray<string>>): Fragment => {
  const text = JSON.stringify(rows)
  return onSqlite(sql)
    ? sql`json_each(${text}) AS given`
    : sql`jsonb_array_elements(CAST(CAST(${text} AS TEXT) AS JSONB)) AS given (value)`
}
