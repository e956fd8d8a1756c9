// Token usage of a request in one convention for every operation, and its cost in millionths of a US dollar.
// It must not know any dialect's field names, or where prices come from.

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
}

/** US dollars per million tokens. Models with long contexts have a higher rate for requests above a size. */
export type Rate =
  | number
  | { readonly base: number; readonly tiers: ReadonlyArray<{ readonly start: number; readonly price: number }> }

/** The price of a model. A part without a rate of its own costs the rate of its whole. */
export interface Price {
  readonly input?: Rate
  readonly output?: Rate
  readonly cached?: Rate
  readonly cacheWritten?: Rate
  readonly audioInput?: Rate
  readonly audioOutput?: Rate
  readonly imageOutput?: Rate
  /** US dollars per picture. */
  readonly image?: number
}

/** A price that holds from the beginning of a UTC day, as 2026-12-01; without it, from the beginning of time. */
export interface DatedPrice extends Price {
  readonly from?: string
}

/** The operator's prices by model id or `slug/id`; of several dated ones the latest that has begun holds. */
export type StatedPrices = Readonly<Record<string, DatedPrice | ReadonlyArray<DatedPrice>>>

/** The price of a UTC day; undefined before the first one begins. */
export const priceOn = (stated: StatedPrices[string], day: string): Price | undefined => {
  let latest: DatedPrice | undefined
  for (const price of [stated].flat()) {
    const { from = "" } = price
    if (from <= day && (latest === undefined || from >= (latest.from ?? ""))) latest = price
  }
  return latest
}

/** The total input selects the tier, and its rate applies to every token of the request. */
const rateOf = (rate: Rate | undefined, input: number): number => {
  if (rate === undefined || typeof rate === "number") return rate ?? 0
  let { base } = rate
  for (const { start, price } of rate.tiers) if (input > start) base = price
  return base
}

/** Converts millionths of a dollar to dollars. */
export const dollarsOf = (micros: number): number => micros / 1e6

const tokenParts = ["input", "cached", "cacheWritten", "audioInput", "output", "audioOutput", "imageOutput"] as const

/** How many tokens cost the rate of each part. Parts without a rate of their own are in `input` and `output`. */
const tokensByPart = (usage: Usage, price: Price): Readonly<Record<(typeof tokenParts)[number], number>> => {
  const { input, output } = usage
  const cached = price.cached === undefined ? 0 : Math.min(usage.cached, input)
  const cacheWritten = price.cacheWritten === undefined ? 0 : Math.min(usage.cacheWritten, input - cached)
  const audioInput = price.audioInput === undefined ? 0 : Math.min(usage.audioInput, input - cached - cacheWritten)
  const audioOutput = price.audioOutput === undefined ? 0 : Math.min(usage.audioOutput, output)
  const imageOutput = price.imageOutput === undefined ? 0 : Math.min(usage.imageOutput, output - audioOutput)
  return {
    input: input - cached - cacheWritten - audioInput,
    cached,
    cacheWritten,
    audioInput,
    output: output - audioOutput - imageOutput,
    audioOutput,
    imageOutput
  }
}

/** The cost in millionths of a dollar: tokens times US dollars per million tokens. */
export const microDollars = (usage: Usage, price: Price): number => {
  const tokens = tokensByPart(usage, price)
  let micros = 0
  for (const part of tokenParts) micros += tokens[part] * rateOf(price[part], usage.input)
  return Math.round(micros + usage.images * (price.image ?? 0) * 1e6)
}

/** One part of a cost: tokens at US dollars per million, or pictures (`image`) at US dollars each. */
export interface CostLine {
  readonly part: keyof Price
  readonly count: number
  readonly rate: number
  readonly dollars: number
}

/** The parts that a usage has, in the order of a price. Pictures without a price of their own are tokens. */
export const costLines = (usage: Usage, price: Price): ReadonlyArray<CostLine> => {
  const tokens = tokensByPart(usage, price)
  const lines: ReadonlyArray<CostLine> = tokenParts.map((part) => {
    const rate = rateOf(price[part], usage.input)
    return { part, count: tokens[part], rate, dollars: dollarsOf(tokens[part] * rate) }
  })
  const { image } = price
  const pictures: ReadonlyArray<CostLine> =
    image === undefined ? [] : [{ part: "image", count: usage.images, rate: image, dollars: usage.images * image }]
  return [...lines, ...pictures].filter(({ count }) => count > 0)
}
