// Shortcuts from chat messages to Gemini contents for the tests of messages.
// Must not contain expected results.
import * as Result from "effect/Result"
import { expect } from "vitest"
import { defaultLimits } from "../../src/domain/Limits.ts"
import { reading } from "../../src/domain/Reader.ts"
import { builtInModels } from "../../src/domain/models/modelTable.ts"
import { type BuiltInKind, builtInKinds } from "../../src/domain/ProviderAccount.ts"
import { messagesToGemini } from "../../src/translate/chat-to-gemini/messages.ts"
import { repairHistory } from "../../src/translate/shared/chat-request/repairHistory.ts"
import { readMessages } from "../../src/translate/shared/chat-request/readMessages.ts"
import { geminiNames, toolNamesOf } from "../../src/translate/shared/chat-request/toolCalls.ts"
import type { ContentOut } from "../../src/wire/google.ts"
import type { ChatMessage } from "../../src/wire/openai/Chat.ts"
import { chatContext, chatRequest, type ContextOptions } from "./chat.ts"
import { loudlySkipped, schemaOracle, sharedDir } from "./shared.ts"

export type Messages = ReadonlyArray<ChatMessage>

const oracles = {
  google: schemaOracle("google-generativelanguage-v1beta.schema.json", "GenerateContentRequest"),
  "vertex-ai": schemaOracle("google-aiplatform-v1.schema.json", "GenerateContentRequest")
}
if (sharedDir() === undefined) loudlySkipped("messages against the published request schema")

export const modern = "gemini-3-pro-preview"
export const middle = "gemini-2.5-flash"
export const older = "gemini-2.0-flash"
export const vertex: ContextOptions = { kind: "vertex-ai" }

/** Every text model of Gemini 3 and later, with the products that have it. */
export const geminiFrom3: ReadonlyArray<{ readonly id: string; readonly kinds: ReadonlyArray<BuiltInKind> }> =
  builtInModels.ids
    .map((id) => builtInModels.find(id).record)
    .filter(
      ({ family, generation, output = ["text"], thinking }) =>
        family === "gemini" && Number(generation) >= 3 && output.join() === "text" && thinking !== undefined
    )
    .map(({ id, providers }) => ({
      id,
      kinds: builtInKinds.filter((kind) => providers === undefined || providers.includes(kind))
    }))

const run = (messages: Messages, model: string, options: ContextOptions) => {
  const request = chatRequest(messages)
  return Result.flatMap(readMessages(repairHistory(request.messages), defaultLimits), (turns) =>
    reading((reader) => messagesToGemini(reader, turns, chatContext(model, options), toolNamesOf(request, geminiNames)))
  )
}

/** What goes upstream, checked against the published schema; the messages are deeply frozen. */
export const sent = (messages: Messages, model = middle, options: ContextOptions = {}) => {
  const out = Result.getOrThrow(run(messages, model, options))
  const check = oracles[options.kind ?? "google"]
  if (check !== undefined) expect([check(JSON.parse(JSON.stringify(out))), check.errors]).toStrictEqual([true, null])
  return out
}

/** The parts of the only content. */
export const partsSent = (content: unknown, model = middle, options: ContextOptions = {}): ContentOut["parts"] => {
  const { contents } = sent([{ role: "user", content }], model, options)
  expect(contents.map((one) => one.role)).toStrictEqual(["user"])
  return contents[0]?.parts ?? []
}

/** Where a refusal points and its code. */
export const refused = (
  messages: Messages,
  model = middle,
  options: ContextOptions = {}
): readonly [string | null, string] => {
  const out = run(messages, model, options)
  if (Result.isSuccess(out) || out.failure._tag !== "BodyInvalid") throw new Error("was not refused as invalid")
  return [out.failure.param, out.failure.code]
}
export const partRefused = (part: unknown, options: ContextOptions = {}): readonly [string | null, string] =>
  refused([{ role: "user", content: [part] }], middle, options)

export const user = (content: unknown): ChatMessage => ({ role: "user", content })
export const assistant = (content: unknown, rest: Readonly<Record<string, unknown>> = {}): ChatMessage => ({
  role: "assistant",
  content,
  ...rest
})
export const tool = (id: unknown, content: unknown): ChatMessage => ({ role: "tool", tool_call_id: id, content })
export const call = (id: string, name = "f", args: unknown = "{}", rest: Readonly<Record<string, unknown>> = {}) => ({
  id,
  type: "function",
  function: { name, arguments: args, ...rest }
})
export const calling = (...calls: ReadonlyArray<unknown>): ChatMessage => assistant(null, { tool_calls: calls })
