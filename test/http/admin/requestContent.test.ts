// Tests captured content: which requests have it, what it holds on each route, who reads it, and where it never is.
// Must not depend on how content is stored: requests go through the whole service.
import * as Redacted from "effect/Redacted"
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import type { ContentMode } from "../../../src/domain/RequestRow.ts"
import type { Settings } from "../../../src/domain/settings/Settings.ts"
import { accountedGateway, adminKey, type AccountedGateway } from "../../support/accounted.ts"
import { replying } from "../../support/scripted.ts"
import { gatewayKey } from "../../support/TestGateway.ts"
import { until } from "../../support/eventually.ts"

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.parse("2027-01-31T12:00:00Z") })
})
afterEach(() => {
  vi.useRealTimers()
})

const id = "01a1feb1-fd44-7fb5-884a-aa19e8c22cad"
const path = `/admin/v1/requests/${id}/content`
const messages = [{ role: "user", content: "Hello" }]
const contents = [{ role: "user", parts: [{ text: "Hello" }] }]
const gemini = { candidates: [{ content: { role: "model", parts: [{ text: "Hi" }] }, finishReason: "STOP" }] }
const claude = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "claude-sonnet-4-6",
  content: [{ type: "text", text: "Hi" }],
  stop_reason: "end_turn",
  usage: { input_tokens: 10, output_tokens: 20 }
}
const chat = { model: "@google/gemini-2.5-flash", messages }

type Script = Parameters<typeof accountedGateway>[0]

const gatewayFor = (script: Script, content: ContentMode | undefined, more: Partial<Settings> = {}) =>
  accountedGateway(script, {
    settings: { log: { format: "json", ...(content === undefined ? {} : { content }) }, ...more }
  })

/** The text of an answer, once its request is in the list. */
const sent = async (gateway: AccountedGateway, to: string, body: unknown): Promise<string> => {
  const text = await (await gateway.post(to, body)).text()
  await until(async () => JSON.stringify(await gateway.admin("/admin/v1/requests")).includes(id))
  return text
}

const whole = (value: unknown) => {
  const text = typeof value === "string" ? value : JSON.stringify(value)
  return { text, bytes: Buffer.byteLength(text), is_cut: false }
}

const notKept = {
  type: "urn:model-gateway:error:request_content_not_found",
  title: "request content not found",
  status: 404,
  detail:
    "No content of this request is kept: set log.content to errors or all, or log_content of its key, and send it again.",
  instance: id
}

