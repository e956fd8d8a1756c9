// Collects findings: each kind once, with its count and its first occurrence.
// Must not know how findings are made.

export interface Findings {
  readonly add: (what: string, where: string) => void
  readonly count: () => number
  /** One line per kind. */
  readonly lines: () => ReadonlyArray<string>
}

/** Findings that differ only in numbers and ids are of one kind. */
const kindOf = (what: string): string => what.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}|\d{5,}/g, "#").slice(0, 160)

export const collect = (): Findings => {
  const kinds = new Map<string, { what: string; where: string; times: number }>()
  return {
    add: (what, where) => {
      const known = kinds.get(kindOf(what))
      if (known === undefined) kinds.set(kindOf(what), { what, where, times: 1 })
      else known.times++
    },
    count: () => kinds.size,
    lines: () =>
      [...kinds.values()].map(({ times, what, where }) => `${where}: ${what}${times === 1 ? "" : ` (${times} times)`}`)
  }
}
