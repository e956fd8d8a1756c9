// Wire schemas of generateContent, countTokens, embeddings and predict on Vertex AI and the Gemini API.
// It must not know OpenAI's field names. Field names come from Google's public API descriptions.
import * as Schema from "effect/Schema"
import { type JsonObject, JsonValue, maybe } from "./json.ts"

/**
 * A request part with exactly one data field. The gateway builds it without a schema; tests check it against the
 * published schema.
 */
export interface PartOut {
  readonly text?: string
  readonly thought?: boolean
  readonly thoughtSignature?: string
  readonly inlineData?: { readonly mimeType: string; readonly data: string }
  readonly fileData?: { readonly mimeType?: string; readonly fileUri: string }
  readonly videoMetadata?: JsonObject
  readonly mediaResolution?: { readonly level: string }
  readonly functionCall?: { readonly name: string; readonly args: JsonObject; readonly id?: string }
  readonly functionResponse?: {
    readonly name: string
    readonly response: JsonObject
    readonly id?: string
    readonly parts?: ReadonlyArray<JsonObject>
  }
  /** A provider's own part, replayed unchanged. */
  readonly [key: string]: unknown
}
export interface ContentOut {
  readonly role?: "user" | "model"
  readonly parts: ReadonlyArray<PartOut>
}
export interface GenerateContentRequest {
  readonly contents: ReadonlyArray<ContentOut>
  readonly systemInstruction?: ContentOut
  readonly tools?: ReadonlyArray<JsonObject>
  readonly toolConfig?: JsonObject
  readonly safetySettings?: ReadonlyArray<JsonObject>
  readonly generationConfig?: JsonObject
  readonly cachedContent?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly serviceTier?: string
  readonly modelArmorConfig?: JsonObject
  /** Asks for the rest of an answer that stopped at the limit of one request. */
  readonly continuationToken?: string
}

const open = [Schema.Record(Schema.String, JsonValue)] as const

export const FunctionCall = Schema.StructWithRest(
  Schema.Struct({
    name: maybe(Schema.String),
    args: maybe(JsonValue),
    id: maybe(Schema.String),
    willContinue: maybe(Schema.Boolean),
    partialArgs: maybe(Schema.Array(JsonValue))
  }),
  open
)
export type FunctionCall = typeof FunctionCall.Type

/** A reply part; unknown kinds stay in the open rest. */
export const Part = Schema.StructWithRest(
  Schema.Struct({
    text: maybe(Schema.String),
    thought: maybe(Schema.Boolean),
    thoughtSignature: maybe(Schema.String),
    inlineData: maybe(Schema.Struct({ mimeType: maybe(Schema.String), data: maybe(Schema.String) })),
    functionCall: maybe(FunctionCall)
  }),
  open
)
export type Part = typeof Part.Type

export const Content = Schema.Struct({ parts: maybe(Schema.Array(Part)), role: maybe(Schema.String) })

export const UsageMetadata = Schema.StructWithRest(
  Schema.Struct({
    promptTokenCount: maybe(Schema.Number),
    candidatesTokenCount: maybe(Schema.Number),
    thoughtsTokenCount: maybe(Schema.Number),
    toolUsePromptTokenCount: maybe(Schema.Number),
    cachedContentTokenCount: maybe(Schema.Number),
    totalTokenCount: maybe(Schema.Number)
  }),
  open
)
export type UsageMetadata = typeof UsageMetadata.Type

export const Candidate = Schema.Struct({
  index: maybe(Schema.Number),
  content: maybe(Content),
  finishReason: maybe(Schema.String),
  finishMessage: maybe(Schema.String),
  continuationToken: maybe(Schema.String),
  safetyRatings: maybe(Schema.Array(JsonValue)),
  citationMetadata: maybe(JsonValue),
  groundingMetadata: maybe(JsonValue),
  urlContextMetadata: maybe(JsonValue),
  logprobsResult: maybe(JsonValue)
})
export type Candidate = typeof Candidate.Type

/** The unary reply, and every streamed event. When the provider fails inside a 200, `error` is the only member. */
export const GenerateContentReply = Schema.Struct({
  candidates: maybe(Schema.Array(Candidate)),
  promptFeedback: maybe(
    Schema.Struct({
      blockReason: maybe(Schema.String),
      blockReasonMessage: maybe(Schema.String),
      safetyRatings: maybe(Schema.Array(JsonValue))
    })
  ),
  usageMetadata: maybe(UsageMetadata),
  modelVersion: maybe(Schema.String),
  modelStatus: maybe(
    Schema.Struct({
      modelStage: maybe(Schema.String),
      retirementTime: maybe(Schema.String),
      message: maybe(Schema.String)
    })
  ),
  responseId: maybe(Schema.String),
  error: maybe(JsonValue)
})
export type GenerateContentReply = typeof GenerateContentReply.Type

// Wire schema of countTokens on Vertex AI and the Gemini API.

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

// Wire schema of embeddings: embedContent on Vertex AI and batchEmbedContents on the Gemini API.

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

// Wire schema of predict on Vertex AI and the Gemini API: instances and predictions, whose shape depends on the model.

/** The gateway builds the request without a schema; tests check it against the published schema. */
export interface PredictRequest {
  readonly instances: ReadonlyArray<JsonObject>
  readonly parameters?: JsonObject
  readonly labels?: Readonly<Record<string, string>>
}

export const PredictReply = Schema.Struct({ predictions: maybe(Schema.Array(JsonValue)) })
export type PredictReply = typeof PredictReply.Type
