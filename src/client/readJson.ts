// Parses JSON text without throwing, for answers that may be malformed.
// It must not know dialects. The service's own parser would add a part of Effect to every web page.

export const isObject = (value: unknown): value is { readonly [name: string]: unknown } =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Undefined for malformed text; undefined is not a JSON value. */
export const readJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
