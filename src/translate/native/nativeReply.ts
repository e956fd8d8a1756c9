// A complete native answer: what it counts, and whether it is an answer at all, read in its bytes.
// It must not know HTTP. Rules: N401, N407, N408.
import * as Result from "effect/Result"
import type { Reason } from "../../domain/ProviderError.ts"
import type { NativeVerb } from "../../domain/native/nativePath.ts"
import { type JsonObject, skipBlank } from "../../domain/text/json.ts"
import type { Redaction } from "../../domain/text/redaction.ts"
import type { Usage } from "../../wire/openai/ChatReply.ts"
import { claudeUsage } from "../shared/claude/claudeUsage.ts"
import { withSearches } from "../shared/google/geminiSearches.ts"
import { geminiUsage } from "../shared/google/geminiUsage.ts"
import { readCount } from "../shared/reply/counts.ts"
import { eachMember, eachObject, type NativeEvent, parseObjectAt, readNativeEvent } from "./nativeEvents.ts"
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
