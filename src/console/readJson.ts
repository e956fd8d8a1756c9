// Reads JSON: the one reader of the console.
// Must not know what a text means.

/** The value of a text; undefined for a text that is no JSON. */
export const readJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
