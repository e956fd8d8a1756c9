// Tests unary answers of OpenAI-compatible upstreams: T2005, T2007, T1109 and the general rows of sections 11 and 12.
// Must not open sockets or read clocks.
import { describe, expect, it } from "vitest"
import type { Json } from "../../../src/domain/text/json.ts"
import { strictlyCompletion } from "../../../src/translate/shared/reply/clientForm.ts"
import { callId } from "../../support/chat.ts"
import { answer, choiceOf, completion, context, llama, reasonOf } from "../../support/openAi.ts"

const said = { role: "assistant", content: "a", refusal: null }
const message = (given: object) => choiceOf(completion(given as { [key: string]: Json }))?.message
const call = (id: Json, rest: object = {}) => ({
  id,
  type: "function",
  function: { name: "f", arguments: '{"x":1}' },
  ...rest
})

describe("OpenAI-compatible envelopes (T2005)", () => {
  it("full output keeps the upstream's own fields, strict output keeps published fields only", () => {
    const given = completion(
      { content: "a", reasoning: null },
      { stop_reason: "x" },
      {
        service_tier: "on_demand",
        system_fingerprint: "fp",
        x_groq: { id: "req" },
        usage_breakdown: null,
        usage: { queue_time: 0.5, prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 }
      }
    )
    const full = answer(given)
    expect(full).toStrictEqual({
      id: "up-1",
      object: "chat.completion",
      created: 1_762_103_726,
      model: "meta/llama",
      choices: [
        {
          index: 0,
          message: said,
          logprobs: null,
          finish_reason: "stop",
          native_finish_reason: "stop",
          stop_reason: "x"
        }
      ],
      usage: {
        queue_time: 0.5,
        prompt_tokens: 5,
        completion_tokens: 3,
        total_tokens: 8,
        prompt_tokens_details: { cached_tokens: 0 }
      },
      provider: "vertex-ai",
      service_tier: "on_demand",
      system_fingerprint: "fp",
      x_groq: { id: "req" }
    })
    expect(strictlyCompletion(full)).toStrictEqual({
      id: "up-1",
      object: "chat.completion",
      created: 1_762_103_726,
      model: "meta/llama",
      choices: [{ index: 0, message: said, logprobs: null, finish_reason: "stop" }],
      usage: { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8, prompt_tokens_details: { cached_tokens: 0 } },
      system_fingerprint: "fp"
    })
  })
  it("missing or malformed envelope fields are filled in", () => {
    const filled = {
      id: context.id,
      object: "chat.completion",
      created: 1_700_000_000,
      model: llama,
      choices: [{ index: 0, message: said, logprobs: null, finish_reason: "stop" }],
      usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0, prompt_tokens_details: { cached_tokens: 0 } },
      provider: "vertex-ai"
    }
    expect(answer({ choices: [{ message: { content: "a" } }] })).toStrictEqual(filled)
    expect(
      answer({
        id: "",
        object: "text_completion",
        created: "now",
        model: null,
        provider: "someone",
        service_tier: 1,
        system_fingerprint: null,
        metadata: { a: 1 },
        moderation: { flagged: false },
        obfuscation: {},
        usage: "none",
        choices: [{ index: -1, message: { content: "a" }, logprobs: "none", finish_reason: "" }]
      })
    ).toStrictEqual(filled)
  })
  it("published fields of the right type pass in both forms", () => {
    const moderation = { type: "error", code: "c", message: "m" }
    const top = { metadata: { a: "b" }, moderation: { input: moderation, output: moderation }, service_tier: "flex" }
    const full = answer(completion({ content: "a" }, {}, top))
    expect(full).toMatchObject(top)
    expect(strictlyCompletion(full)).toMatchObject(top)
  })
  it("an own __proto__ field of the upstream is dropped", () => {
    const given: Json = JSON.parse(
      '{"__proto__":{"a":1},"choices":[{"__proto__":{"b":1},"message":{"__proto__":{"c":1},"content":"a"}}]}'
    )
    const full = answer(given)
    expect([Object.getPrototypeOf(full), Object.getPrototypeOf(full.choices[0]?.message)]).toStrictEqual([
      Object.prototype,
      Object.prototype
    ])
  })
})

describe("OpenAI-compatible content (T1203)", () => {
  it.each([
    ["text", { content: "a" }, "a"],
    ["empty", { content: "" }, ""],
    ["null", { content: null }, ""],
    ["absent", {}, ""],
    ["no parts", { content: [] }, ""],
    [
      "parts",
      {
        content: [{ type: "text", text: "a" }, { type: "thinking", thinking: [] }, "odd", { type: "text", text: "b" }]
      },
      "ab"
    ]
  ])("content is read: %s", (_name, given, content) => expect(message(given)).toStrictEqual({ ...said, content }))
  it("content is null next to calls without text", () => {
    expect(message({ content: "", tool_calls: [call("c1")] })).toStrictEqual({
      ...said,
      content: null,
      tool_calls: [call("c1")]
    })
    expect(message({ content: "a", tool_calls: [call("c1")] })).toStrictEqual({ ...said, tool_calls: [call("c1")] })
    expect(message({ function_call: { name: "f", arguments: { a: 1 } } })).toStrictEqual({
      ...said,
      content: null,
      function_call: { name: "f", arguments: '{"a":1}' }
    })
  })
  it("a refusal passes", () =>
    expect(message({ content: null, refusal: "no" })).toStrictEqual({ ...said, content: "", refusal: "no" }))
  it("content of an unreadable type fails the answer (T2312)", () => {
    expect(() => answer(completion({ content: 5 }))).toThrow()
    expect(() => answer({ choices: "none" })).toThrow()
  })
})

