// Facts and plans for tests of the messages pair: a fixed id, a seal one can read, a digest of its own.
// It must not know what the pair does with them.
import * as Result from "effect/Result"
import type { JsonObject } from "../../src/domain/text/json.ts"
import { streamFromChat } from "../../src/translate/messages-to-chat/response.ts"
import type { AnswerFacts, MessagesChat, RequestFacts } from "../../src/translate/messages-to-chat/facts.ts"
import { requestToChat } from "../../src/translate/messages-to-chat/request.ts"
import { isStreamFailed, runFold } from "../../src/translate/Translator.ts"
import type { AnswerEvent } from "../../src/wire/anthropic.ts"
import type { ChatChunk } from "../../src/wire/openai/ChatReply.ts"

export const messageId = "msg_0123456789abcdef0123456789abcdef"

export const seal = (text: string): string => `mgr1.${text}`
export const unseal = (sealed: string): string | undefined =>
  sealed.startsWith("mgr1.{") ? sealed.slice("mgr1.".length) : undefined
export const digest = (text: string): string => Buffer.from(text).toString("hex").slice(0, 32)

const requestFacts: RequestFacts = { family: "gemini", maxOutput: 65_536, unseal, digest }

/** What a body becomes, or the code and place of its fault. */
export const translated = (body: JsonObject, facts: Partial<RequestFacts> = {}) =>
  Result.mapError(
    requestToChat(
      { model: "gemini-3.8-flash", max_tokens: 100, messages: [{ role: "user", content: "hi" }], ...body },
      { ...requestFacts, ...facts }
    ),
    ({ code, param }) => [code, param]
  )

export const translation = (body: JsonObject, facts: Partial<RequestFacts> = {}): MessagesChat =>
  Result.getOrThrow(translated(body, facts))

export const answerFacts = (body: JsonObject = {}, facts: Partial<AnswerFacts> = {}): AnswerFacts => ({
  id: messageId,
  plan: translation(body).plan,
  issuer: "gemini/google",
  inputTokens: 3,
  seal,
  digest,
  carrierBytes: 4_000_000,
  ...facts
})

/** The events of a stream that does not fail. */
export const eventsOf = (chunks: Iterable<ChatChunk>, facts: AnswerFacts): ReadonlyArray<AnswerEvent> =>
  runFold(streamFromChat(facts), chunks).map((output) => {
    if (isStreamFailed(output)) throw new Error(output.reason.message)
    return output
  })
