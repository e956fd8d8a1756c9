// The events of a message one by one: what a client sees of thinking, text, calls, searches, refusals and ends.
// It must not know any provider.
import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import type { JsonObject } from "../../../src/domain/text/json.ts"
import { messageFromChat, streamFromChat } from "../../../src/translate/messages-to-chat/response.ts"
import { readCarrier } from "../../../src/translate/shared/carrier.ts"
import { runFold } from "../../../src/translate/Translator.ts"
import type { AnswerEvent } from "../../../src/wire/anthropic.ts"
import type { ChatChunk, Delta, FinishReason } from "../../../src/wire/openai/ChatReply.ts"
import { answerFacts, eventsOf, messageId, unseal } from "../../support/messages.ts"

const chunk = (delta: Delta, finish: FinishReason | null = null, beside: object = {}): ChatChunk => ({
  id: "chatcmpl-1",
  object: "chat.completion.chunk",
  created: 1,
  model: "gemini-3.8-flash",
  choices: [{ index: 0, delta, finish_reason: finish, ...beside }]
})
const usage = { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 }
const usageChunk: ChatChunk = { ...chunk({}), choices: [], usage }
const called = (name: string, text: string, index = 0, signature?: string): Delta => ({
  tool_calls: [
    {
      index,
      id: `call-${index}`,
      type: "function",
      function: { name, arguments: text, ...(signature === undefined ? {} : { thought_signature: signature }) }
    }
  ]
})
const more = (text: string, index = 0): Delta => ({ tool_calls: [{ index, function: { arguments: text } }] })
const thought = (text: string): Delta => ({
  reasoning_content: text,
  content_blocks: [{ index: 0, delta: { thinking: text } }]
})
const shown = { thinking: { type: "adaptive" } }
const hidden = { thinking: { type: "adaptive", display: "omitted" } }

const streamed = (body: JsonObject, deltas: ReadonlyArray<Delta>, finish: FinishReason = "stop", beside: object = {}) =>
  eventsOf([...deltas.map((delta) => chunk(delta)), chunk({}, finish, beside), usageChunk], answerFacts(body))

/** Blocks and deltas in short; carriers as the ids they sign. */
const short = (events: ReadonlyArray<AnswerEvent>): ReadonlyArray<unknown> =>
  events.flatMap((event): ReadonlyArray<unknown> => {
    const carried = (sealed: string) => (readCarrier(unseal(sealed) ?? "")?.c ?? []).map(({ id }) => id)
    if (event.type === "content_block_start") {
      const { content_block: block } = event
      if (block.type === "redacted_thinking") return [[event.index, "redacted", carried(block.data)]]
      return [[event.index, block.type]]
    }
    if (event.type === "content_block_delta") {
      const { delta } = event
      if (delta.type === "signature_delta") return [[event.index, "signature", carried(delta.signature)]]
      return [[event.index, Object.values(delta)[1]]]
    }
    return event.type === "content_block_stop" ? [[event.index, "stop"]] : []
  })

const endOf = (events: ReadonlyArray<AnswerEvent>) => events.find((event) => event.type === "message_delta")

