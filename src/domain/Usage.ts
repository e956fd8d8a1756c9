// Token usage in one convention for every operation, the prices of a model, and what a request costs.
// It must not know any dialect's field names, or where counts and list prices come from.
import * as Schema from "effect/Schema"
import { calendarDay, dollars } from "./config/configured.ts"
import { type Fault, faultAt, quoteValue } from "./faults.ts"

/**
 * Counts are inclusive: `input` includes tokens read from and written to a cache, `output` includes thoughts. The other
 * token counts are parts of these two.
 */
export interface Usage {
  readonly input: number
  readonly output: number
  readonly cached: number
  readonly cacheWritten: number
  readonly reasoning: number
  readonly audioInput: number
  readonly audioOutput: number
  readonly imageOutput: number
  /** Generated pictures, for models that are priced by the picture. */
  readonly images: number
  /** What of `cached` is sound, which is a part of `audioInput` too. Absent: not reported. */
  readonly cachedAudio?: number
  /** What of `cacheWritten` is kept for an hour instead of five minutes. */
  readonly cacheWrittenHour?: number
  /** Searches of the provider's own. */
  readonly searches?: number
  /** The tier that served the request, where it is not the standard one. */
  readonly tier?: Tier
}

/** `provisioned`: throughput that is paid by the month. */
export const tiers = ["flex", "priority", "batch", "provisioned"] as const
export type Tier = (typeof tiers)[number]

/** US dollars per million tokens. Models with long contexts have a higher rate for requests above a size. */
export type Rate =
  | number
  | { readonly base: number; readonly tiers: ReadonlyArray<{ readonly start: number; readonly price: number }> }

/** The price of a UTC day; undefined before the first one begins. */
export const priceOn = (stated: StatedPrices[string], day: string): Price | undefined => {
  let latest: DatedPrice | undefined
  for (const price of [stated].flat()) {
    const { from = "" } = price
    if (from <= day && (latest === undefined || from >= (latest.from ?? ""))) latest = price
  }
  return latest
}

/** Converts millionths of a dollar to dollars. */
export const dollarsOf = (micros: number): number => micros / 1e6

/** The other way; whole numbers add up without rounding errors. */
export const microsOf = (usd: number): number => Math.round(usd * 1e6)

// The prices of a model as the configuration file has them: one, or several of which each holds from a day.

const rate = dollars(1_000_000)
const factor = Schema.Number.check(Schema.isBetween({ minimum: 0, maximum: 100 }))
const WrittenPrice = Schema.Struct({
  from: Schema.optionalKey(
    calendarDay.annotate({
      description:
        "First UTC day of the price, as 2026-12-01; without it the price holds until the next one. Before the first one, list prices hold."
    })
  ),
  input: Schema.optionalKey(rate.annotate({ description: "US dollars per million tokens, here and below." })),
  output: Schema.optionalKey(rate),
  cached_input: Schema.optionalKey(rate),
  cache_write: Schema.optionalKey(rate),
  cache_write_1h: Schema.optionalKey(rate.annotate({ description: "1.6 times cache_write unless set." })),
  audio_input: Schema.optionalKey(rate),
  cached_audio_input: Schema.optionalKey(
    rate.annotate({ description: "audio_input times cached_input by input unless set." })
  ),
  audio_output: Schema.optionalKey(rate),
  image_output: Schema.optionalKey(rate),
  image: Schema.optionalKey(rate.annotate({ description: "US dollars per picture." })),
  search: Schema.optionalKey(rate.annotate({ description: "US dollars per search of the provider's own." })),
  tiers: Schema.optionalKey(
    Schema.Record(Schema.Literals(tiers), Schema.optionalKey(factor)).annotate({
      description: "Factors on the prices of tokens, by the tier that served: flex, priority, batch, provisioned."
    })
  ),
  regional: Schema.optionalKey(
    factor.annotate({ description: "Factor on the prices of tokens outside the location global." })
  ),
  discount: Schema.optionalKey(
    Schema.Number.check(Schema.isBetween({ minimum: 0, maximum: 1 })).annotate({
      description: "Share of everything that is not charged, as 0.15."
    })
  )
})
type WrittenPrice = typeof WrittenPrice.Type

/** A price, or a list of prices with their days. */
export const PriceEntry = Schema.Union([WrittenPrice, Schema.Array(WrittenPrice)])

/** The parts of a price that are counted in tokens. */
export type RateName = Exclude<keyof WrittenPrice, "from" | "image" | "search" | "tiers" | "regional" | "discount">

/** What lists of prices state beyond the record of an operator: rates by the size of a request, a fee per answer. */
interface ListedPrice extends Omit<WrittenPrice, "from" | "search" | RateName> {
  /** US dollars per search, or per answer with at least one. */
  readonly search?: number | { readonly answer: number }
}

/** The price of a model. A part without a rate of its own costs the rate of its whole. */
export type Price = ListedPrice & { readonly [Name in RateName]?: Rate }

/** A price that holds from the beginning of a UTC day, as 2026-12-01; without it, from the beginning of time. */
export type DatedPrice = Price & Pick<WrittenPrice, "from">

/** The operator's prices by model id or `slug/id`; of several dated ones the latest that has begun holds. */
export type StatedPrices = Readonly<Record<string, DatedPrice | ReadonlyArray<DatedPrice>>>

