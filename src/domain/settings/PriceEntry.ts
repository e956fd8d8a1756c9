// The prices of a model as the configuration file has them: one, or several of which each holds from a day.
// It must not know list prices, or what a request costs.
import * as Schema from "effect/Schema"
import { calendarDay, dollars } from "../config/configured.ts"
import { type Fault, faultAt, quoteValue } from "../faults.ts"
import { type DatedPrice, type StatedPrices, tiers } from "../Usage.ts"

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
export type PriceEntries = Readonly<Record<string, typeof PriceEntry.Type>>

const priceOf = (one: WrittenPrice): DatedPrice => ({
  ...(one.from === undefined ? {} : { from: one.from }),
  ...(one.input === undefined ? {} : { input: one.input }),
  ...(one.output === undefined ? {} : { output: one.output }),
  ...(one.cached_input === undefined ? {} : { cached: one.cached_input }),
  ...(one.cache_write === undefined ? {} : { cacheWritten: one.cache_write }),
  ...(one.audio_input === undefined ? {} : { audioInput: one.audio_input }),
  ...(one.audio_output === undefined ? {} : { audioOutput: one.audio_output }),
  ...(one.image_output === undefined ? {} : { imageOutput: one.image_output }),
  ...(one.image === undefined ? {} : { image: one.image }),
  ...(one.cache_write_1h === undefined ? {} : { cacheWrittenHour: one.cache_write_1h }),
  ...(one.cached_audio_input === undefined ? {} : { cachedAudio: one.cached_audio_input }),
  ...(one.search === undefined ? {} : { search: { usd: one.search, per: "search" } }),
  ...(one.tiers === undefined ? {} : { tiers: one.tiers }),
  ...(one.regional === undefined ? {} : { regional: one.regional }),
  ...(one.discount === undefined ? {} : { factor: 1 - one.discount })
})

const isList = (entry: PriceEntries[string]): entry is ReadonlyArray<WrittenPrice> => Array.isArray(entry)
const listOf = (entry: PriceEntries[string]): ReadonlyArray<WrittenPrice> => (isList(entry) ? entry : [entry])

export const readPrices = (entries: PriceEntries): StatedPrices =>
  Object.fromEntries(
    Object.entries(entries).map(([name, entry]) => [name, isList(entry) ? entry.map(priceOf) : priceOf(entry)])
  )

/** Of two prices of a model on one day it is not clear which holds. */
export const priceFaults = (entries: PriceEntries): ReadonlyArray<Fault> =>
  Object.entries(entries).flatMap(([name, entry]) => {
    const days = listOf(entry).map(({ from }) => from)
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
