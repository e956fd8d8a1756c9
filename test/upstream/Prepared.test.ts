// A prepared call: what is sent, and how every kind of answer is read.
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { describe, expect, it } from "vitest"
import { BodyInvalid } from "../../src/domain/GatewayError.ts"
import { runMachine, streamFailed, type Translator } from "../../src/translate/Translator.ts"
import { chatContext } from "../support/chat.ts"
import { prepare } from "../../src/upstream/Prepared.ts"

interface Reply {
  readonly say: string
  readonly args?: unknown
}
const Reply = Schema.Struct({ say: Schema.String, args: Schema.optionalKey(Schema.Any) })

/** Says what it was given; a failure tells how it was asked. */
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
  it("is URL, headers, body and what was left out", () => {
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
      "T513 whole numbers beyond 2^53 keep their digits",
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
    ["F14 garbage", 200, "<html>", bad(200, "unreadable", notJson)],
    ["F14 cut JSON", 200, '{"say":"h', bad(200, "unreadable", notJson)],
    ["F14 text that is not UTF-8", 200, Uint8Array.of(34, 255, 34), bad(200, "unreadable", notJson)],
    ["F14 null", 200, "null", bad(200, "unreadable", shape)],
    ["F14 a wrong shape", 200, '{"say":7}', bad(200, "unreadable", shape)],
    ["F14 no body", 200, "", bad(200, "empty", "The upstream answered without a body.")],
    ["F24 204", 204, "", bad(204, "empty", "The upstream answered without a body.")],
    [
      "F24 a redirect",
      302,
      '{"say":"hi"}',
      bad(302, "redirect", "The upstream answered with a redirect, which is never followed.")
    ],
    ["T1209 an error inside 200", 200, '{"error":{"code":429}}', failure(200, 429, '{"error":{"code":429}}')],
    ["T1209 an error without a code inside 200", 200, '{"error":{}}', failure(200, 500, '{"error":{}}')],
    [
      "T1209 an error in an array inside 200",
      200,
      '[{"error":{"code":503}}]',
      failure(200, 503, '[{"error":{"code":503}}]')
    ],
    ["T1209 an empty error member is none", 200, '{"error":null,"say":"hi"}', "you: hi"],
    ["T2301 an error body as JSON", 400, '[{"error":{}}]', failure(400, 400, '[{"error":{}}]')],
    ["T2301 an error body as text", 502, "<html>", failure(502, 502, '"<html>"')],
    ["T2301 an error body that is not UTF-8", 502, Uint8Array.of(255), failure(502, 502, '""')]
  ]
  for (const [name, status, body, out] of cases) it(name, () => expect(read(status, body)).toStrictEqual(out))

  const stream = (...pieces: ReadonlyArray<string>) => runMachine(prepared.chunks({}), pieces.map(bytes))
  it("events go through the translator, and their end too", () =>
    expect(stream('data: {"say":"a"}\n\nda', 'ta: {"say":"b"}\r\n\r\n')).toStrictEqual([
      '0 {"say":"a"}',
      '1 {"say":"b"}',
      "end after 2"
    ]))

  it("F22 a failure of the framing ends everything", () =>
    expect(
      stream(`data: {"say":"a"}\n\ndata: "${"x".repeat(200)}"\n\ndata: {"say":"b"}\n\n`, 'data: {"say":"c"}\n\n')
    ).toStrictEqual([
      '0 {"say":"a"}',
      streamFailed({ _tag: "BadReply", kind: "too_large", message: "The upstream sent an event over the size limit." })
    ]))

  it("an event that looks like a failure of ours is an event", () =>
    expect(stream('data: {"_tag":"StreamFailed"}\n\n')).toStrictEqual(['0 {"_tag":"StreamFailed"}', "end after 1"]))

  it("a request the translator refuses is not prepared", () => {
    const fault = new BodyInvalid({ code: "invalid_value", param: "x", message: "No." })
    expect(prepare({ ...input, translator: { ...echo, request: () => Result.fail(fault) } })).toStrictEqual(
      Result.fail(fault)
    )
  })
})
