// The words of the GenAI semantic conventions, v1.41.1: what operations and providers are called in metrics and spans.
// It must not know requests, series or spans.
import type { ProviderKind } from "../domain/ProviderAccount.ts"

/** `image_generation` and `count_tokens` are no words of the conventions; others use the first of them as well. */
const operations: Readonly<Record<string, string>> = {
  chat: "chat",
  messages: "chat",
  embeddings: "embeddings",
  images: "image_generation",
  countTokens: "count_tokens",
  messagesCountTokens: "count_tokens"
}

export const operationName = (operation: string): string => operations[operation] ?? operation

const providers: Readonly<Record<ProviderKind, string>> = { "vertex-ai": "gcp.vertex_ai", google: "gcp.gemini" }

export const providerName = (kind: ProviderKind): string => providers[kind]
