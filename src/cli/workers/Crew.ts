// Keeps the workers of the first process running: starts each, replaces one that ends, and answers their calls.
// Must not know the configuration, or what a worker serves.
import { makeWorkersState, type StateCalls, type WorkersState } from "../../state/WorkersState.ts"
import { lastingSeries, mergeSeries, SeriesRegistry, type SeriesValue, seriesValues } from "../../telemetry/Series.ts"
import { type AskOf, beatMillis, type Call, type Link, makeLink, type Port } from "../../state/Link.ts"
import type { FilesCopy, LoadOptions } from "../settings/LoadSettings.ts"
import { type ChildProcess, fork } from "node:child_process"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import { Limits } from "../../domain/Limits.ts"
import { metrics } from "../../telemetry/metrics.ts"
import { commandFailure, type Failure, usageFailure } from "../Output.ts"

/** The first message to a worker. */
export interface Begin {
  /** From 1. A process that replaces another has its number. */
  readonly worker: number
  readonly count: number
  readonly load: LoadOptions
  readonly copy: FilesCopy
  readonly port: number
  readonly adminPort: number | null
  /** The inference key that was made for this run; undefined until a worker has made what is missing. */
  readonly keys?: { readonly inference: string | null }
}

/** How many workers are ready and how many have become silent, of how many. */
export interface Presence {
  readonly ready: number
  readonly silent: number
  readonly count: number
}

/** What a worker sends once it serves. */
interface Started {
  /** The start-up lines. */
  readonly lines: string
  readonly inference: string | null
}

/** What a worker asks of the first process. */
export interface PrimaryCalls extends StateCalls {
  readonly started: Call<Started, void>
  /** A record has changed: answered when the other workers have read it. */
  readonly changed: Call<null, void>
  /** The series of all processes as one. */
  readonly allSeries: Call<null, ReadonlyArray<SeriesValue>>
}

/** What the first process asks of a worker. */
export interface WorkerCalls {
  readonly ownSeries: Call<null, ReadonlyArray<SeriesValue>>
  readonly presence: Call<Presence, void>
  /** Reads the records of the store again. */
  readonly refresh: Call<null, void>
  /** Files of a configuration that the first process has found without faults. */
  readonly reload: Call<FilesCopy, void>
}

// What follows when a worker ends by itself: a pause that grows with its crashes, or the end of the program.

/** Crashes within this time count together. */
const windowMillis = 60_000
/** One more ends the program. */
const mostCrashes = 5
const firstPauseMillis = 100

/** The moments of a worker's crashes that still count, the one of now included. */
export const recentCrashes = (before: ReadonlyArray<number>, nowMillis: number): ReadonlyArray<number> => [
  ...before.filter((moment) => moment > nowMillis - windowMillis),
  nowMillis
]

/** The pause before the worker is replaced, in milliseconds; undefined when it crashes in a loop. */
export const pauseAfter = (recent: ReadonlyArray<number>): number | undefined =>
  recent.length > mostCrashes ? undefined : firstPauseMillis * 2 ** (recent.length - 1)

// The process of one worker: its start, its messages, its end.

/** How a process ended. */
interface Ended {
  readonly code: number | null
  readonly signal: string | null
}