describe("OpenAI-compatible calls (T2005)", () => {
  it("call ids are kept; missing and repeated ids are generated", () => {
    expect(
      message({
        content: null,
        tool_calls: [call("c1"), call(""), call(null), call(7), call("c1"), { function: { name: "g" } }]
      })?.tool_calls
    ).toStrictEqual([
      call("c1"),
      call(callId(0)),
      call(callId(1)),
      call(callId(2)),
      call(callId(3)),
      { id: callId(4), type: "function", function: { name: "g", arguments: "{}" } }
    ])
  })
  it("arguments become text with their digits (L27)", () => {
    const named = (args: Json | undefined) => {
      const calls = message({
        tool_calls: [{ id: "c", function: { name: "f", ...(args === undefined ? {} : { arguments: args }) } }]
      })?.tool_calls
      return calls?.[0]?.function.arguments
    }
    expect([
      named('{"x":1}'),
      named({ x: [1, null] }),
      named(""),
      named(null),
      named(undefined),
      named([]),
      named("not json")
    ]).toStrictEqual(['{"x":1}', '{"x":[1,null]}', "{}", "{}", "{}", "[]", "not json"])
    expect(named({ x: JSON.rawJSON("12345678901234567890") as object as Json })).toBe('{"x":12345678901234567890}')
  })
  it("an empty list of calls counts as no calls", () => {
    expect(
      message({ content: "a", tool_calls: [], function_call: null, annotations: null, audio: null })
    ).toStrictEqual(said)
  })
  it("the upstream's own call fields stay; signatures are removed", () => {
    const given = {
      ...call("c1", { index: 3, own: 1 }),
      extra_content: { google: {} },
      function: { name: "f", arguments: "{}", own: 2, thought_signature: "cw==" }
    }
    expect(message({ tool_calls: [given] })?.tool_calls).toStrictEqual([
      { ...call("c1", { own: 1 }), function: { name: "f", arguments: "{}", own: 2 } }
    ])
  })
})

describe("OpenAI-compatible reasoning", () => {
  it("reasoning goes next to the content in both spellings, and is the first block (T715)", () => {
    const thought = {
      reasoning_content: "hm",
      content_blocks: [
        { type: "thinking", thinking: "hm" },
        { type: "text", text: "a" }
      ]
    }
    expect(message({ content: "a", reasoning_content: "hm" })).toStrictEqual({ ...said, ...thought })
    expect(message({ content: "a", reasoning: "hm" })).toStrictEqual({ ...said, ...thought, reasoning: "hm" })
    expect(message({ content: "", reasoning: "hm", reasoning_content: null, content_blocks: ["odd"] })).toStrictEqual({
      ...said,
      content: "",
      reasoning: "hm",
      reasoning_content: "hm",
      content_blocks: [{ type: "thinking", thinking: "hm" }]
    })
  })
  it("an answer without reasoning has no blocks", () =>
    expect(message({ content: "a", reasoning: "", content_blocks: "odd" })).toStrictEqual({ ...said, reasoning: "" }))
})

describe("published message fields of the wrong type", () => {
  const cited = { type: "url_citation", url_citation: { start_index: 0, end_index: 1, url: "u", title: "t" } }
  const audio = { id: "audio-1", data: "AAAA", expires_at: 1, transcript: "t" }
  it("malformed annotations and audio are dropped", () => {
    expect(message({ content: "a", annotations: [cited, { type: "file" }, "odd"], audio })).toStrictEqual({
      ...said,
      annotations: [cited],
      audio
    })
    expect(message({ content: "a", annotations: [{ type: "file" }], audio: { id: "audio-1" } })).toStrictEqual(said)
  })
  it("malformed log probabilities are completed or dropped", () => {
    const token = { token: "a", logprob: -1, bytes: [97], top_logprobs: [{ token: "b", logprob: -2, bytes: null }] }
    const of = (logprobs: Json) => choiceOf(completion({ content: "a" }, { logprobs }))?.logprobs
    expect(of({ content: [token], refusal: null })).toStrictEqual({ content: [token], refusal: null })
    expect(
      of({
        content: [
          { token: "a", logprob: -1, bytes: [97, "x"], top_logprobs: [{ token: "b", logprob: -2 }, { token: "c" }] },
          { token: "d", logprob: -3 },
          "odd"
        ]
      })
    ).toStrictEqual({
      content: [token, { token: "d", logprob: -3, bytes: null, top_logprobs: [] }],
      refusal: null
    })
    expect(of({ tokens: ["a"], token_logprobs: [-1] })).toStrictEqual({ content: null, refusal: null })
  })
})

