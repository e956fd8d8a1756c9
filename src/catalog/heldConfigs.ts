// Merges declared gateway configs with those of the store; declared ones take precedence.
// It must not know how a config is used.
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { joinFaults } from "../domain/faults.ts"
import { type GatewayConfig, WrittenConfig } from "../domain/config/GatewayConfig.ts"
import type { ConfigLimits } from "../domain/config/readConfig.ts"
import { readConfigs } from "../domain/config/readConfigs.ts"
import type { ConfigState, RecordFault } from "../store/ConfigSnapshot.ts"
import { newestById, recordReader } from "../store/readRecord.ts"
import { heldAccounts } from "./heldAccounts.ts"

/** A stored config: a title for operators, and the config in Portkey's format. */
export const ConfigEntry = Schema.Struct({ name: Schema.optionalKey(Schema.String), config: WrittenConfig })

const read = recordReader(ConfigEntry)

/** A declared config wins over a stored one of the same id. */
export const heldConfigs = (
  held: ConfigState,
  limits: ConfigLimits
): {
  readonly configs: Readonly<Record<string, GatewayConfig>>
  readonly faults: ReadonlyArray<RecordFault>
} => {
  const { accounts } = heldAccounts(held)
  const stored: Record<string, GatewayConfig> = {}
  const faults: Array<RecordFault> = []
  for (const record of newestById(held.records.config)) {
    const { id } = record
    const entry = read(record)
    if (Result.isFailure(entry)) {
      faults.push({ id: `config ${id}`, message: entry.failure })
      continue
    }
    const { configs, faults: found } = readConfigs({ [id]: entry.success.config }, accounts, limits)
    if (found.length > 0) faults.push({ id: `config ${id}`, message: joinFaults(found) })
    else Object.assign(stored, configs)
  }
  return { configs: { ...stored, ...held.declared.configs }, faults }
}
