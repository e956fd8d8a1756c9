// The events of an answer one by one: what a client sees of thinking, text, calls, pictures, searches, code and failures.
// It must not know any provider.
import { describe, expect, it } from "vitest"
import type { JsonObject } from "../../../src/domain/text/json.ts"
import { type AnswerFailed, failureCode, failureMessage } from "../../../src/translate/responses-to-chat/response.ts"
import { readCarrier } from "../../../src/translate/shared/carrier.ts"
import type { ChatChunk, Delta, FinishReason } from "../../../src/wire/openai/ChatReply.ts"
import type { ResponsesEvent } from "../../../src/wire/openai/Responses.ts"
import { answerFacts, eventsOf, ownId, responseId, unseal } from "../../support/responses.ts"

const chunk = (delta: Delta, finish: FinishReason | null = null, beside: object = {}): ChatChunk => ({
  id: "chatcmpl-1",
  object: "chat.completion.chunk",
  created: 1,
  model: "gemini-2.5-flash",
  choices: [{ index: 0, delta, finish_reason: finish, ...beside }]
})
const usage = { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 }
const usageChunk: ChatChunk = { ...chunk({}), choices: [], usage }
const called = (name: string, text: string, index = 0): Delta => ({
  tool_calls: [{ index, id: `call-${index}`, type: "function", function: { name, arguments: text } }]
})

const streamed = (body: JsonObject, deltas: ReadonlyArray<Delta>, finish: FinishReason = "stop", beside: object = {}) =>
  eventsOf([...deltas.map((delta) => chunk(delta)), chunk({}, finish, beside), usageChunk], answerFacts(body))

/** Without numbers, and without the response that begins and ends a stream. */
const inside = (events: ReadonlyArray<ResponsesEvent>) =>
  events.flatMap(({ sequence_number: _number, ...event }) => ("response" in event ? [] : [event]))

const outputOf = (events: ReadonlyArray<ResponsesEvent>) => {
  const last = events.at(-1)
  return last !== undefined && "response" in last ? last.response.output : undefined
}

