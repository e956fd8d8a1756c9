// Tests tools, tool choice and structured output for Claude: T1811, T1816 to T1820, T1829.
// Must not open sockets or read clocks.
import { describe, expect, it } from "vitest"
import type { JsonObject } from "../../../src/domain/text/json.ts"
import {
  asked,
  assistant,
  call,
  calling,
  claudeContext,
  functionTool,
  models,
  refusedParam,
  type Rest,
  sent,
  tool,
  user
} from "../../support/claude.ts"

const f = functionTool("f")
const g = functionTool("g")
const choiceOf = (rest: Rest) => asked({ tools: [f, g], ...rest }).body.tool_choice
const named = (name: string) => ({ type: "function", function: { name } })

describe("Claude tool declarations", () => {
  it("a tool's schema is sent unchanged (T1816)", () => {
    const schema: JsonObject = {
      type: "object",
      title: "T",
      description: "root",
      $defs: { a: { const: 1 } },
      properties: {
        x: { $ref: "#/$defs/a" },
        y: { anyOf: [{ type: "null" }, { type: ["string", "number"], default: "" }] }
      },
      required: ["x", "nothing"],
      additionalProperties: false
    }
    const { body } = asked({
      tools: [{ type: "function", function: { name: "f", description: "does", parameters: schema } }]
    })
    expect(body.tools).toStrictEqual([{ name: "f", description: "does", input_schema: schema }])
    expect(Object.keys(body.tools?.[0]?.["input_schema"] ?? {})).toStrictEqual(Object.keys(schema))
    expect(body.tool_choice).toBe(undefined)
  })
  it("a missing root type becomes object; a missing description stays absent (T1816, T320)", () => {
    const tools = [
      { type: "function", function: { name: "f" } },
      { type: "function", function: { name: "g", parameters: { properties: { a: {} } } } }
    ]
    expect(asked({ tools }).body.tools).toStrictEqual([
      { name: "f", input_schema: { type: "object" } },
      { name: "g", input_schema: { type: "object", properties: { a: {} } } }
    ])
  })
  it("a root schema that is not an object is refused (T1816)", () => {
    for (const parameters of [true, "x", []]) {
      expect(refusedParam({ tools: [{ type: "function", function: { name: "f", parameters } }] })).toStrictEqual([
        "tools[0].function.parameters",
        "invalid_schema"
      ])
    }
  })
  it("strict is not sent (T1817)", () => {
    expect(asked({ tools: [{ type: "function", function: { name: "f", strict: true } }] }).body.tools).toStrictEqual([
      { name: "f", input_schema: { type: "object" } }
    ])
  })
  it("Gemini's built-in tools are left out and named, but for one that the choice demands (T1818, W5)", () => {
    for (const [name, asking] of [
      ["code_execution", { type: "code_execution" }],
      ["google_maps", { type: "google_maps" }],
      ["computer_use", functionTool("computer_use", { environment: "ENVIRONMENT_BROWSER" })]
    ] as const) {
      const { body, ignored } = asked({ tools: [f, asking] })
      expect([body.tools?.length, ignored]).toStrictEqual([1, ["tools[1]"]])
      expect([name, ...refusedParam({ tools: [f, asking], tool_choice: named(name) })]).toStrictEqual([
        name,
        "tools[1]",
        "unsupported_tool"
      ])
    }
    expect(refusedParam({ tools: [{ type: "url_context" }], tool_choice: "required" })).toStrictEqual([
      "tool_choice",
      "unsupported_tool"
    ])
    expect(asked({ tools: [functionTool("web_search")] }).body.tools?.map((one) => one["name"])).toStrictEqual([
      "web_search"
    ])
  })
  it("a request without tools has no tools field (T340)", () => {
    expect(Object.keys(asked({ tools: [] }).body)).toStrictEqual(["anthropic_version", "max_tokens", "messages"])
  })
  it("a search is Claude's own, unless it is optional or a function has its name (W46, RB70)", () => {
    const search = { type: "web_search_20250305", name: "web_search" }
    const sentTools = (rest: Parameters<typeof asked>[0]) => {
      const { body, ignored } = asked(rest)
      return [body.tools, ignored]
    }
    expect(sentTools({ web_search_options: { search_context_size: "low" } })).toStrictEqual([
      [search],
      ["web_search_options.search_context_size"]
    ])
    expect(sentTools({ tools: [functionTool("web_search", {})] })).toStrictEqual([[search], []])
    expect(sentTools({ tools: [{ type: "web_search", optional: true }] })).toStrictEqual([undefined, ["tools[0]"]])
    expect(sentTools({ tools: [functionTool("web_search")], web_search_options: {} })[1]).toStrictEqual([
      "web_search_options"
    ])
  })
  it("illegal names are replaced in declarations, choice and history (T1811)", () => {
    const body = sent([user("q"), calling(call("1", "a/b"), call("2", "mcp.x:y")), tool("1", "r"), tool("2", "s")], {
      tools: [functionTool("a/b"), functionTool("7-up")],
      tool_choice: named("a/b")
    })
    expect(body.tools?.map((one) => one["name"])).toStrictEqual(["a_b_3a8e75c1", "7-up"])
    expect(body.tool_choice).toStrictEqual({ type: "tool", name: "a_b_3a8e75c1" })
    expect(body.messages[1]?.content.map((one) => one["name"])).toStrictEqual(["a_b_3a8e75c1", "mcp_x_y_4b5fc5d4"])
  })
  it("legacy functions become tools (T339)", () => {
    const { body, ignored } = asked({ functions: [{ name: "f", description: "d" }], function_call: { name: "f" } })
    expect([body.tools, body.tool_choice, ignored]).toStrictEqual([
      [{ name: "f", description: "d", input_schema: { type: "object" } }],
      { type: "tool", name: "f" },
      []
    ])
    expect(
      asked({ functions: [{ name: "f" }], function_call: "auto", tools: [g], tool_choice: "none" }).ignored
    ).toStrictEqual(["functions", "function_call"])
  })
  it("malformed tools are refused (T329, T338)", () => {
    expect(refusedParam({ tools: [functionTool("")] })).toStrictEqual(["tools[0].function.name", "invalid_value"])
    expect(refusedParam({ tools: [f, f] })).toStrictEqual(["tools[1].function.name", "invalid_value"])
    for (const type of ["mcp", "file_search"])
      expect(refusedParam({ tools: [{ type }] })).toStrictEqual(["tools[0]", "unsupported_tool"])
    expect(asked({ tools: [f, { type: "x" }] }).ignored).toStrictEqual(["tools[1]"])
  })
})

