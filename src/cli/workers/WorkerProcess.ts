// The process of one worker: its start, its messages, its end.
// Must not know what is sent.
import { type ChildProcess, fork } from "node:child_process"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { Limits } from "../../domain/Limits.ts"
import type { Port } from "../../workers/Link.ts"

/** How a process ended. */
export interface Ended {
  readonly code: number | null
  readonly signal: string | null
}

export interface WorkerProcess {
  readonly port: Port
  readonly ended: Effect.Effect<Ended>
  /** Drains the process, and kills it when its drain takes longer than it may. */
  readonly stop: Effect.Effect<void>
}

/** The time beyond its own drain after which a worker that was asked to end is killed. */
const graceMillis = 5_000

const portOf = (child: ChildProcess): Port => ({
  send: (message, failed) => {
    child.send(message, (error) => {
      if (error !== null) failed(error)
    })
  },
  listen: (listener) => {
    child.on("message", listener)
    return () => child.off("message", listener)
  }
})

export const startWorker: Effect.Effect<WorkerProcess> = Effect.map(Limits, ({ drainMillis, readyDelayMillis }) => {
  const child = fork(process.argv[1] ?? "", ["worker"])
  // A message to a process that is ending fails; its sender gets the failure.
  child.on("error", () => undefined)
  const end = Deferred.makeUnsafe<Ended>()
  child.once("exit", (code, signal) => Deferred.doneUnsafe(end, Exit.succeed({ code, signal })))
  const ended = Deferred.await(end)
  return {
    port: portOf(child),
    ended,
    stop: Effect.andThen(
      Effect.sync(() => child.kill("SIGTERM")),
      Effect.timeoutOrElse(Effect.asVoid(ended), {
        duration: drainMillis + readyDelayMillis + graceMillis,
        orElse: () => Effect.asVoid(Effect.sync(() => child.kill("SIGKILL")))
      })
    )
  }
})
