// Tests the response headers with a key's remaining limits, in the formats of both SDK families.
// Must not depend on how limits are counted.
import { expect, it } from "vitest"
import { addLimits, goDuration } from "../../../src/http/response/responseHeaders.ts"

it.each([
  [0, "0ms"],
  [0.2, "1ms"],
  [12, "12ms"],
  [999.1, "1s"],
  [1000, "1s"],
  [1001, "1.001s"],
  [59_999, "59.999s"],
  [60_000, "1m0s"],
  [90_500, "1m30.5s"],
  [360_000, "6m0s"],
  [3_600_000, "60m0s"]
])("limit headers: %d ms are printed as %s", (millis, text) => expect(goDuration(millis)).toBe(text))

const requests = { limit: 10, remaining: 9, resetMillis: 6000 }
const tokens = { limit: 1000, remaining: 0, resetMillis: 59_001 }
const now = Date.parse("2027-01-31T23:59:59.500Z")

it("limit headers: OpenAI's have its names and durations", () =>
  expect(addLimits({}, { requests, tokens }, "openai", now)).toEqual({
    "x-ratelimit-limit-requests": "10",
    "x-ratelimit-remaining-requests": "9",
    "x-ratelimit-reset-requests": "6s",
    "x-ratelimit-limit-tokens": "1000",
    "x-ratelimit-remaining-tokens": "0",
    "x-ratelimit-reset-tokens": "59.001s"
  }))

it("limit headers: Anthropic's have whole seconds, and the token limit as input, output and both", () =>
  expect(addLimits({}, { requests, tokens }, "anthropic", now)).toEqual({
    "anthropic-ratelimit-requests-limit": "10",
    "anthropic-ratelimit-requests-remaining": "9",
    "anthropic-ratelimit-requests-reset": "2027-02-01T00:00:06Z",
    "anthropic-ratelimit-input-tokens-limit": "1000",
    "anthropic-ratelimit-input-tokens-remaining": "0",
    "anthropic-ratelimit-input-tokens-reset": "2027-02-01T00:00:59Z",
    "anthropic-ratelimit-output-tokens-limit": "1000",
    "anthropic-ratelimit-output-tokens-remaining": "0",
    "anthropic-ratelimit-output-tokens-reset": "2027-02-01T00:00:59Z",
    "anthropic-ratelimit-tokens-limit": "1000",
    "anthropic-ratelimit-tokens-remaining": "0",
    "anthropic-ratelimit-tokens-reset": "2027-02-01T00:00:59Z"
  }))

it("limit headers: a limit that the key lacks has no headers", () => {
  expect(
    Object.keys(addLimits({}, { requests, tokens: undefined }, "openai", now)).every((name) =>
      name.endsWith("-requests")
    )
  ).toBe(true)
  expect(addLimits({}, { requests: undefined, tokens: undefined }, "anthropic", now)).toEqual({})
})
