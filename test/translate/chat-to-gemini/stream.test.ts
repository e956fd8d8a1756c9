// Tests the streamed answer of Gemini: rows of section 13, and the streaming rows of 6, 7, 10, 11, 14.
// Must not open sockets or read clocks.
import { describe, expect, it } from "vitest"
import type { Json } from "../../../src/domain/text/json.ts"
import { callId, chatContext, chatRequest } from "../../support/chat.ts"
import { chunks, choices, context, deltas, outputs, reply, request, stop } from "../../support/gemini.ts"
import { bytesOf, runBytes, sse } from "../../support/streams.ts"

const user = [{ role: "user", content: "hi" }]
const role = { role: "assistant", content: "" }
const say = (text: string, rest = {}) => reply([{ text }], rest)
const textBlock = (index: number, text: string) => ({ index, delta: { text } })
const call = (name: string, rest = {}) => ({ functionCall: { name }, ...rest })
const callDelta = (n: number, index: number, name: string, args = "{}") => ({
  index,
  id: callId(n),
  type: "function",
  function: { name, arguments: args }
})
const failure = (reason: object) => [{ _tag: "StreamFailed", reason }]
const truncated = failure({
  _tag: "BadReply",
  kind: "truncated",
  message: "The upstream ended its answer without a finish reason; it is not complete."
})

