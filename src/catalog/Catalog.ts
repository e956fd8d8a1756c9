// The model catalog: which account a slug names.
// It must not know requests, keys or how credentials are used.
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { ProviderAccount } from "../domain/ProviderAccount.ts"
import { Holdings } from "../store/Holdings.ts"
import { heldAccounts } from "./heldAccounts.ts"

export class Catalog extends Context.Service<Catalog, {
  /** The account under a slug, or undefined when the catalog has none. */
  readonly resolve: (slug: string) => ProviderAccount | undefined
  /** All accounts in the order they were declared, the two built-in slugs last. */
  readonly list: () => ReadonlyArray<ProviderAccount>
}>()("gateway/catalog/Catalog") {
  /** The declared accounts and those of the store, as they are at the moment of asking. */
  static readonly layer: Layer.Layer<Catalog, never, Holdings> = Layer.effect(
    Catalog,
    Effect.gen(function*() {
      const view = yield* (yield* Holdings).view((held) => {
        const { accounts, faults } = heldAccounts(held)
        return { view: catalogOf(accounts), faults }
      })
      return { resolve: (slug) => view().resolve(slug), list: () => view().list() }
    })
  )

  /** A catalog of these accounts alone; of two with one slug the first wins. */
  static readonly layerMemory = (accounts: ReadonlyArray<ProviderAccount>): Layer.Layer<Catalog> => Layer.succeed(Catalog, catalogOf(accounts))
}

const catalogOf = (accounts: ReadonlyArray<ProviderAccount>): Catalog["Service"] => {
  const bySlug = new Map(accounts.toReversed().map((account) => [account.slug, account]))
  const list = accounts.filter((account) => bySlug.get(account.slug) === account)
  return { resolve: (slug) => bySlug.get(slug), list: () => list }
}
