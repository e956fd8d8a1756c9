// Model prices and metric labels: the operator's prices, the supplement, the public price list, then the facts.
// It must not know requests or usage.
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { dayOf } from "../domain/text/days.ts"
import { modelIdOf } from "../domain/ModelRef.ts"
import type { FoundModel, ModelTable } from "../domain/models/modelTable.ts"
import { builtInKinds, type ProviderAccount } from "../domain/ProviderAccount.ts"
import { type Price, priceOn, type StatedPrices } from "../domain/Usage.ts"
import { ConfigSnapshot } from "../store/ConfigSnapshot.ts"
import { Catalog } from "./Catalog.ts"
import { knownModels, listedModels } from "./models.ts"
import { priceSupplement } from "./priceSupplement.ts"
import { priceTerms } from "./priceTerms.ts"
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

const noPrices: StatedPrices = {}
const supplement: ReadonlyMap<string, Price> = new Map(Object.entries(priceSupplement))
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
  /** The operator's prices are those of the configuration in use. */
  static readonly layer = (load: Effect.Effect<PriceList>): Layer.Layer<Prices, never, Catalog | ConfigSnapshot> =>
    Layer.effect(
      Prices,
      Effect.flatMap(ConfigSnapshot, ({ current }) => makePrices(() => current().declared.prices ?? noPrices, load))
    )

  /** The keys of `own` are model ids, or `slug/id` for one account. */
  static readonly layerWith = (
    own: StatedPrices,
    load: Effect.Effect<PriceList> = noList
  ): Layer.Layer<Prices, never, Catalog> =>
    Layer.effect(
      Prices,
      makePrices(() => own, load)
    )
}

/** What prices are computed from; every part may change while the service runs. */
interface Sources {
  readonly accounts: ReadonlyArray<ProviderAccount>
  readonly models: ModelTable
  readonly own: StatedPrices
}

/** A counted model on a UTC day. */
interface DayPrice extends CountedModel {
  readonly day: string
}

const makePrices = Effect.fnUntraced(function* (ownNow: () => StatedPrices, load: Effect.Effect<PriceList>) {
  const catalog = yield* Catalog
  const sourcesNow = (): Sources => ({ accounts: catalog.list(), models: catalog.models, own: ownNow() })
  const known = new Map<string, Map<string, DayPrice>>()
  let list: PriceList | undefined
  let sources = sourcesNow()
  let labels = closedLabels(sources)
  /** The number of slugs is bounded by the catalog. The models come from clients, so their number is bounded here. */
  const remember = (slug: string, modelId: string, counted: DayPrice): void => {
    const ofSlug = known.get(slug)
    if (ofSlug === undefined) known.set(slug, new Map([[modelId, counted]]))
    else {
      if (ofSlug.size >= mostKnown) ofSlug.clear()
      ofSlug.set(modelId, counted)
    }
  }
  const followSources = (): void => {
    const present = sourcesNow()
    if (present.accounts === sources.accounts && present.models === sources.models && present.own === sources.own)
      return
    sources = present
    labels = closedLabels(sources)
    known.clear()
  }
  return Prices.of({
    counted: (slug, modelId, nowMillis) => {
      followSources()
      const day = dayOf(nowMillis)
      const met = known.get(slug)?.get(modelId)
      if (met?.day === day) return met
      const own = ownPrice(sources.own, slug, modelId, day)
      const stated = own ?? statedPrice(sources, modelId, day)
      if (stated === undefined && list === undefined) return undefined
      const label = labels.has(modelId) ? modelId : other
      const rates = stated ?? listedPrice(sources.models, list, modelId, nowMillis)
      const terms = priceTerms(sources.models.find(modelId).record)
      const price = rates === undefined ? undefined : withTerms(rates, terms, own !== undefined)
      const counted = { label, price, day }
      remember(slug, modelId, counted)
      return counted
    },
    load: yield* Effect.cached(
      Effect.map(load, (loaded) => {
        list = loaded
      })
    )
  })
})

/** What is not stated follows from the model, but an operator's price is what calls cost in any place. */
const withTerms = (rates: Price, terms: ReturnType<typeof priceTerms>, isOwn: boolean): Price => {
  const tiers = { ...terms.tiers, ...rates.tiers }
  return { ...terms, ...(isOwn ? { regional: 1 } : {}), ...rates, tiers }
}

/** The ids under which the price of a model may be stated, the most exact one first. */
const pricedIds = (modelId: string): ReadonlyArray<string> => [modelId, ...unversioned(modelId)]

/** The operator's price of a model also applies to its versions, and takes precedence over every list. */
const ownPrice = (own: StatedPrices, slug: string, modelId: string, day: string): Price | undefined => {
  for (const id of pricedIds(modelId)) {
    for (const name of [`${slug}/${id}`, id]) {
      const price = Object.hasOwn(own, name) ? priceOn(own[name] ?? [], day) : undefined
      if (price !== undefined) return price
    }
  }
  return undefined
}

/** A price that needs no list. */
const statedPrice = ({ models }: Sources, modelId: string, day: string): Price | undefined =>
  factPrice(models.find(modelId), day, "user") ?? supplement.get(modelId)

const listedPrice = (
  models: ModelTable,
  list: PriceList | undefined,
  modelId: string,
  nowMillis: number
): Price | undefined => {
  for (const id of pricedIds(modelId)) {
    const price = supplement.get(id) ?? trusted(id, list?.(id, nowMillis), models)
    if (price !== undefined) return price
  }
  return factPrice(models.find(modelId), dayOf(nowMillis), "file")
}

/** A price among the operator's own facts counts as one of the operator's prices. */
const factPrice = ({ record, source }: FoundModel, day: string, from: FoundModel["source"]): Price | undefined =>
  source === from ? recordPrice(record, day) : undefined

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
const closedLabels = ({ accounts, models, own }: Sources): ReadonlySet<string> => {
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
