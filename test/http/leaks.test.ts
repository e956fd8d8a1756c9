// Tests upstream error texts that repeat the request: no spelling of a credential or internal address reaches a client.
// Must not depend on the redaction's units.
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { afterAll, describe, expect, it } from "vitest"
import { type Credentials, providerAccount } from "../../src/domain/ProviderAccount.ts"
import { Gateway } from "../../src/Gateway.ts"
import { webFace } from "../support/ways.ts"
import type { TransportRequest } from "../../src/upstream/HttpExchange.ts"
import { type ScriptedResponse, Transport } from "../../src/upstream/Transport.ts"
import { gatewayKey, serviceAccount, settingsFor } from "../support/TestGateway.ts"

/** Letters that encodings change, in credentials that no pattern knows. */
const stored = "stored/k+y=1"
const storedToken = "stored.tok/en+2="
const exchanged = "exchanged/tok~en+3=="
const callers = "callers/tok+en=4&5"

const adminKey = "mgk_operator0000000000000000000000000000"
const baseUrl = "http://llm-proxy.corp.example:8443/internal/llm"
const tokenUrl = "http://sts.corp.example:9443/token"
const key: Credentials = {
  _tag: "ServiceAccount",
  key: {
    clientEmail: serviceAccount.clientEmail,
    privateKeyId: serviceAccount.privateKeyId,
    privateKey: Redacted.make(serviceAccount.privateKeyPem),
    projectId: serviceAccount.projectId
  }
}
const endpoints = {
  "11": { dialect: "openai" as const, host: undefined, model: undefined },
  "12": { dialect: "predict" as const, host: undefined, model: undefined }
}
const vertex = {
  kind: "vertex-ai",
  project_id: "test-project",
  region: "us-central1",
  base_url: baseUrl,
  token_url: tokenUrl,
  endpoints
} as const

let next: (credential: string) => ScriptedResponse = () => ({ status: 200 })
let tokenReply: (body: string) => ScriptedResponse = () => ({ status: 200 })
const asText = (body: TransportRequest["body"]) =>
  body instanceof Uint8Array ? new TextDecoder().decode(body) : (body ?? "")

const { dispose, handler } = webFace(
  Gateway.layerNoDeps(
    settingsFor("http://unused.invalid", {
      accounts: [
        providerAccount({
          slug: "api-key",
          kind: "google",
          base_url: baseUrl,
          credentials: { _tag: "ApiKey", key: Redacted.make(stored) }
        }),
        providerAccount({
          slug: "token",
          ...vertex,
          credentials: { _tag: "AccessToken", token: Redacted.make(storedToken) }
        }),
        providerAccount({ slug: "exchange", ...vertex, credentials: key }),
        providerAccount({ slug: "bare", ...vertex }),
        providerAccount({
          ...vertex,
          slug: "public",
          base_url: undefined,
          endpoints: {
            "21": { dialect: "openai", host: "21.us-central1-99.prediction.vertexai.goog", model: undefined }
          }
        })
      ],
      keys: [
        { name: "tenant", key: Redacted.make(gatewayKey) },
        {
          name: "operator",
          key: Redacted.make(adminKey),
          scopes: ["inference", "admin"]
        }
      ]
    })
  ).pipe(
    Layer.provide(
      Transport.layerTest(({ auth, body, url }) => {
        if (url === tokenUrl) return tokenReply(asText(body))
        const sent = auth["x-goog-api-key"] ?? auth["authorization"]
        return next(sent === undefined ? "" : Redacted.value(sent).replace("Bearer ", ""))
      })
    )
  )
)
afterAll(() => dispose())

const post = async (path: string, body: object, headers: Record<string, string> = {}) => {
  const answer = await handler(
    new Request(`http://gateway${path}`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "x-gateway-api-key": gatewayKey,
        "x-request-id": "r1",
        ...headers
      },
      body: JSON.stringify(body)
    })
  )
  return { status: answer.status, text: await answer.text() }
}

const spellings: ReadonlyArray<readonly [string, (text: string) => string]> = [
  ["raw", (text) => text],
  ["URI-encoded", encodeURIComponent],
  ["URI-encoded in lower case", (text) => encodeURIComponent(text).replace(/%../g, (code) => code.toLowerCase())],
  ["URI-encoded twice", (text) => encodeURIComponent(encodeURIComponent(text))],
  ["as a form", (text) => new URLSearchParams([["", text]]).toString().slice(1)],
  ["JSON with slashes escaped", (text) => text.replaceAll("/", "\\/")],
  ["JSON with letters by number", (text) => text.replaceAll("+", "\\u002b").replaceAll("=", "\\u003D")],
  ["base64", (text) => Buffer.from(text).toString("base64").replaceAll("=", "")],
  ["base64url", (text) => Buffer.from(text).toString("base64url")]
]

