// Rules of the pair that have no other test: forms of items, and pieces of an answer one by one.
// It must not know any provider.
import { describe, expect, it } from "vitest"
import type { ChatChunk, Delta, FinishReason } from "../../../src/wire/openai/ChatReply.ts"
import type { ResponsesEvent } from "../../../src/wire/openai/Responses.ts"
import { answerFacts, eventsOf, ownId, translated, translation } from "../../support/responses.ts"

const chunk = (delta: Delta, finish: FinishReason | null = null, more: object = {}): ChatChunk => ({
  id: "chatcmpl-1",
  object: "chat.completion.chunk",
  created: 1,
  model: "m",
  choices: [{ index: 0, delta, finish_reason: finish, ...more }]
})
const usage: ChatChunk = {
  ...chunk({}),
  choices: [],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
}
const lastOf = (events: ReadonlyArray<ResponsesEvent>) => {
  const last = events.at(-1)
  return last !== undefined && "response" in last ? { type: last.type, output: last.response.output } : last
}
const outputOf = (chunks: ReadonlyArray<ChatChunk>, body = {}) => lastOf(eventsOf(chunks, answerFacts(body)))
const message = (content: ReadonlyArray<object>, position = 0) => ({
  id: ownId("msg", position),
  type: "message",
  status: "completed",
  role: "assistant",
  content
})
const text = (words: string) => ({ type: "output_text", text: words, annotations: [], logprobs: [] })

describe("items of a request", () => {
  it("without a type are messages by their role, references by their id (R205)", () => {
    const stored = () => ({ item: { type: "message", role: "user", content: "stored" }, carrier: undefined })
    const input = [{ role: "user", content: "given" }, { id: "msg_1" }, { id: "msg_2", type: null }]
    expect(translation({ input }, { stored }).chat.messages).toEqual([
      { role: "user", content: "given" },
      { role: "user", content: "stored" },
      { role: "user", content: "stored" }
    ])
    expect(translated({ model: "m", input: [{}] })).toMatchObject({ failure: ["invalid_value", "input[0].type"] })
  })

  it("of a custom tool are calls of its stand-in, and their outputs (R215)", () => {
    const input = [
      { type: "custom_tool_call", call_id: "c1", name: "write", input: "some text" },
      { type: "custom_tool_call_output", call_id: "c1", output: "done" }
    ]
    expect(translation({ input, tools: [{ type: "custom", name: "write" }] }).chat.messages).toEqual([
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "c1", type: "function", function: { name: "write", arguments: '{"input":"some text"}' } }]
      },
      { role: "tool", tool_call_id: "c1", content: "done" }
    ])
  })

  it("without an id are kept with one of the response (R201)", () => {
    const { plan } = translation({
      input: [
        { role: "user", content: "a" },
        { id: "own", role: "user", content: "b" }
      ]
    })
    expect(plan.input).toEqual([
      { type: "message", id: ownId("msg", 0x80_00), role: "user", content: "a" },
      { type: "message", id: "own", role: "user", content: "b" }
    ])
  })
})

describe("fields of a request", () => {
  it("need a model from somewhere (R302)", () => {
    expect(translated({ input: "hi" })).toMatchObject({ failure: ["missing_required_parameter", "model"] })
    const prompt = { messages: [], parameters: {}, model: "of-prompt" }
    expect(translated({ input: "hi" }, { prompt })).toMatchObject({ success: { chat: { model: "of-prompt" } } })
    expect(translated({ model: "own", input: "hi" }, { prompt })).toMatchObject({ success: { chat: { model: "own" } } })
  })

  it("ask for no thinking where nothing of it is sent (R304)", () => {
    const { chat } = translation({ include: ["reasoning.encrypted_content"] })
    expect(Object.keys(chat).toSorted()).toEqual(["messages", "model"])
  })

  it("declare functions with absent and null members (R312)", () => {
    const tools = [
      { type: "function", name: "bare" },
      { type: "function", name: "f", parameters: null, strict: null, defer_loading: true, allowed_callers: [] },
      { type: "function", name: "g", strict: true, parameters: { type: "object" }, output_schema: { type: "string" } }
    ]
    expect(translation({ tools }).chat.tools).toEqual([
      { type: "function", function: { name: "bare" } },
      { type: "function", function: { name: "f" } },
      {
        type: "function",
        function: { name: "g", strict: true, parameters: { type: "object" }, response_schema: { type: "string" } }
      }
    ])
  })
})

