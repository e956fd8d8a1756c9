// Wire schema of countTokens on Vertex AI and the Gemini API.
// It must not know OpenAI's field names. Field names come from Google's public API descriptions.
import * as Schema from "effect/Schema"
import { JsonValue, maybe } from "../json.ts"
import type { GenerateContentRequest } from "./GenerateContent.ts"

/** The members of a generateContent request that are counted. */
export type CountedContent = Pick<
  GenerateContentRequest,
  "contents" | "systemInstruction" | "tools" | "generationConfig"
>

/** The Gemini API counts system text and tools only inside the wrapper; Vertex AI accepts the bare fields. */
export type CountTokensRequest =
  | CountedContent
  | { readonly generateContentRequest: { readonly model: string } & CountedContent }

export const GeminiCountTokensReply = Schema.Struct({
  totalTokens: maybe(JsonValue),
  totalBillableCharacters: maybe(JsonValue),
  cachedContentTokenCount: maybe(JsonValue),
  promptTokensDetails: maybe(JsonValue)
})
export type GeminiCountTokensReply = typeof GeminiCountTokensReply.Type
