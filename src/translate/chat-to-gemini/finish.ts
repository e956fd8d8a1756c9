// Reads the end of a Gemini answer: its finish reason, refusal or fault, its sources and its citations.
// It must not depend on streaming or strict mode.
import * as Result from "effect/Result"
import type * as Types from "effect/Types"
import type { Reason } from "../../domain/ProviderError.ts"
import { isJsonObject, type Json, type JsonObject } from "../../domain/text/json.ts"
import type { Candidate, GenerateContentReply } from "../../wire/google.ts"
import { growBy, type GrownList, itemsOf } from "../../wire/grownList.ts"
import type { Annotation, Citation, FinishReason } from "../../wire/openai/ChatReply.ts"
import { filterText, filterWords } from "../shared/gemini.ts"
import { mergeFields } from "../shared/reply/usage.ts"
import type { PartsFacts, PartsState } from "./parts.ts"

/** The fields of a choice's events other than its parts. The last value wins; citations accumulate. */
export interface GeminiEndState {
  readonly reason: string | undefined
  readonly message: string | undefined
  readonly ratings: ReadonlyArray<Json> | undefined
  readonly grounding: JsonObject | undefined
  readonly citations: GrownList<Citation>
  /** Asks the upstream for the rest of an answer that stopped at the limit of one request. */
  readonly token: string | undefined
}

export const noGeminiEnd: GeminiEndState = {
  reason: undefined,
  message: undefined,
  ratings: undefined,
  grounding: undefined,
  citations: undefined,
  token: undefined
}

/** The word of an answer that goes on in another request, and is therefore not over (M-600). */
const continuation = "CONTINUATION"

/** The token to continue with; undefined for an answer that is over. */
export const continuationOf = ({ reason, token }: GeminiEndState): string | undefined =>
  reason === continuation ? token : undefined

export const readGeminiEnd = (state: GeminiEndState, candidate: Candidate): GeminiEndState => {
  const { finishReason, finishMessage, safetyRatings } = candidate
  const grounding = groundingOf(candidate)
  const citations = candidate.citationMetadata ? citationsOf(candidate) : []
  const token = candidate.continuationToken ? candidate.continuationToken : undefined
  const isEmpty = !finishReason && !finishMessage && !safetyRatings && token === undefined
  if (isEmpty && grounding === undefined && citations.length === 0) return state
  return {
    reason: finishReason ? finishReason : state.reason,
    message: finishMessage ?? state.message,
    ratings: safetyRatings ?? state.ratings,
    grounding: grounding === undefined ? state.grounding : mergeFields(state.grounding, grounding),
    citations: growBy(state.citations, citations),
    token: token ?? (finishReason && finishReason !== continuation ? undefined : state.token)
  }
}

/** The end of one choice: standard fields, and `extensions` of the choice. */
export interface GeminiEnd {
  readonly finish_reason: FinishReason
  readonly refusal: string | undefined
  readonly annotations: ReadonlyArray<Annotation>
  readonly extensions: {
    readonly native_finish_reason?: string
    readonly safetyRatings?: ReadonlyArray<Json>
    readonly groundingMetadata?: JsonObject
    readonly citations?: ReadonlyArray<Citation>
    readonly continuation_token?: string
  }
}

/** Fails when the finish reason means that the answer is unusable. The prompt's `ratings` replace missing ratings. */
export const geminiEnd = (
  state: GeminiEndState,
  parts: PartsState,
  { keepsContent, legacy }: PartsFacts,
  ratings: ReadonlyArray<Json> | undefined
): Result.Result<GeminiEnd, Reason> =>
  Result.map(geminiFinishReason(state.reason, parts), (finish) => {
    const rated = state.ratings ?? ratings
    const token = continuationOf(state)
    const extensions: Types.Mutable<GeminiEnd["extensions"]> = {}
    if (state.reason !== undefined) extensions.native_finish_reason = state.reason
    if (rated !== undefined) extensions.safetyRatings = rated
    if (state.grounding !== undefined) extensions.groundingMetadata = state.grounding
    if (state.citations !== undefined) extensions.citations = itemsOf(state.citations)
    if (token !== undefined) extensions.continuation_token = token
    return {
      finish_reason: legacy && finish === "tool_calls" ? "function_call" : finish,
      refusal:
        finish === "content_filter" && parts.content === ""
          ? filterText(state.message, state.reason, rated)
          : undefined,
      annotations: keepsContent
        ? annotationsOf(state.grounding, parts.content, itemsOf(parts.partStarts))
        : noAnnotations,
      extensions
    }
  })

