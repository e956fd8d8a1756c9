// Aligns rows of texts as a table with even columns. Control and direction characters are made visible.
// Must not know the meaning of a row or where it is printed.
import { visible } from "../../domain/text/printable.ts"

const widthOf = (rows: ReadonlyArray<ReadonlyArray<string>>, column: number): number =>
  Math.max(...rows.map((row) => (row[column] ?? "").length))

/** Two spaces between columns, none after the last. */
export const alignColumns = (given: ReadonlyArray<ReadonlyArray<string>>): ReadonlyArray<string> => {
  const rows = given.map((row) => row.map(visible))
  const columns = Math.max(0, ...rows.map((row) => row.length))
  const widths = Array.from({ length: columns }, (_, column) => widthOf(rows, column))
  return rows.map((row) =>
    row
      .map((text, column) => (column === row.length - 1 ? text : text.padEnd(widths[column] ?? 0)))
      .join("  ")
      .trimEnd()
  )
}
