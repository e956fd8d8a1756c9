// Tests streamed answers of Claude: T1837 to T1841, table 8, and the rules of section 13 for every stream.
// Must not open sockets or read clocks.
import { describe, expect, it } from "vitest"
import type { Json, JsonObject } from "../../../src/domain/text/json.ts"
import { packThinking } from "../../../src/translate/chat-to-claude/messages.ts"
import { strictlyChunk } from "../../../src/translate/shared/reply/clientForm.ts"
import { isStreamFailed } from "../../../src/translate/Translator.ts"
import { callId, chatRequest } from "../../support/chat.ts"
import {
  chunks,
  claudeContext,
  deltas,
  functionTool,
  grow,
  runBytes,
  runEvents,
  start,
  stop,
  stream,
  user
} from "../../support/claude.ts"
import { bytesOf, sse } from "../../support/streams.ts"

const context = claudeContext()
const request = chatRequest([user("hi")])
const role = { role: "assistant", content: "" }
const textBlock = (index: number, ...pieces: ReadonlyArray<string>): ReadonlyArray<JsonObject> => [
  start(index, { type: "text", text: "" }),
  ...pieces.map((text) => grow(index, { type: "text_delta", text })),
  stop(index)
]
const toolBlock = (index: number, name: string, ...pieces: ReadonlyArray<string>): ReadonlyArray<JsonObject> => [
  start(index, { type: "tool_use", id: "toolu_1", name, input: {} }),
  ...pieces.map((partial_json) => grow(index, { type: "input_json_delta", partial_json })),
  stop(index)
]
const content = (text: string, index = 0) => ({ content: text, content_blocks: [{ index, delta: { text } }] })
const called = (index: number, name: string, rest = {}) => ({
  tool_calls: [{ index, id: callId(index), type: "function", function: { name, arguments: "", ...rest } }]
})
const piece = (index: number, text: string) => ({ tool_calls: [{ index, function: { arguments: text } }] })
const block = (index: number, delta: object) => ({ content_blocks: [{ index, delta }] })
const failure = (events: ReadonlyArray<Json>) => {
  const all = runEvents(context, request, events)
  const failed = all.filter(isStreamFailed)
  expect(failed.length).toBe(1)
  expect(all.at(-1)).toBe(failed[0])
  return [all.length - 1, failed[0]?.reason]
}
const truncated = {
  _tag: "BadReply",
  kind: "truncated",
  message: "The upstream ended its answer without a finish reason; it is not complete."
}
const empty = { _tag: "BadReply", kind: "empty", message: "The upstream ended its answer before it began. Try again." }

