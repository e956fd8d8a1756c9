// Lists the facts about each Google model id: kind, generation, thinking range, signatures, images, vector sizes.
// It must not depend on requests or routes.
// Source: Google's model and thinking pages, recorded and publicly reported refusals.

export interface ModelFacts {
  readonly generation: "gemma" | "1" | "2.0" | "2.5" | "3"
  /** `none` refuses a thinkingConfig with a positive budget; `budget` and `level` name the accepted setting. */
  readonly thinking: "none" | "budget" | "level" | "both"
  readonly budget: { readonly least: number; readonly most: number; readonly stoppable: boolean }
  readonly levels: ReadonlyArray<string>
  /** The first function call of each step in the current turn must have a signature. */
  readonly needsSignature: boolean
  readonly drawsImages: boolean
  /** Thoughts are ordinary text parts before the answer. */
  readonly thinksAloud: boolean
}

const anyLevel = ["MINIMAL", "LOW", "MEDIUM", "HIGH"]
const flashBudget = { least: 0, most: 24576, stoppable: true }

const plain = (generation: ModelFacts["generation"], facts: Partial<ModelFacts> = {}): ModelFacts => ({
  generation,
  thinking: "none",
  budget: flashBudget,
  levels: [],
  needsSignature: false,
  drawsImages: false,
  thinksAloud: false,
  ...facts
})

const third = (levels: ReadonlyArray<string>, facts: Partial<ModelFacts> = {}): ModelFacts =>
  plain("3", {
    thinking: "level",
    levels,
    needsSignature: true,
    budget: { least: 0, most: 65536, stoppable: false },
    ...facts
  })

const rows: ReadonlyArray<readonly [pattern: RegExp, facts: ModelFacts]> = [
  [/^gemma-/, plain("gemma")],
  // Models of other publishers and self-deployed models have no thinking settings and no signatures.
  [/\//, plain("1")],
  [/thinking-exp/, plain("2.0", { thinksAloud: true })],
  [/^(gemini-1[.-]|gemini-pro($|-vision))/, plain("1")],
  [/^gemini-2\.0-.*image/, plain("2.0", { drawsImages: true })],
  [/^(gemini-2\.0-|gemini-exp-|learnlm-)/, plain("2.0")],
  [/^gemini-2\.5-.*image/, plain("2.5", { drawsImages: true })],
  [/^gemini-2\.5-.*(tts|audio)/, plain("2.5")],
  [/^gemini-2\.5-pro/, plain("2.5", { thinking: "budget", budget: { least: 128, most: 32768, stoppable: false } })],
  [
    /^gemini-2\.5-flash-lite/,
    plain("2.5", { thinking: "budget", budget: { least: 512, most: 24576, stoppable: true } })
  ],
  [/^gemini-2\.5-/, plain("2.5", { thinking: "budget" })],
  [/^gemini-3.*image/, third(anyLevel, { thinking: "both", needsSignature: false, drawsImages: true })],
  [/^gemini-3-pro/, third(["LOW", "HIGH"])],
  [/^gemini-3\.1-pro|^gemini-3\.7-flash/, third(["LOW", "MEDIUM", "HIGH"])],
  [/^demo-/, third(anyLevel, { thinking: "both", drawsImages: true })],
  [/./, third(anyLevel)]
]

/** The first matching row; an unknown id counts as the newest generation. */
export const modelFacts = (model: string): ModelFacts => {
  const row = rows.find(([pattern]) => pattern.test(model))
  return row === undefined ? third(anyLevel) : row[1]
}

/** On Vertex AI predict serves `text-embedding`, and embedContent serves `content-embedding`. */
export type ModelKind = "chat" | "text-embedding" | "content-embedding" | "multimodal-embedding" | "imagen"

const kinds: ReadonlyArray<readonly [pattern: RegExp, kind: ModelKind]> = [
  [/^gemini-embedding-(001|exp)/, "text-embedding"],
  [/^gemini-embedding-[2-9]/, "content-embedding"],
  [
    /^(text-embedding-[0-9a-z-]+|text-multilingual-embedding-[0-9a-z-]+|textembedding-gecko[0-9a-z@-]*|embedding-001)$/,
    "text-embedding"
  ],
  [/^multimodalembedding(@001)?$/, "multimodal-embedding"],
  [/^(imagen-[34]\.0-(fast-|ultra-)?generate-[0-9a-z-]+|imagegeneration@00[256])$/, "imagen"],
  [/^(gemini|gemma|learnlm|demo)-[a-z0-9.@-]+$/, "chat"]
]

/** The kind of a published id; `undefined` for unknown ids, which answer 404. */
export const modelKind = (model: string): ModelKind | undefined => kinds.find(([pattern]) => pattern.test(model))?.[1]

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
  if (model.startsWith("gemini-embedding-2")) return { size: 3072, mostInstances: 1, mostTokens: 8192 }
  if (model.startsWith("gemini-embedding-")) return { size: 3072, mostInstances: 1, mostTokens: 2048 }
  if (model.startsWith("multimodalembedding")) return { size: 1408, mostInstances: 1, mostTokens: 32 }
  return { size: 768, mostInstances: 250, mostTokens: 2048 }
}
