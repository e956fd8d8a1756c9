// Tests streamed answers of OpenAI-compatible upstreams: T2006, T2007 and the general rows of section 13.
// Must not open sockets or read clocks.
import { describe, expect, it } from "vitest"
import type { Json, JsonObject } from "../../../src/domain/text/json.ts"
import { streamFromOpenAi } from "../../../src/translate/chat-to-openai/stream.ts"
import { strictlyChunk } from "../../../src/translate/shared/reply/clientForm.ts"
import { callId } from "../../support/chat.ts"
import {
  chunks,
  completion,
  context,
  choices,
  deltas,
  event,
  llama,
  outputs,
  outputsOfBytes
} from "../../support/openAi.ts"
import { bytesOf, sse } from "../../support/streams.ts"

const role = { role: "assistant", content: "" }
const first = event(role)
const say = (content: string) => event({ content })
const stop = event({}, { finish_reason: "stop" })
const counted = (usage: JsonObject, top: JsonObject = {}): JsonObject => ({
  ...event({}, {}, { ...top, usage }),
  choices: []
})
const piece = (index: number | undefined, given: JsonObject): JsonObject =>
  event({ tool_calls: [{ ...(index === undefined ? {} : { index }), ...given }] })
const opening = (index: number, id: string, name: string, args = ""): JsonObject => ({
  index,
  id,
  type: "function",
  function: { name, arguments: args }
})
const calls = (events: ReadonlyArray<Json>) =>
  deltas([first, ...events, stop]).flatMap((delta) => delta.tool_calls ?? [])
const failure = (reason: object) => [{ _tag: "StreamFailed", reason }]

