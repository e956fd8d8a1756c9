// Finish reasons of Gemini that mean a content filter withheld the answer.
// Must not depend on the handling of answers without content.
import { isJsonObject, type Json } from "../../../domain/text/json.ts"

export const filterWords: ReadonlySet<string> = new Set([
  "SAFETY",
  "BLOCKLIST",
  "PROHIBITED_CONTENT",
  "SPII",
  "RECITATION",
  "LANGUAGE",
  "MODEL_ARMOR",
  "ESCALATION",
  "PUP_LIMITED_DISABLED",
  "IMAGE_SAFETY",
  "IMAGE_PROHIBITED_CONTENT",
  "IMAGE_RECITATION"
])

/** The categories for which a filter withheld something. */
const blockedCategories = (ratings: ReadonlyArray<Json>): ReadonlyArray<string> =>
  ratings.flatMap((rating) =>
    isJsonObject(rating) && rating["blocked"] === true && typeof rating["category"] === "string"
      ? [rating["category"].replace(/[^\w]/g, "_").slice(0, 64)]
      : []
  )

/** The provider's text with the categories that it blocked; `word` where it has no text. */
export const filterText = (
  message: string | null | undefined,
  word: string | null | undefined,
  ratings: ReadonlyArray<Json> | null | undefined
): string | undefined => {
  const categories = blockedCategories(ratings ?? [])
  if (categories.length === 0) return message ?? undefined
  return `${message || `The provider's filter withheld this (${word ?? "SAFETY"})`}: ${categories.join(", ")}`
}