const messages = [{ role: "user", content: "Hi" }]
const routes: ReadonlyArray<readonly [path: string, body: (slug: string) => object]> = [
  ["/v1/chat/completions", (slug) => ({ model: `@${slug}/gemini-2.5-flash`, messages })],
  ["/v1/chat/completions/count_tokens", (slug) => ({ model: `@${slug}/gemini-2.5-flash`, messages })],
  ["/v1/embeddings", (slug) => ({ model: `@${slug}/gemini-embedding-001`, input: "Hi" })],
  ["/v1/images/generations", (slug) => ({ model: `@${slug}/gemini-2.5-flash-image`, prompt: "Hi" })]
]
const vertexRoutes: typeof routes = [
  ...routes,
  ["/v1/chat/completions", (slug) => ({ model: `@${slug}/anthropic.claude-sonnet-4-5`, messages })],
  ["/v1/chat/completions", (slug) => ({ model: `@${slug}/endpoints.11`, messages })],
  ["/v1/chat/completions", (slug) => ({ model: `@${slug}/endpoints.12`, messages })],
  ["/v1/messages", (slug) => ({ model: `@${slug}/anthropic.claude-sonnet-4-5`, max_tokens: 5, messages })],
  ["/v1/messages/count_tokens", (slug) => ({ model: `@${slug}/anthropic.claude-sonnet-4-5`, messages })]
]

/** A slug with the credential of its calls, and the headers that carry it where it is the caller's. */
const kinds: ReadonlyArray<
  readonly [kind: string, slug: string, headers: Record<string, string>, ways: typeof routes]
> = [
  ["a stored API key", "api-key", {}, routes],
  ["a stored access token", "token", {}, vertexRoutes],
  ["an exchanged token", "exchange", {}, vertexRoutes],
  ["the caller's access token", "bare", { authorization: `Bearer ${callers}` }, vertexRoutes],
  ["the caller's API key", "api-key", { "x-goog-api-key": callers }, routes]
]

/** An error that names the credential in one spelling, and the internal host and path. */
const quoting = (text: string): string => `No <${text}> at llm-proxy.corp.example:8443/internal/llm`
const shown = "No <[redacted]> at [upstream][upstream]"
const errorOf = (message: string) => ({
  error: { code: 400, message, status: "INVALID_ARGUMENT", type: "invalid_request_error" }
})
const messageIn = (text: string): unknown => JSON.parse(text.startsWith("[") ? text.slice(1, -1) : text).error?.message

const given = (spell: (text: string) => string, status: number) => {
  tokenReply = () => ({ status: 200, chunks: [JSON.stringify({ access_token: exchanged, expires_in: 3600 })] })
  next = (credential) => ({
    status,
    headers: { "content-type": "application/json" },
    chunks: [JSON.stringify(errorOf(quoting(spell(credential))))]
  })
}

describe("error texts of upstreams", () => {
  describe.each(kinds)("error texts that repeat %s", (_kind, slug, headers, ways) => {
    it.each(spellings)(
      "leaks: a credential spelled %s is removed on every route, from an error status and from a 200 (TH21)",
      async (_spelling, spell) => {
        for (const [path, body] of ways) {
          for (const status of [400, 500, 200]) {
            given(spell, status)
            const answer = await post(path, body(slug), headers)
            expect([path, status, messageIn(answer.text)]).toEqual([path, status, shown])
          }
        }
      }
    )
  })

  it("leaks: a credential is removed from the whole error body (TH21)", async () => {
    given(encodeURIComponent, 403)
    const message = `The gateway's credential for "exchange" may not do this at Google; ask its operator: ${shown}`
    const error = { message, type: "permission_error", param: null, code: "upstream_permission_denied" }
    expect(await post(...first(vertexRoutes, "exchange"))).toEqual({ status: 403, text: JSON.stringify({ error }) })
  })

  it("leaks: a credential is removed before it is cut in half (TH21)", async () => {
    const long = `callers/${"t".repeat(3_000)}`
    next = (credential) => ({ status: 400, chunks: [JSON.stringify(errorOf(`${"a ".repeat(1_000)}${credential}`))] })
    const answer = await post(...first(vertexRoutes, "bare"), { authorization: `Bearer ${long}` })
    expect(messageIn(answer.text)).toBe(`${"a ".repeat(1_000)}[redacted]`)
  })

  it("leaks: error texts keep their words where a credential is as short as a word", async () => {
    next = () => ({ status: 400, chunks: [JSON.stringify(errorOf("The field is not valid."))] })
    expect(messageIn((await post(...first(vertexRoutes, "bare"), { authorization: "Bearer field" })).text)).toBe(
      "The field is not valid."
    )
  })

  it("leaks: internal names, files and ports that are not the upstream's own are removed (TH22)", async () => {
    next = () => ({
      status: 500,
      chunks: [
        JSON.stringify(
          errorOf(
            'dial vllm.ml.svc.cluster.local:8000: lookup redis.corp: File "/usr/lib/python3/vllm/engine.py", line 88; proxy.example.com:3128'
          )
        )
      ]
    })
    expect(messageIn((await post(...first(vertexRoutes, "token"))).text)).toBe(
      'dial [upstream]: lookup [upstream]: File "[path]", line 88; [upstream]'
    )
  })

  it("leaks: a model's answer is not an error text and stays unchanged", async () => {
    next = (credential) => ({
      status: 200,
      headers: { "content-type": "application/json" },
      chunks: [
        JSON.stringify({
          candidates: [{ content: { role: "model", parts: [{ text: quoting(credential) }] }, finishReason: "STOP" }]
        })
      ]
    })
    const answer = JSON.parse(
      (await post("/v1/chat/completions", { model: "@api-key/gemini-2.5-flash", messages })).text
    )
    expect(answer.choices[0].message.content).toBe(quoting(stored))
  })
})

