import { describe, expect, it } from "vitest"
import {
  claudeBody,
  type ClaudeEvent,
  claudeEvents,
  claudeFrame,
  type ClaudeIdentity
} from "../../../../src/demo/google/claude/answers.ts"
import { claudeReply } from "../../../../src/demo/google/claude/replies.ts"
import type { MessagesRequest } from "../../../../src/demo/google/claude/request.ts"
import { signatureOwner } from "../../../../src/demo/google/shared/signatures.ts"
import { loudlySkipped, schemaOracle, sharedDir } from "../../../support/shared.ts"

const ask = (text: string, more: Partial<MessagesRequest> = {}): MessagesRequest => ({
  max_tokens: 1000,
  messages: [{ role: "user", content: text }],
  ...more
})
const identity: ClaudeIdentity = {
  id: "msg_vrtx_01",
  model: "claude-haiku-4-5-20251001",
  detailed: false,
  vertexEvent: true
}
const model = "claude-haiku-4-5@20251001"
const reply = (request: MessagesRequest, of = model) => claudeReply(request, of)
const content = (request: MessagesRequest, of = model) => reply(request, of).content
const greeting =
  "Hello! I am a simulated Claude model, so nothing you write leaves this machine. What would you like to try?"

const weather = {
  name: "get_weather",
  description: "Weather of a city",
  input_schema: {
    type: "object",
    properties: { city: { type: "string" }, unit: { type: "string", enum: ["celsius", "fahrenheit"] } },
    required: ["city"]
  }
}
const thinking = { type: "enabled", budget_tokens: 1024 } as const
const long = { type: "text", text: "word ".repeat(1000), cache_control: { type: "ephemeral" } } as const
const facts = {
  type: "document",
  source: { type: "text", media_type: "text/plain", data: "Ruby is a language. It is old." },
  title: "facts.txt",
  citations: { enabled: true }
} as const
const page = {
  type: "document",
  source: { type: "base64", media_type: "application/pdf", data: "AAAA" },
  citations: { enabled: true }
} as const
const hit = {
  type: "search_result",
  source: "https://example.com/",
  title: "Example",
  content: [{ type: "text", text: "A page." }],
  citations: { enabled: true }
} as const
const capital = {
  type: "json_schema",
  schema: {
    type: "object",
    properties: { city: { type: "string" }, country: { type: "string" } },
    required: ["city"],
    additionalProperties: false
  }
} as const

const cases: Readonly<Record<string, MessagesRequest>> = {
  greeting: ask("Hello"),
  call: ask("What is the weather in Paris?", { tools: [weather] }),
  "parallel calls": ask("What is the weather in Paris, Rome and Oslo?", { tools: [weather] }),
  "forced call": ask("Hello", { tools: [weather], tool_choice: { type: "any" } }),
  thinking: ask("Why?", { thinking }),
  "thinking before a call": ask("What is the weather in Paris?", { thinking, tools: [weather] }),
  "redacted thinking": ask("Why? demo:redacted-thinking", { thinking }),
  format: ask("Which city?", { output_config: { format: capital } }),
  citations: ask("", { messages: [{ role: "user", content: [facts, page, hit, { type: "text", text: "Who?" }] }] }),
  "web search": ask("What is new?", { tools: [{ type: "web_search_20250305", name: "web_search" }] }),
  refusal: ask("demo:refusal"),
  nothing: ask("demo:empty-answer"),
  cut: ask("Tell me a long story", { max_tokens: 5 }),
  stopped: ask("Tell me a long story", { stop_sequences: ["long"] }),
  cached: ask("", { messages: [{ role: "user", content: [long, { type: "text", text: "Hello" }] }] }),
  emoji: ask('Say "👋🏽 \\ \u2028" in the weather of Paris', {
    tools: [weather],
    tool_choice: { type: "tool", name: "get_weather" }
  })
}

type Json = Record<string, unknown>

