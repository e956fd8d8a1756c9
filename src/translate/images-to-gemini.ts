// Translator pair: image generation to Gemini's image models; one picture per generateContent call.
// Must not depend on URLs, credentials or the splitting of requests.
import * as Result from "effect/Result"
import type { RequestFault } from "../domain/GatewayError.ts"
import type { ProviderKind } from "../domain/ProviderAccount.ts"
import type { Reason } from "../domain/ProviderError.ts"
import type { Json } from "../domain/text/json.ts"
import { GenerateContentReply, type GenerateContentRequest, type UsageMetadata } from "../wire/google.ts"
import type { Image, ImageList, ImagesRequest, ImagesUsage } from "../wire/openai/Images.ts"
import { ignored, ignoredBy, mapped, readLabels, readSafety, silent } from "./shared/chat-request/paramReader.ts"
import { filterText, filterWords } from "./shared/gemini.ts"
import {
  bothSpellings,
  type Canvas,
  encodePicture,
  filteredPicture,
  type ImagesOptions,
  type ImagesParam,
  noPicture,
  outputFormatOf,
  readImages,
  readSpelling,
  unusedSpellings
} from "./shared/images.ts"
import { failureFromGoogle, googleFailureInside } from "./shared/reply/upstreamFailures.ts"
import { geminiUsage } from "./shared/reply/usage.ts"
import type { ParamRule, Translated, TranslateContext, Unary } from "./Translator.ts"

const noEquivalent = ignored("no equivalent upstream")
const imagenOnly = silent("for Imagen only")

export const geminiImageParams = {
  model: mapped("the URL"),
  prompt: mapped("contents"),
  n: mapped("as many calls"),
  size: mapped("generationConfig.imageConfig.aspectRatio, imageSize; unless aspect_ratio and image_size are given"),
  aspect_ratio: mapped("generationConfig.imageConfig.aspectRatio"),
  image_size: mapped("generationConfig.imageConfig.imageSize"),
  response_format: silent("shapes our own answer"),
  output_format: mapped("generationConfig.imageConfig.imageOutputOptions.mimeType; png and jpeg (Vertex AI only)"),
  output_compression: mapped(
    "generationConfig.imageConfig.imageOutputOptions.compressionQuality, with jpeg (Vertex AI only)"
  ),
  seed: mapped("generationConfig.seed; each further call counts one up"),
  person_generation: mapped("generationConfig.imageConfig.personGeneration (Vertex AI only)"),
  safety_settings: mapped("safetySettings"),
  labels: mapped("labels (Vertex AI only)"),
  safety_setting: imagenOnly,
  include_rai_reason: imagenOnly,
  include_safety_attributes: imagenOnly,
  negative_prompt: noEquivalent,
  guidance_scale: noEquivalent,
  add_watermark: noEquivalent,
  enhance_prompt: noEquivalent,
  language: noEquivalent,
  storage_uri: noEquivalent,
  quality: noEquivalent,
  style: noEquivalent,
  background: noEquivalent,
  moderation: noEquivalent,
  user: noEquivalent,
  stream: silent("pictures come whole; true cannot be had and is named as ignored"),
  partial_images: ignored("pictures come whole")
} satisfies Record<ImagesParam, ParamRule>

const ignoredGeminiImageParams = ignoredBy(bothSpellings(geminiImageParams))

const ratios = ["1:1", "2:3", "3:2", "3:4", "4:3", "4:5", "5:4", "9:16", "16:9", "21:9"]

/** Formats that Gemini draws. Source: image generation pages of the Gemini API and of Vertex AI. */
export const geminiCanvas = (kind: ProviderKind): Canvas => ({
  ratios: kind === "google" ? [...ratios, "1:4", "4:1", "1:8", "8:1"] : ratios,
  hasFourK: true
})

const imageConfig = (request: ImagesRequest, { aspectRatio, imageSize, output }: ImagesOptions, kind: ProviderKind) => {
  const person = readSpelling(request, "person_generation")
  const isVertex = kind === "vertex-ai"
  return {
    ...(aspectRatio === undefined ? {} : { aspectRatio }),
    ...(imageSize === undefined ? {} : { imageSize }),
    ...(isVertex && person !== undefined ? { personGeneration: person } : {}),
    ...(isVertex && output.mimeType !== undefined ? { imageOutputOptions: output } : {})
  }
}

