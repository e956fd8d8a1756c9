// The price that the facts about a model state for a day.
// It must not know lists of prices or the operator's own.
import type { ModelRecord } from "../domain/models/ModelRecord.ts"
import type { Price, Rate, RateName } from "../domain/Usage.ts"

type RecordPrice = NonNullable<ModelRecord["price"]>
type StatedName = Exclude<keyof NonNullable<RecordPrice["after"]>, "image_input" | "video_input">

const names: ReadonlyArray<readonly [own: RateName, stated: StatedName]> = [
  ["input", "input"],
  ["output", "output"],
  ["cached", "cached_input"],
  ["cacheWritten", "cache_write_5m"],
  ["cacheWrittenHour", "cache_write_1h"],
  ["audioInput", "audio_input"],
  ["audioOutput", "audio_output"],
  ["imageOutput", "image_output"]
]

/** `day` as 2026-12-01: an introductory price holds up to its last day. Undefined for a record without prices. */
export const recordPrice = ({ price }: ModelRecord, day: string): Price | undefined => {
  if (price === undefined) return undefined
  const { after = {}, long_context: long, until } = price
  const rates = until !== undefined && day > until ? { ...price, ...after } : price
  const out: { -readonly [Name in RateName]?: Rate } = {}
  for (const [own, stated] of names) {
    const base = rates[stated]
    const longer = long?.[stated]
    if (base === undefined) continue
    out[own] =
      long === undefined || longer === undefined ? base : { base, tiers: [{ start: long.above, price: longer }] }
  }
  return Object.keys(out).length === 0 ? undefined : out
}
