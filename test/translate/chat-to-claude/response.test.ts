// Tests unary answers of Claude: T1830, T1833 to T1836, T1842, T1843, tables 6 and 8.
// Must not open sockets or read clocks.
import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import type { JsonObject } from "../../../src/domain/text/json.ts"
import { packThinking } from "../../../src/translate/chat-to-claude/messages.ts"
import { strictlyCompletion } from "../../../src/translate/shared/reply/clientForm.ts"
import { callId, chatRequest } from "../../support/chat.ts"
import {
  answer,
  choice,
  claudeContext,
  functionTool,
  message,
  models,
  respond,
  text,
  user
} from "../../support/claude.ts"

const use = (name: string, input: unknown = {}) => ({
  type: "tool_use",
  id: "toolu_1",
  name,
  input: input as JsonObject
})
const thought = { type: "thinking", thinking: "hm", signature: "c2ln" }
const redacted = { type: "redacted_thinking", data: "ZGF0YQ==" }
const called = (n: number, name: string, text: string, rest = {}) => ({
  id: callId(n),
  type: "function",
  function: { name, arguments: text, ...rest }
})
const tools = { stop_reason: "tool_use" }

describe("Claude completions", () => {
  it("a unary answer becomes a completion in full form (T1202, T1203, T1833, T1842)", () => {
    expect(answer(message([text("Hel"), text("lo")]))).toStrictEqual({
      id: "chatcmpl-00000000-0000-4000-8000-000000000000",
      object: "chat.completion",
      created: 1_700_000_000,
      model: "claude-sonnet-4-5-20250929",
      choices: [
        {
          index: 0,
          message: { role: "assistant", content: "Hello", refusal: null, content_blocks: [text("Hel"), text("lo")] },
          logprobs: null,
          finish_reason: "stop",
          native_finish_reason: "end_turn"
        }
      ],
      usage: {
        prompt_tokens: 3,
        completion_tokens: 5,
        total_tokens: 8,
        prompt_tokens_details: { cached_tokens: 0 },
        upstream: { input_tokens: 3, output_tokens: 5 }
      },
      provider: "vertex-ai"
    })
    expect(answer(message([], { model: null, stop_reason: "end_turn" })).model).toBe(models.budgetOne)
  })
  it("an empty answer is a valid completion (T1843)", () => {
    expect(choice([])).toStrictEqual({
      index: 0,
      message: { role: "assistant", content: "", refusal: null },
      logprobs: null,
      finish_reason: "stop",
      native_finish_reason: "end_turn"
    })
  })
  it("a strict completion has no extension fields (L11)", () => {
    const strict = strictlyCompletion(answer(message([thought, text("a"), use("f", { a: 1 })], tools)))
    expect(strict.choices).toStrictEqual([
      {
        index: 0,
        finish_reason: "tool_calls",
        logprobs: null,
        message: { role: "assistant", content: "a", refusal: null, tool_calls: [called(0, "f", '{"a":1}')] }
      }
    ])
  })
})

describe("Claude thinking in answers (T1825, T1833)", () => {
  it("thinking stays outside the content, with unchanged signatures", () => {
    expect(choice([thought, redacted, text("a"), { ...thought, thinking: "then" }])?.message).toStrictEqual({
      role: "assistant",
      content: "a",
      refusal: null,
      reasoning_content: "hmthen",
      content_blocks: [thought, redacted, text("a"), { ...thought, thinking: "then" }]
    })
  })
  it("hidden thinking keeps its signature", () => {
    expect(choice([{ ...thought, thinking: "" }, text("a")])?.message).toStrictEqual({
      role: "assistant",
      content: "a",
      refusal: null,
      content_blocks: [{ ...thought, thinking: "" }, text("a")]
    })
  })
  it("thinking is packed on the first call after it (T602, T605)", () => {
    const later = { ...thought, thinking: "then" }
    expect(
      choice([thought, redacted, text("a"), use("f"), use("g"), later, use("h")], tools)?.message.tool_calls
    ).toStrictEqual([
      called(0, "f", "{}", { thought_signature: packThinking([thought, redacted]) }),
      called(1, "g", "{}"),
      called(2, "h", "{}", { thought_signature: packThinking([later]) })
    ])
    expect(choice([{ type: "thinking", thinking: "hm" }, use("f")], tools)?.message.tool_calls).toStrictEqual([
      called(0, "f", "{}")
    ])
  })
})

