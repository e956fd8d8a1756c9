// Prints rows as CSV (RFC 4180), safe to open in a spreadsheet.
// It must not know what a row is.

type Cell = string | number | undefined

/** Spreadsheets run a text that begins so as a formula; clients choose some of the texts. */
const formula = /^[=+\-@\t\r]/

const printCell = (cell: Cell): string => {
  if (typeof cell === "number") return String(cell)
  const text = cell === undefined ? "" : formula.test(cell) ? `'${cell}` : cell
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** A header line and one line a row; each line ends with CR and LF. */
export const printCsv = (
  columns: ReadonlyArray<string>,
  rows: ReadonlyArray<Readonly<Record<string, unknown>>>
): string =>
  [columns, ...rows.map((row) => columns.map((column) => cellOf(row[column])))]
    .map((cells) => `${cells.map(printCell).join(",")}\r\n`)
    .join("")

const cellOf = (value: unknown): Cell => (typeof value === "string" || typeof value === "number" ? value : undefined)
