// Tests native Anthropic messages on Vertex AI: reading, bodies, streams: T1801, T1832, T1901 to T1911, table 7.
// Must not open sockets or read clocks.
import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import { isJsonObject, parseBody } from "../../src/domain/text/json.ts"
import { defaultLimits } from "../../src/domain/Limits.ts"
import { noRedaction } from "../../src/domain/text/redaction.ts"
import { betaHeader } from "../../src/translate/shared/claude.ts"
import {
  countedBody,
  messagesBody,
  messageStream,
  readCountRequest,
  readMessagesRequest
} from "../../src/translate/messages-to-claude.ts"
import { streamReader } from "../../src/translate/StreamReader.ts"
import { isStreamFailed, runFold } from "../../src/translate/Translator.ts"
import { loudlySkipped, recordings, schemaOracle, sharedDir } from "../support/shared.ts"

const encode = (text: string) => new TextEncoder().encode(text)
const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes)

const read = (text: string, by = readMessagesRequest) => {
  const bytes = encode(text)
  return Result.flatMap(parseBody(bytes, defaultLimits), (body) => by(body, bytes))
}
const request = (text: string, by = readMessagesRequest) => Result.getOrThrow(read(text, by))
const fault = (text: string, by = readMessagesRequest) => {
  const result = read(text, by)
  return Result.isFailure(result) ? [result.failure.code, result.failure.param, result.failure.message] : "taken"
}
const hello = '"messages":[{"role":"user","content":"Hi"}]'

describe("reading native messages requests", () => {
  it.each([
    [`{${hello},"max_tokens":5}`, ["missing_required_parameter", "model", "model is missing."]],
    [`{"model":null,${hello},"max_tokens":5}`, ["missing_required_parameter", "model", "model is missing."]],
    [`{"model":7,${hello},"max_tokens":5}`, ["invalid_type", "model", "model has the wrong type: expected string."]],
    ['{"model":"m","max_tokens":5}', ["missing_required_parameter", "messages", "messages is missing."]],
    [
      '{"model":"m","messages":"Hi","max_tokens":5}',
      ["invalid_type", "messages", "messages has the wrong type: expected array."]
    ],
    [
      '{"model":"m","messages":[],"max_tokens":5}',
      ["empty_array", "messages", "messages is empty; send at least one message."]
    ],
    [`{"model":"m",${hello}}`, ["missing_required_parameter", "max_tokens", "max_tokens is missing."]],
    [
      `{"model":"m",${hello},"max_tokens":"5"}`,
      ["invalid_value", "max_tokens", "max_tokens is a positive whole number below 2^53."]
    ],
    [
      `{"model":"m",${hello},"max_tokens":0}`,
      ["invalid_value", "max_tokens", "max_tokens is a positive whole number below 2^53."]
    ],
    [
      `{"model":"m",${hello},"max_tokens":1.5}`,
      ["invalid_value", "max_tokens", "max_tokens is a positive whole number below 2^53."]
    ],
    [
      `{"model":"m",${hello},"max_tokens":5,"anthropic_beta":"a b"}`,
      [
        "invalid_header",
        "anthropic-beta",
        'anthropic-beta is a comma-separated list of at most 20 flags of letters, digits and "-".'
      ]
    ],
    [
      `{"model":"m",${hello},"max_tokens":5,"anthropic_beta":[1]}`,
      [
        "invalid_header",
        "anthropic-beta",
        'anthropic-beta is a comma-separated list of at most 20 flags of letters, digits and "-".'
      ]
    ]
  ])("a malformed native request is refused: %s (T1904, B99)", (text, expected) => {
    expect(fault(text)).toEqual(expected)
  })
  it("the reader leaves all other fields to the upstream (T1904, T1908)", () => {
    expect(
      fault('{"model":"m","messages":[7,{"role":"system"}],"max_tokens":5,"temperature":"hot","new_field":{}}')
    ).toBe("taken")
  })
  it("a count request needs no max_tokens", () => {
    expect(fault(`{"model":"m",${hello}}`, readCountRequest)).toBe("taken")
  })
  it("flags are read from text and from a list (T1832)", () => {
    expect(request(`{"model":"m",${hello},"max_tokens":5,"anthropic_beta":"a, b"}`).betas).toEqual(["a", "b"])
    expect(request(`{"model":"m",${hello},"max_tokens":5,"anthropic_beta":["a","b","a"]}`).betas).toEqual(["a", "b"])
  })
})

