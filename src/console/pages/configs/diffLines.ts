// The difference between two texts by lines.
// Must not know what the texts are.

export interface DiffLine {
  readonly kind: "same" | "old" | "new"
  readonly text: string
}

/** Texts of more lines are compared as a whole: the table of a comparison has a cell for each pair of lines. */
const mostLines = 2000

/** The fewest lines that leave and come, in the order of the texts. */
export const diffLines = (before: string, after: string): ReadonlyArray<DiffLine> => {
  const [old, fresh] = [before.split("\n"), after.split("\n")]
  if (Math.max(old.length, fresh.length) > mostLines)
    return [
      ...old.map((text) => ({ kind: "old" as const, text })),
      ...fresh.map((text) => ({ kind: "new" as const, text }))
    ]
  // `common[i][j]`: how many lines the rest of both from there on have in common.
  const common = Array.from({ length: old.length + 1 }, () => new Uint16Array(fresh.length + 1))
  const at = (i: number, j: number): number => common[i]?.[j] ?? 0
  for (let i = old.length - 1; i >= 0; i--)
    for (let j = fresh.length - 1; j >= 0; j--)
      common[i]?.fill(old[i] === fresh[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1)), j, j + 1)
  const lines: Array<DiffLine> = []
  let [i, j] = [0, 0]
  while (i < old.length || j < fresh.length) {
    if (i < old.length && j < fresh.length && old[i] === fresh[j]) {
      lines.push({ kind: "same", text: old[i] ?? "" })
      i++
      j++
    } else if (j >= fresh.length || (i < old.length && at(i + 1, j) >= at(i, j + 1)))
      lines.push({ kind: "old", text: old[i++] ?? "" })
    else lines.push({ kind: "new", text: fresh[j++] ?? "" })
  }
  return lines
}

/** Lines around a change that are shown with it. */
const nearby = 3

/** The changes with the lines around them; what is left out becomes one line of dots. */
export const nearChanges = (lines: ReadonlyArray<DiffLine>): ReadonlyArray<DiffLine> => {
  const near = lines.map((_, at) =>
    lines.slice(Math.max(0, at - nearby), at + nearby + 1).some(({ kind }) => kind !== "same")
  )
  return lines.flatMap((line, at) =>
    near[at] === true ? [line] : at === 0 || near[at - 1] === true ? [{ kind: "same" as const, text: "…" }] : []
  )
}
