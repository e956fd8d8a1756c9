// Translates parts of a turn (text, media, thinking) to parts of a Gemini content.
// Must not depend on turns, roles or calls.
import * as Result from "effect/Result"
import type { RequestFault } from "../../domain/GatewayError.ts"
import type { JsonObject } from "../../domain/text/json.ts"
import type { PartOut } from "../../wire/google/GenerateContent.ts"
import { type Media, readMedia } from "../shared/media/media.ts"
import { officeEnding } from "../shared/media/mime.ts"
import type { MediaPart, TurnPart, VideoCut } from "../shared/chat-request/readParts.ts"
import type { TranslateContext } from "../Translator.ts"
import { sentinel, takesSignatures } from "./signatures.ts"

type Target = TranslateContext["target"]

/**
 * Translates all parts with an upstream equivalent; empty texts and unsigned thinking are dropped. `issuer`: backend
 * of the signatures, if known.
 */
export const partsToGemini = (
  parts: ReadonlyArray<TurnPart>,
  target: Target,
  issuer?: string
): Result.Result<Array<PartOut>, RequestFault> => {
  const out: Array<PartOut> = []
  for (const part of parts) {
    const read = partToGemini(part, target, part.issuer ?? issuer)
    if (Result.isFailure(read)) return Result.fail(read.failure)
    if (read.success !== undefined) out.push(read.success)
  }
  return Result.succeed(out)
}

const partToGemini = (
  part: TurnPart,
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
    // Gemini does not need thinking back. A block does not reveal its signature's issuer, and other families sign
    // blocks too.
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
  Result.map(readMedia(part.source, { kind: target.kind, officeFiles: target.facts.officeFiles }), (media) => ({
    ...dataOf(media),
    ...videoMetadata(part.video),
    ...mediaResolution(part.detail, target),
    ...signatureFor(part.signature, target, issuer)
  }))

const dataOf = (media: Media): PartOut => {
  if (media._tag === "Inline") return { inlineData: { mimeType: media.mimeType, data: media.data } }
  return { fileData: { ...(media.mimeType === undefined ? {} : { mimeType: media.mimeType }), fileUri: media.uri } }
}

/**
 * Media types that function responses may contain from Gemini 3 on. Source: Gemini API, function calling, multimodal
 * function responses.
 */
const inResponses = new Set<string | undefined>([
  "image/png",
  "image/jpeg",
  "image/webp",
  "application/pdf",
  "text/plain"
])
export const fitsResponse = (part: PartOut, { facts }: Target): boolean =>
  facts.generation === "g3" &&
  (inResponses.has(part.inlineData?.mimeType) ||
    facts.officeFiles.has(officeEnding(part.inlineData?.mimeType ?? "") ?? ""))

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

/** Per-part resolution exists from Gemini 3 on; `auto` means unset. */
const mediaResolution = (
  detail: string | undefined,
  { facts }: Target
): { readonly mediaResolution?: { readonly level: string } } =>
  facts.generation === "g3" && detail !== undefined && levels.has(detail)
    ? { mediaResolution: { level: `MEDIA_RESOLUTION_${detail.toUpperCase()}` } }
    : {}