const noAnnotations: ReadonlyArray<Annotation> = []

/** A refused prompt: feedback with a reason and no candidate. A strict answer has no other place for a bare reason. */
export const blockedEnd = (feedback: GenerateContentReply["promptFeedback"], strict: boolean): GeminiEnd | undefined =>
  !feedback?.blockReason && !feedback?.blockReasonMessage
    ? undefined
    : {
        finish_reason: "content_filter",
        refusal: filterText(
          feedback.blockReasonMessage || (strict ? feedback.blockReason : undefined),
          feedback.blockReason,
          feedback.safetyRatings
        ),
        annotations: [],
        extensions: {
          ...(feedback.blockReason ? { native_finish_reason: feedback.blockReason } : {}),
          ...(feedback.safetyRatings ? { safetyRatings: feedback.safetyRatings } : {})
        }
      }

/**
 * The end of an answer whose prompt was found out while it was given: what was given stands. Undefined where the answer
 * has an end of its own.
 */
export const blockedLate = (
  { reason }: GeminiEndState,
  { content }: PartsState,
  feedback: GenerateContentReply["promptFeedback"],
  strict: boolean
): GeminiEnd | undefined => {
  if (!feedback?.blockReason || (reason !== undefined && reason !== "STOP")) return undefined
  const end = blockedEnd(feedback, strict)
  return end === undefined || content === "" ? end : { ...end, refusal: undefined }
}

/** Gemini sends STOP for calls too. */
const geminiFinishReason = (word: string | undefined, parts: PartsState): Result.Result<FinishReason, Reason> => {
  const called = parts.calls > 0
  if (word === "STOP") return Result.succeed(called ? "tool_calls" : "stop")
  if (word === "MAX_TOKENS" || word === continuation) return Result.succeed("length")
  if (word !== undefined && filterWords.has(word)) return Result.succeed("content_filter")
  if (word === "MISSING_THOUGHT_SIGNATURE") return Result.fail({ _tag: "SignatureRejected", message: signatureHint })
  if (word === "MALFORMED_FUNCTION_CALL" || word === "MALFORMED_RESPONSE") return fault("malformed_call", word)
  if (called) return Result.succeed("tool_calls")
  if (word === "UNEXPECTED_TOOL_CALL" || word === "TOO_MANY_TOOL_CALLS") return fault("malformed_call", word)
  if (parts.content !== "" || parts.media) return Result.succeed("stop")
  return word === undefined || faultWords.has(word) ? fault("no_content", word) : Result.succeed("stop")
}

/** Ends without an answer, which another try may have. A word that is not known is an end of its own (W48). */
const faultWords: ReadonlySet<string> = new Set(["FINISH_REASON_UNSPECIFIED", "OTHER", "NO_IMAGE", "IMAGE_OTHER"])

const signatureHint =
  "The upstream found a tool call without its thought signature. Send back function.thought_signature as it came, or start a new turn."

const fault = (kind: "malformed_call" | "no_content", word: string | undefined): Result.Result<never, Reason> =>
  Result.fail({
    _tag: "BadReply",
    kind,
    message:
      kind === "malformed_call"
        ? `The model made a tool call that cannot be used (${plain(word)}). Try again.`
        : `The model ended without an answer (${plain(word)}). Try again.`
  })

const plain = (word: string | undefined): string =>
  word === undefined ? "no reason given" : word.slice(0, 64).replace(/[^\w]/g, "_")

// Sources and citations

/** The grounding of a candidate including its URL contexts; `{}`, which most chunks have, counts as absent. */
const groundingOf = (candidate: Candidate): JsonObject | undefined => {
  const { groundingMetadata, urlContextMetadata: urls } = candidate
  if (groundingMetadata === undefined && urls === undefined) return undefined
  const metadata = isJsonObject(groundingMetadata) ? groundingMetadata : {}
  const given =
    isJsonObject(urls) && Object.keys(urls).length > 0 ? { ...metadata, urlContextMetadata: urls } : metadata
  return Object.keys(given).length > 0 ? given : undefined
}