describe("Claude tool choice (T1819)", () => {
  it("tool choice accepts words and names", () => {
    expect(choiceOf({ tool_choice: "auto" })).toStrictEqual({ type: "auto" })
    expect(choiceOf({ tool_choice: "required" })).toStrictEqual({ type: "any" })
    expect(choiceOf({ tool_choice: "none" })).toStrictEqual({ type: "none" })
    expect(choiceOf({ tool_choice: named("g") })).toStrictEqual({ type: "tool", name: "g" })
  })
  it("only the allowed tools are declared (T402)", () => {
    const allowed = (mode: string) => ({ type: "allowed_tools", allowed_tools: { mode, tools: [named("g")] } })
    const auto = asked({ tools: [f, g], tool_choice: allowed("auto") }).body
    expect([auto.tools?.map((one) => one["name"]), auto.tool_choice]).toStrictEqual([["g"], { type: "auto" }])
    const required = asked({ tools: [f, g], tool_choice: allowed("required") }).body
    expect([required.tools?.map((one) => one["name"]), required.tool_choice]).toStrictEqual([["g"], { type: "any" }])
  })
  it("parallel_tool_calls: false disables parallel calls", () => {
    const alone = { disable_parallel_tool_use: true }
    expect(choiceOf({ parallel_tool_calls: false })).toStrictEqual({ type: "auto", ...alone })
    expect(choiceOf({ parallel_tool_calls: false, tool_choice: "required" })).toStrictEqual({ type: "any", ...alone })
    expect(choiceOf({ parallel_tool_calls: false, tool_choice: named("f") })).toStrictEqual({
      type: "tool",
      name: "f",
      ...alone
    })
    expect(choiceOf({ parallel_tool_calls: true })).toBe(undefined)
    const none = asked({ tools: [f], tool_choice: "none", parallel_tool_calls: false })
    expect([none.body.tool_choice, none.ignored]).toStrictEqual([{ type: "none" }, ["parallel_tool_calls"]])
    expect(asked({ parallel_tool_calls: false }).ignored).toStrictEqual(["parallel_tool_calls"])
    expect(asked({ parallel_tool_calls: true }).ignored).toStrictEqual([])
  })
  it("a request without tools has no tool choice (T403, T404)", () => {
    expect(asked({ tool_choice: "auto" }).body.tool_choice).toBe(undefined)
    expect(refusedParam({ tool_choice: "required" })).toStrictEqual(["tool_choice", "invalid_value"])
    expect(refusedParam({ tools: [f], tool_choice: named("h") })).toStrictEqual([
      "tool_choice.function.name",
      "invalid_value"
    ])
  })
  it("undeclared calls of the history get stub declarations that must not be called (T1820)", () => {
    const talk = [user("q"), calling(call("1", "f"), call("2", "a b"), call("3", "f")), tool("1", "r")]
    const body = sent(talk, { tool_choice: "auto" })
    expect(body.tools).toStrictEqual([
      { name: "f", input_schema: { type: "object" } },
      { name: "a_b_10a3f9f2", input_schema: { type: "object" } }
    ])
    expect(body.tool_choice).toStrictEqual({ type: "none" })
    expect(sent(talk, { tools: [g] }).tools?.map((one) => one["name"])).toStrictEqual(["g"])
  })
})

