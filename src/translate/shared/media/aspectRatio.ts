// Sizes in pixels as the shapes and resolutions image models know.
// It must not know which model takes which.
import * as Result from "effect/Result"
import type { BodyInvalid } from "../../../domain/GatewayError.ts"
import { invalid } from "../fault.ts"

export interface Size {
  readonly width: number
  readonly height: number
}

/** `1024x768`, or a ratio such as `16:9`, which says nothing about pixels; undefined for `auto` and without a wish. */
export const readSize = (size: string | null | undefined): Result.Result<Size | undefined, BodyInvalid> => {
  if (size === undefined || size === null || size === "auto") return Result.succeed(undefined)
  const [, width, height] = /^(\d{1,5})[x:](\d{1,5})$/.exec(size) ?? []
  const read = { width: Number(width), height: Number(height) }
  return read.width > 0 && read.height > 0
    ? Result.succeed(read)
    : invalid("size", "invalid_value", "size must be WIDTHxHEIGHT such as 1024x1024, or auto.")
}

/** The supported ratio that looks most like the size: equally far means as many times too wide as too high. */
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

/** The resolution of a size by its long side; undefined below 2K, which is every model's own default. */
export const resolutionOf = ({ height, width }: Size): "2K" | "4K" | undefined => {
  const long = Math.max(width, height)
  return long >= 4096 ? "4K" : long >= 2048 ? "2K" : undefined
}
