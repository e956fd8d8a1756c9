// Tests the translation of chat turns to Claude messages: T101 to T125 and T1804 to T1810.
// Must not test declared tools.
import { describe, expect, it } from "vitest"
import type { ChatMessage } from "../../../src/wire/openai/Chat.ts"
import {
  assistant,
  call,
  calling,
  claudeContext,
  refused,
  sent,
  system,
  text,
  tool,
  user
} from "../../support/claude.ts"

const image = { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } }
const imageBlock = { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } }
const use = (id: string, input = {}, name = "f") => ({ type: "tool_use", id, name, input })
const result = (id: string, content: unknown, rest = {}) => ({ type: "tool_result", tool_use_id: id, content, ...rest })
const messagesOf = (...messages: ReadonlyArray<ChatMessage>) => sent(messages).messages

describe("Claude system messages", () => {
  it("system texts become blocks in order and leave the conversation (T101, T1804)", () => {
    const body = sent([
      system("A"),
      user("q"),
      system([
        { type: "text", text: "B" },
        { type: "text", text: "" },
        { type: "text", text: "C" }
      ]),
      { role: "developer", content: "D" }
    ])
    expect(body.system).toStrictEqual([text("A"), text("B"), text("C"), text("D")])
    expect(body.messages).toStrictEqual([{ role: "user", content: [text("q")] }])
  })
  it("absent or blank system texts give no system field (T1804)", () => {
    expect("system" in sent([user("q")])).toBe(false)
    expect("system" in sent([system(" \n"), user("q")])).toBe(false)
  })
  it("the last of system messages alone becomes the user message (T105)", () => {
    const body = sent([system("A"), system("B")])
    expect([body.system, body.messages]).toStrictEqual([[text("A")], [{ role: "user", content: [text("B")] }]])
    const alone = sent([system("A")])
    expect([alone.system, alone.messages]).toStrictEqual([undefined, [{ role: "user", content: [text("A")] }]])
  })
})

describe("Claude roles", () => {
  it("neighbours of one role become one message (T1805, T108)", () => {
    expect(messagesOf(user("a"), user("b"), assistant("c"), assistant("d"), user("e"))).toStrictEqual([
      { role: "user", content: [text("a"), text("b")] },
      { role: "assistant", content: [text("c"), text("d")] },
      { role: "user", content: [text("e")] }
    ])
  })
  it("tool results go first in the order of the calls, then the other content (T1805, T503, T516)", () => {
    expect(
      messagesOf(
        user("q"),
        calling(call("1"), call("2")),
        user("by the way"),
        tool("2", "two"),
        tool("1", "one"),
        user("go")
      )
    ).toStrictEqual([
      { role: "user", content: [text("q")] },
      { role: "assistant", content: [use("1"), use("2")] },
      { role: "user", content: [result("1", "one"), result("2", "two"), text("by the way"), text("go")] }
    ])
  })
  it("a conversation that starts with the assistant gets a user text before it (T1806)", () => {
    expect(messagesOf(assistant("a"), user("b"))).toStrictEqual([
      { role: "user", content: [text("Continue.")] },
      { role: "assistant", content: [text("a")] },
      { role: "user", content: [text("b")] }
    ])
  })
  it("turns without content are dropped (T112, T1807)", () => {
    for (const nothing of [null, "", [], " \n "]) {
      expect(messagesOf(user("a"), assistant(nothing), user("b"))).toStrictEqual([
        { role: "user", content: [text("a"), text("b")] }
      ])
    }
  })
  it("a conversation of white space alone gets a word (W28)", () => {
    for (const talk of [[user(" ")], [system("S"), user("\n")], [user(null)]])
      expect(messagesOf(...talk)).toStrictEqual([{ role: "user", content: [text("Continue.")] }])
  })
})

