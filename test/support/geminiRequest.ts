// Translates messages for Gemini in tests: bodies checked against the published schemas, refusals as param and code.
// It must not know any rule of translation.
import * as Result from "effect/Result"
import { expect } from "vitest"
import { chatToGeminiRequest } from "../../src/translate/chat-to-gemini/request.ts"
import type { ChatRequest } from "../../src/wire/openai/Chat.ts"
import { chatContext, chatRequest, type ContextOptions } from "./chat.ts"
import { loudlySkipped, schemaOracle, sharedDir } from "./shared.ts"

const oracles = {
  google: schemaOracle("google-generativelanguage-v1beta.schema.json", "GenerateContentRequest"),
  "vertex-ai": schemaOracle("google-aiplatform-v1.schema.json", "GenerateContentRequest")
}
if (sharedDir() === undefined) loudlySkipped("messages against the published request schema")

interface Options extends ContextOptions {
  readonly model?: string | undefined
}

/** The messages, deeply frozen, through the translator. */
export const translate = (messages: ChatRequest["messages"], options: Options = {}) =>
  chatToGeminiRequest(chatRequest(messages), chatContext(options.model, options))

/** The body, valid by the schema of its provider and without members that are undefined. */
export const sent = (messages: ChatRequest["messages"], options: Options = {}) => {
  const { body } = Result.getOrThrow(translate(messages, options))
  const plain: unknown = JSON.parse(JSON.stringify(body))
  expect(body).toStrictEqual(plain)
  const check = oracles[options.kind ?? "google"]
  if (check !== undefined) expect([check(plain), check.errors]).toStrictEqual([true, null])
  return body
}

/** Parameter and code of the refusal. */
export const refused = (messages: ChatRequest["messages"], options: Options = {}) => {
  const result = translate(messages, options)
  if (Result.isSuccess(result) || result.failure._tag !== "BodyInvalid") throw new Error("was not refused as invalid")
  return [result.failure.param, result.failure.code]
}
