// One request in full: its row, its cost line by line by the prices of the day on which it ended, and whether its content is kept.
// It must not depend on how requests are found.
import * as Effect from "effect/Effect"
import { Prices } from "../../catalog/Prices.ts"
import { ownIdOf, type RequestRow } from "../../domain/RequestRow.ts"
import { type CostLine, invoice } from "../../domain/usage/invoice.ts"
import { ContentStore } from "../../store/content/ContentStore.ts"
import { shownCostLine, shownRequest } from "./adminRows.ts"

/** Undefined without usage or price. Requests without usage do not load the price list. */
const linesOf =
  (prices: Prices["Service"]) =>
  ({ endedMillis, model, place, provider, usage }: RequestRow): Effect.Effect<ReadonlyArray<CostLine> | undefined> =>
    model === undefined || provider === undefined || usage === undefined
      ? Effect.succeed(undefined)
      : Effect.map(prices.load, () => {
          const price = prices.counted(provider, model, endedMillis)?.price
          return price === undefined ? undefined : invoice(usage, price, place).lines
        })

export const requestDetails = Effect.gen(function* () {
  const contents = yield* ContentStore
  const read = linesOf(yield* Prices)
  return Effect.fnUntraced(function* (row: RequestRow) {
    const lines = yield* read(row)
    const content = yield* contents.find(ownIdOf(row))
    return {
      ...shownRequest(row),
      cost_lines: lines?.map(shownCostLine),
      has_content: content === undefined ? undefined : true
    }
  })
})
