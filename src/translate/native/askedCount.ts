// Reads a number that a body asks for, as Google's JSON takes numbers. Source: https://protobuf.dev/programming-guides/json
// It must not know what is counted.
import type { Json } from "../../domain/text/json.ts"

const decimal = /^\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*$/i

/**
 * A number as Google's JSON takes it: also as a text, such as "60000" or "6e4", and an integer beyond 2^53. Zero for every
 * other value and for negative ones. Products of such counts stay finite.
 */
export const countOf = (value: Json | undefined): number => {
  const read =
    typeof value === "string" && decimal.test(value)
      ? Number(value)
      : JSON.isRawJSON(value)
        ? Number(JSON.stringify(value))
        : value
  return typeof read === "number" && read > 0 ? Math.min(read, Number.MAX_SAFE_INTEGER) : 0
}
