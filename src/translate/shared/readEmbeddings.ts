// Reads and checks an embeddings request: inputs, task type, title, dimensions; splits it into upstream calls.
// Must not depend on an upstream.
import * as Result from "effect/Result"
import type { BodyInvalid } from "../../domain/GatewayError.ts"
import { isJsonObject, type JsonObject } from "../../domain/text/json.ts"
import type { EmbeddingsRequest } from "../../wire/openai/Embeddings.ts"
import type { Parts } from "../Translator.ts"
import { invalid } from "./fault.ts"

/** All inputs are texts, or all are objects with several media. */
export type EmbeddingInputs =
  | { readonly _tag: "Texts"; readonly texts: ReadonlyArray<string> }
  | { readonly _tag: "Objects"; readonly objects: ReadonlyArray<JsonObject> }

export interface EmbeddingsOptions {
  readonly inputs: EmbeddingInputs
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

const invalidInput = (message: string) => invalid("input", "invalid_value", message)

const readInputs = (input: unknown): Read<EmbeddingInputs> => {
  if (typeof input === "string") {
    return input === ""
      ? invalidInput("input is empty; send a text.")
      : Result.succeed({ _tag: "Texts", texts: [input] })
  }
  if (isJsonObject(input)) return Result.succeed({ _tag: "Objects", objects: [input] })
  if (!Array.isArray(input)) return invalid("input", "invalid_type", "input must be a string or an array of strings.")
  const list: ReadonlyArray<unknown> = input
  if (list.length === 0) return invalidInput("input is empty; send at least one text.")
  if (list.some((item) => typeof item === "number" || Array.isArray(item))) {
    return invalid(
      "input",
      "unsupported_input",
      "Token arrays mean nothing to this model, whose tokens are others; send texts."
    )
  }
  if (list.length > mostInputs) return invalid("input", "array_too_long", `input has more than ${mostInputs} entries.`)
  const empty = list.indexOf("")
  if (empty >= 0) return invalidInput(`input[${empty}] is empty; leave it out or send a text.`)
  if (list.every((item) => typeof item === "string")) return Result.succeed({ _tag: "Texts", texts: list })
  if (list.every(isJsonObject)) return Result.succeed({ _tag: "Objects", objects: list })
  return invalidInput("input mixes kinds of entries; send texts only, or objects only.")
}

/** Refuses objects: only multimodal models accept them. */
export const requireTexts = (inputs: EmbeddingInputs): Read<ReadonlyArray<string>> =>
  inputs._tag === "Texts"
    ? Result.succeed(inputs.texts)
    : invalid(
        "input",
        "unsupported_input",
        "This model embeds texts only; objects with image or video are for multimodalembedding@001."
      )

/** Splits a request into calls of at most `most` inputs. */
export const cutEmbeddings = (request: EmbeddingsRequest, most: number): Read<Parts<EmbeddingsRequest>> =>
  Result.map(readEmbeddings(request), ({ inputs }) => {
    const list: ReadonlyArray<unknown> = inputs._tag === "Texts" ? inputs.texts : inputs.objects
    const from = (at: number): EmbeddingsRequest => ({ ...request, input: list.slice(at, at + most) })
    const rest: Array<EmbeddingsRequest> = []
    for (let at = most; at < list.length; at += most) rest.push(from(at))
    return rest.length === 0 ? [request] : [from(0), ...rest]
  })