describe("OpenAI-compatible chunks (T2006)", () => {
  it("a chunk with the members of a failure is a chunk (T2006)", () => {
    const sent = event({ content: "a" }, {}, { _tag: "StreamFailed", reason: { _tag: "RateLimited" } })
    expect(deltas([sent, stop]).map(({ content }) => content)).toStrictEqual(["a", undefined])
  })
  it("a stream gives role, content, finish and usage chunks with the upstream's identity (T1302, T1303, T1313, T1105)", () => {
    const identity = {
      id: "up-1",
      object: "chat.completion.chunk",
      created: 1_762_103_726,
      model: "meta/llama",
      provider: "vertex-ai"
    }
    const usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 }
    expect(
      chunks([
        event(
          { role: "assistant", content: null },
          { logprobs: null },
          { x_groq: { id: "req" }, system_fingerprint: "fp" }
        ),
        event({ content: "a" }, {}, { system_fingerprint: "fp", usage: null }),
        event(
          {},
          { finish_reason: "stop", stop_reason: 7 },
          { system_fingerprint: "fp", usage: { prompt_tokens: 5, completion_tokens: 1, queue_time: 0.5 } }
        ),
        counted({ prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 }, { service_tier: "on_demand" })
      ])
    ).toStrictEqual([
      {
        ...identity,
        choices: [{ index: 0, delta: role, finish_reason: null }],
        x_groq: { id: "req" },
        system_fingerprint: "fp"
      },
      { ...identity, choices: [{ index: 0, delta: { content: "a" }, finish_reason: null }], system_fingerprint: "fp" },
      {
        ...identity,
        choices: [{ index: 0, delta: {}, finish_reason: "stop", native_finish_reason: "stop", stop_reason: 7 }],
        service_tier: "on_demand"
      },
      {
        ...identity,
        choices: [],
        usage: { ...usage, queue_time: 0.5, prompt_tokens_details: { cached_tokens: 0 } },
        service_tier: "on_demand"
      }
    ])
  })
  it("the first chunk fixes the identity; missing fields are filled in", () => {
    const from = (...tops: ReadonlyArray<JsonObject>) =>
      new Set(
        chunks([...tops.map((top, at) => event({ content: `${at}` }, {}, top)), stop]).map(({ id, created, model }) =>
          JSON.stringify([id, created, model])
        )
      )
    expect(from({ id: "a", created: 5, model: "m" }, { id: "b", created: 6, model: "n" })).toStrictEqual(
      new Set(['["a",5,"m"]'])
    )
    expect(from({ id: "", created: 0, model: "" }, {})).toStrictEqual(
      new Set([JSON.stringify([context.id, 1_700_000_000, llama])])
    )
  })
  it("a stream has one role: added when missing, removed when repeated (T1303)", () => {
    expect(deltas([say("a"), stop])).toStrictEqual([{ role: "assistant", content: "a" }, {}])
    expect(
      deltas([first, first, event({ role: "assistant", content: "a" }), event({ ...role, content: null }), stop])
    ).toStrictEqual([role, { content: "a" }, {}])
    expect(deltas([event({ role: "assistant" }), stop])).toStrictEqual([role, {}])
    expect(deltas([stop])).toStrictEqual([role, {}])
  })
  it("an event without content gives no chunk, but is read (T1312)", () => {
    const events = [
      {},
      { brandNew: 1 },
      { choices: [] },
      { choices: null },
      event({}),
      event({ content: "" }),
      first,
      event({}),
      event({ content: null, refusal: null }),
      counted({ prompt_tokens: 3 }),
      stop
    ]
    expect(deltas(events)).toStrictEqual([role, {}])
    expect(chunks(events).at(-1)?.usage).toStrictEqual({
      prompt_tokens: 3,
      completion_tokens: 0,
      total_tokens: 3,
      prompt_tokens_details: { cached_tokens: 0 }
    })
  })
  it("content with or after the finish reason is sent before the finish (T1313)", () => {
    expect(
      choices([
        first,
        event({ content: "a" }, { finish_reason: "stop" }),
        event({ role: "assistant", content: "" }, { finish_reason: null }),
        say("b")
      ]).map(({ delta, finish_reason }) => [delta, finish_reason])
    ).toStrictEqual([
      [role, null],
      [{ content: "a" }, null],
      [{ content: "b" }, null],
      [{}, "stop"]
    ])
  })
  it("several choices have their own role, calls and finish reason (T1327)", () => {
    const both = {
      ...event({}),
      choices: [
        { index: 1, delta: { content: "b" } },
        { index: 0, delta: { content: "a" } }
      ]
    }
    const end = {
      ...event({}),
      choices: [
        { index: 0, delta: {}, finish_reason: "stop" },
        { index: 1, delta: {}, finish_reason: "length" }
      ]
    }
    expect(chunks([both, end]).map((chunk) => chunk.choices)).toStrictEqual([
      [
        { index: 1, delta: { role: "assistant", content: "b" }, finish_reason: null },
        { index: 0, delta: { role: "assistant", content: "a" }, finish_reason: null }
      ],
      [{ index: 1, delta: {}, finish_reason: "length", native_finish_reason: "length" }],
      [{ index: 0, delta: {}, finish_reason: "stop", native_finish_reason: "stop" }],
      []
    ])
  })
  it("the upstream's own fields stay on their delta and choice", () => {
    expect(
      choices([event({ ...role, own: 1, gone: null }, { token_ids: [1], gone: null }), event({ own: 2 }), stop])
    ).toStrictEqual([
      { index: 0, delta: { ...role, own: 1 }, finish_reason: null, token_ids: [1] },
      { index: 0, delta: { own: 2 }, finish_reason: null },
      { index: 0, delta: {}, finish_reason: "stop", native_finish_reason: "stop" }
    ])
  })
  it("refusals, legacy calls and log probabilities pass", () => {
    const token = { token: "a", logprob: -1, bytes: [97], top_logprobs: [] }
    expect(deltas([first, event({ refusal: "n" }), event({ refusal: "o" }), stop])).toStrictEqual([
      role,
      { refusal: "n" },
      { refusal: "o" },
      {}
    ])
    expect(
      choices([
        first,
        event({ function_call: { name: "f", arguments: "" } }),
        event({ function_call: { arguments: "{}" } }),
        stop
      ]).map(({ delta, finish_reason }) => [delta, finish_reason])
    ).toStrictEqual([
      [role, null],
      [{ function_call: { name: "f", arguments: "" } }, null],
      [{ function_call: { name: "", arguments: "{}" } }, null],
      [{}, "function_call"]
    ])
    expect(
      choices([
        event({ content: "a" }, { logprobs: { content: [token] } }),
        event({}, { logprobs: { content: [token], refusal: null } }),
        stop
      ]).map(({ logprobs }) => logprobs)
    ).toStrictEqual([{ content: [token], refusal: null }, { content: [token], refusal: null }, undefined])
  })
  it("reasoning in both spellings is the first block and text the second; strict output has neither (T1309)", () => {
    const events = [
      first,
      event({ reasoning: "h" }),
      event({ reasoning_content: "m", content: null }),
      say("a"),
      say("b"),
      stop
    ]
    expect(deltas(events)).toStrictEqual([
      role,
      { reasoning: "h", reasoning_content: "h", content_blocks: [{ index: 0, delta: { thinking: "h" } }] },
      { reasoning_content: "m", content_blocks: [{ index: 0, delta: { thinking: "m" } }] },
      { content: "a", content_blocks: [{ index: 1, delta: { text: "a" } }] },
      { content: "b", content_blocks: [{ index: 1, delta: { text: "b" } }] },
      {}
    ])
    expect(
      chunks(events)
        .flatMap((chunk) => strictlyChunk(chunk)?.choices ?? [])
        .map(({ delta }) => delta)
    ).toStrictEqual([role, { content: "a" }, { content: "b" }, {}])
  })
  it("a completion in place of a stream is sent as chunks", () => {
    const whole = completion(
      { content: "a", tool_calls: [{ id: "c1", type: "function", function: { name: "f", arguments: "{}" } }] },
      { finish_reason: "stop" }
    )
    expect(chunks([whole]).map(({ choices, usage }) => [choices, usage])).toStrictEqual([
      [
        [
          {
            index: 0,
            delta: { role: "assistant", content: "a", tool_calls: [opening(0, "c1", "f", "{}")] },
            finish_reason: null
          }
        ],
        undefined
      ],
      [[{ index: 0, delta: {}, finish_reason: "tool_calls", native_finish_reason: "stop" }], undefined],
      [[], { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8, prompt_tokens_details: { cached_tokens: 0 } }]
    ])
    expect(outputsOfBytes([bytesOf(JSON.stringify(whole, null, 2))])).toStrictEqual(chunks([whole]))
  })
})

