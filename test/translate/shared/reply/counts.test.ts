// Tests the reading of token counts from upstreams.
// Must not open sockets or read clocks.
import { expect, it } from "vitest"
import { readCount } from "../../../../src/translate/shared/reply/usage.ts"

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
])("token counts: %j is read as %d", (given, counted) => {
  expect(readCount(given)).toBe(counted)
})
