// What has to be known of a Gemini answer, whole or one event of its stream, read in its bytes: counts, finish, error, size.
// It must not know framing or HTTP. Only these members are parsed. Rules: N401, N405, N407, N408.
import * as Result from "effect/Result"
import type { NativeVerb } from "../../domain/native/nativePath.ts"
import type { Reason } from "../../domain/ProviderError.ts"
import {
  closingQuote,
  decodeUtf8,
  isJsonObject,
  type Json,
  type JsonObject,
  parseExactJsonText,
  skipBlank,
  valueEnd
} from "../../domain/text/json.ts"
import type { Redaction } from "../../domain/text/redaction.ts"
import { memberJson } from "../../domain/text/topMembers.ts"
import type { Usage } from "../../wire/openai/ChatReply.ts"
import { claudeUsage, countSearches, geminiUsage, readCount, searchesOf, withSearches } from "../shared/reply/usage.ts"
import { failureInsideNative } from "./nativeFailure.ts"

/** What an answer costs; pictures are paid by number where the model counts no tokens. */
export interface NativeCounts {
  readonly usage: Usage | undefined
  readonly images: number
}

const nothing: NativeCounts = { usage: undefined, images: 0 }

const tokens = (prompt: number): NativeCounts => ({
  usage: { prompt_tokens: prompt, completion_tokens: 0, total_tokens: prompt },
  images: 0
})

interface Prediction {
  readonly tokens: number
  readonly isImage: boolean
}

/** Vectors and base64 are passed over, not parsed. */
const readPrediction = (bytes: Uint8Array, open: number): Prediction => {
  let textTokens = 0
  let hasImage = false
  let isFiltered = false
  eachMember(bytes, open, (key, span) => {
    if (key === "bytesBase64Encoded" || key === "gcsUri") hasImage = true
    if (key === "raiFilteredReason") isFiltered = true
    if (key !== "embeddings" || bytes[span.value] !== 0x7b) return
    eachMember(bytes, span.value, (name, inner) => {
      if (name === "statistics") textTokens += readCount(parseObjectAt(bytes, inner)?.["token_count"])
    })
  })
  return { tokens: textTokens, isImage: hasImage && !isFiltered }
}

const predicted = (bytes: Uint8Array, open: number): NativeCounts => {
  let textTokens = 0
  let images = 0
  eachMember(bytes, open, (key, span) => {
    if (key !== "predictions") return
    eachObject(bytes, span.value, (prediction) => {
      const read = readPrediction(bytes, prediction)
      textTokens += read.tokens
      if (read.isImage) images++
    })
  })
  return { ...tokens(textTokens), images }
}

const claude = (bytes: Uint8Array, open: number): NativeCounts => {
  let usage: JsonObject | undefined
  eachMember(bytes, open, (key, span) => {
    if (key === "usage") usage = parseObjectAt(bytes, span)
  })
  return usage === undefined ? nothing : { usage: claudeUsage(usage), images: 0 }
}

/** What was counted, by verb; counts of tokens cost nothing. `event` is the answer where it was read before. */
export const nativeCounts = (verb: NativeVerb, bytes: Uint8Array, event?: NativeEvent): NativeCounts => {
  const open = skipBlank(bytes, 0)
  if (bytes[open] !== 0x7b) return nothing
  const readEvent = () => event ?? readNativeEvent(bytes, open)
  switch (verb) {
    case "generateContent":
    case "streamGenerateContent": {
      const { searches, usage } = readEvent()
      return usage === undefined ? nothing : { usage: withSearches(geminiUsage(usage), searches), images: 0 }
    }
    case "embedContent":
    case "batchEmbedContents":
      return tokens(readCount(readEvent().usage?.["promptTokenCount"]))
    case "predict":
      return predicted(bytes, open)
    case "rawPredict":
    case "streamRawPredict":
      return claude(bytes, open)
    case "countTokens":
    case "computeTokens":
    case "countMessages":
      return nothing
  }
}

const unreadable = (message: string): Result.Result<never, Reason> =>
  Result.fail({ _tag: "BadReply", kind: "unreadable", message })

/** A 200 as it was read, or why it is no answer: it is no JSON object, it is cut, has no content, or holds an error. */
export const readNativeReply = (
  verb: NativeVerb,
  bytes: Uint8Array,
  redaction: Redaction
): Result.Result<NativeEvent, Reason> => {
  const open = skipBlank(bytes, 0)
  let end = bytes.length
  while (end > open && (bytes[end - 1] ?? 0) <= 0x20) end--
  if (bytes[open] !== 0x7b || bytes[end - 1] !== 0x7d) {
    return unreadable("The upstream sent an answer that is not a JSON object.")
  }
  const event = readNativeEvent(bytes, open)
  if (event.error !== undefined) return Result.fail(failureInsideNative(event.error, redaction))
  return verb !== "generateContent" || event.isContent
    ? Result.succeed(event)
    : unreadable("The upstream sent an answer without candidates, feedback on the prompt or counts.")
}