const vertexOnly = unusedSpellings(["person_generation", "output_format", "output_compression"])

const geminiRequest = (
  request: ImagesRequest,
  { target }: TranslateContext
): Result.Result<Translated<GenerateContentRequest>, RequestFault> =>
  Result.gen(function* () {
    const options = yield* readImages(request, geminiCanvas(target.kind))
    const labels = yield* readLabels(request.labels, target)
    const safetySettings = yield* readSafety("safety_settings", readSpelling(request, "safety_settings"), target)
    const { adjusted, prompt, seed, unused } = options
    const image = imageConfig(request, options, target.kind)
    // Every image model accepts both modalities, and some reject IMAGE alone.
    const generationConfig: Record<string, Json> = { responseModalities: ["TEXT", "IMAGE"] }
    if (Object.keys(image).length > 0) generationConfig["imageConfig"] = image
    if (seed !== undefined) generationConfig["seed"] = seed
    return {
      body: {
        contents: [{ role: "user", parts: [{ text: prompt }] }],
        generationConfig,
        ...(safetySettings.length === 0 ? {} : { safetySettings }),
        ...labels.body
      },
      headers: {},
      ...(adjusted.length === 0 ? {} : { adjusted }),
      ignored: ignoredGeminiImageParams(request, [
        ...unused,
        ...labels.unused,
        ...(target.kind === "google" ? vertexOnly : [])
      ])
    }
  })

/** Skips draft images inside thoughts and text next to the picture. */
const geminiResponse = (
  reply: GenerateContentReply,
  context: TranslateContext,
  request: ImagesRequest
): Result.Result<ImageList, Reason> => {
  if (reply.error) return Result.fail(googleFailureInside(reply.error))
  const data: Array<Image> = []
  let mimeType: string | undefined
  for (const candidate of reply.candidates ?? []) {
    for (const { inlineData, thought } of candidate.content?.parts ?? []) {
      const type = inlineData?.mimeType
      if (thought === true || !inlineData?.data || !type?.startsWith("image/")) continue
      mimeType ??= type
      data.push(encodePicture(inlineData.data, type, request))
    }
  }
  if (data.length === 0) return Result.fail(missingPictureReason(reply))
  return Result.succeed({
    created: context.createdSeconds,
    data,
    ...outputFormatOf(mimeType),
    ...(typeof reply.usageMetadata?.promptTokenCount === "number" ? { usage: imagesUsage(reply.usageMetadata) } : {}),
    provider: context.target.kind
  })
}

const missingPictureReason = ({ candidates, promptFeedback }: GenerateContentReply): Reason => {
  if (promptFeedback?.blockReason) {
    const { blockReason, blockReasonMessage, safetyRatings } = promptFeedback
    return filteredPicture(filterText(blockReasonMessage, blockReason, safetyRatings))
  }
  const filtered = candidates?.find(({ finishReason }) => filterWords.has(finishReason ?? ""))
  return filtered === undefined
    ? noPicture
    : filteredPicture(filterText(filtered.finishMessage, filtered.finishReason, filtered.safetyRatings))
}

/** Tokens without a modality count as text in the prompt, and as image in the answer except thoughts. */
const imagesUsage = (metadata: UsageMetadata): ImagesUsage => {
  const {
    completion_tokens: output,
    completion_tokens_details: drawn,
    prompt_tokens: input,
    prompt_tokens_details: details
  } = geminiUsage(metadata)
  const image = Math.min(details?.image_tokens ?? 0, input)
  const picture = Math.min(drawn?.image_tokens ?? output - (drawn?.reasoning_tokens ?? 0), output)
  return {
    input_tokens: input,
    output_tokens: output,
    total_tokens: input + output,
    input_tokens_details: { text_tokens: details?.text_tokens ?? input - image, image_tokens: image },
    output_tokens_details: { text_tokens: output - picture, image_tokens: picture }
  }
}

export const imagesToGemini: Unary<ImagesRequest, GenerateContentRequest, GenerateContentReply, ImageList> = {
  name: "images-to-gemini",
  reply: GenerateContentReply,
  request: geminiRequest,
  response: geminiResponse,
  failure: failureFromGoogle
}
