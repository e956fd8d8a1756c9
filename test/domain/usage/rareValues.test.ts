// Tests the hashes by which batches of requests are searched for ids and metadata.
// Must not depend on a database.
import * as fc from "fast-check"
import { expect, it } from "vitest"
import { RareHashes, rareId, rareValuesOf } from "../../../src/domain/usage/usageSums.ts"

const hashesOf = (...rows: ReadonlyArray<Parameters<RareHashes["add"]>[0]>): Buffer => {
  const hashes = new RareHashes()
  for (const row of rows) hashes.add(row)
  return hashes.bytes
}

it("rare values: the stored hashes are FNV-1a, four bytes each, once each, the lowest first", () => {
  const requestId = "0190a5c2-7d3e-7abc-8def-0123456789ab"
  const rows = ["foobar", "a"].map((id) => ({ requestId: id, traceId: "" }))
  const last = { requestId: "b", traceId: "foobar", id: "c", metadata: { d: "e" } }
  const hex = ["811c9dc5", "bf9cf968", "d8e3e57d", "e40c292c", "e60c2c52", "e70c2de5"]
  expect(hashesOf(...rows, last).toString("hex")).toBe(hex.join(""))
  // A request without a trace of its client has one hash.
  expect(hashesOf({ requestId, traceId: requestId.replaceAll("-", "") }).length).toBe(4)
  const many = Array.from({ length: 2000 }, (_, at) => ({ requestId: `r${at}`, traceId: `t${at % 500}` }))
  expect(hashesOf(...many).length).toBe(2500 * 4)
})

it("rare values: a batch has the hash of each value that finds one of its rows, for any characters", () => {
  const text = fc.string({ unit: "binary" })
  const row = fc.record(
    { requestId: text, traceId: text, id: text, metadata: fc.dictionary(text, text) },
    { requiredKeys: ["requestId", "traceId"] }
  )
  fc.assert(
    fc.property(row, (one) => {
      const stored = hashesOf(one)
      const { id = one.requestId, metadata = {}, ...ids } = one
      const packed = JSON.stringify([one.requestId, one.traceId, id, metadata])
      for (const { hash, text: part } of [rareId(id), ...rareValuesOf({ ...ids, metadata: Object.entries(metadata) })])
        expect([stored.includes(hash), packed.includes(part)]).toEqual([true, true])
    })
  )
})