describe("native messages bodies (table 7)", () => {
  it("the body loses its model, gets the version, and keeps every other byte (T1801, T1901)", () => {
    const kept = '"max_tokens": 5, "n":12345678901234567890 ,"s":"\\u00e9","stream" : true,'
    expect(decode(messagesBody(request(`{"model":"@v/anthropic.claude-x", ${kept}${hello}}`)))).toBe(
      `{${kept}${hello},"anthropic_version":"vertex-2023-10-16"}`
    )
  })
  it("another version is replaced in its place, and flags move to the header (T1801)", () => {
    const text = `{"anthropic_version":"2023-06-01","model":"m",${hello},"anthropic_beta":["a"],"max_tokens":5}`
    expect(decode(messagesBody(request(text)))).toBe(
      `{"anthropic_version":"vertex-2023-10-16",${hello},"max_tokens":5}`
    )
  })
  it("a count body names the model without an alias, and has no stream", () => {
    const body = request(`{"model":"@v/anthropic.claude-x","stream":false,${hello},"system":"s"}`, readCountRequest)
    const counted = (modelId: string) => decode(countedBody(body, modelId))
    expect(counted("claude-x@20250929")).toBe(
      `{"model":"claude-x@20250929",${hello},"system":"s","anthropic_version":"vertex-2023-10-16"}`
    )
    expect(
      ["claude-x@latest", "claude-x@default", "claude-x-latest", "claude-x"].map(
        (id) => counted(id) === counted("claude-x")
      )
    ).toEqual([true, true, true, true])
  })
  it("a dated version of the body or the header goes up as written, from 2026-10-21 on (M-830)", () => {
    const version = (of: string, header?: string) => {
      const named = request(`{"model":"m",${hello},"max_tokens":5${of}}`)
      return [messagesBody(named, header), countedBody(named, "claude-x", header)].map(
        (bytes) => /"anthropic_version":"([^"]*)"/.exec(decode(bytes))?.[1]
      )
    }
    const own = (text: string) => `,"anthropic_version":"${text}"`
    expect(version(own("2026-10-21"))).toEqual(["2026-10-21", "2026-10-21"])
    expect(version("", "2027-01-01")).toEqual(["2027-01-01", "2027-01-01"])
    expect(version(own("2026-10-21"), "2023-06-01")).toEqual(["2026-10-21", "2026-10-21"])
    for (const [of, header] of [
      ["", undefined],
      [own("2023-06-01"), "2023-06-01"],
      [own("vertex-2023-10-16"), undefined],
      [own("2026-10-21 "), "tomorrow"],
      [',"anthropic_version":7', undefined]
    ] as const)
      expect(version(of, header).every((text) => text === undefined || text === "vertex-2023-10-16")).toBe(true)
  })
  it("a prefill goes up as it is, whatever the model (M-302)", () => {
    const messages = '"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":"The answer is"}]'
    expect(decode(messagesBody(request(`{"model":"claude-opus-5-5","max_tokens":5,${messages}}`)))).toBe(
      `{"max_tokens":5,${messages},"anthropic_version":"vertex-2023-10-16"}`
    )
  })
  it.each([
    ["web search", '"tools":[{"type":"web_search_20260318","name":"web_search"}]', ["web-search-2025-03-05"]],
    ["a tool of the client's with that name", '"tools":[{"name":"web_search_20250305","input_schema":{}}]', []],
    ["context management", '"context_management":{"edits":[]}', ["context-management-2025-06-27"]],
    ["no context management", '"context_management":null', []],
    [
      "a scoped mark of the body",
      '"cache_control":{"type":"ephemeral","scope":"global"}',
      ["prompt-caching-scope-2026-01-05"]
    ],
    [
      "a scoped mark of the system",
      '"system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral","scope":"global"}}]',
      ["prompt-caching-scope-2026-01-05"]
    ],
    [
      "a scoped mark of a tool",
      '"tools":[{"name":"f","cache_control":{"type":"ephemeral","scope":"global"}}]',
      ["prompt-caching-scope-2026-01-05"]
    ],
    ["a mark without scope", '"cache_control":{"type":"ephemeral","ttl":"1h"}', []],
    ["a text of that name", '"system":"cache_control scope"', []]
  ])("a field brings the flag that it needs, and none is removed: %s (M-811, M-820, M-821)", (_name, field, needed) => {
    const of = (betas: string) => request(`{"model":"m",${hello},"max_tokens":5,${field}${betas}}`)
    expect(of("").betas).toEqual(needed)
    expect(of(',"anthropic_beta":["effort-2025-11-24"]').betas).toEqual(["effort-2025-11-24", ...needed])
    expect(of(`,"anthropic_beta":${JSON.stringify(needed)}`).betas).toEqual(needed)
    expect(decode(messagesBody(of("")))).toBe(
      `{${hello},"max_tokens":5,${field},"anthropic_version":"vertex-2023-10-16"}`
    )
  })
  it("a scoped mark inside a message or a tool result brings its flag (M-820)", () => {
    const mark = '"cache_control":{"type":"ephemeral","scope":"global"}'
    for (const block of [
      `{"type":"text","text":"a",${mark}}`,
      `{"type":"tool_result","tool_use_id":"1","content":[{"type":"text","text":"a",${mark}}]}`
    ])
      expect(request(`{"model":"m","messages":[{"role":"user","content":[${block}]}],"max_tokens":5}`).betas).toEqual([
        "prompt-caching-scope-2026-01-05"
      ])
  })
  it("flags of all places are joined, each once (T1832, T1911)", () => {
    expect(Result.getOrThrow(betaHeader(["b", "a", "b"]))).toEqual({ "anthropic-beta": "b,a" })
    expect(Result.getOrThrow(betaHeader([]))).toEqual({})
    expect(Result.isFailure(betaHeader(Array.from({ length: 21 }, (_, n) => `flag-${n}`)))).toBe(true)
  })
})

