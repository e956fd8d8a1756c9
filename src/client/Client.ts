// The promise client (subpath model-gateway/client): chat, messages, embeddings, images, prompts, models.
// It must not know how calls are made. At runtime it imports nothing of Effect, so that browsers load little code.
import type { ChatCompletion, ChatChunk } from "../wire/openai/ChatReply.ts"
import type { EmbeddingList } from "../wire/openai/Embeddings.ts"
import type { ImageList } from "../wire/openai/Images.ts"
import type { TokenCount } from "../wire/openai/Chat.ts"
import type { DryRun, Model, ModelList, RenderedPrompt } from "../api/contractParts.ts"
import type {
  ChatBody,
  ChatTurn,
  EmbeddingsBody,
  ImagesBody,
  Message,
  MessageEvent,
  MessagesBody,
  MessagesCount,
  MessagesCountBody,
  PromptBody
} from "../api/bodies.ts"
import type { AnswerFacts } from "./headers.ts"
import { type CallOptions, type ClientOptions, type DryOptions, startCall, fetchAnswer } from "./Calls.ts"
import { type StreamFormat, EventStream } from "./EventStream.ts"
import { operations } from "../domain/operations.ts"
import { isObject } from "./failures.ts"

export { createHeaders, type GatewayOptions } from "./headers.ts"
export {
  Aborted,
  AnswerBroken,
  AuthenticationFailed,
  type ClientFailure,
  ConnectionFailed,
  type FailureFacts,
  GatewayFailure,
  NotFound,
  PermissionDenied,
  QuotaExhausted,
  RateLimited,
  type Refusal,
  RequestInvalid,
  ServiceFailed,
  TimedOut
} from "./failures.ts"
export { EventStream }
export type {
  AnswerFacts,
  CallOptions,
  ChatBody,
  ChatChunk,
  ChatCompletion,
  ChatTurn,
  ClientOptions,
  DryOptions,
  DryRun,
  EmbeddingList,
  EmbeddingsBody,
  ImageList,
  ImagesBody,
  Message,
  MessageEvent,
  MessagesBody,
  MessagesCount,
  MessagesCountBody,
  Model,
  ModelList,
  PromptBody,
  RenderedPrompt,
  TokenCount
}

type Streamed = { readonly stream: true }
type Unstreamed = { readonly stream?: false | null }

/** An operation with a single answer; a dry run returns the request that would be sent. */
export interface UnaryOperation<Body, Out> {
  (body: Body, options: DryOptions): Promise<DryRun>
  (body: Body, options?: CallOptions): Promise<Out>
}

/** An operation that streams when the body asks for it. */
export interface StreamedOperation<Body, Out, Event> {
  (body: Body, options: DryOptions): Promise<DryRun>
  (body: Body & Unstreamed, options?: CallOptions): Promise<Out>
  (body: Body & Streamed, options?: CallOptions): Promise<EventStream<Event>>
  (body: Body, options?: CallOptions): Promise<Out | EventStream<Event>>
}

/** The same for a prompt, named by `id`, `id@version` or `id@label`. */
export interface PromptOperation {
  (id: string, body: PromptBody, options: DryOptions): Promise<DryRun>
  (id: string, body?: PromptBody & Unstreamed, options?: CallOptions): Promise<ChatCompletion>
  (id: string, body: PromptBody & Streamed, options?: CallOptions): Promise<EventStream<ChatChunk>>
}

/** Promises reject only with a `ClientFailure`. */
export interface Client {
  readonly chat: {
    readonly completions: {
      readonly create: StreamedOperation<ChatBody, ChatCompletion, ChatChunk>
      readonly countTokens: UnaryOperation<ChatBody, TokenCount>
    }
  }
  readonly tokens: { readonly count: UnaryOperation<ChatBody, TokenCount> }
  readonly messages: {
    readonly create: StreamedOperation<MessagesBody, Message, MessageEvent>
    readonly countTokens: UnaryOperation<MessagesCountBody, MessagesCount>
  }
  readonly embeddings: { readonly create: UnaryOperation<EmbeddingsBody, EmbeddingList> }
  readonly images: { readonly generate: UnaryOperation<ImagesBody, ImageList> }
  readonly prompts: {
    readonly completions: { readonly create: PromptOperation }
    readonly render: (id: string, body?: PromptBody, options?: CallOptions) => Promise<RenderedPrompt>
  }
  readonly models: {
    readonly list: (options?: CallOptions) => Promise<ModelList>
    readonly retrieve: (id: string, options?: CallOptions) => Promise<Model>
  }
}

const openAi: StreamFormat = { lastData: "[DONE]", lastType: undefined, idleType: undefined }
const anthropic: StreamFormat = { lastData: undefined, lastType: "message_stop", idleType: "ping" }

const facts = new WeakMap<object, AnswerFacts>()

/** The facts of an answer or a stream of this client: provider, target, retries. */
export const factsOf = (answer: object): AnswerFacts | undefined =>
  answer instanceof EventStream ? answer.facts : facts.get(answer)

type Body = { readonly [name: string]: unknown }

export const createClient = (client: ClientOptions): Client => {
  const ask = async (
    method: "GET" | "POST",
    path: string,
    body: Body | undefined,
    options: CallOptions | DryOptions | undefined
  ) => {
    const [value, answerFacts] = await fetchAnswer(client, {
      method,
      path,
      options,
      ...(body === undefined ? {} : { body })
    })
    facts.set(value, answerFacts)
    return value
  }
  const post = (path: string) => (body: Body, options?: CallOptions | DryOptions) => ask("POST", path, body, options)
  const streamable = (path: string, format: StreamFormat) => async (body: Body, options?: CallOptions | DryOptions) =>
    isObject(body) && body["stream"] === true && !(options !== undefined && "dryRun" in options)
      ? new EventStream(await startCall(client, { method: "POST", path, body, options }), format)
      : await ask("POST", path, body, options)
  const prompt = (id: string, verb: string) => `/v1/prompts/${encodeURIComponent(id)}/${verb}`
  // The casts state what each route answers; the answers are not decoded, which keeps the client free of schemas.
  const countTokens = post(operations.countTokens.path) as UnaryOperation<ChatBody, TokenCount>
  return {
    chat: {
      completions: {
        create: streamable(operations.chat.path, openAi) as StreamedOperation<ChatBody, ChatCompletion, ChatChunk>,
        countTokens
      }
    },
    tokens: { count: countTokens },
    // Casts as above.
    messages: {
      create: streamable(operations.messages.path, anthropic) as StreamedOperation<MessagesBody, Message, MessageEvent>,
      countTokens: post(operations.messagesCountTokens.path) as UnaryOperation<MessagesCountBody, MessagesCount>
    },
    embeddings: { create: post(operations.embeddings.path) as UnaryOperation<EmbeddingsBody, EmbeddingList> },
    images: { generate: post(operations.images.path) as UnaryOperation<ImagesBody, ImageList> },
    // Casts as above.
    prompts: {
      completions: {
        create: ((id: string, body: Body = {}, options?: CallOptions | DryOptions) =>
          streamable(prompt(id, "completions"), openAi)(body, options)) as PromptOperation
      },
      render: (id, body = {}, options) => ask("POST", prompt(id, "render"), body, options) as Promise<RenderedPrompt>
    },
    // Casts as above.
    models: {
      list: (options) => ask("GET", "/v1/models", undefined, options) as Promise<ModelList>,
      retrieve: (id, options) =>
        ask("GET", `/v1/models/${encodeURIComponent(id)}`, undefined, options) as Promise<Model>
    }
  }
}
