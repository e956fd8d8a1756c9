// JSON text to a value, where broken text is an answer like any other.
// It must not know dialects. The service's own reader is not taken: it brings a part of Effect into every page.

export const isObject = (value: unknown): value is { readonly [name: string]: unknown } =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Undefined, which is no JSON, for text that is none. */
export const readJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
