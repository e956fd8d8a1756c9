// Tests every recorded exchange with Gemini on both products, and handwritten ones, through the response path.
// Must not open sockets or read clocks.
import { readdirSync, readFileSync } from "node:fs"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { describe, expect, it } from "vitest"
import { failureFromGoogle } from "../../../src/translate/shared/reply/upstreamFailures.ts"
import { responseFromGemini } from "../../../src/translate/chat-to-gemini/response.ts"
import { streamFromGemini } from "../../../src/translate/chat-to-gemini/stream.ts"
import { strictlyChunk, strictlyCompletion } from "../../../src/translate/shared/reply/clientForm.ts"
import { isStreamFailed, runFold, type TranslateContext } from "../../../src/translate/Translator.ts"
import { parseExactJsonText, type Json } from "../../../src/domain/text/json.ts"
import type { ChatRequest } from "../../../src/wire/openai/Chat.ts"
import { GenerateContentReply } from "../../../src/wire/google.ts"
import type { ChatChunk, ChatCompletion, ChunkChoice } from "../../../src/wire/openai/ChatReply.ts"
import { chatContext, chatRequest, deepFreeze } from "../../support/chat.ts"
import { soundStream, soundUsage, valid } from "../../support/replies.ts"
import { loudlySkipped, type Recording, recordings, sharedDir } from "../../support/shared.ts"
import { cutsThatTell, unlawfulEnds } from "../../support/streamLaws.ts"
import { byteFold, bytesOf, eachByte, isChunk, joined, runBytes } from "../../support/streams.ts"

const fixtures = new URL("../../fixtures/gemini/", import.meta.url)
const own = readdirSync(fixtures)
  .sort()
  .map((name): Recording => JSON.parse(readFileSync(new URL(name, fixtures), "utf8")))
const all = [...own, ...recordings("gemini-api"), ...recordings("vertex-gemini")]
if (sharedDir() === undefined) loudlySkipped("recorded answers of Gemini")

const decode = Schema.decodeUnknownResult(GenerateContentReply)
const contextOf = (recording: Recording): TranslateContext =>
  chatContext("gemini-2.5-flash", { kind: recording.provider.startsWith("vertex") ? "vertex-ai" : "google" })
const request: ChatRequest = chatRequest([{ role: "user", content: "hi" }], { logprobs: true })
const textOf = (recording: Recording): string => recording.response.bodyText ?? JSON.stringify(recording.response.body)
const jsonOf = (text: string): Json => Result.getOrThrow(parseExactJsonText(text))

/** Failed answers with status 200, and their reasons. */
const faults: Readonly<Record<string, unknown>> = {
  "generate-finish-other-no-content": "BadReply no_content",
  "generate-gemini-2-5-flash-malformed-function-call-no-content": "BadReply malformed_call",
  "stream-gemini-2-5-flash-unexpected-tool-call-system-no-content": "BadReply malformed_call",
  "stream-gemini-2-0-flash-error-500-error-mid-stream": "Internal 500",
  "own-stream-error": "Internal 500"
}

