// Prints a line per figure with its goal.
// Must not know what is measured.

let missed = false
const figuresByName: Record<string, number> = {}

/** `holds` is true when the goal is met. */
export const reportFigure = (name: string, value: number, goal: string, holds: boolean): void => {
  missed ||= !holds
  figuresByName[name] = Number(value.toFixed(4))
  console.log(`${holds ? "ok  " : "MISS"}  ${name.padEnd(62)} ${value.toFixed(3).padStart(10)}   goal ${goal}`)
}

export const isMissed = (): boolean => missed

/** All figures as JSON. */
export const summary = (): string => JSON.stringify(figuresByName)