describe("the events of a message", () => {
  it("messages: a text, from the first event to the last (D401 D405 D410)", () => {
    expect(streamed({}, [{ role: "assistant", content: "" }, { content: "hi" }, { content: " there" }])).toEqual([
      {
        type: "message_start",
        message: {
          id: messageId,
          type: "message",
          role: "assistant",
          model: "gemini-3.8-flash",
          content: [],
          stop_reason: null,
          stop_sequence: null,
          stop_details: null,
          usage: {
            input_tokens: 3,
            cache_creation_input_tokens: 0,
            cache_read_input_tokens: 0,
            output_tokens: 0
          }
        }
      },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "hi" } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: " there" } },
      { type: "content_block_stop", index: 0 },
      {
        type: "message_delta",
        delta: { stop_reason: "end_turn", stop_sequence: null, stop_details: null },
        usage: { input_tokens: 7, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 5 }
      },
      { type: "message_stop" }
    ])
  })

  it("messages: thoughts end in a carrier, that of the call after them included (D303 D414)", () => {
    const deltas = [thought("I"), thought(" look."), called("look", '{"a":1}', 0, "s0"), called("look", "", 1)]
    expect(short(streamed(shown, deltas, "tool_calls"))).toEqual([
      [0, "thinking"],
      [0, "I"],
      [0, " look."],
      [0, "signature", ["call-0"]],
      [0, "stop"],
      [1, "tool_use"],
      [1, '{"a":1}'],
      [1, "stop"],
      [2, "tool_use"],
      [2, "stop"]
    ])
    expect(short(streamed(hidden, deltas.slice(0, 2)))).toEqual([
      [0, "thinking"],
      [0, "signature", []],
      [0, "stop"]
    ])
  })

  it("messages: a call without a thought before it has its signature in a block of its own (D303)", () => {
    const deltas = [{ content: "ok" }, called("look", "{}", 0, "s0"), called("look", "{}", 1, "s1")]
    expect(short(streamed(shown, deltas, "tool_calls"))).toEqual([
      [0, "text"],
      [0, "ok"],
      [0, "stop"],
      [1, "redacted", ["call-0"]],
      [1, "stop"],
      [2, "tool_use"],
      [2, "{}"],
      [2, "stop"],
      [3, "redacted", ["call-0", "call-1"]],
      [3, "stop"],
      [4, "tool_use"],
      [4, "{}"],
      [4, "stop"]
    ])
    expect(short(streamed(shown, [called("look", "{}")], "tool_calls"))[0]).toEqual([0, "redacted", []])
  })

  it("messages: without thinking asked an answer begins with its text, and carries what its calls need (D305)", () => {
    expect(short(streamed({}, [thought("hm"), { content: "ok" }]))).toEqual([
      [0, "text"],
      [0, "ok"],
      [0, "stop"]
    ])
    expect(short(streamed({}, [thought("hm"), called("look", "{}")], "tool_calls"))).toEqual([
      [0, "tool_use"],
      [0, "{}"],
      [0, "stop"]
    ])
    expect(short(streamed({}, [called("look", "{}", 0, "s0")], "tool_calls"))[0]).toEqual([0, "redacted", ["call-0"]])
  })

  it("messages: pieces of arguments pass as they come, and a second call waits for the first (D411 D412)", () => {
    const deltas = [called("a", '{"x":'), called("b", '{"y"', 1), more("1}"), { content: "\n" }, more(":2}", 1)]
    expect(short(streamed({}, deltas, "tool_calls"))).toEqual([
      [0, "tool_use"],
      [0, '{"x":'],
      [0, "1}"],
      [0, "stop"],
      [1, "tool_use"],
      [1, '{"y"'],
      [1, ":2}"],
      [1, "stop"]
    ])
  })

  it("messages: call ids that clients cannot send back, or have already, are replaced (D308)", () => {
    const history = [
      { role: "user", content: "x" },
      { role: "assistant", content: [{ type: "tool_use", id: "call-1", name: "a", input: {} }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "call-1" }] }
    ]
    const ids = eventsOf(
      [
        chunk({ tool_calls: [{ index: 0, id: "functions.a:0", function: { name: "a", arguments: "{}" } }] }),
        chunk(called("a", "{}", 1)),
        chunk(called("a", "{}", 2), "tool_calls"),
        usageChunk
      ],
      answerFacts({ messages: history })
    ).flatMap((event) =>
      event.type === "content_block_start" && event.content_block.type === "tool_use" ? [event.content_block.id] : []
    )
    expect(ids).toEqual([expect.stringMatching(/^toolu_[0-9a-f]{32}$/), expect.stringMatching(/^toolu_/), "call-2"])
  })

  it.each([
    ["stop", [{ content: "x" }], "end_turn"],
    ["stop", [called("a", "{}")], "tool_use"],
    ["tool_calls", [{ content: "x" }], "end_turn"],
    ["length", [{ content: "x" }], "max_tokens"],
    ["content_filter", [], "refusal"]
  ] as const)("messages: the end %s of %j is %s (D404)", (finish, deltas, wanted) => {
    expect(endOf(streamed({}, deltas, finish))).toMatchObject({ delta: { stop_reason: wanted } })
  })

  it("messages: a refusal is a text, and the reason of the end (D403)", () => {
    const events = streamed({}, [{ refusal: "No." }])
    expect(short(events)).toEqual([
      [0, "text"],
      [0, "No."],
      [0, "stop"]
    ])
    expect(endOf(events)).toMatchObject({
      delta: { stop_reason: "refusal", stop_details: { type: "refusal", category: null, explanation: "No." } }
    })
  })

  it("messages: cached tokens are counted apart from the prompt (D405)", () => {
    const counted = {
      prompt_tokens: 100,
      completion_tokens: 20,
      total_tokens: 120,
      prompt_tokens_details: { cached_tokens: 70, cache_write_tokens: 10 },
      completion_tokens_details: { reasoning_tokens: 5 },
      searches: 2
    }
    const events = eventsOf([chunk({ content: "x" }, "stop"), { ...usageChunk, usage: counted }], answerFacts())
    expect(endOf(events)).toMatchObject({
      usage: {
        input_tokens: 20,
        cache_creation_input_tokens: 10,
        cache_read_input_tokens: 70,
        output_tokens: 20,
        output_tokens_details: { thinking_tokens: 5 },
        server_tool_use: { web_search_requests: 2 }
      }
    })
  })

  it("messages: a search is a call of the server and its results, after the text (D406)", () => {
    const groundingMetadata = {
      webSearchQueries: ["q1", "q2"],
      groundingChunks: [{ web: { uri: "https://a.example", title: "A" } }]
    }
    const blocks = streamed({}, [{ content: "x" }], "stop", { groundingMetadata }).flatMap((event) =>
      event.type === "content_block_start" ? [event.content_block] : []
    )
    const id = `srvtoolu_mg${messageId.slice(4)}`
    const caller = { type: "direct" }
    const found = {
      type: "web_search_result",
      url: "https://a.example",
      title: "A",
      encrypted_content: "mgr1.",
      page_age: null
    }
    expect(blocks).toEqual([
      { type: "text", text: "" },
      { type: "server_tool_use", id: `${id}0`, name: "web_search", input: { query: "q1" }, caller },
      { type: "web_search_tool_result", tool_use_id: `${id}0`, content: [found], caller },
      { type: "server_tool_use", id: `${id}1`, name: "web_search", input: { query: "q2" }, caller },
      { type: "web_search_tool_result", tool_use_id: `${id}1`, content: [], caller }
    ])
  })

  it("messages: a stream that ends without its reason fails (D415)", () => {
    expect(runFold(streamFromChat(answerFacts()), [chunk({ content: "x" })]).at(-1)).toMatchObject({
      _tag: "StreamFailed",
      reason: { _tag: "BadReply", kind: "truncated" }
    })
  })
})

