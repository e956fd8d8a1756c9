import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import { isJsonObject, parseBody } from "../../src/domain/text/json.ts"
import { defaultLimits } from "../../src/domain/Limits.ts"
import { noRedaction } from "../../src/domain/text/redaction.ts"
import { betaHeader } from "../../src/translate/shared/claude/betas.ts"
import {
  countedBody,
  messagesBody,
  messageStream,
  readCounted,
  readMessages
} from "../../src/translate/messages-to-claude.ts"
import { isStreamFailed, machine, runMachine } from "../../src/translate/Translator.ts"
import { loudlySkipped, recordings, schemaOracle, sharedDir } from "../support/shared.ts"

const encode = (text: string) => new TextEncoder().encode(text)
const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes)

const read = (text: string, by = readMessages) => {
  const bytes = encode(text)
  return Result.flatMap(parseBody(bytes, defaultLimits), (body) => by(body, bytes))
}
const request = (text: string, by = readMessages) => Result.getOrThrow(read(text, by))
const fault = (text: string, by = readMessages) => {
  const result = read(text, by)
  return Result.isFailure(result) ? [result.failure.code, result.failure.param, result.failure.message] : "taken"
}
const hello = '"messages":[{"role":"user","content":"Hi"}]'

describe("reading", () => {
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
  ])("T1904, B99 refuses %s", (text, expected) => {
    expect(fault(text)).toEqual(expected)
  })
  it("T1904, T1908 leaves everything else to the upstream", () => {
    expect(
      fault('{"model":"m","messages":[7,{"role":"system"}],"max_tokens":5,"temperature":"hot","new_field":{}}')
    ).toBe("taken")
  })
  it("does not ask for max_tokens when counting", () => {
    expect(fault(`{"model":"m",${hello}}`, readCounted)).toBe("taken")
  })
  it("T1832 reads flags as text and as a list", () => {
    expect(request(`{"model":"m",${hello},"max_tokens":5,"anthropic_beta":"a, b"}`).betas).toEqual(["a", "b"])
    expect(request(`{"model":"m",${hello},"max_tokens":5,"anthropic_beta":["a","b","a"]}`).betas).toEqual(["a", "b"])
  })
})

describe("table 7", () => {
  it("T1801, T1901 takes the model out, sets the version, and keeps every other byte", () => {
    const kept = '"max_tokens": 5, "n":12345678901234567890 ,"s":"\\u00e9","stream" : true,'
    expect(decode(messagesBody(request(`{"model":"@v/anthropic.claude-x", ${kept}${hello}}`)))).toBe(
      `{${kept}${hello},"anthropic_version":"vertex-2023-10-16"}`
    )
  })
  it("T1801 replaces another version in its place, and moves the flags to the header", () => {
    const text = `{"anthropic_version":"2023-06-01","model":"m",${hello},"anthropic_beta":["a"],"max_tokens":5}`
    expect(decode(messagesBody(request(text)))).toBe(
      `{"anthropic_version":"vertex-2023-10-16",${hello},"max_tokens":5}`
    )
  })
  it("names the model in the body of a count, without an alias and without stream", () => {
    const body = request(`{"model":"@v/anthropic.claude-x","stream":false,${hello},"system":"s"}`, readCounted)
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
  it("T1832, T1911 joins the flags of all places, each once", () => {
    expect(Result.getOrThrow(betaHeader(["b", "a", "b"]))).toEqual({ "anthropic-beta": "b,a" })
    expect(Result.getOrThrow(betaHeader([]))).toEqual({})
    expect(Result.isFailure(betaHeader(Array.from({ length: 21 }, (_, n) => `flag-${n}`)))).toBe(true)
  })
})

const limits = { eventBytes: 1000 }
const stream = (pieces: ReadonlyArray<Uint8Array>, bound = limits) => {
  const out = runMachine(machine(messageStream(bound, noRedaction)), pieces)
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

describe("streams", () => {
  it("T1902, L26 pass as they came, all of a read as one piece", () => {
    expect(stream([encode(whole)])).toEqual({ text: whole, pieces: 1, reason: undefined })
  })
  it("L6 are the same wherever the bytes are cut, and hold whole frames", () => {
    const bytes = encode(whole)
    for (let at = 0; at <= bytes.length; at++) {
      const { text, reason } = stream([bytes.subarray(0, at), bytes.subarray(at)])
      expect([text, reason]).toEqual([whole, undefined])
    }
    const [first] = machine(messageStream(limits, noRedaction)).steps([bytes.subarray(0, 60)])[1]
    expect(first instanceof Uint8Array ? decode(first) : first).toBe(event("message_start"))
  })
  it("T1907, L7 that end early fail behind the last whole frame", () => {
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
  it("T1840 that begin with an error fail before anything went out", () => {
    expect(stream([encode(overloaded)])).toEqual({
      text: "",
      pieces: 0,
      reason: { _tag: "Overloaded", code: "upstream_overloaded", message: "Overloaded" }
    })
  })
  it("T1906 pass an error of the upstream behind the first event, and owe nothing behind it", () => {
    const text = event("message_start") + overloaded
    expect(stream([encode(text)])).toEqual({ text, pieces: 1, reason: undefined })
  })
  it("fail on Google's own error, which no client of this dialect can read", () => {
    const error = 'data: {"error":{"code":429,"message":"Quota exceeded","status":"RESOURCE_EXHAUSTED"}}\r\n\r\n'
    const { text, reason } = stream([encode(event("message_start")), encode(error)])
    expect([text, reason?._tag]).toEqual([event("message_start"), "RateLimited"])
  })
  it("fail on an error in plain JSON where a stream should be", () => {
    const error = '[{\n "error": {"code":503,"message":"Busy","status":"UNAVAILABLE"}\n}]\n'
    expect(stream([encode(error)]).reason?._tag).toBe("Overloaded")
    expect(stream([encode("<html></html>")]).reason?._tag).toBe("BadReply")
  })
  it("know the end by the type in the data when no event is named", () => {
    expect(stream([encode('data: {"type":"message_stop"}\n\n')]).reason).toBeUndefined()
  })
  it("pass what comes behind the end, and drop what was cut there", () => {
    const more = ": bye\n\n"
    expect(stream([encode(whole), encode(more), encode("data: ha")])).toEqual({
      text: whole + more,
      pieces: 2,
      reason: undefined
    })
  })
  it("fail on an event over the limit, and stay silent then", () => {
    const long = encode(`event: content_block_delta\ndata: ${"x".repeat(100)}`)
    expect(stream([encode(event("message_start")), long, long, encode("\n\n")], { eventBytes: 200 })).toEqual({
      text: event("message_start"),
      pieces: 1,
      reason: { _tag: "BadReply", kind: "too_large", message: "The upstream sent an event over the size limit." }
    })
  })
})

describe.skipIf(sharedDir() === undefined)("recorded traffic", () => {
  const all = [...recordings("vertex-anthropic"), ...recordings("anthropic-api")]

  it("L12, L26 every accepted body stays itself but for table 7, and is one Vertex AI describes", () => {
    const oracle = schemaOracle("anthropic.schema.json", "VertexBetaMessageCreateRequest")
    // One id lost its prefix while it was redacted.
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
  it("T1902 every recorded stream passes byte by byte", () => {
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
