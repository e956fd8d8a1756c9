// Short builders of OpenAI-compatible answers for tests, and shortcuts through the translator.
// Must not contain expected results.
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { expect } from "vitest"
import type { Json, JsonObject } from "../../src/domain/text/json.ts"
import { chatToOpenAi } from "../../src/translate/chat-to-openai/ChatToOpenAi.ts"
import { strictlyChunk, strictlyCompletion } from "../../src/translate/shared/reply/clientForm.ts"
import { isStreamFailed, type TranslateContext } from "../../src/translate/Translator.ts"
import { type ChatChunk, type ChatCompletion, UpstreamChat } from "../../src/wire/openai/ChatReply.ts"
import { chatContext, chatRequest, deepFreeze } from "./chat.ts"
import { loudlySkipped, schemaOracle, sharedDir } from "./shared.ts"
import { bytesThrough, eventsThrough, isChunk, type Output } from "./streams.ts"

if (sharedDir() === undefined) loudlySkipped("OpenAI-compatible bodies and answers against the published schema")

export const llama = "meta/llama-4-maverick-17b-128e-instruct-maas"

export const llamaContext = (modelId = llama, strict = false): TranslateContext => {
  const base = chatContext(modelId, { kind: "vertex-ai", strict })
  return { ...base, target: { ...base.target, family: "openai", modelId, issuer: "openai/vertex-ai" } }
}
export const context: TranslateContext = llamaContext()
export const request = chatRequest([{ role: "user", content: "hi" }])

const decode = Schema.decodeUnknownResult(UpstreamChat)

/** As `Prepared` reads a reply: decoded, then translated; the value is deeply frozen. */
export const respond = (body: Json, from: TranslateContext = context) =>
  chatToOpenAi.response(deepFreeze(Result.getOrThrow(decode(deepFreeze(body)))), from, request)

/** A unary answer of one choice. */
export const completion = (message: JsonObject, choice: JsonObject = {}, top: JsonObject = {}): JsonObject => ({
  id: "up-1",
  object: "chat.completion",
  created: 1_762_103_726,
  model: "meta/llama",
  choices: [{ index: 0, message: { role: "assistant", ...message }, logprobs: null, finish_reason: "stop", ...choice }],
  usage: { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 },
  ...top
})

/** One event of a stream. */
export const event = (delta: JsonObject, choice: JsonObject = {}, top: JsonObject = {}): JsonObject => ({
  id: "up-1",
  object: "chat.completion.chunk",
  created: 1_762_103_726,
  model: "meta/llama",
  choices: [{ index: 0, delta, finish_reason: null, ...choice }],
  ...top
})

const valid = (entry: string, value: unknown): void => {
  const oracle = schemaOracle("openai.schema.json", entry)
  if (oracle !== undefined)
    expect([oracle(JSON.parse(JSON.stringify(value))), oracle.errors]).toStrictEqual([true, null])
}

export const validRequest = (body: unknown): void => valid("CreateChatCompletionRequest", body)

/** The full form obeys the open schema; the strict form the closed one, and strictness is idempotent (L11). */
export const validCompletion = (full: ChatCompletion): void => {
  valid("CreateChatCompletionResponse", full)
  const strict = strictlyCompletion(full)
  valid("strict.CreateChatCompletionResponse", strict)
  expect(strictlyCompletion(strict)).toStrictEqual(strict)
}

export const validChunk = (full: ChatChunk): void => {
  valid("CreateChatCompletionStreamResponse", full)
  const strict = strictlyChunk(full)
  if (strict === undefined) return
  valid("strict.CreateChatCompletionStreamResponse", strict)
  expect(strictlyChunk(strict)).toStrictEqual(strict)
}

/** The completion in full form, held to the published schemas. */
export const answer = (body: Json, from?: TranslateContext): ChatCompletion => {
  const full = Result.getOrThrow(respond(body, from))
  validCompletion(full)
  return full
}

/** The only choice. */
export const choiceOf = (body: Json) => {
  const { choices } = answer(body)
  expect(choices.length).toBe(1)
  return choices[0]
}

export const reasonOf = (body: Json) => {
  const result = respond(body)
  return Result.isFailure(result) ? result.failure : undefined
}

export const outputs = (events: ReadonlyArray<Json>, from: TranslateContext = context): ReadonlyArray<Output> =>
  eventsThrough(chatToOpenAi.stream(from, request), events)

export const outputsOfBytes = (pieces: Iterable<Uint8Array>, from: TranslateContext = context): ReadonlyArray<Output> =>
  bytesThrough(chatToOpenAi.stream(from, request), pieces)

/** All chunks, held to the published schemas; a failure in between is an error of the test. */
export const chunks = (events: ReadonlyArray<Json>, from?: TranslateContext): ReadonlyArray<ChatChunk> => {
  const all = outputs(events, from)
  const failed = all.find(isStreamFailed)
  if (failed !== undefined) throw new Error(JSON.stringify(failed))
  const only = all.filter(isChunk)
  only.forEach(validChunk)
  return only
}

/** The choices of all chunks in order. */
export const choices = (events: ReadonlyArray<Json>) => chunks(events).flatMap((chunk) => chunk.choices)

export const deltas = (events: ReadonlyArray<Json>) => choices(events).map(({ delta }) => delta)