/** `citationSources` in the Gemini API, `citations` in Vertex AI; the members are equal. */
const citationsOf = (candidate: Candidate): ReadonlyArray<Citation> => {
  const metadata = candidate.citationMetadata
  if (!isJsonObject(metadata)) return []
  return [...list(metadata["citationSources"]), ...list(metadata["citations"])].filter(isJsonObject).map((source) => ({
    ...(typeof source["startIndex"] === "number" ? { start_index: source["startIndex"] } : {}),
    ...(typeof source["endIndex"] === "number" ? { end_index: source["endIndex"] } : {}),
    ...(typeof source["uri"] === "string" ? { uri: source["uri"] } : {}),
    ...(typeof source["title"] === "string" ? { title: source["title"] } : {}),
    ...(typeof source["license"] === "string" ? { license: source["license"] } : {})
  }))
}

/**
 * One annotation per pair of support and chunk. Google counts UTF-8 bytes inside one part; OpenAI clients count
 * characters of the content. `partStarts` has the position of each part in `content`.
 */
const annotationsOf = (
  grounding: JsonObject | undefined,
  content: string,
  partStarts: ReadonlyArray<number>
): ReadonlyArray<Annotation> => {
  if (grounding === undefined) return []
  const sources = list(grounding["groundingChunks"]).map(sourceOf)
  const supports = list(grounding["groundingSupports"]).filter(isJsonObject)
  if (sources.length === 0 || supports.length === 0) return []
  const startBytes = bytesBefore(content, partStarts)
  const spans = supports.map((support) => {
    const segment = isJsonObject(support["segment"]) ? support["segment"] : {}
    const base = startBytes[whole(segment["partIndex"])] ?? 0
    return { from: base + whole(segment["startIndex"]), to: base + whole(segment["endIndex"]), support }
  })
  const points = pointsAt(
    content,
    spans.flatMap(({ from, to }) => [from, to])
  )
  return spans.flatMap(({ from, to, support }) =>
    list(support["groundingChunkIndices"]).flatMap((index): ReadonlyArray<Annotation> => {
      const source = sources[whole(index)]
      return source === undefined
        ? []
        : [
            {
              type: "url_citation",
              url_citation: { start_index: points.get(from) ?? 0, end_index: points.get(to) ?? 0, ...source }
            }
          ]
    })
  )
}

const list = (value: Json | undefined): ReadonlyArray<Json> => (Array.isArray(value) ? value : [])

const whole = (value: Json | undefined): number =>
  typeof value === "number" && Number.isInteger(value) && value > 0 ? value : 0

/** A web page needs an address only; other sources need address and title. */
const sourceOf = (chunk: Json): { readonly url: string; readonly title: string } | undefined => {
  if (!isJsonObject(chunk)) return undefined
  const web = isJsonObject(chunk["web"]) ? chunk["web"] : undefined
  const source = web ?? Object.values(chunk).find(isJsonObject)
  const url = source?.["uri"]
  const title = source?.["title"]
  if (typeof url !== "string") return undefined
  if (typeof title === "string") return { url, title }
  return web === undefined ? undefined : { url, title: url }
}

const encoder = new TextEncoder()

const bytesBefore = (content: string, starts: ReadonlyArray<number>): ReadonlyArray<number> => {
  let bytes = 0
  let from = 0
  return starts.map((start) => {
    bytes += encoder.encode(content.slice(from, start)).length
    from = start
    return bytes
  })
}

/** Maps each byte offset to its code-point offset in one pass; an offset beyond the end counts as the end. */
const pointsAt = (content: string, offsets: ReadonlyArray<number>): ReadonlyMap<number, number> => {
  const sorted = [...new Set(offsets)].sort((a, b) => a - b)
  const pointsByByte = new Map<number, number>()
  let next = 0
  let bytes = 0
  let points = 0
  for (const character of content) {
    for (; next < sorted.length && (sorted[next] ?? 0) <= bytes; next++) pointsByByte.set(sorted[next] ?? 0, points)
    const code = character.codePointAt(0) ?? 0
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4
    points++
  }
  for (; next < sorted.length; next++) pointsByByte.set(sorted[next] ?? 0, points)
  return pointsByByte
}
