// The declared gateway configs with those of the store, which change one by one; declared ones take precedence.
// It must not know how a config is used.
import * as HashMap from "effect/HashMap"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { joinFaults } from "../domain/faults.ts"
import { type GatewayConfig, WrittenConfig } from "../domain/config/GatewayConfig.ts"
import type { ConfigLimits } from "../domain/config/readConfig.ts"
import { readConfigs } from "../domain/config/readConfigs.ts"
import type { ProviderAccount } from "../domain/ProviderAccount.ts"
import type { ConfigState, RecordFault } from "../store/ConfigSnapshot.ts"
import { newestIn, recordReader } from "../store/readRecord.ts"
import type { StoredRecord } from "../store/StoredRecord.ts"
import { heldAccounts } from "./heldAccounts.ts"

/** A stored config: a title for operators, and the config in Portkey's format. */
export const ConfigEntry = Schema.Struct({ name: Schema.optionalKey(Schema.String), config: WrittenConfig })

const read = recordReader(ConfigEntry)

/** The config of a record, or in one line why it cannot be used. */
export const readHeldConfig = (
  record: StoredRecord,
  accounts: ReadonlyArray<ProviderAccount>,
  limits: ConfigLimits
): Result.Result<GatewayConfig | undefined, string> =>
  Result.flatMap(read(record), ({ config }) => {
    const { configs, faults } = readConfigs({ [record.id]: config }, accounts, limits)
    return faults.length > 0 ? Result.fail(joinFaults(faults)) : Result.succeed(configs[record.id])
  })

/** A declared config wins over a stored one of the same id. */
export class HeldConfigs {
  private readonly declared: ReadonlyMap<string, GatewayConfig>
  private readonly accounts: ReadonlyArray<ProviderAccount>
  private readonly limits: ConfigLimits
  private readonly stored = new Map<string, GatewayConfig>()
  private readonly broken = new Map<string, string>()

  constructor(state: ConfigState, limits: ConfigLimits) {
    this.declared = new Map(Object.entries(state.declared.configs ?? {}))
    this.accounts = heldAccounts(state).accounts
    this.limits = limits
    for (const id of HashMap.keys(state.records.config)) this.put(id, newestIn(state.records.config, id))
  }

  find(id: string): GatewayConfig | undefined {
    return this.declared.get(id) ?? this.stored.get(id)
  }

  get ids(): ReadonlyArray<string> {
    return [...new Set([...this.stored.keys(), ...this.declared.keys()])].toSorted()
  }

  /** The record as it is now; undefined: there is none any more. */
  put(id: string, record: StoredRecord | undefined): void {
    this.stored.delete(id)
    this.broken.delete(id)
    if (record === undefined) return
    const config = readHeldConfig(record, this.accounts, this.limits)
    if (Result.isFailure(config)) this.broken.set(id, config.failure)
    else if (config.success !== undefined) this.stored.set(id, config.success)
  }

  get faults(): ReadonlyArray<RecordFault> {
    return Array.from(this.broken, ([id, message]) => ({ id: `config ${id}`, message })).toSorted((one, other) =>
      one.id < other.id ? -1 : 1
    )
  }
}

/** The configs of a state by id, for checks of a whole configuration. */
export const heldConfigs = (state: ConfigState, limits: ConfigLimits): Readonly<Record<string, GatewayConfig>> => {
  const held = new HeldConfigs(state, limits)
  const configs: Record<string, GatewayConfig> = {}
  for (const id of held.ids) {
    const config = held.find(id)
    if (config !== undefined) configs[id] = config
  }
  return configs
}