const limits = { eventBytes: 1000 }
const stream = (pieces: ReadonlyArray<Uint8Array>, bound = limits) => {
  const out = runFold(messageStream(bound, noRedaction, true), pieces)
  const failed = out.find(isStreamFailed)
  const passed = out.flatMap((one) => (isStreamFailed(one) ? [] : [one]))
  if (failed !== undefined) expect(out.at(-1)).toBe(failed)
  return { text: passed.map(decode).join(""), pieces: passed.length, reason: failed?.reason }
}
const event = (type: string, more = "") => `event: ${type}\ndata: {"type":"${type}"${more}}\n\n`
const overloaded = event("error", ',"error":{"type":"overloaded_error","message":"Overloaded"}')
const whole = [
  event("message_start"),
  event("ping"),
  event("vertex_event"),
  event("content_block_delta", ',"x":"é👋"'),
  event("message_stop")
].join("")

describe("native messages streams", () => {
  it("native messages streams: the frames of one read leave as one view of it (T1902)", () => {
    const deltas = Array.from({ length: 50 }, (_, at) => event("content_block_delta", `,"delta":{"text":"${at}"}`))
    const read = encode([event("message_start"), ...deltas, event("message_stop")].join(""))
    const out = streamReader(messageStream({ eventBytes: 10_000 }, noRedaction)).read(read)
    expect(out).toEqual([read])
    expect(out.map((bytes) => bytes instanceof Uint8Array && bytes.buffer)).toEqual([read.buffer])
  })
  it("frames pass unchanged, all of a network read as one piece (T1902, L26)", () => {
    expect(stream([encode(whole)])).toEqual({ text: whole, pieces: 1, reason: undefined })
  })
  it("frames are the same for any cut of the bytes, and always whole (L6)", () => {
    const bytes = encode(whole)
    for (let at = 0; at <= bytes.length; at++) {
      const { text, reason } = stream([bytes.subarray(0, at), bytes.subarray(at)])
      expect([text, reason]).toEqual([whole, undefined])
    }
    const [first] = streamReader(messageStream(limits, noRedaction, true)).read(bytes.subarray(0, 60))
    expect(first instanceof Uint8Array ? decode(first) : first).toBe(event("message_start"))
  })
  it("a stream that ends early fails after the last whole frame (T1907, L7)", () => {
    const bytes = encode(whole)
    for (let at = 0; at < bytes.length; at++) {
      const { text, reason } = stream([bytes.subarray(0, at)])
      expect([whole.startsWith(text), text.length === 0 || text.endsWith("\n\n"), reason]).toEqual([
        true,
        true,
        {
          _tag: "BadReply",
          kind: "truncated",
          message: "The upstream ended its answer without a finish reason; it is not complete."
        }
      ])
    }
  })
  it("an error as the first event fails before any output (T1840)", () => {
    expect(stream([encode(overloaded)])).toEqual({
      text: "",
      pieces: 0,
      reason: { _tag: "Overloaded", code: "upstream_overloaded", message: "Overloaded" }
    })
  })
  it("an upstream error after the first event passes, and nothing more is due (T1906)", () => {
    const text = event("message_start") + overloaded
    expect(stream([encode(text)])).toEqual({ text, pieces: 1, reason: undefined })
  })
  it("Google's own error fails the stream: clients of this dialect cannot read it", () => {
    const error = 'data: {"error":{"code":429,"message":"Quota exceeded","status":"RESOURCE_EXHAUSTED"}}\r\n\r\n'
    const { text, reason } = stream([encode(event("message_start")), encode(error)])
    expect([text, reason?._tag]).toEqual([event("message_start"), "RateLimited"])
  })
  it("an error in plain JSON in place of a stream fails", () => {
    const error = '[{\n "error": {"code":503,"message":"Busy","status":"UNAVAILABLE"}\n}]\n'
    expect(stream([encode(error)]).reason?._tag).toBe("Overloaded")
    expect(stream([encode("<html></html>")]).reason?._tag).toBe("BadReply")
  })
  it("the type in the data marks the end when no event is named", () => {
    expect(stream([encode('data: {"type":"message_stop"}\n\n')]).reason).toBeUndefined()
  })
  it("frames after the end pass; a cut frame there is dropped", () => {
    const more = ": bye\n\n"
    expect(stream([encode(whole), encode(more), encode("data: ha")])).toEqual({
      text: whole + more,
      pieces: 2,
      reason: undefined
    })
  })
  it("an event over the limit fails the stream, and later bytes give no output", () => {
    const long = encode(`event: content_block_delta\ndata: ${"x".repeat(100)}`)
    expect(stream([encode(event("message_start")), long, long, encode("\n\n")], { eventBytes: 200 })).toEqual({
      text: event("message_start"),
      pieces: 1,
      reason: { _tag: "BadReply", kind: "too_large", message: "The upstream sent an event over the size limit." }
    })
  })
})

