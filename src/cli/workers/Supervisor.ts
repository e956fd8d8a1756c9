// The first process of `serve --workers`: chooses the addresses, keeps the workers, reads and reloads the configuration.
// Must not serve requests or open the store.
import { createServer } from "node:net"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { ServeError } from "effect/http/HttpServerError"
import { Limits } from "../../domain/Limits.ts"
import { version } from "../../domain/version.ts"
import { ProcessMetrics } from "../../telemetry/ProcessMetrics.ts"
import { type Failure, FaultLog, startFailure, usageFailure, withLogFormat } from "../Output.ts"
import { followConfiguration } from "../Reload.ts"
import { type FilesCopy, type Loaded, type LoadOptions, warnOfCredentials } from "../settings/LoadSettings.ts"
import { makeCrew } from "./Crew.ts"

export interface SuperviseOptions {
  readonly load: LoadOptions
  readonly loaded: Loaded
  /** The files that were read. */
  readonly copy: FilesCopy
  /** Workers to run, at least two. */
  readonly count: number
}

/**
 * Listens on an address for a moment. Returns the port, which the system chose where it was 0. Workers share an address,
 * so that a second gateway there would not fail by itself.
 */
const freePort = (host: string, port: number): Effect.Effect<number, ServeError> =>
  Effect.callback((resume) => {
    const server = createServer()
    server.once("error", (cause) => resume(Effect.fail(new ServeError({ cause }))))
    server.listen({ host, port, exclusive: true }, () => {
      const address = server.address()
      const chosen = typeof address === "object" && address !== null ? address.port : port
      server.close(() => resume(Effect.succeed(chosen)))
    })
    return Effect.sync(() => server.close())
  })

/** The kernel spreads connections over processes on Linux only. */
const checkPlatform = Effect.suspend(() =>
  process.platform === "linux"
    ? Effect.void
    : Effect.fail(usageFailure(`server.workers needs Linux, this is ${process.platform}; leave it out`))
)

export const supervise = Effect.fn("Cli.supervise")(function* ({
  copy,
  count,
  load,
  loaded
}: SuperviseOptions): Effect.fn.Return<never, Failure> {
  const settings = withLogFormat(loaded.settings)
  const { admin, host, port } = settings.server
  yield* checkPlatform
  const places = Effect.all([
    freePort(host, port),
    admin === undefined ? Effect.succeed(null) : freePort(admin.host, admin.port)
  ])
  const [mainPort, adminPort] = yield* Effect.mapError(places, startFailure(settings))
  let current = copy
  // A stop is the normal end of a service, also before all workers are up.
  process.exitCode = 0
  const supervised = Effect.scoped(
    Effect.gen(function* () {
      const crew = yield* makeCrew(count, (worker, started) => ({
        worker,
        count,
        load,
        copy: current,
        port: mainPort,
        adminPort,
        ...(started === undefined ? {} : { keys: { inference: started.inference } })
      }))
      const others = Array.from({ length: count - 1 }, (_, at) => at + 2)
      const opened = Effect.gen(function* () {
        const { lines } = yield* crew.started
        yield* crew.complete
        yield* followConfiguration({
          load,
          started: loaded,
          apply: (reading) =>
            Effect.suspend(() => {
              current = reading.copy
              return crew.reload(current)
            })
        })
        yield* Console.error(lines)
        yield* warnOfCredentials(loaded)
        return yield* Effect.never
      })
      const later = (worker: number) => Effect.andThen(crew.started, crew.keep(worker))
      return yield* Effect.raceAllFirst([Effect.scoped(opened), crew.keep(1), ...others.map(later)])
    })
  )
  return yield* Effect.provide(
    supervised,
    Layer.mergeAll(
      ProcessMetrics.layer(version),
      FaultLog.layer(settings.log?.format === "json"),
      Layer.succeed(Limits, settings.limits)
    )
  )
})
