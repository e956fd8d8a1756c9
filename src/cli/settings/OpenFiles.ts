// How many files the process may have open, and the limits that fit.
// Must not know what opens them.
import { readFileSync } from "node:fs"
import * as Effect from "effect/Effect"
import { fittingFiles } from "../../domain/fitting/descriptors.ts"
import type { LimitValues } from "../../domain/Limits.ts"

/** The soft limit of the kernel; Node has raised it to the hard one. Undefined where the system does not show it. */
const openFiles: Effect.Effect<number | undefined> = Effect.sync(() => {
  try {
    const [, soft] = /^Max open files +(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8")) ?? []
    return soft === undefined ? undefined : Number(soft)
  } catch {
    return undefined
  }
})

const fittedText = (files: number, { connections, idleSockets }: LimitValues): string =>
  `The process may open ${files} files: it serves ${connections} connections, keeps ${idleSockets} idle ones to providers, and answers further clients with 503. A higher "ulimit -n" lifts this.`

interface FittedLimits {
  readonly limits: LimitValues
  /** What was lowered, for the log once the gateway listens; undefined where everything fits. */
  readonly warning: string | undefined
}

/** The limits of the settings, lowered to what the process may open. */
export const fitOpenFiles = (limits: LimitValues): Effect.Effect<FittedLimits> =>
  Effect.map(openFiles, (files) => {
    if (files === undefined) return { limits, warning: undefined }
    const fitted = { ...limits, ...fittingFiles(limits, files) }
    const isLowered = fitted.connections !== limits.connections
    return { limits: fitted, warning: isLowered ? fittedText(files, fitted) : undefined }
  })
