// `migrate` and the rotation of the store's encryption keys.
// Must not know which records a store keeps.
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import type { StoreSetting } from "../../domain/settings/Settings.ts"
import { describeStore } from "../../domain/settings/storeLocation.ts"
import { migrate } from "../../store/Migrations.ts"
import { rotateSecret } from "../../store/Rotation.ts"
import { checkReachable, sqlClientLayer } from "../../store/Sql.ts"
import * as Store from "../../store/Store.ts"
import { commandFailure, type Failure, storeFailure, usageFailure } from "../Failure.ts"
import { type LoadOptions, loadSettings } from "../settings/LoadSettings.ts"

const storeOf = (options: LoadOptions): Effect.Effect<StoreSetting, Failure> =>
  Effect.flatMap(loadSettings(options), ({ settings }) =>
    settings.store === undefined ? usageFailure("the configuration names no store") : Effect.succeed(settings.store)
  )

/** Migrates the database to this version's tables. A gateway does the same when it starts. */
export const migrateStore = Effect.fn("Cli.migrateStore")(function* (
  options: LoadOptions
): Effect.fn.Return<void, Failure> {
  const { location } = yield* storeOf(options)
  const done = yield* Effect.mapError(
    Effect.provide(Effect.andThen(checkReachable(describeStore(location)), migrate), sqlClientLayer(location)),
    storeFailure
  )
  const names = done.map(([id, name]) => `${id} ${name}`).join(", ")
  yield* Console.log(`ok  ${describeStore(location)}  ${done.length === 0 ? "nothing to do" : names}`)
})

/** Encrypts the store's secrets with new keys while gateways use it. */
export const rotateStoreSecret = Effect.fn("Cli.rotateStoreSecret")(function* (
  options: LoadOptions
): Effect.fn.Return<void, Failure> {
  const setting = yield* storeOf(options)
  const masters = Store.masterKeysOf(setting)
  const rotated = yield* Effect.mapError(
    Effect.provide(rotateSecret(masters), Store.layer(setting.location, masters)),
    storeFailure
  )
  yield* Console.log(
    `ok  ${describeStore(setting.location)}  secrets encrypted again: ${rotated.records}, keys retired: ${rotated.keysRetired}`
  )
  if (rotated.broken.length > 0) {
    return yield* commandFailure(
      `these do not decrypt and stay as they are: ${rotated.broken.join(", ")}; store their secrets again, or remove them`
    )
  }
})
