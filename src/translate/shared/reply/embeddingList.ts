// Builds OpenAI's embedding list; vectors that the client may read as the upstream wrote them are neither parsed nor printed again.
// Must not depend on an upstream's wrapping of vectors.
import * as Result from "effect/Result"
import type { Reason } from "../../../domain/ProviderError.ts"
import {
  closingQuote,
  decodeUtf8,
  type Json,
  parseJsonReplacing,
  parseJsonText,
  skipBlank
} from "../../../domain/text/json.ts"
import type { Embedding, EmbeddingList, EmbeddingsRequest, Vector } from "../../../wire/openai/Embeddings.ts"
import type { TranslateContext } from "../../Translator.ts"
import { floatsToBase64 } from "../media/base64.ts"
import { isUnscaled } from "../readEmbeddings.ts"

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
  read: ReadonlyArray<EmbeddingEntry | undefined>,
  promptTokens: number,
  context: TranslateContext,
  request: EmbeddingsRequest,
  model: string = context.target.modelId
): Result.Result<EmbeddingList, Reason> => {
  const wanted = inputsOf(request.input)
  const entries = read.filter((entry) => entry !== undefined)
  if (entries.length !== wanted || read.length !== wanted) {
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

// A list of embeddings whose vectors are still the text of the upstream; its numbers are parsed when they are asked for.

/** One vector; `truncated` where its input was cut. */
interface PassedVector {
  readonly embedding: NumberList
  readonly truncated?: true
}

type Facts = Pick<EmbeddingList, "model" | "usage" | "provider">

export class PassedEmbeddings implements EmbeddingList {
  readonly object: "list"
  declare readonly model: string
  declare readonly usage: EmbeddingList["usage"]
  declare readonly provider?: string
  readonly #vectors: ReadonlyArray<PassedVector>
  #data: ReadonlyArray<Embedding> | undefined

  constructor(vectors: ReadonlyArray<PassedVector>, facts: Facts) {
    this.object = "list"
    this.#vectors = vectors
    Object.assign(this, facts)
  }

  /** A member of the class, as V8 makes a new hidden class for each object with a getter of its own. */
  get data(): ReadonlyArray<Embedding> {
    return (this.#data ??= this.#vectors.map(parsed))
  }

  /** What `JSON.stringify` prints. */
  toJSON(): EmbeddingList {
    const { data, model, object, provider, usage } = this
    return { object, data, model, usage, ...(provider === undefined ? {} : { provider }) }
  }

  get vectors(): ReadonlyArray<PassedVector> {
    return this.#vectors
  }

  /** The same text as that of the list with this usage, or of its strict form. */
  json(strict: boolean, usage: EmbeddingList["usage"] = this.usage): string {
    const { model, provider } = this
    const data = this.#vectors.map((vector, index) => entryText(vector, index, strict)).join(",")
    return strict
      ? `${JSON.stringify({ object: "list", model, usage }).slice(0, -1)},"data":[${data}]}`
      : `{"object":"list","data":[${data}],${JSON.stringify({ model, usage, provider }).slice(1)}`
  }
}

const parsed = ({ embedding, truncated }: PassedVector, index: number): Embedding => ({
  object: "embedding",
  index,
  embedding: embedding.numbers(),
  ...(truncated === true ? { truncated } : {})
})

const entryText = ({ embedding, truncated }: PassedVector, index: number, strict: boolean): string =>
  `{"object":"embedding","index":${index},"embedding":${embedding.text}${truncated === true && !strict ? ',"truncated":true' : ""}}`

// Long lists of numbers in the JSON of a reply as their text, so that vectors are neither parsed nor printed again.

/** Vectors are 32-bit floats: a larger number would become infinity in base64. */
const largestFloat = 3.4028234663852886e38

/** A list of numbers as JSON prints it. */
export class NumberList {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }

  numbers(): ReadonlyArray<number> {
    const numbers: unknown = Result.getOrElse(parseJsonText(this.text), () => [])
    return numbers as ReadonlyArray<number>
  }
}

const quote = 0x22
const openBracket = 0x5b
const closeBracket = 0x5d
const comma = 0x2c
const minus = 0x2d
const point = 0x2e
const zero = 0x30
const nine = 0x39

const isDigit = (byte: number): boolean => byte >= zero && byte <= nine
const isNumberEnd = (byte: number): boolean =>
  byte === comma || byte === closeBracket || byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09

/** Zero beyond the end. */
const byteAt = (bytes: Uint8Array, at: number): number => bytes[at] ?? 0

const skipDigits = (bytes: Uint8Array, from: number): number => {
  let at = from
  for (let byte = byteAt(bytes, at); byte >= zero && byte <= nine; byte = byteAt(bytes, at)) at++
  return at
}

/** A decimal of at most this many digits is the shortest one of its double, so it is printed as it was written. */
const mostDigits = 15
/** More zeros after the point are printed with an exponent. */
const mostZeros = 5

/** The end of a number that `JSON.stringify` would print as it is written; `from` for any other text. */
const plainEnd = (bytes: Uint8Array, from: number): number => {
  const start = byteAt(bytes, from) === minus ? from + 1 : from
  const isFraction = byteAt(bytes, start) === zero
  const whole = isFraction ? start + 1 : skipDigits(bytes, start)
  if (byteAt(bytes, whole) !== point) {
    const isPlain = isFraction ? start === from : whole > start && whole - start <= mostDigits
    return isPlain && isNumberEnd(byteAt(bytes, whole)) ? whole : from
  }
  let first = whole + 1
  if (isFraction) while (byteAt(bytes, first) === zero) first++
  const end = skipDigits(bytes, first)
  const digits = end - first + (isFraction ? 0 : whole - start)
  const isPlain =
    whole > start && end > first && digits <= mostDigits && first - whole - 1 <= mostZeros && bytes[end - 1] !== zero
  return isPlain && isNumberEnd(byteAt(bytes, end)) ? end : from
}

const jsonNumber = /^-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/

/** A number as `JSON.stringify` prints it; undefined for one that no vector has, and for other text. */
const numberText = (text: string): string | undefined => {
  const parts = jsonNumber.exec(text)
  if (parts === null) return undefined
  const number = Number(text)
  // The digits of a long integer are kept where it is parsed.
  const isLong = parts[1] === undefined && parts[2] === undefined && !Number.isSafeInteger(number)
  return isLong || Math.abs(number) > largestFloat ? undefined : String(number)
}

/** The end of a list without blanks that `JSON.stringify` would print as it is written; `open` for any other text. */
const plainListEnd = (bytes: Uint8Array, open: number): number => {
  let at = open
  for (;;) {
    const end = plainEnd(bytes, at + 1)
    if (end === at + 1) return open
    const byte = bytes[end]
    if (byte === closeBracket) return end + 1
    if (byte !== comma) return open
    at = end
  }
}

/** Where a list ends, and its text. */
interface ReadList {
  readonly end: number
  readonly text: string
}

/** The text of a list as `JSON.stringify` prints it; undefined where something else than numbers is in it. */
const printedList = (bytes: Uint8Array, open: number, source: string): ReadList | undefined => {
  let text = "["
  for (let at = open; ;) {
    const from = skipBlank(bytes, at + 1)
    let end = plainEnd(bytes, from)
    if (end > from) text += source.slice(from, end)
    else {
      while (end < bytes.length && !isNumberEnd(byteAt(bytes, end))) end++
      const number = numberText(source.slice(from, end))
      if (number === undefined) return undefined
      text += number
    }
    at = skipBlank(bytes, end)
    const byte = byteAt(bytes, at)
    if (byte === closeBracket) return { end: at + 1, text: `${text}]` }
    if (byte !== comma) return undefined
    text += ","
  }
}

/** Shorter lists are parsed. */
const leastBytes = 256
/** A number in the place of a list, in a text that the reply itself does not have. */
const mark = "#list of numbers "

/**
 * The JSON of a reply with a `NumberList` in the place of each long list of numbers; undefined where it has to be parsed
 * as a whole.
 */
export const parsePassingNumbers = (bytes: Uint8Array): Json | undefined => {
  const source = decodeUtf8(bytes)
  // Places in the text are those in the bytes where all is ASCII.
  if (source?.length !== bytes.length) return undefined
  const lists: Array<NumberList> = []
  let rest = ""
  let done = 0
  for (let at = 0; at < bytes.length; at++) {
    if (bytes[at] === quote) at = closingQuote(bytes, at)
    if (bytes[at] !== openBracket) continue
    const first = byteAt(bytes, skipBlank(bytes, at + 1))
    if (first !== minus && !isDigit(first)) continue
    const plain = plainListEnd(bytes, at)
    const list = plain > at ? { end: plain, text: source.slice(at, plain) } : printedList(bytes, at, source)
    if (list === undefined) return undefined
    if (list.text.length >= leastBytes) {
      rest += `${source.slice(done, at)}"${mark}${lists.length}"`
      lists.push(new NumberList(list.text))
      done = list.end
    }
    at = list.end - 1
  }
  if (source.includes(mark)) return undefined
  const listOf = (text: string) => (text.startsWith(mark) ? lists[Number(text.slice(mark.length))] : undefined)
  return Result.getOrElse(parseJsonReplacing(rest + source.slice(done), listOf), () => undefined)
}
