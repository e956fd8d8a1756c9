// Refuses a change of a provider that would send the credential of a config to another host.
// Must not know how a config is used, or what its credential is.
import * as Result from "effect/Result"
import { heldAccounts } from "../catalog/heldAccounts.ts"
import { ConfigEntry } from "../catalog/heldConfigs.ts"
import { RecordRefused } from "../domain/GatewayError.ts"
import { secretSlugs } from "../domain/config/maskedConfig.ts"
import type { ProviderAccount } from "../domain/ProviderAccount.ts"
import type { ConfigState } from "../store/ConfigSnapshot.ts"
import { newestById, recordReader } from "../store/readRecord.ts"
import type { Kind } from "./Managed.ts"

const read = recordReader(ConfigEntry)

/** Configs with a credential for the account of a slug, including configs that cannot be used now. */
const holders = ({ declared, records }: ConfigState, slug: string): ReadonlyArray<string> => {
  const written = [
    ...Object.entries(declared.configs ?? {}).map(([id, { shown }]) => ({ id, config: shown })),
    // Masks are enough here, and the secrets may be unreadable.
    ...newestById(records.config).flatMap((record) => {
      const entry = read({ ...record, secret: undefined })
      return Result.isSuccess(entry) ? [{ id: record.id, config: entry.success.config }] : []
    })
  ]
  return [...new Set(written.flatMap(({ config, id }) => (secretSlugs(config).includes(slug) ? [id] : [])))]
}

/** The fields that decide where a credential is sent. */
const destinationOf = ({ baseUrl, endpoints, kind, tokenUrl }: ProviderAccount): string =>
  JSON.stringify([
    kind,
    baseUrl ?? "",
    tokenUrl ?? "",
    ...Object.values(endpoints)
      .flatMap(({ host }) => host ?? [])
      .toSorted()
  ])

const destination = (state: ConfigState, slug: string): string | undefined => {
  const account = heldAccounts(state).accounts.find((one) => one.slug === slug)
  return account === undefined ? undefined : destinationOf(account)
}

/** A slug that is created again is another account, also with the same hosts. */
export const movedSecretsGuard: Kind<unknown>["guard"] = (before, after, changed) => {
  const now = destination(after, changed)
  if (now === undefined || now === destination(before, changed)) return undefined
  const named = holders(after, changed)
  return named.length === 0
    ? undefined
    : new RecordRefused({
        code: "credentials_would_move",
        message: `The change sends the credentials that these configs hold for "${changed}" elsewhere: ${named.join(", ")}. Take them out of the configs, change the provider, and send them again.`
      })
}
