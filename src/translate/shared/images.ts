// Image generation of any upstream: reads a request, splits it into calls, counts the tokens of pictures, builds OpenAI's list.
// Must not depend on an upstream, or on models and prices.
import * as Result from "effect/Result"
import type { BodyInvalid } from "../../domain/GatewayError.ts"
import type { Reason } from "../../domain/ProviderError.ts"
import { upstreamText } from "../../domain/text/publicText.ts"
import type { Image, ImageList, ImagesRequest, ImagesUsage, KnownImagesParam } from "../../wire/openai/Images.ts"
import type { Adjustment, Parts } from "../Translator.ts"
import { foldedSeed, invalid, numberAdjusted } from "./chat-request/paramReader.ts"

/** Parameters with two spellings; OpenAI's takes precedence when both are sent. */
const spellings = {
  aspect_ratio: "aspectRatio",
  image_size: "imageSize",
  output_format: "outputFormat",
  output_compression: "outputCompression",
  negative_prompt: "negativePrompt",
  guidance_scale: "guidanceScale",
  person_generation: "personGeneration",
  safety_setting: "safetySetting",
  safety_settings: "safetySettings",
  add_watermark: "addWatermark",
  enhance_prompt: "enhancePrompt",
  include_rai_reason: "includeRaiReason",
  include_safety_attributes: "includeSafetyAttributes",
  storage_uri: "storageUri"
} as const
type Spelled = keyof typeof spellings

/** Every known parameter once, in OpenAI's spelling. */
export type ImagesParam = Exclude<KnownImagesParam, (typeof spellings)[Spelled]>

/** Reads a parameter in either spelling. */
export const readSpelling = <Name extends Spelled>(request: ImagesRequest, name: Name) =>
  request[name] ?? request[spellings[name]] ?? undefined

/** Repeats each rule under both spellings. */
export const bothSpellings = <Rule>(rules: Readonly<Record<string, Rule>>): Readonly<Record<string, Rule>> => ({
  ...rules,
  ...Object.fromEntries(
    Object.entries(spellings).flatMap(([name, other]) => {
      const rule = rules[name]
      return rule === undefined ? [] : [[other, rule]]
    })
  )
})

/** Lists both spellings of unused parameters; the client sent one of them. */
export const unusedSpellings = (names: ReadonlyArray<Spelled>): ReadonlyArray<string> =>
  names.flatMap((name) => [name, spellings[name]])

/** The second spelling of parameters that were sent in both. */
const losers = (request: ImagesRequest): ReadonlyArray<string> =>
  Object.entries(spellings).flatMap(([name, other]) => ((request[name] ?? undefined) === undefined ? [] : [other]))

export interface ImagesOptions {
  readonly prompt: string
  readonly n: number
  readonly seed: number | undefined
  readonly aspectRatio: string | undefined
  readonly imageSize: string | undefined
  /** `image/png` or `image/jpeg`; jpeg has a quality. */
  readonly output: { readonly mimeType?: string; readonly compressionQuality?: number }
  readonly unused: ReadonlyArray<string>
  readonly adjusted: ReadonlyArray<Adjustment>
}

const formats: ReadonlySet<string> = new Set(["url", "b64_json"])

/** The formats a kind of model can draw. */
export interface Canvas {
  readonly ratios: ReadonlyArray<string>
  readonly hasFourK: boolean
}

const longestPrompt = 32_000
const mostImages = 8

