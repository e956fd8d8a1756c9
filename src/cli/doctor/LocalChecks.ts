// The checks of `doctor` on this machine and the store: Node version, ports, folders; and the store for commands that only read.
// Must not know providers, or which records a store keeps.
import { createServer } from "node:net"
import { availableParallelism } from "node:os"
import * as Effect from "effect/Effect"
import type { Settings, StoreSetting } from "../../domain/settings/Settings.ts"
import { failFinding, type Finding, okFinding, warnFinding } from "../Output.ts"
import { nodeVersionFault } from "../process/platform.ts"
import { constants, existsSync } from "node:fs"
import { access, stat } from "node:fs/promises"
import { dirname } from "node:path"
import * as Duration from "effect/Duration"
import { describeStore } from "../../domain/settings/storeLocation.ts"
import { Limits } from "../../domain/Limits.ts"
import { lastMigration, readMigration } from "../../store/database/Migrations.ts"
import { checkReachable, reasonOf, sqlClientLayer } from "../../store/database/Sql.ts"
import { Records } from "../../store/Records.ts"
import * as Store from "../../store/Store.ts"

export const nodeFinding = (version: string): Finding => {
  const fault = nodeVersionFault(version)
  return fault === undefined ? okFinding("node", version) : failFinding("node", fault)
}

interface ListenAddress {
  readonly host: string
  readonly port: number
}

/** Listens and closes again. Undefined on success, otherwise the error code of the system. */
const tryListen = ({ host, port }: ListenAddress): Effect.Effect<string | undefined> =>
  Effect.callback((resume) => {
    const server = createServer()
    server.once("error", (error: NodeJS.ErrnoException) => resume(Effect.succeed(error.code ?? "unknown")))
    server.listen(port, host, () => server.close(() => resume(Effect.succeed(undefined))))
    return Effect.sync(() => server.close())
  })

/** Where an operator sets host and port; used in the fix. */
interface AddressSource {
  readonly host: string
  readonly port: string
}

const addressFinding = (check: string, place: ListenAddress, by: AddressSource): Effect.Effect<Finding> => {
  const where = `${place.host}:${place.port}`
  return Effect.map(tryListen(place), (code) => {
    switch (code) {
      case undefined:
        return okFinding(check, place.port === 0 ? "any free one" : `${where} is free`)
      case "EADDRINUSE":
        return warnFinding(
          check,
          `${where} is in use, by a running gateway perhaps`,
          `model-gateway health shows whether it is one; else choose another port ${by.port}`
        )
      case "EACCES":
        return failFinding(check, `${where} is not permitted`, `choose a port above 1023 ${by.port}`)
      case "EADDRNOTAVAIL":
        return failFinding(check, `${place.host} is no address of this machine`, by.host)
      default:
        return failFinding(check, `${where} cannot be listened on: ${code}`)
    }
  })
}

/** The processes that serve together; none unless the configuration has workers. */
export const workerFindings = ({ workers }: Settings["server"]): ReadonlyArray<Effect.Effect<Finding>> =>
  workers === undefined || workers === 1
    ? []
    : [
        Effect.sync(() =>
          process.platform === "linux"
            ? okFinding("workers", `${workers} on ${availableParallelism()} processors; limits and caches are shared`)
            : failFinding("workers", `they need Linux, this is ${process.platform}`, "leave server.workers out")
        )
      ]

/** The port of the service, and the admin port where one is set. */
export const portFindings = ({ admin, ...main }: Settings["server"]): ReadonlyArray<Effect.Effect<Finding>> => [
  addressFinding("port", main, { host: "set server.host, or --host", port: "with --port" }),
  ...(admin === undefined
    ? []
    : [addressFinding("admin port", admin, { host: "set server.admin_host", port: "under server.admin_port" })])
]

// The checks of `doctor` on the store, and the store for commands that only read.

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
    (stats) => stats.isDirectory(),
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
export const isStoreReady = ({ store }: Settings, findings: ReadonlyArray<Finding>): boolean =>
  store !== undefined && findings.some(({ check, detail }) => check === "store" && detail === answering(store).detail)

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