const first = (ways: typeof routes, slug: string): readonly [string, object] => {
  const [path, body] = ways[0] ?? ["", () => ({})]
  return [path, body(slug)]
}

describe("error texts in streams", () => {
  const event = (data: object, name = "") => `${name === "" ? "" : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`
  const gemini = event({ candidates: [{ content: { role: "model", parts: [{ text: "Hel" }] } }] })
  const openAi = event({
    id: "c",
    object: "chat.completion.chunk",
    created: 1,
    model: "m",
    choices: [{ index: 0, delta: { role: "assistant", content: "Hel" }, finish_reason: null }]
  })
  const started = event(
    {
      type: "message_start",
      message: {
        id: "m",
        type: "message",
        role: "assistant",
        content: [],
        model: "c",
        usage: { input_tokens: 1, output_tokens: 1 }
      }
    },
    "message_start"
  )
  const chats: ReadonlyArray<readonly [model: string, begun: string, name: string]> = [
    ["gemini-2.5-flash", gemini, ""],
    ["endpoints.11", openAi, ""],
    ["anthropic.claude-sonnet-4-5", started, "error"]
  ]
  const stream = { "content-type": "text/event-stream" }
  const ask = (model: string) => ({ model: `@exchange/${model}`, stream: true, max_tokens: 5, messages })
  const token = () => {
    tokenReply = () => ({ status: 200, chunks: [JSON.stringify({ access_token: exchanged, expires_in: 3600 })] })
  }

  it.each(chats)(
    "leaks: a stream of %s loses the credential in an error as the first event and as a later one (TH21)",
    async (model, begun, name) => {
      token()
      for (const [, spell] of spellings) {
        next = (credential) => ({
          status: 200,
          headers: stream,
          chunks: [event(errorOf(quoting(spell(credential))), name)]
        })
        expect(messageIn((await post("/v1/chat/completions", ask(model))).text)).toBe(shown)
        next = (credential) => ({
          status: 200,
          headers: stream,
          chunks: [begun, event(errorOf(quoting(spell(credential))), name)]
        })
        const frames = (await post("/v1/chat/completions", ask(model))).text
          .split("\n\n")
          .filter((frame) => frame.includes('"error"'))
        expect(frames.map((frame) => messageIn(frame.replace(/^data: /, "")))).toEqual([shown])
      }
    }
  )

  const claude = "anthropic.claude-sonnet-4-5"
  const failed = (message: string) => ({ type: "error", error: { type: "api_error", message }, request_id: "q" })
  const passed = async (...chunks: ReadonlyArray<string>) => {
    token()
    next = () => ({ status: 200, headers: stream, chunks })
    return (await post("/v1/messages", ask(claude))).text
  }

  it("leaks: a stream of /v1/messages loses the credential in every error event of a read (TH21)", async () => {
    for (const [, spell] of spellings) {
      const said = event(failed(quoting(spell(exchanged))), "error")
      const clean = event(failed(shown), "error")
      const ping = event({ type: "ping" }, "ping")
      expect(await passed(`${started}${ping}${said}${ping}${said}`)).toBe(`${started}${ping}${clean}${ping}${clean}`)
      expect(await passed(started, said.slice(0, 40), said.slice(40))).toBe(`${started}${clean}`)
    }
  })
  it("leaks: a stream of /v1/messages loses projects, links and credentials in an error event (TH22)", async () => {
    const said = failed("At https://internal.example/x of projects/secret-1 with AIzaOther")
    expect(await passed(started, event(said, "error"))).toBe(
      started + event(failed("At [link] of projects/[redacted] with [redacted]"), "error")
    )
  })
  it("leaks: a stream of /v1/messages loses the credential in an error event that is not JSON (TH21)", async () => {
    expect(await passed(started, `event: error\ndata: no ${exchanged}\n\n`)).toBe(
      `${started}event: error\ndata: no [redacted]\n\n`
    )
  })
  it("leaks: a stream of /v1/messages passes an error event with nothing to hide as its own bytes (T1902)", async () => {
    const own =
      'event: error\ndata: { "type":"error", "error" : {"type":"overloaded_error","message":"Overloaded"} }\r\n\r\n'
    expect(await passed(started, own)).toBe(started + own)
  })
  it("leaks: a stream of /v1/messages passes what a model writes as its own bytes (T1902)", async () => {
    const written = event(
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: exchanged } },
      "content_block_delta"
    )
    const end = event({ type: "message_stop" }, "message_stop")
    expect(await passed(started, written, end)).toBe(started + written + end)
  })
})