describe("Claude chunks", () => {
  it("a stream gives role, content, finish and usage chunks (T1302, T1303, T1105, T1108)", () => {
    const envelope = {
      id: context.id,
      object: "chat.completion.chunk",
      created: context.createdSeconds,
      model: "claude-sonnet-4-5-20250929"
    }
    const one = (delta: object, finish_reason: string | null = null, rest = {}) => ({
      ...envelope,
      choices: [{ index: 0, delta, finish_reason, ...rest }],
      provider: "vertex-ai"
    })
    expect(chunks(stream(textBlock(0, "Hel", "", "lo")))).toStrictEqual([
      one(role),
      one(content("Hel")),
      one(content("lo")),
      one({}, "stop", { native_finish_reason: "end_turn" }),
      {
        ...envelope,
        choices: [],
        usage: {
          prompt_tokens: 3,
          completion_tokens: 5,
          total_tokens: 8,
          prompt_tokens_details: { cached_tokens: 0 },
          upstream: { input_tokens: 3, output_tokens: 5 }
        },
        provider: "vertex-ai"
      }
    ])
  })
  it("an empty answer gives a complete stream (T1843)", () => {
    expect(deltas([])).toStrictEqual([role, {}])
  })
  it("stream counts repeat and grow; a missing count keeps its value (T1839)", () => {
    const [head, ...rest] = stream(textBlock(0, "a"))
    const more = {
      type: "message_delta",
      delta: {},
      usage: { output_tokens: 4, cache_read_input_tokens: 2, input_tokens: null }
    }
    const usage = chunks([head ?? {}, more, more, ...rest]).at(-1)?.usage
    expect([usage?.prompt_tokens, usage?.completion_tokens, usage?.total_tokens]).toStrictEqual([5, 5, 10])
  })
  it("text in the start of a block is sent (table 8)", () => {
    expect(deltas([start(0, { type: "text", text: "a" }), stop(0)])).toStrictEqual([role, content("a"), {}])
  })
  it("thinking gets blocks of its own with upstream indexes; strict chunks omit them (T1837)", () => {
    const thinking = [
      start(0, { type: "thinking", thinking: "", signature: "" }),
      grow(0, { type: "thinking_delta", thinking: "h" }),
      grow(0, { type: "thinking_delta", thinking: "m" }),
      grow(0, { type: "signature_delta", signature: "c2ln" }),
      stop(0),
      start(1, { type: "redacted_thinking", data: "ZGF0YQ==" }),
      stop(1)
    ]
    const events = stream([...thinking, ...textBlock(2, "a")])
    expect(chunks(events).flatMap((chunk) => chunk.choices.map((one) => one.delta))).toStrictEqual([
      role,
      { reasoning_content: "h", ...block(0, { thinking: "h" }) },
      { reasoning_content: "m", ...block(0, { thinking: "m" }) },
      block(0, { signature: "c2ln" }),
      block(1, { data: "ZGF0YQ==" }),
      content("a", 2),
      {}
    ])
    const strict = chunks(events)
      .map(strictlyChunk)
      .flatMap((chunk) => chunk?.choices.map((one) => one.delta) ?? [])
    expect(strict).toStrictEqual([role, { content: "a" }, {}])
  })
  it("a hidden thought starts its block with its signature (T1825)", () => {
    const hidden = [
      start(0, { type: "thinking", thinking: "", signature: "" }),
      grow(0, { type: "signature_delta", signature: "c2ln" }),
      stop(0)
    ]
    expect(deltas([...hidden, ...textBlock(1, "a")])).toStrictEqual([
      role,
      block(0, { thinking: "", signature: "c2ln" }),
      content("a", 1),
      {}
    ])
  })
})

describe("Claude calls in streams", () => {
  it("a call sends id and name first, then argument pieces as they arrive (T1310, T1837)", () => {
    expect(
      deltas([...textBlock(0, "a"), ...toolBlock(1, "f", "", '{"a":"\\u00', 'e9"', "}"), ...toolBlock(2, "g", "{}")])
    ).toStrictEqual([
      role,
      content("a"),
      called(0, "f"),
      piece(0, '{"a":"\\u00'),
      piece(0, 'e9"'),
      piece(0, "}"),
      called(1, "g"),
      piece(1, "{}"),
      {}
    ])
  })
  it("input in the start event is the first piece; a call without pieces gets an empty object (T1838)", () => {
    expect(deltas([start(0, { type: "tool_use", id: "t", name: "f", input: { a: 1 } }), stop(0)])).toStrictEqual([
      role,
      called(0, "f"),
      piece(0, '{"a":1}'),
      {}
    ])
    expect(deltas(toolBlock(0, "f"))).toStrictEqual([role, called(0, "f"), piece(0, "{}"), {}])
    expect(deltas(toolBlock(0, "f", "", ""))).toStrictEqual([role, called(0, "f"), piece(0, "{}"), {}])
  })
  it("the delta with the call's id carries the packed thinking (T616)", () => {
    const thought = { type: "thinking", thinking: "hm", signature: "c2ln" }
    const events = [start(0, thought), stop(0), ...toolBlock(1, "f", "{}"), ...toolBlock(2, "g", "{}")]
    expect(deltas(events)).toStrictEqual([
      role,
      { reasoning_content: "hm", ...block(0, { thinking: "hm", signature: "c2ln" }) },
      called(0, "f", { thought_signature: packThinking([thought]) }),
      piece(0, "{}"),
      called(1, "g"),
      piece(1, "{}"),
      {}
    ])
  })
  it("a server tool's input is assembled and is not a call (T1834)", () => {
    const search = { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: {} }
    const events = [
      start(0, search),
      grow(0, { type: "input_json_delta", partial_json: '{"q":' }),
      grow(0, { type: "input_json_delta", partial_json: "1}" }),
      stop(0)
    ]
    expect(deltas(events)).toStrictEqual([
      role,
      block(0, { provider_part: { provider: "anthropic", part: { ...search, input: { q: 1 } } } }),
      {}
    ])
  })
  it("a legacy call is sent whole (T339)", () => {
    const legacy = chatRequest([user("q")], { functions: [{ name: "f" }] })
    const events = [...toolBlock(0, "f", '{"a"', ":1}"), ...toolBlock(1, "f", "{}")]
    expect(deltas(events, legacy)).toStrictEqual([role, { function_call: { name: "f", arguments: '{"a":1}' } }, {}])
    expect(chunks(stream(events, { stop_reason: "tool_use" }), context, legacy).at(-2)?.choices[0]?.finish_reason).toBe(
      "function_call"
    )
  })
})

