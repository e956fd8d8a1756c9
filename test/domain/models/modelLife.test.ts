// The end of a model as headers, log lines and refusals have it.
import { describe, expect, it } from "vitest"
import { absenceText, endingText, modelEnding } from "../../../src/domain/models/modelLife.ts"
import { builtInModels, isServedAt, modelTable, probeModel } from "../../../src/domain/models/modelTable.ts"

const record = (id: string) => builtInModels.find(id).record
const warning = (id: string, provider: string, day: string) => {
  const ending = modelEnding(record(id), provider, day)
  return ending === undefined ? undefined : endingText(ending)
}

describe("the end of a model", () => {
  it("the warning has stage, day and successor, as far as they are known (M-730)", () => {
    expect([
      warning("gemini-2.5-pro", "google", "2026-11-22"),
      warning("gemini-2.5-pro", "google", "2026-12-01"),
      warning("gemini-2.5-pro", "vertex-ai", "2026-12-01"),
      warning("claude-sonnet-4-5@20250929", "vertex-ai", "2026-11-22"),
      warning("gemini-2.0-flash", "google", "2026-11-22"),
      warning("imagen-3.0-generate-001", "vertex-ai", "2026-11-22"),
      warning("gemini-embedding-001", "google", "2026-11-22")
    ]).toEqual([
      "deprecated; shutdown=2026-12-01; successor=gemini-3.8-flash",
      "shut_down; shutdown=2026-12-01; successor=gemini-3.8-flash",
      "deprecated; shutdown=2027-03-31; successor=gemini-3.8-flash",
      "deprecated; shutdown=2026-11-30; successor=claude-sonnet-5-5",
      "shut_down; shutdown=2026-06-01; successor=gemini-3.5-flash",
      "deprecated; successor=gemini-3.1-flash-image",
      "deprecated; shutdown=2026-07-14; successor=gemini-embedding-2"
    ])
  })

  it("a model in use gets its warning 60 days before its end (M-720)", () => {
    expect(["2027-03-07", "2027-03-08"].map((day) => warning("gemini-3.1-flash-lite", "google", day))).toEqual([
      undefined,
      "deprecated; shutdown=2027-05-07; successor=gemini-3.5-flash-lite"
    ])
  })

  it("current and unknown models have no warning (M-730)", () => {
    expect(
      ["gemini-3.8-flash", "gemini-3.1-pro-preview", "claude-opus-4-8", "gemini-2.9-foo"].map((id) =>
        warning(id, "google", "2026-11-22")
      )
    ).toEqual([undefined, undefined, undefined, undefined])
  })

  it("a refusal names the end, or else the locations (H25, M-723, M-800)", () => {
    const absence = (id: string, location: string | undefined) =>
      absenceText(record(id), "vertex-ai", location, "2026-11-22")
    expect([
      absence("gemini-2.0-flash", "us-central1"),
      absence("gemini-3.8-flash", "us-central1"),
      absence("gemini-3.8-flash", "eu"),
      absence("gemini-3.8-flash", undefined),
      absence("gemini-2.5-flash", "us-central1"),
      absence("text-embedding-005", "global"),
      absence("gemini-3.6-flash", "us-central1")
    ]).toEqual([
      "gemini-2.0-flash is shut down since 2026-06-01; its successor is gemini-3.5-flash.",
      "gemini-3.8-flash is served in global, us, eu.",
      undefined,
      undefined,
      undefined,
      "text-embedding-005 is served in single regions.",
      undefined
    ])
  })
})

describe("the places of a model", () => {
  it("an account is tested with a model of its location, by the facts in force (M-800)", () => {
    const moved = modelTable({ "gemini-3.8-flash": { locations: ["us-central1"] } })
    expect([
      probeModel(builtInModels, undefined),
      probeModel(builtInModels, "global"),
      probeModel(builtInModels, "us-central1"),
      probeModel(moved, "us-central1")
    ]).toEqual(["gemini-3.8-flash", "gemini-3.8-flash", "gemini-2.5-flash", "gemini-3.8-flash"])
  })

  it("a model without known locations counts as served everywhere (M-800)", () => {
    expect(isServedAt(record("gemini-3.6-flash"), "us-central1")).toBe(true)
  })
})
