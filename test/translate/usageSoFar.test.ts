// Tests that a stream's usage is known at any moment, so that an abandoned stream is charged too.
// Must not open sockets or read clocks.
import { describe, expect, it } from "vitest"
import type { Json } from "../../src/domain/text/json.ts"
import { streamFromClaude } from "../../src/translate/chat-to-claude/stream.ts"
import { streamFromGemini } from "../../src/translate/chat-to-gemini/stream.ts"
import { streamFromOpenAi } from "../../src/translate/chat-to-openai/stream.ts"
import { messageStream } from "../../src/translate/messages-to-claude.ts"
import { type Fold, noProgress } from "../../src/translate/Translator.ts"
import { prepare } from "../../src/upstream/Prepared.ts"
import type { Usage } from "../../src/wire/openai/ChatReply.ts"
import * as Result from "effect/Result"
import { defaultLimits } from "../../src/domain/Limits.ts"
import { noRedaction } from "../../src/domain/text/redaction.ts"
import { chatToGemini } from "../../src/translate/chat-to-gemini/ChatToGemini.ts"
import { chatContext, chatRequest } from "../support/chat.ts"
import { claudeContext } from "../support/claude.ts"
import { llamaContext } from "../support/openAi.ts"

const request = chatRequest([{ role: "user", content: "hi" }])

/** Prompt and completion tokens after each input, and the usage of the last chunk. */
const counted = <State, In>(fold: Fold<State, In, unknown>, inputs: ReadonlyArray<In>) => {
  let state = fold.initial()
  const after = [fold.usage?.(state)]
  const out: Array<unknown> = []
  for (const input of inputs) {
    const [next, some] = fold.step(state, input)
    out.push(...some)
    state = next
    after.push(fold.usage?.(next))
  }
  out.push(...fold.onHalt(state))
  const told = out.flatMap((one) => (typeof one === "object" && one !== null && "usage" in one ? [one.usage] : []))
  expect(told).toEqual(told.length === 0 ? [] : [after.at(-1)])
  return after.map(countsOf)
}

const countsOf = (usage: Usage | undefined) =>
  usage === undefined ? undefined : [usage.prompt_tokens, usage.completion_tokens]

const gemini = (text: string, promptTokenCount?: number, candidatesTokenCount = 0, finishReason?: string): Json => ({
  candidates: [
    { content: { role: "model", parts: [{ text }] }, ...(finishReason === undefined ? {} : { finishReason }) }
  ],
  ...(promptTokenCount === undefined ? {} : { usageMetadata: { promptTokenCount, candidatesTokenCount } })
})

const claude: ReadonlyArray<{ readonly type: string } & { readonly [field: string]: Json }> = [
  { type: "message_start", message: { usage: { input_tokens: 10, cache_read_input_tokens: 90, output_tokens: 1 } } },
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hi" } },
  { type: "content_block_stop", index: 0 },
  { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 20 } },
  { type: "message_stop" }
]
const claudeCounts = [undefined, [100, 1], [100, 1], [100, 1], [100, 1], [100, 20], [100, 20]]

describe("usage before the end of a stream", () => {
  it("Gemini reports counts with every event", () => {
    const events = [gemini("a"), gemini("b", 7, 1), gemini("c", 7, 3, "STOP")]
    expect(counted(streamFromGemini(chatContext(), request), events)).toEqual([undefined, undefined, [7, 1], [7, 3]])
    expect(counted(streamFromGemini(chatContext(), request), events.slice(0, 2))).toEqual([
      undefined,
      undefined,
      [7, 1]
    ])
  })

  it("Claude reports input counts at the start and output counts at the end", () => {
    expect(counted(streamFromClaude(claudeContext(), request), claude)).toEqual(claudeCounts)
  })

  it("OpenAI-compatible servers report counts at the end", () => {
    const events: ReadonlyArray<Json> = [
      { choices: [{ index: 0, delta: { content: "Hi" }, finish_reason: null }] },
      {
        choices: [{ index: 0, delta: {}, finish_reason: "stop" }],
        usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 }
      }
    ]
    expect(counted(streamFromOpenAi(llamaContext()), events)).toEqual([undefined, undefined, [5, 2]])
  })

  it("pass-through events are read for usage, with or without event names", () => {
    const bytes = (named: boolean) =>
      claude.map((event) => Buffer.from(`${named ? `event: ${event.type}\n` : ""}data: ${JSON.stringify(event)}\n\n`))
    for (const named of [true, false])
      expect(counted(messageStream(defaultLimits, noRedaction), bytes(named))).toEqual(claudeCounts)
  })

  it("Claude's last counts come with the stop reason; pass-through bytes are measured until then", () => {
    const stages = <State, In>(fold: Fold<State, In, unknown>, inputs: ReadonlyArray<In>) => {
      let state = fold.initial()
      return inputs.map((input) => {
        state = fold.step(state, input)[0]
        return fold.progress?.(state) ?? noProgress
      })
    }
    const at = (isCounted: boolean | undefined, characters: number) => ({ isCounted, characters })
    expect(stages(streamFromClaude(claudeContext(), request), claude).map(({ isCounted }) => isCounted)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
      true,
      true
    ])
    const compact = claude.map((event) => `data: ${JSON.stringify(event)}\n\n`)
    const started = [at(undefined, 0), at(undefined, 0), at(undefined, 2), at(undefined, 2), at(true, 2), at(true, 2)]
    expect(
      stages(
        messageStream(defaultLimits, noRedaction),
        compact.map((text) => Buffer.from(text))
      )
    ).toEqual(started)
    const named = claude.map((event, index) => Buffer.from(`event: ${event.type}\n${compact[index]}`))
    expect(stages(messageStream(defaultLimits, noRedaction), named)).toEqual(started)
  })

  it("usage is known through framing, also after the framing breaks", () => {
    const context = chatContext()
    const target = {
      slug: "google",
      kind: "google",
      modelId: "m",
      operation: "chat",
      optionIndex: 0,
      issuer: "gemini/google"
    } as const
    const prepared = Result.getOrThrow(
      prepare({
        translator: chatToGemini,
        request,
        context,
        target,
        url: "u",
        headers: {},
        origin: "stored",
        limits: defaultLimits
      })
    )
    const reads = [`data: ${JSON.stringify(gemini("b", 7, 1))}\n\n`, "data: {broken\n\n"].map((text) =>
      Buffer.from(text)
    )
    const reader = prepared.chunks({})
    const after = reads.map((bytes) => {
      expect(reader.read(bytes).filter((output) => "usage" in output)).toEqual([])
      return reader.usage()
    })
    expect(after.map(countsOf)).toEqual([
      [7, 1],
      [7, 1]
    ])
    expect([reader.end(), countsOf(reader.usage())]).toEqual([[], [7, 1]])
  })
})