describe("Claude structured output in streams (T1829, T1830)", () => {
  const asking = (schema: JsonObject, rest = {}) =>
    chatRequest([user("q")], { response_format: { type: "json_schema", json_schema: { schema } }, ...rest })
  const object = asking({ type: "object" })
  const array = asking({ type: "array" })
  it("argument pieces become content pieces; a wrapped answer is sent whole", () => {
    expect(deltas(toolBlock(0, "json_output", "", '{"a"', ": 1}"), object)).toStrictEqual([
      role,
      content('{"a"'),
      content(": 1}"),
      {}
    ])
    expect(deltas(toolBlock(0, "json_output", '{"value": [1', ", 2]}"), array)).toStrictEqual([
      role,
      content("[1,2]"),
      {}
    ])
    expect(deltas(toolBlock(0, "json_output"), object)).toStrictEqual([role, content("{}"), {}])
  })
  it("a cut wrapped answer keeps its incomplete text", () => {
    expect(deltas(toolBlock(0, "json_output", '{"value": [1, '), array)).toStrictEqual([role, content("[1, "), {}])
    expect(deltas(toolBlock(0, "json_output", '{"va'), array)).toStrictEqual([role, content('{"va'), {}])
  })
  it("text waits for the end: dropped next to a structured answer, sent without one", () => {
    const mixed = asking({ type: "object" }, { tools: [functionTool("f")] })
    expect(
      deltas([...textBlock(0, "well"), ...toolBlock(1, "json_output", "{}"), ...toolBlock(2, "f", "{}")], mixed)
    ).toStrictEqual([role, content("{}", 1), called(0, "f"), piece(0, "{}"), {}])
    expect(deltas([...textBlock(0, "I "), ...toolBlock(1, "f", "{}"), ...textBlock(2, "can't")], mixed)).toStrictEqual([
      role,
      called(0, "f"),
      piece(0, "{}"),
      content("I can't"),
      {}
    ])
  })
})

describe("the end of Claude streams (T1835, T1836)", () => {
  const last = (events: ReadonlyArray<Json>) => chunks(events).at(-2)?.choices[0]
  it("the finish chunk carries citations and annotations", () => {
    const citation = { type: "web_search_result_location", url: "https://a", title: "A" }
    const events = stream([
      start(0, { type: "text", text: "", citations: [] }),
      grow(0, { type: "citations_delta", citation }),
      grow(0, { type: "text_delta", text: "a" }),
      grow(0, { type: "text_delta", text: "🐎" }),
      stop(0)
    ])
    expect(last(events)).toStrictEqual({
      index: 0,
      delta: {
        annotations: [
          { type: "url_citation", url_citation: { start_index: 0, end_index: 2, url: "https://a", title: "A" } }
        ]
      },
      finish_reason: "stop",
      native_finish_reason: "end_turn",
      citations: [{ start_index: 0, end_index: 2, uri: "https://a", title: "A", upstream: citation }]
    })
  })
  it("a refusal is sent before the finish", () => {
    const events = stream([], { stop_reason: "refusal", stop_details: { type: "refusal", explanation: "no" } })
    expect(chunks(events).flatMap((chunk) => chunk.choices)).toStrictEqual([
      { index: 0, delta: role, finish_reason: null },
      { index: 0, delta: { refusal: "no" }, finish_reason: null },
      { index: 0, delta: {}, finish_reason: "content_filter", native_finish_reason: "refusal" }
    ])
  })
  it("a cut call keeps the pieces that arrived", () => {
    const events = stream(toolBlock(0, "f", '{"a": "x').slice(0, -1), { stop_reason: "max_tokens" })
    expect(chunks(events).flatMap((chunk) => chunk.choices.map((one) => [one.delta, one.finish_reason]))).toStrictEqual(
      [
        [role, null],
        [called(0, "f"), null],
        [piece(0, '{"a": "x'), null],
        [{}, "length"]
      ]
    )
  })
})

