// The model catalog: resolves a slug to its provider account.
// It must not know requests, keys or how credentials are used.
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { builtInModels, type ModelOverlays, type ModelTable, modelTable } from "../domain/models/modelTable.ts"
import type { CatalogView, ProviderAccount } from "../domain/ProviderAccount.ts"
import { noServing, type ServingRules } from "../domain/serve/Serving.ts"
import { ConfigSnapshot, type Declarations } from "../store/ConfigSnapshot.ts"
import { heldAccounts } from "./heldAccounts.ts"

export class Catalog extends Context.Service<
  Catalog,
  CatalogView & {
    /** An immutable view of the current accounts. Several lookups in one view are consistent with each other. */
    readonly now: () => CatalogView
  }
>()("gateway/catalog/Catalog") {
  /** The declared accounts and those of the store; each lookup uses the current snapshot. */
  static readonly layer: Layer.Layer<Catalog, never, ConfigSnapshot> = Layer.effect(
    Catalog,
    Effect.gen(function* () {
      const view = yield* (yield* ConfigSnapshot).view(["provider"], (held) => {
        const { accounts, faults } = heldAccounts(held)
        return { view: catalogOf(accounts, tableOf(held.declared.models), servingOf(held.declared)), faults }
      })
      return {
        resolve: (slug) => view().resolve(slug),
        list: () => view().list(),
        get models() {
          return view().models
        },
        get serving() {
          return view().serving
        },
        now: view
      }
    })
  )

  /** A catalog of the given accounts; of two with the same slug the first wins. */
  static readonly layerMemory = (accounts: ReadonlyArray<ProviderAccount>): Layer.Layer<Catalog> =>
    Layer.sync(Catalog, () => {
      const view = catalogOf(accounts, builtInModels)
      return { ...view, now: () => view }
    })
}

const tableOf = (overlays: ModelOverlays | undefined): ModelTable =>
  overlays === undefined ? builtInModels : modelTable(overlays)

const servingOf = ({ aliases = {}, defaults = {}, messages }: Declarations): ServingRules => ({
  aliases,
  defaults,
  ...(messages === undefined ? {} : { otherModels: { messages: messages.otherModels } })
})

const catalogOf = (
  accounts: ReadonlyArray<ProviderAccount>,
  models: ModelTable,
  serving: ServingRules = noServing
): CatalogView => {
  const bySlug = new Map(accounts.toReversed().map((account) => [account.slug, account]))
  const list = accounts.filter((account) => bySlug.get(account.slug) === account)
  return { resolve: (slug) => bySlug.get(slug), list: () => list, models, serving }
}