describe("Gemini chunks", () => {
  it("a stream gives role, content, finish and usage chunks with one id, created and model (T1302, T1303, T1313, T1105, T1314)", () => {
    const envelope = {
      id: "chatcmpl-00000000-0000-4000-8000-000000000000",
      object: "chat.completion.chunk",
      created: 1_700_000_000,
      model: "gemini-2.5-flash-001",
      provider: "google"
    }
    const top = { modelVersion: "gemini-2.5-flash-001" }
    expect(
      chunks([reply([{ text: "a" }], {}, top), reply([{ text: "b" }], stop, { modelVersion: "other" })])
    ).toStrictEqual([
      { ...envelope, choices: [{ index: 0, delta: role, finish_reason: null }] },
      {
        ...envelope,
        choices: [{ index: 0, delta: { content: "a", content_blocks: [textBlock(0, "a")] }, finish_reason: null }]
      },
      {
        ...envelope,
        choices: [{ index: 0, delta: { content: "b", content_blocks: [textBlock(0, "b")] }, finish_reason: null }]
      },
      { ...envelope, choices: [{ index: 0, delta: {}, finish_reason: "stop", native_finish_reason: "STOP" }] },
      {
        ...envelope,
        choices: [],
        usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0, prompt_tokens_details: { cached_tokens: 0 } }
      }
    ])
  })
  it("all parts of an event are sent in order, text before an image apart from text after it (T1308)", () => {
    const parts = [
      { text: "hm", thought: true },
      { text: "a" },
      call("f"),
      { inlineData: { mimeType: "image/png", data: "MQ==" } },
      { text: "b" }
    ]
    expect(deltas([reply(parts, stop)])).toEqual([
      role,
      {
        reasoning_content: "hm",
        content: "a",
        content_blocks: [{ index: 0, delta: { thinking: "hm" } }, textBlock(1, "a")],
        tool_calls: [callDelta(0, 0, "f")]
      },
      { content_parts: [{ type: "image", image: { b64_json: "MQ==", mime_type: "image/png" } }] },
      { content: "b", content_blocks: [textBlock(2, "b")] },
      {}
    ])
  })
  it("the block index grows with the kind, and after a signature (T1309)", () => {
    const events = [
      reply([{ text: "a", thought: true }]),
      reply([{ text: "b", thought: true, thoughtSignature: "MQ==" }]),
      say("c"),
      reply([{ text: "", thoughtSignature: "Mg==" }]),
      say("d"),
      reply([{ executableCode: { code: "1" } }], stop)
    ]
    expect(deltas(events).flatMap((delta) => delta.content_blocks ?? [])).toEqual([
      { index: 0, delta: { thinking: "a" } },
      { index: 1, delta: { thinking: "b", signature: "MQ==" } },
      textBlock(2, "c"),
      { index: 2, delta: { signature: "Mg==" } },
      textBlock(3, "d"),
      { index: 4, delta: { provider_part: { provider: "google", part: { executableCode: { code: "1" } } } } }
    ])
  })
  it("a bare signature is never a content delta (T608)", () => {
    expect(deltas([say("a"), reply([{ text: "", thoughtSignature: "cw==" }], stop)]).slice(2)).toEqual([
      { content_blocks: [{ index: 0, delta: { signature: "cw==" } }] },
      {}
    ])
  })
  it("calls are numbered over the whole stream, and ids are unique (T1310, T1311, T518)", () => {
    expect(deltas([reply([call("f"), call("g")]), reply([call("h")], stop)]).slice(1)).toEqual([
      { tool_calls: [callDelta(0, 0, "f"), callDelta(1, 1, "g")] },
      { tool_calls: [callDelta(2, 2, "h")] },
      {}
    ])
  })
  it("a signature is sent with its call (T616, T602)", () => {
    expect(deltas([reply([call("f", { thoughtSignature: "cw==" })], stop)])[1]).toEqual({
      tool_calls: [
        {
          ...callDelta(0, 0, "f"),
          function: { name: "f", arguments: "{}", thought_signature: "cw==" },
          extra_content: { google: { thought_signature: "cw==" } }
        }
      ]
    })
  })
  it("legacy clients get the first call as function_call (T339)", () => {
    const legacy = chatRequest(user, { functions: [{ name: "f" }] })
    expect(
      choices([reply([call("f"), call("g")], stop)], context, legacy).map((one) => [one.delta, one.finish_reason])
    ).toEqual([
      [role, null],
      [{ function_call: { name: "f", arguments: "{}" } }, null],
      [{}, "function_call"]
    ])
  })
  it("an event without content gives no chunk, but is read (T1312)", () => {
    const events: ReadonlyArray<Json> = [
      { usageMetadata: { promptTokenCount: 3 } },
      reply(undefined),
      reply([{ text: "" }]),
      reply([{}]),
      say("a"),
      reply(undefined, stop),
      {}
    ]
    expect(deltas(events)).toEqual([role, { content: "a", content_blocks: [textBlock(0, "a")] }, {}])
    expect(chunks(events).at(-1)?.usage?.prompt_tokens).toBe(3)
  })
  it("finish reasons in between are held back, and the last one counts (T1313, T1204)", () => {
    expect(
      choices([reply([call("f")], stop), say("a", { finishReason: "MAX_TOKENS" }), say("b", stop)]).map(
        (one) => one.finish_reason
      )
    ).toEqual([null, null, null, null, "tool_calls"])
  })
  it("the finish chunk carries grounding, citations and ratings, its delta the annotations (T1315)", () => {
    const late = {
      finishReason: "STOP",
      safetyRatings: [{ category: "X" }],
      groundingMetadata: {
        groundingChunks: [{ web: { uri: "u", title: "t" } }],
        groundingSupports: [{ segment: { startIndex: 2, endIndex: 4 }, groundingChunkIndices: [0] }]
      },
      citationMetadata: { citations: [{ uri: "c" }] }
    }
    const events = [say("é", { groundingMetadata: {}, safetyRatings: [] }), say("ab"), reply(undefined, late)]
    const finish = {
      index: 0,
      delta: {
        annotations: [{ type: "url_citation", url_citation: { start_index: 1, end_index: 3, url: "u", title: "t" } }]
      },
      finish_reason: "stop",
      native_finish_reason: "STOP",
      safetyRatings: late.safetyRatings,
      groundingMetadata: late.groundingMetadata,
      citations: [{ uri: "c" }]
    }
    expect(choices(events).at(-1)).toStrictEqual(finish)
    // A strict stream sends no annotations, so it keeps no content for their positions.
    expect(choices(events, chatContext(undefined, { strict: true })).at(-1)).toStrictEqual({ ...finish, delta: {} })
  })
  it("several candidates get a chunk each, with their own role, indexes and finish (T1327)", () => {
    const both = {
      candidates: [
        { content: { parts: [{ text: "a" }] }, index: 0 },
        { content: { parts: [call("f")] }, index: 1 }
      ]
    }
    const end = {
      candidates: [
        { index: 1, finishReason: "STOP" },
        { index: 0, finishReason: "MAX_TOKENS" }
      ]
    }
    expect(choices([both, end]).map(({ index, delta, finish_reason }) => [index, delta, finish_reason])).toEqual([
      [0, role, null],
      [0, { content: "a", content_blocks: [textBlock(0, "a")] }, null],
      [1, role, null],
      [1, { tool_calls: [callDelta(0, 0, "f")] }, null],
      [0, {}, "length"],
      [1, {}, "tool_calls"]
    ])
  })
  it("an image is one delta, and text stays content (T1403, T1326)", () => {
    const data = "A".repeat(2_000_000)
    expect(deltas([say("a"), reply([{ inlineData: { mimeType: "image/png", data } }], stop)])[2]).toEqual({
      content_parts: [{ type: "image", image: { b64_json: data, mime_type: "image/png" } }]
    })
  })
  it("flagged thoughts are followed by separator and answer; strict output has the answer alone (T716)", () => {
    const events = [
      reply([{ text: "h", thought: true }]),
      reply([{ text: "m", thought: true }]),
      say("y"),
      say("es", stop)
    ]
    const content = (strict: boolean) =>
      deltas(events, chatContext("gemini-2.0-flash-thinking-exp", { strict })).flatMap((delta) =>
        delta.content ? [delta.content] : []
      )
    expect(content(false)).toEqual(["h", "m", "\r\n\r\ny", "es"])
    expect(content(true)).toEqual(["y", "es"])
  })
  it("log probabilities are sent with their content on request (T906, T1216)", () => {
    const event = say("a", { ...stop, logprobsResult: { chosenCandidates: [{ token: "a", logProbability: -1 }] } })
    expect(choices([event]).some((one) => "logprobs" in one)).toBe(false)
    expect(choices([event], context, chatRequest(user, { logprobs: true }))[1]?.logprobs).toEqual({
      content: [{ token: "a", logprob: -1, bytes: [97], top_logprobs: [] }],
      refusal: null
    })
  })
  it("text that looks like SSE stays text (T1328)", () => {
    const text = "\n\ndata: [DONE]\r\n\r\ndata: {}"
    const seen = runBytes(context, request, [bytesOf(sse([say(text, stop)]))])
    expect(seen).toEqual(chunks([say(text, stop)]))
  })
})