describe("Claude assistant turns", () => {
  it("an assistant turn has text before calls, and arguments as an object (T1807, T114)", () => {
    expect(
      messagesOf(
        user("q"),
        assistant("let me see", { tool_calls: [call("1", "f", '{"a":12345678901234567890}'), call("2", "g", "")] }),
        tool("1", "r"),
        tool("2", "s")
      )[1]
    ).toEqual({
      role: "assistant",
      content: [text("let me see"), use("1", { a: JSON.rawJSON("12345678901234567890") }), use("2", {}, "g")]
    })
  })
  it("a refusal becomes a text (T115)", () => {
    expect(messagesOf(user("q"), assistant(null, { refusal: "no" }), user("w"))[1]).toStrictEqual({
      role: "assistant",
      content: [text("no")]
    })
    expect(messagesOf(user("q"), assistant([{ type: "refusal", refusal: "no" }]), user("w"))[1]).toStrictEqual({
      role: "assistant",
      content: [text("no")]
    })
  })
  it("white space at the end of a prefill is cut (T1808)", () => {
    expect(messagesOf(user("q"), assistant("once \n"))[1]).toStrictEqual({ role: "assistant", content: [text("once")] })
    expect(
      messagesOf(
        user("q"),
        assistant([
          { type: "text", text: "a " },
          { type: "text", text: "b " }
        ])
      )[1]
    ).toStrictEqual({ role: "assistant", content: [text("a "), text("b")] })
    expect(messagesOf(user("q"), assistant("once "), user("w"))[1]).toStrictEqual({
      role: "assistant",
      content: [text("once ")]
    })
  })
  it("unsigned thoughts of other clients are dropped (T124)", () => {
    expect(messagesOf(user("q"), assistant("a", { reasoning_content: "hm" }), user("w"))[1]).toStrictEqual({
      role: "assistant",
      content: [text("a")]
    })
  })
  it("arguments that are not an object stay as text (T512, W27)", () => {
    for (const bad of ["[1]", "x", "1"]) {
      const [, turn] = messagesOf(user("q"), calling(call("1", "f", bad)), tool("1", "r"))
      expect(turn?.content[0]?.["input"]).toStrictEqual({ _raw: bad })
    }
  })
})

describe("Claude tool results", () => {
  const content = (given: unknown, rest = {}) => {
    const last = messagesOf(user("q"), calling(call("1")), tool("1", given, rest))[2]
    return last?.content[0]
  }
  it("a text stays a string, several parts become blocks, no content becomes an empty text (T1809)", () => {
    expect(content('{"a": 1}')).toStrictEqual(result("1", '{"a": 1}'))
    expect(content([{ type: "text", text: "one" }])).toStrictEqual(result("1", "one"))
    expect(content([{ type: "text", text: "one" }, { type: "text", text: " " }, image])).toStrictEqual(
      result("1", [text("one"), imageBlock])
    )
    expect(content("")).toStrictEqual(result("1", ""))
    expect(content(null)).toStrictEqual(result("1", ""))
    expect(content([])).toStrictEqual(result("1", ""))
  })
  it("an object with an error sets is_error (T1809)", () => {
    expect(content('{"error": "down"}')).toStrictEqual(result("1", '{"error": "down"}', { is_error: true }))
    expect(
      content([
        { type: "text", text: '{"error":' },
        { type: "text", text: "{}}" }
      ])
    ).toStrictEqual(result("1", [text('{"error":'), text("{}}")], { is_error: true }))
    for (const fine of ['{"error": null}', '"error"', '[{"error":1}]', '{"a":{"error":1}}', "error"])
      expect(content(fine)).toStrictEqual(result("1", fine))
  })
  it("a call without a result gets a stock result, also at the end (T1809, T509, L15)", () => {
    const stock = result("1", "No result was returned; see the next message.")
    expect(messagesOf(user("q"), calling(call("1")), user("well?"))[2]).toStrictEqual({
      role: "user",
      content: [stock, text("well?")]
    })
    expect(messagesOf(user("q"), calling(call("1")))[2]).toStrictEqual({ role: "user", content: [stock] })
  })
  it("a result without its call is text of the user (T1809, T510, W28)", () => {
    const missing = { type: "tool_result", tool_use_id: "1", content: "No result was returned; see the next message." }
    expect(messagesOf(user("q"), calling(call("1")), tool("2", "r"))[2]?.content).toStrictEqual([
      missing,
      text("Result of 2:\nr")
    ])
    expect(messagesOf(user("q"), calling(call("1")), tool(undefined, "r"))[2]?.content).toStrictEqual([
      missing,
      text("Result of a tool:\nr")
    ])
  })
  it("legacy calls and results become tool calls and results (T111)", () => {
    expect(
      messagesOf(user("q"), assistant(null, { function_call: { name: "f", arguments: "{}" } }), {
        role: "function",
        name: "f",
        content: "r"
      }).slice(1)
    ).toStrictEqual([
      { role: "assistant", content: [use("call-1")] },
      { role: "user", content: [result("call-1", "r")] }
    ])
  })
})

