// Parts of a turn as parts of a Gemini content.
// It must not know turns, roles or calls.
import * as Result from "effect/Result"
import type { RequestFault } from "../../domain/GatewayError.ts"
import type { JsonObject } from "../../domain/text/json.ts"
import type { PartOut } from "../../wire/google/GenerateContent.ts"
import { type Media, readMedia } from "../shared/media/media.ts"
import type { MediaPart, Part, VideoCut } from "../shared/chat-request/readParts.ts"
import type { TranslateContext } from "../Translator.ts"
import { sentinel, takesSignatures } from "./signatures.ts"

type Target = TranslateContext["target"]

/** All parts that have a place upstream; empty texts and unsigned thinking have none. `issuer` made the signatures, if known. */
export const partsToGemini = (
  parts: ReadonlyArray<Part>,
  target: Target,
  issuer?: string
): Result.Result<ReadonlyArray<PartOut>, RequestFault> => {
  const out: Array<PartOut> = []
  for (const part of parts) {
    const read = partToGemini(part, target, issuer)
    if (Result.isFailure(read)) return Result.fail(read.failure)
    if (read.success !== undefined) out.push(read.success)
  }
  return Result.succeed(out)
}

const partToGemini = (
  part: Part,
  target: Target,
  issuer: string | undefined
): Result.Result<PartOut | undefined, RequestFault> => {
  switch (part._tag) {
    case "Text": {
      const signature = signatureFor(part.signature, target, issuer)
      return Result.succeed(
        part.text === "" && signature.thoughtSignature === undefined ? undefined : { text: part.text, ...signature }
      )
    }
    case "Media":
      return mediaToGemini(part, target, issuer)
    case "Own":
      return Result.succeed(part.provider === target.kind && !isForeign(issuer, target) ? part.part : undefined)
    // Gemini needs no thinking back, and a block does not tell whose signature it carries: other families sign theirs, too.
    case "Thinking": {
      const signature = issuer === target.issuer ? signatureFor(part.signature, target, issuer) : {}
      return Result.succeed(
        signature.thoughtSignature === undefined ? undefined : { text: part.thinking, thought: true, ...signature }
      )
    }
    case "Redacted":
      return Result.succeed(undefined)
  }
}

const isForeign = (issuer: string | undefined, target: Target): boolean =>
  issuer !== undefined && issuer !== target.issuer

const signatureFor = (
  signature: string | undefined,
  target: Target,
  issuer: string | undefined
): { readonly thoughtSignature?: string } =>
  signature !== undefined && signature !== sentinel && takesSignatures(target) && !isForeign(issuer, target)
    ? { thoughtSignature: signature }
    : {}

const mediaToGemini = (
  part: MediaPart,
  target: Target,
  issuer: string | undefined
): Result.Result<PartOut, RequestFault> =>
  Result.map(readMedia(part.source, target.kind), (media) => ({
    ...dataOf(media),
    ...videoMetadata(part.video),
    ...mediaResolution(part.detail, target),
    ...signatureFor(part.signature, target, issuer)
  }))

const dataOf = (media: Media): PartOut => {
  if (media._tag === "Inline") return { inlineData: { mimeType: media.mimeType, data: media.data } }
  return { fileData: { ...(media.mimeType === undefined ? {} : { mimeType: media.mimeType }), fileUri: media.uri } }
}

/** What a function response may hold from Gemini 3 on. Source: Gemini API, function calling, multimodal function responses. */
const inResponses = new Set<string | undefined>([
  "image/png",
  "image/jpeg",
  "image/webp",
  "application/pdf",
  "text/plain"
])
export const fitsResponse = (part: PartOut, { facts }: Target): boolean =>
  facts.generation === "g3" && inResponses.has(part.inlineData?.mimeType)

const videoMetadata = (video: VideoCut | undefined): { readonly videoMetadata?: JsonObject } => {
  if (video === undefined) return {}
  const { startOffset, endOffset, fps } = video
  const metadata: JsonObject = {
    ...(startOffset === undefined ? {} : { startOffset }),
    ...(endOffset === undefined ? {} : { endOffset }),
    ...(fps === undefined ? {} : { fps })
  }
  return Object.keys(metadata).length === 0 ? {} : { videoMetadata: metadata }
}

const levels = new Set(["low", "medium", "high", "ultra_high"])

/** Per-part resolution exists from Gemini 3 on; `auto` is the absence of a wish. */
const mediaResolution = (
  detail: string | undefined,
  { facts }: Target
): { readonly mediaResolution?: { readonly level: string } } =>
  facts.generation === "g3" && detail !== undefined && levels.has(detail)
    ? { mediaResolution: { level: `MEDIA_RESOLUTION_${detail.toUpperCase()}` } }
    : {}