describe("a whole chat as a message", () => {
  const whole = (text: string, finish: FinishReason) =>
    messageFromChat(
      {
        id: "chatcmpl-1",
        object: "chat.completion",
        created: 1,
        model: "gemini-3.8-flash",
        choices: [
          {
            index: 0,
            message: {
              role: "assistant",
              content: null,
              refusal: null,
              tool_calls: [{ id: "call-0", type: "function", function: { name: "a", arguments: text } }]
            },
            logprobs: null,
            finish_reason: finish
          }
        ],
        usage
      },
      answerFacts()
    )
  const inputOf = (text: string, finish: FinishReason = "length") =>
    Result.match(whole(text, finish), {
      onFailure: (reason) => ("kind" in reason ? reason.kind : reason._tag),
      onSuccess: ({ content: [block] }) => JSON.stringify(block !== undefined && "input" in block ? block.input : null)
    })

  it("messages: numbers of arguments are exact (D402)", () => {
    expect(inputOf('{"n":12345678901234567890}', "tool_calls")).toBe('{"n":12345678901234567890}')
  })

  it.each([
    ['{"a":1,"b":"tex', '{"a":1,"b":"tex"}'],
    ['{"a":[1,{"b":tr', '{"a":[1,{}]}'],
    ['{"a":1,"b"', '{"a":1}'],
    ['{"a":"x\\', "{}"],
    ["not json", "{}"],
    ["", "{}"]
  ])("messages: arguments that were cut are closed: %s (D402)", (text, wanted) => {
    expect(inputOf(text)).toBe(wanted)
  })

  it("messages: arguments that are no JSON object fail the answer (D402)", () => {
    expect(inputOf("not json", "tool_calls")).toBe("malformed_call")
  })
})