describe("OpenAI-compatible calls in pieces (T1310)", () => {
  it("id and name are sent once, arguments as they arrive", () => {
    expect(
      calls([
        piece(0, { id: "c1", type: "function", function: { name: "f", arguments: "" } }),
        piece(0, { function: { arguments: '{"a"' } }),
        piece(0, { function: { arguments: ":1}" } }),
        piece(1, { id: "c2", type: "function", function: { name: "g", arguments: "{}" } })
      ])
    ).toStrictEqual([
      opening(0, "c1", "f"),
      { index: 0, function: { arguments: '{"a"' } },
      { index: 0, function: { arguments: ":1}" } },
      opening(1, "c2", "g", "{}")
    ])
  })
  it("repeated ids and names are removed", () => {
    const repeated = { id: "c1", type: "function", function: { name: "f", arguments: "{" } }
    expect(
      calls([piece(0, repeated), piece(0, { ...repeated, function: { name: "f", arguments: "}" } })])
    ).toStrictEqual([opening(0, "c1", "f", "{"), { index: 0, function: { arguments: "}" } }])
  })
  it("calls all numbered 0, or without numbers, become separate calls", () => {
    for (const index of [0, undefined]) {
      expect(
        calls([
          piece(index, { id: "c1", function: { name: "f", arguments: "{" } }),
          piece(index, { function: { arguments: "}" } }),
          piece(index, { id: "c2", function: { name: "f", arguments: "{}" } })
        ])
      ).toStrictEqual([
        opening(0, "c1", "f", "{"),
        { index: 0, function: { arguments: "}" } },
        opening(1, "c2", "f", "{}")
      ])
    }
    expect(
      calls([
        event({ tool_calls: [{ function: { name: "f", arguments: {} } }, { function: { name: "g", arguments: {} } }] })
      ])
    ).toStrictEqual([opening(0, callId(0), "f", "{}"), opening(1, callId(1), "g", "{}")])
  })
  it("gaps in call numbers are closed", () => {
    expect(
      calls([
        piece(3, { id: "c1", function: { name: "f", arguments: "{" } }),
        piece(7, { id: "c2", function: { name: "g", arguments: "{}" } }),
        piece(3, { function: { arguments: "}" } })
      ])
    ).toStrictEqual([
      opening(0, "c1", "f", "{"),
      opening(1, "c2", "g", "{}"),
      { index: 0, function: { arguments: "}" } }
    ])
  })
  it("missing and repeated call ids are generated", () => {
    expect(
      calls([
        piece(0, { id: "", function: { name: "f", arguments: "{}" } }),
        piece(1, { id: "c", function: { name: "g", arguments: "{}" } }),
        piece(2, { id: "c", function: { name: "h", arguments: "{}" } })
      ])
    ).toStrictEqual([opening(0, callId(0), "f", "{}"), opening(1, "c", "g", "{}"), opening(2, callId(1), "h", "{}")])
  })
  it("a late name is sent once", () => {
    expect(
      calls([
        piece(0, { id: "c1", type: "function" }),
        piece(0, { function: { name: "f" } }),
        piece(0, { function: { name: "f", arguments: "{}" } })
      ])
    ).toStrictEqual([
      { index: 0, id: "c1", type: "function", function: { arguments: "" } },
      { index: 0, function: { name: "f", arguments: "" } },
      { index: 0, function: { arguments: "{}" } }
    ])
  })
  it("a call without arguments gets an empty object before the finish (T1213)", () => {
    expect(
      deltas([
        first,
        piece(0, { id: "c1", function: { name: "f" } }),
        piece(1, { id: "c2", function: { name: "g", arguments: "{}" } }),
        stop
      ]).slice(1)
    ).toStrictEqual([
      { tool_calls: [opening(0, "c1", "f")] },
      { tool_calls: [opening(1, "c2", "g", "{}")] },
      { tool_calls: [{ index: 0, function: { arguments: "{}" } }] },
      {}
    ])
  })
  it("calls with the finish reason stop end as tool_calls (T2007)", () => {
    expect(
      choices([first, piece(0, { id: "c1", function: { name: "f", arguments: "{}" } }), stop]).at(-1)?.finish_reason
    ).toBe("tool_calls")
  })
})

