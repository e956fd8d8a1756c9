// countTokens of both Google products.
// It must not know OpenAI words. Field names verbatim from the public API descriptions.
import * as Schema from "effect/Schema"
import { JsonValue, maybe } from "../json.ts"
import type { GenerateContentRequest } from "./GenerateContent.ts"

/** What of a generateContent request is counted. */
export type CountedContent = Pick<
  GenerateContentRequest,
  "contents" | "systemInstruction" | "tools" | "generationConfig"
>

/** The Gemini API counts system text and tools only inside its wrapper; Vertex AI takes the fields bare. */
export type CountTokensRequest =
  | CountedContent
  | { readonly generateContentRequest: { readonly model: string } & CountedContent }

export const CountTokensReply = Schema.Struct({
  totalTokens: maybe(JsonValue),
  totalBillableCharacters: maybe(JsonValue),
  cachedContentTokenCount: maybe(JsonValue),
  promptTokensDetails: maybe(JsonValue)
})
export type CountTokensReply = typeof CountTokensReply.Type
