// Vectors of an upstream as the list OpenAI's clients read, and several such lists as one.
// It must not know how an upstream wraps its vectors.
import * as Result from "effect/Result"
import type { Reason } from "../../domain/ProviderError.ts"
import type { Embedding, EmbeddingList, EmbeddingsRequest, Vector } from "../../wire/openai/Embeddings.ts"
import type { TranslateContext } from "../Translator.ts"
import { floatsToBase64 } from "./base64.ts"

/** The numbers of a vector, passed on as they came; undefined when there are none. Nobody looks at each number. */
export const numbersOf = (value: unknown): ReadonlyArray<number> | undefined =>
  Array.isArray(value) && value.length > 0 && typeof value[0] === "number" ? value : undefined

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
