// Tests the table of model classes, row by row.
// Must not open sockets or read clocks.
import { describe, expect, it } from "vitest"
import { normaliseModelId } from "../../../src/domain/models/modelName.ts"
import { builtInModels } from "../../../src/domain/models/modelTable.ts"
import { modelFacts, type ModelFacts } from "../../../src/translate/shared/gemini.ts"

const factsOf = (id: string): ModelFacts => modelFacts(builtInModels.find(id).record)

/** What the generation of a model fixes; the rest are its rules. */
type Class = Omit<ModelFacts, keyof Rules>
type Rules = Pick<
  ModelFacts,
  "takesBudget" | "allowsPrefill" | "withheld" | "mostAnswers" | "explicitCache" | "longDecode" | "officeFiles"
>
const split = (facts: ModelFacts): readonly [Class, Rules] => {
  const { takesBudget, allowsPrefill, withheld, mostAnswers, explicitCache, longDecode, officeFiles, ...rest } = facts
  return [rest, { takesBudget, allowsPrefill, withheld, mostAnswers, explicitCache, longDecode, officeFiles }]
}

const none: Class = {
  generation: "g1",
  joinsThoughts: false,
  thinking: "none",
  canStop: false,
  budget: undefined,
  levels: [],
  quietLevel: undefined,
  toolSchema: "subset",
  sentinel: false,
  image: false,
  speaks: false
}
const g20: Class = { ...none, generation: "g2.0" }
const media: Class = { ...none, generation: "g2.5", toolSchema: "json" }
const flash: Class = { ...media, thinking: "budget", canStop: true, budget: [1, 24_576] }
const lite: Class = { ...flash, budget: [512, 24_576] }
const pro: Class = { ...flash, canStop: false, budget: [128, 32_768] }
const g3: Class = {
  ...media,
  generation: "g3",
  sentinel: true,
  thinking: "level",
  levels: ["MINIMAL", "LOW", "MEDIUM", "HIGH"],
  quietLevel: "LOW"
}
const g3Newest: Class = { ...g3, levels: ["LOW", "MEDIUM", "HIGH"] }
const g3Flash: Class = { ...g3, quietLevel: "MINIMAL" }

const rows: ReadonlyArray<readonly [string, Class]> = [
  ["gemma-3-27b-it", { ...none, generation: "gemma" }],
  ["gemini-1.0-pro-003", none],
  ["gemini-1.5-flash-8b", none],
  ["gemini-pro", none],
  ["gemini-pro-vision", none],
  ["gemini-2.0-flash-thinking-exp-01-21", { ...g20, joinsThoughts: true }],
  ["gemini-2.0-flash-001", g20],
  ["gemini-2.0-flash-preview-image-generation", { ...g20, image: true, speaks: false }],
  ["gemini-exp-1206", g20],
  ["learnlm-2.0-flash-experimental", g20],
  ["gemini-2.5-flash-image", { ...media, image: true, speaks: false }],
  ["gemini-2.5-pro-preview-tts", { ...media, speaks: true }],
  ["gemini-2.5-flash-native-audio-preview", media],
  ["gemini-2.5-pro", pro],
  ["gemini-2.5-pro-preview-06-05", pro],
  ["gemini-2.5-flash-lite", lite],
  ["gemini-2.5-flash", flash],
  ["gemini-2.5-computer-use-preview-10-2025", flash],
  [
    "gemini-3-pro-image-preview",
    { ...g3, thinking: "budget", levels: [], quietLevel: undefined, image: true, speaks: false }
  ],
  ["gemini-3-pro-preview", { ...g3, levels: ["LOW", "HIGH"] }],
  ["gemini-3.1-pro-preview", { ...g3, levels: ["LOW", "MEDIUM", "HIGH"] }],
  ["gemini-3.7-flash", { ...g3, levels: ["LOW", "MEDIUM", "HIGH"] }],
  ["gemini-3-flash-preview", g3Flash],
  ["gemini-3.1-flash-lite-image", { ...g3Flash, levels: ["MINIMAL", "HIGH"], image: true, speaks: false }],
  ["gemini-3.5-pro", g3Newest],
  ["gemini-3.6-flash", g3Flash],
  ["gemini-4-ultra", g3Newest],
  ["gemini-flash-latest", g3Newest],
  ["gemini-pro-latest", g3Newest],
  ["gemini-4-neon", { ...g3Newest, levels: ["LOW", "MEDIUM", "HIGH", "XHIGH"] }],
  [
    "gemma-4-31b-it",
    { ...none, generation: "gemma", thinking: "level", levels: ["MINIMAL", "HIGH"], quietLevel: "MINIMAL" }
  ],
  ["something-else", g3Newest]
]

