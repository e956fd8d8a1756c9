// Tests calls and results of a history: pairing, stock results, integers of any size.
// Must not test signatures or media forms.
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { parseArguments, parseResult } from "../../../src/translate/shared/chat-request/toolCalls.ts"
import type { ContentOut } from "../../../src/wire/google.ts"
import type { ChatMessage } from "../../../src/wire/openai/Chat.ts"
import {
  assistant,
  call,
  calling,
  geminiFrom3,
  middle,
  modern,
  older,
  refused,
  sent,
  tool,
  user,
  vertex
} from "../../support/geminiMessages.ts"

const noResult = "No result was returned; see the next message."
const results = (...rows: ReadonlyArray<readonly [name: string, response: object, id?: string]>): ContentOut => ({
  role: "user",
  parts: rows.map(([name, response, id]) => ({
    functionResponse: { name, response: { ...response }, ...(id === undefined ? {} : { id }) }
  }))
})
/** The user contents after the opening one. */
const answers = (messages: ReadonlyArray<ChatMessage>, model = middle) =>
  sent([user("go"), ...messages], model)
    .contents.slice(1)
    .filter(({ role }) => role === "user")
const responseOf = (content: unknown) =>
  answers([calling(call("1")), tool("1", content)])[0]?.parts[0]?.functionResponse?.response