/** The events put together again, as a client does. */
const fold = (events: ReadonlyArray<ClaudeEvent>): unknown => {
  let message: Json = {}
  const blocks: Array<Json> = []
  const json: Array<string> = []
  const add = (index: number, delta: Json) => {
    const block = blocks[index] ?? {}
    const append = (key: string) => void (block[key] = `${block[key]}${delta[key]}`)
    if (delta["type"] === "text_delta") append("text")
    if (delta["type"] === "thinking_delta") append("thinking")
    if (delta["type"] === "signature_delta") append("signature")
    if (delta["type"] === "citations_delta")
      block["citations"] = [...(block["citations"] as Array<unknown>), delta["citation"]]
    if (delta["type"] === "input_json_delta") json[index] = `${json[index] ?? ""}${delta["partial_json"]}`
  }
  for (const { value } of events) {
    const index = Number(value["index"])
    if (value.type === "message_start") message = value["message"] as Json
    if (value.type === "content_block_start") blocks[index] = { ...(value["content_block"] as Json) }
    if (value.type === "content_block_delta") add(index, value["delta"] as Json)
    if (value.type === "content_block_stop" && json[index] !== undefined)
      blocks[index] = { ...blocks[index], input: JSON.parse(json[index]) }
    if (value.type === "message_delta")
      message = {
        ...message,
        ...(value["delta"] as Json),
        usage: { ...(message["usage"] as Json), ...(value["usage"] as Json) }
      }
  }
  return { ...message, content: blocks }
}

describe("streams of simulated Claude", () => {
  for (const [name, request] of Object.entries(cases)) {
    it(`Claude stream: of ${name} adds up to the unary answer`, () => {
      for (const detailed of [false, true]) {
        const events = claudeEvents(reply(request), { ...identity, detailed })
        expect(fold(events)).toEqual(claudeBody(reply(request), { ...identity, detailed }))
        const kinds = events.map(({ value }) => value.type)
        expect(kinds.slice(0, 3)).toEqual(["message_start", "vertex_event", "ping"])
        expect(kinds.slice(-2)).toEqual(["message_delta", "message_stop"])
      }
    })
  }
  it("Claude stream: opens and closes every block before the next", () => {
    const events = claudeEvents(reply(cases["parallel calls"] ?? ask("")), identity)
    const marks = events.flatMap(({ value }) =>
      /block_(start|stop)/.test(value.type) ? [`${value.type.slice(14)} ${value["index"]}`] : []
    )
    expect(marks).toEqual(["start 0", "stop 0", "start 1", "stop 1", "start 2", "stop 2", "start 3", "stop 3"])
  })
  it("Claude stream: begins a call's input with an empty piece and may cut an escape in two", () => {
    const events = claudeEvents(
      reply(
        ask("Hello", {
          tools: [{ name: "say", input_schema: { type: "object", properties: { text: { const: 'a "b"' } } } }],
          tool_choice: { type: "any" }
        })
      ),
      identity
    )
    expect(
      events.flatMap(({ value }) => {
        const delta = value["delta"] as Json | undefined
        return delta?.["type"] === "input_json_delta" ? [delta["partial_json"]] : []
      })
    ).toEqual(["", '{"text"', ':"a \\"b', '\\""}'])
  })
  it("Claude stream: is framed with LF, padded before the last brace", () => {
    expect(claudeFrame({ type: "message_stop" }, 3)).toBe('event: message_stop\ndata: {"type":"message_stop"   }\n\n')
  })
})

describe("bodies of simulated Claude", () => {
  it("Claude body: is a greeting", () => {
    expect(claudeBody(reply(ask("Hello")), identity)).toEqual({
      model: "claude-haiku-4-5-20251001",
      id: "msg_vrtx_01",
      type: "message",
      role: "assistant",
      content: [{ type: "text", text: greeting }],
      stop_reason: "end_turn",
      stop_sequence: null,
      usage: {
        input_tokens: 8,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 0,
        cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
        output_tokens: 30
      }
    })
  })
  it("Claude body: has more members on the newest models", () => {
    expect(
      claudeBody(reply(ask("Why?", { thinking: { type: "adaptive", display: "summarized" } }), "claude-opus-4-7"), {
        ...identity,
        detailed: true
      })
    ).toMatchObject({ stop_details: null, usage: { output_tokens_details: { thinking_tokens: 30 } } })
  })
})

