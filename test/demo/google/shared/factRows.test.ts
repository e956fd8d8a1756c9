// The simulator's own copy of the facts and its own reader.
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import {
  answeringId,
  exactRow,
  factIds,
  factRow,
  isPublished,
  isServedAt,
  isShutDown
} from "../../../../src/demo/google/shared/models.ts"
import { builtInModels } from "../../../../src/domain/models/modelTable.ts"
import { copyFile, copyTarget } from "../../../support/generateFacts.ts"
import { loudlySkipped, sharedDir } from "../../../support/shared.ts"

const row = (id: string) => {
  const found = factRow(id)
  if (found === undefined) throw new Error(`no row for ${id}`)
  return found
}
const idOf = (id: string) => factIds.find((one) => exactRow(one) === factRow(id))

describe("ids that Google publishes", () => {
  it.each([
    ["claude-opus-4-1", true],
    ["claude-opus-4-1@20250805", true],
    ["claude-opus-4-1@default", true],
    ["claude-opos-4-1@20250805", false],
    ["claude-opus-9", false],
    ["gemini-2.5-pro", true],
    ["gemini-2.5-pro-002", true],
    ["gemini-2.5-proo", false],
    ["text-embeding-005", false]
  ])("published ids: %s is %s (M-723)", (id, published) => {
    expect(isPublished(id)).toBe(published)
  })
})

describe("the simulator's copy of the facts", () => {
  it("is what the command writes (M-1003)", () => {
    const shared = sharedDir()
    if (shared === undefined) return loudlySkipped("the comparison of the simulator's facts with their source")
    const source = readFileSync(join(shared, "specs/models.json"), "utf8")
    expect(readFileSync(join(import.meta.dirname, "../../../..", copyTarget), "utf8")).toBe(copyFile(source))
  })

  it("has the ids of the gateway's own facts (M-1003)", () => {
    expect([...factIds].toSorted()).toEqual([...builtInModels.ids].toSorted())
  })

  it("gives an unknown id the row of its kin or of its nearest neighbour (M-1003)", () => {
    const rows = [
      ["gemini-2.5-flash-preview-09-2025", "gemini-2.5-flash"],
      ["gemini-2.5-flash-image-preview", "gemini-2.5-flash-image"],
      ["gemini-3-pro", "gemini-3-pro-preview"],
      ["gemini-3.9-flash", "gemini-3.7-flash"],
      ["gemini-4.5-flash", "gemini-4-argon"],
      ["gemini-1.5-pro", "gemini-2.0-flash"],
      ["claude-sonnet-4-5", "claude-sonnet-4-5@20250929"],
      ["claude-sonnet-4-6@default", "claude-sonnet-4-6"],
      ["claude-haiku-6", "claude-haiku-5-5"],
      ["there-is-no-such-model", undefined]
    ]
    expect(rows.map(([id = ""]) => [id, idOf(id)])).toEqual(rows)
  })

  it("shuts a model down by its stage, or by a day after that of the facts (M-723)", () => {
    const shut = (id: string, provider: "google" | "vertex-ai", day: string) => isShutDown(row(id), provider, day)
    expect([
      shut("gemini-2.0-flash", "google", "2026-05-31"),
      shut("gemini-2.0-flash", "google", "2026-06-01"),
      shut("gemini-3-pro-preview", "vertex-ai", "2026-11-22"),
      shut("gemini-2.5-flash", "vertex-ai", "2027-03-31"),
      shut("gemini-embedding-001", "google", "2026-11-22"),
      shut("claude-3-7-sonnet@20250219", "vertex-ai", "2026-11-22"),
      shut("imagen-3.0-generate-001", "vertex-ai", "2026-11-22"),
      shut("imagen-4.0-generate-001", "google", "2026-11-22"),
      shut("gemini-3.8-flash", "google", "2030-01-01")
    ]).toEqual([false, true, true, true, false, true, false, true, false])
  })

  it("answers a routed id by another model from its day on (M-722)", () => {
    expect(
      ["2026-11-30", "2026-12-01"].flatMap((day) => [
        answeringId("gemini-2.5-pro", "google", day),
        answeringId("gemini-2.5-pro", "vertex-ai", day)
      ])
    ).toEqual(["gemini-2.5-pro", "gemini-2.5-pro", "gemini-3.8-flash", "gemini-2.5-pro"])
  })

  it("serves a model in its own locations (M-800)", () => {
    const places = ["global", "us", "eu", "us-central1", "us-east5"]
    const servedAt = (id: string) => places.filter((place) => isServedAt(row(id), place))
    expect(
      ["gemini-2.5-flash", "gemini-3.8-flash", "gemini-3.1-pro-preview", "claude-opus-4-6", "text-embedding-005"].map(
        servedAt
      )
    ).toEqual([places, ["global", "us", "eu"], ["global"], ["global", "us-east5"], ["us-central1", "us-east5"]])
  })
})
