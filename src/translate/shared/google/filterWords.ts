// The finish reasons of Gemini that say that a filter held the answer back.
// It must not know what an answer without content becomes.

export const filterWords: ReadonlySet<string> = new Set([
  "SAFETY",
  "BLOCKLIST",
  "PROHIBITED_CONTENT",
  "SPII",
  "RECITATION",
  "LANGUAGE",
  "MODEL_ARMOR",
  "IMAGE_SAFETY",
  "IMAGE_PROHIBITED_CONTENT",
  "IMAGE_RECITATION"
])
