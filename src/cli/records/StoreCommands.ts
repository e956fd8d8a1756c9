// `migrate`, `backup`, `restore`, and the rotation of the store's encryption keys.
// Must not know which records a store keeps.
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { StoreSetting } from "../../domain/settings/Settings.ts"
import { describeStore } from "../../domain/settings/storeLocation.ts"
import { masterIds } from "../../store/Encryption.ts"
import { prepareDatabase } from "../../store/database/Migrations.ts"
import { rotateSecret } from "../../store/Rotation.ts"
import { sqlClientLayer } from "../../store/database/Sql.ts"
import { backupSqlite, checkBackup, restoreSqlite } from "../../store/database/SqliteBackup.ts"
import * as Store from "../../store/Store.ts"
import { commandFailure, type Failure, printAnswer, storeFailure, usageFailure } from "../Output.ts"
import { loadForCommand } from "../settings/LoadSettings.ts"
import type { PrintOptions } from "./RecordCommands.ts"

const storeOf = ({ config }: PrintOptions): Effect.Effect<StoreSetting, Failure> =>
  Effect.flatMap(loadForCommand({ config, flags: {} }), ({ settings }) =>
    settings.store === undefined ? usageFailure("the configuration names no store") : Effect.succeed(settings.store)
  )

/** Migrates the database to this version's tables. A gateway does the same when it starts. */
export const migrateStore = Effect.fn("Cli.migrateStore")(function* (
  options: PrintOptions
): Effect.fn.Return<void, Failure> {
  const { location } = yield* storeOf(options)
  const done = yield* Effect.mapError(
    Effect.provide(prepareDatabase(describeStore(location)), sqlClientLayer(location)),
    storeFailure
  )
  const store = describeStore(location)
  const names = done.map(([id, name]) => `${id} ${name}`).join(", ")
  yield* printAnswer(options, { store, migrations: done.map(([id, name]) => ({ id, name })) }, [
    `ok  ${store}  ${done.length === 0 ? "nothing to do" : names}`
  ])
})

/** Encrypts the store's secrets with new keys while gateways use it. */
export const rotateStoreSecret = Effect.fn("Cli.rotateStoreSecret")(function* (
  options: PrintOptions
): Effect.fn.Return<void, Failure> {
  const setting = yield* storeOf(options)
  const masters = Store.masterKeysOf(setting)
  const rotated = yield* Effect.mapError(
    Effect.provide(rotateSecret(masters), Store.layer(setting.location, masters)),
    storeFailure
  )
  const store = describeStore(setting.location)
  const { broken, keysRetired, records } = rotated
  yield* printAnswer(options, { store, records, keys_retired: keysRetired, broken }, [
    `ok  ${store}  secrets encrypted again: ${records}, keys retired: ${keysRetired}`
  ])
  if (broken.length > 0) {
    return yield* commandFailure(
      `these do not decrypt and stay as they are: ${broken.join(", ")}; store their secrets again, or remove them`
    )
  }
})

/** The path of the SQLite file of these settings. `instead` is the advice for PostgreSQL. */
const fileOf = (setting: StoreSetting, instead: string): Effect.Effect<string, Failure> => {
  const { location } = setting
  if (location.kind === "postgres") return usageFailure(`the store is ${describeStore(location)}: ${instead}`)
  return location.path === ":memory:"
    ? usageFailure("the store is in memory, and ends with its process")
    : Effect.succeed(location.path)
}

const megabytes = (bytes: number): string => `${(bytes / 1_000_000).toFixed(1)} MB`

/** Writes a consistent copy of the store while gateways use it. The master key is not part of it. */
export const backupStore = Effect.fn("Cli.backupStore")(function* (
  options: PrintOptions,
  file: string
): Effect.fn.Return<void, Failure> {
  const setting = yield* storeOf(options)
  const path = yield* fileOf(setting, "use pg_dump --format=custom, and keep GATEWAY_SECRET_KEY apart from it")
  const bytes = yield* Effect.mapError(backupSqlite(path, file), storeFailure)
  const store = describeStore(setting.location)
  const { where } = Store.masterKeysOf(setting)
  yield* printAnswer(options, { store, file, bytes, master_key: where }, [
    `ok  ${store}  copied to ${file}, ${megabytes(bytes)}`,
    `    its secrets open with ${where} only: keep a copy of it elsewhere`
  ])
})

/** Puts a copy in the place of the store, which is kept under another name. No gateway may be running. */
export const restoreStore = Effect.fn("Cli.restoreStore")(function* (
  options: PrintOptions,
  file: string
): Effect.fn.Return<void, Failure> {
  const setting = yield* storeOf(options)
  const path = yield* fileOf(setting, "use pg_restore --clean, with the GATEWAY_SECRET_KEY of that time")
  const masters = Store.masterKeysOf(setting)
  const needed = yield* Effect.mapError(checkBackup(file), storeFailure)
  const known = yield* masterIds(masters)
  const lacking = needed.filter((id) => !known.includes(id))
  if (lacking.length > 0)
    return yield* commandFailure(
      `the secrets of ${file} need the master key ${lacking.join(", ")}, which is not in ${masters.where}: put that key back, then restore again`
    )
  const former = yield* Effect.mapError(restoreSqlite(file, path, yield* Clock.currentTimeMillis), storeFailure)
  const store = describeStore(setting.location)
  yield* printAnswer(options, { store, file, replaced: former ?? null }, [
    `ok  ${store}  restored from ${file}`,
    ...(former === undefined ? [] : [`    the store that was there is ${former}`])
  ])
})
