// The model catalog: which account a slug names.
// It must not know requests, keys or how credentials are used.
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"
import type { ProviderAccount } from "../domain/ProviderAccount.ts"

export class Catalog extends Context.Service<Catalog, {
  /** The account under a slug, or undefined when the catalog has none. */
  readonly resolve: (slug: string) => ProviderAccount | undefined
  /** All accounts in the order they were declared, the two built-in slugs last. */
  readonly list: () => ReadonlyArray<ProviderAccount>
}>()("gateway/catalog/Catalog") {
  /** A catalog of declared accounts; of two with one slug the first wins. */
  static readonly layerMemory = (accounts: ReadonlyArray<ProviderAccount>): Layer.Layer<Catalog> => {
    const bySlug = new Map<string, ProviderAccount>()
    for (const account of accounts) {
      if (!bySlug.has(account.slug)) bySlug.set(account.slug, account)
    }
    const list = [...bySlug.values()]
    return Layer.succeed(Catalog, { resolve: (slug) => bySlug.get(slug), list: () => list })
  }
}
