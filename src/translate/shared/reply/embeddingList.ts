// Builds OpenAI's embedding list from upstream vectors and joins the lists of several calls.
// Must not depend on an upstream's wrapping of vectors.
import * as Result from "effect/Result"
import type { Reason } from "../../../domain/ProviderError.ts"
import type { Embedding, EmbeddingList, EmbeddingsRequest, Vector } from "../../../wire/openai/Embeddings.ts"
import type { TranslateContext } from "../../Translator.ts"
import { floatsToBase64 } from "../media/base64.ts"

/** Vectors are 32-bit floats: a larger number would become infinity in base64. */
const largestFloat = 3.4028234663852886e38

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

/** Encodes a vector in the client's `encoding_format`. */
export const encodeVector = (numbers: ReadonlyArray<number>, { encoding_format }: EmbeddingsRequest): Vector =>
  encoding_format === "base64" ? floatsToBase64(numbers) : numbers

/** An entry of the list without its index. */
export type EmbeddingEntry = Omit<Embedding, "object" | "index">

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
  const data: Array<Embedding> = []
  for (const item of found) {
    if (item !== undefined) data.push({ object: "embedding", index: data.length, ...item })
  }
  if (data.length !== wanted || found.length !== wanted) {
    const message = `The upstream answered ${wanted} ${wanted === 1 ? "input" : "inputs"} with ${data.length} usable vectors. Try again.`
    return Result.fail({ _tag: "BadReply", kind: "no_content", message })
  }
  return Result.succeed({
    object: "list",
    data,
    model,
    usage: { prompt_tokens: promptTokens, total_tokens: promptTokens },
    provider: context.target.kind
  })
}

/** Joins the lists of all calls of one request, in order. */
export const joinEmbeddings = (lists: ReadonlyArray<EmbeddingList>): EmbeddingList => {
  const [first] = lists
  if (first === undefined || lists.length === 1) return first ?? nothing
  const data: Array<Embedding> = []
  let tokens = 0
  for (const list of lists) {
    for (const item of list.data) data.push({ ...item, index: data.length })
    tokens += list.usage.prompt_tokens
  }
  return { ...first, data, usage: { prompt_tokens: tokens, total_tokens: tokens } }
}

const nothing: EmbeddingList = { object: "list", data: [], model: "", usage: { prompt_tokens: 0, total_tokens: 0 } }
