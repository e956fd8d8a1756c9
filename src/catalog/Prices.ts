// Model prices and metric labels: the operator's prices, the supplement, the public price list, then the facts.
// It must not know requests or usage.
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { dayMillis } from "../domain/text/days.ts"
import { modelIdOf } from "../domain/ModelRef.ts"
import type { FoundModel, ModelTable } from "../domain/models/modelTable.ts"
import { builtInKinds, type ProviderAccount } from "../domain/ProviderAccount.ts"
import type { Price } from "../domain/Usage.ts"
import { Catalog } from "./Catalog.ts"
import { knownModels, listedModels } from "./models.ts"
import { priceSupplement } from "./priceSupplement.ts"
import { recordPrice } from "./recordPrice.ts"

/** The label and price of a model. */
export interface CountedModel {
  /** From a closed set, so clients cannot create metric labels (TH32). */
  readonly label: string
  /** Undefined for a model without a known price. */
  readonly price: Price | undefined
}

/** The price of a model on a day, and the id of its entry in the list. That id may be a prefix of model ids. */
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
    /**
     * The label and price of a model of an account; undefined until the price list is loaded. List prices may change at
     * midnight UTC.
     */
    readonly counted: (slug: string, modelId: string, nowMillis: number) => CountedModel | undefined
    /** Loads the price list once. The list is large, so it is not loaded before the first model is counted. */
    readonly load: Effect.Effect<void>
  }
>()("gateway/catalog/Prices") {
  /** The keys of `own` are model ids, or `slug/id` for one account. */
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
        const known = new Map<string, Map<string, CountedModel & { readonly untilMillis: number }>>()
        let list: PriceList | undefined
        let accounts = catalog.list()
        let { models } = catalog
        let labels = closedLabels(accounts, own, models)
        /** The operator's price of a model also applies to its versions, and takes precedence over every list. */
        const ownPrice = (slug: string, ids: ReadonlyArray<string>): Price | undefined => {
          for (const id of ids) {
            const price = stated.get(`${slug}/${id}`) ?? stated.get(id)
            if (price !== undefined) return price
          }
          return undefined
        }
        const listedPrice = (ids: ReadonlyArray<string>, nowMillis: number): Price | undefined => {
          for (const id of ids) {
            const price = supplement.get(id) ?? trusted(id, list?.(id, nowMillis), models)
            if (price !== undefined) return price
          }
          return undefined
        }
        return {
          counted: (slug, modelId, nowMillis) => {
            const present = catalog.list()
            if (present !== accounts || catalog.models !== models) {
              accounts = present
              models = catalog.models
              labels = closedLabels(accounts, own, models)
              known.clear()
            }
            const ofSlug = known.get(slug)
            const met = ofSlug?.get(modelId)
            if (met !== undefined && nowMillis < met.untilMillis) return met
            const ids = [modelId, ...unversioned(modelId)]
            const price =
              ownPrice(slug, ids) ?? factPrice(models.find(modelId), nowMillis, "user") ?? supplement.get(modelId)
            if (price === undefined && list === undefined) return undefined
            const label = labels.has(modelId) ? modelId : other
            const counted = {
              label,
              price: price ?? listedPrice(ids, nowMillis) ?? factPrice(models.find(modelId), nowMillis, "file"),
              untilMillis: nowMillis - (nowMillis % dayMillis) + dayMillis
            }
            // The number of slugs is bounded by the catalog. The models come from clients, so their number is bounded
            // here.
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

/** A price among the operator's own facts counts as one of the operator's prices. */
const factPrice = ({ record, source }: FoundModel, nowMillis: number, from: FoundModel["source"]): Price | undefined =>
  source === from ? recordPrice(record, new Date(nowMillis).toISOString().slice(0, 10)) : undefined

/** The id without its version: first without `@20250514` or `@default`, then without `-001`. */
const unversioned = (modelId: string): ReadonlyArray<string> => {
  const dateless = modelId.replace(/@[^@]*$/, "")
  const bare = dateless.replace(/-\d{3}$/, "")
  return [dateless, bare].filter((id, at, all) => id !== (all[at - 1] ?? modelId))
}

/**
 * Models for speech and pictures have their own prices. The list matches by prefix and would return the price of a text
 * model.
 */
const isSpecial = (id: string, models: ModelTable): boolean => {
  const { operation, output } = models.find(id).record
  return (
    operation === "live" ||
    operation === "transcribe" ||
    output?.some((kind) => kind !== "text" && kind !== "vector") === true
  )
}

const trusted = (modelId: string, listed: ReturnType<PriceList>, models: ModelTable): Price | undefined =>
  listed !== undefined && (!isSpecial(modelId, models) || isSpecial(listed.id, models)) ? listed.price : undefined

/** The closed set of labels: models that are known, listed, allowed by name, deployed, or priced by the operator. */
const closedLabels = (
  accounts: ReadonlyArray<ProviderAccount>,
  own: Readonly<Record<string, Price>>,
  models: ModelTable
): ReadonlySet<string> => {
  const named = [
    ...builtInKinds.flatMap((kind) => listedModels(kind, models)),
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
