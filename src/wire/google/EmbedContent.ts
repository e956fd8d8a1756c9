// Wire schema of embeddings: embedContent on Vertex AI and batchEmbedContents on the Gemini API.
// It must not know OpenAI's field names. Field names come from Google's public API descriptions.
import * as Schema from "effect/Schema"
import { JsonValue, maybe } from "../json.ts"
import type { PartOut } from "./GenerateContent.ts"

export interface EmbedContent {
  readonly parts: ReadonlyArray<PartOut>
}

/** Vertex AI: one content, one vector. */
export interface EmbedContentRequest {
  readonly content: EmbedContent
  readonly embedContentConfig?: {
    readonly taskType?: string
    readonly title?: string
    readonly outputDimensionality?: number
    readonly autoTruncate?: boolean
  }
}

/** Gemini API: one request and one vector for each content. */
export interface BatchEmbedContentsRequest {
  readonly requests: ReadonlyArray<{
    readonly model: string
    readonly content: EmbedContent
    readonly taskType?: string
    readonly title?: string
    readonly outputDimensionality?: number
  }>
}

const ContentEmbedding = Schema.Struct({ values: maybe(JsonValue) })
const EmbedUsage = Schema.Struct({ promptTokenCount: maybe(JsonValue) })

export const EmbedContentReply = Schema.Struct({
  embedding: maybe(ContentEmbedding),
  usageMetadata: maybe(EmbedUsage),
  truncated: maybe(JsonValue)
})
export type EmbedContentReply = typeof EmbedContentReply.Type

export const BatchEmbedContentsReply = Schema.Struct({
  embeddings: maybe(Schema.Array(ContentEmbedding)),
  usageMetadata: maybe(EmbedUsage)
})
export type BatchEmbedContentsReply = typeof BatchEmbedContentsReply.Type
