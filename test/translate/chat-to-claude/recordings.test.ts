// Tests every recorded exchange with Claude, and handwritten ones, through the response path.
// Must not open sockets or read clocks.
import { readdirSync, readFileSync } from "node:fs"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { describe, expect, it } from "vitest"
import { isJsonObject, type Json, type JsonObject, parseExactJsonText } from "../../../src/domain/text/json.ts"
import { failureFromClaude, responseFromClaude } from "../../../src/translate/chat-to-claude/response.ts"
import { streamFromClaude } from "../../../src/translate/chat-to-claude/stream.ts"
import { strictlyChunk, strictlyCompletion } from "../../../src/translate/shared/reply/clientForm.ts"
import { isStreamFailed, runFold } from "../../../src/translate/Translator.ts"
import { MessageReply } from "../../../src/wire/anthropic.ts"
import type { ChatChunk, ChatCompletion } from "../../../src/wire/openai/ChatReply.ts"
import { chatRequest, deepFreeze } from "../../support/chat.ts"
import { claudeContext, runBytes, stop, user } from "../../support/claude.ts"
import { soundStream, soundUsage, valid } from "../../support/replies.ts"
import { loudlySkipped, type Recording, recordings, sharedDir } from "../../support/shared.ts"
import { cutsThatTell, unlawfulEnds } from "../../support/streamLaws.ts"
import { byteFold, bytesOf, eachByte, isChunk, joined, sse } from "../../support/streams.ts"

const fixtures = new URL("../../fixtures/claude/", import.meta.url)
const own = readdirSync(fixtures)
  .sort()
  .map((name): Recording => JSON.parse(readFileSync(new URL(name, fixtures), "utf8")))
const all = [...own, ...recordings("vertex-anthropic"), ...recordings("anthropic-api")]
if (sharedDir() === undefined) loudlySkipped("recorded answers of Claude")

const decode = Schema.decodeUnknownResult(MessageReply)
const context = claudeContext()
const request = chatRequest([user("hi")])
const textOf = (recording: Recording): string => recording.response.bodyText ?? JSON.stringify(recording.response.body)
const jsonOf = (text: string): Json => Result.getOrThrow(parseExactJsonText(text))
const succeeded = all.filter((recording) => recording.response.status === 200)
const isStream = (recording: Recording): boolean => recording.response.bodyText !== undefined

/** Errors and their rows of table 14. */
const refused: Readonly<Record<string, string>> = {
  "own/raw-predict-error-400-signature": "SignatureRejected",
  "vertex-anthropic/raw-predict-claude-sonnet-4-20250514-error-429-google-shaped": "RateLimited",
  "vertex-anthropic/raw-predict-claude-sonnet-4-5-20250929-error-400-anthropic-shaped": "InvalidRequest",
  "anthropic-api/messages-claude-3-opus-20240229-error-401-authentication-error": "CredentialsRejected",
  "anthropic-api/messages-claude-haiku-4-5-20251001-error-400-invalid-request-error": "InvalidRequest",
  "anthropic-api/messages-claude-sonet-4-5-error-404-not-found-error": "ModelNotFound",
  "anthropic-api/messages-claude-sonnet-4-0-error-401-authentication-error": "CredentialsRejected",
  "anthropic-api/messages-claude-sonnet-4-6-error-400-invalid-request-error": "InvalidRequest",
  "anthropic-api/messages-there-is-no-such-model-error-404-not-found-error": "ModelNotFound",
  "anthropic-api/messages-this-model-does-not-exist-12345-error-404-not-found-error-2": "ModelNotFound"
}

describe("recorded Claude errors (table 14)", () => {
  for (const recording of all.filter((one) => one.response.status !== 200)) {
    it(`a recorded error maps to its reason: ${recording.id}`, () => {
      const { status, headers } = recording.response
      const text = textOf(recording)
      const reason = failureFromClaude(status, headers, jsonOf(text), "caller")
      expect(reason._tag).toBe(refused[recording.id])
      expect(failureFromClaude(status, headers, text, "caller")).toEqual(reason)
      expect(/googleapis\.com|test-project/.test(reason.message)).toBe(false)
    })
  }
})

/** L13: text, thoughts, calls and signatures of the blocks, counted on both sides. */
const everythingKept = (content: ReadonlyArray<JsonObject>, full: ChatCompletion): void => {
  const message = full.choices[0]?.message
  const of = (type: string, field: string) =>
    content.filter((block) => block["type"] === type).map((block) => block[field])
  expect(message?.content ?? "").toBe(of("text", "text").join(""))
  expect(message?.reasoning_content ?? "").toBe(of("thinking", "thinking").join(""))
  expect((message?.tool_calls ?? []).map((call) => [call.function.name, JSON.parse(call.function.arguments)])).toEqual(
    content.filter((block) => block["type"] === "tool_use").map(({ name, input }) => [name, input])
  )
  const blocks = message?.content_blocks ?? []
  expect(blocks.flatMap((block) => (block.type === "thinking" ? [block.signature] : []))).toEqual(
    of("thinking", "signature")
  )
  expect(blocks.flatMap((block) => (block.type === "redacted_thinking" ? [block.data] : []))).toEqual(
    of("redacted_thinking", "data")
  )
  const others = content.filter(
    (block) => !["text", "thinking", "redacted_thinking", "tool_use"].includes(String(block["type"]))
  )
  expect(blocks.flatMap((block) => (block.type === "provider_part" ? [block.part] : []))).toEqual(others)
}

