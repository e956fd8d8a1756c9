// Watches the files of the configuration and reloads it, on SIGHUP as well. A fault keeps the configuration in use.
// Must not know what a configuration is used for.
import { stat } from "node:fs/promises"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { type Loaded, type LoadOptions, readConfiguration, type Reading } from "./settings/LoadSettings.ts"
import { isatty } from "node:tty"
import * as Equal from "effect/Equal"
import * as Queue from "effect/Queue"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import { Limits } from "../domain/Limits.ts"
import type { Settings } from "../domain/settings/Settings.ts"
import type { Declarations } from "../store/ConfigSnapshot.ts"
import { metrics } from "../telemetry/metrics.ts"
import { SeriesRegistry } from "../telemetry/Series.ts"
import { signalsOf } from "./process/platform.ts"

/** Identity and time stamps of a file. Links are followed: a mounted file changes when its link points elsewhere. */
const readFileState = (path: string): Promise<string> =>
  stat(path, { bigint: true }).then(
    ({ ctimeNs, dev, ino, mtimeNs, size }) => [dev, ino, size, mtimeNs, ctimeNs].join(),
    () => "absent"
  )

type FileStates = ReadonlyMap<string, string>

const readFileStates = (paths: Iterable<string>): Effect.Effect<FileStates> =>
  Effect.promise(
    async () => new Map(await Promise.all([...paths].map(async (path) => [path, await readFileState(path)] as const)))
  )

export interface ConfigWatch {
  /** Reads the configuration and remembers the state of its files. */
  readonly read: Effect.Effect<Reading>
  /** True when the files differ from the last read and are unchanged since the last look: writing them is complete. */
  readonly hasCompleteChange: Effect.Effect<boolean>
}

const makeConfigWatch = (load: LoadOptions): ConfigWatch => {
  let files: ReadonlyArray<string> = []
  let [atRead, atLook]: [FileStates, FileStates] = [new Map(), new Map()]

  /** Repeats until every file was looked at before it was read, so that no change is missed in between. */
  const read: Effect.Effect<Reading> = Effect.gen(function* () {
    const before = yield* readFileStates(files)
    const reading = yield* readConfiguration(load)
    if (reading.files.some((file) => !before.has(file))) {
      files = [...new Set([...files, ...reading.files])]
      return yield* read
    }
    // After a fault, files that were not reached this time stay watched.
    if (Result.isSuccess(reading.outcome)) files = reading.files
    atRead = atLook = before
    return reading
  })

  const hasCompleteChange = Effect.gen(function* () {
    const now = yield* readFileStates(files)
    const isSame = (states: FileStates): boolean => files.every((file) => now.get(file) === states.get(file))
    const isComplete = isSame(atLook) && !isSame(atRead)
    atLook = now
    return isComplete
  })

  return { read, hasCompleteChange }
}

export interface ReloadOptions {
  readonly load: LoadOptions
  /** The configuration that the service was started with. */
  readonly started: Loaded
  /** Takes over a configuration without faults. */
  readonly apply: (reading: Reading, settings: Settings) => Effect.Effect<void>
}

/** Parts of a configuration that a reload replaces. All other changes need a restart. */
const reloadedParts: ReadonlySet<string> = new Set<keyof Declarations>([
  "accounts",
  "aliases",
  "attribution",
  "configs",
  "defaults",
  "keys",
  "messages",
  "models",
  "prices",
  "prompts"
])

/** Names of the parts in which two configurations differ. */
const namesOfChanges = (one: Settings, other: Settings): ReadonlyArray<string> => {
  const [before, after] = [new Map(Object.entries(one)), new Map(Object.entries(other))]
  return [...new Set([...before.keys(), ...after.keys()])]
    .filter((name) => !Equal.equals(before.get(name), after.get(name)))
    .sort()
}

/** SIGHUP signals; several before the next take count as one. A closing terminal sends SIGHUP too and ends the process. */
const hangups: Effect.Effect<Queue.Dequeue<void>, never, Scope.Scope> = Effect.gen(function* () {
  const signals = yield* Queue.sliding<void>(1)
  const isOfTerminal = isatty(0)
  const onHangup = () => {
    if (isOfTerminal && !isatty(0)) process.kill(process.pid, "SIGTERM")
    else Queue.offerUnsafe(signals, undefined)
  }
  for (const signal of signalsOf(process.platform).reloading)
    yield* Effect.acquireRelease(
      Effect.sync(() => process.on(signal, onHangup)),
      () => Effect.sync(() => process.off(signal, onHangup))
    )
  return signals
})

