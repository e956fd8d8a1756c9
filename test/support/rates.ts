// The rates of a price alone, for tests of where a price comes from.
// Must not depend on a test.
import type { Price } from "../../src/domain/Usage.ts"

/** Without the factors and fees that follow from the model. */
export const ratesOf = (price: Price | undefined): Price | undefined => {
  if (price === undefined) return undefined
  const { regional: _regional, search: _search, tiers: _tiers, ...rates } = price
  return rates
}
