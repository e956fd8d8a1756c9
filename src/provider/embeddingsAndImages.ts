// Embeddings and images: the model decides the upstream operation, and how many calls of it one request takes.
// It must not depend on bodies, configs or tokens.
import * as Result from "effect/Result"
import { readEach } from "../domain/faults.ts"
import { type GatewayError, UnsupportedOperation } from "../domain/GatewayError.ts"
import type { LimitValues } from "../domain/Limits.ts"
import { embeddingsToBatch, embeddingsToEmbedContent } from "../translate/embeddings-to-gemini.ts"
import { embeddingsToOpenAi } from "../translate/embeddings-to-openai.ts"
import { embeddingsToPredict } from "../translate/embeddings-to-predict.ts"
import { geminiCanvas, imagesToGemini } from "../translate/images-to-gemini.ts"
import { imagesToImagen, isImagen } from "../translate/images-to-imagen.ts"
import { cutImages, isWithoutPicture, joinImages } from "../translate/shared/images.ts"
import { cutEmbeddings, type EmbeddingModel, embeddingModel } from "../translate/shared/readEmbeddings.ts"
import { joinEmbeddings } from "../translate/shared/reply/embeddingList.ts"
import type { Parts, Unary } from "../translate/Translator.ts"
import { type Prepared, prepareUnary, type Split } from "../upstream/Prepared.ts"
import type { EmbeddingList, EmbeddingsRequest } from "../wire/openai/Embeddings.ts"
import { type CallInput, callInput, type PrepareModel, targetFacts } from "./callInput.ts"
import { familyLacks, type RouteOf } from "./route.ts"

/** The first part that cannot be prepared refuses the whole request; the others go along with the first one. */
const inParts = <Part, Out>(
  [first, ...rest]: Parts<Part>,
  prepare: (part: Part) => Result.Result<Prepared<Out, never>, GatewayError>,
  split: Omit<Split<Out>, "calls">
): Result.Result<Prepared<Out, never>, GatewayError> => {
  const head = prepare(first)
  if (Result.isFailure(head) || rest.length === 0) return head
  return Result.map(readEach(rest, prepare), (calls) => ({ ...head.success, split: { ...split, calls } }))
}

interface EmbeddingCall {
  /** The end of the URL. */
  readonly verb: string
  /** How many calls of one request run concurrently. */
  readonly concurrency: number
  readonly prepare: (
    request: EmbeddingsRequest,
    input: CallInput,
    empty: ReadonlyArray<string>
  ) => Result.Result<Prepared<EmbeddingList, never>, GatewayError>
}

/** The translator, which names the empty texts of a call that the provider refuses. */
const namingEmpty = <Body, Reply>(
  translator: Unary<EmbeddingsRequest, Body, Reply, EmbeddingList>,
  empty: ReadonlyArray<string>
): Unary<EmbeddingsRequest, Body, Reply, EmbeddingList> => {
  const [first] = empty
  if (first === undefined) return translator
  return {
    ...translator,
    failure: (...facts) => {
      const reason = translator.failure(...facts)
      if (reason._tag !== "InvalidRequest") return reason
      const message = `${reason.message} ${empty.join(", ")} has no text; leave it out or send a text.`
      return { ...reason, message, param: first }
    }
  }
}

const embeddingCalls: Readonly<Record<EmbeddingModel["operation"], EmbeddingCall>> = {
  batchEmbedContents: {
    verb: ":batchEmbedContents",
    concurrency: 4,
    prepare: (request, input, empty) =>
      prepareUnary({ translator: namingEmpty(embeddingsToBatch, empty), request, ...input })
  },
  embedContent: {
    verb: ":embedContent",
    concurrency: 8,
    prepare: (request, input, empty) =>
      prepareUnary({ translator: namingEmpty(embeddingsToEmbedContent, empty), request, ...input })
  },
  embeddings: {
    verb: "/embeddings",
    concurrency: 8,
    prepare: (request, input, empty) =>
      prepareUnary({ translator: namingEmpty(embeddingsToOpenAi, empty), request, ...input })
  },
  predict: {
    verb: ":predict",
    concurrency: 8,
    prepare: (request, input, empty) =>
      prepareUnary({ translator: namingEmpty(embeddingsToPredict, empty), request, ...input })
  }
}

/** Prepares embeddings over a route of one provider. */
export const embeddings =
  (routeOf: RouteOf, limits: LimitValues): PrepareModel<"embeddings"> =>
  (request, context, model) => {
    const { account } = context
    const factsNow = targetFacts(context, model)
    const facts = embeddingModel({ kind: account.kind, ...model, record: factsNow.idRecord }, model.endpoint)
    if (facts === undefined) {
      return Result.fail(
        new UnsupportedOperation({
          message: `"${model.modelId}" gives no embeddings on ${account.slug} (${account.kind}); take a model such as gemini-embedding-001.`
        })
      )
    }
    const { concurrency, prepare, verb } = embeddingCalls[facts.operation]
    const route = routeOf(account, model, verb)
    if (Result.isFailure(route)) return Result.fail(route.failure)
    const input = callInput("embeddings", context, model, route.success, limits, factsNow)
    return Result.flatMap(cutEmbeddings(request, facts), (parts) =>
      inParts(parts, ({ empty, request: part }) => prepare(part, input, empty), { concurrency, join: joinEmbeddings })
    )
  }

/** How many calls of one request run concurrently. */
const concurrentPictures = 4

/** Prepares images over a route of one provider: Imagen by predict, Gemini by one generateContent per picture. */
export const images =
  (routeOf: RouteOf, limits: LimitValues): PrepareModel<"images"> =>
  (request, context, model) => {
    const { account } = context
    if (model.endpoint) return familyLacks(account, model, "images")
    const factsNow = targetFacts(context, model)
    const drawsAll = isImagen(factsNow.idRecord)
    const route = routeOf(account, model, drawsAll ? ":predict" : ":generateContent")
    if (Result.isFailure(route)) return Result.fail(route.failure)
    const input = callInput("images", context, model, route.success, limits, factsNow)
    if (drawsAll) return prepareUnary({ translator: imagesToImagen, request, ...input })
    return Result.flatMap(cutImages(request, geminiCanvas(account.kind)), (parts) =>
      inParts(parts, (part) => prepareUnary({ translator: imagesToGemini, request: part, ...input }), {
        concurrency: concurrentPictures,
        join: joinImages,
        isSpared: isWithoutPicture
      })
    )
  }
