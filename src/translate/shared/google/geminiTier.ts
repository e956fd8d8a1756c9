// Reads the tier that served a request from the header of the Gemini API, for answers whose counts lack it.
// Must not depend on what a tier costs.
import type { Usage } from "../../../wire/openai/ChatReply.ts"

/** Undefined for a response without the header, and without headers at hand. */
export const readGeminiTier = (headers: Readonly<Record<string, string>> | undefined): string | undefined =>
  headers?.["x-gemini-service-tier"]

/** The tier of the counts takes precedence (M-704). */
export const withTier = (usage: Usage, tier: string | undefined): Usage =>
  tier === undefined || usage.service_tier !== undefined ? usage : { ...usage, service_tier: tier }