describe("the events of an answer", () => {
  it("of a text, from the first to the last (R504 R506 R601 R602 R609)", () => {
    const response = {
      id: responseId,
      object: "response",
      created_at: 1_700_000_000,
      completed_at: null,
      status: "in_progress",
      error: null,
      incomplete_details: null,
      model: "gemini-2.5-flash",
      output: [],
      usage: null,
      background: false,
      instructions: null,
      max_output_tokens: null,
      max_tool_calls: null,
      parallel_tool_calls: true,
      previous_response_id: null,
      prompt_cache_key: null,
      reasoning: { effort: null, summary: null },
      safety_identifier: null,
      service_tier: "default",
      store: true,
      temperature: 1,
      text: { format: { type: "text" } },
      tool_choice: "auto",
      tools: [],
      top_logprobs: 0,
      top_p: 1,
      truncation: "disabled",
      user: null,
      metadata: {},
      frequency_penalty: 0,
      presence_penalty: 0
    }
    const id = ownId("msg", 0)
    const at = { item_id: id, output_index: 0, content_index: 0 }
    const part = { type: "output_text", text: "hi", annotations: [], logprobs: [] }
    const item = { id, type: "message", status: "completed", role: "assistant", content: [part] }
    expect(streamed({}, [{ role: "assistant", content: "" }, { content: "hi" }])).toEqual([
      { type: "response.created", sequence_number: 0, response },
      { type: "response.in_progress", sequence_number: 1, response },
      {
        type: "response.output_item.added",
        sequence_number: 2,
        output_index: 0,
        item: { ...item, status: "in_progress", content: [] }
      },
      { type: "response.content_part.added", sequence_number: 3, ...at, part: { ...part, text: "" } },
      { type: "response.output_text.delta", sequence_number: 4, ...at, delta: "hi", logprobs: [] },
      { type: "response.output_text.done", sequence_number: 5, ...at, text: "hi", logprobs: [] },
      { type: "response.content_part.done", sequence_number: 6, ...at, part },
      { type: "response.output_item.done", sequence_number: 7, output_index: 0, item },
      {
        type: "response.completed",
        sequence_number: 8,
        response: {
          ...response,
          status: "completed",
          completed_at: 1_700_000_009,
          output: [item],
          usage: {
            input_tokens: 7,
            input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
            output_tokens: 5,
            output_tokens_details: { reasoning_tokens: 0 },
            total_tokens: 12
          }
        }
      }
    ])
  })

  it("of a call in a namespace have its two names; a custom call comes as one text (R314 R317)", () => {
    const tools = [
      { type: "namespace", name: "ns", tools: [{ type: "function", name: "close" }] },
      { type: "custom", name: "write" }
    ]
    const output = outputOf(
      streamed(
        { tools },
        [
          called("ns__close", '{"a":'),
          { tool_calls: [{ index: 0, function: { arguments: "1}" } }] },
          called("write", '{"input":"a\\n"}', 1)
        ],
        "tool_calls"
      )
    )
    expect(output).toEqual([
      {
        id: ownId("fc", 0),
        type: "function_call",
        status: "completed",
        call_id: "call-0",
        namespace: "ns",
        name: "close",
        arguments: '{"a":1}'
      },
      { id: ownId("ctc", 1), type: "custom_tool_call", call_id: "call-1", name: "write", input: "a\n" }
    ])
    const custom = inside(streamed({ tools }, [called("write", "no json")], "tool_calls")).map((event) => [
      event.type,
      "delta" in event ? event.delta : "input" in event ? event.input : ""
    ])
    expect(custom).toEqual([
      ["response.output_item.added", ""],
      ["response.custom_tool_call_input.delta", "no json"],
      ["response.custom_tool_call_input.done", "no json"],
      ["response.output_item.done", ""]
    ])
  })

  it("of a cut answer leave its last item incomplete (R520 R604)", () => {
    const ends = (deltas: ReadonlyArray<Delta>, finish: FinishReason) => {
      const last = streamed({}, deltas, finish).at(-1)
      return last !== undefined && "response" in last
        ? [
            last.type,
            last.response.incomplete_details,
            last.response.output.map((item) => "status" in item && item.status)
          ]
        : []
    }
    expect([
      ends([{ content: "a" }, called("f", "{"), called("f", "{", 1)], "length"),
      ends([{ content: "a" }], "content_filter"),
      ends([], "content_filter"),
      ends([], "stop")
    ]).toEqual([
      ["response.incomplete", { reason: "max_output_tokens" }, ["completed", "completed", "incomplete"]],
      ["response.incomplete", { reason: "content_filter" }, ["incomplete"]],
      ["response.incomplete", { reason: "content_filter" }, []],
      ["response.completed", null, ["completed"]]
    ])
  })

  it("of thinking show summaries and carriers only where they are asked for (R305 R401 R409)", () => {
    const deltas: ReadonlyArray<Delta> = [
      { reasoning_content: "hm", content_blocks: [{ index: 0, delta: { thinking: "hm" } }] },
      {
        tool_calls: [
          {
            index: 0,
            id: "call-0",
            type: "function",
            function: { name: "f", arguments: "{}", thought_signature: "c2ln" }
          }
        ]
      }
    ]
    const kinds = (body: JsonObject) => outputOf(streamed(body, deltas, "tool_calls"))?.map(({ type }) => type)
    expect([
      kinds({}),
      kinds({ reasoning: { summary: "auto" } }),
      kinds({ store: false }),
      kinds({ store: false, reasoning: { summary: "auto" } })
    ]).toEqual([
      ["function_call"],
      ["reasoning", "function_call"],
      ["function_call", "reasoning"],
      ["reasoning", "function_call", "reasoning"]
    ])
    const last = outputOf(streamed({ store: false }, deltas, "tool_calls"))?.at(-1)
    const sealed = last?.type === "reasoning" ? (last.encrypted_content ?? "") : ""
    expect(readCarrier(unseal(sealed) ?? "")).toEqual({
      v: 1,
      r: responseId,
      i: "gemini/google",
      c: [{ id: "call-0", s: "c2ln" }]
    })
  })

  it("of a carrier that is too large leave the largest entries out (R411)", () => {
    const deltas: ReadonlyArray<Delta> = ["a", "b".repeat(900)].map((s, index) => ({
      tool_calls: [
        { index, id: `call-${index}`, type: "function", function: { name: "f", arguments: "{}", thought_signature: s } }
      ]
    }))
    const events = eventsOf(
      [...deltas.map((delta) => chunk(delta)), chunk({}, "tool_calls"), usageChunk],
      answerFacts({ store: false }, { carrierBytes: 400 })
    )
    const last = outputOf(events)?.at(-1)
    const sealed = last?.type === "reasoning" ? (last.encrypted_content ?? "") : ""
    expect(readCarrier(unseal(sealed) ?? "")?.c).toEqual([{ id: "call-0", s: "a" }])
  })

  it("of a search and of code follow the message (R521 R522 R524)", () => {
    const own = (index: number, part: JsonObject): Delta => ({
      content_blocks: [{ index, delta: { provider_part: { provider: "google", part } } }]
    })
    const include = ["web_search_call.action.sources", "code_interpreter_call.outputs"]
    const output = outputOf(
      streamed(
        { include },
        [
          own(0, { executableCode: { code: "1/0" } }),
          own(1, { codeExecutionResult: { outcome: "OUTCOME_FAILED", output: "error" } }),
          { content: "a" }
        ],
        "stop",
        { groundingMetadata: { webSearchQueries: ["q"], groundingChunks: [{ web: { uri: "https://a.example/" } }] } }
      )
    )
    expect(output?.slice(1)).toEqual([
      {
        id: ownId("ws", 1),
        type: "web_search_call",
        status: "completed",
        action: { type: "search", query: "q", queries: ["q"], sources: [{ type: "url", url: "https://a.example/" }] }
      },
      {
        id: ownId("ci", 2),
        type: "code_interpreter_call",
        status: "failed",
        container_id: `cntr_${responseId.slice(5)}`,
        code: "1/0",
        outputs: [{ type: "logs", logs: "error" }]
      }
    ])
  })

  it("of a refusal follow the text (R607)", () => {
    expect(outputOf(streamed({}, [{ content: "a" }, { refusal: "no" }], "content_filter"))).toEqual([
      {
        id: ownId("msg", 0),
        type: "message",
        status: "incomplete",
        role: "assistant",
        content: [
          { type: "output_text", text: "a", annotations: [], logprobs: [] },
          { type: "refusal", refusal: "no" }
        ]
      }
    ])
  })
})