// One answer, or one event of a stream, in its bytes.

export interface NativeEvent {
  readonly usage: JsonObject | undefined
  readonly error: JsonObject | undefined
  /** What the Gemini API reports of its model's life (M-703). */
  readonly modelStatus: JsonObject | undefined
  /** A candidate has its finish reason, or the prompt is blocked. */
  readonly isFinished: boolean
  /** It has candidates, feedback or counts, one of which every content has; without any it is no content. */
  readonly isContent: boolean
  readonly output: NativeOutputSize
  /** Searches that are billed. */
  readonly searches: number
}

/** What an event has of the answer itself, without the JSON around it. */
export interface NativeOutputSize {
  /** Bytes of texts, thoughts, calls and code. */
  readonly bytes: number
  /** It has a picture or sound. */
  readonly hasMedia: boolean
}

const noOutput: NativeOutputSize = { bytes: 0, hasMedia: false }

interface Span {
  readonly value: number
  readonly to: number
}

const openBrace = 0x7b
const openBracket = 0x5b
const quote = 0x22

/** Calls `meet` with each member of the object at `open`; keys are compared as they are written. */
const eachMember = (bytes: Uint8Array, open: number, meet: (key: string, span: Span) => void): void => {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let at = skipBlank(bytes, open + 1)
  while (bytes[at] === quote) {
    const end = closingQuote(bytes, at)
    const value = skipBlank(bytes, skipBlank(bytes, end + 1) + 1)
    const to = valueEnd(bytes, value)
    meet(view.toString("latin1", at + 1, end), { value, to })
    at = skipBlank(bytes, skipBlank(bytes, to) + 1)
  }
}

/** Calls `meet` with each object of the array at `from`. */
const eachObject = (bytes: Uint8Array, from: number, meet: (open: number) => void): void => {
  if (bytes[from] !== openBracket) return
  let at = skipBlank(bytes, from + 1)
  while (bytes[at] === openBrace) {
    meet(at)
    at = skipBlank(bytes, skipBlank(bytes, valueEnd(bytes, at)) + 1)
  }
}

/** The object of a member; undefined where it is none. */
const parseObjectAt = (bytes: Uint8Array, span: Span | undefined): JsonObject | undefined => {
  const value = span === undefined || bytes[span.value] !== openBrace ? undefined : memberJson(bytes, span)
  return isJsonObject(value) ? value : undefined
}

/** The members of which every content has one, each with the byte that its value begins with. */
const contentMembers: ReadonlyMap<string, number> = new Map([
  ["candidates", openBracket],
  ["promptFeedback", openBrace],
  ["usageMetadata", openBrace]
])

const finishMark = "inishReason"
const blockMark = "lockReason"
const searchMark = "webSearchQueries"

/** True for a value that is a string with something in it. */
const isText = (bytes: Uint8Array, { value }: Span): boolean => bytes[value] === quote && bytes[value + 1] !== quote

const hasText = (bytes: Uint8Array, open: number, name: string): boolean => {
  let isPresent = false
  eachMember(bytes, open, (key, span) => {
    if (key === name && isText(bytes, span)) isPresent = true
  })
  return isPresent
}

const objects = (value: Json | undefined): ReadonlyArray<JsonObject> =>
  Array.isArray(value) ? value.filter(isJsonObject) : []

const objectOf = (value: Json | undefined): JsonObject | undefined => (isJsonObject(value) ? value : undefined)

const isSaid = (value: Json | undefined): boolean => typeof value === "string" && value !== ""

/** Members of a part that are made of text, and members that hold media. */
const written: ReadonlySet<string> = new Set(["functionCall", "executableCode"])
const drawn: ReadonlySet<string> = new Set(["inlineData", "fileData"])

const list = (value: Json | undefined): ReadonlyArray<Json> => (Array.isArray(value) ? value : [])

const outputOf = (candidates: Json | undefined): NativeOutputSize => {
  let bytes = 0
  let hasMedia = false
  for (const candidate of list(candidates)) {
    const content = isJsonObject(candidate) ? objectOf(candidate["content"]) : undefined
    for (const part of list(content?.["parts"])) {
      if (!isJsonObject(part)) continue
      for (const name in part) {
        const value = part[name]
        if (name === "text" && typeof value === "string") bytes += Buffer.byteLength(value)
        else if (written.has(name)) bytes += Buffer.byteLength(JSON.stringify(value))
        else hasMedia ||= drawn.has(name)
      }
    }
  }
  return bytes === 0 && !hasMedia ? noOutput : { bytes, hasMedia }
}