describe("Claude calls in answers", () => {
  it("calls get generated ids, arguments as text, and null content (T518, T1213)", () => {
    expect(choice([use("f", { a: [1, "é"] }), use("g")], tools)).toStrictEqual({
      index: 0,
      message: {
        role: "assistant",
        content: null,
        refusal: null,
        tool_calls: [called(0, "f", '{"a":[1,"é"]}'), called(1, "g", "{}")]
      },
      logprobs: null,
      finish_reason: "tool_calls",
      native_finish_reason: "tool_use"
    })
  })
  it("integers of any size keep their digits (T513, L27)", () => {
    const big = JSON.rawJSON("12345678901234567890")
    expect(choice([use("f", { n: big })], tools)?.message.tool_calls?.[0]?.function.arguments).toBe(
      '{"n":12345678901234567890}'
    )
  })
  it("function names return in the client's spelling (T1811)", () => {
    const request = chatRequest([user("q")], { tools: [functionTool("a/b")] })
    expect(choice([use("a_b_3a8e75c1")], tools, request)?.message.tool_calls?.[0]?.function.name).toBe("a/b")
  })
  it("legacy clients get the first call as function_call (T339)", () => {
    const request = chatRequest([user("q")], { functions: [{ name: "f" }] })
    expect(choice([text("a"), use("f", { a: 1 }), use("f")], tools, request)).toMatchObject({
      message: { content: "a", function_call: { name: "f", arguments: '{"a":1}' } },
      finish_reason: "function_call"
    })
    expect(choice([use("f")], tools, request)?.message).toStrictEqual({
      role: "assistant",
      content: null,
      refusal: null,
      function_call: { name: "f", arguments: "{}" }
    })
  })
  it("server tools become provider parts, not calls (T1834)", () => {
    const search = { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "q" } }
    const found = {
      type: "web_search_tool_result",
      tool_use_id: "srvtoolu_1",
      content: [{ type: "web_search_result", url: "u" }]
    }
    const part = (one: JsonObject) => ({ type: "provider_part", provider: "anthropic", part: one })
    expect(choice([search, found, text("a"), { type: "hologram", x: 1 }])).toMatchObject({
      message: {
        content: "a",
        content_blocks: [part(search), part(found), text("a"), part({ type: "hologram", x: 1 })]
      },
      finish_reason: "stop"
    })
    expect(choice([search, found], tools)).toMatchObject({ message: { content: "" }, finish_reason: "stop" })
  })
})

