// What a measure found: a line for each figure, beside the goal it has.
// It must not know what is measured.

let missed = false
const found: Record<string, number> = {}

/** `holds` says whether the goal is met. */
export const figure = (name: string, value: number, goal: string, holds: boolean): void => {
  missed ||= !holds
  found[name] = Number(value.toFixed(4))
  console.log(`${holds ? "ok  " : "MISS"}  ${name.padEnd(62)} ${value.toFixed(3).padStart(10)}   goal ${goal}`)
}

export const isMissed = (): boolean => missed

/** All of them, as JSON for those who keep it. */
export const summary = (): string => JSON.stringify(found)
