// What this gateway put into answers of other models leaves a message for Claude; all other bytes stay.
// It must not know a provider.
import { describe, expect, it } from "vitest"
import { withoutOwnMarks } from "../../../src/translate/messages-to-chat/marks.ts"
import { bytesOf } from "../../support/streams.ts"

const read = (text: string) => {
  const { adjusted, bytes } = withoutOwnMarks(bytesOf(text))
  return { text: new TextDecoder().decode(bytes), adjusted }
}
const use = { type: "tool_use", id: "t", name: "a", input: {} }
const result = { role: "user", content: [{ type: "tool_result", tool_use_id: "t", content: "x" }] }

describe("our marks in a message for Claude", () => {
  it("messages: a body without our marks is the same bytes object (D105 D313)", () => {
    const bytes = bytesOf('{ "messages":[{"role":"user","content":"mgr1. \\"mgr1\\""}] }')
    expect(withoutOwnMarks(bytes).bytes).toBe(bytes)
  })

  it("messages: our carriers and searches are cut out, and a turn left empty goes (D313)", () => {
    const messages = [
      { role: "user", content: "a" },
      { role: "assistant", content: [{ type: "thinking", thinking: "x", signature: "mgr1.abc" }] },
      {
        role: "assistant",
        content: [
          { type: "redacted_thinking", data: "mgr1.abc" },
          { type: "thinking", thinking: "own", signature: "EqQB" },
          { type: "text", text: "b" },
          { type: "server_tool_use", id: "srvtoolu_mg0", name: "web_search", input: {} },
          { type: "web_search_tool_result", tool_use_id: "srvtoolu_mg0", content: [] }
        ]
      }
    ]
    expect(read(`{ "n": 12345678901234567890,"messages":${JSON.stringify(messages)} }`)).toEqual({
      text: `{ "n": 12345678901234567890,"messages":${JSON.stringify([
        { role: "user", content: "a" },
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "own", signature: "EqQB" },
            { type: "text", text: "b" }
          ]
        }
      ])} }`,
      adjusted: undefined
    })
  })

  it("messages: in a loop of tools that another model began thinking is off, and named (D313)", () => {
    const begun = (type: string) =>
      JSON.stringify({
        thinking: { type, budget_tokens: 2048 },
        context_management: { edits: [{ type: "clear_thinking_20251015" }, { type: "clear_tool_uses_20250919" }] },
        messages: [
          { role: "user", content: "a" },
          { role: "assistant", content: [{ type: "redacted_thinking", data: "mgr1.abc" }, use] },
          result
        ]
      })
    const { adjusted, text } = read(begun("enabled"))
    expect([JSON.parse(text), adjusted?.map(({ asked, param, sent }) => [param, asked, sent])]).toEqual([
      {
        context_management: { edits: [{ type: "clear_tool_uses_20250919" }] },
        messages: [{ role: "user", content: "a" }, { role: "assistant", content: [use] }, result]
      },
      [["thinking", "enabled", "dropped"]]
    ])
    expect(read(begun("adaptive")).adjusted).toBe(undefined)
  })
})
