// The codecs of every route as Effect Schemas: requests, answers, chunks and errors, one of each.
// Must not contain logic.
export { DryRun, Health, Model, ModelList, RenderedPrompt } from "./api/contractParts.ts"
export {
  ChatChunkEvent as ChatChunk,
  ChatCompletionAnswer as ChatCompletion,
  EmbeddingListAnswer as EmbeddingList,
  ImageListAnswer as ImageList,
  TokenCountAnswer as TokenCount
} from "./api/contractParts.ts"
export { ChatBody, ChatTurn, PromptBody } from "./api/bodies.ts"
export { AnthropicError, GoogleError, OpenAiError } from "./api/contractParts.ts"
export { EmbeddingsBody, ImagesBody } from "./api/bodies.ts"
export { Message, MessageBlock, MessageEvent, MessagesBody, MessagesCount, MessagesCountBody } from "./api/bodies.ts"
export { InputTokens as ResponseInputTokens, ResponseAnswer as Response, ResponsesBody } from "./api/GatewayApi.ts"
export { ResponsesEvent } from "./wire/openai/Responses.ts"
export { OutputItem as ResponseItem } from "./wire/openai/Responses.ts"
export { ResponseDeleted, ResponseItemList } from "./wire/openai/Responses.ts"
export {
  AdminProblem,
  AdminRequest,
  AdminUsage,
  Change as AdminChange,
  Config as AdminConfig,
  Key as AdminKey,
  Prompt as AdminPrompt,
  Provider as AdminProvider,
  ProviderCheck as AdminProviderCheck,
  WrittenConfigBody as AdminConfigBody,
  WrittenKeyBody as AdminKeyBody,
  WrittenPrompt as AdminPromptBody,
  WrittenProvider as AdminProviderBody
} from "./api/AdminResources.ts"
export type { WrittenConfig } from "./domain/config/GatewayConfig.ts"
