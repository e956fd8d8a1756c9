// Answers of real upstreams through both pairs: the order of blocks, calls and pictures, streamed in any cut or whole.
// It must not know the network.
import * as FastCheck from "fast-check"
import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import { chatToClaude } from "../../../src/translate/chat-to-claude/ChatToClaude.ts"
import { chatToGemini } from "../../../src/translate/chat-to-gemini/ChatToGemini.ts"
import { responseFromChat, stampResponse } from "../../../src/translate/responses-to-chat/response.ts"
import { isStreamFailed, runFold } from "../../../src/translate/Translator.ts"
import type { Json, JsonObject } from "../../../src/domain/text/json.ts"
import type { ChatChunk, ChatCompletion } from "../../../src/wire/openai/ChatReply.ts"
import { chatContext } from "../../support/chat.ts"
import { runs } from "../../support/release.ts"
import { answerFacts, eventsOf, translation } from "../../support/responses.ts"

const body: JsonObject = {
  tools: [{ type: "function", name: "f" }],
  reasoning: { summary: "auto" },
  include: ["reasoning.encrypted_content"]
}

const part = FastCheck.constantFrom<JsonObject>(
  { text: "a" },
  { text: "b", thoughtSignature: "c2ln" },
  { text: "hm", thought: true },
  { functionCall: { name: "f", args: { n: 1 } }, thoughtSignature: "c2ln" },
  { functionCall: { name: "f", args: {} } },
  { inlineData: { mimeType: "image/png", data: "aW1n" } }
)

const reply = (parts: ReadonlyArray<JsonObject>, finishReason?: string): JsonObject => ({
  candidates: [{ content: { role: "model", parts }, ...(finishReason === undefined ? {} : { finishReason }) }],
  modelVersion: "gemini-3-pro-preview"
})

const outputs = (completion: ChatCompletion, chunks: ReadonlyArray<ChatChunk>) => {
  const facts = answerFacts(body)
  const whole = stampResponse(responseFromChat(completion, facts), { seconds: 1_700_000_009, isKept: true })
  const last = eventsOf(chunks, facts).at(-1)
  return [whole, last !== undefined && "response" in last ? last.response : undefined]
}

const chunksOf = (out: ReadonlyArray<ChatChunk | { readonly _tag: "StreamFailed" }>): ReadonlyArray<ChatChunk> =>
  out.flatMap((one) => (isStreamFailed(one) || "_tag" in one ? [] : [one]))

describe("the order of an answer", () => {
  it("of Gemini is that of its parts, whole or in events of any size (R106 R605 R803)", () => {
    const { chat } = translation(body)
    const context = { ...chatContext("gemini-3-pro-preview"), ordered: true }
    FastCheck.assert(
      FastCheck.property(
        FastCheck.array(FastCheck.array(part, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 3 }),
        (events) => {
          const whole = reply(events.flat(), "STOP")
          const completion = Result.getOrThrow(chatToGemini.response(whole, context, chat))
          const inputs: ReadonlyArray<Json> = [...events.map((parts) => reply(parts)), reply([], "STOP")]
          const chunks = chunksOf(runFold(chatToGemini.stream(context, chat), inputs))
          const [unary, streamed] = outputs(completion, chunks)
          expect(streamed).toEqual(unary)
        }
      ),
      { numRuns: runs(200) }
    )
  })

  it("of Claude is that of its blocks (R106 R605)", () => {
    const { chat } = translation(body)
    const context = { ...chatContext("claude-sonnet-4-6", { family: "claude", kind: "vertex-ai" }), ordered: true }
    const content = [
      { type: "thinking", thinking: "hm", signature: "s1" },
      { type: "text", text: "a" },
      { type: "tool_use", id: "toolu_1", name: "f", input: { n: 1 } },
      { type: "text", text: "b" }
    ]
    const completion = Result.getOrThrow(chatToClaude.response({ content, stop_reason: "tool_use" }, context, chat))
    expect(completion.choices[0]?.message.item_order).toEqual([
      ["block", 0],
      ["block", 1],
      ["call", 0],
      ["block", 2]
    ])
    const types = responseFromChat(completion, answerFacts(body)).response.output.map(({ type }) => type)
    expect(types).toEqual(["reasoning", "message", "function_call", "message"])
  })
})