/** A fault without its line, which moves with the text above it. */
const withoutPlace = (fault: string): string => fault.replace(/^.*?:\d+:\d+ {2}/, "")

/** The counters, logs and state of reloads: applies a reading whole, or keeps the configuration in use. */
const makeReloader = Effect.fnUntraced(function* ({
  apply,
  started: { credentialFaults, settings: started }
}: ReloadOptions) {
  const registry = SeriesRegistry.of(yield* Effect.context<never>())
  const succeeded = registry.counter(metrics.configReloads, { result: "success" })
  const refused = registry.counter(metrics.configReloads, { result: "failure" })
  // Servers that listen for plain HTTP stay so.
  const isReloaded = (name: string, { serverTls }: Settings): boolean =>
    name === "serverTls" ? serverTls !== undefined && started.serverTls !== undefined : reloadedParts.has(name)
  let inUse = started
  let accepted = credentialFaults

  const takeOver = Effect.fnUntraced(function* (reading: Reading, { credentialFaults, file, settings }: Loaded) {
    const changed = namesOfChanges(inUse, settings).filter((name) => isReloaded(name, settings))
    const waiting = namesOfChanges(started, settings).filter((name) => !isReloaded(name, settings))
    yield* apply(reading, settings)
    inUse = settings
    accepted = credentialFaults
    succeeded.add(1)
    yield* Effect.logInfo(
      [
        `The configuration was reloaded from ${file ?? "the environment"}: ${changed.length === 0 ? "nothing to take over" : `${changed.join(", ")} changed`}.`,
        ...(waiting.length === 0 ? [] : [`Needs a restart: ${waiting.join(", ")}.`])
      ].join(" ")
    )
  })

  const refuse = Effect.fnUntraced(function* (faults: string) {
    refused.add(1)
    for (const line of faults.split("\n")) yield* Effect.logWarning(line)
    yield* Effect.logWarning("The configuration has faults; the one in use stays.")
  })

  /** True for an empty file that would change something. Its writing failed or is incomplete. */
  const isCutShort = ({ isBlank, settings }: Loaded): boolean => isBlank && namesOfChanges(inUse, settings).length > 0

  /** Credentials that could be used before, or were not there. A reload takes none away. */
  const newFaults = ({ credentialFaults }: Loaded): ReadonlyArray<string> =>
    credentialFaults.filter((fault) => !accepted.some((known) => withoutPlace(known) === withoutPlace(fault)))

  const judge = (loaded: Loaded): string | undefined => {
    if (isCutShort(loaded)) return `${loaded.file}  is empty; write {} for a configuration of defaults`
    const faults = newFaults(loaded)
    return faults.length === 0 ? undefined : faults.join("\n")
  }

  const reload = (reading: Reading): Effect.Effect<void> =>
    Result.match(reading.outcome, {
      onSuccess: (loaded) => {
        const fault = judge(loaded)
        return fault === undefined ? takeOver(reading, loaded) : refuse(fault)
      },
      onFailure: refuse
    })

  /** Applies what changed between the start's reading and the first one here. Faults are left to the next reload. */
  const catchUp = (reading: Reading): Effect.Effect<void> => {
    const { outcome } = reading
    return Result.isSuccess(outcome) &&
      judge(outcome.success) === undefined &&
      namesOfChanges(started, outcome.success.settings).length > 0
      ? takeOver(reading, outcome.success)
      : Effect.void
  }

  return { catchUp, reload }
})

/**
 * Reloads the configuration until the scope closes: on SIGHUP immediately, and after a change of its files.
 * Files are polled every `refreshMillis`, as editors replace files and mounted files are links.
 */
export const followConfiguration = Effect.fnUntraced(function* (options: ReloadOptions) {
  const { refreshMillis } = yield* Limits
  const reloader = yield* makeReloader(options)
  const hangup = yield* hangups
  const watch = makeConfigWatch(options.load)
  const readAndReload = Effect.flatMap(watch.read, reloader.reload)
  const look = Effect.flatMap(watch.hasCompleteChange, (isDue) => (isDue ? readAndReload : Effect.void))

  yield* reloader.catchUp(yield* watch.read)
  const asked = Effect.as(Queue.take(hangup), readAndReload)
  const due = Effect.as(Effect.sleep(refreshMillis), look)
  yield* Effect.forkScoped(Effect.repeat(Effect.flatten(Effect.raceFirst(asked, due)), Schedule.forever))
})