/** The same of a large event, of which nothing but the texts is parsed. */
const walkedOutput = (bytes: Uint8Array, candidates: Span): NativeOutputSize => {
  let size = 0
  let hasMedia = false
  const meetPart = (key: string, span: Span): void => {
    hasMedia ||= drawn.has(key)
    if (written.has(key)) size += span.to - span.value
    if (key !== "text") return
    const text = memberJson(bytes, span)
    if (typeof text === "string") size += Buffer.byteLength(text)
  }
  const inside = (name: string, meet: (span: Span) => void) => (open: number) =>
    eachMember(bytes, open, (key, span) => {
      if (key === name) meet(span)
    })
  const meetContent = inside("parts", ({ value }) =>
    eachObject(bytes, value, (part) => eachMember(bytes, part, meetPart))
  )
  eachObject(
    bytes,
    candidates.value,
    inside("content", ({ value }) => {
      if (bytes[value] === openBrace) meetContent(value)
    })
  )
  return { bytes: size, hasMedia }
}

const readEvent = (event: JsonObject): NativeEvent => {
  const usage = objectOf(event["usageMetadata"])
  const feedback = objectOf(event["promptFeedback"])
  return {
    usage,
    error: objectOf(event["error"]),
    modelStatus: objectOf(event["modelStatus"]),
    isFinished:
      objects(event["candidates"]).some(({ finishReason }) => isSaid(finishReason)) ||
      isSaid(feedback?.["blockReason"]),
    isContent: Array.isArray(event["candidates"]) || feedback !== undefined || usage !== undefined,
    output: outputOf(event["candidates"]),
    searches: searchesOf(objects(event["candidates"]).map(({ groundingMetadata }) => groundingMetadata))
  }
}

/** V8 parses text of this size faster than a walk finds three members of it; media are larger. */
const smallBytes = 4_096

/** A small event as a whole; undefined where it is not well-formed. */
const parsedEvent = (bytes: Uint8Array): NativeEvent | undefined => {
  const text = decodeUtf8(bytes)
  const value = text === undefined ? undefined : Result.getOrElse(parseExactJsonText(text), () => undefined)
  return isJsonObject(value) ? readEvent(value) : undefined
}

/** Reads the object whose brace stands at `open`, and after which nothing but blanks follows. */
export const readNativeEvent = (bytes: Uint8Array, open: number): NativeEvent => {
  const isSmall = bytes.length - open <= smallBytes
  const parsed = isSmall ? parsedEvent(open === 0 ? bytes : bytes.subarray(open)) : undefined
  return parsed ?? walkedEvent(bytes, open)
}

/** Only the grounding of each candidate is parsed. */
const searchesIn = (bytes: Uint8Array, candidates: Span): number => {
  let searches = 0
  eachObject(bytes, candidates.value, (candidate) =>
    eachMember(bytes, candidate, (key, span) => {
      if (key === "groundingMetadata") searches += countSearches(parseObjectAt(bytes, span))
    })
  )
  return searches
}

const walkedEvent = (bytes: Uint8Array, open: number): NativeEvent => {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  // Most events of a stream have neither, and a search of the bytes is cheaper than a walk.
  const mayFinish = text.includes(finishMark, open, "latin1")
  const mayBlock = text.includes(blockMark, open, "latin1")
  const maySearch = text.includes(searchMark, open, "latin1")
  let usage: Span | undefined
  let error: Span | undefined
  let modelStatus: Span | undefined
  let isFinished = false
  let isContent = false
  let output = noOutput
  let searches = 0
  eachMember(bytes, open, (key, span) => {
    isContent ||= bytes[span.value] === contentMembers.get(key)
    if (key === "usageMetadata") usage = span
    else if (key === "error") error = span
    else if (key === "modelStatus") modelStatus = span
    else if (key === "candidates") {
      output = walkedOutput(bytes, span)
      if (maySearch) searches = searchesIn(bytes, span)
      if (!mayFinish) return
      eachObject(bytes, span.value, (candidate) => {
        isFinished ||= hasText(bytes, candidate, "finishReason")
      })
    } else if (mayBlock && key === "promptFeedback" && bytes[span.value] === openBrace) {
      isFinished ||= hasText(bytes, span.value, "blockReason")
    }
  })
  return {
    usage: parseObjectAt(bytes, usage),
    error: parseObjectAt(bytes, error),
    modelStatus: parseObjectAt(bytes, modelStatus),
    isFinished,
    isContent,
    output,
    searches
  }
}
