// Streams of POST /v1/responses over sockets, cut by the upstream at every frame and inside every frame: one end each time.
// It must not know how events are made.
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { schemaOracle } from "../support/shared.ts"
import { gatewayKey, startTestGateway, type TestGateway } from "../support/TestGateway.ts"

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startTestGateway()
})
afterAll(() => gateway.close())

const frame = (value: unknown, name?: string): string =>
  `${name === undefined ? "" : `event: ${name}\r\n`}data: ${JSON.stringify(value)}\r\n\r\n`
const piece = (part: object, more: object = {}) =>
  frame({ candidates: [{ content: { role: "model", parts: [part] }, index: 0, ...more }] })
const call = { functionCall: { name: "f", args: { n: 1 } }, thoughtSignature: "c2ln" }
const gemini = [
  piece({ text: "Let me think", thought: true }),
  piece({ text: "Hel" }),
  piece({ text: "lo" }),
  piece(call),
  frame({
    candidates: [{ content: { role: "model", parts: [{ text: "" }] }, finishReason: "STOP", index: 0 }],
    usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2, totalTokenCount: 5 }
  })
]

const named = (value: { readonly type: string; readonly [name: string]: unknown }) => frame(value, value.type)
const grown = (index: number, delta: object) => named({ type: "content_block_delta", index, delta })
const block = (index: number, start: object, ...deltas: ReadonlyArray<object>) => [
  named({ type: "content_block_start", index, content_block: start }),
  ...deltas.map((delta) => grown(index, delta)),
  named({ type: "content_block_stop", index })
]
const claude = [
  named({
    type: "message_start",
    message: {
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "claude-sonnet-4-6",
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: 3, output_tokens: 1 }
    }
  }),
  ...block(
    0,
    { type: "thinking", thinking: "", signature: "" },
    { type: "thinking_delta", thinking: "Let me think" },
    { type: "signature_delta", signature: "c2ln" }
  ),
  ...block(1, { type: "text", text: "" }, { type: "text_delta", text: "Hello" }),
  ...block(
    2,
    { type: "tool_use", id: "toolu_1", name: "f", input: {} },
    { type: "input_json_delta", partial_json: '{"n"' },
    { type: "input_json_delta", partial_json: ":1}" }
  ),
  named({
    type: "message_delta",
    delta: { stop_reason: "tool_use", stop_sequence: null },
    usage: { output_tokens: 9 }
  }),
  named({ type: "message_stop" })
]

const chunk = (delta: object, finish: string | null = null) =>
  frame({
    id: "c",
    object: "chat.completion.chunk",
    created: 1,
    model: "meta/llama-3.3-70b-instruct-maas",
    choices: [{ index: 0, delta, finish_reason: finish }]
  })
const llama = [
  chunk({ role: "assistant", content: "" }),
  chunk({ content: "Hel" }),
  chunk({ content: "lo" }),
  chunk({ tool_calls: [{ index: 0, id: "call_1", type: "function", function: { name: "f", arguments: '{"n"' } }] }),
  chunk({ tool_calls: [{ index: 0, function: { arguments: ":1}" } }] }),
  chunk({}, "tool_calls"),
  frame({
    id: "c",
    object: "chat.completion.chunk",
    created: 1,
    model: "meta/llama-3.3-70b-instruct-maas",
    choices: [],
    usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 }
  }),
  "data: [DONE]\r\n\r\n"
]

interface Event {
  readonly type: string
  readonly sequence_number: number
  readonly response?: { readonly status: string; readonly store: boolean; readonly id: string }
}

const entries: Readonly<Record<string, string>> = {
  error: "ResponseErrorEvent",
  "response.failed": "ResponseFailedEvent",
  "response.completed": "ResponseCompletedEvent"
}

/** The last events against the published schema; those before are checked with the pair. */
const faultOf = (event: Event): unknown => {
  const check = schemaOracle("openai-responses.schema.json", `strict.${entries[event.type] ?? ""}`)
  const shown = event.response === undefined ? event : { ...event, response: { ...event.response, tools: [] } }
  return check === undefined || check(shown) ? undefined : check.errors
}

