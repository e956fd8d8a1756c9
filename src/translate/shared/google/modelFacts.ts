// What is known about a Gemini model from its id: generation, thinking knob, schema field.
// It must not know requests; an unknown id counts as the newest generation.
import { remembered } from "../../../domain/remembered.ts"

export type ThinkingLevel = "MINIMAL" | "LOW" | "MEDIUM" | "HIGH"

export interface ModelFacts {
  readonly generation: "gemma" | "g1" | "g2.0" | "g2.5" | "g3" | "tuned"
  /** The old experimental models whose chain of thought is joined to the answer. */
  readonly joinsThoughts: boolean
  readonly thinking: "none" | "budget" | "level"
  /** True when thinking can be switched off. */
  readonly canStop: boolean
  /** Legal budgets besides 0 and -1; undefined: as sent. */
  readonly budget: readonly [number, number] | undefined
  /** Legal levels in rising order; empty unless `thinking` is `level`. */
  readonly levels: ReadonlyArray<ThinkingLevel>
  /** The level that stands for "switched off"; undefined unless `thinking` is `level`. */
  readonly quietLevel: ThinkingLevel | undefined
  /** `json` is `parametersJsonSchema`, `subset` the older OpenAPI subset in `parameters`. */
  readonly toolSchema: "json" | "subset"
  /** True when the documented sentinel stands in for a signature that is not known. */
  readonly sentinel: boolean
  readonly image: boolean
}

type Class = Omit<ModelFacts, "image">

const plain: Class = {
  generation: "g1",
  joinsThoughts: false,
  thinking: "none",
  canStop: false,
  budget: undefined,
  levels: [],
  quietLevel: undefined,
  toolSchema: "subset",
  sentinel: false
}
const g20: Class = { ...plain, generation: "g2.0" }
const media25: Class = { ...plain, generation: "g2.5", toolSchema: "json" }
const g25 = (canStop: boolean, lowest: number, highest: number): Class => ({
  ...media25,
  thinking: "budget",
  canStop,
  budget: [lowest, highest]
})
const g3: Class = { ...media25, generation: "g3", sentinel: true }
const levels = (quietLevel: ThinkingLevel, legal: ReadonlyArray<ThinkingLevel>): Class => ({
  ...g3,
  thinking: "level",
  levels: legal,
  quietLevel
})
const allLevels: ReadonlyArray<ThinkingLevel> = ["MINIMAL", "LOW", "MEDIUM", "HIGH"]

/** First match wins. The ranges are Google's own, from its pages on thinking. */
const classes: ReadonlyArray<readonly [RegExp, Class]> = [
  [/^gemma-/, { ...plain, generation: "gemma" }],
  [/^gemini-(1\.|pro$|pro-vision$)/, plain],
  [/-thinking-exp/, { ...g20, joinsThoughts: true }],
  [/^(gemini-2\.0-|gemini-exp-|learnlm-)/, g20],
  [/^gemini-2\.5-.*(image|tts|audio)/, media25],
  [/^gemini-2\.5-pro/, g25(false, 128, 32_768)],
  [/^gemini-2\.5-flash-lite/, g25(true, 512, 24_576)],
  [/^gemini-2\.5-/, g25(true, 1, 24_576)],
  [/^gemini-3-pro-image/, { ...g3, thinking: "budget" }],
  [/^gemini-3-pro/, levels("LOW", ["LOW", "HIGH"])],
  [/^gemini-3\.(1-pro|7-flash)/, levels("LOW", ["LOW", "MEDIUM", "HIGH"])],
  [/^gemini-3(-flash|\.1-flash|\.5-|\.6-)/, levels("MINIMAL", allLevels)]
]
// An id nobody has listed may lack MINIMAL, so LOW is the safe way to quieten it.
const newest = levels("LOW", allLevels)
const tunedEndpoint: Class = { ...plain, generation: "tuned", thinking: "budget", canStop: true }

/** The bare id in lower case: resource prefixes such as `models/` or `publishers/google/models/` are cut off. */
export const normaliseModelId = (modelId: string): string =>
  modelId.toLowerCase().replace(/^(publishers\/google\/models\/|models\/|google\/)+/, "")

const factsOf = remembered((modelId): ModelFacts => {
  const id = normaliseModelId(modelId)
  return { ...(classes.find(([pattern]) => pattern.test(id))?.[1] ?? newest), image: /image|nano-banana/.test(id) }
})

const tunedFacts: ModelFacts = { ...tunedEndpoint, image: false }

/** `tuned` says that the id is the number of a tuned endpoint, of which nothing else is known. */
export const modelFacts = (modelId: string, options?: { readonly tuned?: boolean }): ModelFacts =>
  options?.tuned === true ? tunedFacts : factsOf(modelId)
