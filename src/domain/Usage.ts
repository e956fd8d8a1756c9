// What a request used, in one convention for every operation, and what that costs.
// It must not know any dialect's names of counts, nor where prices come from.

/**
 * Inclusive counts: `input` holds what was read from a cache or written to one, `output` holds thoughts.
 * What is counted apart is a share of these two.
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
  /** Pictures of an answer, for models that are paid by the picture. */
  readonly images: number
}

/** US dollars per million tokens; models with long contexts ask another rate for a request beyond a size. */
export type Rate =
  | number
  | { readonly base: number; readonly tiers: ReadonlyArray<{ readonly start: number; readonly price: number }> }

/** What a model costs. A share without a rate of its own costs what the whole does. */
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

/** The tier of a request is decided by all of its input, and holds for every token of it. */
const rateOf = (rate: Rate | undefined, input: number): number => {
  if (rate === undefined || typeof rate === "number") return rate ?? 0
  let { base } = rate
  for (const { start, price } of rate.tiers) if (input > start) base = price
  return base
}

/** Millionths of a dollar as dollars. */
export const dollarsOf = (micros: number): number => micros / 1e6

/** The cost in millionths of a dollar, which is what tokens times dollars per million of them are. */
export const microDollars = (usage: Usage, price: Price): number => {
  const { input, output } = usage
  const cached = price.cached === undefined ? 0 : Math.min(usage.cached, input)
  const written = price.cacheWritten === undefined ? 0 : Math.min(usage.cacheWritten, input - cached)
  const heard = price.audioInput === undefined ? 0 : Math.min(usage.audioInput, input - cached - written)
  const spoken = price.audioOutput === undefined ? 0 : Math.min(usage.audioOutput, output)
  const drawn = price.imageOutput === undefined ? 0 : Math.min(usage.imageOutput, output - spoken)
  return Math.round(
    (input - cached - written - heard) * rateOf(price.input, input) +
      cached * rateOf(price.cached, input) +
      written * rateOf(price.cacheWritten, input) +
      heard * rateOf(price.audioInput, input) +
      (output - spoken - drawn) * rateOf(price.output, input) +
      spoken * rateOf(price.audioOutput, input) +
      drawn * rateOf(price.imageOutput, input) +
      usage.images * (price.image ?? 0) * 1e6
  )
}
