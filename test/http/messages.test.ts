// Tests POST /v1/messages and its token count through every layer: exact bytes both ways, errors in Anthropic's format.
// Must not reach the network: upstreams are scripted.
import { request as httpRequest } from "node:http"
import * as Layer from "effect/Layer"
import { afterAll, describe, expect, it } from "vitest"
import { Gateway } from "../../src/Gateway.ts"
import { webFace } from "../support/ways.ts"
import type { TransportRequest } from "../../src/upstream/HttpExchange.ts"
import { type ScriptedResponse, Transport } from "../../src/upstream/Transport.ts"
import { googleAccount, vertexAccount } from "../support/account.ts"
import { until, within } from "../support/eventually.ts"
import { gatewayKey, settingsFor, startTestGateway } from "../support/TestGateway.ts"

interface Sent {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

const seen: Array<Sent> = []
let next: ScriptedResponse = { status: 200 }
const { handler, dispose } = webFace(
  Gateway.layerNoDeps(settingsFor("http://unused.invalid", { accounts: [vertexAccount, googleAccount] })).pipe(
    Layer.provide(
      Transport.layerTest(({ url, headers, body }: TransportRequest) => {
        seen.push({ url, headers, body: typeof body === "string" ? body : new TextDecoder().decode(body) })
        return next
      })
    )
  )
)
afterAll(() => dispose())

const send = async (body: string, headers: Record<string, string> = {}, path = "/v1/messages") => {
  seen.length = 0
  const answer = await handler(
    new Request(`http://gateway${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-api-key": gatewayKey, "x-request-id": "r1", ...headers },
      body
    })
  )
  return { status: answer.status, headers: answer.headers, text: await answer.text() }
}
const place =
  "https://us-central1-aiplatform.googleapis.com/v1/projects/test-project/locations/us-central1/publishers/anthropic/models"
const model = "@vertex-ai/anthropic.claude-sonnet-4-5@20250929"
const hello = '"messages":[{"role":"user","content":"Hi"}]'
const ask = (more = "", of = model) => `{"model":"${of}","max_tokens":5,${hello}${more}}`
const error = (type: string, message: string) =>
  `${JSON.stringify({ type: "error", error: { type, message }, request_id: "r1" })}`
const event = (type: string, more = "") => `event: ${type}\ndata: {"type":"${type}"${more}  }\n\n`

describe("messages", () => {
  it("messages: the request and the answer keep their bytes (T1801, T1901, T1902)", async () => {
    const reply = '{ "id":"msg_vrtx_1", "type":"message",\n"big": 12345678901234567890, "s":"\\u00e9" }\n'
    next = { status: 200, headers: { "content-type": "application/json; x=1" }, chunks: [reply] }
    const kept = '"top_k" : 12345678901234567890,"new_feature":{"deep":[1.0,"\\u00e9"]}'
    const answer = await send(
      `{ "max_tokens":5, "model":"${model}", ${kept},${hello} }`,
      { "anthropic-version": "2023-06-01" },
      "/v1/messages?beta=true"
    )
    expect([answer.status, answer.headers.get("content-type"), answer.text]).toEqual([
      200,
      "application/json; x=1",
      reply
    ])
    expect(seen).toEqual([
      {
        url: `${place}/claude-sonnet-4-5@20250929:rawPredict`,
        headers: { "content-type": "application/json" },
        body: `{ "max_tokens":5, ${kept},${hello},"anthropic_version":"vertex-2023-10-16" }`
      }
    ])
    expect([
      answer.headers.get("x-gateway-provider"),
      answer.headers.get("request-id"),
      answer.headers.get("x-gateway-cache-status")
    ]).toEqual(["vertex-ai", "r1", "DISABLED"])
  })
  it("messages: a stream keeps its bytes (T1902)", async () => {
    const frames = [
      event("message_start"),
      event("ping"),
      event("vertex_event"),
      event("content_block_delta", ',"x":"é"'),
      event("message_stop")
    ].join("")
    const bytes = new TextEncoder().encode(frames)
    next = {
      status: 200,
      headers: { "content-type": "text/event-stream; charset=utf-8" },
      chunks: [bytes.subarray(0, 70), bytes.subarray(70, 151), bytes.subarray(151)]
    }
    const answer = await send(ask(',"stream":true'))
    expect([answer.status, answer.headers.get("content-type"), answer.text]).toEqual([
      200,
      "text/event-stream; charset=utf-8",
      frames.replace(event("vertex_event"), "")
    ])
    expect(seen[0]?.url).toBe(`${place}/claude-sonnet-4-5@20250929:streamRawPredict`)
    expect(seen[0]?.body).toBe(`{"max_tokens":5,${hello},"stream":true,"anthropic_version":"vertex-2023-10-16"}`)
  })
  it("messages: a newer anthropic-version of the header goes into the body, and fields bring their flags (M-830, M-811)", async () => {
    next = { status: 200, chunks: ["{}"] }
    const field = ',"context_management":{"edits":[]}'
    await send(ask(field), { "anthropic-version": "2026-10-21", "anthropic-beta": "a" })
    expect(seen).toEqual([
      {
        url: `${place}/claude-sonnet-4-5@20250929:rawPredict`,
        headers: { "content-type": "application/json", "anthropic-beta": "a,context-management-2025-06-27" },
        body: `{"max_tokens":5,${hello}${field},"anthropic_version":"2026-10-21"}`
      }
    ])
  })
  it("messages: a model that needs data retention is refused with a hint, and not retried (M-831)", async () => {
    const message = "Your organization must have data retention enabled to use this model."
    next = { status: 400, chunks: [error("invalid_request_error", message)] }
    const answer = await send(ask("", "@vertex-ai/anthropic.claude-fable-5-2"))
    expect([answer.status, answer.headers.get("x-should-retry"), answer.text]).toEqual([
      403,
      "false",
      error(
        "permission_error",
        `${message} Enable 30 days of data retention for the organisation, or use another model.`
      )
    ])
  })
  it("messages: flags of both headers and of the body join into one header (T1832, T1911)", async () => {
    next = { status: 200, chunks: ["{}"] }
    await send(ask(',"anthropic_beta":["c","a"]'), { "anthropic-beta": "a, b", "x-gateway-anthropic-beta": "b" })
    expect([seen[0]?.headers["anthropic-beta"], seen[0]?.body.includes("beta")]).toEqual(["a,b,c", false])
    expect(await send(ask(), { "anthropic-beta": "a b" })).toMatchObject({
      status: 400,
      text: error(
        "invalid_request_error",
        'anthropic-beta is a comma-separated list of at most 20 flags of letters, digits and "-".'
      )
    })
  })
  it.each([
    ["claude-sonnet-4-5-20250929", "claude-sonnet-4-5@20250929"],
    ["@vertex-ai/anthropic/claude-opus-4-8", "claude-opus-4-8"],
    ["@vertex-ai/publishers/anthropic/models/claude-x@default", "claude-x@default"]
  ])("messages: the model %s is accepted (T1802)", async (of, id) => {
    next = { status: 200, chunks: ["{}"] }
    await send(ask("", of), { "x-gateway-provider": "vertex-ai" })
    expect(seen[0]?.url).toBe(`${place}/${id}:rawPredict`)
  })
  it("messages: strict mode changes nothing (T1909)", async () => {
    next = { status: 200, chunks: ['{"type":"message","extra":1}'] }
    expect((await send(ask(), { "x-gateway-strict-schema-compliance": "false" })).text).toBe(
      '{"type":"message","extra":1}'
    )
    expect((await send(ask(), { "x-gateway-strict-schema-compliance": "true" })).text).toBe(
      '{"type":"message","extra":1}'
    )
  })
  it("messages: a dry run shows the upstream request and sends nothing", async () => {
    const answer = await send(ask(',"n":12345678901234567890'), { "x-gateway-dry-run": "true", "anthropic-beta": "a" })
    expect(answer.text).toBe(
      `{"object":"dry_run","provider":"vertex-ai","target_index":0,"method":"POST","url":"${place}/claude-sonnet-4-5@20250929:rawPredict",` +
        '"headers":{"content-type":"application/json","anthropic-beta":"a","authorization":"Bearer <redacted>"},' +
        `"body":{"max_tokens":5,${hello},"n":12345678901234567890,"anthropic_version":"vertex-2023-10-16"},"ignored_params":[],"adjusted_params":[]}`
    )
    expect(seen).toEqual([])
  })
})

describe("token count of messages", () => {
  const path = "/v1/messages/count_tokens"
  it("messages count: sends the model in the body and returns the upstream's bytes", async () => {
    next = { status: 200, headers: { "content-type": "application/json" }, chunks: ['{"input_tokens":8 }'] }
    const answer = await send(`{"model":"@vertex-ai/anthropic.claude-x@default",${hello},"tools":[]}`, {}, path)
    expect([answer.status, answer.text]).toEqual([200, '{"input_tokens":8 }'])
    expect(seen).toEqual([
      {
        url: `${place}/count-tokens:rawPredict`,
        headers: { "content-type": "application/json" },
        body: `{"model":"claude-x",${hello},"tools":[],"anthropic_version":"vertex-2023-10-16"}`
      }
    ])
  })
  it.each(["null", "{}", "[[[[]]]]", '{"input_tokens":"x"}'])(
    "messages count: a 200 of %s is no answer (T1905)",
    async (body) => {
      next = { status: 200, chunks: [body] }
      const answer = await send(`{"model":"${model}",${hello}}`, {}, path)
      expect([answer.status, answer.text]).toEqual([
        502,
        error("api_error", "The upstream answered with JSON that does not have the shape of an answer.")
      ])
    }
  )
  it("messages count: serves Claude only (T1903)", async () => {
    expect(await send(`{"model":"@vertex-ai/gemini-2.5-pro",${hello}}`, {}, path)).toMatchObject({
      status: 400,
      text: error(
        "invalid_request_error",
        '"gemini-2.5-pro" on vertex-ai is not a Claude model of Vertex AI, and this route takes no other: use /v1/chat/completions/count_tokens. An operator allows it with messages.other_models: translate.'
      )
    })
  })
  it("messages count: a dry run shows the call", async () => {
    const answer = await send(`{"model":"${model}",${hello}}`, { "x-gateway-dry-run": "true" }, path)
    expect(JSON.parse(answer.text)).toMatchObject({
      url: `${place}/count-tokens:rawPredict`,
      body: { model: "claude-sonnet-4-5@20250929" }
    })
  })
})

describe("errors of messages", () => {
  const google = (code: number, status: string, message: string) => ({
    status: code,
    chunks: [JSON.stringify({ error: { code, message, status } })]
  })
  const anthropic = (code: number, type: string, message: string) => ({
    status: code,
    chunks: [JSON.stringify({ type: "error", error: { type, message }, request_id: "req_vrtx_1" })]
  })
  it.each<readonly [string, ScriptedResponse, number, string, string]>([
    [
      "a refused body",
      anthropic(400, "invalid_request_error", "xyz: Extra inputs are not permitted"),
      400,
      "invalid_request_error",
      "xyz: Extra inputs are not permitted"
    ],
    [
      "an unknown model",
      google(404, "NOT_FOUND", "Publisher Model was not found."),
      404,
      "not_found_error",
      "Publisher Model was not found."
    ],
    ["a quota", google(429, "RESOURCE_EXHAUSTED", "Quota exceeded."), 429, "rate_limit_error", "Quota exceeded."],
    [
      "a missing permission",
      google(403, "PERMISSION_DENIED", "No."),
      403,
      "permission_error",
      'The gateway\'s credential for "vertex-ai" may not do this at Google; ask its operator: No.'
    ],
    [
      "a request that is too large",
      anthropic(413, "request_too_large", "Too large."),
      413,
      "request_too_large",
      "Too large."
    ],
    [
      "a prompt that is too long",
      anthropic(400, "invalid_request_error", "prompt is too long: 2 tokens > 1 maximum"),
      400,
      "invalid_request_error",
      "prompt is too long: 2 tokens > 1 maximum"
    ],
    ["an overload", anthropic(529, "overloaded_error", "Overloaded"), 529, "overloaded_error", "Overloaded"],
    ["a timeout", google(504, "DEADLINE_EXCEEDED", "Late."), 504, "timeout_error", "Late."],
    [
      "an internal failure",
      anthropic(500, "api_error", "Internal server error"),
      502,
      "api_error",
      "Internal server error"
    ],
    [
      "an error in a 200",
      { status: 200, chunks: ['{"type":"error","error":{"type":"api_error","message":"Oh"}}'] },
      502,
      "api_error",
      "Oh"
    ],
    [
      "an HTML page",
      { status: 200, chunks: ["<html>"] },
      502,
      "api_error",
      "The upstream answered with something that is not JSON text."
    ],
    ...["null", "{}", "[[[[]]]]", '[{"type":"message"}]', '{"type":7,"content":"x"}'].map(
      (body): [string, ScriptedResponse, number, string, string] => [
        body,
        { status: 200, chunks: [body] },
        502,
        "api_error",
        "The upstream answered with JSON that does not have the shape of an answer."
      ]
    ),
    ["an empty body", { status: 200 }, 502, "api_error", "The upstream answered without a body."],
    [
      "a refused stored credential",
      google(401, "UNAUTHENTICATED", "No."),
      502,
      "api_error",
      'The gateway\'s credential for "vertex-ai" was refused by Google; ask its operator: No.'
    ]
  ])(
    "messages: the upstream failure is an error in Anthropic's format: %s (T1905)",
    async (_name, scripted, status, type, message) => {
      next = scripted
      const answer = await send(ask())
      expect([answer.status, answer.text]).toEqual([status, error(type, message)])
      const streamed = await send(ask(',"stream":true'))
      if (scripted.status !== 200) expect([streamed.status, streamed.text]).toEqual([status, error(type, message)])
    }
  )
  it.each([
    ["no model (B99)", `{"max_tokens":5,${hello}}`, 400, "invalid_request_error", "model is missing."],
    ["no token limit (B99)", `{"model":"${model}",${hello}}`, 400, "invalid_request_error", "max_tokens is missing."],
    [
      "a body that is not JSON",
      "{",
      400,
      "invalid_request_error",
      "The request body is not valid JSON: it breaks at character 1."
    ],
    [
      "a Gemini model (T1903)",
      ask("", "@vertex-ai/gemini-2.5-pro"),
      400,
      "invalid_request_error",
      '"gemini-2.5-pro" on vertex-ai is not a Claude model of Vertex AI, and this route takes no other: use /v1/chat/completions. An operator allows it with messages.other_models: translate.'
    ],
    [
      "Claude on the Gemini API (T1903)",
      ask("", "@google/anthropic.claude-x"),
      400,
      "invalid_request_error",
      '"anthropic.claude-x" on google is not a Claude model of Vertex AI, and this route takes no other: use /v1/chat/completions. An operator allows it with messages.other_models: translate.'
    ],
    [
      "an unknown slug",
      ask("", "@nobody/claude-x"),
      404,
      "not_found_error",
      'There is no provider "nobody"; known here: vertex-ai, google.'
    ]
  ])(
    "messages: a refusal is an error in Anthropic's format: %s (T1905)",
    async (_name, body, status, type, message) => {
      const answer = await send(body)
      expect([answer.status, answer.text, seen]).toEqual([status, error(type, message), []])
    }
  )
  it("messages: a missing key is an error in Anthropic's format (T1905)", async () => {
    expect(await send(ask(), { "x-api-key": "" })).toMatchObject({
      status: 401,
      headers: expect.anything(),
      text: error(
        "authentication_error",
        "No gateway key: send it as x-gateway-api-key, or as the API key of your SDK."
      )
    })
  })
})

describe("errors inside a stream of messages", () => {
  const overloaded = event("error", ',"error":{"type":"overloaded_error","message":"Overloaded"}')
  const streamOf = (...chunks: ReadonlyArray<string>) => {
    next = { status: 200, headers: { "content-type": "text/event-stream" }, chunks }
    return send(ask(',"stream":true'))
  }
  it("messages: an error as the first event becomes a status (T1840)", async () => {
    expect(await streamOf(overloaded)).toMatchObject({ status: 529, text: error("overloaded_error", "Overloaded") })
  })
  it("messages: a later error event passes unchanged, and nothing follows (T1906)", async () => {
    expect((await streamOf(event("message_start"), overloaded)).text).toBe(event("message_start") + overloaded)
  })
  it("messages: a stream without message_stop ends in one error event (T1907)", async () => {
    expect((await streamOf(event("message_start"), event("content_block_delta"), "event: message_st")).text).toBe(
      `${event("message_start")}${event("content_block_delta")}event: error\ndata: ${error(
        "api_error",
        "The upstream ended its answer without a finish reason; it is not complete."
      )}\n\n`
    )
  })
  it("messages: a broken connection ends in one error event (T1907)", async () => {
    next = { status: 200, chunks: [event("message_start")], fault: "reset" }
    expect((await send(ask(',"stream":true'))).text).toBe(
      `${event("message_start")}event: error\ndata: ${error("api_error", "The upstream closed the connection in the middle of its answer.")}\n\n`
    )
  })
})

describe("messages on a socket", () => {
  /** Asks for a stream; `until` resolves with the text once it holds something. */
  const open = (url: string, of: string) => {
    const sent = httpRequest(`${url}/v1/messages`, {
      method: "POST",
      agent: false,
      headers: { "content-type": "application/json", "x-api-key": gatewayKey }
    })
    sent.on("error", () => undefined)
    sent.end(ask(',"stream":true', of))
    let text = ""
    const wanted: Array<{ readonly part: string; readonly found: (text: string) => void }> = []
    const look = () => wanted.filter(({ part }) => text.includes(part)).forEach(({ found }) => found(text))
    sent.once("response", (response) => {
      response.on("error", () => undefined)
      response.on("data", (bytes: Buffer) => {
        text += bytes.toString()
        look()
      })
    })
    return {
      until: (part: string) => within(part, new Promise<string>((found) => (wanted.push({ part, found }), look()))),
      leave: () => sent.destroy()
    }
  }
  it("messages: ping events between whole frames bridge silence (T1902)", async () => {
    const gateway = await startTestGateway({ limits: { pingMillis: 20 } })
    gateway.simulator.script([
      { for: "model", headers: { "content-type": "text/event-stream" }, chunks: [event("message_start")], end: "hang" }
    ])
    const stream = open(gateway.url, "@vertex-ai/claude-sonnet-4-5")
    const ping = 'event: ping\ndata: {"type": "ping"}\n\n'
    const text = await stream.until(ping + ping)
    expect(text.startsWith(event("message_start") + ping)).toBe(true)
    stream.leave()
    await gateway.close()
  })
  it("messages: a client that leaves closes the upstream stream (T1322)", async () => {
    const gateway = await startTestGateway()
    const { counters } = gateway.simulator
    const stream = open(gateway.url, "@vertex-ai/anthropic.demo-endless")
    await stream.until("text_delta")
    stream.leave()
    await until(() => counters.abortedStreams > 0)
    expect([counters.abortedStreams, counters.openStreams]).toEqual([1, 0])
    await gateway.close()
  })
})
