// Short builders of Gemini answers for tests, and shortcuts through the translator.
// Must not contain expected results.
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { Json, JsonObject } from "../../src/domain/text/json.ts"
import { responseFromGemini } from "../../src/translate/chat-to-gemini/response.ts"
import { isStreamFailed, type TranslateContext } from "../../src/translate/Translator.ts"
import { GenerateContentReply } from "../../src/wire/google.ts"
import type { ChatRequest } from "../../src/wire/openai/Chat.ts"
import type { ChatChunk, ChatCompletion, ChunkChoice } from "../../src/wire/openai/ChatReply.ts"
import { chatContext, chatRequest, deepFreeze } from "./chat.ts"
import { isChunk, type Output, runEvents } from "./streams.ts"

export const context: TranslateContext = chatContext()
export const request: ChatRequest = chatRequest([{ role: "user", content: "hi" }])

const decode = Schema.decodeUnknownResult(GenerateContentReply)

/** A reply, or event, of one candidate. */
export const reply = (
  parts: ReadonlyArray<Json> | undefined,
  rest: JsonObject = {},
  top: JsonObject = {}
): JsonObject => ({
  candidates: [{ ...(parts === undefined ? {} : { content: { role: "model", parts } }), ...rest }],
  ...top
})

export const stop = { finishReason: "STOP" }

export const respond = (body: Json, from: TranslateContext = context, to: ChatRequest = request) =>
  responseFromGemini(deepFreeze(Result.getOrThrow(decode(body))), from, to)

export const answer = (body: Json, from?: TranslateContext, to?: ChatRequest): ChatCompletion =>
  Result.getOrThrow(respond(body, from, to))

/** The only choice of the answer. */
export const choice = (body: Json, from?: TranslateContext, to?: ChatRequest) => answer(body, from, to).choices[0]

export const reason = (body: Json, from?: TranslateContext, to?: ChatRequest) => {
  const result = respond(body, from, to)
  return Result.isFailure(result) ? result.failure : undefined
}

export const outputs = (
  events: ReadonlyArray<Json>,
  from: TranslateContext = context,
  to: ChatRequest = request
): ReadonlyArray<Output> => runEvents(from, to, events)

/** All chunks; a failure in between is an error of the test. */
export const chunks = (
  events: ReadonlyArray<Json>,
  from?: TranslateContext,
  to?: ChatRequest
): ReadonlyArray<ChatChunk> => {
  const all = outputs(events, from, to)
  const failed = all.find(isStreamFailed)
  if (failed !== undefined) throw new Error(JSON.stringify(failed))
  return all.filter(isChunk)
}

/** The choices of all chunks in order. */
export const choices = (
  events: ReadonlyArray<Json>,
  from?: TranslateContext,
  to?: ChatRequest
): ReadonlyArray<ChunkChoice> => chunks(events, from, to).flatMap((chunk) => chunk.choices)

export const deltas = (events: ReadonlyArray<Json>, from?: TranslateContext, to?: ChatRequest) =>
  choices(events, from, to).map((one) => one.delta)
