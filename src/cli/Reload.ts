// Reads the configuration anew on SIGHUP and when one of its files has changed, and puts it in the place of the one in use.
// It must not know what a configuration is used for. Whole or not at all: with a fault in it, nothing changes.
import { stat } from "node:fs/promises"
import { isatty } from "node:tty"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Queue from "effect/Queue"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import { Limits } from "../domain/Limits.ts"
import type { Settings } from "../domain/settings/Settings.ts"
import { type Declarations, Holdings } from "../store/Holdings.ts"
import { metrics } from "../telemetry/metrics.ts"
import { SeriesRegistry } from "../telemetry/Series.ts"
import { type Loaded, type LoadOptions, type Reading, readConfiguration } from "./settings/LoadSettings.ts"

export interface ReloadOptions {
  readonly load: LoadOptions
  /** What the service was started with, as it was read. */
  readonly started: Settings
  /** From what is read to what is declared. */
  readonly declarations: (settings: Settings) => Declarations
}

/** Parts of a configuration that are replaced while the service runs. */
const replaced: ReadonlySet<string> = new Set<keyof Declarations>(["accounts", "configs", "keys", "prompts"])

/** Names of the parts in which two configurations differ. */
const differing = (one: Settings, other: Settings): ReadonlyArray<string> => {
  const [before, after] = [new Map(Object.entries(one)), new Map(Object.entries(other))]
  return [...new Set([...before.keys(), ...after.keys()])]
    .filter((name) => !Equal.equals(before.get(name), after.get(name)))
    .sort()
}

/** What tells one state of a file from another; a link is followed, so that one which is set to another folder is a change. */
const stateOf = (path: string): Promise<string> =>
  stat(path, { bigint: true }).then(
    ({ ctimeNs, dev, ino, mtimeNs, size }) => [dev, ino, size, mtimeNs, ctimeNs].join(),
    () => "absent"
  )

type States = ReadonlyMap<string, string>

const statesOf = (paths: Iterable<string>): Effect.Effect<States> =>
  Effect.promise(
    async () => new Map(await Promise.all([...paths].map(async (path) => [path, await stateOf(path)] as const)))
  )

/** Wakes whoever listens; many calls before it looks are one. While a terminal is being closed, the process ends as it always did. */
const hangups: Effect.Effect<Queue.Dequeue<void>, never, Scope.Scope> = Effect.gen(function* () {
  const calls = yield* Queue.sliding<void>(1)
  const isOfTerminal = isatty(0)
  const heard = () => {
    if (isOfTerminal && !isatty(0)) process.kill(process.pid, "SIGTERM")
    else Queue.offerUnsafe(calls, undefined)
  }
  yield* Effect.acquireRelease(
    Effect.sync(() => process.on("SIGHUP", heard)),
    () => Effect.sync(() => process.off("SIGHUP", heard))
  )
  return calls
})

/**
 * Follows the configuration until the scope closes. Files are looked at every `refreshMillis`, as editors replace them and
 * mounted ones are links that are set anew; one is read when two looks in a row have found it the same, so that nobody reads
 * what is half written. SIGHUP reads at once.
 */
export const followConfiguration = Effect.fnUntraced(function* ({ declarations, load, started }: ReloadOptions) {
  const holdings = yield* Holdings
  const { refreshMillis } = yield* Limits
  const registry = SeriesRegistry.of(yield* Effect.context<never>())
  const taken = registry.counter(metrics.configReloads, { result: "success" })
  const refused = registry.counter(metrics.configReloads, { result: "failure" })
  const hangup = yield* hangups
  let inUse = started
  let files: ReadonlyArray<string> = []
  let [read, seen]: [States, States] = [new Map(), new Map()]

  /** Reads until all that is read was looked at before, so that no change falls between. */
  const readAnew: Effect.Effect<Reading> = Effect.gen(function* () {
    const before = yield* statesOf(files)
    const reading = yield* readConfiguration(load)
    if (reading.files.some((file) => !before.has(file))) {
      files = [...new Set([...files, ...reading.files])]
      return yield* readAnew
    }
    // A file that a fault kept from being read is waited for as well.
    if (Result.isSuccess(reading.outcome)) files = reading.files
    read = seen = before
    return reading
  })

  const takeOver = Effect.fnUntraced(function* ({ file, settings }: Loaded) {
    const changed = differing(inUse, settings).filter((name) => replaced.has(name))
    const kept = differing(started, settings).filter((name) => !replaced.has(name))
    yield* holdings.declare(declarations(settings))
    inUse = settings
    taken.add(1)
    yield* Effect.logInfo(
      [
        `The configuration was read anew from ${file ?? "the environment"}: ${changed.length === 0 ? "nothing to take over" : `${changed.join(", ")} changed`}.`,
        ...(kept.length === 0 ? [] : [`Needs a restart: ${kept.join(", ")}.`])
      ].join(" ")
    )
  })

  const refuse = Effect.fnUntraced(function* (faults: string) {
    refused.add(1)
    for (const line of faults.split("\n")) yield* Effect.logWarning(line)
    yield* Effect.logWarning("The configuration has faults; the one in use stays.")
  })

  /** An empty file is one whose writing failed, or is not over: taken over it would end every key. */
  const isCutShort = ({ isBlank, settings }: Loaded): boolean => isBlank && differing(inUse, settings).length > 0

  const reload = Effect.flatMap(readAnew, ({ outcome }) =>
    Result.match(outcome, {
      onSuccess: (loaded) =>
        isCutShort(loaded)
          ? refuse(`${loaded.file}  is empty; write {} for a configuration of defaults`)
          : takeOver(loaded),
      onFailure: refuse
    })
  )

  const look = Effect.gen(function* () {
    const now = yield* statesOf(files)
    const isSame = (states: States): boolean => files.every((file) => now.get(file) === states.get(file))
    const isDue = isSame(seen) && !isSame(read)
    seen = now
    if (isDue) yield* reload
  })

  // What was changed between the start's reading and this one.
  const { outcome } = yield* readAnew
  if (
    Result.isSuccess(outcome) &&
    !isCutShort(outcome.success) &&
    differing(started, outcome.success.settings).length > 0
  )
    yield* takeOver(outcome.success)
  const asked = Effect.as(Queue.take(hangup), reload)
  const due = Effect.as(Effect.sleep(refreshMillis), look)
  yield* Effect.forkScoped(Effect.repeat(Effect.flatten(Effect.raceFirst(asked, due)), Schedule.forever))
})
