// The accounts there are: the declared ones, and behind them those of the store.
// It must not know requests or who may use an account.
import * as Result from "effect/Result"
import { inOneLine } from "../domain/faults.ts"
import type { ProviderAccount } from "../domain/ProviderAccount.ts"
import { ownFault, readAccount } from "../domain/settings/readAccount.ts"
import { ProviderEntry } from "../domain/settings/Settings.ts"
import type { Held, RecordFault } from "../store/Holdings.ts"
import { newestOf, recordReader } from "../store/readRecord.ts"

const read = recordReader(ProviderEntry)

/** A declared account wins over a stored one of its slug, but a built-in one that nobody declared gives way to it. */
export const heldAccounts = ({
  declared,
  records
}: Held): {
  readonly accounts: ReadonlyArray<ProviderAccount>
  readonly faults: ReadonlyArray<RecordFault>
} => {
  const stored: Array<ProviderAccount> = []
  const faults: Array<RecordFault> = []
  for (const record of newestOf(records.provider)) {
    const found = Result.map(read(record), (entry) => readAccount(entry, ownFault))
    if (Result.isFailure(found)) {
      faults.push({ id: `provider ${record.id}`, message: found.failure })
    } else if (found.success.faults.length > 0) {
      faults.push({ id: `provider ${record.id}`, message: inOneLine(found.success.faults) })
    } else {
      stored.push(found.success.account)
    }
  }
  const [open, sure] = [declared.accounts.filter(isOpen), declared.accounts.filter((one) => !isOpen(one))]
  const bySlug = new Map<string, ProviderAccount>()
  for (const account of [...sure, ...stored, ...open]) {
    if (!bySlug.has(account.slug)) bySlug.set(account.slug, account)
  }
  return { accounts: [...bySlug.values()], faults }
}

/** The two slugs that are always there, as long as nothing is said of them: they only wait for a credential in the request. */
export const isOpen = ({
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
