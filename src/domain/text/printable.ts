// Text of others made fit to be quoted: within one line of an answer, or on a terminal.
// It must not know which answer.

/** Cut to 64 characters; what is not printable ASCII, and the quote that would end the quotation, become "?". */
export const printable = (text: string): string => text.slice(0, 64).replace(/[^\x20-\x7e]|"/g, "?")

/** What a terminal obeys instead of showing: control characters, line ends of Unicode, and marks that turn, join or hide letters. */
const unseen = /[\p{Cc}\p{Cf}\u2028\u2029]/gu

const escaped = (letter: string): string =>
  Array.from({ length: letter.length }, (_, at) => `\\u${letter.charCodeAt(at).toString(16).padStart(4, "0")}`).join("")

/** One line for a terminal: what would not be seen is written as JSON escapes it. */
export const visible = (text: string): string => text.replace(unseen, escaped)

/** The same of several lines; JSON stays the same JSON. */
export const visibleLines = (text: string): string =>
  text.replace(unseen, (letter) => (letter === "\n" ? letter : escaped(letter)))
