// Builds OpenAI's embedding list from upstream vectors and joins the lists of several calls.
// Must not depend on an upstream's wrapping of vectors.
import * as Result from "effect/Result"
import type { Reason } from "../../../domain/ProviderError.ts"
import type { Embedding, EmbeddingList, EmbeddingsRequest, Vector } from "../../../wire/openai/Embeddings.ts"
import type { TranslateContext } from "../../Translator.ts"
import { isUnscaled } from "../embeddingModels.ts"
import { floatsToBase64 } from "../media/base64.ts"
import { largestFloat, NumberList } from "./numberLists.ts"
import { PassedEmbeddings, type PassedVector } from "./PassedEmbeddings.ts"

/** The numbers of a vector, without a copy; undefined for an empty vector or any other value in it. */
export const readNumbers = (value: unknown): ReadonlyArray<number> | undefined => {
  if (!Array.isArray(value) || value.length === 0) return undefined
  for (let at = 0; at < value.length; at++) {
    const one: unknown = value[at]
    // False for NaN as well.
    if (typeof one !== "number" || !(one <= largestFloat && one >= -largestFloat)) return undefined
  }
  return value
}

/** Clients compare by the dot product, which needs vectors of unit length, as OpenAI's are. */
const toUnitLength = (numbers: ReadonlyArray<number>): ReadonlyArray<number> => {
  const length = Math.hypot(...numbers)
  return length === 0 || Math.abs(length - 1) < 1e-3 ? numbers : numbers.map((number) => number / length)
}

/** Whether vectors of this request come shortened and unscaled. */
const needsScaling = ({ dimensions }: EmbeddingsRequest, { target }: TranslateContext): boolean =>
  dimensions !== undefined && dimensions !== null && isUnscaled(target)

/** A vector of texts in the client's `encoding_format`, scaled where its model left that out. */
export const finishVector = (
  numbers: ReadonlyArray<number>,
  request: EmbeddingsRequest,
  context: TranslateContext
): Vector => encodeVector(needsScaling(request, context) ? toUnitLength(numbers) : numbers, request)

/** Encodes a vector in the client's `encoding_format`. */
export const encodeVector = (numbers: ReadonlyArray<number>, { encoding_format }: EmbeddingsRequest): Vector =>
  encoding_format === "base64" ? floatsToBase64(numbers) : numbers

/** True where the vectors of a reply may stay the text that the upstream sent. */
export const passesVectors = (request: EmbeddingsRequest, context: TranslateContext): boolean =>
  request.encoding_format !== "base64" && !needsScaling(request, context)

/** The vector of a reply as the client gets it, or still as text; undefined for an empty one or other values in it. */
export const readVector = (
  value: unknown,
  request: EmbeddingsRequest,
  context: TranslateContext
): Vector | NumberList | undefined => {
  if (value instanceof NumberList) return value
  const numbers = readNumbers(value)
  return numbers === undefined ? undefined : finishVector(numbers, request, context)
}

/** An entry of the list without its index. */
export type EmbeddingEntry = Omit<Embedding, "object" | "index" | "embedding"> & {
  readonly embedding: Vector | NumberList
}

const isPassed = (entry: EmbeddingEntry): entry is PassedVector => entry.embedding instanceof NumberList

/** An entry with the numbers of its vector. */
const parsedEntry = (entry: EmbeddingEntry, index: number): Embedding => {
  const { embedding } = entry
  return {
    object: "embedding",
    index,
    ...entry,
    embedding: embedding instanceof NumberList ? embedding.numbers() : embedding
  }
}

const inputsOf = (input: unknown): number => (Array.isArray(input) ? input.length : 1)

/** Requires exactly one vector per input: with another number, vectors cannot be assigned to inputs. */
export const embeddingList = (
  found: ReadonlyArray<EmbeddingEntry | undefined>,
  promptTokens: number,
  context: TranslateContext,
  request: EmbeddingsRequest,
  model: string = context.target.modelId
): Result.Result<EmbeddingList, Reason> => {
  const wanted = inputsOf(request.input)
  const entries = found.filter((entry) => entry !== undefined)
  if (entries.length !== wanted || found.length !== wanted) {
    const message = `The upstream answered ${wanted} ${wanted === 1 ? "input" : "inputs"} with ${entries.length} usable vectors. Try again.`
    return Result.fail({ _tag: "BadReply", kind: "no_content", message })
  }
  const usage = { prompt_tokens: promptTokens, total_tokens: promptTokens }
  const facts = { model, usage, provider: context.target.kind }
  return Result.succeed(
    entries.every(isPassed)
      ? new PassedEmbeddings(entries, facts)
      : { object: "list", data: entries.map(parsedEntry), ...facts }
  )
}

/** Joins the lists of all calls of one request, in order. */
export const joinEmbeddings = (lists: ReadonlyArray<EmbeddingList>): EmbeddingList => {
  const [first] = lists
  if (first === undefined || lists.length === 1) return first ?? nothing
  const tokens = lists.reduce((sum, { usage }) => sum + usage.prompt_tokens, 0)
  const { model, provider } = first
  const facts = {
    model,
    usage: { prompt_tokens: tokens, total_tokens: tokens },
    ...(provider === undefined ? {} : { provider })
  }
  if (lists.every((list) => list instanceof PassedEmbeddings))
    return new PassedEmbeddings(
      lists.flatMap(({ vectors }) => vectors),
      facts
    )
  const data = lists.flatMap((list) => list.data).map((item, index) => ({ ...item, index }))
  return { object: "list", data, ...facts }
}

const nothing: EmbeddingList = { object: "list", data: [], model: "", usage: { prompt_tokens: 0, total_tokens: 0 } }
