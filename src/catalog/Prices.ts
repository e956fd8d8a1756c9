// Model prices and metric labels: the operator's prices, the supplement, the public price list, then the facts.
// It must not know requests or usage. The public price list is large, so its package is loaded lazily.
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { dayOf } from "../domain/time.ts"
import { modelIdOf } from "../domain/ModelRef.ts"
import type { FoundModel, ModelTable } from "../domain/models/modelTable.ts"
import { builtInKinds, type ProviderAccount } from "../domain/ProviderAccount.ts"
import { type Price, priceOn, type Rate, type RateName, type StatedPrices } from "../domain/Usage.ts"
import { ConfigSnapshot } from "../store/ConfigSnapshot.ts"
import { Catalog } from "./Catalog.ts"
import { knownModels, listedModels } from "./models.ts"
import type { ModelRecord } from "../domain/models/ModelRecord.ts"
import { versionOf } from "../domain/models/modelName.ts"
import type { ModelPrice } from "@pydantic/genai-prices"

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

  /** The keys of `prices` are model ids, or `slug/id` for one account. */
  static readonly layerWith = (
    prices: StatedPrices,
    load: Effect.Effect<PriceList> = noList
  ): Layer.Layer<Prices, never, Catalog> =>
    Layer.effect(
      Prices,
      makePrices(() => prices, load)
    )
}

/** What prices are computed from; every part may change while the service runs. */
interface Sources {
  readonly accounts: ReadonlyArray<ProviderAccount>
  readonly models: ModelTable
  readonly operator: StatedPrices
}

/** A counted model on a UTC day. */
interface DayPrice extends CountedModel {
  readonly day: string
}

