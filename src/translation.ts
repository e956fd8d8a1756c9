// The translators for use without a gateway: pure functions from dialect to dialect, in Node and in browsers.
// Must not contain logic.
export { translators } from "./translate/standalone.ts"
export {
  strictlyChunk,
  strictlyCompletion,
  strictlyEmbeddings,
  strictlyImages,
  strictlyTokenCount
} from "./translate/shared/reply/clientForm.ts"
export { chunkReader, readAnswer, translateContext, type TranslateOptions } from "./translate/standalone.ts"
export { type NextHop, readStream, type StreamReader } from "./translate/StreamReader.ts"
export {
  type FetchedMedia,
  type Fold,
  isStreamFailed,
  type KnownSignature,
  type Progress,
  type StreamFailed,
  type TranslateContext,
  type Translated,
  type Translator,
  type Unary
} from "./translate/Translator.ts"
export type { BodyInvalid, UnsupportedOperation } from "./domain/GatewayError.ts"
export type { ClaudeStreamState } from "./translate/chat-to-claude/stream.ts"
export type { GeminiStreamState } from "./translate/chat-to-gemini/stream.ts"
export type { OpenAiStreamState } from "./translate/chat-to-openai/stream.ts"
export type { PredictState } from "./translate/chat-to-predict/ChatToPredict.ts"
export type { CountTokensBody } from "./wire/anthropic.ts"
export type { MessagesBody } from "./wire/anthropic.ts"
export type { CountTokensRequest } from "./wire/google.ts"
export type { BatchEmbedContentsRequest, EmbedContentRequest } from "./wire/google.ts"
export type { GenerateContentRequest } from "./wire/google.ts"
export type { PredictRequest } from "./wire/google.ts"
export type { Json } from "./wire/json.ts"
export type { ChatRequest } from "./wire/openai/Chat.ts"
export type { EmbeddingsRequest } from "./wire/openai/Embeddings.ts"
export type { ImagesRequest } from "./wire/openai/Images.ts"
export type { UpstreamChat } from "./wire/openai/ChatReply.ts"
export type { UpstreamEmbeddings } from "./wire/openai/Embeddings.ts"
