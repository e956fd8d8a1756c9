// Escapes foreign text for quoting in a one-line message or for printing on a terminal.
// It must not know which message or terminal.

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
