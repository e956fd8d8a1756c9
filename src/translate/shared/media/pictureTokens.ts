// Tokens of a Gemini output image, by the requested size.
// Must not depend on models or prices: uses the highest count of any model.
import * as Result from "effect/Result"
import { readSize, resolutionOf } from "./aspectRatio.ts"

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