describe("a stream that fails", () => {
  const failure = (change: Partial<AnswerFailed>): AnswerFailed => ({
    _tag: "AnswerFailed",
    type: "server_error",
    code: "upstream_error",
    message: "It failed.",
    param: null,
    retryAfterMillis: undefined,
    ...change
  })

  it("has both forms of an error, then a failed response with the items that were whole (R513)", () => {
    const limited = failure({ type: "rate_limit_error", code: "rate_limit_exceeded", retryAfterMillis: 1500 })
    const events = eventsOf(
      [chunk({ content: "a" }), chunk(called("f", "{")), limited, chunk({ content: "b" })],
      answerFacts()
    )
    const message = "It failed. Please try again in 1.5s."
    expect(events.at(-2)).toEqual({
      type: "error",
      code: "rate_limit_exceeded",
      message,
      param: null,
      sequence_number: events.length - 2,
      error: { type: "rate_limit_error", code: "rate_limit_exceeded", message, param: null }
    })
    const last = events.at(-1)
    const failed = last?.type === "response.failed" ? last.response : undefined
    expect([failed?.status, failed?.error, failed?.store, failed?.output.map(({ id }) => id)]).toEqual([
      "failed",
      { code: "rate_limit_exceeded", message },
      false,
      [ownId("msg", 0)]
    ])
  })

  it("has a code by which clients decide, and the sentence they wait by (R514 R515)", () => {
    expect(
      [
        failure({}),
        failure({ type: "insufficient_quota", code: "budget_exceeded" }),
        failure({ type: "invalid_request_error", code: "context_length_exceeded" }),
        failure({ type: "invalid_request_error", code: "invalid_value" }),
        failure({ type: "rate_limit_error", code: null, retryAfterMillis: 2000 }),
        failure({ retryAfterMillis: 2000 })
      ].map((one) => [failureCode(one), failureMessage(one)])
    ).toEqual([
      ["server_error", "It failed."],
      ["insufficient_quota", "It failed."],
      ["context_length_exceeded", "It failed."],
      ["invalid_prompt", "It failed."],
      ["rate_limit_exceeded", "It failed. Please try again in 2s."],
      ["server_error", "It failed."]
    ])
  })
})
