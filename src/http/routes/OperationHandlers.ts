// The routes of the operations: what each reads of a body, and how it answers.
// They must not depend on providers, or on fields of a native body beyond those that are read of it.
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { BodyInvalid } from "../../domain/GatewayError.ts"
import type { LimitValues } from "../../domain/Limits.ts"
import type { JsonObject } from "../../domain/text/json.ts"
import { checkChat, checkLabelled, checkModel } from "../../operations/checks.ts"
import { innerValues } from "../../translate/shared/chat-request/toolCalls.ts"
import { type ChatBody, chatBody } from "../../translate/chatBody.ts"
import { ChatRequest } from "../../wire/openai/Chat.ts"
import type { RequestContext } from "../../domain/RequestContext.ts"
import type { Call } from "../edge/GatewayAuth.ts"
import type { IncomingRequest } from "../request/IncomingRequest.ts"
import { bodyDecoder, bodyReader, type ReadBody, spansReader, takeValues, textReader } from "../request/ReadBody.ts"
import { answer, completion, embeddings, images, passed } from "../response/Reply.ts"
import { chatEvents, passedEvents } from "../response/StreamReply.ts"
import { type Asked, askedBy, handleOperation, type OperationAnswers, type OperationRoute } from "./OperationRoute.ts"
import { strictlyTokenCount } from "../../translate/shared/reply/clientForm.ts"
import { EmbeddingsRequest } from "../../wire/openai/Embeddings.ts"
import { ImagesRequest } from "../../wire/openai/Images.ts"
import { servesOtherModels } from "../../domain/serving.ts"
import { Carriers, digestOfText } from "../../store/Carriers.ts"
import { messagesBody } from "../../translate/messagesBody.ts"
import { readCountRequest, readMessagesRequest } from "../../translate/messages-to-claude.ts"

const decodeChat = bodyDecoder(ChatRequest, checkChat)

/** A chat, and what its answer needs of the client's own body. */
interface ReadChat extends Pick<ChatBody, "customs" | "wordOf"> {
  readonly chat: ChatRequest
}

/** A fault has the client's word for its parameter. */
export const readChat = (given: JsonObject, limits: LimitValues): Result.Result<ReadChat, BodyInvalid> =>
  Result.flatMap(chatBody(given), ({ body, customs, wordOf }) =>
    Result.mapBoth(decodeChat(body, limits), {
      onSuccess: (chat) => ({ chat, customs, wordOf }),
      onFailure: (fault) =>
        wordOf === undefined || fault.param === null
          ? fault
          : new BodyInvalid({ code: fault.code, param: wordOf(fault.param), message: fault.message })
    })
  )

/** The chat, once its answer's needs are kept and the values in its texts are counted. */
export const keepChat = (incoming: IncomingRequest, { chat, customs, wordOf }: ReadChat) => {
  incoming.wordOf = wordOf
  if (customs.size > 0) incoming.customTools = customs
  const fault = takeValues(incoming, innerValues(chat))
  return fault === undefined ? Effect.succeed(chat) : Effect.fail(fault)
}

const chatReader: Effect.Effect<ReadBody<ChatRequest>> = Effect.map(
  textReader((body, _bytes, limits) => readChat(body, limits)),
  (read) => (incoming, model) => Effect.flatMapEager(read(incoming, model), (asked) => keepChat(incoming, asked))
)

// POST /v1/chat/completions: a chat in OpenAI's dialect, answered as one completion or as a stream of chunks.

/** Prompts answer as chats do. */
export const chatAnswers: OperationAnswers<"chat", Asked<"chat">> = {
  reply: (full, served, { context }, incoming) => completion(full, served, context, incoming),
  stream: {
    isAsked: ({ stream }) => stream === true,
    reply: (opened, { body: { modalities, stream_options: options }, context: { images, strict } }, incoming) =>
      chatEvents(
        opened,
        {
          strict,
          images,
          usage: options?.["include_usage"] === true,
          customs: incoming.customTools,
          asksForImages: Array.isArray(modalities) && modalities.includes("image")
        },
        incoming
      )
  }
}

export const chatRoute = { ...chatAnswers, operation: "chat", read: askedBy(chatReader) } as const

export const ChatHandlers = handleOperation(chatRoute)

// POST /v1/chat/completions/count_tokens: the input tokens of a chat before it is sent.

/** Counting is free, so the answer has no usage. */
export const CountTokensHandlers = handleOperation({
  operation: "countTokens",
  read: askedBy(chatReader),
  reply: (full, served, { context }, incoming) =>
    answer(context.strict ? strictlyTokenCount(full) : full, served, undefined, incoming)
})

// POST /v1/embeddings: vectors of texts, or of several media.

export const embeddingsRoute: OperationRoute<"embeddings", never> = {
  operation: "embeddings",
  read: askedBy(bodyReader(EmbeddingsRequest, checkLabelled, "embeddingsBodyBytes")),
  reply: (list, served, { context }, incoming) => embeddings(list, served, context.strict, incoming)
}

export const EmbeddingsHandlers = handleOperation(embeddingsRoute)

// POST /v1/images/generations: pictures from a text.

export const imagesRoute: OperationRoute<"images", never> = {
  operation: "images",
  read: askedBy(bodyReader(ImagesRequest, checkLabelled, "imagesBodyBytes")),
  reply: (full, served, { context }, incoming) => images(full, served, context.strict, incoming)
}

export const ImagesHandlers = handleOperation(imagesRoute)

// POST /v1/messages and its token count: native body in; the upstream's own answer or stream out.

/** The context with what a model that is not Claude needs, where the request may reach one. */
const withOtherModels = (carriers: Carriers["Service"], context: RequestContext): Effect.Effect<RequestContext> => {
  const { catalog, config, key } = context
  const rules = [key.other_models, config?.otherModels, catalog?.serving?.otherModels]
  return servesOtherModels("messages", rules)
    ? Effect.map(carriers.forKey(key.id), (seal) => ({ ...context, otherModels: { ...seal, digest: digestOfText } }))
    : Effect.succeed(context)
}

const messagesRead = (read: typeof readMessagesRequest) =>
  Effect.gen(function* () {
    const carriers = yield* Carriers
    const ask = yield* askedBy(
      spansReader((body, bytes, spans) => {
        const spelled = messagesBody(body, bytes)
        return Result.flatMap(
          spelled === undefined ? read(body, bytes, spans) : read(spelled.body, spelled.bytes),
          (request) => Result.map(checkModel(request.model), () => request)
        )
      })
    )
    return (call: Call) =>
      Effect.flatMapEager(ask(call), ({ body, context }) =>
        Effect.mapEager(withOtherModels(carriers, context), (completed) => ({ body, context: completed }))
      )
  })

/** A native body is answered by the upstream's own bytes. */
export const messagesAnswers: OperationAnswers<"messages", Asked<"messages">> = {
  reply: passed,
  stream: { isAsked: ({ stream }) => stream, reply: (opened, _asked, incoming) => passedEvents(opened, incoming) }
}

export const messagesRoute = {
  ...messagesAnswers,
  operation: "messages",
  read: messagesRead(readMessagesRequest)
} as const

export const MessagesHandlers = handleOperation(messagesRoute)

export const MessagesCountHandlers = handleOperation({
  operation: "messagesCountTokens",
  read: messagesRead(readCountRequest),
  reply: passed
})
