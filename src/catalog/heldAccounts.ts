// Merges declared provider accounts with those of the store; declared ones take precedence.
// It must not know requests or which keys may use an account.
import * as Result from "effect/Result"
import { joinFaults } from "../domain/faults.ts"
import type { ProviderAccount } from "../domain/ProviderAccount.ts"
import { entryFault, readAccount } from "../domain/settings/readAccount.ts"
import { ProviderEntry } from "../domain/settings/ProviderEntry.ts"
import type { ConfigState, RecordFault } from "../store/ConfigSnapshot.ts"
import { newestById, recordReader } from "../store/readRecord.ts"

const read = recordReader(ProviderEntry)

/**
 * A declared account wins over a stored one of the same slug. A built-in slug without a declaration gives way to a
 * stored one.
 */
export const heldAccounts = ({
  declared,
  records
}: ConfigState): {
  readonly accounts: ReadonlyArray<ProviderAccount>
  readonly faults: ReadonlyArray<RecordFault>
} => {
  const stored: Array<ProviderAccount> = []
  const faults: Array<RecordFault> = []
  for (const record of newestById(records.provider)) {
    const found = Result.map(read(record), (entry) => readAccount(entry, entryFault))
    if (Result.isFailure(found)) {
      faults.push({ id: `provider ${record.id}`, message: found.failure })
    } else if (found.success.faults.length > 0) {
      faults.push({ id: `provider ${record.id}`, message: joinFaults(found.success.faults) })
    } else {
      stored.push(found.success.account)
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
  apiVersion,
  credentials,
  endpoints,
  gcs,
  kind,
  models,
  projectId,
  projects,
  region,
  regions,
  slug
}: ProviderAccount): boolean =>
  slug === kind &&
  Object.keys(endpoints).length === 0 &&
  [apiVersion, credentials, gcs, models, projectId, projects, region, regions].every((one) => one === undefined)
