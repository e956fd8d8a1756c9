// The rules of a message as a chat, one by one: system texts, turns, results, tools, thinking, fields.
// It must not know any provider.
import { describe, expect, it } from "vitest"
import type { JsonObject } from "../../../src/domain/text/json.ts"
import { carrierText } from "../../../src/translate/shared/carrier.ts"
import { seal, translated, translation } from "../../support/messages.ts"
import * as Result from "effect/Result"

const user = (content: JsonObject["x"] = "hi"): JsonObject => ({ role: "user", content: content ?? null })
const assistant = (...content: ReadonlyArray<JsonObject>): JsonObject => ({ role: "assistant", content })
const text = (value: string): JsonObject => ({ type: "text", text: value })
const use = (id: string, name = "look", input: JsonObject = {}): JsonObject => ({ type: "tool_use", id, name, input })
const result = (id: string, content: JsonObject["x"] = "done", more: JsonObject = {}): JsonObject => ({
  type: "tool_result",
  tool_use_id: id,
  content: content ?? null,
  ...more
})
const call = (id: string, name = "look", args = "{}", signed: JsonObject = {}): JsonObject => ({
  id,
  type: "function",
  function: { name, arguments: args, ...signed }
})
const messagesOf = (messages: ReadonlyArray<JsonObject>, more: JsonObject = {}, facts = {}) =>
  translation({ messages, ...more }, facts).chat.messages
const fault = (body: JsonObject, facts = {}) => {
  const read = translated(body, facts)
  return Result.isFailure(read) ? read.failure : "translated"
}

