// The model catalog: which account a slug names.
// It must not know requests, keys or how credentials are used.
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { CatalogView, ProviderAccount } from "../domain/ProviderAccount.ts"
import { Holdings } from "../store/Holdings.ts"
import { heldAccounts } from "./heldAccounts.ts"

export class Catalog extends Context.Service<
  Catalog,
  CatalogView & {
    /** The accounts of this moment: what was read of them together stays together, whatever changes meanwhile. */
    readonly now: () => CatalogView
  }
>()("gateway/catalog/Catalog") {
  /** The declared accounts and those of the store, as they are at the moment of asking. */
  static readonly layer: Layer.Layer<Catalog, never, Holdings> = Layer.effect(
    Catalog,
    Effect.gen(function* () {
      const view = yield* (yield* Holdings).view((held) => {
        const { accounts, faults } = heldAccounts(held)
        return { view: catalogOf(accounts), faults }
      })
      return { resolve: (slug) => view().resolve(slug), list: () => view().list(), now: view }
    })
  )

  /** A catalog of these accounts alone; of two with one slug the first wins. */
  static readonly layerMemory = (accounts: ReadonlyArray<ProviderAccount>): Layer.Layer<Catalog> =>
    Layer.sync(Catalog, () => {
      const view = catalogOf(accounts)
      return { ...view, now: () => view }
    })
}

const catalogOf = (accounts: ReadonlyArray<ProviderAccount>): CatalogView => {
  const bySlug = new Map(accounts.toReversed().map((account) => [account.slug, account]))
  const list = accounts.filter((account) => bySlug.get(account.slug) === account)
  return { resolve: (slug) => bySlug.get(slug), list: () => list }
}