/** Errors and their rows of table 14. */
const refused: Readonly<Record<string, string>> = {
  "vertex-gemini/own-error-404": "ModelNotFound",
  "gemini-api/generate-error-403-permission-denied-generativelanguage-api-not-enabled": "PermissionDenied",
  "gemini-api/generate-error-404-not-found-unknown-model": "ModelNotFound",
  "gemini-api/generate-gemini-1-5-flash-error-404-not-found": "ModelNotFound",
  "gemini-api/generate-gemini-2-0-flash-error-429-resource-exhausted-2": "RateLimited",
  "gemini-api/generate-gemini-2-0-flash-error-500-internal": "Internal 500",
  "gemini-api/generate-gemini-2-5-flash-error-429-resource-exhausted-2": "RateLimited",
  "gemini-api/generate-gemini-2-5-pro-error-503-unavailable": "Overloaded upstream_unavailable",
  "gemini-api/generate-gemini-3-pro-preview-error-400-missing-thought-signature": "SignatureRejected",
  "gemini-api/generate-there-is-no-such-model-error-404-not-found": "ModelNotFound",
  "gemini-api/stream-gemini-2-0-flash-exp-error-400-invalid-argument": "CredentialsRejected",
  "vertex-gemini/generate-error-400-failed-precondition-unsupported-user-location":
    "InvalidRequest upstream_failed_precondition",
  "vertex-gemini/generate-error-404-not-found-unknown-model": "ModelNotFound",
  "vertex-gemini/generate-error-429-resource-exhausted-quota-exceeded": "QuotaExhausted",
  "vertex-gemini/generate-gemini-2-0-flash-error-401-unauthenticated": "CredentialsRejected",
  "vertex-gemini/generate-gemini-2-5-flash-error-400-invalid-argument": "ContextTooLong",
  "vertex-gemini/generate-gemini-2-5-flash-error-400-several-tool-kinds": "ToolMixRejected",
  "vertex-gemini/stream-error-404-not-found-unknown-model": "ModelNotFound",
  "vertex-gemini/stream-gemini-3-pro-preview-error-429-resource-exhausted-array-form": "RateLimited"
}

const rowOf = (reason: object): string =>
  ["_tag", "kind", "code", "status"]
    .map((key) => (key in reason ? String(Reflect.get(reason, key)) : ""))
    .filter((word) => word !== "")
    .join(" ")

const bare = (recording: Recording): string => recording.id.split("/").at(-1) ?? ""
const folder = (recording: Recording): string =>
  recording.provider.startsWith("vertex") ? "vertex-gemini" : "gemini-api"
const succeeded = all.filter((recording) => recording.response.status === 200)
const isStream = (recording: Recording): boolean => recording.operation === "streamGenerateContent"

describe("recorded Gemini errors (table 14)", () => {
  for (const recording of all.filter((one) => one.response.status !== 200)) {
    it(`a recorded error maps to its reason: ${folder(recording)}/${bare(recording)}`, () => {
      const { status, headers } = recording.response
      const text = textOf(recording)
      const reason = failureFromGoogle(status, headers, jsonOf(text), "caller")
      expect(rowOf(reason)).toBe(refused[`${folder(recording)}/${bare(recording)}`])
      expect(failureFromGoogle(status, headers, text, "caller")).toEqual(reason)
      expect(/googleapis\.com|\d{9}|test-project/.test(reason.message)).toBe(false)
    })
  }
})

describe("recorded unary Gemini answers (L11, L22, L23)", () => {
  const unary = succeeded.filter((one) => !isStream(one))
  for (const recording of unary.filter((one) => faults[bare(one)] !== undefined)) {
    it(`a recorded fault fails the answer: ${folder(recording)}/${bare(recording)} (T1206)`, () => {
      const answer = responseFromGemini(
        Result.getOrThrow(decode(jsonOf(textOf(recording)))),
        contextOf(recording),
        request
      )
      expect(Result.isFailure(answer) ? rowOf(answer.failure) : undefined).toBe(faults[bare(recording)])
    })
  }
  for (const recording of unary.filter((one) => faults[bare(one)] === undefined)) {
    it(`a recorded answer keeps the laws: ${folder(recording)}/${bare(recording)}`, () => {
      const reply = deepFreeze(Result.getOrThrow(decode(jsonOf(textOf(recording)))))
      const full: ChatCompletion = Result.getOrThrow(responseFromGemini(reply, contextOf(recording), request))
      const strict = strictlyCompletion(full)
      valid("strict.CreateChatCompletionResponse", strict)
      expect(strictlyCompletion(strict)).toEqual(strict)
      soundUsage(full.usage)
      for (const { message } of full.choices) {
        expect(message.content === null ? (message.tool_calls ?? []).length > 0 : typeof message.content).toBe(
          message.content === null ? true : "string"
        )
        for (const call of message.tool_calls ?? []) expect(JSON.parse(call.function.arguments)).toBeTypeOf("object")
      }
      everythingKept(reply, full)
      // L1 with the answer as one event; without a finish reason a stream is truncated (T1321).
      if (reply.candidates?.some((candidate) => !candidate.finishReason)) return
      const chunks = runBytes(contextOf(recording), request, [bytesOf(`data: ${textOf(recording)}\r\n\r\n`)])
      expect(chunks.every(isChunk)).toBe(true)
      expect(joined(chunks.filter(isChunk))).toEqual(full)
    })
  }
})

