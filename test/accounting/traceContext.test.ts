// Tests W3C trace context: accepted and refused headers, and the round trip of traceparent.
// Must not depend on telemetry.
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { parseTraceparent, traceContextOf, traceparentOf } from "../../src/accounting/RequestRecord.ts"

const traceId = "0af7651916cd43dd8448eb211c80319c"
const spanId = "b7ad6b7169203331"

describe("traceparent", () => {
  it.each([
    ["a sampled trace", `00-${traceId}-${spanId}-01`, { traceId, spanId, sampled: true }],
    ["a trace that is not sampled", `00-${traceId}-${spanId}-00`, { traceId, spanId, sampled: false }],
    ["flags of later levels", `00-${traceId}-${spanId}-03`, { traceId, spanId, sampled: true }],
    [
      "a later version with more fields",
      `cc-${traceId}-${spanId}-01-what-the-future-holds`,
      { traceId, spanId, sampled: true }
    ],
    ["this version with more fields", `00-${traceId}-${spanId}-01-more`, undefined],
    ["the invalid version ff", `ff-${traceId}-${spanId}-01`, undefined],
    ["a trace of zeros", `00-${"0".repeat(32)}-${spanId}-01`, undefined],
    ["a span of zeros", `00-${traceId}-${"0".repeat(16)}-01`, undefined],
    ["upper case", `00-${traceId.toUpperCase()}-${spanId}-01`, undefined],
    ["a cut header", `00-${traceId}-${spanId}`, undefined],
    ["an empty header", "", undefined]
  ])("traceparent: reads or refuses %s", (_, header, expected) => {
    expect(parseTraceparent(header)).toEqual(expected)
  })

  it("traceparent: every printed header is parsed back", () => {
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

describe("trace of a request", () => {
  const fresh = "01a1feb1-fd44-7fb5-884a-aa19e8c22cad"
  const parent = { traceId, spanId, sampled: true }
  it.each([
    [
      "is the caller's",
      { traceparent: traceparentOf(parent), tracestate: "a=1" },
      "my trace",
      { traceId, parent, state: "a=1" }
    ],
    [
      "is the trace id of the header, where valid",
      {},
      "f".repeat(32),
      { traceId: "f".repeat(32), parent: undefined, state: undefined }
    ],
    [
      "is a new one without either header",
      {},
      "my trace",
      { traceId: "01a1feb1fd447fb5884aaa19e8c22cad", parent: undefined, state: undefined }
    ],
    [
      "drops a state without a parent",
      { tracestate: "a=1" },
      "0".repeat(32),
      { traceId: "01a1feb1fd447fb5884aaa19e8c22cad", parent: undefined, state: undefined }
    ],
    [
      "drops an invalid state",
      { traceparent: traceparentOf(parent), tracestate: "ä" },
      traceId,
      { traceId, parent, state: undefined }
    ]
  ])("request trace: %s", (_, headers, given, expected) => {
    expect(traceContextOf(headers, given, fresh)).toEqual(expected)
  })
})
