// Tests which facts a target has on the day of a request.
// Must not know what the facts are used for.
import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import { modelTable } from "../../src/domain/models/modelTable.ts"
import type { RequestContext } from "../../src/domain/RequestContext.ts"
import { targetFacts } from "../../src/provider/callInput.ts"
import { targetModel } from "../../src/provider/route.ts"
import { requestContext, googleAccount, vertexAccount } from "../support/account.ts"

const on = (day: string): RequestContext => ({ ...requestContext, createdSeconds: Date.parse(day) / 1000 })
const models = modelTable({})
const recordOf = (account: typeof googleAccount, day: string, modelId = "gemini-2.5-pro") =>
  targetFacts({ account, models, request: on(day) }, { family: "gemini", modelId, endpoint: false }).record.id

describe("facts of a target", () => {
  it("a model has the facts of the one that answers it, from its day on and on that provider (M-722)", () => {
    expect(recordOf(googleAccount, "2026-11-30T23:59:59Z")).toBe("gemini-2.5-pro")
    expect(recordOf(googleAccount, "2026-12-01T00:00:00Z")).toBe("gemini-3.8-flash")
    expect(recordOf(vertexAccount, "2026-12-01T00:00:00Z")).toBe("gemini-2.5-pro")
    expect(recordOf(googleAccount, "2026-12-01T00:00:00Z", "gemini-2.5-flash")).toBe("gemini-3.5-flash-lite")
  })

  it("a known model keeps its facts until the day or the table changes (M-722)", () => {
    const model = Result.getOrThrow(targetModel("gemini-2.5-pro", googleAccount))
    const factsOn = (day: string, table = models) =>
      targetFacts({ account: googleAccount, models: table, request: on(day) }, model)
    const before = factsOn("2026-11-30T00:00:00Z")
    expect(factsOn("2026-11-30T23:59:59Z")).toBe(before)
    expect(factsOn("2026-12-01T00:00:00Z").record.id).toBe("gemini-3.8-flash")
    const stated = modelTable({ "gemini-2.5-pro": { max_output: 10 } })
    expect(factsOn("2026-11-30T00:00:00Z", stated).record.max_output).toBe(10)
  })

  it("a model is read once for an account, and each time for one with a credential of the request", () => {
    expect(targetModel("gemini-2.5-pro", googleAccount)).toBe(targetModel("gemini-2.5-pro", googleAccount))
    const ofCaller = { ...googleAccount, origin: "caller" } as const
    expect(targetModel("gemini-2.5-pro", ofCaller)).not.toBe(targetModel("gemini-2.5-pro", ofCaller))
  })
})
