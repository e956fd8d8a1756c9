// Tests POST /v1/messages with models that are not Claude through every layer: permission, plans, bytes, errors, counts.
// Must not reach the network: upstreams are scripted.
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { afterAll, describe, expect, it } from "vitest"
import { Gateway } from "../../src/Gateway.ts"
import type { OtherModelsRule } from "../../src/domain/serving.ts"
import type { TransportRequest } from "../../src/upstream/HttpExchange.ts"
import { type ScriptedResponse, Transport } from "../../src/upstream/Transport.ts"
import { googleAccount, vertexAccount } from "../support/account.ts"
import { clientRequests } from "../support/clientRequests.ts"
import { sharedDir } from "../support/shared.ts"
import { gatewayKey, type MoreSettings, settingsFor, startTestGateway } from "../support/TestGateway.ts"
import { webFace } from "../support/ways.ts"

interface Sent {
  readonly url: string
  readonly body: string
}

const seen: Array<Sent> = []
let script: ReadonlyArray<ScriptedResponse> = []

const keyOf = (name: string, otherModels: OtherModelsRule): NonNullable<MoreSettings["keys"]>[number] => ({
  name,
  key: Redacted.make(`mgk_${name}0000000000000000000000000000`),
  other_models: { messages: otherModels }
})

const face = (otherModels: OtherModelsRule) =>
  webFace(
    Gateway.layerNoDeps(
      settingsFor("http://unused.invalid", {
        accounts: [vertexAccount, googleAccount],
        messages: { otherModels },
        keys: [
          { name: "test", key: Redacted.make(gatewayKey) },
          keyOf("granted", "translate"),
          keyOf("refused", "refuse")
        ]
      })
    ).pipe(
      Layer.provide(
        Transport.layerTest(({ body, url }: TransportRequest) => {
          seen.push({ url, body: typeof body === "string" ? body : new TextDecoder().decode(body) })
          return script[Math.min(seen.length, script.length) - 1] ?? { status: 500 }
        })
      )
    )
  )
const on = face("translate")
const off = face("refuse")
afterAll(async () => {
  await on.dispose()
  await off.dispose()
})