describe("captured content", () => {
  it("captured content: a chat has the client's body, the upstream's and the answer (TH21)", async () => {
    const gateway = gatewayFor(() => replying(gemini), "all")
    const body = { ...chat, logit_bias: { 1: 1 } }
    const answer = await sent(gateway, "/v1/chat/completions", body)
    expect(await gateway.admin(path)).toEqual({
      object: "request_content",
      id,
      expires_at: "2027-02-07T12:00:00.003Z",
      request: whole(body),
      calls: [
        {
          provider: "google",
          model: "gemini-2.5-flash",
          target: 0,
          url: "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:generateContent",
          body: whole({ contents }),
          ignored_params: ["logit_bias"],
          adjusted_params: []
        }
      ],
      answer: whole(answer)
    })
    expect(await gateway.admin("/admin/v1/audit")).toEqual({
      object: "list",
      data: [
        {
          object: "audit_entry",
          at: "2027-01-31T12:00:00.000Z",
          actor: "boss",
          request_id: id,
          action: "read",
          kind: "request",
          id,
          version: 1
        }
      ],
      next_cursor: null
    })
  })

  const data = (value: unknown) => `data: ${JSON.stringify(value)}\r\n\r\n`
  const unary: Script = () => replying(gemini)
  const streaming: Script = () => ({ status: 200, chunks: [data(gemini)] })
  it.each([
    ["a streamed chat", "/v1/chat/completions", { ...chat, stream: true }, streaming, { contents }],
    ["a response", "/v1/responses", { model: chat.model, input: "Hello", store: false }, unary, { contents }],
    ["a native call", "/v1beta/models/gemini-2.5-flash:generateContent", { contents }, unary, { contents }],
    [
      "a native stream",
      "/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse",
      { contents },
      streaming,
      { contents }
    ],
    [
      "an image",
      "/v1/images/generations",
      { model: "@google/imagen-4.0-generate-001", prompt: "A cat" },
      () => replying({ predictions: [{ mimeType: "image/png", bytesBase64Encoded: "iVBORw0KGgo=" }] }),
      { instances: [{ prompt: "A cat" }], parameters: { sampleCount: 1, includeRaiReason: true } }
    ],
    [
      "an embedding",
      "/v1/embeddings",
      { model: "@google/gemini-embedding-001", input: "Hello" },
      () => replying({ embeddings: [{ values: [0.5] }] }),
      {
        requests: [
          {
            model: "models/gemini-embedding-001",
            content: { parts: [{ text: "Hello" }] }
          }
        ]
      }
    ]
  ] as const)(
    "captured content: %s has both bodies and the answer (TH21)",
    async (_name, to, body, script, upstream) => {
      const gateway = gatewayFor(script, "all")
      const answer = await sent(gateway, to, body)
      const kept = (await gateway.admin(path)) as Record<string, unknown>
      expect([kept["request"], kept["answer"]]).toEqual([whole(body), whole(answer.replace("data: [DONE]\n\n", ""))])
      expect((kept["calls"] as ReadonlyArray<Record<string, unknown>>).map(({ body: text }) => text)).toEqual([
        whole(upstream)
      ])
    }
  )

  it("captured content: a message has its own bytes (TH21)", async () => {
    const gateway = gatewayFor(
      ({ url }) => replying(url.includes("token") ? { access_token: "t", expires_in: 3600 } : claude),
      "all"
    )
    const body = { model: "@vertex-ai/claude-sonnet-4-6", max_tokens: 10, messages }
    const answer = await sent(gateway, "/v1/messages", body)
    const kept = (await gateway.admin(path)) as Record<string, unknown>
    expect([kept["request"], kept["answer"]]).toEqual([whole(body), whole(answer)])
  })

  it.each([
    ["off unless set", undefined, undefined, 200, false],
    ["errors leaves successes out", "errors", undefined, 200, false],
    ["errors keeps failures", "errors", undefined, 400, true],
    ["a key turns it on", undefined, "all", 200, true],
    ["a key turns it off", "all", "off", 200, false]
  ] as const)("captured content: %s (TH21)", async (_name, content, logContent, status, isKept) => {
    const gateway = gatewayFor(() => (status === 200 ? replying(gemini) : { status, body: "{}" }), content, {
      keys: [
        {
          name: "test",
          key: Redacted.make(gatewayKey),
          ...(logContent === undefined ? {} : { log_content: logContent })
        },
        { name: "boss", key: Redacted.make(adminKey), scopes: ["admin"] }
      ]
    })
    await sent(gateway, "/v1/chat/completions", chat)
    const kept = (await gateway.admin(path)) as Record<string, unknown>
    if (isKept) expect(kept["request"]).toEqual(whole(chat))
    else expect(kept).toEqual(notKept)
  })

  it("captured content: has no credentials, and the log has no content (TH21)", async () => {
    const gateway = gatewayFor(() => replying(gemini), "all")
    const body = { ...chat, messages: [{ role: "user", content: `my key is ${gatewayKey}, AIza${"x".repeat(35)}` }] }
    await sent(gateway, "/v1/chat/completions", body)
    const text = JSON.stringify(await gateway.admin(path))
    expect([text.includes(gatewayKey), text.includes("AIzax"), text.includes("my key is")]).toEqual([
      false,
      false,
      true
    ])
    expect((await gateway.lines()).join("").includes("my key is")).toBe(false)
  })

  it("captured content: a long body is cut, and its whole length stated (TH19)", async () => {
    const gateway = accountedGateway(() => replying(gemini), {
      limits: { contentBytes: 40 },
      settings: { log: { format: "json", content: "all" } }
    })
    await sent(gateway, "/v1/chat/completions", chat)
    const kept = (await gateway.admin(path)) as Record<string, unknown>
    const text = JSON.stringify(chat)
    expect(kept["request"]).toEqual({ text: text.slice(0, 40), bytes: text.length, is_cut: true })
  })

  it("captured content: is read by an admin key only (TH23)", async () => {
    const gateway = gatewayFor(() => replying(gemini), "all")
    await sent(gateway, "/v1/chat/completions", chat)
    const refused = await gateway.send(path, { headers: { "x-gateway-api-key": gatewayKey } })
    expect(refused.status).toBe(401)
  })
})
