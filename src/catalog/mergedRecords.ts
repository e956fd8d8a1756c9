// The declared accounts and configs with those of the store; declared ones take precedence.
// It must not know requests, keys, or how an account or config is used.
import * as Result from "effect/Result"
import { joinFaults } from "../domain/faults.ts"
import { type ProviderAccount, ProviderEntry } from "../domain/ProviderAccount.ts"
import { entryFault, readAccount } from "../domain/settings/readAccount.ts"
import type { ConfigState, RecordFault } from "../store/ConfigSnapshot.ts"
import { newestById, newestIn, recordReader, type StoredRecord } from "../store/StoredRecord.ts"
import * as HashMap from "effect/HashMap"
import * as Schema from "effect/Schema"
import { type GatewayConfig, WrittenConfig } from "../domain/config/GatewayConfig.ts"
import type { ConfigLimits } from "../domain/config/readConfig.ts"
import { readConfigs } from "../domain/config/readConfigs.ts"

const readProviderEntry = recordReader(ProviderEntry)

/**
 * A declared account wins over a stored one of the same slug. A built-in slug without a declaration gives way to a
 * stored one.
 */
export const mergedAccounts = ({
  declared,
  records
}: ConfigState): {
  readonly accounts: ReadonlyArray<ProviderAccount>
  readonly faults: ReadonlyArray<RecordFault>
} => {
  const stored: Array<ProviderAccount> = []
  const faults: Array<RecordFault> = []
  for (const record of newestById(records.provider)) {
    const compiled = Result.map(readProviderEntry(record), (entry) => readAccount(entry, entryFault))
    if (Result.isFailure(compiled)) {
      faults.push({ id: `provider ${record.id}`, message: compiled.failure })
    } else if (compiled.success.faults.length > 0) {
      faults.push({ id: `provider ${record.id}`, message: joinFaults(compiled.success.faults) })
    } else {
      stored.push(compiled.success.account)
    }
  }
  const [open, sure] = [
    declared.accounts.filter(isUnconfigured),
    declared.accounts.filter((one) => !isUnconfigured(one))
  ]
  const bySlug = new Map<string, ProviderAccount>()
  for (const account of [...sure, ...stored, ...open]) {
    if (!bySlug.has(account.slug)) bySlug.set(account.slug, account)
  }
  return { accounts: [...bySlug.values()], faults }
}

/** True for the two built-in slugs while nothing is configured for them. Requests bring the credential. */
export const isUnconfigured = ({
  api_version: apiVersion,
  credentials,
  endpoints,
  gcs,
  kind,
  models,
  project_id: projectId,
  projects,
  region,
  regions,
  slug
}: ProviderAccount): boolean =>
  slug === kind &&
  Object.keys(endpoints).length === 0 &&
  [apiVersion, credentials, gcs, models, projectId, projects, region, regions].every((one) => one === undefined)

// The declared gateway configs with those of the store, which change one by one; declared ones take precedence.

/** A stored config: a title for operators, and the config in Portkey's format. */
export const ConfigEntry = Schema.Struct({ name: Schema.optionalKey(Schema.String), config: WrittenConfig })

const readConfigEntry = recordReader(ConfigEntry)

/** The config of a record, or in one line why it cannot be used. */
export const readStoredConfig = (
  record: StoredRecord,
  accounts: ReadonlyArray<ProviderAccount>,
  limits: ConfigLimits
): Result.Result<GatewayConfig | undefined, string> =>
  Result.flatMap(readConfigEntry(record), ({ config }) => {
    const { configs, faults } = readConfigs({ [record.id]: config }, accounts, limits)
    return faults.length > 0 ? Result.fail(joinFaults(faults)) : Result.succeed(configs[record.id])
  })

/** A declared config wins over a stored one of the same id. */
export class MergedConfigs {
  private readonly declared: ReadonlyMap<string, GatewayConfig>
  private readonly accounts: ReadonlyArray<ProviderAccount>
  private readonly limits: ConfigLimits
  private readonly stored = new Map<string, GatewayConfig>()
  private readonly broken = new Map<string, string>()

  constructor(state: ConfigState, limits: ConfigLimits) {
    this.declared = new Map(Object.entries(state.declared.configs ?? {}))
    this.accounts = mergedAccounts(state).accounts
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
    const config = readStoredConfig(record, this.accounts, this.limits)
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
export const mergedConfigs = (state: ConfigState, limits: ConfigLimits): Readonly<Record<string, GatewayConfig>> => {
  const merged = new MergedConfigs(state, limits)
  const configs: Record<string, GatewayConfig> = {}
  for (const id of merged.ids) {
    const config = merged.find(id)
    if (config !== undefined) configs[id] = config
  }
  return configs
}