describe("OpenAI-compatible usage in streams", () => {
  it("the last usage value wins per field on any event, and only the last chunk has usage (T1104, T1105)", () => {
    const seen = chunks([
      event({ content: "a" }, {}, { usage: { prompt_tokens: 5, completion_tokens: 1 } }),
      event({ content: "b" }, {}, { usage: { completion_tokens: 2, prompt_tokens: null } }),
      stop
    ])
    expect(seen.map((chunk) => chunk.usage)).toStrictEqual([
      undefined,
      undefined,
      undefined,
      { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7, prompt_tokens_details: { cached_tokens: 0 } }
    ])
    expect(seen.map((chunk) => "usage" in chunk)).toStrictEqual([false, false, false, true])
  })
  it("missing usage gives zeros (T1109)", () =>
    expect(chunks([say("a"), stop]).at(-1)?.usage).toStrictEqual({
      prompt_tokens: 0,
      completion_tokens: 0,
      total_tokens: 0,
      prompt_tokens_details: { cached_tokens: 0 }
    }))
})

describe("ends of OpenAI-compatible streams", () => {
  const error = { error: { message: "busy", type: "server_error", code: 503 } }
  const busy = failure({ _tag: "Overloaded", code: "upstream_unavailable", message: "busy" })
  it("an error in the first event, or after others, gives one failure and nothing after it (T1317, T1318)", () => {
    expect(outputs([error, say("a"), stop])).toStrictEqual(busy)
    expect(outputs([say("a"), error, stop]).slice(1)).toStrictEqual(busy)
    expect(outputs([say("a"), { object: "error", message: "busy", code: 503 }]).slice(1)).toStrictEqual(busy)
    expect(
      outputsOfBytes([
        bytesOf(`${sse([say("a")])}event: error\ndata: ${JSON.stringify(error)}\n\n${sse([stop])}`)
      ]).slice(1)
    ).toStrictEqual(busy)
  })
  it("comments, marks and pings give no chunks", () => {
    const text = `: PROCESSING\n\n${sse([first], "\n")}: x\n\ndata: {"type":"ping"}\n\n${sse([say("a"), stop], "\n")}data: [DONE]\n\n`
    expect(outputsOfBytes([bytesOf(text)])).toStrictEqual(chunks([first, say("a"), stop]))
    expect(outputsOfBytes([bytesOf(text.replace("data: [DONE]\n\n", ""))])).toStrictEqual(
      chunks([first, say("a"), stop])
    )
  })
  it("an end without a finish reason fails, and so does a stream without events (T1321)", () => {
    const cut = failure({
      _tag: "BadReply",
      kind: "truncated",
      message: "The upstream ended its answer without a finish reason; it is not complete."
    })
    const empty = failure({
      _tag: "BadReply",
      kind: "empty",
      message: "The upstream ended its answer without any choice. Try again."
    })
    expect(outputs([first, say("a")]).slice(2)).toStrictEqual(cut)
    expect(outputs([first, event({ content: "a" }, { finish_reason: "" })]).slice(2)).toStrictEqual(cut)
    expect(
      outputs([
        {
          ...stop,
          choices: [
            { index: 0, delta: { content: "a" }, finish_reason: "stop" },
            { index: 1, delta: { content: "b" } }
          ]
        }
      ]).slice(1)
    ).toStrictEqual(cut)
    for (const events of [[], [{ type: "ping" }], [counted({ prompt_tokens: 1 })]])
      expect(outputs(events)).toStrictEqual(empty)
  })
  it("the finish reason error fails the stream (T1206)", () => {
    expect(outputs([say("a"), event({}, { finish_reason: "error" }), stop]).slice(1)).toStrictEqual(
      failure({
        _tag: "BadReply",
        kind: "truncated",
        message: "The upstream broke its answer off with an error; it is not complete."
      })
    )
  })
  it("an event of another shape, or garbage, fails the stream (T1318, T2312)", () => {
    const unreadable = (message: string) => failure({ _tag: "BadReply", kind: "unreadable", message })
    expect(outputs([say("a"), { choices: "x" }]).slice(1)).toStrictEqual(
      unreadable("The upstream sent an event that does not have the shape of an answer.")
    )
    expect(outputsOfBytes([bytesOf(`${sse([say("a")])}data: {]\n\n`)]).slice(1)).toStrictEqual(
      unreadable("The upstream sent an event that is not JSON text.")
    )
  })
  it("text that looks like a frame stays text (T1328)", () => {
    const events = [say("\n\ndata: [DONE]\r\n\r\ndata: {}"), stop]
    expect(outputsOfBytes([bytesOf(sse(events))])).toStrictEqual(chunks(events))
  })
})

it("a content event keeps the state object and builds only its chunk", () => {
  const fold = streamFromOpenAi(context)
  const [state] = fold.step(fold.initial(), first)
  expect(fold.step(state, say("a"))[0]).toBe(state)
})
