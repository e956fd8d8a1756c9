// Token usage of a request in one convention for every operation, and the prices of a model.
// It must not know any dialect's field names, where prices come from, or what a request costs.

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

/** The price of a model. A part without a rate of its own costs the rate of its whole. */
export interface Price {
  readonly input?: Rate
  readonly output?: Rate
  readonly cached?: Rate
  readonly cacheWritten?: Rate
  /** Writes that are kept for an hour; 1.6 times the rate of five minutes unless set. */
  readonly cacheWrittenHour?: Rate
  readonly audioInput?: Rate
  /** Sound that is read from a cache; as much cheaper than sound as cached text is than text unless set. */
  readonly cachedAudio?: Rate
  readonly audioOutput?: Rate
  readonly imageOutput?: Rate
  /** US dollars per picture. */
  readonly image?: number
  /** US dollars per search; `answer`: per answer with at least one. */
  readonly search?: { readonly usd: number; readonly per: "search" | "answer" }
  /** Factors on every token price, by tier; none changes the price unless set. */
  readonly tiers?: { readonly [Name in Tier]?: number }
  /** The factor on every token price for calls outside the location `global`. */
  readonly regional?: number
  /** The factor on everything: 0.85 for a discount of 15 %. */
  readonly factor?: number
}

/** The parts of a price that are counted in tokens. */
export type RateName = Exclude<keyof Price, "image" | "search" | "tiers" | "regional" | "factor">

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

/** Converts millionths of a dollar to dollars. */
export const dollarsOf = (micros: number): number => micros / 1e6
