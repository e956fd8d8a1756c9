// Tests the bounds of one answer: beyond its parts, calls, choices, events and comments it is a broken answer.
// Must not open sockets.
import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import { answerBounds, defaultLimits } from "../../src/domain/Limits.ts"
import type { Json } from "../../src/domain/text/json.ts"
import { noRedaction } from "../../src/domain/text/redaction.ts"
import { messageStream } from "../../src/translate/messages-to-claude.ts"
import { nativeStream } from "../../src/translate/native/nativeStream.ts"
import { mergeFields } from "../../src/translate/shared/reply/usage.ts"
import { streamReader } from "../../src/translate/StreamReader.ts"
import { type Fold, isStreamFailed } from "../../src/translate/Translator.ts"
import * as claude from "../support/claude.ts"
import * as gemini from "../support/gemini.ts"
import * as openAi from "../support/openAi.ts"
import { jsonEvents } from "../support/streams.ts"
import type { Output } from "../support/streams.ts"

const times = <A>(count: number, item: (at: number) => A): ReadonlyArray<A> =>
  Array.from({ length: count }, (_, at) => item(at))
const tooLarge = (what: string) => ({
  _tag: "BadReply",
  kind: "too_large",
  message: `The upstream sent an answer with more than ${what}.`
})
const reasonsOf = (outputs: ReadonlyArray<Output>) =>
  outputs.flatMap((output) => (isStreamFailed(output) ? [output.reason] : []))

const call = (at: number): Json => ({ functionCall: { name: "f", args: { at } } })
const block = (at: number): Json => ({ type: "tool_use", id: `t${at}`, name: "f", input: {} })
const openAiCall = (at: number) => ({ index: at, id: `c${at}`, function: { name: "f", arguments: "{}" } })
const geminiCalls = (count: number): Json => gemini.reply(times(count, call), gemini.stop)

describe("bounds of an answer", () => {
  it("answers: fail with one call more than 10,000, whole (L32)", () => {
    const many = answerBounds.calls + 1
    expect([
      Result.getOrThrow(Result.flip(gemini.respond(geminiCalls(many)))),
      Result.getOrThrow(Result.flip(claude.respond(claude.message(times(many, block))))),
      Result.getOrThrow(Result.flip(openAi.respond(openAi.completion({ tool_calls: times(many, openAiCall) }))))
    ]).toEqual(times(3, () => tooLarge("10000 tool calls")))
    expect(Result.isSuccess(gemini.respond(geminiCalls(answerBounds.calls)))).toBe(true)
  })

  it("answers: fail with one call more than 10,000, streamed (L32)", () => {
    const many = answerBounds.calls + 1
    const blocks = times(many, (at): ReadonlyArray<Json> => [
      { type: "content_block_start", index: at, content_block: block(at) },
      { type: "content_block_stop", index: at }
    ])
    expect([
      reasonsOf(gemini.outputs(times(many, (at) => gemini.reply([call(at)])))),
      reasonsOf(claude.runEvents(claude.claudeContext(), openAi.request, blocks.flat())),
      reasonsOf(openAi.outputs(times(many, (at) => openAi.event({ tool_calls: [openAiCall(at)] }))))
    ]).toEqual(times(3, () => [tooLarge("10000 tool calls")]))
  })

  it("answers: fail with one part or one choice too many (L32)", () => {
    const parts = times(answerBounds.parts + 1, () => ({ text: "a" }))
    const choices = answerBounds.choices + 1
    expect([
      Result.getOrThrow(Result.flip(gemini.respond(gemini.reply(parts, gemini.stop)))),
      Result.getOrThrow(
        Result.flip(claude.respond(claude.message(times(answerBounds.parts + 1, () => ({ type: "text", text: "a" })))))
      ),
      Result.getOrThrow(Result.flip(gemini.respond({ candidates: times(choices, () => gemini.stop) })))
    ]).toEqual([tooLarge("100000 parts"), tooLarge("100000 parts"), tooLarge("128 choices")])
    expect(reasonsOf(openAi.outputs(times(choices, (index) => openAi.event({ content: "a" }, { index }))))).toEqual([
      tooLarge("128 choices")
    ])
  })

  const encoder = new TextEncoder()
  const event = 'data: {"candidates":[]}\n\n'
  const named = 'event: content_block_delta\ndata: {"type":"content_block_delta"}\n\n'
  const streams = {
    "chat stream": [() => jsonEvents(defaultLimits), event],
    "native stream": [() => nativeStream(defaultLimits, noRedaction), event],
    "messages stream": [() => messageStream(defaultLimits, noRedaction), named]
  } as const
  type ByteFold = Fold<unknown, Uint8Array, unknown>
  const failures = (outputs: ReadonlyArray<unknown>) =>
    outputs.flatMap((output) =>
      isStreamFailed(output) ? [output.reason._tag === "BadReply" ? output.reason.kind : ""] : []
    )

  it.each(Object.keys(streams) as ReadonlyArray<keyof typeof streams>)(
    "%s: fails with 1 MiB of comments without an event, and not with events between them (L32)",
    (name) => {
      const [start, one] = streams[name]
      const half = ": wait a moment\n\n".repeat(answerBounds.silentBytes / 2 / 16)
      const read = (text: string): ReadonlyArray<string> => {
        const reader = streamReader(start() as ByteFold)
        return [...failures(reader.read(encoder.encode(text))), ...failures(reader.read(encoder.encode(one)))]
      }
      expect([read(one + half + one + half + one), read(one + half + half + half)]).toEqual([[], ["too_large"]])
    }
  )

  it.each(Object.keys(streams) as ReadonlyArray<keyof typeof streams>)(
    "%s: fails with more than 1,000,000 events (L32)",
    (name) => {
      const [start, one] = streams[name]
      const piece = encoder.encode(one.repeat(20_000))
      const reader = streamReader(start() as ByteFold)
      const found: Array<string> = []
      for (let count = 0; count <= answerBounds.events; count += 20_000) {
        found.push(...failures(reader.read(piece)))
      }
      expect(found).toEqual(["too_large"])
    },
    60_000
  )

  it("fields of several events: keeps the first 256 names and the last value of each (L32)", () => {
    const all = times(300, (at) => ({ [`f${at}`]: at })).reduce(mergeFields, { f0: -1 })
    expect(all).toEqual(Object.fromEntries(times(256, (at) => [`f${at}`, at])))
  })
})