/** The same answer as a stream of whole blocks. */
const asStream = (reply: MessageReply): string => {
  const { content, stop_reason, stop_details, model, usage } = reply
  return sse(
    [
      { type: "message_start", message: { model, usage } },
      ...(content ?? []).flatMap((content_block, index) => [
        { type: "content_block_start", index, content_block },
        stop(index)
      ]),
      { type: "message_delta", delta: { stop_reason, stop_details }, usage },
      { type: "message_stop" }
    ],
    "\n"
  )
}

describe("recorded unary Claude answers (L1, L11, L13, L22, L23)", () => {
  for (const recording of succeeded.filter((one) => !isStream(one))) {
    it(`a recorded answer keeps the laws: ${recording.id}`, () => {
      const reply = deepFreeze(Result.getOrThrow(decode(jsonOf(textOf(recording)))))
      const full = Result.getOrThrow(responseFromClaude(reply, context, request))
      const strict = strictlyCompletion(full)
      valid("strict.CreateChatCompletionResponse", strict)
      expect(strictlyCompletion(strict)).toEqual(strict)
      soundUsage(full.usage)
      everythingKept(reply.content ?? [], full)
      const streamed = runBytes(context, request, [bytesOf(asStream(reply))])
      expect(streamed.every(isChunk)).toBe(true)
      expect(joined(streamed.filter(isChunk))).toEqual(full)
    })
  }
})

/** The message of a recorded stream, assembled here from its events. */
const messageOf = (text: string): MessageReply => {
  const blocks: Array<Record<string, Json | undefined>> = []
  const whole: Record<string, unknown> = {}
  const input: Array<string> = []
  for (const line of text.split("\n").filter((one) => one.startsWith("data:"))) {
    const event = JSON.parse(line.slice(5))
    const { index, delta } = event
    if (event.type === "message_start") Object.assign(whole, event.message)
    if (event.type === "content_block_start") blocks[index] = { ...event.content_block }
    if (event.type === "message_delta") {
      Object.assign(whole, delta)
      whole["usage"] = { ...(whole["usage"] as object), ...event.usage }
    }
    const block = event.type === "content_block_delta" ? blocks[index] : undefined
    if (block === undefined) continue
    if (delta.type === "text_delta") block["text"] = `${String(block["text"])}${delta.text}`
    if (delta.type === "thinking_delta") block["thinking"] = `${String(block["thinking"])}${delta.thinking}`
    if (delta.type === "signature_delta") block["signature"] = delta.signature
    if (delta.type === "citations_delta")
      block["citations"] = [...(Array.isArray(block["citations"]) ? block["citations"] : []), delta.citation]
    if (delta.type === "input_json_delta") input[index] = `${input[index] ?? ""}${delta.partial_json}`
  }
  input.forEach((one, index) => {
    if (one !== "") Object.assign(blocks[index] ?? {}, { input: JSON.parse(one) })
  })
  return Result.getOrThrow(decode({ ...whole, content: blocks }))
}

/** Arguments as values: a stream keeps the model's white space, a unary answer has none. */
const evened = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value), (key: string, inner: unknown) =>
    key === "arguments" ? JSON.parse(String(inner)) : inner
  )

describe("recorded Claude streams (L1 to L7, L11, L22)", () => {
  for (const recording of succeeded.filter(isStream)) {
    const bytes = bytesOf(textOf(recording))
    const start = byteFold(streamFromClaude(context, request))
    const whole = runFold(start, [bytes])
    it(`a recorded stream keeps the laws: ${recording.id}`, () => {
      expect(whole.filter(isStreamFailed)).toEqual([])
      const chunks: ReadonlyArray<ChatChunk> = whole.filter(isChunk)
      soundStream(chunks)
      for (const strict of chunks.map(strictlyChunk))
        if (strict !== undefined) valid("strict.CreateChatCompletionStreamResponse", strict)
      expect(evened(joined(chunks))).toEqual(
        evened(Result.getOrThrow(responseFromClaude(messageOf(textOf(recording)), context, request)))
      )
    })
    it(`any cut of a stream gives the same chunks: ${recording.id} (L6)`, () => {
      expect(runFold(start, eachByte(bytes))).toEqual(whole)
      expect(cutsThatTell((pieces) => runFold(start, pieces), bytes)).toEqual([])
    })
    it(`a truncated stream fails after its prefix: ${recording.id} (L7)`, () => {
      expect(unlawfulEnds(start, bytes)).toEqual([])
    })
  }
})

it("the Claude recordings exist, or their absence is reported", () => {
  expect(own.map(({ id }) => id)).toStrictEqual([
    "own/raw-predict-error-400-signature",
    "own/raw-predict-thinking-tool-use",
    "own/stream-thinking-tool-use"
  ])
  expect(isJsonObject(own[1]?.response.body)).toBe(true)
})
