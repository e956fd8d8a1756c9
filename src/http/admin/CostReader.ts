// The cost of an ended request line by line, by the prices of the day on which it ended.
// It must not depend on the form in which lines are shown.
import * as Effect from "effect/Effect"
import { Prices } from "../../catalog/Prices.ts"
import type { RequestRow } from "../../domain/RequestRow.ts"
import { type CostLine, costLines } from "../../domain/Usage.ts"

/** Reads the lines of a row; undefined without usage or price. Makes no price list wait for a row without usage. */
export const costReader = Effect.map(
  Prices,
  (prices) =>
    ({ endedMillis, model, provider, usage }: RequestRow): Effect.Effect<ReadonlyArray<CostLine> | undefined> => {
      if (model === undefined || provider === undefined || usage === undefined) return Effect.succeed(undefined)
      const lines = () => {
        const price = prices.counted(provider, model, endedMillis)?.price
        return price === undefined ? undefined : costLines(usage, price)
      }
      return Effect.map(prices.load, lines)
    }
)
