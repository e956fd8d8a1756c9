// The log of unexpected failures: one line, no secret.
// Must not start a service.
import { expect, it } from "vitest"
import { renderFaultLine } from "../../src/cli/Output.ts"

const at = new Date("2027-01-31T12:00:00.007Z")
const message = [
  "request failed unexpectedly",
  "r-1",
  "Error: no AIzaSecret01234567890123456789012345\n    at https://host.example/x"
]

it("fault log: a failure is one line of JSON", () => {
  expect(renderFaultLine(at, "Error", message, true)).toBe(
    '{"ts":"2027-01-31T12:00:00.007Z","level":"error","msg":"request failed unexpectedly  r-1  Error: no [redacted]     at [link]"}'
  )
})

it("fault log: a failure is one human-readable line", () => {
  expect(renderFaultLine(at, "Error", "one\ntwo", false)).toBe("12:00:00  error  one two")
})