/** Reads and checks all parameters that image models have in common. */
export const readImages = (request: ImagesRequest, canvas: Canvas): Result.Result<ImagesOptions, BodyInvalid> => {
  const fault = checkPlain(request)
  if (fault !== undefined) return fault
  // A size that cannot be read asks for nothing.
  const size = Result.getOrElse(readSize(request.size), () => undefined)
  const ratio = readSpelling(request, "aspect_ratio")
  const resolution = readSpelling(request, "image_size")
  const derived =
    size === undefined
      ? undefined
      : {
          ratio: nearestRatio(size, canvas.ratios),
          resolution: canvas.hasFourK || resolutionOf(size) === undefined ? resolutionOf(size) : "2K"
        }
  const isSizeUsed = ratio === undefined || (resolution === undefined && derived?.resolution !== undefined)
  const output = readOutput(request)
  const isRead = size !== undefined || (request.size ?? "auto") === "auto"
  const adjusted: Array<Adjustment> = []
  const n = Math.min(Math.max(Math.round(request.n ?? 1), 1), mostImages)
  if (n !== (request.n ?? 1))
    adjusted.push(numberAdjusted("n", request.n ?? 1, n, `a whole number from 1 to ${mostImages}`))
  return Result.succeed({
    prompt: request.prompt,
    n,
    seed: (request.seed ?? undefined) === undefined ? undefined : foldedSeed(request.seed, adjusted),
    adjusted,
    aspectRatio: ratio ?? derived?.ratio,
    imageSize: resolution ?? derived?.resolution,
    output: output.options,
    unused: [
      ...losers(request),
      ...output.unused,
      ...(isSizeUsed && isRead ? [] : ["size"]),
      ...(formats.has(request.response_format ?? "url") ? [] : ["response_format"]),
      ...(request.stream === true ? ["stream"] : [])
    ]
  })
}

const checkPlain = ({ prompt }: ImagesRequest): Result.Result<never, BodyInvalid> | undefined => {
  if (prompt.trim() === "") return invalid("prompt", "invalid_value", "prompt is empty; describe what to draw.")
  if (prompt.length > longestPrompt && [...prompt].length > longestPrompt) {
    return invalid("prompt", "invalid_value", `prompt is longer than ${longestPrompt} characters.`)
  }
  return undefined
}

/** Only png and jpeg can be requested, and only jpeg has a quality. */
const readOutput = (
  request: ImagesRequest
): { readonly options: ImagesOptions["output"]; readonly unused: ReadonlyArray<string> } => {
  const format = readSpelling(request, "output_format")
  const quality = readSpelling(request, "output_compression")
  const isKnown = format === "png" || format === "jpeg"
  return {
    options: {
      ...(isKnown ? { mimeType: `image/${format}` } : {}),
      ...(quality !== undefined && format === "jpeg"
        ? { compressionQuality: Math.min(Math.max(Math.round(quality), 0), 100) }
        : {})
    },
    unused: unusedSpellings([
      ...(isKnown ? [] : ["output_format" as const]),
      ...(format === "jpeg" ? [] : ["output_compression" as const])
    ])
  }
}

/**
 * One request per image, for models with one image per call. Equal seeds would give equal images, so each request gets
 * its own seed.
 */
export const cutImages = (request: ImagesRequest, canvas: Canvas): Result.Result<Parts<ImagesRequest>, BodyInvalid> =>
  Result.map(readImages(request, canvas), ({ n, seed }) => {
    // The first one has the client's own values, which may have to be named.
    const nth = (index: number): ImagesRequest => ({
      ...request,
      n: 1,
      ...(seed === undefined ? {} : { seed: (seed + index) | 0 })
    })
    const rest = Array.from({ length: n - 1 }, (_, index) => nth(index + 1))
    return [request, ...rest]
  })

// Converts an image size in pixels or as a ratio to the aspect ratios and resolutions of image models.

export interface Size {
  readonly width: number
  readonly height: number
}

/** Reads `1024x768`, or a ratio such as `16:9` without pixels; undefined for `auto` and for an absent size. */
export const readSize = (size: string | null | undefined): Result.Result<Size | undefined, BodyInvalid> => {
  if (size === undefined || size === null || size === "auto") return Result.succeed(undefined)
  const [, width, height] = /^(\d{1,5})[x:](\d{1,5})$/.exec(size) ?? []
  const read = { width: Number(width), height: Number(height) }
  return read.width > 0 && read.height > 0
    ? Result.succeed(read)
    : invalid("size", "invalid_value", "size must be WIDTHxHEIGHT such as 1024x1024, or auto.")
}

/** The supported ratio nearest to the size; twice as wide and twice as high count as equally far. */
export const nearestRatio = ({ height, width }: Size, ratios: ReadonlyArray<string>): string | undefined => {
  let nearest: string | undefined
  let least = Number.MAX_VALUE
  for (const ratio of ratios) {
    const [across = 1, down = 1] = ratio.split(":").map(Number)
    const distance = Math.abs(Math.log((width / height) * (down / across)))
    if (distance < least) {
      least = distance
      nearest = ratio
    }
  }
  return nearest
}

