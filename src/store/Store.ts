// The store as one layer: database, tables, keys and records.
// Must not know what the records are for.
import * as Layer from "effect/Layer"
import type * as SqlClient from "effect/sql/SqlClient"
import type { StoreSetting } from "../domain/settings/Settings.ts"
import type { StoreLocation } from "../domain/settings/storeLocation.ts"
import { Carriers } from "./Carriers.ts"
import { type MasterKeys, masterKeysFile, masterKeysGiven } from "./Encryption.ts"
import { database, databaseMemory } from "./database/Migrations.ts"
import { Records } from "./Records.ts"
import type { checkReachable, StoreUnusable } from "./database/Sql.ts"
import { Vault } from "./Vault.ts"

/** The master keys of this setting: the given ones, else those of the key file. */
export const masterKeysOf = ({ keyFile, secretKeys }: StoreSetting): MasterKeys =>
  secretKeys === undefined ? masterKeysFile(keyFile) : masterKeysGiven(secretKeys, "GATEWAY_SECRET_KEY")

export type StoreServices = SqlClient.SqlClient | Vault | Records | Carriers

/** The whole store, migrated and ready. */
export const layer = (
  location: StoreLocation,
  masters: MasterKeys,
  reach?: typeof checkReachable
): Layer.Layer<StoreServices, StoreUnusable> =>
  Layer.merge(Records.layer, Carriers.layer(masters)).pipe(
    Layer.provideMerge(Vault.layer(masters)),
    Layer.provideMerge(database(location, reach))
  )

/** A store of this process only; it ends with the process. */
export const layerMemory: Layer.Layer<StoreServices> = Layer.merge(Records.layer, Carriers.layerMemory).pipe(
  Layer.provideMerge(Vault.layerMemory),
  Layer.provideMerge(databaseMemory)
)

/** The store of these settings; without a setting, a store in memory. */
export const layerOf = (
  setting: StoreSetting | undefined,
  reach?: typeof checkReachable
): Layer.Layer<StoreServices, StoreUnusable> =>
  setting === undefined ? layerMemory : layer(setting.location, masterKeysOf(setting), reach)
