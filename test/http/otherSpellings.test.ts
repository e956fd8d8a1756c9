// What clients write differently from OpenAI's SDK: the path, the place of the key, and paths of other services.
import * as Redacted from "effect/Redacted"
import { afterAll, describe, expect, it } from "vitest"
import { accountedGateway } from "../support/accounted.ts"
import { vertexAccount } from "../support/account.ts"
import { gatewayKey } from "../support/TestGateway.ts"
import { reply, stop } from "../support/gemini.ts"
import { gatewayOver, replying } from "../support/scripted.ts"
import { face, hello, key, noUrl } from "./face.ts"

const gemini = () => replying(reply([{ text: "Hi" }], stop))
const gateway = face()
afterAll(() => gateway.dispose())

describe("paths", () => {
  it.each(["GET", "HEAD"])("paths: %s / is answered (N1201)", async (method) => {
    const answer = await gateway.send("/", { method })
    expect([answer.status, answer.headers.get("content-type"), await answer.text()]).toStrictEqual([
      200,
      "application/json",
      method === "GET" ? '{"name":"model-gateway","version":"0.1.0","status":"ok","docs":"/docs"}' : ""
    ])
  })

  it.each(["GET", "HEAD"])("paths: %s /api/hello is answered without a key (W34)", async (method) => {
    const answer = await gateway.send("/api/hello", { method })
    expect([answer.status, await answer.text()]).toStrictEqual([
      200,
      method === "GET" ? '{"name":"model-gateway","version":"0.1.0","status":"ok","docs":"/docs"}' : ""
    ])
  })

  it.each([
    "/v1/chat/completions/",
    "//v1/chat/completions",
    "/v1/v1/chat/completions",
    "/chat/completions",
    "/chat/completions/?a=/b/",
    "//chat/completions"
  ])("paths: %s is the chat route (N1202)", async (path) => {
    gateway.script.calls.length = 0
    const answer = await gateway.post(path, hello)
    expect([answer.status, gateway.script.calls.map(({ operation }) => operation)]).toStrictEqual([200, ["chat"]])
  })

  it.each(["/models", "/models/", "/v1/models/"])("paths: %s is the list of models (N1202)", async (path) => {
    const headers = { "x-gateway-api-key": key }
    const [answer, known] = [await gateway.send(path, { headers }), await gateway.send("/v1/models", { headers })]
    expect([answer.status, await answer.json()]).toStrictEqual([200, await known.json()])
  })

  it("paths: a wrong method is seen in every spelling (N1202)", async () => {
    const answers = [await gateway.send("/messages/"), await gateway.send("/embeddings")]
    expect(answers.map(({ headers, status }) => [status, headers.get("allow")])).toStrictEqual([
      [405, "POST"],
      [405, "POST"]
    ])
  })
})

