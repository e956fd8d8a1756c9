// What is worked out once, and what is not kept.
import { expect, it } from "vitest"
import { remembered } from "../../src/domain/remembered.ts"

const counting = () => {
  const worked: Array<string> = []
  const lengthOf = remembered((text) => {
    worked.push(text)
    return text.length
  })
  return { worked, lengthOf }
}

it("works a text out once", () => {
  const { worked, lengthOf } = counting()
  expect([lengthOf("ab"), lengthOf("abc"), lengthOf("ab")]).toEqual([2, 3, 2])
  expect(worked).toEqual(["ab", "abc"])
})

it("keeps no long text, for clients choose them", () => {
  const { worked, lengthOf } = counting()
  const long = "x".repeat(1025)
  expect([lengthOf(long), lengthOf(long)]).toEqual([1025, 1025])
  expect(worked.length).toBe(2)
})

it("forgets all when there are many", () => {
  const { worked, lengthOf } = counting()
  for (let at = 0; at < 513; at++) lengthOf(String(at))
  lengthOf("512")
  lengthOf("0")
  expect(worked.slice(512)).toEqual(["512", "0"])
})