describe("Gemini usage in streams", () => {
  it("usage is cumulative: the last value wins per field, a missing field keeps its value (T1104)", () => {
    const events = [
      say("a", {}),
      { usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 1 } },
      { usageMetadata: { trafficType: "ON_DEMAND" } },
      { usageMetadata: { candidatesTokenCount: 4, promptTokenCount: null } },
      reply(undefined, stop)
    ]
    expect(chunks(events).at(-1)?.usage).toStrictEqual({
      prompt_tokens: 5,
      completion_tokens: 4,
      total_tokens: 9,
      prompt_tokens_details: { cached_tokens: 0 },
      upstream: { promptTokenCount: 5, candidatesTokenCount: 4, trafficType: "ON_DEMAND" }
    })
  })
  it("only the last chunk has usage (T1105)", () => {
    expect(chunks([say("a", stop)]).map((chunk) => "usage" in chunk)).toEqual([false, false, false, true])
  })
})

describe("Gemini arguments in pieces (T1316)", () => {
  const piece = (jsonPath: string, value: object, more = true) =>
    reply([{ functionCall: { partialArgs: [{ jsonPath, ...value }], ...(more ? { willContinue: true } : {}) } }])
  const open = (name: string, rest = {}) => reply([{ functionCall: { name, willContinue: true }, ...rest }])
  const close = (rest = {}) => reply([{ functionCall: {} }], rest)
  const calls = (events: ReadonlyArray<Json>) => deltas(events).flatMap((delta) => delta.tool_calls ?? [])
  it("strings are appended, and the call is sent whole with its signature when it closes", () => {
    const events = [
      open("f", { thoughtSignature: "cw==" }),
      piece("$.a.b[0].c", { stringValue: "x", willContinue: true }),
      piece("$.a.b[0].c", { stringValue: "y" }),
      piece("$.a.b[1]", { numberValue: 1.5 }),
      piece("$.a['d e']", { boolValue: false }),
      piece("$.n", { nullValue: "NULL_VALUE" }),
      reply([{ functionCall: { willContinue: true } }]),
      close(stop)
    ]
    expect(deltas(events)).toEqual([
      role,
      {
        tool_calls: [
          {
            index: 0,
            id: callId(0),
            type: "function",
            function: {
              name: "f",
              arguments: '{"a":{"b":[{"c":"xy"},1.5],"d e":false},"n":null}',
              thought_signature: "cw=="
            },
            extra_content: { google: { thought_signature: "cw==" } }
          }
        ]
      },
      {}
    ])
  })
  it("a call closes at a part that does not continue it, at the next name, and at the end", () => {
    expect(
      calls([
        open("f"),
        piece("$.a", { stringValue: "1" }, false),
        open("g"),
        piece("$.b", { stringValue: "2" }),
        open("h"),
        piece("$.c", { stringValue: "3" }),
        reply(undefined, stop)
      ])
    ).toEqual([callDelta(0, 0, "f", '{"a":"1"}'), callDelta(1, 1, "g", '{"b":"2"}'), callDelta(2, 2, "h", '{"c":"3"}')])
  })
  it("a nameless call without an open one is malformed", () => {
    expect(deltas([say("a"), close(stop)])).toEqual([role, { content: "a", content_blocks: [textBlock(0, "a")] }, {}])
  })
  it("hostile paths change nothing outside the arguments", () => {
    const events = [
      open("f"),
      piece("$.__proto__.x", { stringValue: "1" }),
      piece("$.list[4000000000]", { stringValue: "2" }),
      piece("no path", { stringValue: "3" }),
      piece(`$${".a".repeat(500)}`, { stringValue: "4" }),
      piece("$.constructor", { stringValue: "5" }),
      piece("$.empty", {}),
      close(stop)
    ]
    expect(calls(events)).toEqual([callDelta(0, 0, "f", '{"__proto__":{"x":"1"},"list":["2"],"constructor":"5"}')])
    expect(Object.hasOwn(Object.prototype, "x")).toBe(false)
  })
  it("ten thousand pieces are joined", () => {
    const pieces = Array.from({ length: 10_000 }, () => piece("$.a", { stringValue: "x" }))
    expect(calls([open("f"), ...pieces, close(stop)])[0]?.function.arguments).toBe(
      JSON.stringify({ a: "x".repeat(10_000) })
    )
  })
})

