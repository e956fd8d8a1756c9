// Whether a change of a provider would send the credential of a config to another host than it was given for.
// It must not know how a config is used, or what its credential is.
import * as Result from "effect/Result"
import { heldAccounts } from "../catalog/heldAccounts.ts"
import { ConfigEntry } from "../catalog/heldConfigs.ts"
import { RecordRefused } from "../domain/GatewayError.ts"
import { secretSlugs } from "../domain/config/maskedConfig.ts"
import type { ProviderAccount } from "../domain/ProviderAccount.ts"
import type { Held } from "../store/Holdings.ts"
import { newestOf, recordReader } from "../store/readRecord.ts"
import type { Kind } from "./Managed.ts"

const read = recordReader(ConfigEntry)

/** Configs that hold a credential for the account of a slug, also those that cannot be used at the moment. */
const holders = ({ declared, records }: Held, slug: string): ReadonlyArray<string> => {
  const written = [
    ...Object.entries(declared.configs ?? {}).map(([id, { shown }]) => ({ id, config: shown })),
    // Masks tell as much as secrets, which may be unreadable.
    ...newestOf(records.config).flatMap((record) => {
      const entry = read({ ...record, secret: undefined })
      return Result.isSuccess(entry) ? [{ id: record.id, config: entry.success.config }] : []
    })
  ]
  return [...new Set(written.flatMap(({ config, id }) => (secretSlugs(config).includes(slug) ? [id] : [])))]
}

/** All that decides where a credential goes. */
const destinationOf = ({ baseUrl, endpoints, kind, tokenUrl }: ProviderAccount): string =>
  JSON.stringify([
    kind,
    baseUrl ?? "",
    tokenUrl ?? "",
    ...Object.values(endpoints)
      .flatMap(({ host }) => host ?? [])
      .toSorted()
  ])

const destination = (held: Held, slug: string): string | undefined => {
  const account = heldAccounts(held).accounts.find((one) => one.slug === slug)
  return account === undefined ? undefined : destinationOf(account)
}

/** A slug that comes back is another account, wherever the one before it sent its calls. */
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