describe("pairing calls and results", () => {
  it("a result carries the upstream name of its call (T501)", () => {
    expect(
      answers([calling(call("1", "get weather")), tool("1", "r")]).map(
        (content) => content.parts[0]?.functionResponse?.name
      )
    ).toStrictEqual([sent([user("go"), calling(call("1", "get weather"))]).contents[1]?.parts[0]?.functionCall?.name])
  })
  it("a repeated id refers to the nearest turn before the result (T502)", () => {
    expect(answers([calling(call("1", "f")), tool("1", "a"), calling(call("1", "g")), tool("1", "b")])).toStrictEqual([
      results(["f", { output: "a" }]),
      results(["g", { output: "b" }])
    ])
  })
  it("results are sent in the order of the calls (T503)", () => {
    expect(
      answers([calling(call("1", "f"), call("2", "g"), call("3", "h")), tool("3", "c"), tool("1", "a"), tool("2", "b")])
    ).toStrictEqual([results(["f", { output: "a" }], ["g", { output: "b" }], ["h", { output: "c" }])])
  })
  it("two calls of one function are paired by id, and by order with equal ids (T504)", () => {
    expect(answers([calling(call("1"), call("2")), tool("2", "b"), tool("1", "a")])).toStrictEqual([
      results(["f", { output: "a" }], ["f", { output: "b" }])
    ])
    expect(answers([calling(call("1"), call("1")), tool("1", "a"), tool("1", "b")])).toStrictEqual([
      results(["f", { output: "a" }], ["f", { output: "b" }])
    ])
  })
  it("a second result of one call is kept (L13)", () => {
    expect(answers([calling(call("1")), tool("1", "a"), tool("1", "b")])).toStrictEqual([
      results(["f", { output: "ab" }])
    ])
  })
  it("ids are sent from Gemini 3 on, on both products (T505)", () => {
    const messages = [user("go"), calling(call("abc")), tool("abc", "r")]
    for (const options of [{}, vertex]) {
      expect(sent(messages, modern, options).contents.slice(1)).toStrictEqual([
        {
          role: "model",
          parts: [
            { functionCall: { name: "f", args: {}, id: "abc" }, thoughtSignature: "skip_thought_signature_validator" }
          ]
        },
        results(["f", { output: "r" }, "abc"])
      ])
    }
    expect(sent(messages, middle).contents.slice(1)).toStrictEqual([
      { role: "model", parts: [{ functionCall: { name: "f", args: {} } }] },
      results(["f", { output: "r" }])
    ])
  })
  it("from Gemini 3 on each call has one result of its id and name, in its order (M-410)", () => {
    const names = ["f", "g", "h", "i"]
    const shuffled = fc
      .integer({ min: 1, max: names.length })
      .chain((count) => fc.shuffledSubarray(names.slice(0, count)).map((told) => ({ count, told })))
    fc.assert(
      fc.property(fc.constantFrom(...geminiFrom3), shuffled, ({ id, kinds }, { count, told }) => {
        const calls = names.slice(0, count).map((name) => call(`id-${name}`, name))
        const messages = [user("go"), calling(...calls), ...told.map((name) => tool(`id-${name}`, name)), user("on")]
        const expected = names
          .slice(0, count)
          .map((name) => [name, { output: told.includes(name) ? name : noResult }, `id-${name}`] as const)
        for (const kind of kinds) {
          const [, asked, answered] = sent(messages, id, { kind }).contents
          expect(asked?.parts.map(({ functionCall }) => [functionCall?.name, functionCall?.id])).toStrictEqual(
            expected.map(([name, , callId]) => [name, callId])
          )
          expect(answered).toStrictEqual(results(...expected))
        }
      })
    )
  })
  it("calls of undeclared functions are sent unchanged (T506)", () => {
    expect(sent([user("go"), calling(call("1", "go_to_url"))]).contents[1]?.parts).toStrictEqual([
      { functionCall: { name: "go_to_url", args: {} } }
    ])
  })
  it("a call without an answer gets a stock result if the conversation continues (T509)", () => {
    expect(answers([calling(call("1", "f"), call("2", "g")), tool("2", "b"), user("next")])).toStrictEqual([
      results(["f", { output: noResult }], ["g", { output: "b" }]),
      { role: "user", parts: [{ text: "next" }] }
    ])
    expect(answers([calling(call("1")), user("next")])).toStrictEqual([
      results(["f", { output: noResult }]),
      { role: "user", parts: [{ text: "next" }] }
    ])
    expect(answers([calling(call("1"), call("2")), tool("2", "b")])).toStrictEqual([
      results(["f", { output: noResult }], ["f", { output: "b" }])
    ])
    expect(answers([calling(call("1"))])).toStrictEqual([])
    expect(answers([calling(call("1")), calling(call("2"))])).toStrictEqual([results(["f", { output: noResult }])])
  })
  it("a result without a call is text of the user, one before its call moves to it (T510, B62, B63, W28)", () => {
    const missing = results(["f", { output: noResult }])
    expect(answers([calling(call("1")), tool("2", "r")])).toStrictEqual([
      missing,
      { role: "user", parts: [{ text: "Result of 2:\nr" }] }
    ])
    expect(answers([tool("1", "r"), calling(call("1"))])).toStrictEqual([results(["f", { output: "r" }])])
    for (const id of [undefined, null, "", 7])
      expect(answers([calling(call("1")), { ...tool(id, "r"), name: "other" }])).toStrictEqual([
        missing,
        { role: "user", parts: [{ text: "Result of other:\nr" }] }
      ])
  })
  it("a result without an id answers the next call of its name (W28)", () => {
    expect(answers([calling(call("1", "f"), call("2", "g")), { ...tool(undefined, "r"), name: "g" }])).toStrictEqual([
      results(["f", { output: noResult }], ["g", { output: "r" }])
    ])
  })
  it("a call without an id gets one by its place, and is answered by the next result (T511, W28)", () => {
    const nameless = { type: "function", function: { name: "f", arguments: "{}" } }
    expect(
      sent([user("a"), calling(nameless, nameless)], modern).contents[1]?.parts.map((part) => part.functionCall?.id)
    ).toStrictEqual(["call-1-0", "call-1-1"])
    expect(answers([calling(call("1"), nameless), tool("1", "r")])).toStrictEqual([
      results(["f", { output: "r" }], ["f", { output: noResult }])
    ])
    for (const id of ["call-1", "x", undefined])
      expect(answers([calling(call("1"), nameless), tool(id, "r"), tool("1", "s")])).toStrictEqual([
        results(["f", { output: "s" }], ["f", { output: "r" }])
      ])
  })
  it("texts between calls and results come after the results (T516)", () => {
    expect(
      answers([
        calling(call("1"), call("2")),
        user("wait"),
        tool("1", "a"),
        assistant("hm"),
        tool("2", "b"),
        user("go on")
      ])
    ).toStrictEqual([
      results(["f", { output: "a" }], ["f", { output: "b" }]),
      { role: "user", parts: [{ text: "wait" }] },
      { role: "user", parts: [{ text: "go on" }] }
    ])
  })
  it("a legacy result answers the nearest open call of its name (T111)", () => {
    const legacy = (name: string) => assistant(null, { function_call: { name, arguments: '{"x":1}' } })
    const result = (name: string, content: string): ChatMessage => ({ role: "function", name, content })
    expect(sent([user("a"), legacy("f"), result("f", "r"), user("b")]).contents).toStrictEqual([
      { role: "user", parts: [{ text: "a" }] },
      { role: "model", parts: [{ functionCall: { name: "f", args: { x: 1 } } }] },
      results(["f", { output: "r" }]),
      { role: "user", parts: [{ text: "b" }] }
    ])
    expect(answers([legacy("f"), legacy("f"), result("f", "second"), result("f", "first")])).toStrictEqual([
      results(["f", { output: "first" }]),
      results(["f", { output: "second" }])
    ])
    expect(sent([user("a"), result("g", "r")]).contents).toStrictEqual([
      { role: "user", parts: [{ text: "a" }, { text: "Result of g:\nr" }] }
    ])
  })
  it("a conversation of maximum length is paired, with all results after all calls", () => {
    const ids = Array.from({ length: 4_999 }, (_, index) => `${index}`)
    expect(answers([...ids.map((id) => calling(call(id))), ...ids.map((id) => tool(id, `r${id}`))])).toStrictEqual(
      ids.map((id) => results(["f", { output: `r${id}` }]))
    )
  })
})