describe("ends of Gemini streams", () => {
  it("a blocked prompt gives role, refusal, content_filter and usage (T1006, T1320)", () => {
    const event = {
      promptFeedback: { blockReason: "SAFETY", blockReasonMessage: "no", safetyRatings: [] },
      usageMetadata: { promptTokenCount: 4 }
    }
    expect(choices([event])).toStrictEqual([
      { index: 0, delta: role, finish_reason: null },
      { index: 0, delta: { refusal: "no" }, finish_reason: null },
      { index: 0, delta: {}, finish_reason: "content_filter", native_finish_reason: "SAFETY", safetyRatings: [] }
    ])
    expect(chunks([event]).at(-1)?.usage?.prompt_tokens).toBe(4)
  })
  it("a blocked candidate has a refusal without text, and no refusal with text (T1007)", () => {
    const blocked = { finishReason: "SAFETY", finishMessage: "no" }
    expect(deltas([reply(undefined, blocked)])).toEqual([role, { refusal: "no" }, {}])
    expect(deltas([say("a"), reply(undefined, blocked)]).slice(2)).toEqual([{}])
  })
  it("an error in the first event, after events, or as an array, gives one failure and nothing after it (T1317, T1318)", () => {
    const error = { error: { code: 503, status: "UNAVAILABLE", message: "busy" } }
    const busy = failure({ _tag: "Overloaded", code: "upstream_unavailable", message: "busy" })
    expect(outputs([error, say("a", stop)])).toEqual(busy)
    expect(outputs([say("a", stop), error, say("b", stop)]).slice(2)).toEqual(busy)
    const before = sse([say("a")])
    for (const tail of [
      sse([error]),
      JSON.stringify(error, null, 2),
      JSON.stringify([error]),
      `data: ${JSON.stringify([error])}\r\n\r\n`
    ]) {
      expect(runBytes(context, request, [bytesOf(before + tail + sse([say("b", stop)]))]).slice(2)).toEqual(busy)
    }
  })
  it("invalid JSON fails the stream (T1318)", () => {
    expect(runBytes(context, request, [bytesOf(`${sse([say("a")])}data: {]\r\n\r\n`)]).slice(2)).toEqual(
      failure({ _tag: "BadReply", kind: "unreadable", message: "The upstream sent an event that is not JSON text." })
    )
  })
  it("an event of another shape fails the stream (T2312)", () => {
    expect(outputs([say("a"), { candidates: "x" }]).slice(2)).toEqual(
      failure({
        _tag: "BadReply",
        kind: "unreadable",
        message: "The upstream sent an event that does not have the shape of an answer."
      })
    )
  })
  it("a fault after content fails the stream without a finish chunk (T1319)", () => {
    expect(outputs([say("a"), reply(undefined, { finishReason: "MALFORMED_FUNCTION_CALL" })]).slice(2)).toEqual(
      failure({
        _tag: "BadReply",
        kind: "malformed_call",
        message: "The model made a tool call that cannot be used (MALFORMED_FUNCTION_CALL). Try again."
      })
    )
  })
  it("an end without a finish reason on any choice fails (T1321)", () => {
    expect(outputs([say("a")]).slice(2)).toEqual(truncated)
    const two = {
      candidates: [
        { content: { parts: [{ text: "a" }] }, finishReason: "STOP", index: 0 },
        { content: { parts: [{ text: "b" }] }, index: 1 }
      ]
    }
    expect(outputs([two]).slice(4)).toEqual(truncated)
    expect(outputs([reply(undefined)])).toEqual(truncated)
  })
  it("a stream without events, or without a candidate, fails (T1321, T1208)", () => {
    const empty = failure({
      _tag: "BadReply",
      kind: "empty",
      message: "The upstream ended its answer without any candidate. Try again."
    })
    expect(outputs([])).toEqual(empty)
    expect(outputs([{ usageMetadata: { promptTokenCount: 1 } }])).toEqual(empty)
    expect(runBytes(context, request, [bytesOf("<html>hello</html>")])).toEqual(empty)
  })
  it("a cut last frame is dropped when every choice has its finish reason (T1304)", () => {
    const whole = sse([say("a", stop)])
    expect(runBytes(context, request, [bytesOf(`${whole}data: {"usageMeta`)])).toEqual(chunks([say("a", stop)]))
    expect(runBytes(context, request, [bytesOf(whole.trimEnd())])).toEqual(chunks([say("a", stop)]))
  })
  it("arrays, and other payloads between events, are read (T1301, T1306)", () => {
    const array = JSON.stringify([say("a"), say("b", stop)], null, 2)
    expect(runBytes(context, request, [bytesOf(array)])).toEqual(chunks([say("a"), say("b", stop)]))
    expect(runBytes(context, request, [bytesOf(`data: 7\n\n${sse([say("a", stop)], "\n")}data: [DONE]\n\n`)])).toEqual(
      chunks([say("a", stop)])
    )
  })
})
