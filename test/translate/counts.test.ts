// What upstreams give as counts of tokens, and what of it is one.
import { expect, it } from "vitest"
import { count } from "../../src/translate/shared/reply/counts.ts"

it.each([
  [0, 0],
  [1, 1],
  [1.9, 1],
  [2 ** 30 - 1, 2 ** 30 - 1],
  [2 ** 30, 0],
  [1e300, 0],
  [Infinity, 0],
  [NaN, 0],
  [-5, 0],
  ["7", 0],
  [null, 0],
  [undefined, 0]
])("the count %j is %d", (given, counted) => {
  expect(count(given)).toBe(counted)
})
