// Tests that the hops of one long answer join to the same answer, complete or streamed, however they are cut.
// Must not open sockets or read clocks.
import * as fc from "fast-check"
import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import type { Json, JsonObject } from "../../../src/domain/text/json.ts"
import { geminiHops } from "../../../src/translate/chat-to-gemini/response.ts"
import { streamFromGemini } from "../../../src/translate/chat-to-gemini/stream.ts"
import type { StreamFailed } from "../../../src/translate/Translator.ts"
import type { GenerateContentReply, Part } from "../../../src/wire/google.ts"
import type { ChatChunk } from "../../../src/wire/openai/ChatReply.ts"
import { chatContext, chatRequest, deepFreeze } from "../../support/chat.ts"
import { runs } from "../../support/release.ts"
import { soundStream } from "../../support/replies.ts"
import { isChunk, joined } from "../../support/streams.ts"

const context = chatContext("gemini-4-neon")
const request = chatRequest([{ role: "user", content: "hi" }])

const part: fc.Arbitrary<Part> = fc.oneof(
  fc.string({ minLength: 1, maxLength: 4 }).map((text) => ({ text })),
  fc.string({ minLength: 1, maxLength: 4 }).map((text) => ({ text, thought: true })),
  fc.base64String({ minLength: 4, maxLength: 8 }).map((thoughtSignature) => ({ text: "s", thoughtSignature })),
  fc.constantFrom("f", "g").map((name) => ({ functionCall: { name, args: { a: 1 } } }))
)
const count = fc.nat({ max: 1000 })
const hop = fc.record({ parts: fc.array(part, { maxLength: 4 }), promptTokenCount: count, candidatesTokenCount: count })
type HopDraft = typeof hop extends fc.Arbitrary<infer Draft> ? Draft : never

const replyOf = ({ parts, ...usageMetadata }: HopDraft, end: JsonObject): GenerateContentReply => ({
  candidates: [{ content: { role: "model", parts }, ...end }],
  modelVersion: "gemini-4-neon",
  usageMetadata
})
const repliesOf = (hops: ReadonlyArray<HopDraft>) =>
  deepFreeze(
    hops.map((one, at) =>
      replyOf(
        one,
        at === hops.length - 1
          ? { finishReason: "STOP" }
          : { finishReason: "CONTINUATION", continuationToken: `t${at}` }
      )
    )
  )

/** Each part of a hop as an event of its own; every hop but the first is read from the state that its token gives. */
const streamOf = (replies: ReadonlyArray<GenerateContentReply>): ReadonlyArray<ChatChunk> => {
  const fold = streamFromGemini(context, request)
  let state = fold.initial()
  const out: Array<ChatChunk | StreamFailed> = []
  for (const [at, reply] of replies.entries()) {
    if (at > 0) {
      const next = fold.next?.(state)
      expect(next?.token).toBe(`t${at - 1}`)
      if (next === undefined) throw new Error("the hop cannot be continued")
      state = next.state
    }
    const event: Json = JSON.parse(JSON.stringify(reply))
    const [after, some] = fold.step(state, event)
    state = after
    out.push(...some)
  }
  expect(fold.next?.(state)).toBe(undefined)
  return [...out, ...fold.onHalt(state)].filter(isChunk)
}

describe("hops of a long answer", () => {
  it("hops join to the same answer, complete or streamed (L1, L22, M-603)", () => {
    fc.assert(
      fc.property(fc.array(hop, { minLength: 2, maxLength: 4 }), (hops) => {
        fc.pre(hops.some(({ parts }) => parts.length > 0))
        const replies = repliesOf(hops)
        const full = geminiHops.join(replies, context, request, false)
        const stream = streamOf(replies)
        if (Result.isFailure(full)) return expect(stream.length).toBe(0)
        soundStream(stream)
        expect(joined(stream)).toEqual(full.success)
      }),
      { numRuns: runs(500) }
    )
  })
  it("text, calls and counts are those of one answer that was never cut (M-603)", () => {
    fc.assert(
      fc.property(hop, fc.nat({ max: 4 }), (whole, at) => {
        const cut = repliesOf([
          { ...whole, parts: whole.parts.slice(0, at) },
          { parts: whole.parts.slice(at), promptTokenCount: 0, candidatesTokenCount: 0 }
        ])
        const [message, once] = [cut, repliesOf([whole])].map((replies) =>
          Result.map(geminiHops.join(replies, context, request, false), ({ choices: [choice], usage }) => ({
            content: choice?.message.content,
            calls: choice?.message.tool_calls,
            reasoning: choice?.message.reasoning_content,
            finish: choice?.finish_reason,
            completion: usage.completion_tokens
          }))
        )
        expect(message).toEqual(once)
      })
    )
  })
  it("the body of the next hop is that of the first with its token (M-601)", () => {
    const body = deepFreeze({ contents: [], generationConfig: { maxOutputTokens: 9 } })
    expect(geminiHops.body(body, "t0")).toStrictEqual({ ...body, continuationToken: "t0" })
    expect(geminiHops.body({ ...body, continuationToken: "t0" }, "t1")).toStrictEqual({
      ...body,
      continuationToken: "t1"
    })
  })
})
