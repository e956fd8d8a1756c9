// Tests the list of requests without a browser: its rows, its filters in the address, and its bins over time.
// Must not depend on how rows are shown.
import { describe, expect, it } from "vitest"
import type { RequestRow } from "../../src/console/AdminClient.ts"
import {
  binsOf,
  emptyList,
  hasMore,
  metadataText,
  mostRows,
  readFilters,
  withArrived,
  withFirst,
  withMetadata,
  withOlder
} from "../../src/console/pages/requests/requestList.ts"

const noon = Date.parse("2027-01-31T12:00:00Z")
const row = (at: number): RequestRow => ({
  object: "request",
  id: `r${at}`,
  request_id: `r${at}`,
  trace_id: "t",
  ts: new Date(noon + at).toISOString(),
  route: "/v1/chat/completions",
  status: 200,
  provider: "google",
  model: "m",
  stream: false,
  duration_ms: 10,
  overhead_ms: 1,
  attempts: []
})
/** Rows from the newest to the oldest. */
const rows = (from: number, to: number) => Array.from({ length: from - to + 1 }, (_, index) => row(from - index))
const ids = ({ rows: shown }: typeof emptyList) => shown.map(({ id }) => id)
const page = (data: ReadonlyArray<RequestRow>, next_cursor: string | null = null) => ({ data, next_cursor })

describe("rows of the list", () => {
  it("list of requests: requests that arrive are above it, each once", () => {
    const list = withFirst(emptyList, page(rows(2, 1), "c"))
    expect(ids(withArrived(list, rows(4, 2)))).toEqual(["r4", "r3", "r2", "r1"])
    expect(withArrived(list, rows(2, 1))).toBe(list)
    expect(list.rows.map(({ at }) => at - noon)).toEqual([2, 1])
  })

  it("list of requests: an older page is below it, with its cursor", () => {
    const list = withOlder(withFirst(emptyList, page(rows(4, 3), "c3")), page(rows(2, 1), null))
    expect([ids(list), list.cursor]).toEqual([["r4", "r3", "r2", "r1"], null])
  })

  it("list of requests: the first page read again joins the list, or replaces it after a gap", () => {
    const list = withOlder(withFirst(emptyList, page(rows(4, 3), "c3")), page(rows(2, 1), "c1"))
    const joined = withFirst(list, page(rows(6, 4), "c4"))
    expect([ids(joined), joined.cursor]).toEqual([["r6", "r5", "r4", "r3", "r2", "r1"], "c1"])
    const replaced = withFirst(list, page(rows(9, 8), "c8"))
    expect([ids(replaced), replaced.cursor]).toEqual([["r9", "r8"], "c8"])
  })

  it("list of requests: beyond its bound the oldest leave, and nothing older is loaded", () => {
    const list = withFirst(emptyList, page(rows(mostRows, 1), "c"))
    const { cursor, rows: shown } = withArrived(list, rows(mostRows + 2, mostRows + 1))
    expect([shown.length, shown[0]?.id, shown.at(-1)?.id, cursor]).toEqual([mostRows, `r${mostRows + 2}`, "r3", null])
  })
})

describe("filters of the list", () => {
  it("list of requests: the address has the filters of the admin API, and nothing else of it", () => {
    const query = readFilters(new URLSearchParams("status=503&metadata.team=red&range=1h&model="))
    expect(query).toEqual({ status: "503", "metadata.team": "red" })
    expect([hasMore(query), hasMore({ status: "503" })]).toEqual([true, false])
  })

  it("list of requests: metadata is written as pairs", () => {
    expect(metadataText({ status: "503", "metadata.team": "red", "metadata.env": "a=b" })).toBe("team=red env=a=b")
    expect(withMetadata({ status: "503", "metadata.team": "red" }, " env=a=b  nothing =x ")).toEqual({
      status: "503",
      "metadata.env": "a=b"
    })
  })
})

describe("bins of the list", () => {
  const ended = (at: number, status: number) => ({ at: noon + at, status })

  it("histogram: counts requests in bins of a readable length by the class of their status", () => {
    expect(binsOf([ended(9000, 503), ended(4000, 404), ended(0, 302), ended(0, 200)], 2)).toEqual([
      { from: noon, to: noon + 5000, counts: { "2xx": 2, "4xx": 1, "5xx": 0 } },
      { from: noon + 5000, to: noon + 10_000, counts: { "2xx": 0, "4xx": 0, "5xx": 1 } }
    ])
  })

  it("histogram: takes rows out of order, of one moment, and none", () => {
    expect(binsOf([], 10)).toEqual([])
    expect(binsOf([ended(0, 200), ended(0, 200)], 10)).toEqual([
      { from: noon, to: noon + 1000, counts: { "2xx": 2, "4xx": 0, "5xx": 0 } }
    ])
    expect(binsOf([ended(1500, 200), ended(2500, 200), ended(0, 200)], 10).map(({ counts }) => counts["2xx"])).toEqual([
      1, 2
    ])
  })
})
