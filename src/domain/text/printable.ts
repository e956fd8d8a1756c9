// Prints foreign text safely: escaped for a one-line message or a terminal, and as CSV (RFC 4180) for a spreadsheet.
// It must not know which message, terminal or row.

/** At most 64 characters; non-ASCII characters, control characters and double quotes become "?". */
export const printable = (text: string): string => text.slice(0, 64).replace(/[^\x20-\x7e]|"/g, "?")

/** Characters that a terminal interprets or hides: control characters, Unicode line ends, and format marks. */
const unseen = /[\p{Cc}\p{Cf}\u2028\u2029]/gu

const escaped = (letter: string): string =>
  Array.from({ length: letter.length }, (_, at) => `\\u${letter.charCodeAt(at).toString(16).padStart(4, "0")}`).join("")

/** One line for a terminal: hidden characters become JSON escapes. */
export const visible = (text: string): string => text.replace(unseen, escaped)

/** The same for several lines. JSON text keeps its meaning. */
export const visibleLines = (text: string): string =>
  text.replace(unseen, (letter) => (letter === "\n" ? letter : escaped(letter)))

// Prints rows as CSV (RFC 4180), safe to open in a spreadsheet.

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
