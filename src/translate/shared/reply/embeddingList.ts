// Vectors of an upstream as the list OpenAI's clients read, and several such lists as one.
// It must not know how an upstream wraps its vectors.
import * as Result from "effect/Result"
import type { Reason } from "../../../domain/ProviderError.ts"
import type { Embedding, EmbeddingList, EmbeddingsRequest, Vector } from "../../../wire/openai/Embeddings.ts"
import type { TranslateContext } from "../../Translator.ts"
import { floatsToBase64 } from "../media/base64.ts"

/** Vectors are 32-bit floats: of a larger number base64 would make infinity. */
const largestFloat = 3.4028234663852886e38

/** The numbers of a vector, passed on without a copy; undefined when there are none, or anything else is among them. */
export const numbersOf = (value: unknown): ReadonlyArray<number> | undefined => {
  if (!Array.isArray(value) || value.length === 0) return undefined
  for (let at = 0; at < value.length; at++) {
    const one: unknown = value[at]
    // False for NaN as well.
    if (typeof one !== "number" || !(one <= largestFloat && one >= -largestFloat)) return undefined
  }
  return value
}

/** A vector in the form the client asked for. */
export const vectorOf = (numbers: ReadonlyArray<number>, { encoding_format }: EmbeddingsRequest): Vector =>
  encoding_format === "base64" ? floatsToBase64(numbers) : numbers

/** An entry of the list but for its index. */
export type Found = Omit<Embedding, "object" | "index">

const inputsOf = (input: unknown): number => (Array.isArray(input) ? input.length : 1)

/** Fails unless there is exactly one vector per input: with any other number nobody knows which belongs to which. */
export const embeddingList = (
  found: ReadonlyArray<Found | undefined>,
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

/** The lists of all calls of one request, in order, as one. */
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
