// Pseudo-random numbers from a seed: the same seed and index give the same request.
// Must not know what is chosen.

export interface Random {
  /** At least 0, below 1. */
  readonly next: () => number
  /** At least 0, below `count`. */
  readonly below: (count: number) => number
  readonly pick: <A>(some: readonly [A, ...ReadonlyArray<A>] | ReadonlyArray<A>) => A
  readonly chance: (share: number) => boolean
}

/** Mulberry32, seeded with seed and index. */
export const randomOf = (seed: number, place: number): Random => {
  let state = (Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(place + 1, 0xc2b2ae35)) >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (count: number): number => Math.floor(next() * count)
  return {
    next,
    below,
    pick: <A>(some: ReadonlyArray<A>): A => {
      const one = some[below(some.length)]
      if (one === undefined) throw new Error("nothing to pick from")
      return one
    },
    chance: (share) => next() < share
  }
}
