// Tests the mapping of function names in both directions: T328 and law L19.
// Must not open sockets or read clocks.
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import {
  claudeNames,
  geminiNames,
  type NameGrammar,
  toolNamesOf
} from "../../../../src/translate/shared/chat-request/toolCalls.ts"
import { chatRequest } from "../../../support/chat.ts"

const namesFor = (
  names: ReadonlyArray<string>,
  history: ReadonlyArray<string> = [],
  grammar: NameGrammar = geminiNames
) =>
  toolNamesOf(
    chatRequest(
      [
        {
          role: "assistant",
          tool_calls: history.map((name) => ({ id: "1", type: "function", function: { name, arguments: "{}" } }))
        },
        { role: "user", content: "hello" }
      ],
      { tools: names.map((name) => ({ type: "function", function: { name } })) }
    ),
    grammar
  )

describe("function names (T328)", () => {
  it("legal names stay unchanged", () => {
    const legal = ["a", "_x", "mcp.server:tool-1", "A".repeat(128)]
    expect(legal.map(namesFor(legal).mangle)).toStrictEqual(legal)
  })
  it.each([
    ["files/read all", "files_read_all_6e2b9092"],
    ["7up", "_7up_562197eb"],
    [".hidden", "_.hidden_4747f185"],
    ["größe", "gr__e_26030442"],
    ["A".repeat(129), `${"A".repeat(55)}_8586064c`]
  ])("a name is mapped: %s", (name, mangled) => {
    const names = namesFor([name])
    expect(names.mangle(name)).toBe(mangled)
    expect(names.unmangle(mangled)).toBe(name)
    expect(namesFor([], [name]).mangle(name)).toBe(mangled)
    expect(namesFor([]).mangle(name)).toBe(mangled)
  })
  it("Claude accepts a leading digit, but neither dot nor colon (T1811)", () => {
    const names = namesFor(["7up", "mcp.server:tool", "A".repeat(128)], [], claudeNames)
    expect(names.mangle("7up")).toBe("7up")
    expect(names.mangle("A".repeat(128))).toBe("A".repeat(128))
    expect(names.mangle("mcp.server:tool")).toBe("mcp_server_tool_735a29ec")
    expect(names.unmangle("mcp_server_tool_735a29ec")).toBe("mcp.server:tool")
  })
  it("a declared legal name that looks mangled keeps its name", () => {
    const names = namesFor(["files_read_all_6e2b9092", "files/read all"])
    expect(names.mangle("files_read_all_6e2b9092")).toBe("files_read_all_6e2b9092")
    expect(names.unmangle("files_read_all_6e2b9092")).toBe("files_read_all_6e2b9092")
    const other = names.mangle("files/read all")
    expect(other).not.toBe("files_read_all_6e2b9092")
    expect(names.unmangle(other)).toBe("files/read all")
  })
  it("the name map accepts any shape of tools and messages", () => {
    const names = toolNamesOf(
      chatRequest([{ role: "user", tool_calls: [null, 1, { function: "x" }], function_call: "auto" }], {
        tools: [null, "x", { function: null }, { function: { name: 3 } }],
        functions: [{ name: "a b" }]
      }),
      geminiNames
    )
    expect(names.unmangle(names.mangle("a b"))).toBe("a b")
  })
  it("names round-trip, legal names stay, and names never collide (L19)", () => {
    const name = fc.oneof(
      fc.string({ minLength: 1, unit: "binary" }),
      fc.stringMatching(/^[a-z_ /]{1,4}(_[0-9a-f]{8})?$/),
      fc.string({ minLength: 100, maxLength: 256 })
    )
    fc.assert(
      fc.property(
        fc.uniqueArray(name, { maxLength: 20 }),
        fc.uniqueArray(name, { maxLength: 20 }),
        fc.constantFrom(geminiNames, claudeNames),
        (declared, history, grammar) => {
          const names = namesFor(declared, history, grammar)
          const all = [...new Set([...declared, ...history])]
          const mangled = all.map(names.mangle)
          expect(new Set(mangled).size).toBe(all.length)
          expect(mangled.map(names.unmangle)).toStrictEqual(all)
          for (const one of mangled) expect(one).toMatch(grammar.legal)
          const legal = all.filter((one) => grammar.legal.test(one))
          expect(legal.map(names.mangle)).toStrictEqual(legal)
        }
      )
    )
  })
})