describe("addresses in a dry run", () => {
  const place = "/v1/projects/test-project/locations/us-central1"
  const urls = async (key: string) => {
    const shown: Array<string> = []
    for (const model of [
      "@api-key/gemini-2.5-flash",
      "@bare/endpoints.11",
      "@public/endpoints.21",
      "@public/gemini-2.5-flash"
    ]) {
      const answer = await post(
        "/v1/chat/completions",
        { model, messages },
        { "x-gateway-api-key": key, "x-gateway-dry-run": "true" }
      )
      shown.push(JSON.parse(answer.text).url)
    }
    return shown
  }
  it("leaks: a dry run shows the path below base_url, an endpoint's host, and Google's own hosts (TH22)", async () => {
    expect(await urls(gatewayKey)).toEqual([
      "https://upstream.invalid/v1beta/models/gemini-2.5-flash:generateContent",
      `https://upstream.invalid${place}/endpoints/11/chat/completions`,
      `https://upstream.invalid${place}/endpoints/21/chat/completions`,
      `https://us-central1-aiplatform.googleapis.com${place}/publishers/google/models/gemini-2.5-flash:generateContent`
    ])
  })
  it("leaks: a dry run shows an admin key the full address", async () => {
    expect(await urls(adminKey)).toEqual([
      `${baseUrl}/v1beta/models/gemini-2.5-flash:generateContent`,
      `${baseUrl}${place}/endpoints/11/chat/completions`,
      `https://21.us-central1-99.prediction.vertexai.goog${place}/endpoints/21/chat/completions`,
      `https://us-central1-aiplatform.googleapis.com${place}/publishers/google/models/gemini-2.5-flash:generateContent`
    ])
  })
})

describe("errors of the token endpoint", () => {
  it.each(spellings.slice(0, 5))(
    "leaks: a refusal that spells them %s loses the assertion, the key's id and the token endpoint's host (TH21)",
    async (_spelling, spell) => {
      let assertion = ""
      tokenReply = (body) => {
        assertion = new URLSearchParams(body).get("assertion") ?? ""
        return {
          status: 500,
          chunks: [
            JSON.stringify({
              error: "boom",
              error_description: `<${spell(assertion)}> <${spell(serviceAccount.privateKeyId)}> sts.corp.example:9443`
            })
          ]
        }
      }
      const { dispose, handler } = webFace(
        Gateway.layerNoDeps(
          settingsFor("http://unused.invalid", {
            accounts: [providerAccount({ slug: "exchange", ...vertex, credentials: key })]
          })
        ).pipe(Layer.provide(Transport.layerTest(({ body }) => tokenReply(asText(body)))))
      )
      const answer = await handler(
        new Request("http://gateway/v1/chat/completions", {
          method: "POST",
          headers: { "content-type": "application/json", "x-gateway-api-key": gatewayKey },
          body: JSON.stringify({ model: "@exchange/gemini-2.5-flash", messages })
        })
      )
      expect(messageIn(await answer.text())).toBe(
        "The token endpoint answered 500 (boom: <[redacted]> <[redacted]> [upstream])."
      )
      expect(assertion.split(".").length).toBe(3)
      await dispose()
    }
  )
})