describe("the turns of a message as a chat", () => {
  it("messages: system texts before the first answer become one, the billing line is left out (D202)", () => {
    const system = [text("x-anthropic-billing-header: cc_version=2.1; cch=1;"), text("Be short."), text(" ")]
    expect(messagesOf([{ role: "system", content: "The day is Monday." }, user()], { system })).toEqual([
      { role: "system", content: "Be short.\n\nThe day is Monday." },
      { role: "user", content: "hi" }
    ])
  })

  it("messages: a late system message is a reminder in its place (D203)", () => {
    expect(
      messagesOf([
        user("a"),
        assistant(use("t1")),
        user([result("t1")]),
        { role: "system", content: [text("Files changed.")] },
        assistant(text("b")),
        user("c"),
        { role: "system", content: "Gone.", clear_at: "next_user_message" },
        user("d"),
        { role: "system", content: "Stays.", clear_at: "next_user_message" }
      ])
    ).toEqual([
      { role: "user", content: "a" },
      { role: "assistant", content: null, tool_calls: [call("t1")] },
      { role: "tool", tool_call_id: "t1", content: "done" },
      { role: "user", content: "<system-reminder>\nFiles changed.\n</system-reminder>" },
      { role: "assistant", content: "b" },
      { role: "user", content: "c" },
      {
        role: "user",
        content: [
          { type: "text", text: "d" },
          { type: "text", text: "<system-reminder>\nStays.\n</system-reminder>" }
        ]
      }
    ])
  })

  it("messages: white space is no text, and a turn without blocks is none (D204)", () => {
    expect(messagesOf([user([text(" \n"), text("a")]), assistant(text("")), user("b")])).toEqual([
      { role: "user", content: "a" },
      { role: "user", content: "b" }
    ])
  })

  it("messages: pictures and documents become parts (D201)", () => {
    const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } }
    expect(
      messagesOf([
        user([
          image,
          { type: "image", source: { type: "url", url: "https://a.example/b.png" } },
          {
            type: "document",
            title: "P",
            context: "C",
            source: { type: "base64", media_type: "application/pdf", data: "AAAA" }
          },
          { type: "document", title: "N", source: { type: "text", media_type: "text/plain", data: "words" } },
          { type: "document", source: { type: "content", content: [text("inner"), image] } },
          { type: "search_result", title: "T", source: "S", content: [text("found")] }
        ])
      ])
    ).toEqual([
      {
        role: "user",
        content: [
          { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
          { type: "image_url", image_url: { url: "https://a.example/b.png" } },
          text("C"),
          { type: "file", file: { file_data: "data:application/pdf;base64,AAAA", filename: "P" } },
          text("N\n\nwords"),
          text("inner"),
          { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
          text("T\nS\n\nfound")
        ]
      }
    ])
  })

  it("messages: results follow their calls in the order of the calls, whatever their order was (D206)", () => {
    const read = translation({
      messages: [
        user(),
        assistant(text("I look."), use("a"), use("b", "read", { n: 1 }), text("Both.")),
        user([result("b", "B"), text("and")]),
        user([result("a", [text("A")]), result("a", "again")]),
        user("more")
      ]
    })
    expect(read.ignored).toEqual(["messages[3].content[1]"])
    expect(read.chat.messages.slice(1)).toEqual([
      { role: "assistant", content: "I look.Both.", tool_calls: [call("a"), call("b", "read", '{"n":1}')] },
      { role: "tool", tool_call_id: "a", content: "A" },
      { role: "tool", tool_call_id: "b", content: "B" },
      { role: "user", content: "and" },
      { role: "user", content: "more" }
    ])
  })

  it("messages: a failed result is marked for Gemini and named for others; pictures follow for others (D205)", () => {
    const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } }
    const part = { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } }
    const messages = [
      user(),
      assistant(use("a"), use("b")),
      user([result("a", "no file", { is_error: true }), result("b", [text("it"), image])])
    ]
    expect(messagesOf(messages).slice(2)).toEqual([
      { role: "tool", tool_call_id: "a", content: "no file", is_error: true },
      { role: "tool", tool_call_id: "b", content: [text("it"), part] }
    ])
    expect(messagesOf(messages, {}, { family: "openai" }).slice(2)).toEqual([
      { role: "tool", tool_call_id: "a", content: "Error: no file" },
      { role: "tool", tool_call_id: "b", content: "it" },
      { role: "user", content: [text("From the result of look (b):"), part] }
    ])
  })

  it("messages: the text of a compaction replaces everything before it (D208)", () => {
    expect(
      messagesOf([user("old"), assistant({ type: "compaction", content: "Summary." }, text("new")), user("next")])
    ).toEqual([
      { role: "user", content: "Summary." },
      { role: "assistant", content: "new" },
      { role: "user", content: "next" }
    ])
    expect(fault({ messages: [user(), assistant({ type: "compaction", content: null }), user()] })).toEqual([
      "unsupported_item",
      "messages[1].content[0]"
    ])
  })

  it("messages: our carriers are put back, foreign thinking is absent, ours of another key is named (D306 D307)", () => {
    const carrier = seal(
      carrierText({ v: 1, r: "msg_1", i: "gemini/google", c: [{ id: "a", s: "c2ln" }], t: [{ h: "6f6b", s: "dHh0" }] })
    )
    const read = translation({
      messages: [
        user(),
        assistant(
          { type: "thinking", thinking: "hm", signature: "EqQBClaude" },
          { type: "thinking", thinking: "hm", signature: "mgr1.other" },
          { type: "thinking", thinking: "hm", signature: carrier },
          text("ok"),
          use("a")
        ),
        user([result("a")])
      ]
    })
    expect(read.ignored).toEqual(["messages[1].content[1]"])
    expect(read.chat.messages[1]).toEqual({
      role: "assistant",
      content: "ok",
      content_blocks: [{ type: "text", text: "ok", signature: "dHh0", issuer: "gemini/google" }],
      tool_calls: [{ ...call("a", "look", "{}", { thought_signature: "c2ln" }), issuer: "gemini/google" }]
    })
  })

  it("messages: thoughts of open models go back to their pair, those of Gemini do not (D309)", () => {
    const turn = (issuer: string) =>
      messagesOf([
        user(),
        assistant(
          { type: "thinking", thinking: "hm", signature: seal(carrierText({ v: 1, r: "msg_1", i: issuer })) },
          text("ok")
        ),
        user()
      ])[1]
    expect(turn("openai/vertex-ai")).toEqual({ role: "assistant", content: "ok", reasoning_content: "hm" })
    expect(turn("gemini/google")).toEqual({ role: "assistant", content: "ok" })
  })

  it.each([
    ["an unknown role", [{ role: "tool", content: "x" }], ["invalid_value", "messages[0].role"]],
    ["an unknown block", [user([{ type: "hologram" }])], ["invalid_value", "messages[0].content[0]"]],
    ["an upload", [user([{ type: "container_upload", file_id: "f" }])], ["invalid_value", "messages[0].content[0]"]],
    [
      "a file of Anthropic's",
      [user([{ type: "image", source: { type: "file", file_id: "f" } }])],
      ["invalid_value", "messages[0].content[0].source"]
    ],
    [
      "a picture in a system message",
      [user(), { role: "system", content: [text("a"), { type: "image" }] }],
      ["invalid_value", "messages[1].content[1]"]
    ]
  ])("messages: %s is refused by its place (D201)", (_name, messages, wanted) => {
    expect(fault({ messages })).toEqual(wanted)
  })
})