describe("pieces of an answer", () => {
  it("of several kinds in one chunk come as thinking, text, calls (R509)", () => {
    const all = chunk({
      tool_calls: [{ index: 0, id: "c1", type: "function", function: { name: "f", arguments: "{}" } }],
      content: "text",
      reasoning_content: "thought"
    })
    expect(outputOf([all, chunk({}, "tool_calls"), usage], { reasoning: { summary: "auto" } })).toEqual({
      type: "response.completed",
      output: [
        { id: ownId("rs", 0), type: "reasoning", summary: [{ type: "summary_text", text: "thought" }] },
        message([text("text")], 1),
        { id: ownId("fc", 2), type: "function_call", status: "completed", call_id: "c1", name: "f", arguments: "{}" }
      ]
    })
  })

  it("that are empty make no event, and other choices are not read (R510)", () => {
    const other = {
      ...chunk({ content: "other" }),
      choices: [{ index: 1, delta: { content: "x" }, finish_reason: null }]
    }
    const events = eventsOf(
      [
        chunk({ role: "assistant", content: "" }),
        chunk({ content: "" }),
        other,
        chunk({ content: "a" }, "stop"),
        usage
      ],
      answerFacts()
    )
    expect(events.map(({ type }) => type)).toEqual([
      "response.created",
      "response.in_progress",
      "response.output_item.added",
      "response.content_part.added",
      "response.output_text.delta",
      "response.output_text.done",
      "response.content_part.done",
      "response.output_item.done",
      "response.completed"
    ])
  })

  it("close whatever the finish reason, and the last event follows the usage (R507 R508)", () => {
    for (const finish of ["stop", "tool_calls", "length", "content_filter"] as const) {
      const events = eventsOf([chunk({ content: "a" }), chunk({}, finish), usage], answerFacts())
      const isWhole = finish === "stop" || finish === "tool_calls"
      expect(events.slice(-2).map(({ type }) => type)).toEqual([
        "response.output_item.done",
        isWhole ? "response.completed" : "response.incomplete"
      ])
      expect(events.at(-1)).toMatchObject({ response: { usage: { total_tokens: 2 }, output: [{ type: "message" }] } })
    }
  })

  it("may be none: a whole answer is one empty text, a filtered one has no items (R606)", () => {
    expect(outputOf([chunk({}, "stop"), usage])).toEqual({ type: "response.completed", output: [message([text("")])] })
    expect(outputOf([chunk({}, "content_filter"), usage])).toEqual({ type: "response.incomplete", output: [] })
  })

  it("that are pictures are items of their own next to the text (R525)", () => {
    const image = chunk({ content_parts: [{ type: "image", image: { b64_json: "aW1n", mime_type: "image/png" } }] })
    expect(outputOf([chunk({ content: "Here" }), image, chunk({}, "stop"), usage])).toEqual({
      type: "response.completed",
      output: [
        message([text("Here")]),
        { id: ownId("ig", 1), type: "image_generation_call", status: "completed", result: "aW1n" }
      ]
    })
  })

  it("that are thinking without blocks are a summary (R527)", () => {
    const thought = [chunk({ reasoning_content: "a" }), chunk({ reasoning_content: "b" })]
    const rest = [chunk({ content: "x" }, "stop"), usage]
    expect(outputOf([...thought, ...rest], { reasoning: { summary: "auto" } })).toEqual({
      type: "response.completed",
      output: [
        { id: ownId("rs", 0), type: "reasoning", summary: [{ type: "summary_text", text: "ab" }] },
        message([text("x")], 1)
      ]
    })
    expect(outputOf([...thought, ...rest])).toEqual({ type: "response.completed", output: [message([text("x")])] })
  })

  it("have probabilities with bytes in the text, where they are asked for (R608)", () => {
    const logprobs = { content: [{ token: "é", logprob: -1, bytes: null, top_logprobs: [] }], refusal: null }
    const chunks = [chunk({ content: "é" }, null, { logprobs }), chunk({}, "stop"), usage]
    const asked = { include: ["message.output_text.logprobs"] }
    expect(outputOf(chunks, asked)).toEqual({
      type: "response.completed",
      output: [
        message([{ ...text("é"), logprobs: [{ token: "é", logprob: -1, bytes: [0xc3, 0xa9], top_logprobs: [] }] }])
      ]
    })
    expect(outputOf(chunks)).toEqual({ type: "response.completed", output: [message([text("é")])] })
  })
})