/** L13: text, calls, images and other parts of the reply, counted on both sides. */
const everythingKept = (reply: GenerateContentReply, full: ChatCompletion): void => {
  reply.candidates?.forEach((candidate, position) => {
    const parts = candidate.content?.parts ?? []
    const message = full.choices[position]?.message
    const texts = parts
      .filter((part) => part.thought !== true)
      .map((part) => part.text ?? "")
      .join("")
    expect(message?.content ?? "").toBe(texts)
    expect(message?.reasoning_content ?? "").toBe(
      parts
        .filter((part) => part.thought === true)
        .map((part) => part.text ?? "")
        .join("")
    )
    expect(
      (message?.tool_calls ?? []).map((call) => [call.function.name, JSON.parse(call.function.arguments)])
    ).toEqual(
      parts.flatMap((part) => (part.functionCall ? [[part.functionCall.name, part.functionCall.args ?? {}]] : []))
    )
    expect((message?.tool_calls ?? []).map((call) => call.function.thought_signature)).toEqual(
      parts.flatMap((part) => (part.functionCall ? [part.thoughtSignature ?? undefined] : []))
    )
    expect(
      (message?.content_parts ?? []).flatMap((part) => (part.type === "image" ? [part.image.b64_json] : []))
    ).toEqual(parts.flatMap((part) => (part.inlineData?.mimeType?.startsWith("image/") ? [part.inlineData.data] : [])))
  })
}

describe("recorded Gemini streams (L2 to L7, L11, L22)", () => {
  for (const recording of succeeded.filter(isStream)) {
    const bytes = bytesOf(textOf(recording))
    const start = byteFold(streamFromGemini(contextOf(recording), request))
    const whole = runFold(start, [bytes])
    const fault = faults[bare(recording)]
    it(`a recorded stream keeps the laws: ${folder(recording)}/${bare(recording)}`, () => {
      expect(whole.flatMap((output) => (isStreamFailed(output) ? [rowOf(output.reason)] : []))).toEqual(
        fault === undefined ? [] : [fault]
      )
      if (fault !== undefined) return
      const chunks: ReadonlyArray<ChatChunk> = whole.filter(isChunk)
      soundStream(chunks)
      for (const strict of chunks.map(strictlyChunk))
        if (strict !== undefined) valid("strict.CreateChatCompletionStreamResponse", strict)
    })
    it(`any cut of a stream gives the same chunks: ${folder(recording)}/${bare(recording)} (L6)`, () => {
      expect(runFold(start, eachByte(bytes))).toEqual(whole)
      expect(cutsThatTell((pieces) => runFold(start, pieces), bytes)).toEqual([])
    })
    it(`a truncated stream fails after its prefix: ${folder(recording)}/${bare(recording)} (L7)`, () => {
      // A call with incomplete arguments is sent at the end as it is, so it may differ from the whole call.
      const isPartial = recording.response.bodyText?.includes("willContinue") === true
      const isDelta = ({ delta, finish_reason }: ChunkChoice): boolean =>
        finish_reason === null && !(isPartial && delta.tool_calls !== undefined)
      expect(unlawfulEnds(start, bytes, isDelta)).toEqual([])
    })
  }
})
