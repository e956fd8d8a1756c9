// The store as one layer: database, tables, keys and records.
// It must not know what the records are for.
import * as Layer from "effect/Layer"
import type * as SqlClient from "effect/sql/SqlClient"
import type { StoreSetting } from "../domain/settings/Settings.ts"
import type { StoreLocation } from "../domain/settings/storeLocation.ts"
import { type MasterKeys, masterKeysFile, masterKeysGiven } from "./MasterKeys.ts"
import { database, databaseMemory } from "./Migrations.ts"
import { Records } from "./Records.ts"
import type { reached, StoreUnusable } from "./Sql.ts"
import { Vault } from "./Vault.ts"

/** The master keys of this setting: those given, else those of the key file. */
export const masterKeysOf = ({ keyFile, secretKeys }: StoreSetting): MasterKeys =>
  secretKeys === undefined ? masterKeysFile(keyFile) : masterKeysGiven(secretKeys, "GATEWAY_SECRET_KEY")

/** Everything the store offers, migrated and ready. */
export const layer = (
  location: StoreLocation,
  masters: MasterKeys,
  reach?: typeof reached
): Layer.Layer<SqlClient.SqlClient | Vault | Records, StoreUnusable> =>
  Records.layer.pipe(Layer.provideMerge(Vault.layer(masters)), Layer.provideMerge(database(location, reach)))

/** A store of this process alone, gone when it ends. */
export const layerMemory: Layer.Layer<SqlClient.SqlClient | Vault | Records> = Records.layer.pipe(
  Layer.provideMerge(Vault.layerMemory),
  Layer.provideMerge(databaseMemory)
)

/** The store of these settings; without a setting that of the process. */
export const layerOf = (
  setting: StoreSetting | undefined,
  reach?: typeof reached
): Layer.Layer<SqlClient.SqlClient | Vault | Records, StoreUnusable> =>
  setting === undefined ? layerMemory : layer(setting.location, masterKeysOf(setting), reach)
