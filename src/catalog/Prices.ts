// What models cost, and under which name they are counted: the operator's own prices, the supplement, the price list.
// It must not know requests or usage.
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { dayMillis } from "../domain/text/days.ts"
import { modelIdOf } from "../domain/ModelRef.ts"
import type { ProviderAccount } from "../domain/ProviderAccount.ts"
import type { Price } from "../domain/Usage.ts"
import { Catalog } from "./Catalog.ts"
import { knownModels, listedModels } from "./models.ts"
import { priceSupplement } from "./priceSupplement.ts"

/** A model as it is counted. */
export interface Counted {
  /** One of a closed set: clients cannot make up names (TH32). */
  readonly label: string
  /** Undefined for a model without a known price. */
  readonly price: Price | undefined
}

/** The price of a model on a day, and the id of its entry in the list, which need not be the id of a model. */
export type PriceList = (
  modelId: string,
  nowMillis: number
) => { readonly id: string; readonly price: Price } | undefined

/** The label of every model whose id is not in the closed set. */
const other = "other"
const mostKnown = 512

const noList: Effect.Effect<PriceList> = Effect.succeed(() => undefined)

export class Prices extends Context.Service<
  Prices,
  {
    /** How a model of an account is counted; undefined until the price list is there. List prices change at midnight. */
    readonly counted: (slug: string, modelId: string, nowMillis: number) => Counted | undefined
    /** Loads the list, once; it is large, so nobody does before the first model is counted. */
    readonly load: Effect.Effect<void>
  }
>()("gateway/catalog/Prices") {
  /** `own` prices stand under a model's id, or under `slug/id` for one account. */
  static readonly layerWith = (
    own: Readonly<Record<string, Price>>,
    load: Effect.Effect<PriceList> = noList
  ): Layer.Layer<Prices, never, Catalog> =>
    Layer.effect(
      Prices,
      Effect.gen(function* () {
        const catalog = yield* Catalog
        const stated = new Map(Object.entries(own))
        const supplement = new Map(Object.entries(priceSupplement))
        const known = new Map<string, Map<string, Counted & { readonly untilMillis: number }>>()
        let list: PriceList | undefined
        let accounts = catalog.list()
        let labels = closedLabels(accounts, own)
        /** The operator's price of a model also applies to its versions, and precedes every list. */
        const ownPrice = (slug: string, ids: ReadonlyArray<string>): Price | undefined => {
          for (const id of ids) {
            const price = stated.get(`${slug}/${id}`) ?? stated.get(id)
            if (price !== undefined) return price
          }
          return undefined
        }
        const listedPrice = (ids: ReadonlyArray<string>, nowMillis: number): Price | undefined => {
          for (const id of ids) {
            const price = supplement.get(id) ?? trusted(id, list?.(id, nowMillis))
            if (price !== undefined) return price
          }
          return undefined
        }
        return {
          counted: (slug, modelId, nowMillis) => {
            const present = catalog.list()
            if (present !== accounts) {
              accounts = present
              labels = closedLabels(accounts, own)
              known.clear()
            }
            const ofSlug = known.get(slug)
            const met = ofSlug?.get(modelId)
            if (met !== undefined && nowMillis < met.untilMillis) return met
            const ids = [modelId, ...unversioned(modelId)]
            const price = ownPrice(slug, ids) ?? supplement.get(modelId)
            if (price === undefined && list === undefined) return undefined
            const label = labels.has(modelId) ? modelId : other
            const counted = {
              label,
              price: price ?? listedPrice(ids, nowMillis),
              untilMillis: nowMillis - (nowMillis % dayMillis) + dayMillis
            }
            // Slugs are those of the catalog; models are whatever clients write.
            if (ofSlug === undefined) known.set(slug, new Map([[modelId, counted]]))
            else {
              if (ofSlug.size >= mostKnown) ofSlug.clear()
              ofSlug.set(modelId, counted)
            }
            return counted
          },
          load: yield* Effect.cached(
            Effect.map(load, (loaded) => {
              list = loaded
            })
          )
        }
      })
    )
}

/** The id without its version: first without `@20250514` or `@default`, then without `-001`. */
const unversioned = (modelId: string): ReadonlyArray<string> => {
  const dateless = modelId.replace(/@[^@]*$/, "")
  const bare = dateless.replace(/-\d{3}$/, "")
  return [dateless, bare].filter((id, at, all) => id !== (all[at - 1] ?? modelId))
}

/** Models for speech and pictures have their own prices. The list matches beginnings of names, and would give them the price of text. */
const purpose = /audio|image|live|transcribe|tts/

const trusted = (modelId: string, listed: ReturnType<PriceList>): Price | undefined =>
  listed !== undefined && (!purpose.test(modelId) || purpose.test(listed.id)) ? listed.price : undefined

/** Models that are declared somewhere: known, listed, allowed by name, deployed, or priced by hand. */
const closedLabels = (
  accounts: ReadonlyArray<ProviderAccount>,
  own: Readonly<Record<string, Price>>
): ReadonlySet<string> => {
  const named = [
    ...Object.values(listedModels).flat(),
    ...accounts.flatMap(({ models }) => models ?? []).filter((model) => !model.endsWith("*"))
  ]
  return new Set([
    ...knownModels.flatMap((id) => [id, ...unversioned(id).flatMap((bare) => [bare, `${bare}@default`])]),
    ...named.map(modelIdOf),
    ...accounts.flatMap(({ endpoints }) => Object.keys(endpoints)),
    ...Object.keys(priceSupplement),
    ...Object.keys(own).map((name) =>
      modelIdOf(accounts.some(({ slug }) => name.startsWith(`${slug}/`)) ? name.slice(name.indexOf("/") + 1) : name)
    )
  ])
}
