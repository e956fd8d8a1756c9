// Leaves one warning of Node out: older versions print at each start that SQLite is experimental.
// Must not change any other warning.

/** True for the warning that `node:sqlite` gives when it is loaded. */
export const isSqliteWarning = (warning: string | Error, type: unknown): boolean =>
  typeof warning === "string" &&
  type === "ExperimentalWarning" &&
  warning.startsWith("SQLite is an experimental feature")

const { emitWarning } = process

/** Node itself calls this function of the process with a text and a type. */
process.emitWarning = (warning: string | Error, ...rest: ReadonlyArray<unknown>): void => {
  if (!isSqliteWarning(warning, rest[0])) Reflect.apply(emitWarning, process, [warning, ...rest])
}
