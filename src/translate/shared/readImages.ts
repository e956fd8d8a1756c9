// Reads and checks an image generation request: prompt, count, size, format; splits it into upstream calls.
// Must not depend on an upstream.
import * as Result from "effect/Result"
import type { BodyInvalid } from "../../domain/GatewayError.ts"
import type { ImagesRequest, KnownImagesParam } from "../../wire/openai/Images.ts"
import type { Adjustment, Parts } from "../Translator.ts"
import { numberAdjusted } from "./chat-request/numberAdjusted.ts"
import { foldedSeed } from "./chat-request/paramReader.ts"
import { nearestRatio, readSize, resolutionOf } from "./media/aspectRatio.ts"
import { invalid } from "./fault.ts"

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
