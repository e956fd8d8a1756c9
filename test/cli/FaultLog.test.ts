// What is said of unexpected failures: one line, no secret.
import { expect, it } from "vitest"
import { faultLine } from "../../src/cli/FaultLog.ts"

const at = new Date("2027-01-31T12:00:00.007Z")
const message = [
  "request failed unexpectedly",
  "r-1",
  "Error: no AIzaSecret01234567890123456789012345\n    at https://host.example/x"
]

it("as JSON", () => {
  expect(faultLine(at, "Error", message, true)).toBe(
    '{"ts":"2027-01-31T12:00:00.007Z","level":"error","msg":"request failed unexpectedly  r-1  Error: no [redacted]     at [link]"}'
  )
})

it("to be read", () => {
  expect(faultLine(at, "Error", "one\ntwo", false)).toBe("12:00:00  error  one two")
})
