// What `doctor` finds out about the store, and which store a command uses that only looks.
// It must not know what is kept there.
import { constants, existsSync } from "node:fs"
import { access, stat } from "node:fs/promises"
import { dirname } from "node:path"
import * as Effect from "effect/Effect"
import type { Settings, StoreSetting } from "../../domain/settings/Settings.ts"
import { describeStore } from "../../domain/settings/storeLocation.ts"
import { Limits } from "../../domain/Limits.ts"
import { Records } from "../../store/Records.ts"
import * as Store from "../../store/Store.ts"
import { fail, type Finding, ok } from "./Finding.ts"

const isAbsent = ({ location }: StoreSetting): boolean => location.kind === "sqlite" && !existsSync(location.path)

/** The settings without a store that is yet to be made: whoever only looks makes none. */
export const withoutAbsentStore = (settings: Settings): Settings => {
  if (settings.store === undefined || !isAbsent(settings.store)) return settings
  const { store: _, ...rest } = settings
  return rest
}

/** The folder, or the nearest above it that is there. */
const nearest = async (folder: string): Promise<string> => {
  const isThere = await stat(folder).then(
    (found) => found.isDirectory(),
    () => false
  )
  return isThere || dirname(folder) === folder ? folder : nearest(dirname(folder))
}

/** Whether files can be made in the folder, or the folder itself where it is not there yet. */
const folderFinding = (folder: string): Effect.Effect<Finding> =>
  Effect.promise(async () => {
    const there = await nearest(folder)
    return access(there, constants.W_OK | constants.X_OK).then(
      () => ok("data", there === folder ? `${folder} is writable` : `${folder} will be made`),
      () => fail("data", `${there} is not writable`, "set GATEWAY_DATA_DIR to a folder that is")
    )
  })

const opened = (setting: StoreSetting, { limits }: Settings): Effect.Effect<Finding> =>
  Effect.flatMap(Records, ({ revision }) => revision).pipe(
    Effect.provide(Store.layerOf(setting)),
    Effect.provideService(Limits, limits),
    Effect.match({
      onSuccess: () => ok("store", `${describeStore(setting.location)} answers`),
      onFailure: (error) =>
        fail(
          "store",
          error._tag === "StoreUnusable" ? error.message : `${describeStore(setting.location)} does not answer`,
          "check store.url and GATEWAY_SECRET_KEY"
        )
    })
  )

export const storeFindings = (settings: Settings): ReadonlyArray<Effect.Effect<Finding>> => {
  const { store } = settings
  if (store === undefined) return []
  return [
    folderFinding(dirname(store.keyFile)),
    isAbsent(store)
      ? Effect.succeed(ok("store", `${describeStore(store.location)} will be made`))
      : opened(store, settings)
  ]
}
