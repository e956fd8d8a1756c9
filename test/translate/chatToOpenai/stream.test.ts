// Streamed answers of OpenAI-compatible upstreams: T2006, T2007 and the rows of section 13 that hold for all.
import { describe, expect, it } from "vitest"
import type { Json, JsonObject } from "../../../src/domain/text/json.ts"
import { streamFromOpenAi } from "../../../src/translate/chat-to-openai/stream.ts"
import { strictlyChunk } from "../../../src/translate/shared/reply/strictly.ts"
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

describe("T2006 chunks pass", () => {
  it("T1302 T1303 T1313 T1105 role, content, finish, usage last; the upstream's identity on each", () => {
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
      { ...identity, choices: [], usage: { ...usage, queue_time: 0.5 }, service_tier: "on_demand" }
    ])
  })
  it("identity is fixed with the first chunk, and filled in where it is missing", () => {
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
  it("T1303 one role: added when there is none, taken away when it is repeated", () => {
    expect(deltas([say("a"), stop])).toStrictEqual([{ role: "assistant", content: "a" }, {}])
    expect(
      deltas([first, first, event({ role: "assistant", content: "a" }), event({ ...role, content: null }), stop])
    ).toStrictEqual([role, { content: "a" }, {}])
    expect(deltas([event({ role: "assistant" }), stop])).toStrictEqual([role, {}])
    expect(deltas([stop])).toStrictEqual([role, {}])
  })
  it("T1312 what says nothing gives no chunk, but is read", () => {
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
    expect(chunks(events).at(-1)?.usage).toStrictEqual({ prompt_tokens: 3, completion_tokens: 0, total_tokens: 3 })
  })
  it("T1313 content that comes with or after the finish goes out before it", () => {
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
  it("T1327 several choices, each with its own role, calls and finish", () => {
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
  it("fields of an upstream's own stay on their delta and choice", () => {
    expect(
      choices([event({ ...role, own: 1, gone: null }, { token_ids: [1], gone: null }), event({ own: 2 }), stop])
    ).toStrictEqual([
      { index: 0, delta: { ...role, own: 1 }, finish_reason: null, token_ids: [1] },
      { index: 0, delta: { own: 2 }, finish_reason: null },
      { index: 0, delta: {}, finish_reason: "stop", native_finish_reason: "stop" }
    ])
  })
  it("refusals, legacy calls and log probabilities", () => {
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
  it("T1309 thoughts in both spellings are the first block, the text behind them the second; strict has neither", () => {
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
  it("a completion where a stream was asked for is given out as one", () => {
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
      [[], { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 }]
    ])
    expect(outputsOfBytes([bytesOf(JSON.stringify(whole, null, 2))])).toStrictEqual(chunks([whole]))
  })
})

describe("T1310 calls in pieces", () => {
  it("id and name once, arguments as they come", () => {
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
  it("a server that repeats id and name on every piece", () => {
    const repeated = { id: "c1", type: "function", function: { name: "f", arguments: "{" } }
    expect(
      calls([piece(0, repeated), piece(0, { ...repeated, function: { name: "f", arguments: "}" } })])
    ).toStrictEqual([opening(0, "c1", "f", "{"), { index: 0, function: { arguments: "}" } }])
  })
  it("a server that numbers all calls 0, or none", () => {
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
  it("a server whose numbers have gaps", () => {
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
  it("ids are made when they are missing or used twice", () => {
    expect(
      calls([
        piece(0, { id: "", function: { name: "f", arguments: "{}" } }),
        piece(1, { id: "c", function: { name: "g", arguments: "{}" } }),
        piece(2, { id: "c", function: { name: "h", arguments: "{}" } })
      ])
    ).toStrictEqual([opening(0, callId(0), "f", "{}"), opening(1, "c", "g", "{}"), opening(2, callId(1), "h", "{}")])
  })
  it("a name that comes late comes once", () => {
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
  it("T1213 a call without arguments gets the text of an empty object before the finish", () => {
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
  it("T2007 calls with stop end as calls", () => {
    expect(
      choices([first, piece(0, { id: "c1", function: { name: "f", arguments: "{}" } }), stop]).at(-1)?.finish_reason
    ).toBe("tool_calls")
  })
})

describe("usage", () => {
  it("T1104 the last value wins per field, on whichever event it stands; T1105 no other chunk has any", () => {
    const seen = chunks([
      event({ content: "a" }, {}, { usage: { prompt_tokens: 5, completion_tokens: 1 } }),
      event({ content: "b" }, {}, { usage: { completion_tokens: 2, prompt_tokens: null } }),
      stop
    ])
    expect(seen.map((chunk) => chunk.usage)).toStrictEqual([
      undefined,
      undefined,
      undefined,
      { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 }
    ])
    expect(seen.map((chunk) => "usage" in chunk)).toStrictEqual([false, false, false, true])
  })
  it("T1109 none is zeros", () =>
    expect(chunks([say("a"), stop]).at(-1)?.usage).toStrictEqual({
      prompt_tokens: 0,
      completion_tokens: 0,
      total_tokens: 0
    }))
})

describe("ends", () => {
  const error = { error: { message: "busy", type: "server_error", code: 503 } }
  const busy = failure({ _tag: "Overloaded", code: "upstream_unavailable", message: "busy" })
  it("T1317 T1318 an error in the first event, or after others: one failure, nothing after", () => {
    expect(outputs([error, say("a"), stop])).toStrictEqual(busy)
    expect(outputs([say("a"), error, stop]).slice(1)).toStrictEqual(busy)
    expect(outputs([say("a"), { object: "error", message: "busy", code: 503 }]).slice(1)).toStrictEqual(busy)
    expect(
      outputsOfBytes([
        bytesOf(`${sse([say("a")])}event: error\ndata: ${JSON.stringify(error)}\n\n${sse([stop])}`)
      ]).slice(1)
    ).toStrictEqual(busy)
  })
  it("comments, marks and pings are no events", () => {
    const text = `: PROCESSING\n\n${sse([first], "\n")}: x\n\ndata: {"type":"ping"}\n\n${sse([say("a"), stop], "\n")}data: [DONE]\n\n`
    expect(outputsOfBytes([bytesOf(text)])).toStrictEqual(chunks([first, say("a"), stop]))
    expect(outputsOfBytes([bytesOf(text.replace("data: [DONE]\n\n", ""))])).toStrictEqual(
      chunks([first, say("a"), stop])
    )
  })
  it("T1321 an end without a finish reason is no end, and no event is no answer", () => {
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
  it("T1206 the word error is a fault", () => {
    expect(outputs([say("a"), event({}, { finish_reason: "error" }), stop]).slice(1)).toStrictEqual(
      failure({
        _tag: "BadReply",
        kind: "truncated",
        message: "The upstream broke its answer off with an error; it is not complete."
      })
    )
  })
  it("T2312 an event of another shape, T1318 garbage: the stream fails", () => {
    const unreadable = (message: string) => failure({ _tag: "BadReply", kind: "unreadable", message })
    expect(outputs([say("a"), { choices: "x" }]).slice(1)).toStrictEqual(
      unreadable("The upstream sent an event that does not have the shape of an answer.")
    )
    expect(outputsOfBytes([bytesOf(`${sse([say("a")])}data: {]\n\n`)]).slice(1)).toStrictEqual(
      unreadable("The upstream sent an event that is not JSON text.")
    )
  })
  it("T1328 text that looks like a frame stays text", () => {
    const events = [say("\n\ndata: [DONE]\r\n\r\ndata: {}"), stop]
    expect(outputsOfBytes([bytesOf(sse(events))])).toStrictEqual(chunks(events))
  })
})

it("a content event leaves the state as it is: nothing is built for it but its chunk", () => {
  const fold = streamFromOpenAi(context)
  const [state] = fold.step(fold.initial(), first)
  expect(fold.step(state, say("a"))[0]).toBe(state)
})