describe("paths that are not served", () => {
  const openAi = (message: string) => ({
    error: { message, type: "not_found_error", param: null, code: "unknown_url" }
  })
  const anthropic = (message: string) => ({
    type: "error",
    error: { type: "not_found_error", message },
    request_id: "r1"
  })
  const noMessages =
    "There is no such URL here: served are /v1/messages, /v1/messages/count_tokens, /v1/models, and rawPredict and streamRawPredict of publishers/anthropic/models."
  const ofAnthropic = { "anthropic-version": "2023-06-01" }
  it.each([
    ["/v1/completions", {}, openAi("There is no such URL here: use /v1/chat/completions.")],
    ["/completions", {}, openAi(noUrl)],
    [
      "/v1/files",
      ofAnthropic,
      anthropic("There is no such URL here: files are not kept here; send data inline, or as gs:// on Vertex AI.")
    ],
    [
      "/v1/files",
      {},
      openAi("There is no such URL here: files are not kept here; send data inline, or as gs:// on Vertex AI.")
    ],
    [
      "/v1/messages/batches",
      {},
      anthropic("There is no such URL here: message batches are not offered; send the messages one by one.")
    ],
    ["/v1/organizations/me", {}, anthropic(noMessages)],
    ["/v1beta/messages/none", {}, anthropic(noMessages)],
    ["/v1beta/elsewhere", ofAnthropic, anthropic(noUrl)],
    ["/v1/projects/p/locations/l/publishers/anthropic/none", {}, anthropic(noMessages)],
    ["/v1/complete", ofAnthropic, anthropic("There is no such URL here: use /v1/messages.")]
  ])("paths: POST %s with %j (N1203)", async (path, headers, body) => {
    const answer = await gateway.post(path, {}, headers)
    expect([answer.status, await answer.json()]).toStrictEqual([404, body])
  })

  it("paths: the chat route keeps OpenAI's errors for a client of Anthropic (N1203)", async () => {
    const answer = await gateway.post("/v1/chat/completions", {}, ofAnthropic)
    expect(await answer.json()).toStrictEqual({
      error: {
        message: "model is missing.",
        type: "invalid_request_error",
        param: "model",
        code: "missing_required_parameter"
      }
    })
  })

  it("paths: an unknown one is in the list of requests (N1211)", async () => {
    const accounted = accountedGateway(gemini)
    await accounted.send("/v1/nowhere?secret=1", { method: "POST" })
    const list = await accounted.admin("/admin/v1/requests")
    expect(list).toMatchObject({ data: [{ route: "unmatched", status: 404, error_code: "unknown_url" }] })
    await accounted.dispose()
  })
})

describe("the list of models for a client of Anthropic", () => {
  const ask = async (path: string) => {
    const one = gatewayOver(gemini, {
      accounts: [{ ...vertexAccount, models: ["claude-sonnet-4-6", "gemini-2.5-pro", "claude-x"] }]
    })
    const headers = { "x-api-key": gatewayKey, "anthropic-version": "2023-06-01", "x-request-id": "r1" }
    const answer = await one.send(path, { headers })
    await one.dispose()
    return { status: answer.status, body: await answer.json() }
  }
  const sonnet = {
    type: "model",
    id: "@vertex-ai/claude-sonnet-4-6",
    display_name: "Claude Sonnet 4 6",
    created_at: "2026-02-17T00:00:00Z"
  }
  const other = {
    type: "model",
    id: "@vertex-ai/claude-x",
    display_name: "Claude X",
    created_at: "1970-01-01T00:00:00Z"
  }
  it("models: are Claude's alone, in Anthropic's form (N1210)", async () => {
    expect(await ask("/v1/models?limit=1000")).toStrictEqual({
      status: 200,
      body: { data: [sonnet, other], first_id: sonnet.id, last_id: other.id, has_more: false }
    })
    expect(await ask("/v1/models?limit=1")).toStrictEqual({
      status: 200,
      body: { data: [sonnet], first_id: sonnet.id, last_id: sonnet.id, has_more: true }
    })
    expect(await ask(`/v1/models?after_id=${encodeURIComponent(sonnet.id)}`)).toStrictEqual({
      status: 200,
      body: { data: [other], first_id: other.id, last_id: other.id, has_more: false }
    })
  })
  it("models: one by its id, or Anthropic's error (N1210)", async () => {
    expect(await ask(`/v1/models/${sonnet.id}`)).toStrictEqual({ status: 200, body: sonnet })
    expect(await ask("/v1/models/@vertex-ai/gemini-2.5-pro")).toStrictEqual({
      status: 404,
      body: {
        type: "error",
        error: {
          type: "not_found_error",
          message: "There is no such model for this key; GET /v1/models lists what it may call."
        },
        request_id: "r1"
      }
    })
  })
})

