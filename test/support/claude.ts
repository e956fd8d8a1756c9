// Short builders of Claude requests and answers for the tests of this translator.
// Must not contain expected results.
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { expect } from "vitest"
import type { Json, JsonObject } from "../../src/domain/text/json.ts"
import { chatToClaudeRequest } from "../../src/translate/chat-to-claude/request.ts"
import { responseFromClaude } from "../../src/translate/chat-to-claude/response.ts"
import { streamFromClaude } from "../../src/translate/chat-to-claude/stream.ts"
import { isStreamFailed, type TranslateContext } from "../../src/translate/Translator.ts"
import { type BlockOut, MessageReply, type MessagesBody } from "../../src/wire/anthropic.ts"
import type { ChatMessage, ChatRequest } from "../../src/wire/openai/Chat.ts"
import type { ChatChunk, ChatCompletion } from "../../src/wire/openai/ChatReply.ts"
import { chatContext, chatRequest, type ContextOptions, deepFreeze } from "./chat.ts"
import { loudlySkipped, schemaOracle, sharedDir } from "./shared.ts"
import { bytesThrough, eventsThrough, isChunk, type Output } from "./streams.ts"

export type Rest = Omit<Partial<ChatRequest>, "messages">

/** One model of each kind of table 9, and of those that always think. */
export const models = {
  early: "claude-3-haiku@20240307",
  plain: "claude-3-5-haiku@20241022",
  budget: "claude-sonnet-4@20250514",
  budgetOne: "claude-sonnet-4-5@20250929",
  both: "claude-opus-4-6",
  newest: "claude-opus-4-8",
  between: "claude-sonnet-5-5",
  always: "claude-opus-5-5"
}

export const issuer = "claude/vertex-ai"

/** A context as the gateway builds it for Claude on Vertex AI; not strict by default. */
export const claudeContext = (modelId = models.budgetOne, options: ContextOptions = {}): TranslateContext => {
  const context = chatContext(modelId, { ...options, kind: "vertex-ai" })
  return { ...context, target: { ...context.target, family: "claude", modelId, issuer } }
}

const check = schemaOracle("anthropic.schema.json", "VertexMessageCreateRequest")
if (sharedDir() === undefined) loudlySkipped("bodies for Claude against the published request schema")

export type Messages = ReadonlyArray<ChatMessage>

export const translate = (messages: Messages, rest: Rest = {}, context = claudeContext()) =>
  chatToClaudeRequest(chatRequest(messages, rest), context)

/** Body, headers and ignored names, the body held to the published schema; the request is deeply frozen. */
export const translated = (messages: Messages, rest: Rest = {}, context = claudeContext()) => {
  const out = Result.getOrThrow(translate(messages, rest, context))
  if (check !== undefined)
    expect([check(JSON.parse(JSON.stringify(out.body))), check.errors]).toStrictEqual([true, null])
  return out
}

export const sent = (messages: Messages, rest: Rest = {}, context = claudeContext()): MessagesBody =>
  translated(messages, rest, context).body

/** What becomes of a request with one user message. */
export const asked = (rest: Rest, context = claudeContext()) => translated([user("hi")], rest, context)

/** The blocks of the only message. */
export const blocksSent = (content: unknown, context = claudeContext()): ReadonlyArray<BlockOut> => {
  const { messages } = sent([{ role: "user", content }], {}, context)
  expect(messages.map(({ role }) => role)).toStrictEqual(["user"])
  return messages[0]?.content ?? []
}

/** Where a refusal points and its code; for what is unsupported, its tag. */
export const refused = (
  messages: Messages,
  rest: Rest = {},
  context = claudeContext()
): readonly [string | null, string] => {
  const out = translate(messages, rest, context)
  if (Result.isSuccess(out)) throw new Error("was not refused")
  if (out.failure._tag === "BodyInvalid") return [out.failure.param, out.failure.code]
  return ["param" in out.failure ? out.failure.param : null, out.failure._tag]
}
export const refusedParam = (rest: Rest, context = claudeContext()) => refused([user("hi")], rest, context)