describe("Claude structured output (T1829)", () => {
  const format = (schema: JsonObject, rest: JsonObject = {}) => ({
    type: "json_schema",
    json_schema: { name: "n", schema, ...rest }
  })
  const object: JsonObject = {
    type: "object",
    properties: { a: { type: "string" } },
    required: ["a"],
    additionalProperties: false
  }
  const output = (input_schema: JsonObject, name = "json_output", description = "Gives the answer.") => ({
    name,
    description,
    input_schema
  })
  const of = (rest: Rest) => {
    const { tools, tool_choice } = asked(rest).body
    return { tools, tool_choice }
  }
  const forced = { type: "tool", name: "json_output" }
  it("structured output is a tool that must be called", () => {
    expect(of({ response_format: format(object) })).toStrictEqual({ tools: [output(object)], tool_choice: forced })
    expect(of({ response_format: format(object, { description: "a city" }) }).tools).toStrictEqual([
      output(object, "json_output", "a city")
    ])
    expect(of({ response_format: { type: "json_object" } })).toStrictEqual({
      tools: [output({ type: "object" })],
      tool_choice: forced
    })
    expect(of({ response_format: { type: "text" } })).toStrictEqual({ tools: undefined, tool_choice: undefined })
    expect(of({ response_format: format({ properties: { a: {} } }) }).tools).toStrictEqual([
      output({ type: "object", properties: { a: {} } })
    ])
  })
  it("a root that is not an object goes under value; its definitions move to the new root", () => {
    const wrapped = (schema: JsonObject, rest: JsonObject = {}) =>
      output({ type: "object", properties: { value: schema }, required: ["value"], ...rest })
    const array: JsonObject = { type: "array", items: { type: "string" } }
    expect(of({ response_format: format({ $schema: "x", ...array }) })).toStrictEqual({
      tools: [wrapped(array)],
      tool_choice: forced
    })
    const defs: JsonObject = { $defs: { a: object }, definitions: { b: object } }
    expect(of({ response_format: format({ $ref: "#/$defs/a", ...defs }) }).tools).toStrictEqual([
      wrapped({ $ref: "#/$defs/a" }, defs)
    ])
    for (const root of [
      { type: ["object", "null"] },
      { anyOf: [object] },
      { type: "object", allOf: [object] },
      { type: "string", enum: ["a"] },
      {}
    ]) {
      expect(of({ response_format: format(root) }).tools).toStrictEqual([wrapped(root)])
    }
  })
  it("with client tools any tool may be called; forbidden tools stay forbidden, and a forced call excludes the answer", () => {
    const own = (name: string) => ({ name, input_schema: { type: "object", properties: { a: {} } } })
    const all = [own("f"), output(object)]
    const response_format = format(object)
    expect(of({ tools: [f], response_format })).toStrictEqual({ tools: all, tool_choice: { type: "any" } })
    expect(of({ tools: [f], response_format, tool_choice: "auto" })).toStrictEqual({
      tools: all,
      tool_choice: { type: "any" }
    })
    expect(of({ tools: [f], response_format, tool_choice: "none" })).toStrictEqual({ tools: all, tool_choice: forced })
    expect(of({ tools: [f], response_format, parallel_tool_calls: false }).tool_choice).toStrictEqual({
      type: "any",
      disable_parallel_tool_use: true
    })
    for (const tool_choice of ["required", named("f")]) {
      const { body, ignored } = asked({ tools: [f], response_format, tool_choice })
      expect([body.tools, ignored]).toStrictEqual([[own("f")], ["response_format"]])
    }
  })
  it("a history with calls needs no stubs with structured output", () => {
    expect(
      sent([user("q"), calling(call("1", "f")), tool("1", "r")], { response_format: format(object) }).tools
    ).toStrictEqual([output(object)])
  })
  it("the output tool avoids the names of client tools", () => {
    const tools = [functionTool("json_output"), functionTool("json_output_2")]
    expect(of({ tools, response_format: { type: "json_object" } }).tools?.at(-1)?.["name"]).toBe("json_output_3")
    expect(
      of({ functions: [{ name: "json_output" }], response_format: { type: "json_object" } }).tools?.at(-1)?.["name"]
    ).toBe("json_output_2")
  })
  it("malformed formats are refused (T810)", () => {
    expect(refusedParam({ response_format: { type: "xml" } })).toStrictEqual(["response_format.type", "invalid_value"])
    expect(refusedParam({ response_format: { type: "json_schema" } })).toStrictEqual([
      "response_format.json_schema.schema",
      "invalid_value"
    ])
  })
})

it("calls of undeclared tools are sent unchanged (T506)", () => {
  const { messages } = sent(
    [user("q"), assistant("a", { tool_calls: [call("1", "open_web_browser")] }), tool("1", "r")],
    { tools: [f] },
    claudeContext(models.newest)
  )
  expect(messages[1]?.content[1]).toStrictEqual({ type: "tool_use", id: "1", name: "open_web_browser", input: {} })
})