describe("one model by the names that requests give it", () => {
  const ask = async (id: string, headers: Record<string, string> = {}, models?: ReadonlyArray<string>) => {
    const one = gatewayOver(gemini, { accounts: [models === undefined ? vertexAccount : { ...vertexAccount, models }] })
    const answer = await one.send(`/v1/models/${id}`, { headers: { "x-api-key": gatewayKey, ...headers } })
    await one.dispose()
    return [answer.status, await answer.json()]
  }
  const row = (id: string, created: number) => [200, { id, object: "model", created, owned_by: "anthropic" }]

  it.each(["claude-haiku-4-5-20251001", "claude-haiku-4-5@20251001", "@vertex-ai/claude-haiku-4-5-20251001"])(
    "models: %s is found (W34)",
    async (id) => expect(await ask(id)).toStrictEqual(row(id, 1_760_486_400))
  )
  it("models: a release that is not known is the day of the id (W34)", async () => {
    const headers = { "anthropic-version": "2023-06-01" }
    expect(await ask("claude-opus-4-1@20250805", {}, ["claude-*"])).toStrictEqual(
      row("claude-opus-4-1@20250805", 1_754_352_000)
    )
    expect(await ask("claude-opus-4-1-20250805", headers, ["claude-*"])).toStrictEqual([
      200,
      {
        type: "model",
        id: "claude-opus-4-1-20250805",
        display_name: "Claude Opus 4 1 20250805",
        created_at: "2025-08-05T00:00:00Z"
      }
    ])
  })
  it("models: a name that no account serves is not found (W34)", async () => {
    expect((await ask("claude-none"))[0]).toBe(404)
    expect((await ask("@other/claude-haiku-4-5"))[0]).toBe(404)
  })
})

describe("keys", () => {
  const plain = "sk-of-the-operators-own-form"
  const settings = {
    keys: [
      { name: "plain", key: Redacted.make(plain) },
      {
        name: "other",
        key: Redacted.make("mgk_other00000000000000000000000000")
      }
    ]
  }
  const ask = async (headers: Record<string, string>) => {
    const one = gatewayOver(gemini, { settings })
    const answer = await one.send("/v1/chat/completions", {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify({ ...hello, model: "@google/gemini-2.5-flash" })
    })
    await one.dispose()
    return { status: answer.status, sent: one.seen }
  }
  it.each([
    { authorization: `Bearer ${plain}` },
    { authorization: plain },
    { "x-api-key": plain },
    { "x-goog-api-key": plain },
    { "api-key": plain },
    { authorization: "Bearer unused", "x-api-key": plain, "x-gateway-provider": "google" }
  ])("keys: %j is taken (N1204)", async (headers) => {
    const { sent, status } = await ask(headers)
    expect([status, JSON.stringify(sent).includes(plain)]).toStrictEqual([200, false])
  })
  const foreign =
    "The gateway key is not valid. It looks like a key of OpenAI: the gateway takes keys of its own, and a provider's credential next to x-gateway-api-key."
  const authentication = (code: string, message: string) => ({
    error: { message, type: "authentication_error", param: null, code }
  })
  it.each([
    [{ authorization: "Bearer sk-wrong" }, "invalid_gateway_key", foreign],
    [{ authorization: "sk-wrong" }, "invalid_gateway_key", foreign],
    [{ "x-gateway-api-key": "sk-wrong" }, "invalid_gateway_key", foreign],
    [{ "x-api-key": "sk-wrong" }, "invalid_gateway_key", foreign],
    [{ "x-goog-api-key": "sk-wrong" }, "invalid_gateway_key", foreign],
    [{ "api-key": "sk-wrong" }, "invalid_gateway_key", foreign],
    [{}, "missing_gateway_key", "No gateway key: send it as x-gateway-api-key, or as the API key of your SDK."]
  ])("keys: %j is refused for what it is (N1205)", async (headers, code, message) => {
    const answer = await gateway.send("/v1/chat/completions", {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify({ ...hello, model: "@google/gemini-2.5-flash" })
    })
    expect([answer.status, await answer.json()]).toStrictEqual([401, authentication(code, message)])
  })
  it("keys: none of several is known (N1204)", async () => {
    const answer = await gateway.send("/v1/models", { headers: { authorization: "Bearer sk-x", "x-api-key": "sk-y" } })
    expect([answer.status, await answer.json()]).toStrictEqual([
      401,
      {
        error: {
          message: foreign,
          type: "authentication_error",
          param: null,
          code: "invalid_gateway_key"
        }
      }
    ])
  })
})
