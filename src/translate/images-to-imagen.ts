// Translator pair: image generation to Imagen's predict, on Vertex AI and the Gemini API.
// Must not depend on URLs or credentials.
import * as Result from "effect/Result"
import type { RequestFault } from "../domain/GatewayError.ts"
import type { Reason } from "../domain/ProviderError.ts"
import type { ModelRecord } from "../domain/models/ModelRecord.ts"
import { isJsonObject, type Json } from "../domain/text/json.ts"
import { PredictReply, type PredictRequest } from "../wire/google.ts"
import type { Image, ImageList, ImagesRequest } from "../wire/openai/Images.ts"
import { ignored, ignoredBy, mapped, readLabels, silent } from "./shared/chat-request/paramReader.ts"
import {
  bothSpellings,
  type Canvas,
  encodePicture,
  filteredPicture,
  type ImagesParam,
  noPicture,
  outputFormatOf,
  readImages,
  readSpelling,
  refusedPrompt,
  unusedSpellings
} from "./shared/images.ts"
import { failureFromGoogle } from "./shared/reply/upstreamFailures.ts"
import type { ParamRule, Translated, TranslateContext, Unary } from "./Translator.ts"

const noEquivalent = ignored("no equivalent upstream")

export const imagenParams = {
  model: mapped("the URL"),
  prompt: mapped("instances[].prompt"),
  n: mapped("parameters.sampleCount"),
  size: mapped("parameters.aspectRatio, sampleImageSize; unless aspect_ratio and image_size are given"),
  aspect_ratio: mapped("parameters.aspectRatio"),
  image_size: mapped("parameters.sampleImageSize"),
  response_format: silent("shapes our own answer"),
  output_format: mapped("parameters.outputOptions.mimeType; png and jpeg"),
  output_compression: mapped("parameters.outputOptions.compressionQuality, with jpeg"),
  seed: mapped("parameters.seed"),
  negative_prompt: mapped("parameters.negativePrompt"),
  guidance_scale: mapped("parameters.guidanceScale"),
  person_generation: mapped("parameters.personGeneration"),
  safety_setting: mapped("parameters.safetySetting"),
  safety_settings: ignored("for Gemini only"),
  add_watermark: mapped("parameters.addWatermark"),
  enhance_prompt: mapped("parameters.enhancePrompt"),
  language: mapped("parameters.language"),
  include_rai_reason: mapped("parameters.includeRaiReason"),
  include_safety_attributes: mapped("parameters.includeSafetyAttributes"),
  storage_uri: mapped("parameters.storageUri (Vertex AI only)"),
  labels: mapped("labels (Vertex AI only)"),
  quality: noEquivalent,
  style: noEquivalent,
  background: noEquivalent,
  moderation: noEquivalent,
  user: noEquivalent,
  stream: silent("pictures come whole; true cannot be had and is named as ignored"),
  partial_images: ignored("pictures come whole")
} satisfies Record<ImagesParam, ParamRule>

const ignoredImagenParams = ignoredBy(bothSpellings(imagenParams))

/** Models of the older kind, which draw several pictures in one call. */
export const isImagen = ({ family }: ModelRecord): boolean => family === "imagen"

/** Formats that Imagen draws. Source: Vertex AI, Imagen, "Configure aspect ratio". */
const imagenCanvas: Canvas = { ratios: ["1:1", "3:4", "4:3", "9:16", "16:9"], hasFourK: false }

/** Parameters sent unchanged, including `false` and `0`. */
const plain = [
  ["negative_prompt", "negativePrompt"],
  ["guidance_scale", "guidanceScale"],
  ["person_generation", "personGeneration"],
  ["safety_setting", "safetySetting"],
  ["add_watermark", "addWatermark"],
  ["enhance_prompt", "enhancePrompt"],
  ["include_rai_reason", "includeRaiReason"],
  ["include_safety_attributes", "includeSafetyAttributes"]
] as const