const makePrices = Effect.fnUntraced(function* (ownNow: () => StatedPrices, load: Effect.Effect<PriceList>) {
  const catalog = yield* Catalog
  const sourcesNow = (): Sources => ({ accounts: catalog.list(), models: catalog.models, operator: ownNow() })
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
    if (
      present.accounts === sources.accounts &&
      present.models === sources.models &&
      present.operator === sources.operator
    )
      return
    sources = present
    labels = closedLabels(sources)
    known.clear()
  }
  return Prices.of({
    counted: (slug, modelId, nowMillis) => {
      followSources()
      const day = dayOf(nowMillis)
      const cached = known.get(slug)?.get(modelId)
      if (cached?.day === day) return cached
      const operatorPrice = ownPrice(sources.operator, slug, modelId, day)
      const stated = operatorPrice ?? statedPrice(sources, modelId, day)
      if (stated === undefined && list === undefined) return undefined
      const label = labels.has(modelId) ? modelId : other
      const rates = stated ?? listedPrice(sources.models, list, modelId, nowMillis)
      const terms = priceTerms(sources.models.find(modelId).record)
      const price = rates === undefined ? undefined : withTerms(rates, terms, operatorPrice !== undefined)
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
const ownPrice = (prices: StatedPrices, slug: string, modelId: string, day: string): Price | undefined => {
  for (const id of pricedIds(modelId)) {
    for (const name of [`${slug}/${id}`, id]) {
      const price = Object.hasOwn(prices, name) ? priceOn(prices[name] ?? [], day) : undefined
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
const closedLabels = ({ accounts, models, operator }: Sources): ReadonlySet<string> => {
  const named = [
    ...builtInKinds.flatMap((kind) => listedModels(kind, models)),
    ...accounts.flatMap(({ models }) => models ?? []).filter((model) => !model.endsWith("*"))
  ]
  return new Set([
    ...knownModels.flatMap((id) => [id, ...unversioned(id).flatMap((bare) => [bare, `${bare}@default`])]),
    ...named.map(modelIdOf),
    ...accounts.flatMap(({ endpoints }) => Object.keys(endpoints)),
    ...Object.keys(priceSupplement),
    ...Object.keys(operator).map((name) =>
      modelIdOf(accounts.some(({ slug }) => name.startsWith(`${slug}/`)) ? name.slice(name.indexOf("/") + 1) : name)
    )
  ])
}

// What a model's price has next to its rates: factors of tiers and places, and the fee of a search.

type Terms = Pick<Price, "regional" | "search" | "tiers">

/** Priority is published as 1.75 to 2 times the standard price; the upper end is charged. */
const geminiTiers = { flex: 0.5, batch: 0.5, priority: 2 } as const

/** Up to Gemini 2.5 a grounded answer has one fee, later each search has its own. */
const geminiSearch = (version: number): NonNullable<Price["search"]> => (version < 3 ? { answer: 0.035 } : 0.014)

/** Claude's endpoints outside `global` cost a tenth more since 4.5. */
const regionalClaude = 1.1

const none: Terms = {}

const priceTerms = (record: ModelRecord): Terms => {
  const version = versionOf(record)
  if (record.family === "gemini")
    return { tiers: geminiTiers, ...(version === undefined ? {} : { search: geminiSearch(version) }) }
  if (record.family !== "claude") return none
  return {
    tiers: { batch: 0.5 },
    search: 0.01,
    ...(version !== undefined && version >= 4.5 ? { regional: regionalClaude } : {})
  }
}

// The price that the facts about a model state for a day.

type RecordPrice = NonNullable<ModelRecord["price"]>

/** The facts state both times for which a cache keeps what is written. */
const statedNames = [
  ["input", "input"],
  ["output", "output"],
  ["cached_input", "cached_input"],
  ["cache_write", "cache_write_5m"],
  ["cache_write_1h", "cache_write_1h"],
  ["audio_input", "audio_input"],
  ["audio_output", "audio_output"],
  ["image_output", "image_output"]
] as const satisfies ReadonlyArray<readonly [RateName, keyof RecordPrice]>

/** `day` as 2026-12-01: an introductory price holds up to its last day. Undefined for a record without prices. */
export const recordPrice = ({ price }: ModelRecord, day: string): Price | undefined => {
  if (price === undefined) return undefined
  const { after = {}, long_context: long, until } = price
  const rates = until !== undefined && day > until ? { ...price, ...after } : price
  const out: { -readonly [Name in RateName]?: Rate } = {}
  for (const [name, stated] of statedNames) {
    const base = rates[stated]
    const longer = long?.[stated]
    if (base === undefined) continue
    out[name] =
      long === undefined || longer === undefined ? base : { base, tiers: [{ start: long.above, price: longer }] }
  }
  return Object.keys(out).length === 0 ? undefined : out
}

// List prices in US dollars for models that are missing in the public price list.

/** Published as $0.000025 per 1,000 characters; the same page counts four characters as one token. */
const textEmbedding: Price = { input: 0.1 }
const perPicture = (image: number): Price => ({ image })
/** A base rate, and a second rate for requests with more than `thousands` thousand input tokens. */
const longer = (base: number, price: number, thousands = 200): Rate => ({
  base,
  tiers: [{ start: thousands * 1000, price }]
})

/** Prices by the id as the provider spells it. */
export const priceSupplement: Readonly<Record<string, Price>> = {
  "text-embedding-004": textEmbedding,
  "text-embedding-005": textEmbedding,
  "text-multilingual-embedding-002": textEmbedding,
  // Text is priced per 1,000 characters. A picture costs $0.0001; its tile of 258 tokens costs twice that by this rate.
  "multimodalembedding@001": { input: 0.8 },
  "imagen-4.0-generate-001": perPicture(0.04),
  "imagen-4.0-fast-generate-001": perPicture(0.02),
  "imagen-4.0-ultra-generate-001": perPicture(0.06),
  "imagen-3.0-generate-002": perPicture(0.04),
  "imagen-3.0-generate-001": perPicture(0.04),
  "imagen-3.0-fast-generate-001": perPicture(0.02),
  "imagegeneration@006": perPicture(0.02),
  "imagegeneration@005": perPicture(0.02),
  "imagegeneration@002": perPicture(0.02),
  "meta/llama-4-maverick-17b-128e-instruct-maas": { input: 0.35, output: 1.15 },
  "meta/llama-4-scout-17b-16e-instruct-maas": { input: 0.25, output: 0.7 },
  "meta/llama-3.3-70b-instruct-maas": { input: 0.72, output: 0.72 },
  "meta/llama-3.1-405b-instruct-maas": { input: 5, output: 16 },
  "deepseek-ai/deepseek-v3.1-maas": { input: 0.6, output: 1.7, cached_input: 0.06 },
  "deepseek-ai/deepseek-v3.2-maas": { input: 0.56, output: 1.68, cached_input: 0.056 },
  "openai/gpt-oss-120b-maas": { input: 0.09, output: 0.36 },
  "openai/gpt-oss-20b-maas": { input: 0.07, output: 0.25 },
  "qwen/qwen3-235b-a22b-instruct-2507-maas": { input: 0.22, output: 0.88 },
  "qwen/qwen3-next-80b-a3b-instruct-maas": { input: 0.15, output: 1.2 },
  "qwen/qwen3-next-80b-a3b-thinking-maas": { input: 0.15, output: 1.2 },
  "moonshotai/kimi-k2-thinking-maas": { input: 0.6, output: 2.5 },
  "zai-org/glm-4.7-maas": { input: 0.6, output: 2.2 },
  "zai-org/glm-5-maas": { input: 1, output: 3.2, cached_input: 0.1 },
  // Aliases that change their model, each at the price of the most expensive model it has named or may name.
  "gemini-flash-latest": { input: 1.5, output: 9, cached_input: 0.15, audio_input: 1.5 },
  "gemini-flash-lite-latest": { input: 0.3, output: 2.5, cached_input: 0.03, audio_input: 0.5 },
  "gemini-pro-latest": { input: longer(2, 4), output: longer(12, 18), cached_input: longer(0.2, 0.4) },
  // The facts lack the price of writing to the cache in a long context.
  "claude-haiku-5-5": {
    input: longer(0.1, 0.5, 100),
    output: longer(0.5, 2.5, 100),
    cached_input: longer(0.01, 0.05, 100),
    cache_write: longer(0.125, 0.625, 100)
  }
}

const supplement: ReadonlyMap<string, Price> = new Map(Object.entries(priceSupplement))

// The public price list from the package @pydantic/genai-prices, loaded lazily because it is large.

/** The version of the package; a test compares it with package.json. */
export const publicPricesVersion = "0.1.8"

/** Without the package only the operator's prices and the supplement apply. */
export const publicPrices: Effect.Effect<PriceList> = Effect.map(
  Effect.option(Effect.tryPromise(() => import("@pydantic/genai-prices"))),
  (imported) => {
    if (imported._tag === "None") return () => undefined
    const { calcPrice } = imported.value
    return (modelId, nowMillis) => {
      const answer = calcPrice({}, modelId, { providerId: "google", timestamp: new Date(nowMillis) })
      return answer === null ? undefined : { id: answer.model.id, price: listPrice(answer.model_price) }
    }
  }
)

const listedNames: ReadonlyArray<readonly [name: RateName, listed: string]> = [
  ["input", "input_mtok"],
  ["output", "output_mtok"],
  ["cached_input", "cache_read_mtok"],
  ["cache_write", "cache_write_mtok"],
  ["audio_input", "input_audio_mtok"],
  ["audio_output", "output_audio_mtok"],
  ["image_output", "output_image_mtok"]
]

const listPrice = (model: ModelPrice): Price => {
  const price: { -readonly [Name in RateName]?: Rate } = {}
  for (const [name, listed] of listedNames) {
    const rate = model[listed]
    if (rate !== undefined) price[name] = rate
  }
  return price
}
