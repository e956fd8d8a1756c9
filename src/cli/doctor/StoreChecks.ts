// The checks of `doctor` on the store, and the store for commands that only read.
// Must not know which records a store keeps.
import { constants, existsSync } from "node:fs"
import { access, stat } from "node:fs/promises"
import { dirname } from "node:path"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { Settings, StoreSetting } from "../../domain/settings/Settings.ts"
import { describeStore } from "../../domain/settings/storeLocation.ts"
import { Limits } from "../../domain/Limits.ts"
import { lastMigration, readMigration } from "../../store/database/Migrations.ts"
import { checkReachable, reasonOf, sqlClientLayer } from "../../store/database/Sql.ts"
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

const answering = ({ location }: StoreSetting): Finding => okFinding("store", `${describeStore(location)} answers`)

/** True where the store answers and has the tables of this version, so that it can be opened without a change of it. */
export const isStoreReady = ({ store }: Settings, found: ReadonlyArray<Finding>): boolean =>
  store !== undefined && found.some(({ check, detail }) => check === "store" && detail === answering(store).detail)

/** How long a check waits for a database that is slow: less than a row may take. */
const patienceMillis = 10_000

const openStore = (setting: StoreSetting, { limits }: Settings): Effect.Effect<Finding> =>
  Effect.flatMap(Records, ({ revision }) => revision).pipe(
    Effect.provide(Store.layerOf(setting)),
    Effect.provideService(Limits, limits),
    Effect.match({
      onSuccess: () => answering(setting),
      onFailure: (error) =>
        failFinding(
          "store",
          error._tag === "StoreUnusable" ? error.message : `${describeStore(setting.location)} does not answer`,
          "check store.url and GATEWAY_SECRET_KEY"
        )
    })
  )

/** Looks at the tables before the store is opened, since opening it makes them. */
const tryOpen = (setting: StoreSetting, settings: Settings): Effect.Effect<Finding> => {
  const where = describeStore(setting.location)
  const { limits } = settings
  const looked = Effect.gen(function* () {
    const [elapsed] = yield* Effect.timed(checkReachable(where))
    return { millis: Math.ceil(Duration.toMillis(elapsed)), migration: yield* readMigration }
  }).pipe(
    Effect.provide(sqlClientLayer(setting.location)),
    Effect.provideService(Limits, { ...limits, storeAnswerMillis: Math.max(limits.storeAnswerMillis, patienceMillis) })
  )
  return Effect.matchEffect(looked, {
    onFailure: (error) =>
      Effect.succeed(
        failFinding(
          "store",
          error._tag === "StoreUnusable" ? error.message : `the store ${where}: ${reasonOf(error)}`,
          "check store.url and GATEWAY_SECRET_KEY"
        )
      ),
    onSuccess: ({ migration, millis }) => {
      if (millis > limits.storeAnswerMillis)
        return Effect.succeed(
          failFinding(
            "store",
            `${where} is slow: it answered after ${millis} ms, and a gateway waits ${limits.storeAnswerMillis} ms`,
            "look at the load of the database and the way to it, or raise limits.storeAnswerMillis"
          )
        )
      if (migration === undefined)
        return Effect.succeed(okFinding("store", `${where} answers; its tables will be made`))
      return migration < lastMigration
        ? Effect.succeed(
            warnFinding(
              "store",
              `${where} has the tables of an older version, so that its accounts are not looked at`,
              "model-gateway migrate, or start the gateway"
            )
          )
        : openStore(setting, settings)
    }
  })
}

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
