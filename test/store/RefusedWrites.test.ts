// Tests the memory of refused writes: which kinds there are, and when a refusal begins and ends.
// Must not need a database.
import { expect, it } from "vitest"
import { RefusedWrites } from "../../src/store/database/Sql.ts"

it("refused writes: begin with the first kind and end with the last (F32)", () => {
  const refused = new RefusedWrites()
  const [changes, requests] = [{}, {}]
  expect([refused.refusal, refused.committed(changes, 0)]).toEqual([undefined, false])
  expect([refused.add(changes, "disk_full", 0), refused.add(changes, "disk_full", 1)]).toEqual([true, false])
  expect([refused.add(requests, "disk_full", 2), refused.refusal]).toEqual([false, "disk_full"])
  expect([refused.committed({}, 3), refused.committed(changes, 4), refused.refusal]).toEqual([
    false,
    false,
    "disk_full"
  ])
  expect([refused.committed(requests, 5), refused.refusal, refused.committed(requests, 6)]).toEqual([
    true,
    undefined,
    false
  ])
  expect([refused.add(requests, "read_only", 7), refused.refusal]).toEqual([true, "read_only"])
})

it("refused writes: end a minute after the last refusal of a kind with a write of another kind (F32)", () => {
  const refused = new RefusedWrites()
  const changes = {}
  refused.add(changes, "disk_full", 0)
  refused.add(changes, "disk_full", 1_000)
  expect([refused.committed({}, 60_999), refused.refusal]).toEqual([false, "disk_full"])
  expect([refused.committed({}, 61_000), refused.refusal]).toEqual([true, undefined])
})