describe("calls of simulated Claude", () => {
  const id = /^toolu_vrtx_01[A-Za-z0-9]{22}$/
  it("Claude call: is announced by a model that is free to choose", () => {
    expect(content(cases["call"] ?? ask(""))).toEqual([
      { type: "text", text: "I'll call get_weather for that." },
      { type: "tool_use", id: expect.stringMatching(id), name: "get_weather", input: { city: "Paris" } }
    ])
  })
  it("Claude call: has no text when forced, and is a single one only without parallel calls", () => {
    const forced = cases["parallel calls"]
    const calls = content({ ...ask(""), ...forced, tool_choice: { type: "any", disable_parallel_tool_use: true } })
    expect(calls).toEqual([
      { type: "tool_use", id: expect.stringMatching(id), name: "get_weather", input: { city: "Paris" } }
    ])
    expect(reply(cases["forced call"] ?? ask("")).stopReason).toBe("tool_use")
  })
  it("Claude call: is not made when the choice is none, nor when results wait", () => {
    expect(content({ ...ask(""), ...cases["call"], tool_choice: { type: "none" } })[0]?.type).toBe("text")
    const messages: MessagesRequest["messages"] = [
      { role: "user", content: "Weather in Paris?" },
      { role: "assistant", content: [{ type: "tool_use", id: "a", name: "get_weather", input: { city: "Paris" } }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "a", content: [{ type: "text", text: "sunny" }] }] }
    ]
    expect(content({ ...ask(""), messages, tools: [weather] })).toEqual([
      { type: "text", text: "The tool get_weather answered sunny. That is all I need to answer you." }
    ])
  })
})

describe("thinking of simulated Claude", () => {
  it("Claude thinking: comes first, signed", () => {
    const [thought, text] = content(cases["thinking"] ?? ask(""))
    expect([thought?.type, text?.type]).toEqual(["thinking", "text"])
    expect(signatureOwner(String(thought?.["signature"]))).toBe("claude")
  })
  it("Claude thinking: is redacted on demand", () => {
    expect(content(cases["redacted thinking"] ?? ask("")).map(({ type }) => type)).toEqual([
      "redacted_thinking",
      "redacted_thinking",
      "text"
    ])
  })
  it("Claude thinking: has no text on the newest models unless a summary is requested", () => {
    const shown = (display?: "summarized" | "omitted") =>
      content(
        ask("Why?", { thinking: { type: "adaptive", ...(display === undefined ? {} : { display }) } }),
        "claude-opus-4-7"
      )[0]?.["thinking"]
    expect([shown(), shown("omitted"), shown("summarized") === ""]).toEqual(["", "", false])
  })
  it("Claude thinking: is left out when a call is forced", () => {
    expect(
      content(
        ask("Hello", { thinking: { type: "adaptive" }, tools: [weather], tool_choice: { type: "any" } }),
        "claude-opus-4-6"
      )[0]?.type
    ).toBe("tool_use")
  })
})

describe("ends of simulated Claude", () => {
  const end = (name: string) => {
    const { content: blocks, stopReason, stopSequence } = reply(cases[name] ?? ask(""))
    return [blocks, stopReason, stopSequence]
  }
  it("Claude answer: its end has its reason", () => {
    expect(end("cut")).toEqual([[{ type: "text", text: 'You wrote: "Tell me ' }], "max_tokens", null])
    expect(end("stopped")).toEqual([[{ type: "text", text: 'You wrote: "Tell me a ' }], "stop_sequence", "long"])
    expect(end("nothing")).toEqual([[], "end_turn", null])
    expect(reply(cases["refusal"] ?? ask(""))).toMatchObject({
      content: [],
      stopReason: "refusal",
      stopDetails: {
        type: "refusal",
        category: "cyber",
        explanation: "This request triggered restrictions of the simulated service and was blocked."
      }
    })
  })
})

