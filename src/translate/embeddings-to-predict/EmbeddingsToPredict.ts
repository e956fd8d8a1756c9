// Translator pair: embeddings to predict on Vertex AI, for text models and multimodalembedding@001.
// Must not depend on URLs, credentials or the splitting of requests.
import * as Result from "effect/Result"
import type { RequestFault } from "../../domain/GatewayError.ts"
import type { JsonObject } from "../../domain/text/json.ts"
import { PredictReply, type PredictRequest } from "../../wire/google/Predict.ts"
import type { EmbeddingList, EmbeddingsRequest } from "../../wire/openai/Embeddings.ts"
import { embeddingModel } from "../shared/embeddingModels.ts"
import { readLabels } from "../shared/chat-request/labels.ts"
import { failureFromOpenAi } from "../shared/reply/openAiFailure.ts"
import { type EmbeddingsOptions, readEmbeddings, requireTexts } from "../shared/readEmbeddings.ts"
import type { Translated, TranslateContext, Unary } from "../Translator.ts"
import { multimodalInstances } from "./multimodal.ts"
import { ignoredPredictEmbeddingsParams } from "./params.ts"
import { embeddingsFromPredict } from "./response.ts"

/** The instances and parameters, which depend on the kind of model. */
interface Shaped {
  readonly instances: ReadonlyArray<JsonObject>
  readonly parameters: JsonObject
  readonly unused: ReadonlyArray<string>
}

const textShape = (request: EmbeddingsRequest, options: EmbeddingsOptions): Result.Result<Shaped, RequestFault> => {
  const { dimensions, taskType, title } = options
  const autoTruncate = request.auto_truncate ?? undefined
  const words = {
    ...(taskType === undefined ? {} : { task_type: taskType }),
    ...(title === undefined ? {} : { title })
  }
  return Result.map(requireTexts(options.inputs), (texts) => ({
    instances: texts.map((content) => ({ content, ...words })),
    parameters: {
      ...(dimensions === undefined ? {} : { outputDimensionality: dimensions }),
      ...(autoTruncate === undefined ? {} : { autoTruncate })
    },
    unused: options.unused
  }))
}

const mediaShape = ({ dimensions, inputs }: EmbeddingsOptions): Result.Result<Shaped, RequestFault> =>
  Result.map(multimodalInstances(inputs), (instances) => ({
    instances,
    parameters: dimensions === undefined ? {} : { dimension: dimensions },
    unused: ["task_type", "title", "auto_truncate"]
  }))

const predictRequest = (
  request: EmbeddingsRequest,
  { target }: TranslateContext
): Result.Result<Translated<PredictRequest>, RequestFault> => {
  const options = readEmbeddings(request)
  if (Result.isFailure(options)) return Result.fail(options.failure)
  const isMultimodal = embeddingModel(target)?.multimodal === true
  const shaped = isMultimodal ? mediaShape(options.success) : textShape(request, options.success)
  if (Result.isFailure(shaped)) return Result.fail(shaped.failure)
  const { instances, parameters, unused } = shaped.success
  return Result.map(readLabels(request.labels, target), (labels) => ({
    body: { instances, ...(Object.keys(parameters).length === 0 ? {} : { parameters }), ...labels.body },
    headers: {},
    ignored: ignoredPredictEmbeddingsParams(request, [...unused, ...labels.unused])
  }))
}

export const embeddingsToPredict: Unary<EmbeddingsRequest, PredictRequest, PredictReply, EmbeddingList> = {
  name: "embeddings-to-predict",
  reply: PredictReply,
  request: predictRequest,
  response: embeddingsFromPredict,
  failure: failureFromOpenAi
}