describe("tool call arguments", () => {
  const argsOf = (args: unknown) =>
    sent([user("a"), calling(call("1", "f", args))]).contents[1]?.parts[0]?.functionCall?.args
  const path = "messages[1].tool_calls[0]"
  it("absent and empty arguments count as {} (T512)", () => {
    for (const args of ["", " ", null, undefined, "{}"]) expect(argsOf(args)).toStrictEqual({})
  })
  it("arguments are read as far as they can be, and are text otherwise (T512, B65, W27)", () => {
    for (const text of ["{", "[]", "1", '"x"', "null", "12345678901234567890", '{"a":1} x', '{"city": "Par'])
      expect(argsOf(text)).toStrictEqual({ _raw: text })
    for (const [given, read] of [
      ["{'a': 'it\\'s \"x\"', 'b': None, 'c': [True, False,],}", { a: 'it\'s "x"', b: null, c: [true, false] }],
      ['{"a": "None, \'x\',}",}', { a: "None, 'x',}" }],
      [JSON.stringify('{"a":1}'), { a: 1 }],
      [{ a: 1 }, { a: 1 }],
      [{}, {}],
      [7, { _raw: "7" }],
      [true, { _raw: "true" }],
      [[], { _raw: "[]" }]
    ] as const)
      expect(argsOf(given)).toStrictEqual(read)
  })
  it("depth and width of arguments have bounds (B17)", () => {
    const nested = (depth: number) => `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`
    expect(parseArguments(nested(128)).isRepaired).toBe(false)
    for (const text of [nested(129), `{"a":${"[".repeat(5_000_000)}`, `{"a":[${"1,".repeat(600_000)}1]}`])
      expect(parseArguments(text)).toStrictEqual({ args: { _raw: text }, isRepaired: true })
    expect(parseResult(nested(5_000))).toStrictEqual({ output: nested(5_000) })
  })
  it("integers of any size keep their digits (T513, L27)", () => {
    expect(
      JSON.stringify(argsOf('{"id":12345678901234567890,"list":[-98765432109876543210],"small":7,"float":1.5}'))
    ).toBe('{"id":12345678901234567890,"list":[-98765432109876543210],"small":7,"float":1.5}')
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }), (value) => {
        const text = `{"value":${value}}`
        expect(JSON.stringify(parseArguments(text).args)).toBe(text)
        expect(JSON.stringify(parseResult(text))).toBe(text)
      })
    )
  })
  it("prototype keys are data (T517, B21)", () => {
    for (const digits of ["1", "12345678901234567890"]) {
      const text = `{"__proto__":{"polluted":${digits}},"constructor":{"prototype":1}}`
      expect(JSON.stringify(argsOf(text))).toBe(text)
      expect(JSON.stringify(parseResult(text))).toBe(text)
    }
    expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false)
  })
  it("malformed calls are refused (B64)", () => {
    const fault = (tool_calls: unknown) => refused([user("a"), assistant(null, { tool_calls })])
    expect(fault({})).toStrictEqual(["messages[1].tool_calls", "invalid_value"])
    expect(fault(Array.from({ length: 1_025 }, (_, index) => call(`${index}`)))).toStrictEqual([
      "messages[1].tool_calls",
      "invalid_value"
    ])
    for (const item of [null, "x", {}, { id: "1", function: null }])
      expect(fault([item])).toStrictEqual([`${path}.function`, "invalid_value"])
    for (const name of [undefined, "", 7])
      expect(fault([{ id: "1", function: { name } }])).toStrictEqual([`${path}.function.name`, "invalid_value"])
    expect(fault([{ ...call("1"), id: 7 }])).toStrictEqual([`${path}.id`, "invalid_value"])
    expect(refused([user("a"), assistant(null, { function_call: "f" })])).toStrictEqual([
      "messages[1].function_call",
      "invalid_type"
    ])
  })
})

