// `serve`: runs the gateway until the process is stopped, in this process or in several.
// Must not load the gateway: the first process of several does without it.
import { availableParallelism } from "node:os"
import * as Effect from "effect/Effect"
import { type Failure, usageFailure } from "./Output.ts"
import { type LoadOptions, loadWithCopy } from "./settings/LoadSettings.ts"

export interface ServeOptions extends LoadOptions {
  /** Folder in which every exchange with a provider is recorded, without credentials. */
  readonly record?: string | undefined
}

export const serve = Effect.fn("Cli.serve")(function* ({
  record,
  ...options
}: ServeOptions): Effect.fn.Return<void, Failure> {
  const { copy, loaded } = yield* loadWithCopy(options)
  const { workers = 1 } = loaded.settings.server
  const count = workers === "auto" ? availableParallelism() : workers
  if (count === 1) {
    const { serveAlone } = yield* Effect.promise(() => import("./RunGateway.ts"))
    return yield* serveAlone(options, loaded, record)
  }
  if (record !== undefined) return yield* usageFailure("--record needs one process: leave out --workers")
  const { supervise } = yield* Effect.promise(() => import("./workers/Supervisor.ts"))
  return yield* supervise({ load: options, loaded, copy, count })
})
