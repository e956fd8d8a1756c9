// Tests the reader of request headers: values, switches, and the fault it keeps.
// Must not depend on the HTTP server.
import { describe, expect, it } from "@effect/vitest"
import * as fc from "fast-check"
import { requestHeaderNames } from "../../../src/api/Headers.ts"
import { BodyInvalid } from "../../../src/domain/GatewayError.ts"
import { HeaderReader } from "../../../src/http/request/requestContext.ts"

const rule = 'is "true" or "false", sent once.'

describe("header reader", () => {
  it("header reader: finds a header under its alias", () => {
    const reader = new HeaderReader({ "x-portkey-trace-id": "t1" })
    expect([reader.text(requestHeaderNames.traceId), reader.text(requestHeaderNames.config)]).toEqual(["t1", undefined])
  })
  it("header reader: keeps the first of several faults", () => {
    const reader = new HeaderReader({})
    expect([reader.fault, reader.invalidHeader("a", rule), reader.invalidHeader("b", rule)]).toEqual([
      undefined,
      undefined,
      undefined
    ])
    expect(reader.fault).toEqual(new BodyInvalid({ code: "invalid_header", param: "a", message: `a ${rule}` }))
  })
  it("header reader: reads a switch in upper and lower case", () => {
    const reader = new HeaderReader({})
    expect([
      reader.flag("a", "TRUE", false),
      reader.flag("a", "False", true),
      reader.flag("a", undefined, true),
      reader.flag("a", undefined, false),
      reader.fault
    ]).toEqual([true, false, true, false, undefined])
  })
  it("header reader: refuses every other value of a switch", () => {
    fc.assert(
      fc.property(
        fc.string().filter((text) => !/^(true|false)$/i.test(text)),
        (text) => {
          const reader = new HeaderReader({})
          reader.flag("a", text, true)
          expect(reader.fault).toEqual(new BodyInvalid({ code: "invalid_header", param: "a", message: `a ${rule}` }))
        }
      )
    )
  })
})
