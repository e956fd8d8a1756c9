// Facts and plans for tests of the Responses pair: a fixed id, a seal one can read, a digest of its own.
// It must not know what the pair does with them.
import * as Result from "effect/Result"
import type { JsonObject } from "../../src/domain/text/json.ts"
import type { AnswerFacts, RequestFacts, ResponsesChat } from "../../src/translate/responses-to-chat/facts.ts"
import { readResponsesRequest, requestToChat } from "../../src/translate/responses-to-chat/request.ts"
import {
  type ChatInput,
  lastEvent,
  stampResponse,
  streamFromChat
} from "../../src/translate/responses-to-chat/response.ts"
import { runFold } from "../../src/translate/Translator.ts"
import type { ResponsesEvent } from "../../src/wire/openai/Responses.ts"

export const number = "0123456789abcdef0123456789abcdef"
export const responseId = `resp_${number}`

/** An id of the response every test makes. */
export const ownId = (prefix: string, position: number): string =>
  `${prefix}_${number}${position.toString(16).padStart(4, "0")}`

export const seal = (text: string): string => `sealed:${text}`
export const unseal = (sealed: string): string | undefined =>
  sealed.startsWith("sealed:") ? sealed.slice("sealed:".length) : undefined
export const digest = (text: string): string => `digest of ${text}`

export const requestFacts = (facts: Partial<RequestFacts> = {}): RequestFacts => ({
  id: responseId,
  history: [],
  stored: () => undefined,
  prompt: undefined,
  unseal,
  digest,
  keeps: true,
  rejects: false,
  ...facts
})

/** What a body becomes, or the code and place of its fault. */
export const translated = (body: JsonObject, facts: Partial<RequestFacts> = {}) =>
  Result.mapError(
    Result.flatMap(readResponsesRequest(body), (read) => requestToChat(read, requestFacts(facts))),
    ({ code, param }) => [code, param]
  )

export const translation = (body: JsonObject, facts: Partial<RequestFacts> = {}): ResponsesChat =>
  Result.getOrThrow(translated({ model: "gemini-2.5-flash", input: "hi", ...body }, facts))

export const answerFacts = (body: JsonObject = {}, facts: Partial<AnswerFacts> = {}): AnswerFacts => ({
  id: responseId,
  createdSeconds: 1_700_000_000,
  plan: translation(body).plan,
  issuer: "gemini/google",
  seal,
  digest,
  carrierBytes: 4_000_000,
  ...facts
})

/** The events of a stream as a client gets them, the last one included. */
export const eventsOf = (inputs: Iterable<ChatInput>, facts: AnswerFacts): ReadonlyArray<ResponsesEvent> =>
  runFold(streamFromChat(facts), inputs).map((output) =>
    "_tag" in output
      ? lastEvent(output, stampResponse(output, { seconds: 1_700_000_009, isKept: facts.plan.keep }))
      : output
  )
