// Tests the gateway's own response headers: their prefix, the answers that have them, and the reported cache status.
// Must not depend on the translation of bodies.
import { describe, expect, it } from "vitest"
import type { ScriptedResponse } from "../../src/upstream/Transport.ts"
import { gatewayOfFile } from "../support/scripted.ts"

const over = gatewayOfFile()

const messages = [{ role: "user", content: "Hi" }]
const gemini = { model: "@google/gemini-2.5-flash", messages }
const claude = { model: "@vertex-ai/anthropic.claude-sonnet-4-5", max_tokens: 5, messages }
const routes: ReadonlyArray<readonly [path: string, body: object]> = [
  ["/v1/chat/completions", gemini],
  ["/v1/chat/completions", { ...gemini, stream: true }],
  ["/v1/chat/completions/count_tokens", gemini],
  ["/v1/embeddings", { model: "@google/gemini-embedding-001", input: "Hi" }],
  ["/v1/images/generations", { model: "@vertex-ai/imagen-4.0-generate-001", prompt: "A cat" }],
  ["/v1/messages", claude],
  ["/v1/messages", { ...claude, stream: true }],
  ["/v1/messages/count_tokens", claude]
]
const slugOf = (body: object): string =>
  "model" in body && String(body.model).startsWith("@google") ? "google" : "vertex-ai"

const unavailable: ScriptedResponse = {
  status: 503,
  chunks: [JSON.stringify({ error: { code: 503, message: "No.", status: "UNAVAILABLE" } })]
}

/** The gateway's own headers of an answer. */
const ownOf = ({ headers }: Response): Record<string, string> =>
  Object.fromEntries(
    [...headers].filter(
      ([name]) =>
        name.startsWith("x-gateway-") ||
        name.startsWith("x-portkey-") ||
        name === "x-request-id" ||
        name === "request-id"
    )
  )

const both = (words: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    ["x-gateway", "x-portkey"].flatMap((prefix) =>
      Object.entries(words).map(([word, value]) => [`${prefix}-${word}`, value])
    )
  )
const gatewayOnly = (words: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(words).map(([word, value]) => [`x-gateway-${word}`, value]))
const ids = { "x-request-id": "request-1", "request-id": "request-1" }

const prefixes: ReadonlyArray<readonly [string, Record<string, string>, typeof both]> = [
  ["x-gateway", { "x-gateway-trace-id": "t" }, gatewayOnly],
  ["x-portkey", { "x-portkey-trace-id": "t" }, both],
  ["both", { "x-gateway-trace-id": "t", "x-portkey-metadata": "{}" }, both]
]

describe.each(prefixes)("response headers of a request with %s headers", (_name, headers, under) => {
  it("response headers: an upstream error has all of them on every route", async () => {
    const { post } = over(() => unavailable)
    for (const [path, body] of routes) {
      const answer = await post(path, body, headers)
      expect([answer.status, ownOf(answer)]).toEqual([
        503,
        {
          ...ids,
          ...under({
            "trace-id": "t",
            provider: slugOf(body),
            "last-used-option-index": "0",
            "retry-attempt-count": "0",
            "cache-status": "DISABLED"
          })
        }
      ])
    }
  })

  it("response headers: an answer without an upstream call has the ids only", async () => {
    const gateway = over(() => unavailable)
    const target = { "x-gateway-config": JSON.stringify({ provider: "google" }) }
    const refused = [
      await gateway.post("/v1/chat/completions", {}, headers),
      await gateway.post("/v1/chat/completions", { ...gemini, top_logprobs: "many" }, headers),
      await gateway.post(
        "/v1/chat/completions",
        { ...gemini, model: "gemini-2.5-flash", reasoning_effort: 3 },
        { ...headers, ...target }
      ),
      await gateway.post(
        "/v1/chat/completions",
        { ...gemini, reasoning_effort: 3 },
        { ...headers, "x-gateway-cache": "60" }
      ),
      await gateway.post("/v1/messages", gemini, headers),
      await gateway.post("/v1/nowhere", {}, headers),
      await gateway.send("/v1/chat/completions", { headers: { ...headers, "x-request-id": "request-1" } }),
      await gateway.post("/v1/chat/completions", gemini, { ...headers, "x-gateway-api-key": "mgk_no" })
    ]
    expect(refused.map(({ status }) => status)).toEqual([400, 400, 400, 400, 400, 404, 405, 401])
    const served = [
      await gateway.post("/v1/chat/completions", gemini, { ...headers, "x-gateway-dry-run": "true" }),
      await gateway.send("/v1/models", {
        headers: {
          ...headers,
          "x-request-id": "request-1",
          authorization: "Bearer mgk_test0000000000000000000000000000"
        }
      })
    ]
    expect(served.map(({ status }) => status)).toEqual([200, 200])
    for (const answer of [...refused, ...served])
      expect(ownOf(answer)).toEqual({ ...ids, ...under({ "trace-id": "t" }) })
    expect(gateway.seen).toEqual([])
  })
})

describe("cache status of an upstream error", () => {
  const status = async (headers: Record<string, string>, body: object = gemini) => {
    const answer = await over(() => unavailable).post("/v1/chat/completions", body, headers)
    return [
      answer.status,
      answer.headers.get("x-gateway-provider"),
      answer.headers.get("x-gateway-last-used-option-index"),
      answer.headers.get("x-gateway-cache-status")
    ]
  }

  it.each([
    ["no cache option", {}, "DISABLED"],
    ["cache off", { "x-gateway-cache": "off" }, "DISABLED"],
    ["a number of seconds", { "x-gateway-cache": "60" }, "MISS"],
    ["a refresh", { "x-gateway-cache": "refresh" }, "REFRESH"],
    [
      "a refresh by the header of its own",
      { "x-gateway-cache": "60", "x-gateway-cache-force-refresh": "true" },
      "REFRESH"
    ],
    [
      "a config",
      { "x-gateway-config": JSON.stringify({ cache: { mode: "simple", max_age: 60 }, provider: "google" }) },
      "MISS"
    ]
  ])(
    "cache status: an upstream error reports it for a request with %s",
    async (_name, headers: Record<string, string>, expected) => {
      for (const stream of [false, true])
        expect(await status(headers, { ...gemini, stream })).toEqual([503, "google", "0", expected])
    }
  )
})
