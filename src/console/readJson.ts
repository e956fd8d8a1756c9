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

/** Why a text is no JSON, in the words of the browser, which name the line; empty for JSON. */
export const jsonFault = (text: string): string => {
  try {
    JSON.parse(text)
    return ""
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
