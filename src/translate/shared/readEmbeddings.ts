// Reads an embeddings request: inputs, task type, title, dimensions; splits it into calls by the bounds of its model.
// Must not depend on URLs or accounts. Source of the bounds: the embeddings model pages of Vertex AI and the Gemini API.
import * as Result from "effect/Result"
import { charactersOf } from "../../domain/estimateTokens.ts"
import { readEach } from "../../domain/faults.ts"
import type { BodyInvalid } from "../../domain/GatewayError.ts"
import { Reader } from "../../domain/Reader.ts"
import { isJsonObject, type Json, type JsonObject } from "../../domain/text/json.ts"
import type { EmbeddingsRequest } from "../../wire/openai/Embeddings.ts"
import type { Parts, TranslateContext } from "../Translator.ts"
import { invalid } from "./chat-request/paramReader.ts"
import { readPart, textPart, type TurnPart } from "./chat-request/readParts.ts"

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
  const reader = new Reader<never>()
  const inputs = reader.take(readInputs(request.input), [])
  const dimensions = request.dimensions ?? undefined
  if (dimensions !== undefined && !(Number.isInteger(dimensions) && dimensions >= 1 && dimensions < 2 ** 31)) {
    reader.invalid("dimensions", "invalid_value", "dimensions must be a whole number of at least 1.")
  }
  const format = request.encoding_format ?? "float"
  if (format !== "float" && format !== "base64") {
    reader.invalid("encoding_format", "invalid_value", "encoding_format must be float or base64.")
  }
  const taskType = request.task_type?.toUpperCase()
  if (taskType !== undefined && !/^[A-Z][A-Z0-9_]{0,63}$/.test(taskType)) {
    reader.invalid("task_type", "invalid_value", "task_type must be a word such as RETRIEVAL_QUERY or CLASSIFICATION.")
  }
  const title = request.title ?? undefined
  const isTitled = taskType === "RETRIEVAL_DOCUMENT"
  return reader.result({
    inputs,
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

// Reads one input of an embeddings request: a text, a part of a chat, media by name, or several parts of one vector.

/** Members that hold a medium, of clients of other services and of Google's own parts. */
const media = ["image", "image_base64", "video", "audio", "inlineData", "inline_data", "fileData", "file_data"] as const
/** Members that hold parts again. */
const lists = ["content", "parts"] as const
/** Parts of a chat, which some clients write without their type. */
const typed = ["image_url", "input_audio", "file"] as const

/** Members of a medium that hold its address, its bytes, and its type. */
const addresses = ["gcs_uri", "gcsUri", "url", "file_uri", "fileUri", "uri"] as const
const contents = ["base64", "data", "bytesBase64Encoded"] as const
const types = ["mime_type", "mimeType", "media_type", "format"] as const

interface Found {
  readonly name: string
  readonly text: string
}

const firstText = (holder: JsonObject, names: ReadonlyArray<string>): Found | undefined => {
  for (const name of names) {
    const value = holder[name]
    if (typeof value === "string" && value !== "") return { name, text: value }
  }
  return undefined
}

const mediaPart = (path: string, url: string, isData: boolean, declaredType: string | undefined): TurnPart => ({
  _tag: "Media",
  source: { path, url, isData, declaredType, filename: undefined },
  detail: undefined,
  video: undefined,
  signature: undefined,
  cacheControl: undefined
})

/** `{url | gcs_uri | base64, mime_type}`, or the address alone. */
const readMedium = (value: Json, path: string): Read<TurnPart> => {
  if (typeof value === "string" && value !== "") return Result.succeed(mediaPart(path, value, false, undefined))
  if (!isJsonObject(value)) {
    return invalid(path, "invalid_type", `${path} must be an object with url, gcs_uri or base64.`)
  }
  const address = firstText(value, addresses)
  const medium = address ?? firstText(value, contents)
  return medium === undefined
    ? invalid(`${path}.url`, "invalid_value", `${path} needs url, gcs_uri or base64.`)
    : Result.succeed(
        mediaPart(`${path}.${medium.name}`, medium.text, address === undefined, firstText(value, types)?.text)
      )
}

const isPresent = (value: Json | undefined): value is Json => value !== undefined && value !== null

/** The parts of one vector. */
const readInputParts = (input: unknown, path: string): Read<ReadonlyArray<TurnPart>> => {
  if (typeof input === "string") return Result.succeed([textPart(input)])
  if (Array.isArray(input)) {
    const items: ReadonlyArray<unknown> = input
    return Result.map(
      readEach(items, (item, index) => readInputParts(item, `${path}[${index}]`)),
      (parts) => parts.flat()
    )
  }
  if (!isJsonObject(input)) return invalid(path, "invalid_type", `${path} must be a text, or an object with media.`)
  const isNamed = isPresent(input["text"]) || [...media, ...lists].some((name) => isPresent(input[name]))
  if (isNamed) return readNamed(input, path)
  const type = input["type"] ?? typed.find((name) => isPresent(input[name]))
  return type === undefined
    ? invalid(path, "invalid_value", `${path} holds nothing to embed; give text, image, video or audio.`)
    : Result.map(readPart({ ...input, type }, "user", path), (part) => [part])
}

/** `text` first, then media by name, then lists of parts. */
const readNamed = (input: JsonObject, path: string): Read<ReadonlyArray<TurnPart>> =>
  Result.gen(function* () {
    const parts: Array<TurnPart> = []
    const text = input["text"]
    if (isPresent(text)) {
      if (typeof text !== "string")
        return yield* invalid(`${path}.text`, "invalid_type", `${path}.text must be a text.`)
      parts.push(textPart(text))
    }
    for (const name of media) {
      const value = input[name]
      if (isPresent(value)) parts.push(yield* readMedium(value, `${path}.${name}`))
    }
    for (const name of lists) {
      const value = input[name]
      if (isPresent(value)) parts.push(...(yield* readInputParts(value, `${path}.${name}`)))
    }
    return parts
  })

// Cuts a list of inputs into calls, by their number and by an estimate of their tokens.

/** What one call takes. */
interface CallBounds {
  readonly inputsPerCall: number
  /** Undefined: no bound is known. */
  readonly tokensPerCall?: number | undefined
}

/** Estimated high, since a call above the bound is refused as a whole: three characters a token, and one token a word. */
const tokensOfText = (text: string): number =>
  Math.max(Math.ceil(charactersOf(text) / 3), text.match(/\S+/g)?.length ?? 0)

/** The inputs of each call, in order. An input that is too large alone is a call of its own. */
export const cutInputs = <A>(
  inputs: ReadonlyArray<A>,
  { inputsPerCall, tokensPerCall }: CallBounds,
  textOf: (input: A) => string
): ReadonlyArray<ReadonlyArray<A>> => {
  const calls: Array<Array<A>> = []
  let last: Array<A> = []
  let tokens = 0
  for (const input of inputs) {
    const added = tokensPerCall === undefined ? 0 : tokensOfText(textOf(input))
    if (last.length === 0 || last.length >= inputsPerCall || tokens + added > (tokensPerCall ?? tokens + added)) {
      last = []
      calls.push(last)
      tokens = 0
    }
    last.push(input)
    tokens += added
  }
  return calls
}

// Embedding models: the operation each model uses and the most inputs of one call.

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