export interface WorkerProcess {
  readonly port: Port
  readonly ended: Effect.Effect<Ended>
  /** Drains the process, and kills it when its drain takes longer than it may, or when `silence` completes. */
  readonly stop: (silence: Effect.Effect<void>) => Effect.Effect<void>
  readonly killed: Effect.Effect<Ended>
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

const startWorker: Effect.Effect<WorkerProcess> = Effect.map(Limits, ({ drainMillis, readyDelayMillis }) => {
  const child = fork(process.argv[1] ?? "", ["worker"])
  // A message to a process that is ending fails; its sender gets the failure.
  child.on("error", () => undefined)
  const end = Deferred.makeUnsafe<Ended>()
  child.once("exit", (code, signal) => Deferred.doneUnsafe(end, Exit.succeed({ code, signal })))
  const ended = Deferred.await(end)
  const kill = Effect.asVoid(Effect.sync(() => child.kill("SIGKILL")))
  const killed = Effect.andThen(kill, ended)
  return {
    port: portOf(child),
    ended,
    killed,
    stop: (silence) =>
      Effect.andThen(
        Effect.sync(() => child.kill("SIGTERM")),
        Effect.timeoutOrElse(Effect.asVoid(Effect.raceFirst(ended, Effect.andThen(silence, killed))), {
          duration: drainMillis + readyDelayMillis + graceMillis,
          orElse: () => kill
        })
      )
  }
})

// The workers that run now: which are ready, and the metric series of all of them as one.

export interface Member {
  readonly link: Link<WorkerCalls>
  isReady: boolean
  /** Whether nothing arrives of it although it has served. */
  isSilent: boolean
  /** Its latest series, for a scrape that it does not answer in time and for the time after its end. */
  series: ReadonlyArray<SeriesValue>
}

interface Roster {
  readonly add: (worker: number, link: Link<WorkerCalls>) => Member
  /** Marks a worker ready, and succeeds with whether all are. */
  readonly markReady: (worker: number) => Effect.Effect<boolean>
  readonly setSilent: (member: Member, isSilent: boolean) => void
  /** Takes over the series of a worker, which counts on. */
  readonly readSeries: (member: Member) => Effect.Effect<void>
  /** Keeps the counts of a worker that has ended. */
  readonly remove: (worker: number) => Effect.Effect<void>
  /** Completes when the workers other than this one have read the records of the store again. */
  readonly refreshOthers: (worker: number) => Effect.Effect<void>
  readonly allSeries: Effect.Effect<ReadonlyArray<SeriesValue>>
  /** Completes when the workers that are ready have taken the configuration over. */
  readonly reload: (copy: FilesCopy) => Effect.Effect<void>
}

/** A worker that does not answer has the message once it does. */
const askOrTell = <Name extends keyof WorkerCalls>(
  link: Link<WorkerCalls>,
  name: Name,
  value: AskOf<WorkerCalls[Name]>
): Effect.Effect<void> =>
  Effect.suspend(() =>
    link.isAway() ? Effect.sync(() => link.tell(name, value)) : Effect.ignore(link.ask(name, value))
  )

export const makeRoster = (count: number): Effect.Effect<Roster> =>
  Effect.map(Effect.all([Effect.context<never>(), Limits]), ([context, { linkMillis }]) => {
    const ready = SeriesRegistry.of(context).gauge(metrics.workers, {})
    const members = new Map<number, Member>()
    let former: ReadonlyArray<SeriesValue> = []
    const announce = (): void => {
      const serving = [...members.values()].filter(({ isReady }) => isReady)
      const silent = serving.filter(({ isSilent }) => isSilent).length
      ready.value = serving.length - silent
      for (const { link } of members.values()) link.tell("presence", { ready: ready.value, silent, count })
    }
    // A worker waits `linkMillis` for the series of all, so each of them has half of it.
    const readSeries = (member: Member): Effect.Effect<void> => {
      const asked = Effect.suspend(() =>
        member.isSilent ? Effect.succeedNone : Effect.option(member.link.ask("ownSeries", null))
      )
      return Effect.map(Effect.timeoutOption(asked, linkMillis / 2), (answer) => {
        member.series = Option.getOrElse(Option.flatten(answer), () => member.series)
      })
    }
    const each = (use: (member: Member, worker: number) => Effect.Effect<void>): Effect.Effect<void> =>
      Effect.suspend(() =>
        Effect.forEach([...members], ([worker, member]) => use(member, worker), { concurrency: count, discard: true })
      )
    return {
      add: (worker, link) => {
        const member: Member = { link, isReady: false, isSilent: false, series: [] }
        members.set(worker, member)
        return member
      },
      markReady: (worker) =>
        Effect.sync(() => {
          const member = members.get(worker)
          if (member !== undefined) member.isReady = true
          announce()
          return ready.value === count
        }),
      setSilent: (member, isSilent) => {
        member.isSilent = isSilent
        announce()
      },
      readSeries,
      remove: (worker) =>
        Effect.sync(() => {
          former = mergeSeries([former, lastingSeries(members.get(worker)?.series ?? [])])
          members.delete(worker)
          announce()
        }),
      refreshOthers: (changed) =>
        each(({ isReady, link }, worker) =>
          worker === changed || !isReady ? Effect.void : askOrTell(link, "refresh", null)
        ),
      allSeries: Effect.map(each(readSeries), () =>
        mergeSeries([former, seriesValues(context), ...[...members.values()].map(({ series }) => series)])
      ),
      reload: (copy) => each(({ link }) => askOrTell(link, "reload", copy))
    }
  })

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
  readonly state: WorkersState
  readonly roster: Roster
  readonly begin: MakeBegin
  /** The words of the first worker that was ready. */
  readonly first: () => Started | undefined
  readonly onReady: (worker: number, words: Started) => Effect.Effect<void>
}

