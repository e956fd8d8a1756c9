// Tests fair shares: slots and bytes of running requests, divided among keys.
// Must not depend on requests or on time.
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { FairShares, RequestHold, type Resource } from "../../src/keys/FairShares.ts"

const sharing = (requests: number, bytes = 1000) => {
  const refused: Array<Resource> = []
  return { refused, shares: new FairShares({ requests, bytes, keptPercent: 20 }, (resource) => refused.push(resource)) }
}
/** The holds of as many requests as are let in, and the answer to the one after them. */
const fill = (shares: FairShares, keyId: string) => {
  const holds: Array<RequestHold> = []
  for (;;) {
    const hold = shares.enter(keyId)
    if (typeof hold === "string") return { holds, refusal: hold }
    holds.push(hold)
  }
}
const entered = (shares: FairShares, keyId: string): RequestHold => {
  const hold = shares.enter(keyId)
  if (typeof hold === "string") throw new Error(hold)
  return hold
}

describe("shares of slots", () => {
  it("slots: one key takes all but the reserve, and a second one is served from the reserve (TH20)", () => {
    const { refused, shares } = sharing(10)
    const first = fill(shares, "greedy")
    expect([first.holds.length, first.refusal]).toEqual([8, "key"])
    const second = fill(shares, "modest")
    expect([second.holds.length, second.refusal]).toEqual([2, "all"])
    expect(refused).toEqual(["requests"])
  })

  it("slots: a key above its share is refused while the others catch up", () => {
    const { shares } = sharing(10)
    const greedy = fill(shares, "greedy").holds
    const modest = fill(shares, "modest").holds
    for (const hold of greedy.splice(0, 2)) hold.end()
    expect(shares.enter("greedy")).toBe("key")
    modest.push(entered(shares, "modest"), entered(shares, "modest"))
    expect([shares.enter("modest"), shares.total.requests]).toEqual(["key", 10])
  })

  it("slots: a slot is free when its request ends, and an idle key is removed", () => {
    const { shares } = sharing(1)
    for (let at = 0; at < 3; at++) entered(shares, `key ${at}`).end()
    entered(shares, "one")
    expect(shares.enter("one")).toBe("key")
    expect(shares.enter("other")).toBe("all")
  })

  it("slots: a key's own limit applies first", () => {
    const { refused, shares } = sharing(10)
    const hold = shares.enter("narrow", 1)
    expect([typeof hold, shares.enter("narrow", 1), shares.enter("narrow", 2) instanceof RequestHold, refused]).toEqual(
      ["object", "limit", true, ["requests"]]
    )
  })

  it("slots: a capacity of zero allows no request", () => {
    expect(sharing(0).shares.enter("any")).toBe("all")
  })
})

describe("shares of bytes", () => {
  it("bytes: a request may take all but the reserve, and then only what its share leaves", () => {
    const { shares } = sharing(10)
    const hold = entered(shares, "large")
    expect([hold.take(300), hold.take(300), hold.take(300), shares.total.bytes]).toEqual([
      undefined,
      undefined,
      "key",
      600
    ])
  })

  it("bytes: the reserve is for keys that use little", () => {
    const { refused, shares } = sharing(10)
    const large = entered(shares, "large")
    expect(large.take(800)).toBe(undefined)
    const small = entered(shares, "small")
    expect([large.take(1), small.take(200), small.take(1), refused]).toEqual(["key", undefined, "all", ["bytes"]])
  })

  it("bytes: are returned when released, and all of them when the request ends", () => {
    const { shares } = sharing(10)
    const hold = entered(shares, "a")
    hold.take(500)
    hold.give(200)
    expect(shares.total).toEqual({ requests: 1, bytes: 300 })
    hold.end()
    expect(shares.total).toEqual({ requests: 0, bytes: 0 })
  })
})

const steps = fc.array(
  fc.record({
    key: fc.integer({ min: 0, max: 3 }),
    act: fc.constantFrom("enter", "end", "take", "give"),
    amount: fc.integer({ min: 1, max: 400 })
  }),
  { maxLength: 80 }
)

it("fair shares: any sequence stays within the capacity, and leaves nothing reserved at its end", () => {
  fc.assert(
    fc.property(steps, (some) => {
      const { shares } = sharing(5)
      const held: Array<{ readonly hold: RequestHold; bytes: number }> = []
      for (const { act, amount, key } of some) {
        const one = held[amount % Math.max(1, held.length)]
        if (act === "enter") {
          const hold = shares.enter(`key ${key}`)
          if (typeof hold !== "string") held.push({ hold, bytes: 0 })
        } else if (one !== undefined) {
          if (act === "take" && one.hold.take(amount) === undefined) one.bytes += amount
          if (act === "give" && one.bytes >= amount) {
            one.hold.give(amount)
            one.bytes -= amount
          }
          if (act === "end") {
            one.hold.end()
            held.splice(held.indexOf(one), 1)
          }
        }
        expect(shares.total).toEqual({ requests: held.length, bytes: held.reduce((sum, { bytes }) => sum + bytes, 0) })
        expect([shares.total.requests <= 5, shares.total.bytes <= 1000]).toEqual([true, true])
      }
      for (const { hold } of held) hold.end()
      expect(shares.total).toEqual({ requests: 0, bytes: 0 })
    })
  )
})

it("fair shares: an idle key is admitted whenever the reserve has room (TH20)", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 2 }), { maxLength: 60 }), (keys) => {
      const { shares } = sharing(20)
      for (const key of keys) shares.enter(`key ${key}`)
      const free = 20 - shares.total.requests
      expect(shares.enter("newcomer") instanceof RequestHold).toBe(free > 0)
    })
  )
})