describe("Claude stream failures (T1840)", () => {
  const head = stream(textBlock(0, "a")).slice(0, 1)
  const overloaded = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } }
  it("an error before the first content is sent without any chunk (T1317)", () => {
    expect(failure([overloaded])).toStrictEqual([
      0,
      { _tag: "Overloaded", code: "upstream_overloaded", message: "Overloaded" }
    ])
    expect(
      failure([...head, { type: "ping" }, { type: "error", error: { type: "rate_limit_error", message: "Slow" } }])
    ).toStrictEqual([0, { _tag: "RateLimited", message: "Slow" }])
  })
  it("an error after content gives one failure and nothing after it (T1318)", () => {
    const events = stream(textBlock(0, "a"))
    expect(failure([...events.slice(0, 3), overloaded, ...events.slice(3)])).toStrictEqual([
      2,
      { _tag: "Overloaded", code: "upstream_overloaded", message: "Overloaded" }
    ])
    expect(
      failure([...events.slice(0, 3), { error: { code: 429, message: "Quota", status: "RESOURCE_EXHAUSTED" } }])
    ).toStrictEqual([2, { _tag: "RateLimited", message: "Quota" }])
    expect(failure([...events.slice(0, 3), { type: "error" }])).toStrictEqual([
      2,
      { _tag: "Internal", status: 500, message: "upstream returned 500" }
    ])
  })
  it("a stream without message_stop fails, even with a stop reason (T1321)", () => {
    const events = stream(textBlock(0, "a"))
    for (const length of [1, 2, 3, 4, 5]) expect(failure(events.slice(0, length))[1]).toStrictEqual(truncated)
    expect(failure([])).toStrictEqual([0, empty])
    expect(failure([{ type: "ping" }])).toStrictEqual([0, empty])
    expect(failure([{ type: "message_stop" }])).toStrictEqual([0, empty])
  })
  it("an unreadable event fails the stream (T2312)", () => {
    expect(failure([...head, { type: "content_block_delta", index: "x" }])).toStrictEqual([
      0,
      {
        _tag: "BadReply",
        kind: "unreadable",
        message: "The upstream sent an event that does not have the shape of an answer."
      }
    ])
  })
})

describe("unknown Claude events (T1841, L10)", () => {
  const events = stream([...textBlock(0, "a"), ...toolBlock(1, "f", "{}")])
  it("unknown events, deltas, fields and blank lines change nothing", () => {
    const wanted = chunks(events)
    const odd: ReadonlyArray<Json> = [
      { type: "ping" },
      { type: "vertex_event", index: "x" },
      { type: 7 },
      {},
      { error: null },
      grow(0, { type: "hologram_delta", text: 7 }),
      grow(9, { type: "text_delta", text: "lost" }),
      { type: "content_block_start", index: 3 }
    ]
    for (const [at] of events.entries()) {
      expect(
        chunks([
          ...events.slice(0, at),
          ...odd,
          ...events.slice(at).map((event) => ({ ...(event as JsonObject), brandNew: 1 }))
        ])
      ).toStrictEqual(wanted)
    }
    expect(chunks([...events, ...odd, { type: "error", error: {} }])).toStrictEqual(wanted)
    const padded = sse(events, "\n").replaceAll("}\n\n", "}      \n\n").replaceAll("data:", "event: x\ndata:")
    expect(runBytes(context, request, [bytesOf(padded)])).toStrictEqual(wanted)
  })
  it("deltas of another block kind are skipped", () => {
    const stray = [
      grow(0, { type: "thinking_delta", thinking: "x" }),
      grow(0, { type: "input_json_delta", partial_json: "x" }),
      grow(0, { type: "citations_delta" })
    ]
    expect(deltas([start(0, { type: "text", text: "a" }), ...stray, stop(0)])).toStrictEqual([role, content("a"), {}])
  })
  it("a block without a stop event ends at the next block or at the end of the answer", () => {
    const open = [start(0, { type: "tool_use", id: "t", name: "f", input: {} }), start(1, { type: "text", text: "a" })]
    expect(deltas(open)).toStrictEqual([role, called(0, "f"), piece(0, "{}"), content("a", 1), {}])
    expect(deltas(open.slice(0, 1))).toStrictEqual([role, called(0, "f"), piece(0, "{}"), {}])
  })
})