const free: Rules = {
  takesBudget: true,
  allowsPrefill: true,
  withheld: new Set(),
  mostAnswers: 8,
  explicitCache: true,
  longDecode: undefined,
  officeFiles: new Set()
}
const quiet = new Set(["presence_penalty", "frequency_penalty", "logprobs"])
const third: Rules = { ...free, withheld: quiet, mostAnswers: 1 }
const latest: Rules = {
  ...third,
  allowsPrefill: false,
  withheld: new Set([...quiet, "temperature", "top_p", "top_k"])
}
const fourth: Rules = {
  ...latest,
  takesBudget: false,
  withheld: new Set([...latest.withheld, "candidate_count>1", "thinking_budget"]),
  explicitCache: false,
  longDecode: { stream: 65_536, unary: 32_768 }
}

const ruled: ReadonlyArray<readonly [string, Rules]> = [
  ["gemini-1.5-flash", free],
  ["gemini-2.0-flash", free],
  ["gemini-2.5-flash", { ...free, withheld: new Set([...quiet].map((name) => `${name}@google`)) }],
  ["gemini-2.5-flash-image", { ...free, mostAnswers: 1 }],
  ["gemini-3-pro-image", third],
  ["gemini-3-flash-preview", third],
  ["gemini-3.1-pro-preview", { ...third, mostAnswers: 8 }],
  ["gemini-3.5-flash", third],
  ["gemini-3.5-flash-lite", latest],
  ["gemini-3.6-flash", latest],
  ["gemini-3.8-flash", latest],
  ["gemini-pro-latest", latest],
  ["gemini-4-argon", fourth],
  ["gemini-4-neon", { ...fourth, longDecode: { stream: 65_536, unary: 65_536 } }],
  ["gemini-5-xenon", fourth],
  ["gemma-4-31b-it", { ...free, takesBudget: false, withheld: new Set(["thinking_budget"]), mostAnswers: undefined }]
]

describe("rules of Gemini models (M-210, M-300, M-500 to M-505, M-601)", () => {
  it.each(ruled)("the rules of a model: %s", (id, rules) => {
    expect(split(factsOf(id))[1]).toStrictEqual(rules)
  })
  it("Hydrogen reads office files (M-711)", () => {
    expect(split(factsOf("gemini-4-hydrogen"))[1]).toStrictEqual({
      ...fourth,
      longDecode: { stream: 65_536, unary: 65_536 },
      officeFiles: new Set(["docx", "dotx", "doc", "pptx", "ppt", "xlsx", "xls", "odt", "odp", "ods"])
    })
  })
})

describe("Gemini model facts (table 1)", () => {
  it.each(rows)("the class of a model: %s", (id, facts) => {
    expect(split(factsOf(id))[0]).toStrictEqual(facts)
  })
  it("a tuned endpoint has the facts of its class", () => {
    expect(split(modelFacts(builtInModels.find("1234567890").record, { tuned: true }))).toStrictEqual([
      { ...none, generation: "tuned", thinking: "budget", canStop: true },
      { ...free, mostAnswers: undefined }
    ])
  })
  it.each([
    ["models/Gemini-2.5-Flash", "gemini-2.5-flash"],
    ["google/gemini-3-pro", "gemini-3-pro"],
    ["publishers/google/models/gemini-2.0-flash", "gemini-2.0-flash"],
    ["gemini-2.5-pro", "gemini-2.5-pro"]
  ])("the normalised id of %s is %s", (written, id) => {
    expect(normaliseModelId(written)).toBe(id)
    expect(factsOf(written)).toStrictEqual(factsOf(id))
  })
})
