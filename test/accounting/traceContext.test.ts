// W3C trace context: what is read, what is refused, and that what is written is read again.
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { parseTraceparent, traceContextOf, traceparentOf } from "../../src/accounting/traceContext.ts"

const traceId = "0af7651916cd43dd8448eb211c80319c"
const spanId = "b7ad6b7169203331"

describe("traceparent", () => {
  it.each([
    ["sampled", `00-${traceId}-${spanId}-01`, { traceId, spanId, sampled: true }],
    ["not sampled", `00-${traceId}-${spanId}-00`, { traceId, spanId, sampled: false }],
    ["with flags of later levels", `00-${traceId}-${spanId}-03`, { traceId, spanId, sampled: true }],
    [
      "of a later version that says more",
      `cc-${traceId}-${spanId}-01-what-the-future-holds`,
      { traceId, spanId, sampled: true }
    ],
    ["of this version, which says no more", `00-${traceId}-${spanId}-01-more`, undefined],
    ["of the version that is none", `ff-${traceId}-${spanId}-01`, undefined],
    ["a trace of zeros", `00-${"0".repeat(32)}-${spanId}-01`, undefined],
    ["a span of zeros", `00-${traceId}-${"0".repeat(16)}-01`, undefined],
    ["upper case", `00-${traceId.toUpperCase()}-${spanId}-01`, undefined],
    ["cut", `00-${traceId}-${spanId}`, undefined],
    ["nothing", "", undefined]
  ])("%s", (_, header, expected) => {
    expect(parseTraceparent(header)).toEqual(expected)
  })

  it("what is written is read again", () => {
    const hex = (length: number) =>
      fc
        .string({ unit: fc.constantFrom(..."0123456789abcdef"), minLength: length, maxLength: length })
        .filter((id) => !/^0+$/.test(id))
    fc.assert(
      fc.property(fc.record({ traceId: hex(32), spanId: hex(16), sampled: fc.boolean() }), (parent) => {
        expect(parseTraceparent(traceparentOf(parent))).toEqual(parent)
      })
    )
  })
})

describe("the trace of a request", () => {
  const fresh = "01a1feb1-fd44-7fb5-884a-aa19e8c22cad"
  const parent = { traceId, spanId, sampled: true }
  it.each([
    [
      "its caller's",
      { traceparent: traceparentOf(parent), tracestate: "a=1" },
      "my trace",
      { traceId, parent, state: "a=1" }
    ],
    [
      "the one it names, where that is one",
      {},
      "f".repeat(32),
      { traceId: "f".repeat(32), parent: undefined, state: undefined }
    ],
    [
      "a new one where it names none",
      {},
      "my trace",
      { traceId: "01a1feb1fd447fb5884aaa19e8c22cad", parent: undefined, state: undefined }
    ],
    [
      "a state without a parent says nothing",
      { tracestate: "a=1" },
      "0".repeat(32),
      { traceId: "01a1feb1fd447fb5884aaa19e8c22cad", parent: undefined, state: undefined }
    ],
    [
      "a state that is none is left out",
      { traceparent: traceparentOf(parent), tracestate: "ä" },
      traceId,
      { traceId, parent, state: undefined }
    ]
  ])("%s", (_, headers, given, expected) => {
    expect(traceContextOf(headers, given, fresh)).toEqual(expected)
  })
})
