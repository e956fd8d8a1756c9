// Watches the files of the configuration: reads them, and finds changes whose writing is complete.
// Must not know settings or what a reload does.
import { stat } from "node:fs/promises"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { type LoadOptions, type Reading, readConfiguration } from "./settings/LoadSettings.ts"

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

export const makeConfigWatch = (load: LoadOptions): ConfigWatch => {
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