describe("the tools of a message as a chat", () => {
  const tool = (name: string, more: JsonObject = {}): JsonObject => ({
    name,
    description: "d",
    input_schema: { type: "object" },
    ...more
  })
  const made = (name: string): JsonObject => ({
    type: "function",
    function: { name, description: "d", parameters: { type: "object" } }
  })

  it("messages: functions and the choice among them keep their meaning (D212)", () => {
    const { chat, ignored } = translation({
      tools: [tool("a", { cache_control: { type: "ephemeral" }, eager_input_streaming: true })],
      tool_choice: { type: "any", disable_parallel_tool_use: true }
    })
    expect([chat.tools, chat.tool_choice, chat.parallel_tool_calls, ignored]).toEqual([
      [made("a")],
      "required",
      false,
      []
    ])
    expect(translation({ tools: [tool("a")], tool_choice: { type: "tool", name: "a" } }).chat.tool_choice).toEqual({
      type: "function",
      function: { name: "a" }
    })
  })

  it("messages: deferred tools are declared once the conversation names them (D211)", () => {
    const tools = [tool("a", { defer_loading: true }), tool("b", { defer_loading: true }), tool("c")]
    const named = (body: JsonObject) => (translation({ tools, ...body }).chat.tools ?? []).length
    expect(named({})).toBe(1)
    const found = [
      user(),
      assistant(use("s", "ToolSearch")),
      user([result("s", [{ type: "tool_reference", tool_name: "b" }])])
    ]
    expect(named({ messages: found })).toBe(2)
    const searching = translation({ tools: [...tools, { type: "tool_search_tool_bm25_20251119", name: "search" }] })
    expect([searching.chat.tools, searching.ignored]).toEqual([[made("a"), made("b"), made("c")], ["tools[3]"]])
  })

  it("messages: tools that the client runs are functions, and the search is Gemini's own (D212)", () => {
    const names = translation({
      tools: [
        { type: "bash_20250124", name: "bash" },
        { type: "text_editor_20250728", name: "str_replace_based_edit_tool" },
        { type: "memory_20250818", name: "memory" }
      ]
    }).chat.tools
    expect(names).toMatchObject([
      { function: { name: "bash" } },
      { function: { name: "str_replace_based_edit_tool" } },
      { function: { name: "memory" } }
    ])
    const search = { type: "web_search_20250305", name: "web_search", max_uses: 8 }
    const gemini = translation({ tools: [search] })
    expect([gemini.chat.tools, gemini.ignored]).toEqual([[{ type: "web_search" }], ["tools[0].max_uses"]])
    expect(fault({ tools: [search] }, { family: "openai" })).toEqual(["unsupported_tool", "tools[0]"])
    const open = translation({ tools: [search, tool("a")] }, { family: "openai" })
    expect([open.chat.tools, open.ignored]).toEqual([[made("a")], ["tools[0]"]])
  })

  it.each(["computer_20250124", "mcp_toolset", "code_execution_20250825", "web_fetch_20250910"])(
    "messages: the tool %s is refused by name (D212)",
    (type) => {
      expect(fault({ tools: [{ type, name: "x" }, tool("a")] })).toEqual(["unsupported_tool", "tools[0]"])
    }
  )
})

