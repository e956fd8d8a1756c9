// Converts an image size in pixels or as a ratio to the aspect ratios and resolutions of image models.
// Must not depend on a model.
import * as Result from "effect/Result"
import type { BodyInvalid } from "../../../domain/GatewayError.ts"
import { invalid } from "../fault.ts"

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