describe("tool results", () => {
  it("a JSON object is the response, any other text stays text (T507)", () => {
    expect(responseOf('{"a":[1]}')).toStrictEqual({ a: [1] })
    expect(responseOf(' {"a":1}\n')).toStrictEqual({ a: 1 })
    for (const text of ["[1]", "7", "12345678901234567890", '"x"', "null", "{broken", "plain", " "])
      expect(responseOf(text)).toStrictEqual({ output: text })
  })
  it("errors are kept, and no content becomes an empty output (T508)", () => {
    expect(responseOf('{"error":"x"}')).toStrictEqual({ error: "x" })
    for (const content of ["", null, undefined, []]) expect(responseOf(content)).toStrictEqual({ output: "" })
    expect(responseOf("{}")).toStrictEqual({})
  })
  it("the texts of one result become one text (T515)", () => {
    expect(
      responseOf([
        { type: "text", text: '{"a"' },
        { type: "text", text: ":1}" }
      ])
    ).toStrictEqual({ a: 1 })
  })
  it("malformed results are refused (T120, B49, B53)", () => {
    expect(refused([user("a"), calling(call("1")), tool("1", 7)])).toStrictEqual([
      "messages[2].content",
      "invalid_type"
    ])
    expect(refused([user("a"), calling(call("1")), tool("1", [{ type: "text" }])])).toStrictEqual([
      "messages[2].content[0].text",
      "invalid_type"
    ])
  })

  const png = { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } }
  const wav = { type: "image_url", image_url: { url: "data:audio/wav;base64,AAAA", detail: "low" } }
  const pngPart = { inlineData: { mimeType: "image/png", data: "AAAA" } }
  const wavPart = { inlineData: { mimeType: "audio/wav", data: "AAAA" } }
  const link = { type: "image_url", image_url: { url: "https://b.example/x.png" } }
  it("images go inside the response from Gemini 3 on; media it cannot contain follow it (T514)", () => {
    const contents = answers(
      [
        calling(call("1"), call("2")),
        tool("2", [wav, link]),
        tool("1", [{ type: "text", text: "see" }, png]),
        user("next")
      ],
      modern
    )
    expect(contents).toStrictEqual([
      {
        role: "user",
        parts: [
          { functionResponse: { name: "f", response: { output: "see" }, id: "1", parts: [pngPart] } },
          { functionResponse: { name: "f", response: { output: "" }, id: "2" } }
        ]
      },
      {
        role: "user",
        parts: [
          { ...wavPart, mediaResolution: { level: "MEDIA_RESOLUTION_LOW" } },
          { fileData: { mimeType: "image/png", fileUri: "https://b.example/x.png" } },
          { text: "next" }
        ]
      }
    ])
  })
  it("images follow the response on older models (T514)", () => {
    expect(
      answers([calling(call("1")), tool("1", [png, { type: "text", text: "see" }]), user("next")], older)
    ).toStrictEqual([results(["f", { output: "see" }]), { role: "user", parts: [pngPart, { text: "next" }] }])
  })
})
