// What a request costs: the one place where counts meet prices, line by line.
// It must not know where counts or prices come from.
import type { Price, Rate, RateName, Usage } from "../Usage.ts"

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
  const cached = price.cached === undefined ? 0 : atMost(usage.cached, input)
  const hasAudio = price.audioInput !== undefined
  const cachedAudio = hasAudio || price.cachedAudio !== undefined ? atMost(usage.cachedAudio, cached) : 0
  const written = price.cacheWritten === undefined ? 0 : atMost(usage.cacheWritten, input - cached)
  const hour = atMost(usage.cacheWrittenHour, written)
  const audio = hasAudio ? atMost(usage.audioInput - cachedAudio, input - cached - written) : 0
  const audioOutput = price.audioOutput === undefined ? 0 : atMost(usage.audioOutput, output)
  const imageOutput = price.imageOutput === undefined ? 0 : atMost(usage.imageOutput, output - audioOutput)
  const cachedShare = rate("input") === 0 ? 1 : rate("cached") / rate("input")
  return [
    ["input", input - cached - written - audio, rate("input")],
    ["cached", cached - cachedAudio, rate("cached")],
    [
      "cachedAudio",
      cachedAudio,
      price.cachedAudio === undefined ? rate("audioInput") * cachedShare : rate("cachedAudio")
    ],
    ["cacheWritten", written - hour, rate("cacheWritten")],
    [
      "cacheWrittenHour",
      hour,
      price.cacheWrittenHour === undefined ? rate("cacheWritten") * hourOfMinutes : rate("cacheWrittenHour")
    ],
    ["audioInput", audio, rate("audioInput")],
    ["output", output - audioOutput - imageOutput, rate("output")],
    ["audioOutput", audioOutput, rate("audioOutput")],
    ["imageOutput", imageOutput, rate("imageOutput")]
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
  const { factor = 1, image, regional = 1, search } = price
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
  if (search !== undefined)
    add("search", search.per === "answer" ? Math.min(1, searches) : searches, search.usd, perPiece, factor)
  return { lines, isPartial: search === undefined && searches > 0, nanos }
}

/** The cost in millionths of a dollar. */
export const microDollars = (usage: Usage, price: Price, place?: string): number =>
  Math.round(invoice(usage, price, place).nanos / 1e3)
