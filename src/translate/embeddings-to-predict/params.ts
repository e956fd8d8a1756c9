// Rules for every known embeddings parameter on the way to predict; source of the docs.
// Must not translate parameters.
import type { EmbeddingsRequest, KnownEmbeddingsParam } from "../../wire/openai/Embeddings.ts"
import { ignored, ignoredBy, mapped, silent } from "../shared/chat-request/paramRules.ts"
import type { ParamRule } from "../Translator.ts"

export const predictEmbeddingsParams = {
  model: mapped("the URL"),
  input: mapped("instances[].content; instances[].text, image and video for multimodalembedding@001"),
  dimensions: mapped("parameters.outputDimensionality; parameters.dimension for multimodalembedding@001"),
  encoding_format: silent("shapes our own answer"),
  task_type: mapped("instances[].task_type; models of texts"),
  title: mapped("instances[].title, with RETRIEVAL_DOCUMENT"),
  auto_truncate: mapped("parameters.autoTruncate; models of texts"),
  labels: mapped("labels; the provider's own models"),
  user: ignored("no equivalent upstream")
} satisfies Record<KnownEmbeddingsParam, ParamRule>

export const ignoredPredictEmbeddingsParams: (
  request: EmbeddingsRequest,
  unused: ReadonlyArray<string>
) => ReadonlyArray<string> = ignoredBy(predictEmbeddingsParams)
