// Derives what a Gemini model accepts from its row of facts: kind, thinking, tools, sampling, images, vector sizes.
// It must not depend on requests or routes.
// Source: the copy of the facts; rows for the ids of the demo.

import { factRow } from "./factRows.ts"
import type { FactRow } from "./factRows.ts"

export interface ModelFacts {
  /** `2.5` of Gemini 2.5; 0 for a model without thoughts in its answers. */
  readonly generation: number
  /** `none` refuses a thinkingConfig with a positive budget; `budget` and `level` name the accepted setting. */
  readonly thinking: "none" | "budget" | "level" | "both"
  readonly budget: { readonly least: number; readonly most: number; readonly stoppable: boolean }
  readonly levels: ReadonlyArray<string>
  /** The first function call of each step in the current turn must have a signature. */
  readonly needsSignature: boolean
  readonly drawsImages: boolean
  /** Thoughts are ordinary text parts before the answer. */
  readonly thinksAloud: boolean
  /** A conversation may end with a turn of the model. */
  readonly prefill: boolean
  /** Functions together with an answer in JSON. */
  readonly toolsWithJson: boolean
  /** Functions together with built-in tools. */
  readonly mixesTools: boolean
  readonly candidates: number
  /** Refused parameters, as the facts spell them: `logprobs@google`. */
  readonly refused: ReadonlySet<string>
  readonly explicitCaching: boolean
}

const flashBudget = { least: 0, most: 24576, stoppable: true }
const looseBudget = { least: 0, most: 65536, stoppable: false }

const plain = (facts: Partial<ModelFacts> = {}): ModelFacts => ({
  generation: 1,
  thinking: "none",
  budget: flashBudget,
  levels: [],
  needsSignature: false,
  drawsImages: false,
  thinksAloud: false,
  prefill: true,
  toolsWithJson: false,
  mixesTools: false,
  candidates: 8,
  refused: new Set(),
  explicitCaching: true,
  ...facts
})

const generationOf = ({ family, generation }: FactRow): number => {
  if (family === "gemma") return 0
  const version = Number(generation)
  // A moving name and a model for speech are of the third generation or later.
  return Number.isNaN(version) ? 3 : version
}

const thinkingOf = ({ refused = [], thinking: { control, levels = [] } = {} }: FactRow): ModelFacts["thinking"] => {
  if (control === "budget") return "budget"
  if (control !== "level" || levels.length === 0) return "none"
  return refused.includes("thinking_budget") ? "level" : "both"
}

const budgetOf = ({ thinking = {} }: FactRow): ModelFacts["budget"] =>
  thinking.budget_max === undefined
    ? looseBudget
    : {
        least: thinking.budget_min ?? 0,
        most: thinking.budget_max,
        stoppable: thinking.can_disable ?? false
      }

const factsOf = (row: FactRow): ModelFacts => ({
  generation: generationOf(row),
  thinking: thinkingOf(row),
  budget: budgetOf(row),
  levels: (row.thinking?.levels ?? []).map((level) => level.toUpperCase()),
  needsSignature: row.requires_signatures ?? false,
  drawsImages: row.output?.includes("image") ?? false,
  thinksAloud: false,
  prefill: row.allows_prefill ?? true,
  toolsWithJson: row.tools_with_json ?? generationOf(row) >= 3,
  mixesTools: row.builtin_with_functions ?? generationOf(row) >= 3,
  candidates: row.candidate_count_max ?? 8,
  refused: new Set(row.refused),
  explicitCaching: row.explicit_caching ?? true
})

/** A fault id and the other ids of the demo take every setting of the third generation. */
const demoFacts = plain({
  generation: 3,
  thinking: "both",
  budget: looseBudget,
  levels: ["MINIMAL", "LOW", "MEDIUM", "HIGH"],
  needsSignature: true,
  drawsImages: true,
  toolsWithJson: true,
  mixesTools: true
})

const isDemo = (model: string): boolean => model.startsWith("demo-")

/** The facts of an id; an unknown id has those of its nearest neighbour. */
export const modelFacts = (model: string): ModelFacts => {
  if (isDemo(model)) return demoFacts
  // Models of other publishers and self-deployed models have no thinking settings and no signatures.
  if (model.includes("/")) return plain()
  if (model.includes("thinking-exp")) return plain({ generation: 2, thinksAloud: true })
  const row = factRow(model)
  return row === undefined ? plain() : factsOf(row)
}

/** On Vertex AI predict serves `text-embedding`, and embedContent serves `content-embedding`. */
export type ModelKind = "chat" | "text-embedding" | "content-embedding" | "multimodal-embedding" | "imagen"

const kindOf = ({ family, operation, output = [] }: FactRow): ModelKind | undefined => {
  if (family === "imagen") return "imagen"
  if (operation.startsWith("generateContent")) return "chat"
  if (operation.includes("embedContent")) return "content-embedding"
  if (!output.includes("vector")) return undefined
  return operation === "predict, 1 input" ? "multimodal-embedding" : "text-embedding"
}

/** The kind of a published id; `undefined` for unknown ids, which answer 404. */
export const modelKind = (model: string): ModelKind | undefined => {
  if (isDemo(model)) return "chat"
  const row = factRow(model)
  return row === undefined ? undefined : kindOf(row)
}

export interface EmbeddingFacts {
  /** Dimensions of a vector that is not shortened. */
  readonly size: number
  /** Texts allowed in one call of predict. */
  readonly mostInstances: number
  /** Tokens of one text; a longer text is cut or refused. */
  readonly mostTokens: number
}

/** Sources: Google's pages on text and multimodal embeddings. */
export const embeddingFacts = (model: string): EmbeddingFacts => {
  const kind = modelKind(model)
  if (kind === "content-embedding") return { size: 3072, mostInstances: 1, mostTokens: 8192 }
  if (kind === "multimodal-embedding") return { size: 1408, mostInstances: 1, mostTokens: 32 }
  const row = factRow(model)
  return row?.operation.endsWith(", 1 input") === true
    ? { size: 3072, mostInstances: 1, mostTokens: 2048 }
    : { size: 768, mostInstances: 250, mostTokens: 2048 }
}