export const text = (words: string): BlockOut => ({ type: "text", text: words })
export const user = (content: unknown): ChatMessage => ({ role: "user", content })
export const system = (content: unknown): ChatMessage => ({ role: "system", content })
export const assistant = (content: unknown, rest: Readonly<Record<string, unknown>> = {}): ChatMessage => ({
  role: "assistant",
  content,
  ...rest
})
export const tool = (id: unknown, content: unknown, rest: Readonly<Record<string, unknown>> = {}): ChatMessage => ({
  role: "tool",
  tool_call_id: id,
  content,
  ...rest
})
export const call = (id: string, name = "f", args: unknown = "{}", rest: Readonly<Record<string, unknown>> = {}) => ({
  id,
  type: "function",
  function: { name, arguments: args, ...rest }
})
export const calling = (...calls: ReadonlyArray<unknown>): ChatMessage => assistant(null, { tool_calls: calls })
export const functionTool = (
  name = "f",
  parameters: JsonObject | undefined = { type: "object", properties: { a: {} } }
): JsonObject => ({
  type: "function",
  function: { name, ...(parameters === undefined ? {} : { parameters }) }
})

const decode = Schema.decodeUnknownResult(MessageReply)
const hello = chatRequest([user("hi")])

/** A whole answer of these blocks. */
export const message = (content: ReadonlyArray<Json>, rest: JsonObject = { stop_reason: "end_turn" }): JsonObject => ({
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "claude-sonnet-4-5-20250929",
  content,
  stop_sequence: null,
  usage: { input_tokens: 3, output_tokens: 5 },
  ...rest
})

export const respond = (body: Json, context = claudeContext(), request = hello) =>
  responseFromClaude(deepFreeze(Result.getOrThrow(decode(body))), context, request)

export const answer = (body: Json, context = claudeContext(), request = hello): ChatCompletion =>
  Result.getOrThrow(respond(body, context, request))

/** The only choice of an answer of these blocks. */
export const choice = (content: ReadonlyArray<Json>, rest?: JsonObject, request = hello) =>
  answer(message(content, rest), claudeContext(), request).choices[0]

export const runBytes = (
  context: TranslateContext,
  request: ChatRequest,
  pieces: Iterable<Uint8Array>
): ReadonlyArray<Output> => bytesThrough(streamFromClaude(context, request), pieces)

export const runEvents = (
  context: TranslateContext,
  request: ChatRequest,
  events: ReadonlyArray<Json>
): ReadonlyArray<Output> => eventsThrough(streamFromClaude(context, request), events)

/** All chunks; a failure in between is an error of the test. */
export const chunks = (
  events: ReadonlyArray<Json>,
  context = claudeContext(),
  request = hello
): ReadonlyArray<ChatChunk> => {
  const all = runEvents(context, request, events)
  const failed = all.find(isStreamFailed)
  if (failed !== undefined) throw new Error(JSON.stringify(failed))
  return all.filter(isChunk)
}

/** The deltas of a stream of these blocks. Members outside a block's shape come in their own events. */
export const deltas = (inner: ReadonlyArray<Json>, request = hello) =>
  chunks(stream(inner), claudeContext(), request).flatMap((chunk) => chunk.choices.map((one) => one.delta))

const started: JsonObject = {
  type: "message_start",
  message: {
    model: "claude-sonnet-4-5-20250929",
    role: "assistant",
    content: [],
    usage: { input_tokens: 3, output_tokens: 1 }
  }
}

/** A whole stream around events of blocks. */
export const stream = (
  inner: ReadonlyArray<Json>,
  stop: JsonObject = { stop_reason: "end_turn" }
): ReadonlyArray<Json> => [
  started,
  ...inner,
  { type: "message_delta", delta: { stop_sequence: null, ...stop }, usage: { output_tokens: 5 } },
  { type: "message_stop" }
]

export const start = (index: number, content_block: JsonObject): JsonObject => ({
  type: "content_block_start",
  index,
  content_block
})
export const grow = (index: number, delta: JsonObject): JsonObject => ({ type: "content_block_delta", index, delta })
export const stop = (index: number): JsonObject => ({ type: "content_block_stop", index })
