// Calls and results of a history: who answers whom, what is said for the unanswered, numbers of any size.
// It must not know signatures or media forms.
import * as fc from "fast-check"
import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import { parseArguments, parseResult } from "../../src/translate/shared/chat-request/toolCalls.ts"
import type { ContentOut } from "../../src/wire/google/GenerateContent.ts"
import type { ChatMessage } from "../../src/wire/openai/Chat.ts"
import {
  assistant,
  call,
  calling,
  middle,
  modern,
  older,
  refused,
  sent,
  tool,
  user,
  vertex
} from "../support/geminiMessages.ts"

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

describe("pairing", () => {
  it("T501 a result carries the name of its call, as it goes upstream", () => {
    expect(
      answers([calling(call("1", "get weather")), tool("1", "r")]).map(
        (content) => content.parts[0]?.functionResponse?.name
      )
    ).toStrictEqual([sent([user("go"), calling(call("1", "get weather"))]).contents[1]?.parts[0]?.functionCall?.name])
  })
  it("T502 an id used twice belongs to the nearest turn before", () => {
    expect(answers([calling(call("1", "f")), tool("1", "a"), calling(call("1", "g")), tool("1", "b")])).toStrictEqual([
      results(["f", { output: "a" }]),
      results(["g", { output: "b" }])
    ])
  })
  it("T503 results stand in the order of the calls", () => {
    expect(
      answers([calling(call("1", "f"), call("2", "g"), call("3", "h")), tool("3", "c"), tool("1", "a"), tool("2", "b")])
    ).toStrictEqual([results(["f", { output: "a" }], ["g", { output: "b" }], ["h", { output: "c" }])])
  })
  it("T504 two calls of one function go by id, and by order where the ids are one", () => {
    expect(answers([calling(call("1"), call("2")), tool("2", "b"), tool("1", "a")])).toStrictEqual([
      results(["f", { output: "a" }], ["f", { output: "b" }])
    ])
    expect(answers([calling(call("1"), call("1")), tool("1", "a"), tool("1", "b")])).toStrictEqual([
      results(["f", { output: "a" }], ["f", { output: "b" }])
    ])
  })
  it("L13 a second result of one call is kept", () => {
    expect(answers([calling(call("1")), tool("1", "a"), tool("1", "b")])).toStrictEqual([
      results(["f", { output: "ab" }])
    ])
  })
  it("T505 ids travel from Gemini 3 on, on both products", () => {
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
  it("T506 functions nobody declared are sent as they are", () => {
    expect(sent([user("go"), calling(call("1", "go_to_url"))]).contents[1]?.parts).toStrictEqual([
      { functionCall: { name: "go_to_url", args: {} } }
    ])
  })
  it("T509 what was never answered gets a stock result, if the talk went on", () => {
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
  it("T510 B62 B63 results without a call", () => {
    expect(refused([user("a"), calling(call("1")), tool("2", "r")])).toStrictEqual([
      "messages[2].tool_call_id",
      "unknown_tool_call_id"
    ])
    expect(refused([user("a"), tool("1", "r"), calling(call("1"))])).toStrictEqual([
      "messages[1].tool_call_id",
      "unknown_tool_call_id"
    ])
    for (const id of [undefined, null, "", 7]) {
      expect(refused([user("a"), calling(call("1")), tool(id, "r")])).toStrictEqual([
        "messages[2].tool_call_id",
        "missing_required_parameter"
      ])
    }
  })
  it("T511 a call without id gets one by its place, unless a result needs it", () => {
    const nameless = { type: "function", function: { name: "f", arguments: "{}" } }
    expect(
      sent([user("a"), calling(nameless, nameless)], modern).contents[1]?.parts.map((part) => part.functionCall?.id)
    ).toStrictEqual(["call-0", "call-1"])
    expect(answers([calling(call("1"), nameless), tool("1", "r")])).toStrictEqual([
      results(["f", { output: "r" }], ["f", { output: noResult }])
    ])
    expect(refused([user("a"), calling(call("1"), nameless), tool("call-1", "r")])).toStrictEqual([
      "messages[1].tool_calls[1].id",
      "invalid_value"
    ])
    expect(refused([user("a"), calling({ ...nameless, id: "" }), tool("x", "r")])).toStrictEqual([
      "messages[1].tool_calls[0].id",
      "invalid_value"
    ])
  })
  it("T516 words between calls and results come after the results", () => {
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
  it("T111 a legacy result answers the nearest open call of its name", () => {
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
    expect(refused([user("a"), legacy("f"), result("g", "r")])).toStrictEqual([
      "messages[2].name",
      "unknown_tool_call_id"
    ])
  })
  it("a talk of the greatest length, with all results after all calls", () => {
    const ids = Array.from({ length: 4_999 }, (_, index) => `${index}`)
    expect(answers([...ids.map((id) => calling(call(id))), ...ids.map((id) => tool(id, `r${id}`))])).toStrictEqual(
      ids.map((id) => results(["f", { output: `r${id}` }]))
    )
  })
})

describe("arguments", () => {
  const argsOf = (args: unknown) =>
    sent([user("a"), calling(call("1", "f", args))]).contents[1]?.parts[0]?.functionCall?.args
  const path = "messages[1].tool_calls[0]"
  it("T512 absent and empty count as {}", () => {
    for (const args of ["", " ", null, undefined, "{}"]) expect(argsOf(args)).toStrictEqual({})
  })
  it("T512 B65 other than the JSON text of an object is refused", () => {
    const fault = (args: unknown) => refused([user("a"), calling(call("1", "f", args))])
    for (const args of ["{", "{'a':1}", "[]", "1", '"x"', "null", "12345678901234567890", '{"a":1} x']) {
      expect([args, ...fault(args)]).toStrictEqual([args, `${path}.function.arguments`, "invalid_json_arguments"])
    }
    for (const args of [{}, 7, true, []])
      expect(fault(args)).toStrictEqual([`${path}.function.arguments`, "invalid_type"])
  })
  it("B17 depth and width inside arguments have their bounds", () => {
    const nested = (depth: number) => `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`
    expect(Result.isSuccess(parseArguments(nested(128)))).toBe(true)
    expect(Result.isSuccess(parseArguments(nested(129)))).toBe(false)
    expect(Result.isSuccess(parseArguments(`{"a":${"[".repeat(5_000_000)}`))).toBe(false)
    expect(Result.isSuccess(parseArguments(`{"a":[${"1,".repeat(600_000)}1]}`))).toBe(false)
    expect(parseResult(nested(5_000))).toStrictEqual({ output: nested(5_000) })
  })
  it("T513 L27 integers of any size keep their digits", () => {
    expect(
      JSON.stringify(argsOf('{"id":12345678901234567890,"list":[-98765432109876543210],"small":7,"float":1.5}'))
    ).toBe('{"id":12345678901234567890,"list":[-98765432109876543210],"small":7,"float":1.5}')
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }), (value) => {
        const text = `{"value":${value}}`
        expect(JSON.stringify(Result.getOrThrow(parseArguments(text)))).toBe(text)
        expect(JSON.stringify(parseResult(text))).toBe(text)
      })
    )
  })
  it("T517 B21 keys of prototypes are data", () => {
    for (const digits of ["1", "12345678901234567890"]) {
      const text = `{"__proto__":{"polluted":${digits}},"constructor":{"prototype":1}}`
      expect(JSON.stringify(argsOf(text))).toBe(text)
      expect(JSON.stringify(parseResult(text))).toBe(text)
    }
    expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false)
  })
  it("B64 shapes of calls", () => {
    const fault = (tool_calls: unknown) => refused([user("a"), assistant(null, { tool_calls })])
    expect(fault({})).toStrictEqual(["messages[1].tool_calls", "invalid_value"])
    expect(fault(Array.from({ length: 129 }, (_, index) => call(`${index}`)))).toStrictEqual([
      "messages[1].tool_calls",
      "invalid_value"
    ])
    for (const item of [null, "x", {}, { id: "1", function: null }])
      expect(fault([item])).toStrictEqual([`${path}.function`, "invalid_value"])
    for (const name of [undefined, "", 7])
      expect(fault([{ id: "1", function: { name } }])).toStrictEqual([`${path}.function.name`, "invalid_value"])
    expect(fault([{ ...call("1"), id: 7 }])).toStrictEqual([`${path}.id`, "invalid_value"])
    expect(fault([call("1"), call("2", "f", "{")])).toStrictEqual([
      "messages[1].tool_calls[1].function.arguments",
      "invalid_json_arguments"
    ])
    expect(refused([user("a"), assistant(null, { function_call: "f" })])).toStrictEqual([
      "messages[1].function_call",
      "invalid_type"
    ])
  })
})

describe("results", () => {
  it("T507 a JSON object is the response, anything else stays text", () => {
    expect(responseOf('{"a":[1]}')).toStrictEqual({ a: [1] })
    expect(responseOf(' {"a":1}\n')).toStrictEqual({ a: 1 })
    for (const text of ["[1]", "7", "12345678901234567890", '"x"', "null", "{broken", "plain", " "])
      expect(responseOf(text)).toStrictEqual({ output: text })
  })
  it("T508 errors are kept; nothing is an empty output", () => {
    expect(responseOf('{"error":"x"}')).toStrictEqual({ error: "x" })
    for (const content of ["", null, undefined, []]) expect(responseOf(content)).toStrictEqual({ output: "" })
    expect(responseOf("{}")).toStrictEqual({})
  })
  it("T515 texts of one result are one text", () => {
    expect(
      responseOf([
        { type: "text", text: '{"a"' },
        { type: "text", text: ":1}" }
      ])
    ).toStrictEqual({ a: 1 })
  })
  it("T120 B49 B53 shapes of results", () => {
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
  it("T514 images inside the response from Gemini 3 on, what it cannot hold behind it", () => {
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
  it("T514 images behind the response on older models", () => {
    expect(
      answers([calling(call("1")), tool("1", [png, { type: "text", text: "see" }]), user("next")], older)
    ).toStrictEqual([results(["f", { output: "see" }]), { role: "user", parts: [pngPart, { text: "next" }] }])
  })
})
