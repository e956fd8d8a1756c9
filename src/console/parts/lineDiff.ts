// The difference of two texts line by line, by their longest common lines.
// It must not know what the texts are.

export interface DiffLine {
  readonly kind: "same" | "gone" | "new"
  readonly text: string
}

/** Pairs of lines that are compared at most; above it the texts are compared as a whole. */
const mostPairs = 4_000_000

const all = (kind: DiffLine["kind"], lines: ReadonlyArray<string>): ReadonlyArray<DiffLine> =>
  lines.map((text) => ({ kind, text }))

/** How many lines two ends have in common, from line `a` and line `b` on. */
const commonFrom = (before: ReadonlyArray<string>, after: ReadonlyArray<string>) => {
  const width = after.length + 1
  const counts = new Uint32Array((before.length + 1) * width)
  const at = (a: number, b: number): number => counts[a * width + b] ?? 0
  for (let a = before.length - 1; a >= 0; a--)
    for (let b = after.length - 1; b >= 0; b--)
      counts[a * width + b] = before[a] === after[b] ? at(a + 1, b + 1) + 1 : Math.max(at(a + 1, b), at(a, b + 1))
  return at
}

export const lineDiff = (before: string, after: string): ReadonlyArray<DiffLine> => {
  const [old, now] = [before.split("\n"), after.split("\n")]
  if (old.length * now.length > mostPairs) return [...all("gone", old), ...all("new", now)]
  const common = commonFrom(old, now)
  const lines: Array<DiffLine> = []
  let [a, b] = [0, 0]
  while (a < old.length && b < now.length) {
    const text = now[b] ?? ""
    if (old[a] === text) {
      lines.push({ kind: "same", text })
      a++
      b++
    } else if (common(a + 1, b) >= common(a, b + 1)) lines.push({ kind: "gone", text: old[a++] ?? "" })
    else {
      lines.push({ kind: "new", text })
      b++
    }
  }
  return [...lines, ...all("gone", old.slice(a)), ...all("new", now.slice(b))]
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
