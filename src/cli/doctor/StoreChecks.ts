// The checks of `doctor` on the store, and the store for commands that only read.
// Must not know which records a store keeps.
import { constants, existsSync } from "node:fs"
import { access, stat } from "node:fs/promises"
import { dirname } from "node:path"
import * as Effect from "effect/Effect"
import type { Settings, StoreSetting } from "../../domain/settings/Settings.ts"
import { describeStore } from "../../domain/settings/storeLocation.ts"
import { Limits } from "../../domain/Limits.ts"
import { Records } from "../../store/Records.ts"
import * as Store from "../../store/Store.ts"
import { failFinding, type Finding, okFinding, warnFinding } from "./Finding.ts"

const isAbsent = ({ location }: StoreSetting): boolean => location.kind === "sqlite" && !existsSync(location.path)

/** The settings without a store that does not exist yet, so that a reading command creates none. */
export const withoutAbsentStore = (settings: Settings): Settings => {
  if (settings.store === undefined || !isAbsent(settings.store)) return settings
  const { store: _, ...rest } = settings
  return rest
}

/** The folder, or its nearest parent that exists. */
const nearestFolder = async (folder: string): Promise<string> => {
  const isThere = await stat(folder).then(
    (found) => found.isDirectory(),
    () => false
  )
  return isThere || dirname(folder) === folder ? folder : nearestFolder(dirname(folder))
}

/** Checks that files can be created in the folder, or that the folder itself can be created. */
const folderFinding = (folder: string): Effect.Effect<Finding> =>
  Effect.promise(async () => {
    const there = await nearestFolder(folder)
    return access(there, constants.W_OK | constants.X_OK).then(
      () => okFinding("data", there === folder ? `${folder} is writable` : `${folder} will be made`),
      () => failFinding("data", `${there} is not writable`, "set GATEWAY_DATA_DIR to a folder that is")
    )
  })

const tryOpen = (setting: StoreSetting, { limits }: Settings): Effect.Effect<Finding> =>
  Effect.flatMap(Records, ({ revision }) => revision).pipe(
    Effect.provide(Store.layerOf(setting)),
    Effect.provideService(Limits, limits),
    Effect.match({
      onSuccess: () => okFinding("store", `${describeStore(setting.location)} answers`),
      onFailure: (error) =>
        failFinding(
          "store",
          error._tag === "StoreUnusable" ? error.message : `${describeStore(setting.location)} does not answer`,
          "check store.url and GATEWAY_SECRET_KEY"
        )
    })
  )

/** Gateways on one PostgreSQL need one key; a key file is on one machine only, and ends with its container. */
const keyFindings = ({ keyFile, location, secretKeys }: StoreSetting): ReadonlyArray<Effect.Effect<Finding>> =>
  location.kind === "postgres" && secretKeys === undefined
    ? [
        Effect.succeed(
          warnFinding(
            "secret key",
            `the secrets of ${describeStore(location)} open with ${keyFile} only`,
            "set GATEWAY_SECRET_KEY to the text of that file, for every gateway on the database"
          )
        )
      ]
    : []

export const storeFindings = (settings: Settings): ReadonlyArray<Effect.Effect<Finding>> => {
  const { store } = settings
  if (store === undefined) return []
  return [
    folderFinding(dirname(store.keyFile)),
    isAbsent(store)
      ? Effect.succeed(okFinding("store", `${describeStore(store.location)} will be made`))
      : tryOpen(store, settings),
    ...keyFindings(store)
  ]
}