describe("Claude stop reasons (table 8)", () => {
  it.each([
    ["end_turn", "stop"],
    ["stop_sequence", "stop"],
    ["pause_turn", "stop"],
    ["compaction", "stop"],
    ["max_tokens", "length"],
    ["model_context_window_exceeded", "length"],
    ["tool_use", "stop"],
    ["refusal", "content_filter"],
    ["something_new", "stop"]
  ] as const)("a stop reason maps to a finish reason: %s (T1836)", (stop_reason, finish) => {
    expect(choice([text("a")], { stop_reason })).toMatchObject({
      finish_reason: finish,
      native_finish_reason: stop_reason
    })
  })
  it("a stop reason with a client tool call maps to tool_calls (T1836)", () => {
    for (const stop_reason of ["tool_use", "something_new", null])
      expect(choice([use("f")], { stop_reason })?.finish_reason).toBe("tool_calls")
    expect(choice([use("f")], { stop_reason: "max_tokens" })?.finish_reason).toBe("length")
    expect(choice([text("a")], { stop_reason: null })).toStrictEqual({
      index: 0,
      message: { role: "assistant", content: "a", refusal: null, content_blocks: [text("a")] },
      logprobs: null,
      finish_reason: "stop"
    })
  })
  it("a refusal keeps its explanation (T1836)", () => {
    const refusal = (stop_details: JsonObject | null) => choice([], { stop_reason: "refusal", stop_details })?.message
    expect(refusal({ type: "refusal", explanation: "no" })).toStrictEqual({
      role: "assistant",
      content: "",
      refusal: "no"
    })
    expect(refusal(null)).toStrictEqual({ role: "assistant", content: "", refusal: null })
    expect(choice([text("a")], { stop_reason: "end_turn", stop_details: { explanation: "no" } })?.message.refusal).toBe(
      null
    )
  })
})

describe("Claude structured output (T1829, T1830)", () => {
  const asking = (schema: JsonObject, rest = {}) =>
    chatRequest([user("q")], { response_format: { type: "json_schema", json_schema: { schema } }, ...rest })
  const object = asking({ type: "object" })
  const array = asking({ type: "array" })
  it("the arguments of the output tool become the content", () => {
    expect(choice([use("json_output", { a: "é" })], tools, object)).toStrictEqual({
      index: 0,
      message: { role: "assistant", content: '{"a":"é"}', refusal: null, content_blocks: [text('{"a":"é"}')] },
      logprobs: null,
      finish_reason: "stop",
      native_finish_reason: "tool_use"
    })
    expect(choice([use("json_output")], tools, object)?.message.content).toBe("{}")
  })
  it("a wrapped answer is unwrapped when the root schema is not an object", () => {
    for (const value of [[1, 2], "word", null, { a: 1 }, 0, false]) {
      expect(choice([use("json_output", { value })], tools, array)?.message.content).toBe(JSON.stringify(value))
    }
    expect(choice([use("json_output", { other: 1 })], tools, array)?.message.content).toBe('{"other":1}')
    expect(choice([use("json_output", {})], { stop_reason: "max_tokens" }, array)).toMatchObject({
      message: { content: "" },
      finish_reason: "length"
    })
  })
  it("an answer next to a call keeps both; text next to an answer is dropped (T1830)", () => {
    const request = asking({ type: "object" }, { tools: [functionTool("f")] })
    expect(choice([thought, text("well"), use("json_output", { a: 1 }), use("f")], tools, request)).toStrictEqual({
      index: 0,
      message: {
        role: "assistant",
        content: '{"a":1}',
        refusal: null,
        tool_calls: [called(0, "f", "{}", { thought_signature: packThinking([thought]) })],
        reasoning_content: "hm",
        content_blocks: [thought, text('{"a":1}')]
      },
      logprobs: null,
      finish_reason: "tool_calls",
      native_finish_reason: "tool_use"
    })
  })
  it("text without a structured answer becomes the content; a second answer is dropped", () => {
    expect(choice([thought, text("I "), text("won't")], { stop_reason: "end_turn" }, object)?.message).toStrictEqual({
      role: "assistant",
      content: "I won't",
      refusal: null,
      reasoning_content: "hm",
      content_blocks: [thought, text("I won't")]
    })
    expect(choice([use("json_output", { a: 1 }), use("json_output", { b: 2 })], tools, object)?.message.content).toBe(
      '{"a":1}'
    )
  })
  it("a client tool with the output tool's name stays a call", () => {
    const request = asking({ type: "object" }, { tools: [functionTool("json_output")] })
    expect(
      choice([use("json_output", { a: 1 }), use("json_output_2", { b: 2 })], tools, request)?.message
    ).toMatchObject({ content: '{"b":2}', tool_calls: [called(0, "json_output", '{"a":1}')] })
    expect(choice([use("json_output", { a: 1 })], tools)?.message.tool_calls).toStrictEqual([
      called(0, "json_output", '{"a":1}')
    ])
  })
})

