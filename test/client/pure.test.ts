// Tests the pure parts of the client: headers from options, and the decision and delay of retries.
// Must not depend on the network or on a clock.
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { createHeaders } from "../../src/client/headers.ts"
import {
  Aborted,
  AnswerBroken,
  ConnectionFailed,
  noFacts,
  RateLimited,
  readFailure,
  RequestInvalid,
  ServiceFailed,
  TimedOut
} from "../../src/client/failures.ts"
import { delayMillis, isWorthRetrying } from "../../src/client/Calls.ts"

describe("createHeaders", () => {
  it("createHeaders: writes every option under its header", () => {
    expect(
      createHeaders({
        apiKey: "mgk_x",
        provider: "vertex-ai",
        config: "fast",
        metadata: { a: "b" },
        traceId: "t",
        requestTimeoutMillis: 1000,
        cache: 60,
        cacheNamespace: "n",
        anthropicBeta: ["one", "two"],
        unsupportedParams: "reject",
        vertexProjectId: "p",
        vertexRegion: "us-central1",
        vertexServiceAccountJson: "{\n}",
        authorization: "Bearer t",
        strict: false,
        dryRun: true
      })
    ).toEqual({
      "x-gateway-api-key": "mgk_x",
      "x-gateway-provider": "vertex-ai",
      "x-gateway-config": "fast",
      "x-gateway-metadata": '{"a":"b"}',
      "x-gateway-trace-id": "t",
      "x-gateway-request-timeout": "1000",
      "x-gateway-cache": "60",
      "x-gateway-cache-namespace": "n",
      "x-gateway-anthropic-beta": "one,two",
      "x-gateway-unsupported-params": "reject",
      "x-gateway-vertex-project-id": "p",
      "x-gateway-vertex-region": "us-central1",
      "x-gateway-vertex-service-account-json": "{ }",
      "x-gateway-strict-schema-compliance": "false",
      "x-gateway-dry-run": "true",
      authorization: "Bearer t"
    })
    expect(createHeaders({})).toEqual({})
  })

  it("createHeaders: turns any metadata into a header that every platform accepts, with the same meaning", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: "grapheme" }), fc.string({ unit: "binary" })), (metadata) => {
        const text = createHeaders({ metadata })["x-gateway-metadata"] ?? ""
        expect(text).toMatch(/^[\x20-\x7e]*$/)
        expect(JSON.parse(text)).toEqual(metadata)
      })
    )
  })
})

describe("retry decision", () => {
  it.each([
    [new Aborted(""), false],
    [new AnswerBroken(""), false],
    [new ConnectionFailed(""), true],
    [new TimedOut(""), true],
    [new RateLimited("", { ...noFacts, status: 429 }), true],
    [new RateLimited("", { ...noFacts, status: 429, shouldRetry: false }), false],
    [new RequestInvalid("", { ...noFacts, status: 400 }), false],
    [new RequestInvalid("", { ...noFacts, status: 408 }), true],
    [new RequestInvalid("", { ...noFacts, status: 409 }), true],
    [new RequestInvalid("", { ...noFacts, status: 400, shouldRetry: true }), true],
    [new ServiceFailed("", { ...noFacts, status: 502 }), true],
    [new ServiceFailed("", noFacts), false]
  ])("retry decision: after %s: %s", (failure, worth) => {
    expect(isWorthRetrying(failure)).toBe(worth)
  })

  it("retry delay: is the asked one, else half a second doubled with each retry, less up to a quarter", () => {
    expect([delayMillis(0, 1500, 0.5), delayMillis(0, 59_999, 0), delayMillis(0, 60_000, 0)]).toEqual([
      1500, 59_999, 500
    ])
    expect([0, 1, 2, 3, 4, 5].map((retry) => delayMillis(retry, undefined, 0))).toEqual([
      500, 1000, 2000, 4000, 8000, 8000
    ])
    expect([delayMillis(0, undefined, 1), delayMillis(9, undefined, 1)]).toEqual([375, 6000])
  })

  it.each([
    [{ "retry-after-ms": "120", "retry-after": "9" }, 120],
    [{ "retry-after": "2" }, 2000],
    [{ "retry-after": "Thu, 01 Jan 1970 00:00:05 GMT" }, 4000],
    [{ "retry-after": "Thu, 01 Jan 1970 00:00:00 GMT" }, 0],
    [{ "retry-after": "soon" }, undefined],
    [{}, undefined]
  ])("retry delay: %o gives %s", (headers, millis) => {
    expect(readFailure(429, new Headers(headers), "", 1000).retryAfterMillis).toBe(millis)
  })
})
