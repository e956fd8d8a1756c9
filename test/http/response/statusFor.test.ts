// Statuses that differ by dialect.
import { describe, expect, it } from "vitest"
import { statusFor } from "../../../src/http/response/errorBody.ts"

describe("statuses by dialect", () => {
  it("overloaded model: is 529 for clients of Anthropic's API only (N1004)", () => {
    const facts = { code: "upstream_overloaded", status: 503 }
    expect([statusFor(facts, "anthropic"), statusFor(facts, "openai"), statusFor(facts, "google")]).toStrictEqual([
      529, 503, 503
    ])
    expect(statusFor({ code: "upstream_unavailable", status: 503 }, "anthropic")).toBe(503)
  })
})
