// Reads and checks an embeddings request: inputs, task type, title, dimensions; splits it into upstream calls.
// Must not depend on an upstream.
import * as Result from "effect/Result"
import type { BodyInvalid } from "../../domain/GatewayError.ts"
import { isJsonObject } from "../../domain/text/json.ts"
import { readEach } from "../../domain/text/readEach.ts"
import type { EmbeddingsRequest } from "../../wire/openai/Embeddings.ts"
import type { Parts } from "../Translator.ts"
import type { TurnPart } from "./chat-request/readParts.ts"
import { type CallBounds, cutInputs } from "./cutInputs.ts"
import { readInputParts } from "./embeddingInput.ts"
import { invalid } from "./fault.ts"

/** One input: its text, or its parts. */
export interface EmbeddingInput {
  readonly path: string
  readonly parts: ReadonlyArray<TurnPart>
  /** The input as the client wrote it. */
  readonly written: unknown
}

export interface EmbeddingsOptions {
  readonly inputs: ReadonlyArray<EmbeddingInput>
  readonly dimensions: number | undefined
  /** In upper case; the list of task types is open. */
  readonly taskType: string | undefined
  /** Applies to documents only; otherwise unused. */
  readonly title: string | undefined
  readonly unused: ReadonlyArray<string>
}

type Read<A> = Result.Result<A, BodyInvalid>

/** Reads and checks all parameters that do not depend on the upstream. */
export const readEmbeddings = (request: EmbeddingsRequest): Read<EmbeddingsOptions> => {
  const inputs = readInputs(request.input)
  if (Result.isFailure(inputs)) return Result.fail(inputs.failure)
  const dimensions = request.dimensions ?? undefined
  if (dimensions !== undefined && !(Number.isInteger(dimensions) && dimensions >= 1 && dimensions < 2 ** 31)) {
    return invalid("dimensions", "invalid_value", "dimensions must be a whole number of at least 1.")
  }
  const format = request.encoding_format ?? "float"
  if (format !== "float" && format !== "base64") {
    return invalid("encoding_format", "invalid_value", "encoding_format must be float or base64.")
  }
  const taskType = request.task_type?.toUpperCase()
  if (taskType !== undefined && !/^[A-Z][A-Z0-9_]{0,63}$/.test(taskType)) {
    return invalid("task_type", "invalid_value", "task_type must be a word such as RETRIEVAL_QUERY or CLASSIFICATION.")
  }
  const title = request.title ?? undefined
  const isTitled = taskType === "RETRIEVAL_DOCUMENT"
  return Result.succeed({
    inputs: inputs.success,
    dimensions,
    taskType,
    title: isTitled ? title : undefined,
    unused: isTitled ? [] : ["title"]
  })
}

/** OpenAI's own bound on `input`. */
const mostInputs = 2_048

/** LangChain's client of OpenAI cuts texts into tokens itself by default. */
const tokensFault =
  "Token arrays mean nothing to this model, whose tokens are others; send texts. In LangChain's OpenAIEmbeddings set check_embedding_ctx_length=False."

const isTokens = (item: unknown): boolean =>
  typeof item === "number" || (Array.isArray(item) && item.some((inner) => typeof inner === "number"))

const readInput = (written: unknown, path: string): Read<EmbeddingInput> =>
  Result.map(readInputParts(written, path), (parts) => ({ path, parts, written }))

/** Empty texts are sent: only some providers refuse them. */
const readInputs = (input: unknown): Read<ReadonlyArray<EmbeddingInput>> => {
  if (typeof input === "string" || isJsonObject(input)) return Result.map(readInput(input, "input"), (one) => [one])
  if (!Array.isArray(input)) return invalid("input", "invalid_type", "input must be a string or an array of strings.")
  const list: ReadonlyArray<unknown> = input
  if (list.length === 0) return invalid("input", "invalid_value", "input is empty; send at least one text.")
  if (list.some(isTokens)) return invalid("input", "unsupported_input", tokensFault)
  if (list.length > mostInputs) return invalid("input", "array_too_long", `input has more than ${mostInputs} entries.`)
  return readEach(list, (item, index) => readInput(item, `input[${index}]`))
}

/** The text of an input; undefined where it has other parts. */
export const textOfInput = ({ parts }: EmbeddingInput): string | undefined => {
  const texts = parts.flatMap((part) => (part._tag === "Text" ? [part.text] : []))
  return texts.length === parts.length ? texts.join("\n") : undefined
}

export const textsOnly = (path: string) =>
  invalid(
    path,
    "unsupported_input",
    "This model embeds texts only; gemini-embedding-2 embeds pictures, sound, videos and PDF as well."
  )

/** Refuses media: only multimodal models accept them. */
export const requireTexts = (inputs: ReadonlyArray<EmbeddingInput>): Read<ReadonlyArray<string>> =>
  readEach(inputs, (input) => {
    const text = textOfInput(input)
    return text === undefined ? textsOnly(input.path) : Result.succeed(text)
  })

/** The inputs of one call, as a request of its own. */
export interface EmbeddingsPart {
  readonly request: EmbeddingsRequest
  /** Where its inputs that have no text are in the client's list. */
  readonly empty: ReadonlyArray<string>
}

/** Splits a request into the calls that a model takes. */
export const cutEmbeddings = (request: EmbeddingsRequest, bounds: CallBounds): Read<Parts<EmbeddingsPart>> =>
  Result.map(readEmbeddings(request), ({ inputs }) => {
    const calls = cutInputs(inputs, bounds, (input) => textOfInput(input) ?? "")
    const [first = { request, empty: [] }, ...rest] = calls.map((call) => ({
      request: calls.length === 1 ? request : { ...request, input: call.map(({ written }) => written) },
      empty: call.filter((input) => textOfInput(input) === "").map(({ path }) => path)
    }))
    return [first, ...rest]
  })
