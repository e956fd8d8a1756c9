// Suggests the nearest known name for a misspelled one ("did you mean").
// It must not know what the names refer to.

/** Edits (insert, delete, replace, swap of neighbours) that turn one word into the other. */
export const editDistance = (from: string, to: string): number => {
  const rows = [Array.from({ length: to.length + 1 }, (_, column) => column)]
  const cost = (row: number, column: number): number => rows[row]?.[column] ?? 0
  for (let i = 1; i <= from.length; i++) {
    const row = [i]
    rows.push(row)
    for (let j = 1; j <= to.length; j++) {
      const replaced = cost(i - 1, j - 1) + (from[i - 1] === to[j - 1] ? 0 : 1)
      const swapped =
        from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1] && i > 1 && j > 1 ? cost(i - 2, j - 2) + 1 : replaced
      row.push(Math.min(replaced, swapped, cost(i - 1, j) + 1, cost(i, j - 1) + 1))
    }
  }
  return cost(from.length, to.length)
}

/** Letters and digits only, so that `apiKey` and `api-key` are near `api_key`. */
const plain = (word: string): string => word.toLowerCase().replace(/[^a-z0-9]/g, "")

/** The nearest known name, when its distance is at most a third of the word's length. */
export const nearest = (word: string, known: ReadonlyArray<string>): string | undefined => {
  const asked = plain(word.slice(0, 64))
  let best: { name: string; distance: number } | undefined
  const most = Math.max(1, Math.floor(asked.length / 3))
  for (const name of known) {
    const letters = plain(name)
    // The distance is at least the difference in length, and computing it costs the product of both lengths.
    if (Math.abs(letters.length - asked.length) > most) continue
    const distance = editDistance(asked, letters)
    if (distance <= most && (best === undefined || distance < best.distance)) best = { name, distance }
  }
  return best?.name
}

/** A placeholder for a known name that could not be read; any unknown name may mean it. */
export const unreadName = "\u0000"

/** True for a known name, and where the name or one of the known names could not be read. */
export const isNamed = (word: string, known: ReadonlyArray<string>): boolean =>
  word === unreadName || known.includes(word) || known.includes(unreadName)

/** `; did you mean X?`, else `; known: ...`, else empty text when nothing is known. */
export const hint = (word: string, known: ReadonlyArray<string>): string => {
  const near = nearest(word, known)
  if (near !== undefined) return `; did you mean ${near}?`
  const readable = known.filter((name) => name !== unreadName)
  return readable.length === 0 ? "" : `; known: ${readable.join(", ")}`
}