describe("OpenAI-compatible finish reasons (T2007)", () => {
  const finish = (finish_reason: Json, given: { [key: string]: Json } = { content: "a" }) =>
    choiceOf(completion(given, { finish_reason }))
  it.each([
    ["stop", "stop"],
    ["length", "length"],
    ["max_tokens", "length"],
    ["tool_calls", "tool_calls"],
    ["content_filter", "content_filter"],
    ["function_call", "function_call"],
    ["eos", "stop"],
    ["eos_token", "stop"],
    ["end_turn", "stop"],
    ["abort", "stop"]
  ])("a finish reason maps, next to the native one: %s -> %s", (word, expected) => {
    expect(finish(word)).toMatchObject({ finish_reason: expected, native_finish_reason: word })
  })
  it("the upstream's native_finish_reason stays", () => {
    expect(choiceOf(completion({ content: "a" }, { native_finish_reason: "STOP" }))?.native_finish_reason).toBe("STOP")
  })
  it("calls with stop or without a finish reason end as tool_calls, with length as length", () => {
    const calls = { tool_calls: [call("c1")] }
    expect(
      [finish("stop", calls), finish(null, calls), finish("eos", calls), finish("length", calls)].map(
        (one) => one?.finish_reason
      )
    ).toStrictEqual(["tool_calls", "tool_calls", "tool_calls", "length"])
    expect(finish("stop", { function_call: { name: "f" } })?.finish_reason).toBe("function_call")
  })
  it("the finish reason error fails the answer (T1206)", () => {
    expect(reasonOf(completion({ content: "a" }, { finish_reason: "error" }))).toStrictEqual({
      _tag: "BadReply",
      kind: "truncated",
      message: "The upstream broke its answer off with an error; it is not complete."
    })
  })
})

describe("OpenAI-compatible usage (T1109)", () => {
  const usage = (given: Json) => answer(completion({ content: "a" }, {}, { usage: given })).usage
  it("usage keeps the upstream's counts; the total is their sum", () => {
    expect(
      usage({ prompt_tokens: 5, completion_tokens: 3, total_tokens: 99, cost: 0.5, prompt_tokens_details: null })
    ).toStrictEqual({
      prompt_tokens: 5,
      completion_tokens: 3,
      total_tokens: 8,
      cost: 0.5,
      prompt_tokens_details: { cached_tokens: 0 }
    })
  })
  it("usage is whole and not negative, and shares stay within their total (L22)", () => {
    expect(
      usage({
        prompt_tokens: 5.9,
        completion_tokens: -3,
        prompt_tokens_details: { cached_tokens: 7, audio_tokens: null, text_tokens: "5", image_tokens: 2, own: [1] },
        completion_tokens_details: { reasoning_tokens: 9 }
      })
    ).toStrictEqual({
      prompt_tokens: 5,
      completion_tokens: 0,
      total_tokens: 5,
      prompt_tokens_details: { cached_tokens: 5, image_tokens: 2, own: [1] },
      completion_tokens_details: { reasoning_tokens: 0 }
    })
  })
})

describe("OpenAI-compatible choices", () => {
  it("every choice has its own index, calls and finish reason (T1201, T1223)", () => {
    const given = completion(
      {},
      {},
      {
        choices: [
          { index: 1, message: { content: "b" }, finish_reason: "length" },
          { index: 0, message: { tool_calls: [call("")] }, finish_reason: "stop" },
          { message: { tool_calls: [call("")] } }
        ]
      }
    )
    expect(
      answer(given).choices.map(({ index, finish_reason, message }) => [
        index,
        finish_reason,
        message.tool_calls?.[0]?.id
      ])
    ).toStrictEqual([
      [1, "length", undefined],
      [0, "tool_calls", callId(0)],
      [2, "tool_calls", callId(1)]
    ])
  })
  it("an answer without choices is empty (T1208)", () => {
    const empty = { _tag: "BadReply", kind: "empty", message: "The upstream answered without any choice. Try again." }
    for (const body of [{}, { choices: [] }, { choices: null }]) expect(reasonOf(body)).toStrictEqual(empty)
  })
  it("an error inside a 200 is that error (T1209)", () => {
    expect(reasonOf({ object: "error", message: "busy", code: 503 })).toStrictEqual({
      _tag: "Overloaded",
      code: "upstream_unavailable",
      message: "busy"
    })
    expect(reasonOf({ error: "boom" })).toStrictEqual({ _tag: "Internal", status: 500, message: "boom" })
    expect(
      reasonOf({ error: { type: "invalid_request_error", message: "no", code: "tool_use_failed", param: "tools" } })
    ).toStrictEqual({ _tag: "InvalidRequest", message: "no", upstreamCode: "tool_use_failed", param: "tools" })
    expect(reasonOf({ error: null, choices: [{ message: { content: "a" } }] })).toBe(undefined)
  })
})