/** Of two prices of a model on one day it is not clear which holds. */
export const priceFaults = (entries: StatedPrices): ReadonlyArray<Fault> =>
  Object.entries(entries).flatMap(([name, entry]) => {
    const days = [entry].flat().map(({ from }) => from)
    return days.flatMap((day, index) =>
      days.indexOf(day) === index
        ? []
        : day === undefined
          ? [
              faultAt(
                ["prices", name, index],
                "has no from, as an earlier price of this model; state the day it begins"
              )
            ]
          : [
              faultAt(
                ["prices", name, index, "from"],
                `${quoteValue(day)} begins another price of this model; keep one`
              )
            ]
    )
  })

// What a request costs: the one place where counts meet prices, line by line.

type Part = RateName | "image" | "search"

/** One part of a cost: tokens at US dollars per million, or pictures and searches at US dollars each. */
export interface CostLine {
  readonly part: Part
  readonly count: number
  readonly rate: number
  /** What the rate is multiplied by, for the tier and the location; absent for 1. */
  readonly factor?: number
  readonly dollars: number
}

export interface Invoice {
  /** The parts that the usage has. */
  readonly lines: ReadonlyArray<CostLine>
  /** Searches without a known fee are missing. */
  readonly isPartial: boolean
  /** Billionths of a US dollar. */
  readonly nanos: number
}

/** The total input selects the step, and its rate applies to every token of the request. */
const rateOf = (rate: Rate | undefined, input: number): number => {
  if (rate === undefined || typeof rate === "number") return rate ?? 0
  let { base } = rate
  for (const { start, price } of rate.tiers) if (input > start) base = price
  return base
}

/** Anthropic's prices: a write for an hour costs 2 times the input, one for five minutes 1.25 times. */
const hourOfMinutes = 1.6

/** Tokens of a part, and US dollars per million of them. */
type Tokens = readonly [part: Part, count: number, rate: number]

const atMost = (count: number | undefined, most: number): number => Math.max(0, Math.min(count ?? 0, most))

/** How many tokens cost the rate of each part. Parts without a rate of their own are in `input` and `output`. */
const tokensByPart = (usage: Usage, price: Price): ReadonlyArray<Tokens> => {
  const { input, output } = usage
  const rate = (name: RateName) => rateOf(price[name], input)
  const cached = price.cached_input === undefined ? 0 : atMost(usage.cached, input)
  const hasAudio = price.audio_input !== undefined
  const cachedAudio = hasAudio || price.cached_audio_input !== undefined ? atMost(usage.cachedAudio, cached) : 0
  const written = price.cache_write === undefined ? 0 : atMost(usage.cacheWritten, input - cached)
  const hour = atMost(usage.cacheWrittenHour, written)
  const audio = hasAudio ? atMost(usage.audioInput - cachedAudio, input - cached - written) : 0
  const audioOutput = price.audio_output === undefined ? 0 : atMost(usage.audioOutput, output)
  const imageOutput = price.image_output === undefined ? 0 : atMost(usage.imageOutput, output - audioOutput)
  const cachedShare = rate("input") === 0 ? 1 : rate("cached_input") / rate("input")
  return [
    ["input", input - cached - written - audio, rate("input")],
    ["cached_input", cached - cachedAudio, rate("cached_input")],
    [
      "cached_audio_input",
      cachedAudio,
      price.cached_audio_input === undefined ? rate("audio_input") * cachedShare : rate("cached_audio_input")
    ],
    ["cache_write", written - hour, rate("cache_write")],
    [
      "cache_write_1h",
      hour,
      price.cache_write_1h === undefined ? rate("cache_write") * hourOfMinutes : rate("cache_write_1h")
    ],
    ["audio_input", audio, rate("audio_input")],
    ["output", output - audioOutput - imageOutput, rate("output")],
    ["audio_output", audioOutput, rate("audio_output")],
    ["image_output", imageOutput, rate("image_output")]
  ]
}

/** Lifts a product of decimal fractions over the noise of binary ones, so that a half rounds up. */
const noise = 1 + 1e-12

/** Nano-dollars of one token at a dollar per million, and of one picture at a dollar. */
const perToken = 1e3
const perPiece = 1e9

/**
 * The invoice of a request. `place` is the location that was called; undefined where its product has none.
 * Throughput that is paid by the month costs nothing by the call.
 */
export const invoice = (usage: Usage, price: Price, place?: string): Invoice => {
  const { discount = 0, image, regional = 1, search } = price
  const factor = 1 - discount
  const tier = usage.tier === undefined ? 1 : (price.tiers?.[usage.tier] ?? (usage.tier === "provisioned" ? 0 : 1))
  const tokenFactor = factor * tier * (place === undefined || place === "global" ? 1 : regional)
  const lines: Array<CostLine> = []
  let nanos = 0
  const add = (part: Part, count: number, rate: number, scale: number, of: number): void => {
    if (count === 0) return
    const amount = Math.round(count * rate * scale * of * noise)
    nanos += amount
    lines.push({ part, count, rate, ...(of === 1 ? {} : { factor: of }), dollars: amount / 1e9 })
  }
  for (const [part, count, rate] of tokensByPart(usage, price)) add(part, count, rate, perToken, tokenFactor)
  if (image !== undefined) add("image", usage.images, image, perPiece, factor)
  const { searches = 0 } = usage
  if (typeof search === "number") add("search", searches, search, perPiece, factor)
  else if (search !== undefined) add("search", Math.min(1, searches), search.answer, perPiece, factor)
  return { lines, isPartial: search === undefined && searches > 0, nanos }
}

/** The cost in millionths of a dollar. */
export const microDollars = (usage: Usage, price: Price, place?: string): number =>
  Math.round(invoice(usage, price, place).nanos / 1e3)
