// Rows of texts as lines with even columns.
// It must not know what the rows say or where they are shown.

const widthOf = (rows: ReadonlyArray<ReadonlyArray<string>>, column: number): number => Math.max(...rows.map((row) => (row[column] ?? "").length))

/** Two spaces between columns, none behind the last. */
export const evenly = (rows: ReadonlyArray<ReadonlyArray<string>>): ReadonlyArray<string> => {
  const columns = Math.max(0, ...rows.map((row) => row.length))
  const widths = Array.from({ length: columns }, (_, column) => widthOf(rows, column))
  return rows.map((row) => row.map((text, column) => (column === row.length - 1 ? text : text.padEnd(widths[column] ?? 0))).join("  ").trimEnd())
}