/** The resolution by the longer side; undefined below 2K, the default of every model. */
export const resolutionOf = ({ height, width }: Size): "2K" | "4K" | undefined => {
  const long = Math.max(width, height)
  return long >= 4096 ? "4K" : long >= 2048 ? "2K" : undefined
}

// Tokens of a Gemini output image, by the requested size.

/**
 * The highest count of any model. Sources:
 * https://docs.cloud.google.com/vertex-ai/generative-ai/docs/models/gemini/3-1-flash-image and
 * https://ai.google.dev/gemini-api/docs/pricing.
 */
const tokens = { "1K": 1_290, "2K": 1_680, "4K": 2_520 } as const

/** A size is a word such as `2K`, pixels, or a ratio. An unknown size counts as the largest. */
export const pictureTokens = (size: string): number => {
  const word = size.toUpperCase()
  if (word === "1K" || word === "2K" || word === "4K") return tokens[word]
  if (word === "512" || word === "0.5K") return tokens["1K"]
  const read = readSize(size)
  if (Result.isFailure(read)) return tokens["4K"]
  return tokens[read.success === undefined ? "1K" : (resolutionOf(read.success) ?? "1K")]
}

/** Tokens of an image in a request without a size. */
export const usualPictureTokens: number = tokens["1K"]

// Builds OpenAI's image list from upstream pictures, joins lists, and gives reasons for missing pictures.

/** Joins the lists of all calls of one request, in order. */
export const joinImages = (lists: ReadonlyArray<ImageList>): ImageList => {
  const [first] = lists
  if (first === undefined) return { created: 0, data: [] }
  const usages = lists.flatMap(({ usage }) => (usage === undefined ? [] : [usage]))
  return {
    ...first,
    data: lists.flatMap(({ data }) => data),
    ...(usages.length === 0 ? {} : { usage: usages.reduce(addUsage) })
  }
}

const addUsage = (one: ImagesUsage, other: ImagesUsage): ImagesUsage => ({
  input_tokens: one.input_tokens + other.input_tokens,
  output_tokens: one.output_tokens + other.output_tokens,
  total_tokens: one.total_tokens + other.total_tokens,
  input_tokens_details: addDetails(one.input_tokens_details, other.input_tokens_details),
  output_tokens_details: addDetails(one.output_tokens_details, other.output_tokens_details)
})

type Details = ImagesUsage["input_tokens_details"]

const addDetails = (one: Details, other: Details): Details => ({
  text_tokens: one.text_tokens + other.text_tokens,
  image_tokens: one.image_tokens + other.image_tokens
})

/** Encodes a picture in the client's `response_format`. */
export const encodePicture = (base64: string, mimeType: string, { response_format }: ImagesRequest): Image =>
  response_format === "url" ? { url: `data:${mimeType};base64,${base64}` } : { b64_json: base64 }

/** OpenAI's names of image formats. */
export const outputFormatOf = (mimeType: string | undefined): Pick<ImageList, "output_format"> => {
  switch (mimeType) {
    case "image/png":
      return { output_format: "png" }
    case "image/jpeg":
      return { output_format: "jpeg" }
    case "image/webp":
      return { output_format: "webp" }
    default:
      return {}
  }
}

/** A filter withheld the picture or rejected the prompt. */
export const refusedPrompt = (message: string): Reason => ({
  _tag: "InvalidRequest",
  code: "content_policy_violation",
  param: "prompt",
  message
})

/** The same with the upstream's message, if the upstream sent one. */
export const filteredPicture = (message: string | null | undefined): Reason =>
  refusedPrompt(
    upstreamText(message ?? "") || "The provider's safety filters kept the picture back. Change the prompt."
  )

/** True when the picture is missing but the call did not fail otherwise: the request's other pictures stay valid. */
export const isWithoutPicture = (reason: Reason): boolean =>
  (reason._tag === "InvalidRequest" && reason.code === "content_policy_violation") ||
  (reason._tag === "BadReply" && reason.kind === "no_content")

export const noPicture: Reason = {
  _tag: "BadReply",
  kind: "no_content",
  message: "The upstream answered without a picture. Try again."
}
