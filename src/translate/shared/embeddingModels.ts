// Which operation embeds with a model, and how many inputs one call of it takes.
// It must not know requests, URLs or accounts. Source: the model pages of Vertex AI and the Gemini API on embeddings.
import type { TranslateContext } from "../Translator.ts"
import { normaliseModelId } from "./google/modelFacts.ts"

export interface EmbeddingModel {
  readonly operation: "predict" | "embedContent" | "batchEmbedContents" | "embeddings"
  readonly inputsPerCall: number
  /** Embeds images and videos as well, and has fields of its own for that. */
  readonly multimodal: boolean
}

const model = (operation: EmbeddingModel["operation"], inputsPerCall: number, multimodal = false): EmbeddingModel => ({
  operation,
  inputsPerCall,
  multimodal
})

const multimodalIds = /^multimodalembedding(@|$)/

/** First match wins; an id nobody has listed is as the newest ones are. */
const onVertex: ReadonlyArray<readonly [RegExp, EmbeddingModel]> = [
  [/^(text-embedding-|text-multilingual-embedding-|textembedding-gecko)/, model("predict", 250)],
  [/^gemini-embedding-001$/, model("predict", 1)],
  [multimodalIds, model("predict", 1, true)]
]
const newest = model("embedContent", 1)
const selfDeployed = { openai: model("embeddings", 250), predict: model("predict", 250) }
const batch = model("batchEmbedContents", 100)

/** Undefined where the model is not offered for embeddings. Self-deployed models are known by their dialect alone. */
export const embeddingModel = (
  target: Pick<TranslateContext["target"], "kind" | "family" | "modelId">,
  isEndpoint = target.family !== "gemini"
): EmbeddingModel | undefined => {
  const { family, kind } = target
  if (isEndpoint) return family === "openai" || family === "predict" ? selfDeployed[family] : undefined
  if (family !== "gemini") return undefined
  const id = normaliseModelId(target.modelId)
  if (kind === "google") return multimodalIds.test(id) ? undefined : batch
  return onVertex.find(([pattern]) => pattern.test(id))?.[1] ?? newest
}