describe("formats, citations and searches of simulated Claude", () => {
  it("Claude answer: fits the requested schema", () => {
    expect(JSON.parse(String(content(cases["format"] ?? ask(""))[0]?.["text"]))).toEqual({
      city: "Paris",
      country: "Paris"
    })
  })
  it("Claude answer: cites each source in its own form", () => {
    expect(content(cases["citations"] ?? ask("")).slice(1)).toEqual([
      {
        type: "text",
        text: "Ruby is a language.",
        citations: [
          {
            type: "char_location",
            cited_text: "Ruby is a language. ",
            document_index: 0,
            document_title: "facts.txt",
            start_char_index: 0,
            end_char_index: 20
          }
        ]
      },
      {
        type: "text",
        text: "The first page of the document.",
        citations: [
          {
            type: "page_location",
            cited_text: "The first page of the document.",
            document_index: 1,
            document_title: null,
            start_page_number: 1,
            end_page_number: 2
          }
        ]
      },
      {
        type: "text",
        text: "A page.",
        citations: [
          {
            type: "search_result_location",
            cited_text: "A page.",
            source: "https://example.com/",
            title: "Example",
            search_result_index: 0,
            start_block_index: 0,
            end_block_index: 1
          }
        ]
      }
    ])
  })
  it("Claude answer: searches by its own tool and counts the search", () => {
    const { content: blocks, searches } = reply(cases["web search"] ?? ask(""))
    expect([blocks.map(({ type }) => type), searches]).toEqual([
      ["server_tool_use", "web_search_tool_result", "text"],
      1
    ])
  })
})

describe("cache of simulated Claude", () => {
  it("Claude cache: is written up to the last breakpoint, and read when the conversation goes on", () => {
    const first = cases["cached"] ?? ask("")
    expect(reply(first).input).toEqual({
      input_tokens: 2,
      cache_creation_input_tokens: 1256,
      cache_read_input_tokens: 0,
      cache_creation: { ephemeral_5m_input_tokens: 1256, ephemeral_1h_input_tokens: 0 }
    })
    const more = [...first.messages, { role: "assistant", content: "Hello" }, { role: "user", content: "Bye" }] as const
    expect(reply({ ...first, messages: more }).input).toMatchObject({
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 1256
    })
  })
  it("Claude cache: may last an hour, and may contain system prompt and tools only", () => {
    const control = { type: "ephemeral", ttl: "1h" } as const
    const system = [{ type: "text", text: "word ".repeat(1000), cache_control: control }]
    expect(reply(ask("Hello", { system })).input.cache_creation).toEqual({
      ephemeral_5m_input_tokens: 0,
      ephemeral_1h_input_tokens: 1256
    })
    expect(
      reply(ask("Hello", { tools: [{ ...weather, cache_control: control }] })).input.cache_creation
        .ephemeral_1h_input_tokens
    ).toBeGreaterThan(6)
    expect(reply(ask("Hello", { cache_control: control })).input.input_tokens).toBe(0)
  })
})

describe.skipIf(sharedDir() === undefined)("published schemas of Claude", () => {
  const unknownTo = (prefix: string, of: string) => {
    const body = schemaOracle("anthropic.schema.json", `${prefix}Message`)
    const event = schemaOracle("anthropic.schema.json", `${prefix}MessageStreamEvent`)
    const told = { ...identity, vertexEvent: false, detailed: of !== model }
    return Object.entries(cases).flatMap(([name, request]) => {
      const events = claudeEvents(reply(request, of), told).filter(({ value }) => event?.(value) !== true)
      return [
        ...(body?.(claudeBody(reply(request, of), told)) === true ? [] : [name]),
        ...events.map(({ value }) => `${name} ${JSON.stringify(value)}`)
      ]
    })
  }
  it("Claude schemas: contain every body and every event but Vertex AI's own", () => {
    // The beta description leaves out who called, as the older models do.
    expect(unknownTo("Beta", model)).toEqual([])
  })
  it("Claude schemas: have no field that the newest models lack", () => {
    expect(unknownTo("strict.", "claude-opus-4-7")).toEqual([])
  })
})
if (sharedDir() === undefined) loudlySkipped("the published schemas of Claude's answers")
