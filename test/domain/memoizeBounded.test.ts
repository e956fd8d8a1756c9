// Tests memoizeBounded: it computes a text once, and bounds its cache.
// Must not depend on any memoized function of the service.
import { expect, it } from "vitest"
import { memoizeBounded } from "../../src/domain/collections.ts"

const counting = () => {
  const worked: Array<string> = []
  const lengthOf = memoizeBounded((text) => {
    worked.push(text)
    return text.length
  })
  return { worked, lengthOf }
}

it("memoizeBounded: computes a text once", () => {
  const { worked, lengthOf } = counting()
  expect([lengthOf("ab"), lengthOf("abc"), lengthOf("ab")]).toEqual([2, 3, 2])
  expect(worked).toEqual(["ab", "abc"])
})

it("memoizeBounded: does not cache long texts", () => {
  const { worked, lengthOf } = counting()
  const long = "x".repeat(1025)
  expect([lengthOf(long), lengthOf(long)]).toEqual([1025, 1025])
  expect(worked.length).toBe(2)
})

it("memoizeBounded: clears a full cache", () => {
  const { worked, lengthOf } = counting()
  for (let at = 0; at < 513; at++) lengthOf(String(at))
  lengthOf("512")
  lengthOf("0")
  expect(worked.slice(512)).toEqual(["512", "0"])
})
