// Tests the hashes by which batches of requests are searched for ids and metadata.
// Must not depend on a database.
import * as fc from "fast-check"
import { expect, it } from "vitest"
import { addRareHashes, joinHashes, rareId, rareValuesOf } from "../../../src/domain/usage/rareValues.ts"

const hashesOf = (row: Parameters<typeof addRareHashes>[1]): Buffer => {
  const hashes = new Set<number>()
  addRareHashes(hashes, row)
  return joinHashes(hashes)
}

it("rare values: the stored hashes are FNV-1a, four bytes each, in the order of the first rows that have them", () => {
  const hashes = new Set<number>()
  const requestId = "0190a5c2-7d3e-7abc-8def-0123456789ab"
  for (const id of ["foobar", "a"]) addRareHashes(hashes, { requestId: id, traceId: "" })
  addRareHashes(hashes, { requestId: "b", traceId: "foobar", id: "c", metadata: { d: "e" } })
  const hex = ["bf9cf968", "811c9dc5", "e40c292c", "e70c2de5", "e60c2c52", "d8e3e57d"]
  expect(joinHashes(hashes).toString("hex")).toBe(hex.join(""))
  // A request without a trace of its client has one hash.
  expect(hashesOf({ requestId, traceId: requestId.replaceAll("-", "") }).length).toBe(4)
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