const imagenRequest = (
  request: ImagesRequest,
  { target }: TranslateContext
): Result.Result<Translated<PredictRequest>, RequestFault> =>
  Result.gen(function* () {
    const { adjusted, aspectRatio, imageSize, n, output, prompt, seed, unused } = yield* readImages(
      request,
      imagenCanvas
    )
    const labels = yield* readLabels(request.labels, target)
    const storageUri = readSpelling(request, "storage_uri")
    const stores = storageUri !== undefined && target.kind === "vertex-ai"
    // Imagen's default is four pictures; OpenAI's clients expect one. Without `includeRaiReason` a fully filtered answer
    // is `{}`.
    const parameters: Record<string, Json> = { sampleCount: n, includeRaiReason: true }
    if (aspectRatio !== undefined) parameters["aspectRatio"] = aspectRatio
    if (imageSize !== undefined) parameters["sampleImageSize"] = imageSize
    if (output.mimeType !== undefined) parameters["outputOptions"] = output
    if (seed !== undefined) parameters["seed"] = seed
    if (typeof request.language === "string") parameters["language"] = request.language
    for (const [name, field] of plain) {
      const value = readSpelling(request, name)
      if (value !== undefined) parameters[field] = value
    }
    if (stores) parameters["storageUri"] = storageUri
    return {
      body: { instances: [{ prompt }], parameters, ...labels.body },
      headers: {},
      ...(adjusted.length === 0 ? {} : { adjusted }),
      ignored: ignoredImagenParams(request, [
        ...unused,
        ...labels.unused,
        ...(stores ? [] : unusedSpellings(["storage_uri"]))
      ])
    }
  })

/** A filtered picture is an entry with a reason only; such entries are dropped unless all are filtered. */
const imagenResponse = (
  { predictions }: PredictReply,
  context: TranslateContext,
  request: ImagesRequest
): Result.Result<ImageList, Reason> => {
  const data: Array<Image> = []
  let mimeType: string | undefined
  let filtered: string | undefined
  for (const prediction of predictions ?? []) {
    if (!isJsonObject(prediction)) continue
    const { mimeType: type, prompt, raiFilteredReason: reason, safetyAttributes: safety } = prediction
    const picture = pictureIn(prediction, request)
    if (picture === undefined) {
      if (typeof reason === "string") filtered ??= reason
      continue
    }
    if (typeof type === "string") mimeType ??= type
    data.push({
      ...picture,
      ...(typeof prompt === "string" ? { revised_prompt: prompt } : {}),
      ...(isJsonObject(safety) ? { safety_attributes: safety } : {})
    })
  }
  if (data.length === 0) return Result.fail(filtered === undefined ? noPicture : filteredPicture(filtered))
  return Result.succeed({
    created: context.createdSeconds,
    data,
    ...outputFormatOf(mimeType),
    provider: context.target.kind
  })
}

/** A stored picture is returned as its storage address in every response format. */
const pictureIn = (
  prediction: { readonly [key: string]: Json | undefined },
  request: ImagesRequest
): Image | undefined => {
  const { bytesBase64Encoded: bytes, gcsUri, mimeType } = prediction
  if (typeof bytes === "string" && bytes !== "")
    return encodePicture(bytes, typeof mimeType === "string" ? mimeType : "image/png", request)
  return typeof gcsUri === "string" && gcsUri !== "" ? { url: gcsUri } : undefined
}

const promptTexts = /responsible ai practices|violates? (our|google'?s) policies|sensitive words|usage guidelines/i

const imagenFailure: typeof failureFromGoogle = (status, headers, body, origin) => {
  const reason = failureFromGoogle(status, headers, body, origin)
  if (reason._tag === "InvalidRequest" && promptTexts.test(reason.message)) return refusedPrompt(reason.message)
  return reason._tag === "ModelNotFound" ? { ...reason, message: `${reason.message} ${retired}` } : reason
}

const retired = "Imagen models are being retired; a gemini-*-image model draws as well."

export const imagesToImagen: Unary<ImagesRequest, PredictRequest, PredictReply, ImageList> = {
  name: "images-to-imagen",
  reply: PredictReply,
  request: imagenRequest,
  response: imagenResponse,
  failure: imagenFailure
}