describe.skipIf(sharedDir() === undefined)("recorded native messages traffic", () => {
  const all = [...recordings("vertex-anthropic"), ...recordings("anthropic-api")]

  it("every accepted body keeps its bytes except for table 7, and matches Vertex AI's description (L12, L26)", () => {
    const oracle = schemaOracle("anthropic.schema.json", "VertexBetaMessageCreateRequest")
    // Redaction of the recording removed the prefix of one id.
    const odd = new Set(["anthropic-api/messages-claude-opus-4-8-multi-turn"])
    for (const {
      id,
      request: { body },
      response
    } of all) {
      if (!isJsonObject(body) || response.status >= 400) continue
      const sent = { model: "claude-x", ...body }
      const { model: _model, ...rest } = sent
      const edited: unknown = JSON.parse(decode(messagesBody(request(JSON.stringify(sent, null, 1)))))
      expect(edited).toEqual({ ...rest, anthropic_version: "vertex-2023-10-16" })
      expect([id, odd.has(id) || oracle?.(edited)]).toEqual([id, true])
    }
  })
  it("every recorded stream passes byte by byte (T1902)", () => {
    const streams = all.flatMap(({ response: { bodyText } }) => (bodyText?.startsWith("event:") ? [bodyText] : []))
    expect(streams.length).toBeGreaterThan(20)
    for (const text of streams) {
      const bytes = encode(text)
      const pieces = Array.from({ length: Math.ceil(bytes.length / 97) }, (_, n) =>
        bytes.subarray(n * 97, (n + 1) * 97)
      )
      expect(stream(pieces, { eventBytes: 1_000_000 })).toMatchObject({ text, reason: undefined })
    }
  })
})
if (sharedDir() === undefined) loudlySkipped("recorded messages passed through")

it("messages: the user of the request log is that of the body's metadata", () => {
  const userOf = (metadata: string) =>
    request(`{"model":"@v/anthropic.claude-x",${hello},"metadata":${metadata}}`, readCountRequest).user
  expect([userOf('{"user_id":"alice"}'), userOf("{}"), userOf("null"), userOf("7")]).toEqual([
    "alice",
    undefined,
    undefined,
    undefined
  ])
})
