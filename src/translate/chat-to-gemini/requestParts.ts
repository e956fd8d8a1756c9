// Parts of a turn as parts of a Gemini content.
// It must not know turns, roles or calls.
import * as Result from "effect/Result"
import type { RequestFault } from "../../domain/GatewayError.ts"
import type { Json, JsonObject } from "../../domain/json.ts"
import type { PartOut } from "../../wire/google/GenerateContent.ts"
import { type Media, readMedia } from "../shared/media.ts"
import type { MediaPart, Part } from "../shared/readParts.ts"
import type { TranslateContext } from "../Translator.ts"

type Target = TranslateContext["target"]

/** All parts that have a place upstream; empty texts and thinking sent back have none. */
export const partsToGemini = (parts: ReadonlyArray<Part>, target: Target): Result.Result<ReadonlyArray<PartOut>, RequestFault> => {
  const out: Array<PartOut> = []
  for (const part of parts) {
    const read = partToGemini(part, target)
    if (Result.isFailure(read)) return Result.fail(read.failure)
    if (read.success !== undefined) out.push(read.success)
  }
  return Result.succeed(out)
}

const partToGemini = (part: Part, target: Target): Result.Result<PartOut | undefined, RequestFault> => {
  switch (part._tag) {
    case "Text": {
      const signature = signatureFor(part.signature, target)
      return Result.succeed(part.text === "" && signature.thoughtSignature === undefined ? undefined : { text: part.text, ...signature })
    }
    case "Media":
      return mediaToGemini(part, target)
    case "Own":
      return Result.succeed(part.provider === target.kind ? part.part : undefined)
    // Gemini needs no thinking back, and a block does not tell whose signature it carries.
    case "Thinking":
    case "Redacted":
      return Result.succeed(undefined)
  }
}

/** Generations before 2.5 know no signatures. */
const signatureFor = (signature: string | undefined, { facts }: Target): { readonly thoughtSignature?: string } =>
  signature !== undefined && (facts.generation === "g2.5" || facts.generation === "g3") ? { thoughtSignature: signature } : {}

const mediaToGemini = (part: MediaPart, target: Target): Result.Result<PartOut, RequestFault> =>
  Result.map(readMedia(part.source, target.kind), (media) => ({
    ...dataOf(media),
    ...videoMetadata(part.video),
    ...mediaResolution(part.detail, target),
    ...signatureFor(part.signature, target)
  }))

const dataOf = (media: Media): PartOut => {
  if (media._tag === "Inline") return { inlineData: { mimeType: media.mimeType, data: media.data } }
  return { fileData: { ...(media.mimeType === undefined ? {} : { mimeType: media.mimeType }), fileUri: media.uri } }
}

/** Inline data of a part, where only that is taken. */
export const isInline = (part: PartOut): boolean => part.inlineData !== undefined

/** Seconds as a number, or a duration as the upstream writes it. */
const duration = (value: Json | undefined): string | undefined =>
  typeof value === "number" ? `${value}s` : typeof value === "string" ? value : undefined

const videoMetadata = (video: JsonObject | undefined): { readonly videoMetadata?: JsonObject } => {
  if (video === undefined) return {}
  const startOffset = duration(video["start_offset"])
  const endOffset = duration(video["end_offset"])
  const { fps } = video
  const metadata: JsonObject = {
    ...(startOffset === undefined ? {} : { startOffset }),
    ...(endOffset === undefined ? {} : { endOffset }),
    ...(typeof fps === "number" ? { fps } : {})
  }
  return Object.keys(metadata).length === 0 ? {} : { videoMetadata: metadata }
}

const levels: ReadonlyArray<string> = ["low", "medium", "high", "ultra_high"]

/** Per-part resolution exists from Gemini 3 on; `auto` is the absence of a wish. */
const mediaResolution = (detail: string | undefined, { facts }: Target): { readonly mediaResolution?: { readonly level: string } } =>
  facts.generation === "g3" && detail !== undefined && levels.includes(detail)
    ? { mediaResolution: { level: `MEDIA_RESOLUTION_${detail.toUpperCase()}` } }
    : {}