const send = async (
  body: object | string,
  headers: Record<string, string> = {},
  { handler } = on,
  path = "/v1/messages"
) => {
  seen.length = 0
  const answer = await handler(
    new Request(`http://gateway${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-api-key": gatewayKey, "x-request-id": "r1", ...headers },
      body: typeof body === "string" ? body : JSON.stringify(body)
    })
  )
  const text = await answer.text()
  return { status: answer.status, headers: answer.headers, text, json: () => JSON.parse(text) }
}

const gemini = "@google/gemini-3.8-flash"
const claude = "@vertex-ai/anthropic.claude-sonnet-4-5@20250929"
const ask = (more: object = {}, model = gemini) => ({
  model,
  max_tokens: 500,
  messages: [{ role: "user", content: "Hi" }],
  ...more
})
const usageMetadata = { promptTokenCount: 4, candidatesTokenCount: 2, totalTokenCount: 6 }
const reply = (...parts: ReadonlyArray<object>): ScriptedResponse => ({
  status: 200,
  chunks: [
    JSON.stringify({
      candidates: [{ content: { role: "model", parts }, finishReason: "STOP" }],
      usageMetadata,
      modelVersion: "gemini-3.8-flash"
    })
  ]
})
const sse = (...events: ReadonlyArray<object>): ScriptedResponse => ({
  status: 200,
  headers: { "content-type": "text/event-stream" },
  chunks: events.map((event) => `data: ${JSON.stringify(event)}\r\n\r\n`)
})
const refusal = (code: number, status: string, message: string): ScriptedResponse => ({
  status: code,
  chunks: [JSON.stringify({ error: { code, message, status } })]
})
const fault = (type: string, message: string) =>
  JSON.stringify({ type: "error", error: { type, message }, request_id: "r1" })

describe("the permission to serve other models", () => {
  it("messages: other models are refused unless an operator allows them, and the refusal names the setting (D103)", async () => {
    const answer = await send(ask(), {}, off)
    expect([answer.status, answer.text, seen]).toEqual([
      400,
      fault(
        "invalid_request_error",
        '"gemini-3.8-flash" on google is not a Claude model of Vertex AI, and this route takes no other: use /v1/chat/completions. An operator allows it with messages.other_models: translate.'
      ),
      []
    ])
  })

  it.each([
    ["a key that allows them", off, "granted", undefined, 200],
    ["a key that refuses them", on, "refused", undefined, 400],
    ["a key that refuses them, whatever a config states", on, "refused", "translate", 400],
    ["a config that allows them", off, undefined, "translate", 200],
    ["a config that refuses them", on, undefined, "refuse", 400]
  ] as const)("messages: other models by %s (D104)", async (_name, one, key, rule, status) => {
    script = [reply({ text: "Hello." })]
    const config = { provider: "@google", other_models: { messages: rule } }
    const answer = await send(
      ask({}, rule === undefined ? gemini : "gemini-3.8-flash"),
      {
        ...(key === undefined ? {} : { "x-api-key": `mgk_${key}0000000000000000000000000000` }),
        ...(rule === undefined ? {} : { "x-gateway-config": JSON.stringify(config) })
      },
      one
    )
    expect([answer.status, seen.length, answer.text.includes("messages.other_models: translate")]).toEqual(
      status === 200 ? [200, 1, false] : [400, 0, true]
    )
  })

  it("messages: the bytes for Claude and its answer are the same with the setting and without it (D105)", async () => {
    const bytes = '{ "id":"msg_1", "type":"message",\n"big": 12345678901234567890 }\n'
    const body = `{ "max_tokens":5, "model":"${claude}", "top_k" : 12345678901234567890,"messages":[{"role":"user","content":"Hi"}] }`
    const both = []
    for (const one of [on, off]) {
      script = [{ status: 200, headers: { "content-type": "application/json" }, chunks: [bytes] }]
      const answer = await send(body, {}, one)
      both.push([answer.status, answer.text, answer.headers.get("x-gateway-translated"), [...seen]])
    }
    expect(both[0]).toEqual(both[1])
    expect(both[0]?.slice(0, 3)).toEqual([200, bytes, null])
  })
})

describe("messages of other models", () => {
  it("messages: the request is a chat's, the answer a message (D101 D401)", async () => {
    script = [reply({ text: "Hello." })]
    const answer = await send(ask({ system: "Be short.", metadata: { user_id: "u" }, speed: "fast" }))
    expect(answer.status).toBe(200)
    expect(answer.json()).toEqual({
      id: expect.stringMatching(/^msg_[0-9a-f]{32}$/),
      type: "message",
      role: "assistant",
      model: "gemini-3.8-flash",
      content: [{ type: "text", text: "Hello." }],
      stop_reason: "end_turn",
      stop_sequence: null,
      stop_details: null,
      usage: { input_tokens: 4, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 2 }
    })
    expect(seen.map(({ body, url }) => [url, JSON.parse(body)])).toEqual([
      [
        "https://generativelanguage.googleapis.com/v1beta/models/gemini-3.8-flash:generateContent",
        {
          contents: [{ role: "user", parts: [{ text: "Hi" }] }],
          systemInstruction: { parts: [{ text: "Be short." }] },
          generationConfig: { maxOutputTokens: 500 }
        }
      ]
    ])
    expect([answer.headers.get("x-gateway-translated"), answer.headers.get("x-gateway-ignored-params")]).toEqual([
      "messages-to-chat",
      "speed"
    ])
  })

  it("messages: a config falls back from Claude to Gemini and back, each by its own way (D101 D804)", async () => {
    const config = (...targets: ReadonlyArray<string>) => ({
      "x-gateway-config": JSON.stringify({
        strategy: { mode: "fallback" },
        targets: targets.map((model) => ({ override_params: { model } }))
      })
    })
    const message = '{"id":"msg_1","type":"message","role":"assistant","content":[]}'
    script = [refusal(503, "UNAVAILABLE", "busy"), reply({ text: "I am Gemini." })]
    const first = await send(ask({}, claude), config(claude, gemini))
    expect([first.status, first.json().content, seen.map(({ url }) => /[^/]+:\w+$/.exec(url)?.[0])]).toEqual([
      200,
      [{ type: "text", text: "I am Gemini." }],
      ["claude-sonnet-4-5@20250929:rawPredict", "gemini-3.8-flash:generateContent"]
    ])
    script = [refusal(503, "UNAVAILABLE", "busy"), { status: 200, chunks: [message] }]
    const second = await send(ask(), config(gemini, claude))
    expect([second.status, second.text]).toEqual([200, message])
  })

  it("messages: signatures of calls come back through the client, and through the memory without it (D301 D307)", async () => {
    const tools = [{ name: "look", input_schema: { type: "object", properties: {} } }]
    const call = { functionCall: { name: "look", args: {} }, thoughtSignature: "c2lnbmVk" }
    script = [reply(call)]
    const { content } = (await send(ask({ tools }))).json()
    expect(content.map(({ type }: { type: string }) => type)).toEqual(["redacted_thinking", "tool_use"])
    expect(content[0].data).toMatch(/^mgr1\.[\w-]+$/)
    for (const turn of [content, content.slice(1)]) {
      script = [reply({ text: "done" })]
      const result = { type: "tool_result", tool_use_id: content[1].id, content: "ok", is_error: true }
      await send(
        ask({
          tools,
          messages: [
            { role: "user", content: "Hi" },
            { role: "assistant", content: turn },
            { role: "user", content: [result] }
          ]
        })
      )
      const [, model, results] = JSON.parse(seen[0]?.body ?? "").contents
      expect(model.parts[0]).toMatchObject({ functionCall: { name: "look" }, thoughtSignature: "c2lnbmVk" })
      expect(results.parts[0].functionResponse.response).toEqual({ error: "ok" })
    }
  })

  it("messages: a stream of a signed call feeds the memory too (D307)", async () => {
    const tools = [{ name: "look", input_schema: { type: "object", properties: {} } }]
    const call = { functionCall: { name: "look", args: {} }, thoughtSignature: "c3RyZWFt" }
    script = [sse({ candidates: [{ content: { parts: [call] }, finishReason: "STOP" }], usageMetadata })]
    const streamed = await send(ask({ tools, stream: true }))
    const id = /"type":"tool_use","id":"([^"]+)"/.exec(streamed.text)?.[1] ?? ""
    script = [reply({ text: "done" })]
    const use = { type: "tool_use", id, name: "look", input: {} }
    await send(
      ask({
        tools,
        messages: [
          { role: "user", content: "Hi" },
          { role: "assistant", content: [use] },
          { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: "ok" }] }
        ]
      })
    )
    expect(JSON.parse(seen[0]?.body ?? "").contents[1].parts[0].thoughtSignature).toBe("c3RyZWFt")
  })

  it("messages: a stream has Anthropic's frames from the first event to the last (D410)", async () => {
    script = [
      sse(
        { candidates: [{ content: { parts: [{ text: "a" }] } }], modelVersion: "gemini-3.8-flash" },
        { candidates: [{ content: { parts: [{ text: "b" }] }, finishReason: "MAX_TOKENS" }], usageMetadata }
      )
    ]
    const answer = await send(ask({ stream: true }))
    expect(answer.headers.get("content-type")).toMatch(/^text\/event-stream/)
    const [start = "", ...frames] = answer.text.split("\n\n")
    expect(start).toMatch(/^event: message_start\ndata: \{"type":"message_start","message":\{"id":"msg_[0-9a-f]{32}"/)
    expect(frames).toEqual([
      'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}',
      'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}',
      'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"b"}}',
      'event: content_block_stop\ndata: {"type":"content_block_stop","index":0}',
      'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"max_tokens","stop_sequence":null,"stop_details":null},"usage":{"input_tokens":4,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":2}}',
      'event: message_stop\ndata: {"type":"message_stop"}',
      ""
    ])
  })

  it("messages: a stream that breaks ends in an error event, and no block is closed for it (D415)", async () => {
    script = [
      sse(
        { candidates: [{ content: { parts: [{ text: "a" }] } }] },
        { error: { code: 503, message: "The model is overloaded.", status: "UNAVAILABLE" } }
      )
    ]
    const { text } = await send(ask({ stream: true }))
    const frames = text.split("\n\n").filter((frame) => frame !== "")
    expect(frames.map((frame) => frame.split("\n")[0])).toEqual([
      "event: message_start",
      "event: content_block_start",
      "event: content_block_delta",
      "event: error"
    ])
    expect(JSON.parse(frames.at(-1)?.split("data: ")[1] ?? "")).toEqual({
      type: "error",
      error: { type: "api_error", message: "The model is overloaded." },
      request_id: "r1"
    })
  })

  it("messages: a prompt that is too long has the words by which Claude Code makes it shorter (D502)", async () => {
    script = [
      refusal(
        400,
        "INVALID_ARGUMENT",
        "The input token count (2000000) exceeds the maximum number of tokens allowed (1048576)."
      )
    ]
    const answer = await send(ask())
    expect([answer.status, answer.json().error.type]).toEqual([400, "invalid_request_error"])
    expect(answer.json().error.message).toMatch(/^prompt is too long: /)
  })

  it("messages: a fault of the chat names the place in the message (D501)", async () => {
    const image = { type: "image", source: { type: "url", url: "gs://bucket/a.png" } }
    const answer = await send(
      ask(
        { messages: [{ role: "user", content: [{ type: "text", text: "Hi" }, image] }] },
        "@vertex-ai/openai/gpt-oss-120b-maas"
      )
    )
    expect([answer.status, answer.text, seen]).toEqual([
      400,
      fault(
        "invalid_request_error",
        "messages[0].content[1].source: This model takes media as data URIs and public https addresses; gs:// URIs, Files API URLs and YouTube links work with Gemini models only."
      ),
      []
    ])
    const strict = await send(ask({ speed: "fast" }), { "x-gateway-unsupported-params": "reject" })
    expect([strict.status, strict.json().error.message]).toEqual([
      400,
      '"speed" has no equivalent at this model, and the request asked for refusal of such parameters.'
    ])
  })

  it("messages: a model that answers with pictures is refused (D406)", async () => {
    const answer = await send(ask({}, "@google/gemini-3-pro-image"))
    expect([answer.status, answer.json().error.message]).toEqual([
      400,
      '"gemini-3-pro-image" on google answers with text and image, and a message holds text only: use /v1/chat/completions.'
    ])
  })

  it("messages: a dry run shows the upstream's request and the translation (D806)", async () => {
    const answer = await send(ask({ max_tokens: 999_999 }), { "x-gateway-dry-run": "true" })
    expect(answer.json()).toMatchObject({
      object: "dry_run",
      url: "https://generativelanguage.googleapis.com/v1beta/models/gemini-3.8-flash:generateContent",
      translated: "messages-to-chat",
      adjusted_params: [expect.stringMatching(/^max_tokens=999999>\d+$/)]
    })
  })

  it("messages count: Gemini counts its own tokens, models without a counter are refused (D505)", async () => {
    script = [{ status: 200, chunks: ['{"totalTokens":42}'] }]
    const path = "/v1/messages/count_tokens"
    const { max_tokens: _most, ...body } = ask()
    const answer = await send(body, {}, on, path)
    expect([answer.status, answer.text, seen[0]?.url]).toEqual([
      200,
      '{"input_tokens":42}',
      "https://generativelanguage.googleapis.com/v1beta/models/gemini-3.8-flash:countTokens"
    ])
    const open = await send({ ...body, model: "@vertex-ai/openai/gpt-oss-120b-maas" }, {}, on, path)
    expect([open.status, open.json().error.type, seen]).toEqual([400, "invalid_request_error", []])
  })
})

describe("a session of Claude Code on Gemini", () => {
  /** The form of its requests for a model it does not know. */
  const session = (messages: ReadonlyArray<object>) => ({
    model: "@google/gemini-3.8-flash[1m]",
    max_tokens: 128_000,
    stream: true,
    thinking: { type: "adaptive", display: "omitted" },
    output_config: { effort: "high" },
    context_management: { edits: [{ type: "clear_thinking_20251015", keep: "all" }] },
    metadata: { user_id: "device" },
    system: [
      { type: "text", text: "x-anthropic-billing-header: cc_version=2.1.328; cch=5;" },
      { type: "text", text: "You are an agent.", cache_control: { type: "ephemeral" } }
    ],
    tools: [
      {
        name: "Read",
        description: "Reads a file",
        input_schema: {
          $schema: "https://json-schema.org/draft/2020-12/schema",
          type: "object",
          properties: { file_path: { type: "string" }, limit: { type: "integer", exclusiveMinimum: 0 } },
          required: ["file_path"],
          additionalProperties: false
        }
      },
      { name: "DeferredToolPlaceholder", description: "-", input_schema: { type: "object" }, defer_loading: true }
    ],
    messages
  })
  const headers = {
    "anthropic-version": "2023-06-01",
    "anthropic-beta": "claude-code-20250219,interleaved-thinking-2025-05-14,context-management-2025-06-27",
    "user-agent": "claude-cli/2.1.328 (external, cli)"
  }
  const blocksIn = (text: string) => {
    const events = text
      .split("\n\n")
      .filter((frame) => frame !== "")
      .map((frame) => JSON.parse(frame.split("data: ")[1] ?? ""))
    const started = events.filter(({ type }) => type === "content_block_start")
    return started.map(({ content_block: block, index }) => {
      const deltas = events.filter((event) => event.type === "content_block_delta" && event.index === index)
      const joined = (name: string) => deltas.map(({ delta }) => delta[name] ?? "").join("")
      if (block.type === "thinking") return { ...block, thinking: joined("thinking"), signature: joined("signature") }
      return block.type === "text"
        ? { ...block, text: joined("text") }
        : { ...block, input: JSON.parse(joined("partial_json") || "{}") }
    })
  }

  it("messages: a loop of tools thinks, calls and goes on with its signatures (D210 D211 D303)", async () => {
    const first = [
      { role: "user", content: [{ type: "text", text: "Read a.txt" }] },
      { role: "system", content: "The working folder is /home." }
    ]
    const call = { functionCall: { name: "Read", args: { file_path: "a.txt" } }, thoughtSignature: "dGhpbms=" }
    script = [
      sse(
        { candidates: [{ content: { parts: [{ text: "Let me look.", thought: true }] } }] },
        { candidates: [{ content: { parts: [call] }, finishReason: "STOP" }], usageMetadata }
      )
    ]
    const answer = await send(session(first), headers, on, "/v1/messages?beta=true")
    expect(answer.status).toBe(200)
    expect(JSON.parse(seen[0]?.body ?? "")).toMatchObject({
      systemInstruction: { parts: [{ text: "You are an agent.\n\nThe working folder is /home." }] },
      generationConfig: { thinkingConfig: { thinkingLevel: "HIGH", includeThoughts: true } },
      tools: [{ functionDeclarations: [{ name: "Read" }] }]
    })
    const blocks = blocksIn(answer.text)
    expect(blocks).toEqual([
      { type: "thinking", thinking: "", signature: expect.stringMatching(/^mgr1\./) },
      {
        type: "tool_use",
        id: expect.any(String),
        name: "Read",
        input: { file_path: "a.txt" },
        caller: { type: "direct" }
      }
    ])
    script = [sse({ candidates: [{ content: { parts: [{ text: "Read." }] }, finishReason: "STOP" }], usageMetadata })]
    const result = {
      type: "tool_result",
      tool_use_id: blocks[1].id,
      content: [{ type: "text", text: "1\tHello" }],
      cache_control: { type: "ephemeral" }
    }
    const next = await send(
      session([...first, { role: "assistant", content: blocks }, { role: "user", content: [result] }]),
      headers,
      on,
      "/v1/messages?beta=true"
    )
    expect([next.status, blocksIn(next.text).map(({ type }) => type)]).toEqual([200, ["text"]])
    const { contents } = JSON.parse(seen[0]?.body ?? "")
    expect(contents.map(({ role }: { role: string }) => role)).toEqual(["user", "model", "user"])
    expect(contents[1].parts).toMatchObject([{ functionCall: { name: "Read" }, thoughtSignature: "dGhpbms=" }])
    expect(next.headers.get("x-gateway-ignored-params")).toBe("context_management")
  })
})

describe.runIf(sharedDir() !== undefined)("captured requests of Anthropic's clients", () => {
  it("messages: what Anthropic's SDK sends to Vertex AI is answered by Gemini too (D902)", async () => {
    const gateway = await startTestGateway({ messages: { otherModels: "translate" } })
    const sent = clientRequests().filter(({ id }) => id.startsWith("avertex-"))
    const statuses = []
    for (const { request } of sent) {
      const isCount = request.path.includes("count-tokens")
      const answer = await fetch(`${gateway.url}/v1/messages${isCount ? "/count_tokens" : ""}`, {
        method: "POST",
        headers: { "content-type": "application/json", "x-api-key": gatewayKey },
        body: JSON.stringify({ ...Object(request.body), model: gemini })
      })
      statuses.push(answer.status)
      await answer.text()
    }
    await gateway.close()
    expect(statuses).toEqual(sent.map(() => 200))
  })
})
