// Tests which facts a target has on the day of a request.
// Must not know what the facts are used for.
import { describe, expect, it } from "vitest"
import { modelTable } from "../../src/domain/models/modelTable.ts"
import type { RequestContext } from "../../src/domain/RequestContext.ts"
import { targetFacts } from "../../src/provider/callInput.ts"
import { requestContext, googleAccount, vertexAccount } from "../support/account.ts"

const on = (day: string): RequestContext => ({ ...requestContext, createdSeconds: Date.parse(day) / 1000 })
const models = modelTable({})
const recordOf = (account: typeof googleAccount, day: string, modelId = "gemini-2.5-pro") =>
  targetFacts({ account, models, request: on(day) }, { modelId, endpoint: false }).record.id

describe("facts of a target", () => {
  it("a model has the facts of the one that answers it, from its day on and on that provider (M-722)", () => {
    expect(recordOf(googleAccount, "2026-11-30T23:59:59Z")).toBe("gemini-2.5-pro")
    expect(recordOf(googleAccount, "2026-12-01T00:00:00Z")).toBe("gemini-3.8-flash")
    expect(recordOf(vertexAccount, "2026-12-01T00:00:00Z")).toBe("gemini-2.5-pro")
    expect(recordOf(googleAccount, "2026-12-01T00:00:00Z", "gemini-2.5-flash")).toBe("gemini-3.5-flash-lite")
  })
})