describe("Claude citations (T1835)", () => {
  const web = {
    type: "web_search_result_location",
    url: "https://a",
    title: "A",
    cited_text: "x",
    encrypted_index: "e"
  }
  const page = { type: "page_location", document_title: "Paper", start_page_number: 1, cited_text: "x" }
  it("citations apply to the text of their block; those with an address become annotations", () => {
    const found = choice([
      text("🐎 says "),
      { ...text("é漢"), citations: [web, page] },
      { ...text("!"), citations: [{ ...web, title: null }] },
      { ...text("?"), citations: null }
    ])
    expect(found?.citations).toStrictEqual([
      { start_index: 7, end_index: 9, uri: "https://a", title: "A", upstream: web },
      { start_index: 7, end_index: 9, title: "Paper", upstream: page },
      { start_index: 9, end_index: 10, uri: "https://a", upstream: { ...web, title: null } }
    ])
    expect(found?.message.annotations).toStrictEqual([
      { type: "url_citation", url_citation: { start_index: 7, end_index: 9, url: "https://a", title: "A" } },
      { type: "url_citation", url_citation: { start_index: 9, end_index: 10, url: "https://a", title: "https://a" } }
    ])
  })
  it("citations of text that a structured answer replaces are dropped", () => {
    const request = chatRequest([user("q")], { response_format: { type: "json_object" } })
    const found = choice([{ ...text("a"), citations: [web] }, use("json_output", {})], tools, request)
    expect([found?.citations, found?.message.annotations, found?.message.content]).toStrictEqual([
      undefined,
      undefined,
      "{}"
    ])
  })
})

describe("Claude usage (table 6)", () => {
  const usage = (counts: JsonObject | null) => answer(message([], { stop_reason: "end_turn", usage: counts })).usage
  it("cached tokens count as prompt tokens (T1101, T1108)", () => {
    const counts = {
      input_tokens: 3,
      cache_read_input_tokens: 20,
      cache_creation_input_tokens: 100,
      output_tokens: 50,
      service_tier: "standard",
      output_tokens_details: { thinking_tokens: 30 }
    }
    expect(usage(counts)).toStrictEqual({
      prompt_tokens: 123,
      completion_tokens: 50,
      total_tokens: 173,
      prompt_tokens_details: { cached_tokens: 20, cache_write_tokens: 100 },
      completion_tokens_details: { reasoning_tokens: 30 },
      upstream: counts,
      service_tier: "standard"
    })
  })
  it("missing or malformed counts are zero (T1103)", () => {
    expect(usage(null)).toStrictEqual({
      prompt_tokens: 0,
      completion_tokens: 0,
      total_tokens: 0,
      prompt_tokens_details: { cached_tokens: 0 }
    })
    const odd = { input_tokens: null, output_tokens: "7", cache_read_input_tokens: -1, output_tokens_details: null }
    expect(usage(odd)).toStrictEqual({
      prompt_tokens: 0,
      completion_tokens: 0,
      total_tokens: 0,
      prompt_tokens_details: { cached_tokens: 0 },
      upstream: odd
    })
  })
})

describe("Claude answers without content", () => {
  const reason = (body: JsonObject) => {
    const out = respond(body, claudeContext())
    return Result.isFailure(out) ? out.failure : undefined
  }
  it("an empty answer, or an error inside a 200, fails (T1208, T1209)", () => {
    expect(reason({})).toStrictEqual({
      _tag: "BadReply",
      kind: "empty",
      message: "The upstream answered without any content. Try again."
    })
    expect(reason({ type: "error", error: { type: "overloaded_error", message: "Overloaded" } })).toStrictEqual({
      _tag: "Overloaded",
      code: "upstream_overloaded",
      message: "Overloaded"
    })
  })
})
