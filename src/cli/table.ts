// Rows of texts as lines with even columns. Names are chosen by others: no text of a row moves a terminal's cursor or turns its letters.
// It must not know what the rows say or where they are shown.
import { visible } from "../domain/text/printable.ts"

const widthOf = (rows: ReadonlyArray<ReadonlyArray<string>>, column: number): number =>
  Math.max(...rows.map((row) => (row[column] ?? "").length))

/** Two spaces between columns, none behind the last. */
export const evenly = (given: ReadonlyArray<ReadonlyArray<string>>): ReadonlyArray<string> => {
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
