// Tests the reader of moments and days: RFC 3339 texts of dates that exist.
// Must not depend on a clock.
import { describe, expect, it } from "vitest"
import { isDay, momentMillis } from "../../../src/domain/time.ts"

describe("moments and days", () => {
  it.each([
    ["2027-01-31T12:00:00Z", "2027-01-31T12:00:00.000Z"],
    ["2027-01-31t12:00:00.5z", "2027-01-31T12:00:00.500Z"],
    ["2027-01-31 12:00:00+01:30", "2027-01-31T10:30:00.000Z"],
    ["2028-02-29T23:59:59.123456789-00:01", "2028-03-01T00:00:59.123Z"]
  ])("moment: reads %s", (text, expected) => expect(new Date(momentMillis(text) ?? 0).toISOString()).toBe(expected))

  it.each([
    "",
    "1",
    "2027",
    "2027-01-31",
    "2027-01-31T12:00Z",
    "2027-01-31T12:00:00",
    "2027-01-31T12:00:00 01:00",
    "Jan 31 2027",
    "2027-02-29T00:00:00Z",
    "2027-04-31T00:00:00Z",
    "2027-13-01T00:00:00Z",
    "2027-01-00T00:00:00Z",
    "2027-01-31T25:00:00Z",
    "2027-01-31T12:00:60Z",
    "2027-01-31T12:00:00+25:00"
  ])("moment: refuses %j", (text) => expect(momentMillis(text)).toBeUndefined())
})

it.each([
  ["2027-01-31", true],
  ["2028-02-29", true],
  ["2027-02-29", false],
  ["2027-00-01", false],
  ["2027-99-99", false],
  ["2027-1-1", false],
  ["2027", false],
  ["", false]
])("day: %s is valid: %s", (text, expected) => expect(isDay(text)).toBe(expected))
