// The limits of a process that may open only so many files: each connection of a client needs one more to an upstream.
// It must not know how the number is found.
import type { LimitValues } from "../Limits.ts"

/** Open files of the runtime itself: listeners, the database file, logs, Redis, timers. */
const ownFiles = 40

type FileLimits = Pick<LimitValues, "connections" | "idleSockets" | "mediaConnections">

/** Connections that fit, with a reserve for the store, idle sockets, media and refusals. */
export const fittingFiles = (limits: LimitValues, openFiles: number): FileLimits => {
  const usable = Math.max(10, openFiles - ownFiles - limits.storeConnections)
  const part = Math.floor(usable / 10)
  const idleSockets = Math.min(limits.idleSockets, part)
  const mediaConnections = Math.min(limits.mediaConnections, part)
  const rest = usable - idleSockets - mediaConnections - Math.min(64, part)
  return { connections: Math.min(limits.connections, Math.floor(rest / 2)), idleSockets, mediaConnections }
}
