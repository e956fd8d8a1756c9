// The public price list from the package @pydantic/genai-prices, loaded lazily because it is large.
// It must not know the operator's prices or which part asks.
import type { ModelPrice } from "@pydantic/genai-prices"
import * as Effect from "effect/Effect"
import type { Price, Rate, RateName } from "../domain/Usage.ts"
import type { PriceList } from "./Prices.ts"

/** The version of the package; a test compares it with package.json. */
export const publicPricesVersion = "0.1.8"

/** Without the package only the operator's prices and the supplement apply. */
export const publicPrices: Effect.Effect<PriceList> = Effect.map(
  Effect.option(Effect.tryPromise(() => import("@pydantic/genai-prices"))),
  (found) => {
    if (found._tag === "None") return () => undefined
    const { calcPrice } = found.value
    return (modelId, nowMillis) => {
      const answer = calcPrice({}, modelId, { providerId: "google", timestamp: new Date(nowMillis) })
      return answer === null ? undefined : { id: answer.model.id, price: priceOf(answer.model_price) }
    }
  }
)

const names: ReadonlyArray<readonly [own: RateName, listed: string]> = [
  ["input", "input_mtok"],
  ["output", "output_mtok"],
  ["cached", "cache_read_mtok"],
  ["cacheWritten", "cache_write_mtok"],
  ["audioInput", "input_audio_mtok"],
  ["audioOutput", "output_audio_mtok"],
  ["imageOutput", "output_image_mtok"]
]

const priceOf = (listed: ModelPrice): Price => {
  const price: { -readonly [Name in RateName]?: Rate } = {}
  for (const [own, name] of names) {
    const rate = listed[name]
    if (rate !== undefined) price[own] = rate
  }
  return price
}
