// Embedding models: the operation each model uses and the most inputs of one call.
// Must not depend on requests, URLs or accounts. Source: the embeddings model pages of Vertex AI and the Gemini API.
import type { TranslateContext } from "../Translator.ts"

export interface EmbeddingModel {
  readonly operation: "predict" | "embedContent" | "batchEmbedContents" | "embeddings"
  readonly inputsPerCall: number
  /** True for models that also embed images and videos; such models have media fields. */
  readonly multimodal: boolean
}

const model = (operation: EmbeddingModel["operation"], inputsPerCall: number, multimodal = false): EmbeddingModel => ({
  operation,
  inputsPerCall,
  multimodal
})

const newest = model("embedContent", 1)
const selfDeployed = { openai: model("embeddings", 250), predict: model("predict", 250) }
const batch = model("batchEmbedContents", 100)

/** Undefined when the product does not offer the model for embeddings. For self-deployed models the dialect decides. */
export const embeddingModel = (
  target: Pick<TranslateContext["target"], "kind" | "family" | "record">,
  isEndpoint = target.family !== "gemini"
): EmbeddingModel | undefined => {
  const { family, kind, record } = target
  if (isEndpoint) return family === "openai" || family === "predict" ? selfDeployed[family] : undefined
  if (family !== "gemini") return undefined
  const { input = [], inputs_per_call: inputs = 1, operation } = record
  const isPredicted = record.family === "embedding" && operation === "predict"
  const isMultimodal = isPredicted && input.includes("video")
  if (kind === "google") return isMultimodal ? undefined : batch
  return isPredicted ? model("predict", inputs, isMultimodal) : newest
}