const eventsOf = (text: string): ReadonlyArray<Event> => {
  expect(text.endsWith("\n\n")).toBe(true)
  return text
    .split("\n\n")
    .slice(0, -1)
    .filter((written) => !written.startsWith(":"))
    .map((written) => {
      const [, name, data = ""] = /^event: (.*)\ndata: (.*)$/.exec(written) ?? []
      const event: Event = JSON.parse(data)
      expect(event.type).toBe(name)
      return event
    })
}

const ends: ReadonlySet<string> = new Set(["response.completed", "response.incomplete", "response.failed"])

describe.each([
  ["@google/gemini-3-flash-preview", gemini],
  ["@vertex-ai/anthropic.claude-sonnet-4-6", claude],
  ["@vertex-ai/meta/llama-3.3-70b-instruct-maas", llama]
])("a stream of %s", (model, frames) => {
  const ask = async (chunks: ReadonlyArray<string>, end: "complete" | "close" | "reset") => {
    gateway.simulator.script([{ for: "model", headers: { "content-type": "text/event-stream" }, chunks, end }])
    const answer = await fetch(`${gateway.url}/v1/responses`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${gatewayKey}` },
      body: JSON.stringify({
        model,
        input: "Hi",
        stream: true,
        reasoning: { summary: "auto" },
        tools: [{ type: "function", name: "f", parameters: null, strict: null }]
      })
    })
    return { status: answer.status, text: await answer.text() }
  }

  const endsOnce = async (chunks: ReadonlyArray<string>, end: "complete" | "close" | "reset"): Promise<string> => {
    const { status, text } = await ask(chunks, end)
    if (status !== 200) {
      expect([status, JSON.parse(text).error.type]).toEqual([502, "api_error"])
      return "refused"
    }
    const events = eventsOf(text)
    expect(events.map(({ sequence_number: number }) => number)).toEqual(events.map((_event, at) => at))
    expect(events.filter(({ type }) => ends.has(type)).map(({ type }) => type)).toEqual([events.at(-1)?.type])
    const last = events.at(-1)?.type ?? ""
    expect(events.filter(({ type }) => type === "error").length).toBe(last === "response.failed" ? 1 : 0)
    if (last === "response.failed") expect(events.at(-2)?.type).toBe("error")
    expect(events.filter(({ type }) => type in entries).flatMap((event) => faultOf(event) ?? [])).toEqual([])
    const response = events.at(-1)?.response
    const again = await fetch(`${gateway.url}/v1/responses/${response?.id}`, {
      headers: { authorization: `Bearer ${gatewayKey}` }
    })
    await again.text()
    expect(again.status).toBe(last === "response.completed" ? 200 : 404)
    return last
  }

  it("responses: is whole once its finish was seen, and fails before (R513 R803)", async () => {
    const outcomes: Array<string> = []
    for (let cut = 1; cut <= frames.length; cut++) outcomes.push(await endsOnce(frames.slice(0, cut), "complete"))
    const completed = outcomes.indexOf("response.completed")
    expect([completed > 1, outcomes.at(-1)]).toEqual([true, "response.completed"])
    expect(outcomes).toEqual(
      outcomes.map((outcome, at) =>
        at >= completed ? "response.completed" : outcome === "refused" ? "refused" : "response.failed"
      )
    )
  })

  it.each(["close", "reset"] as const)(
    "responses: has one end wherever a connection breaks by %s (R513)",
    async (end) => {
      const outcomes: Array<string> = []
      for (let cut = 1; cut <= frames.length; cut++) outcomes.push(await endsOnce(frames.slice(0, cut), end))
      expect(outcomes.includes("response.failed")).toBe(true)
    }
  )

  it("responses: has one end where a frame is cut in its middle (R513)", async () => {
    for (const [at, cut] of frames.entries()) {
      const outcome = await endsOnce([...frames.slice(0, at), cut.slice(0, cut.length / 2)], "complete")
      expect(outcome).not.toBe("response.incomplete")
    }
  })
})