describe("Claude call ids (T1810)", () => {
  const ids = (...messages: ReadonlyArray<ChatMessage>) =>
    sent([user("q"), ...messages])
      .messages.flatMap(({ content }) => content.map((block) => block["id"] ?? block["tool_use_id"]))
      .filter((id) => id !== undefined)
  it("legal ids stay; other ids are replaced in call and result", () => {
    expect(ids(calling(call("call-0_A")), tool("call-0_A", "r"))).toStrictEqual(["call-0_A", "call-0_A"])
    expect(ids(calling(call("a:1/é")), tool("a:1/é", "r"))).toStrictEqual(["a_1__", "a_1__"])
  })
  it("repeated ids become distinct, because Claude accepts each id once (T502, T504)", () => {
    expect(ids(calling(call("1")), tool("1", "r"), calling(call("1")), tool("1", "s"))).toStrictEqual([
      "1",
      "1",
      "1_2",
      "1_2"
    ])
    expect(
      ids(calling(call("a.b"), call("a_b"), call("a:b")), tool("a:b", "3"), tool("a.b", "1"), tool("a_b", "2"))
    ).toStrictEqual(["a_b", "a_b_2", "a_b_3", "a_b", "a_b_2", "a_b_3"])
    expect(ids(calling(call("1_2")), calling(call("1")), calling(call("1", "g")))).toStrictEqual([
      "1_2",
      "1_2",
      "1",
      "1",
      "1_3",
      "1_3"
    ])
  })
  it("thousands of equal ids take linear time", () => {
    const many = Array.from({ length: 2_000 }, (_, n) => calling(call("same", `f${n}`)))
    expect(new Set(ids(...many)).size).toBe(2_000)
  })
  it("missing ids are generated (T511)", () => {
    expect(ids(calling({ function: { name: "f" } }))).toStrictEqual(["call-1-0", "call-1-0"])
  })
})

describe("malformed Claude messages", () => {
  it.each<readonly [string, ReadonlyArray<ChatMessage>, string, string]>([
    ["T119", [{ role: "robot", content: "x" }], "messages[0].role", "invalid_value"],
    ["T120", [user(7)], "messages[0].content", "invalid_type"],
    ["T121", [user([{ type: "hologram" }])], "messages[0].content[0].type", "invalid_value"],
    ["T104", [system([image]), user("q")], "messages[0].content[0].type", "invalid_value"]
  ])("a malformed message is refused at $2 ($0)", (_rule, messages, param, code) => {
    expect(refused(messages)).toStrictEqual([param, code])
  })
  it("a message's name is ignored (T118)", () => {
    expect(sent([{ ...user("q"), name: "me" }], {}, claudeContext()).messages).toStrictEqual([
      { role: "user", content: [text("q")] }
    ])
  })
})
