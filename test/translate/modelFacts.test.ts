// The table of model classes, row by row.
import { describe, expect, it } from "vitest"
import { modelFacts, normaliseModelId, type ModelFacts } from "../../src/translate/shared/google/modelFacts.ts"

const none: ModelFacts = {
  generation: "g1",
  joinsThoughts: false,
  thinking: "none",
  canStop: false,
  budget: undefined,
  levels: [],
  quietLevel: undefined,
  toolSchema: "subset",
  sentinel: false,
  image: false
}
const g20: ModelFacts = { ...none, generation: "g2.0" }
const media: ModelFacts = { ...none, generation: "g2.5", toolSchema: "json" }
const flash: ModelFacts = { ...media, thinking: "budget", canStop: true, budget: [1, 24_576] }
const lite: ModelFacts = { ...flash, budget: [512, 24_576] }
const pro: ModelFacts = { ...flash, canStop: false, budget: [128, 32_768] }
const g3: ModelFacts = {
  ...media,
  generation: "g3",
  sentinel: true,
  thinking: "level",
  levels: ["MINIMAL", "LOW", "MEDIUM", "HIGH"],
  quietLevel: "LOW"
}
const g3Flash: ModelFacts = { ...g3, quietLevel: "MINIMAL" }

const rows: ReadonlyArray<readonly [string, ModelFacts]> = [
  ["gemma-3-27b-it", { ...none, generation: "gemma" }],
  ["gemini-1.0-pro-003", none],
  ["gemini-1.5-flash-8b", none],
  ["gemini-pro", none],
  ["gemini-pro-vision", none],
  ["gemini-2.0-flash-thinking-exp-01-21", { ...g20, joinsThoughts: true }],
  ["gemini-2.0-flash-001", g20],
  ["gemini-2.0-flash-preview-image-generation", { ...g20, image: true }],
  ["gemini-exp-1206", g20],
  ["learnlm-2.0-flash-experimental", g20],
  ["gemini-2.5-flash-image", { ...media, image: true }],
  ["gemini-2.5-pro-preview-tts", media],
  ["gemini-2.5-flash-native-audio-preview", media],
  ["gemini-2.5-pro", pro],
  ["gemini-2.5-pro-preview-06-05", pro],
  ["gemini-2.5-flash-lite", lite],
  ["gemini-2.5-flash", flash],
  ["gemini-2.5-computer-use-preview-10-2025", flash],
  ["gemini-3-pro-image-preview", { ...g3, thinking: "budget", levels: [], quietLevel: undefined, image: true }],
  ["gemini-3-pro-preview", { ...g3, levels: ["LOW", "HIGH"] }],
  ["gemini-3.1-pro-preview", { ...g3, levels: ["LOW", "MEDIUM", "HIGH"] }],
  ["gemini-3.7-flash", { ...g3, levels: ["LOW", "MEDIUM", "HIGH"] }],
  ["gemini-3-flash-preview", g3Flash],
  ["gemini-3.1-flash-lite-image", { ...g3Flash, image: true }],
  ["gemini-3.5-pro", g3Flash],
  ["gemini-3.6-flash", g3Flash],
  ["gemini-4-ultra", g3],
  ["gemini-flash-latest", g3],
  ["gemini-pro-latest", g3],
  ["something-else", g3]
]

describe("table 1", () => {
  it.each(rows)("%s", (id, facts) => {
    expect(modelFacts(id)).toStrictEqual(facts)
  })
  it("a tuned endpoint", () => {
    expect(modelFacts("1234567890", { tuned: true })).toStrictEqual({
      ...none,
      generation: "tuned",
      thinking: "budget",
      canStop: true
    })
  })
  it.each([
    ["models/Gemini-2.5-Flash", "gemini-2.5-flash"],
    ["google/gemini-3-pro", "gemini-3-pro"],
    ["publishers/google/models/gemini-2.0-flash", "gemini-2.0-flash"],
    ["gemini-2.5-pro", "gemini-2.5-pro"]
  ])("%s is %s", (written, id) => {
    expect(normaliseModelId(written)).toBe(id)
    expect(modelFacts(written)).toStrictEqual(modelFacts(id))
  })
})
