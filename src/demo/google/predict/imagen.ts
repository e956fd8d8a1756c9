// Answers predict for Imagen: checks the parameters, returns pictures, Cloud Storage addresses or filter reasons.
// It must not depend on HTTP.
// Source: Google's Imagen reference, recorded answers, publicly quoted refusals.

import {
  bool,
  type Check,
  closedRecord,
  integer,
  list,
  mismatchMessage,
  number,
  record,
  text,
  word
} from "../shapes/open.ts"
import { type GoogleError, invalidArgument, type Predict, jsonAnswer } from "../shared/answers.ts"
import { drawJpeg, drawPng } from "../shared/pictures.ts"

interface Parameters {
  readonly sampleCount?: number
  readonly seed?: number
  readonly aspectRatio?: string
  readonly sampleImageSize?: string
  readonly outputOptions?: { readonly mimeType?: string; readonly compressionQuality?: number }
  readonly addWatermark?: boolean
  readonly enhancePrompt?: boolean
  readonly includeRaiReason?: boolean
  readonly includeSafetyAttributes?: boolean
  readonly storageUri?: string
}

/** Google's client libraries use both cases. */
const inBothCases = (...words: ReadonlyArray<string>): Check => word(...words, ...words.map((one) => one.toUpperCase()))

const parameters: Check = closedRecord({
  sampleCount: integer(1, 8),
  seed: integer(0, 2_147_483_647),
  aspectRatio: word("1:1", "3:4", "4:3", "9:16", "16:9"),
  sampleImageSize: word("1K", "2K"),
  outputOptions: closedRecord({ mimeType: word("image/png", "image/jpeg"), compressionQuality: integer(0, 100) }),
  negativePrompt: text,
  guidanceScale: number(0, 500),
  personGeneration: inBothCases("dont_allow", "allow_adult", "allow_all"),
  safetySetting: inBothCases(
    "block_low_and_above",
    "block_medium_and_above",
    "block_only_high",
    "block_none",
    "block_most",
    "block_some",
    "block_few",
    "block_fewest"
  ),
  addWatermark: bool,
  enhancePrompt: bool,
  language: word("auto", "en", "zh", "zh-CN", "zh-TW", "hi", "ja", "ko", "pt", "es"),
  includeRaiReason: bool,
  includeSafetyAttributes: bool,
  storageUri: text
})

const instances: Check = list(record({ "prompt!": text }), 1, 1)

const failed = (reason: string): GoogleError =>
  invalidArgument(`Image generation failed with the following error: ${reason}`)

/** The two oldest models add a watermark only on request. */
const watermarked = (model: string, { addWatermark }: Parameters): boolean => addWatermark ?? !/@00[25]$/.test(model)

const refusal = (model: string, prompt: string, asked: Parameters, onGoogle: boolean): GoogleError | undefined => {
  if (prompt.trim() === "") return failed("Text prompt can not be empty.")
  if (asked.storageUri !== undefined && onGoogle) return invalidArgument("`storageUri` isn't supported by this model.")
  if (asked.storageUri !== undefined && !asked.storageUri.startsWith("gs://"))
    return invalidArgument("`storageUri` must be a gs:// URI.")
  if (asked.outputOptions?.compressionQuality !== undefined && asked.outputOptions.mimeType !== "image/jpeg") {
    return invalidArgument("`compressionQuality` is only supported for image/jpeg.")
  }
  if (asked.seed !== undefined && watermarked(model, asked))
    return failed("Seed is not supported when watermark is enabled.")
  if (!prompt.includes("demo:block-prompt")) return undefined
  return failed(
    "The prompt could not be submitted. This prompt contains sensitive words that violate Google's Responsible AI practices. " +
      "Try rephrasing the prompt. If you think this was an error, send feedback. Support codes: 42876398"
  )
}

/** Prompt words trigger the filter: on every picture, or on half of them. */
const filteredOf = (prompt: string, count: number): number => {
  if (prompt.includes("demo:filter-all")) return count
  return prompt.includes("demo:filter-some") ? Math.ceil(count / 2) : 0
}

const filterEntry = (filtered: number) => ({
  raiFilteredReason:
    `Your current safety filter threshold filtered out ${filtered} generated images. You will not be charged for blocked images. ` +
    "Try rephrasing the prompt. If you think this was an error, send feedback."
})

const safety = { categories: ["Violence", "Health"], scores: [0.125, 0.0625] }

const pictureEntry = (prompt: string, asked: Parameters, index: number, now: number) => {
  const mimeType = asked.outputOptions?.mimeType ?? "image/png"
  const common = {
    mimeType,
    ...(asked.enhancePrompt ? { prompt: `${prompt}, in soft light, finely detailed` } : {}),
    ...(asked.includeSafetyAttributes ? { safetyAttributes: safety } : {})
  }
  if (asked.storageUri !== undefined) {
    const name = `sample_${index}.${mimeType === "image/jpeg" ? "jpg" : "png"}`
    return { ...common, gcsUri: `${asked.storageUri.replace(/\/+$/, "")}/${now}/${name}` }
  }
  const draw = mimeType === "image/jpeg" ? drawJpeg : drawPng
  const seed = `${prompt} ${asked.seed ?? ""} ${index}`
  return { ...common, bytesBase64Encoded: draw(seed, asked.aspectRatio, asked.sampleImageSize === "2K" ? 128 : 64) }
}

export const drawImages: Predict = (request, { route, now }) => {
  const mismatch = instances(request.instances, "instances") ?? parameters(request.parameters ?? {}, "parameters")
  if (mismatch !== undefined) return invalidArgument(mismatchMessage(mismatch))
  const [{ prompt }] = request.instances as readonly [{ readonly prompt: string }] // The shape is checked above.
  const asked = (request.parameters ?? {}) as Parameters // The shape is checked above.
  const error = refusal(route.target.id, prompt, asked, route.service === "google")
  if (error !== undefined) return error
  const count = asked.sampleCount ?? 1
  const filtered = filteredOf(prompt, count)
  const predictions = [
    ...Array.from({ length: count - filtered }, (_, index) => pictureEntry(prompt, asked, index, now)),
    ...(filtered > 0 && asked.includeRaiReason ? [filterEntry(filtered)] : []),
    // The rating of the prompt is an entry without a picture.
    ...(asked.includeSafetyAttributes ? [{ contentType: "Positive Prompt", safetyAttributes: safety }] : [])
  ]
  // The body is empty if every picture was filtered and no reason was requested.
  return jsonAnswer(200, predictions.length === 0 ? {} : { predictions })
}
