// What the signals of a platform mean: those that end the service next to SIGINT and SIGTERM, and those that reload it.
// It must not listen to a signal.

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