// The heartbeat of a worker: one that is silent is reported, then killed and replaced.

/** A worker that is silent for 3 s no longer counts as ready. */
const noticedBeats = 6
/** How often the counts of a worker are taken over, which are lost when it is killed. */
const seriesMillis = 5_000

/**
 * Completes when nothing has arrived of a worker for `limits.workerSilentMillis`, and takes its counts over. Silence is counted in beats of this
 * process and not by a clock, so that a machine or a group of processes that was suspended is one beat. A worker that
 * starts may be busy for longer, and is on no connection.
 */
export const watchWorker = (
  worker: number,
  member: Member,
  { readSeries, setSilent }: Pick<Roster, "readSeries" | "setSilent">
): Effect.Effect<void> =>
  Effect.raceFirst(
    watchSilence(worker, member, setSilent),
    Effect.forever(Effect.andThen(Effect.sleep(seriesMillis), readSeries(member)))
  )

const watchSilence = Effect.fnUntraced(function* (
  worker: number,
  member: Member,
  setSilent: Roster["setSilent"]
): Effect.fn.Return<void> {
  const { workerSilentMillis } = yield* Limits
  const beats = Math.ceil(workerSilentMillis / beatMillis)
  const noticedAt = Math.min(beats, noticedBeats)
  for (let silent = 0; silent < beats;) {
    const isHeard = yield* member.link.beat
    silent = isHeard || !member.isReady ? 0 : silent + 1
    if (silent === 0 && member.isSilent) {
      setSilent(member, false)
      yield* Effect.logInfo(`worker ${worker} answers again`)
    }
    if (silent === noticedAt) {
      setSilent(member, true)
      yield* Effect.logWarning(
        `worker ${worker} has not answered for ${silent * beatMillis} ms; it is killed after ${beats * beatMillis} ms`
      )
    }
  }
  yield* Effect.logError(`worker ${worker} has not answered for ${beats * beatMillis} ms; it is killed`)
})

/** One process from its start to its end by itself; an interruption drains it. */
const runWorker = ({ begin, first, onReady, roster, state }: CrewParts, worker: number): Effect.Effect<Ended> =>
  Effect.scoped(
    Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* () {
        const { ended, killed, port, stop } = yield* startWorker
        const link = yield* makeLink<PrimaryCalls, WorkerCalls>(port, {
          ...state.of(worker),
          allSeries: () => roster.allSeries,
          changed: () => roster.refreshOthers(worker),
          started: (words) => onReady(worker, words)
        })
        const member = roster.add(worker, link)
        yield* Effect.addFinalizer(() => Effect.andThen(state.forget(worker), roster.remove(worker)))
        // Runs before the link ends: a worker that drains still uses the shared state.
        const silence = watchWorker(worker, member, roster)
        yield* Effect.addFinalizer(() => Effect.andThen(roster.readSeries(member), stop(silence)))
        port.send(begin(worker, first()), () => undefined)
        return yield* restore(Effect.raceFirst(ended, Effect.andThen(silence, killed)))
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
    state: yield* makeWorkersState,
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