describe("the fields of a message as a chat", () => {
  const thinkingOf = (body: JsonObject) => {
    const { chat, ignored, plan } = translation(body)
    return [chat.reasoning_effort, chat.thinking, plan.shown, ignored]
  }
  const hidden = { thinking: false, texts: false }
  it.each([
    ["nothing", {}, [undefined, undefined, hidden, []]],
    ["an effort", { output_config: { effort: "low" } }, ["low", undefined, hidden, []]],
    [
      "off with an effort",
      { thinking: { type: "disabled" }, output_config: { effort: "high" } },
      ["none", undefined, hidden, ["output_config.effort"]]
    ],
    [
      "adaptive with an effort, texts omitted",
      { thinking: { type: "adaptive", display: "omitted" }, output_config: { effort: "high" } },
      ["high", undefined, { thinking: true, texts: false }, []]
    ],
    [
      "adaptive",
      { thinking: { type: "adaptive" } },
      [undefined, { type: "enabled" }, { thinking: true, texts: true }, []]
    ],
    [
      "a budget",
      { thinking: { type: "enabled", budget_tokens: 2048 }, output_config: { effort: "low" } },
      [undefined, { type: "enabled", budget_tokens: 2048 }, { thinking: true, texts: true }, ["output_config.effort"]]
    ]
  ])("messages: thinking of %s (D210)", (_name, body, wanted) => {
    expect(thinkingOf(body)).toEqual(wanted)
  })

  it("messages: the effort of the last system message wins (D203)", () => {
    const late = { role: "system", content: "x", output_config: { effort: "max" } }
    expect(translation({ messages: [user(), late], output_config: { effort: "low" } }).chat.reasoning_effort).toBe(
      "max"
    )
  })

  it("messages: more tokens than the model gives are lowered and named (D209)", () => {
    const { adjusted, chat } = translation({ max_tokens: 128_000 })
    expect([chat.max_completion_tokens, adjusted]).toEqual([
      65_536,
      [{ param: "max_tokens", asked: "128000", sent: "65536", takes: ["at most 65536 tokens"] }]
    ])
    expect(translation({ max_tokens: 128_000 }, { maxOutput: undefined }).chat.max_completion_tokens).toBe(128_000)
  })

  it("messages: formats, sampling and stops have their place, the rest is named (D213 D214)", () => {
    const schema = { type: "object", properties: {} }
    const { chat, ignored } = translation({
      output_config: { format: { type: "json_schema", schema }, task_budget: { type: "tokens", total: 5 } },
      stop_sequences: ["END"],
      temperature: 0.5,
      top_p: 0.9,
      top_k: 4,
      service_tier: "auto",
      metadata: { user_id: "u" },
      context_management: { edits: [] },
      mcp_servers: [],
      container: null,
      speed: "fast"
    })
    expect(chat).toEqual({
      model: "gemini-3.8-flash",
      messages: [{ role: "user", content: "hi" }],
      max_completion_tokens: 100,
      temperature: 0.5,
      top_p: 0.9,
      top_k: 4,
      stop: ["END"],
      response_format: { type: "json_schema", json_schema: { name: "answer", schema } }
    })
    expect(ignored).toEqual(["context_management", "speed", "output_config.task_budget"])
    expect(fault({ mcp_servers: [{ type: "url" }] })).toEqual(["unsupported_parameter", "mcp_servers"])
    expect(fault({ container: { skills: [] } })).toEqual(["unsupported_parameter", "container.skills"])
  })
})
