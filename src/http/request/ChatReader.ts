// Reads the body of a chat in whichever dialect's spelling it came, and keeps what its answer needs of that.
// It must not depend on routes, or on how a spelling is read.
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { BodyInvalid } from "../../domain/GatewayError.ts"
import type { LimitValues } from "../../domain/Limits.ts"
import type { JsonObject } from "../../domain/text/json.ts"
import { checkChat } from "../../router/bodies/bodyChecks.ts"
import { innerValues } from "../../translate/shared/innerValues.ts"
import { type ChatBody, chatBody } from "../../translate/chatBody.ts"
import { ChatRequest } from "../../wire/openai/Chat.ts"
import type { IncomingRequest } from "./IncomingRequest.ts"
import { bodyDecoder, type ReadBody, takeValues, textReader } from "./ReadBody.ts"

const decode = bodyDecoder(ChatRequest, checkChat)

/** A chat, and what its answer needs of the client's own body. */
interface ReadChat extends Pick<ChatBody, "customs" | "wordOf"> {
  readonly chat: ChatRequest
}

/** A fault has the client's word for its parameter. */
export const readChat = (given: JsonObject, limits: LimitValues): Result.Result<ReadChat, BodyInvalid> =>
  Result.flatMap(chatBody(given), ({ body, customs, wordOf }) =>
    Result.mapBoth(decode(body, limits), {
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

export const chatReader: Effect.Effect<ReadBody<ChatRequest>> = Effect.map(
  textReader((body, _bytes, limits) => readChat(body, limits)),
  (read) => (incoming, model) => Effect.flatMapEager(read(incoming, model), (found) => keepChat(incoming, found))
)
