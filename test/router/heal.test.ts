// A call changed by lessons: the later calls of a long answer have the same changes.
// Must not call an upstream.
import * as Result from "effect/Result"
import { expect, it } from "vitest"
import { healPrepared } from "../../src/router/heal.ts"
import { chatToGemini } from "../../src/translate/chat-to-gemini/ChatToGemini.ts"
import type { Lesson } from "../../src/translate/healing/lessons.ts"
import { prepare } from "../../src/upstream/Prepared.ts"
import { chatContext, chatRequest } from "../support/chat.ts"
import { reply } from "../support/gemini.ts"

const context = chatContext("gemini-2.5-flash")
const { modelId, record } = context.target
const request = chatRequest(
  [
    { role: "user", content: "Write." },
    { role: "assistant", content: "Zero." }
  ],
  { max_tokens: 60_000 }
)
const input = {
  translator: chatToGemini,
  request,
  context,
  target: { slug: "google", kind: "google", modelId, operation: "chat", optionIndex: 0, issuer: "gemini/google" },
  url: "https://example.com/v1",
  headers: { "anthropic-beta": "first,second" },
  origin: "stored",
  limits: { eventBytes: 1_000 },
  hops: 3
} as const

const unfinished = new TextEncoder().encode(
  JSON.stringify(reply([{ text: "One " }], { finishReason: "CONTINUATION", continuationToken: "dG9rZW4x" }))
)

const turn = (role: "user" | "model", text: string) => ({ role, parts: [{ text }] })
const started = [turn("user", "Write."), turn("model", "Zero.")]
const continued = [...started, turn("user", "Continue exactly where your last message stopped.")]
const headersOnly: Lesson = { row: "H20", value: "first" }
const bodyOnly: Lesson = { row: "H7", value: "" }
const [headersBefore, headersAfter] = ["first,second", "second"].map((betas) => ({
  "content-type": "application/json",
  "anthropic-beta": betas
}))

it.each([
  ["headers only", [headersOnly], headersAfter, started],
  ["the body only", [bodyOnly], headersBefore, continued],
  ["headers and the body", [headersOnly, bodyOnly], headersAfter, continued]
])("heal: lessons that change %s hold for each call of a long answer", (_changed, lessons, headers, contents) => {
  const scope = { dialect: "gemini", native: false, record } as const
  const healed = Result.getOrThrow(healPrepared(Result.getOrThrow(prepare(input)), scope, request, lessons))
  expect(healed.applied).toEqual(lessons)
  const { body, headers: sent, hops } = healed.prepared
  const first = { contents, generationConfig: { maxOutputTokens: 60_000 } }
  const later = { ...first, continuationToken: "dG9rZW4x" }
  expect([sent, body]).toEqual([headers, first])
  expect([hops?.most, hops?.first.headers, hops?.first.body]).toEqual([3, headers, first])
  expect(hops?.body("dG9rZW4x")).toEqual(later)
  const next = hops === undefined ? undefined : Result.getOrThrow(hops.first.reply(200, {}, unfinished)).next
  expect([next?.headers, next?.body]).toEqual([headers, later])
})
