// What differs by platform: the Node version that runs the service, signals, and the directory for a program's data.
// Must not import anything: it has to load where other modules fail. It reads no environment and listens to no signal.
import type { Environment } from "../settings/environment.ts"

const leastMajor = 22
const leastMinor = 19

/** One line for users of a Node that is too old. Undefined for a supported version. */
export const nodeVersionFault = (version: string): string | undefined => {
  const [major = 0, minor = 0] = version.split(".").map(Number)
  return major > leastMajor || (major === leastMajor && minor >= leastMinor)
    ? undefined
    : `model-gateway needs Node ${leastMajor}.${leastMinor} or newer, this is ${version}: install a newer one, from https://nodejs.org for example.`
}

// What the signals of a platform mean: those that end the service next to SIGINT and SIGTERM, and those that reload it.

interface Signals {
  readonly ending: ReadonlyArray<NodeJS.Signals>
  readonly reloading: ReadonlyArray<NodeJS.Signals>
}

/**
 * Windows sends SIGBREAK for Ctrl+Break, and SIGHUP when the console closes: its processes end some seconds later. Nothing
 * there sends SIGTERM, and a configuration is reloaded when its file changes. nodejs.org/api/process.html#signal-events
 */
export const signalsOf = (platform: NodeJS.Platform): Signals =>
  platform === "win32" ? { ending: ["SIGBREAK", "SIGHUP"], reloading: [] } : { ending: [], reloading: ["SIGHUP"] }

// The directory for a program's data by the convention of each operating system.

const name = "model-gateway"

/**
 * `home` is the user's directory. Variables that are empty count as unset. Undefined when nothing names a directory of
 * the user.
 */
export const platformFolder = (platform: string, env: Environment, home: string | undefined): string | undefined => {
  const below = (folder: string): string | undefined => (home === undefined ? undefined : `${home}${folder}`)
  if (platform === "darwin") return below(`/Library/Application Support/${name}`)
  const [folder, separator] =
    platform === "win32"
      ? [env["LOCALAPPDATA"] || below("\\AppData\\Local"), "\\"]
      : [env["XDG_DATA_HOME"] || below("/.local/share"), "/"]
  return folder === undefined ? undefined : `${folder}${separator}${name}`
}
