// Tests what is read of a kept response: its items by their ids.
// Must not depend on a store.
import { describe, expect, it } from "vitest"
import { itemFinder, type readKept } from "../../../src/translate/responses-to-chat/kept.ts"

type Kept = NonNullable<ReturnType<typeof readKept>>

describe("items by id", () => {
  it("items: each of 3,000 references looks at no other item (TH41)", () => {
    let looked = 0
    const counted = Array.from({ length: 3_000 }, (_, at) => ({
      type: "message",
      get id(): string {
        looked++
        return `msg_${at}`
      }
    }))
    // A test of counts: the response has no more than what is read of it.
    const kept = { input: counted, response: { output: [] }, carrier: null } as unknown as Kept
    const find = itemFinder(kept)
    const found = counted.map((_, at) => find(`msg_${at}`))
    expect(found.map((one) => one?.item["id"])).toEqual(counted.map((_, at) => `msg_${at}`))
    // Once for the index, once for the copy of the item; the expectation reads the copies.
    expect(looked).toBe(2 * counted.length)
    expect(find("msg_3000")).toBeUndefined()
  })
})
