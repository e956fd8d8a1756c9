// Keeps the workers of the first process running: starts each, and replaces one that ends by itself.
// Must not know the configuration.
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import { type KeptState, makeKeptState } from "../../state/KeptState.ts"
import { metrics } from "../../telemetry/metrics.ts"
import { SeriesRegistry } from "../../telemetry/Series.ts"
import { makeLink } from "../../workers/Link.ts"
import { commandFailure, type Failure, usageFailure } from "../Failure.ts"
import { pauseAfter, recentCrashes } from "./crashes.ts"
import { makeRoster, type Roster } from "./Roster.ts"
import type { Begin, PrimaryCalls, Started, WorkerCalls } from "./workerCalls.ts"
import { type Ended, startWorker } from "./WorkerProcess.ts"

/** Made at each start of a worker, so that a replacement has the configuration of now. */
export type MakeBegin = (worker: number, started: Started | undefined) => Begin

export interface Crew {
  /** Keeps one worker running; fails when it crashes in a loop, or ends before any worker was ready. */
  readonly keep: (worker: number) => Effect.Effect<never, Failure>
  /** What the first worker sent when it was ready. */
  readonly started: Effect.Effect<Started>
  /** Completes when all workers are ready for the first time. */
  readonly complete: Effect.Effect<void>
  readonly reload: Roster["reload"]
}

interface CrewParts {
  readonly state: KeptState
  readonly roster: Roster
  readonly begin: MakeBegin
  /** The words of the first worker that was ready. */
  readonly first: () => Started | undefined
  readonly onReady: (worker: number, words: Started) => Effect.Effect<void>
}

/** One process from its start to its end by itself; an interruption drains it. */
const runWorker = ({ begin, first, onReady, roster, state }: CrewParts, worker: number): Effect.Effect<Ended> =>
  Effect.scoped(
    Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* () {
        const { ended, port, stop } = yield* startWorker
        const link = yield* makeLink<PrimaryCalls, WorkerCalls>(port, {
          ...state.of(worker),
          allSeries: () => roster.allSeries,
          changed: () => roster.refreshOthers(worker),
          started: (words) => onReady(worker, words)
        })
        const member = roster.add(worker, link)
        yield* Effect.addFinalizer(() => Effect.andThen(state.forget(worker), roster.remove(worker)))
        // Runs before the link ends: a worker that drains still uses the shared state.
        yield* Effect.addFinalizer(() => Effect.andThen(roster.readSeries(member), stop))
        port.send(begin(worker, first()), () => undefined)
        return yield* restore(ended)
      })
    )
  )

/** Fails instead of a pause when the worker crashes in a loop. */
const pauseOf = (worker: number, recent: ReadonlyArray<number>, how: string): Effect.Effect<number, Failure> => {
  const pause = pauseAfter(recent)
  return pause === undefined
    ? Effect.fail(
        commandFailure(
          `worker ${worker} ended ${recent.length} times within a minute, the last time with ${how}; its last lines above give the reason`
        )
      )
    : Effect.succeed(pause)
}

export const makeCrew = Effect.fnUntraced(function* (count: number, begin: MakeBegin): Effect.fn.Return<Crew> {
  const roster = yield* makeRoster(count)
  const restarts = SeriesRegistry.of(yield* Effect.context<never>()).counter(metrics.workerRestarts, {})
  const started = yield* Deferred.make<Started>()
  const complete = yield* Deferred.make<void>()
  let first: Started | undefined
  const parts: CrewParts = {
    state: yield* makeKeptState,
    roster,
    begin,
    first: () => first,
    onReady: Effect.fnUntraced(function* (worker, words) {
      first ??= words
      const isComplete = yield* roster.markReady(worker)
      yield* Deferred.succeed(started, words)
      if (isComplete) yield* Deferred.succeed(complete, undefined)
    })
  }
  const keep = (worker: number, before: ReadonlyArray<number>): Effect.Effect<never, Failure> =>
    Effect.gen(function* () {
      const { code, signal } = yield* runWorker(parts, worker)
      const how = signal ?? `exit code ${code}`
      // A worker that ends with a code has printed why.
      if (first === undefined)
        return yield* code === 2
          ? usageFailure("")
          : commandFailure(signal === null ? "" : `worker ${worker} ended with ${how} before it was ready`)
      const recent = yield* Effect.clockWith((clock) =>
        Effect.succeed(recentCrashes(before, clock.currentTimeMillisUnsafe()))
      )
      const pause = yield* pauseOf(worker, recent, how)
      restarts.add(1)
      yield* Effect.logWarning(`worker ${worker} ended with ${how}; it is replaced in ${pause} ms`)
      yield* Effect.sleep(pause)
      return yield* keep(worker, recent)
    })
  return {
    keep: (worker) => keep(worker, []),
    started: Deferred.await(started),
    complete: Deferred.await(complete),
    reload: roster.reload
  }
})
