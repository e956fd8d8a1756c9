// What a promise of the service is, and what its proof returns.
// Must not know any promise.

export interface Figure {
  readonly name: string
  readonly value: number
  /** The unit of the value; empty for a count. */
  readonly unit: string
  readonly goal: string
  readonly holds: boolean
}

export interface Run {
  readonly seed: number
  /** The long forms. */
  readonly isFull: boolean
  /** Prints a line below the promise, such as what broke. */
  readonly note: (line: string) => void
}

export interface Promised {
  readonly id: string
  /** What is promised, as the page states it. */
  readonly sentence: string
  readonly prove: (run: Run) => Promise<ReadonlyArray<Figure>>
}

const round = (value: number): number => (Number.isFinite(value) ? Number(value.toFixed(3)) : value)

export const atMost = (name: string, value: number, most: number, unit = ""): Figure => ({
  name,
  value: round(value),
  unit,
  goal: `at most ${most}${unit === "" ? "" : ` ${unit}`}`,
  holds: value <= most
})

export const atLeast = (name: string, value: number, least: number, unit = ""): Figure => ({
  name,
  value: round(value),
  unit,
  goal: `at least ${least}${unit === "" ? "" : ` ${unit}`}`,
  holds: value >= least
})

export const none = (name: string, value: number): Figure => ({
  name,
  value,
  unit: "",
  goal: "0",
  holds: value === 0
})

/** A figure without a goal, for the reader of the others. */
export const shown = (name: string, value: number, unit = ""): Figure => ({
  name,
  value: round(value),
  unit,
  goal: "",
  holds: true
})

/** Prints the first few of what broke. */
export const noteFaults = ({ note }: Run, faults: ReadonlyArray<string>, most = 10): void => {
  for (const fault of faults.slice(0, most)) note(fault.slice(0, 700))
  if (faults.length > most) note(`and ${faults.length - most} more`)
}
