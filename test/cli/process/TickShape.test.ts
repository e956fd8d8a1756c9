// Tests that the process keeps an object of `process.nextTick`.
import { describe, expect, it } from "vitest"
import { tickObject } from "../../../src/cli/process/NodeQuirks.ts"

describe("objects of nextTick", () => {
  it("one is found, and one is kept for the life of the process", () => {
    const names = ["callback", "args"]
    const kept = Object.getOwnPropertySymbols(globalThis).find(
      ({ description }) => description === "model-gateway/tick"
    )
    expect(Object.keys(tickObject() ?? {})).toEqual(names)
    expect(Object.keys((kept === undefined ? undefined : Reflect.get(globalThis, kept)) ?? {})).toEqual(names)
  })
})
