// Embedding models: the operation each model uses and the most inputs of one call.
// Must not depend on requests, URLs or accounts. Source: the embeddings model pages of Vertex AI and the Gemini API.
import type { TranslateContext } from "../Translator.ts"

export interface EmbeddingModel {
  readonly operation: "predict" | "embedContent" | "batchEmbedContents" | "embeddings"
  readonly inputsPerCall: number
  /** All inputs of one call together; undefined where no bound is known. */
  readonly tokensPerCall?: number | undefined
  /** True where an input may be a picture, sound, a video or a document. */
  readonly takesMedia: boolean
  /** True for multimodalembedding@001, whose instances have fields for media. */
  readonly multimodal: boolean
}

const model = (operation: EmbeddingModel["operation"], inputsPerCall: number, takesMedia = false): EmbeddingModel => ({
  operation,
  inputsPerCall,
  takesMedia,
  multimodal: false
})

const selfDeployed = { openai: model("embeddings", 250), predict: model("predict", 250) }
/** Source: https://cloud.google.com/vertex-ai/generative-ai/docs/embeddings/get-text-embeddings, API limits. */
const textTokensPerCall = 20_000

/** Undefined when the product does not offer the model for embeddings. For self-deployed models the dialect decides. */
export const embeddingModel = (
  target: Pick<TranslateContext["target"], "kind" | "family" | "record">,
  isEndpoint = target.family !== "gemini"
): EmbeddingModel | undefined => {
  const { family, kind, record } = target
  if (isEndpoint) return family === "openai" || family === "predict" ? selfDeployed[family] : undefined
  if (family !== "gemini") return undefined
  const { input = [], inputs_per_call: inputs = 1, operation, tokens_per_call: tokens = textTokensPerCall } = record
  const isPredicted = record.family === "embedding" && operation === "predict"
  const isMultimodal = isPredicted && input.includes("video")
  const takesMedia = record.input === undefined || input.some((kind) => kind !== "text")
  if (kind === "google") return isMultimodal ? undefined : model("batchEmbedContents", 100, takesMedia)
  return isPredicted
    ? { ...model("predict", inputs, isMultimodal), multimodal: isMultimodal, tokensPerCall: tokens }
    : model("embedContent", 1, takesMedia)
}

/**
 * Whether shortened vectors of a model come unscaled: those of the models before gemini-embedding-2. Source:
 * https://ai.google.dev/gemini-api/docs/embeddings, quality for smaller dimensions.
 */
export const isUnscaled = ({ record }: Pick<TranslateContext["target"], "record">): boolean =>
  record.family === "embedding" && record.operation === "predict"
