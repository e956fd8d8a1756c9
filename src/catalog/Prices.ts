// What models cost, and under which name they are counted: the operator's own prices, the supplement, the price list.
// It must not know requests or usage.
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { dayMillis } from "../domain/days.ts"
import { parseFamily } from "../domain/ModelRef.ts"
import type { ProviderAccount } from "../domain/ProviderAccount.ts"
import type { Price } from "../domain/Usage.ts"
import { Catalog } from "./Catalog.ts"
import { listedModels } from "./models.ts"
import { priceSupplement } from "./priceSupplement.ts"

/** A model as it is counted. */
export interface Counted {
  /** One of a closed set: clients cannot make up names (TH32). */
  readonly label: string
  /** Undefined when nobody has told it. */
  readonly price: Price | undefined
}

/** The name and the price a list has for a model on a day. */
export type PriceList = (modelId: string, nowMillis: number) => { readonly id: string; readonly price: Price } | undefined

/** The label of every model that neither the catalog nor a price knows. */
const other = "other"
const mostKnown = 512

const noList: Effect.Effect<PriceList> = Effect.succeed(() => undefined)

export class Prices extends Context.Service<Prices, {
  /** How a model of an account is counted; undefined until the price list is there. List prices change at midnight. */
  readonly counted: (slug: string, modelId: string, nowMillis: number) => Counted | undefined
  /** Loads the list, once; it is large, so nobody does before the first model is counted. */
  readonly load: Effect.Effect<void>
}>()("gateway/catalog/Prices") {
  /** `own` prices stand under a model's id, or under `slug/id` for one account. */
  static readonly layerWith = (
    own: Readonly<Record<string, Price>>,
    load: Effect.Effect<PriceList> = noList
  ): Layer.Layer<Prices, never, Catalog> =>
    Layer.effect(
      Prices,
      Effect.gen(function*() {
        const labels = closedLabels((yield* Catalog).list(), own)
        const told = new Map([...Object.entries(priceSupplement), ...Object.entries(own)])
        const known = new Map<string, Map<string, Counted & { readonly untilMillis: number }>>()
        let list: PriceList | undefined
        return {
          counted: (slug, modelId, nowMillis) => {
            const ofSlug = known.get(slug)
            const met = ofSlug?.get(modelId)
            if (met !== undefined && nowMillis < met.untilMillis) return met
            const price = told.get(`${slug}/${modelId}`) ?? told.get(modelId)
            if (price === undefined && list === undefined) return undefined
            const listed = price === undefined ? list?.(modelId, nowMillis) : undefined
            const label = labels.has(modelId) ? modelId : listed?.id ?? other
            const counted = { label, price: price ?? listed?.price, untilMillis: nowMillis - nowMillis % dayMillis + dayMillis }
            // Slugs are those of the catalog; models are whatever clients write.
            if (ofSlug === undefined) known.set(slug, new Map([[modelId, counted]]))
            else {
              if (ofSlug.size >= mostKnown) ofSlug.clear()
              ofSlug.set(modelId, counted)
            }
            return counted
          },
          load: yield* Effect.cached(Effect.map(load, (loaded) => {
            list = loaded
          }))
        }
      })
    )
}

/** Models that are declared somewhere: listed, allowed by name, deployed, or priced by hand. */
const closedLabels = (accounts: ReadonlyArray<ProviderAccount>, own: Readonly<Record<string, Price>>): ReadonlySet<string> => {
  const named = [
    ...Object.values(listedModels).flat(),
    ...accounts.flatMap(({ models }) => models ?? []).filter((model) => !model.endsWith("*"))
  ]
  return new Set([
    ...named.flatMap((model) => Result.match(parseFamily(model), { onFailure: () => [], onSuccess: ({ modelId }) => [modelId] })),
    ...accounts.flatMap(({ endpoints }) => Object.keys(endpoints)),
    ...Object.keys(priceSupplement),
    ...Object.keys(own).map((name) => accounts.some(({ slug }) => name.startsWith(`${slug}/`)) ? name.slice(name.indexOf("/") + 1) : name)
  ])
}
