// Tests the reader of Retry-After and the classification of transport faults.
// Must not open sockets or read clocks.
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import {
  faultKind,
  type FaultKind,
  faultReason,
  retryAfterMillis,
  upstreamSubject
} from "../../src/upstream/HttpExchange.ts"

describe("retry-after", () => {
  const now = Date.parse("2026-01-02T03:04:05Z")
  const cases: ReadonlyArray<readonly [Readonly<Record<string, string>>, number | undefined]> = [
    [{}, undefined],
    [{ "retry-after": "7" }, 7_000],
    [{ "retry-after": "0" }, 0],
    [{ "retry-after": "34.4" }, 34_400],
    [{ "retry-after": " 3600 " }, 3_600_000],
    [{ "retry-after": "7", "retry-after-ms": "6500" }, 6_500],
    [{ "retry-after": "Fri, 02 Jan 2026 03:04:15 GMT" }, 10_000],
    [{ "retry-after": "Fri, 02 Jan 2026 03:04:05 GMT" }, undefined],
    [{ "retry-after": "-7" }, undefined],
    [{ "retry-after": "soon" }, undefined],
    [{ "retry-after": "2026" + "0".repeat(20) }, undefined],
    [{ "retry-after": "99999999999" }, undefined],
    [{ "retry-after": "" }, undefined],
    [{ "retry-after": "1, 2" }, undefined]
  ]
  for (const [headers, millis] of cases)
    it(`retry-after: reads ${JSON.stringify(headers)}`, () => expect(retryAfterMillis(headers, now)).toBe(millis))

  it("retry-after: is a non-negative integer or undefined for any text (F18)", () =>
    fc.assert(
      fc.property(fc.string(), (text) => {
        const millis = retryAfterMillis({ "retry-after": text }, now)
        expect(millis === undefined || (Number.isSafeInteger(millis) && millis >= 0)).toBe(true)
      })
    ))
})

describe("transport faults", () => {
  it.each([
    [9, "9 ms"],
    [197, "200 ms"],
    [29_987, "30 s"],
    [600_000, "600 s"]
  ])("transport faults: a total of %s ms names its limit and settings (W11)", (millis, time) => {
    expect(faultReason({ kind: "total_timeout", millis }, upstreamSubject(true))).toStrictEqual({
      _tag: "Timeout",
      phase: "total",
      message: `The upstream did not finish its answer within ${time} (limits.totalMillis, x-gateway-request-timeout, or timeouts.total of the config).`
    })
  })

  const coded = (code: string) => Object.assign(new Error("secret.host:443"), { code })
  const cases: ReadonlyArray<readonly [unknown, FaultKind]> = [
    [coded("ECONNREFUSED"), "refused"],
    [new AggregateError([coded("ECONNREFUSED"), coded("ENETUNREACH")]), "refused"],
    [coded("ECONNRESET"), "reset"],
    [coded("UND_ERR_SOCKET"), "reset"],
    [coded("ENOTFOUND"), "dns"],
    [coded("EAI_AGAIN"), "dns"],
    [coded("ETIMEDOUT"), "connect_timeout"],
    [coded("DEPTH_ZERO_SELF_SIGNED_CERT"), "tls"],
    [coded("CERT_HAS_EXPIRED"), "tls"],
    [coded("ERR_TLS_CERT_ALTNAME_INVALID"), "tls"],
    [coded("UNABLE_TO_VERIFY_LEAF_SIGNATURE"), "tls"],
    [coded("EHOSTUNREACH"), "other"],
    [coded("toString"), "other"],
    [new Error("no code"), "other"],
    ["text", "other"],
    [null, "other"]
  ]
  for (const [error, kind] of cases)
    it(`transport faults: ${JSON.stringify(error)} is ${kind} (F21, F46)`, () => expect(faultKind(error)).toBe(kind))
  it("transport faults: contain no text from the network in their messages (TH22)", () => {
    const kinds: ReadonlyArray<FaultKind> = [
      "connect_timeout",
      "first_byte_timeout",
      "idle_timeout",
      "total_timeout",
      "refused",
      "reset",
      "stale",
      "dns",
      "tls",
      "other",
      "garbled",
      "encoded",
      "too_large"
    ]
    expect(
      kinds
        .map((kind) => faultReason({ kind }, { name: "X" }).message)
        .filter((message) => !/^X [a-zA-Z ,:'-]+\.$/.test(message))
    ).toStrictEqual([])
  })
})
