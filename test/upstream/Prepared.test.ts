// Tests a prepared call: the request it sends, and how it reads every kind of response.
// Must not open sockets.
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { describe, expect, it } from "vitest"
import { BodyInvalid } from "../../src/domain/GatewayError.ts"
import { readStream } from "../../src/translate/StreamReader.ts"
import { streamFailed, type Translator } from "../../src/translate/Translator.ts"
import { chatContext } from "../support/chat.ts"
import { prepare } from "../../src/upstream/Prepared.ts"

interface Reply {
  readonly say: string
  readonly args?: unknown
}
const Reply = Schema.Struct({ say: Schema.String, args: Schema.optionalKey(Schema.Any) })

/** Echoes its input; a failure contains its arguments. */
const echo: Translator<string, { readonly ask: string }, Reply, Reply, string, string, number> = {
  name: "echo",
  reply: Reply,
  event: Reply,
  request: (request) => Result.succeed({ body: { ask: request }, headers: { "x-body": "1" }, ignored: ["seed"] }),
  response: (reply, _, request) =>
    reply.say === "nothing"
      ? Result.fail({ _tag: "BadReply", kind: "no_content", message: "Nothing." })
      : Result.succeed(`${request}: ${reply.say}${reply.args === undefined ? "" : ` ${JSON.stringify(reply.args)}`}`),
  failure: (status, headers, body, origin) => ({
    _tag: "Internal",
    status,
    message: `${origin} ${headers["x-a"]} ${JSON.stringify(body)}`
  }),
  stream: () => ({
    initial: () => 0,
    step: (n, event) => [n + 1, [`${n} ${JSON.stringify(event)}`]],
    onHalt: (n) => [`end after ${n}`]
  })
}

const input = {
  translator: echo,
  request: "you",
  context: chatContext(),
  target: { slug: "google", kind: "google", modelId: "m", operation: "chat", optionIndex: 0, issuer: "gemini/google" },
  url: "https://example.com/v1",
  headers: { "x-route": "1" },
  origin: "stored",
  limits: { eventBytes: 100 }
} as const
const prepared = Result.getOrThrow(prepare(input))

const bytes = (text: string) => new TextEncoder().encode(text)
const read = (status: number, body: string | Uint8Array) =>
  Result.match(prepared.reply(status, { "x-a": "b" }, typeof body === "string" ? bytes(body) : body), {
    onSuccess: (out): unknown => out,
    onFailure: (error) => [error.slug, error.upstreamStatus, error.reason]
  })

describe("a prepared call", () => {
  it("prepared call: has the URL, headers, body and ignored parameters", () => {
    const { reply: _reply, chunks: _chunks, ...rest } = prepared
    expect(rest).toStrictEqual({
      target: {
        slug: "google",
        kind: "google",
        modelId: "m",
        operation: "chat",
        optionIndex: 0,
        issuer: "gemini/google"
      },
      method: "POST",
      url: "https://example.com/v1",
      headers: { "content-type": "application/json", "x-route": "1", "x-body": "1" },
      body: { ask: "you" },
      ignored: ["seed"],
      adjusted: undefined
    })
  })

  const bad = (status: number, kind: "unreadable" | "empty" | "redirect", message: string) => [
    "google",
    status,
    { _tag: "BadReply", kind, message }
  ]
  const failure = (http: number, status: number, body: string) => [
    "google",
    http,
    { _tag: "Internal", status, message: `stored b ${body}` }
  ]
  const notJson = "The upstream answered with something that is not JSON text."
  const shape = "The upstream answered with JSON of a shape that cannot be read."
  const cases: ReadonlyArray<readonly [string, number, string | Uint8Array, unknown]> = [
    ["a reply", 200, '{"say":"hi","more":1}', "you: hi"],
    [
      "integers beyond 2^53 with all digits (T513)",
      200,
      '{"say":"hi","args":{"id":12345678901234567890}}',
      'you: hi {"id":12345678901234567890}'
    ],
    [
      "a reply the translator refuses",
      200,
      '{"say":"nothing"}',
      ["google", 200, { _tag: "BadReply", kind: "no_content", message: "Nothing." }]
    ],
    ["garbage (F14)", 200, "<html>", bad(200, "unreadable", notJson)],
    ["cut JSON (F14)", 200, '{"say":"h', bad(200, "unreadable", notJson)],
    ["text that is not UTF-8 (F14)", 200, Uint8Array.of(34, 255, 34), bad(200, "unreadable", notJson)],
    ["null (F14)", 200, "null", bad(200, "unreadable", shape)],
    ["a wrong shape (F14)", 200, '{"say":7}', bad(200, "unreadable", shape)],
    ["no body (F14)", 200, "", bad(200, "empty", "The upstream answered without a body.")],
    ["a status 204 (F24)", 204, "", bad(204, "empty", "The upstream answered without a body.")],
    [
      "a redirect (F24)",
      302,
      '{"say":"hi"}',
      bad(302, "redirect", "The upstream answered with a redirect, which is never followed.")
    ],
    ["an error inside 200 (T1209)", 200, '{"error":{"code":429}}', failure(200, 429, '{"error":{"code":429}}')],
    ["an error without a code inside 200 (T1209)", 200, '{"error":{}}', failure(200, 500, '{"error":{}}')],
    [
      "an error in an array inside 200 (T1209)",
      200,
      '[{"error":{"code":503}}]',
      failure(200, 503, '[{"error":{"code":503}}]')
    ],
    ["an empty error member as no error (T1209)", 200, '{"error":null,"say":"hi"}', "you: hi"],
    ["an error body as JSON (T2301)", 400, '[{"error":{}}]', failure(400, 400, '[{"error":{}}]')],
    ["an error body as text (T2301)", 502, "<html>", failure(502, 502, '"<html>"')],
    ["an error body that is not UTF-8 (T2301)", 502, Uint8Array.of(255), failure(502, 502, '""')]
  ]
  for (const [name, status, body, out] of cases)
    it(`prepared call: reads ${name}`, () => expect(read(status, body)).toStrictEqual(out))

  const stream = (...pieces: ReadonlyArray<string>) => readStream(prepared.chunks({}), pieces.map(bytes))
  it("prepared call: passes events and the end of the stream to the translator", () =>
    expect(stream('data: {"say":"a"}\n\nda', 'ta: {"say":"b"}\r\n\r\n')).toStrictEqual([
      '0 {"say":"a"}',
      '1 {"say":"b"}',
      "end after 2"
    ]))

  it("prepared call: ends its stream with a failure of the framing (F22)", () =>
    expect(
      stream(`data: {"say":"a"}\n\ndata: "${"x".repeat(200)}"\n\ndata: {"say":"b"}\n\n`, 'data: {"say":"c"}\n\n')
    ).toStrictEqual([
      '0 {"say":"a"}',
      streamFailed({ _tag: "BadReply", kind: "too_large", message: "The upstream sent an event over the size limit." })
    ]))

  it("prepared call: reads an event that looks like a failure of the gateway as an event", () =>
    expect(stream('data: {"_tag":"StreamFailed"}\n\n')).toStrictEqual(['0 {"_tag":"StreamFailed"}', "end after 1"]))

  it("prepared call: is not made for a request that the translator refuses", () => {
    const fault = new BodyInvalid({ code: "invalid_value", param: "x", message: "No." })
    expect(prepare({ ...input, translator: { ...echo, request: () => Result.fail(fault) } })).toStrictEqual(
      Result.fail(fault)
    )
  })
})
