// Tests answers from the cache through the whole service: the requests that receive one, and those that never do.
// Must not depend on how answers are stored.
import * as Redacted from "effect/Redacted"
import { describe, expect, it } from "vitest"
import type { Json } from "../../src/domain/text/json.ts"
import { googleAccount, vertexAccount } from "../support/account.ts"
import { message, start, stop, stream, text, user } from "../support/claude.ts"
import { fallback, inline } from "../support/config.ts"
import { reply } from "../support/gemini.ts"
import { type gatewayOver, gatewaysOver, replying, type ScriptedGateway } from "../support/scripted.ts"
import { sse } from "../support/streams.ts"

const path = "/v1/chat/completions"
const hello = { model: "@google/gemini-2.5-flash", messages: [user("hi")] }
const ask = { "x-gateway-cache": "60" }

const over = gatewaysOver()

/** Every call is answered by its number. */
const counting = (more: Parameters<typeof gatewayOver>[1] = {}): ScriptedGateway => {
  const gateway: ScriptedGateway = over(
    () => replying(reply([{ text: String(gateway.seen.length) }], { finishReason: "STOP" })),
    more
  )
  return gateway
}
const told = async (answer: Response) => {
  const body: { readonly choices: ReadonlyArray<{ readonly message: { readonly content: string } }> } = JSON.parse(
    await answer.text()
  )
  return `${answer.headers.get("x-gateway-cache-status")} ${body.choices[0]?.message.content}`
}

describe("requests that use the cache", () => {
  it("cache: the header's seconds turn it on, and requests without the header are not served from it", async () => {
    const { post } = counting()
    const said = []
    for (const headers of [{}, ask, ask, {}, { "x-gateway-cache": "off" }, { "x-gateway-cache": "1" }])
      said.push(await told(await post(path, hello, headers)))
    expect(said).toEqual(["DISABLED 1", "MISS 2", "HIT 2", "DISABLED 3", "DISABLED 4", "HIT 2"])
  })
  it("cache: a config turns it on, unless the request's header turns it off", async () => {
    const { post } = counting()
    const config = inline({ cache: { mode: "simple", max_age: 60 } })
    const said = []
    for (const headers of [config, config, { ...config, "x-gateway-cache": "off" }])
      said.push(await told(await post(path, hello, headers)))
    expect(said).toEqual(["MISS 1", "HIT 1", "DISABLED 2"])
  })
  it("cache: a refresh makes a new answer, which later requests receive", async () => {
    const { post } = counting()
    const config = inline({ cache: { mode: "simple" } })
    const said = []
    for (const headers of [
      config,
      { ...config, "x-gateway-cache-force-refresh": "true" },
      { "x-gateway-cache": "refresh" },
      config,
      { "x-gateway-cache-force-refresh": "true" }
    ]) {
      said.push(await told(await post(path, hello, headers)))
    }
    expect(said).toEqual(["MISS 1", "REFRESH 2", "REFRESH 3", "HIT 3", "DISABLED 4"])
  })
  it.each([
    ["x-gateway-cache", "on"],
    ["x-gateway-cache", "0"],
    ["x-gateway-cache", "1.5"],
    ["x-gateway-cache-force-refresh", "1"],
    ["x-gateway-cache-namespace", ""]
  ])("cache: %s: %j is refused (B113)", async (name, value) => {
    const gateway = counting()
    const answer = await gateway.post(path, hello, { [name]: value })
    expect([answer.status, await answer.json(), gateway.seen]).toEqual([
      400,
      {
        error: {
          message: expect.stringContaining(name),
          type: "invalid_request_error",
          param: name,
          code: "invalid_header"
        }
      },
      []
    ])
  })
})

describe("requests that share a cached answer (TH38)", () => {
  const keys = ["one", "two"].map((name) => ({
    name,
    key: Redacted.make(`mgk_${name}00000000000000000000`)
  }))
  const as = (name: string) => ({ "x-gateway-api-key": `mgk_${name}00000000000000000000` })
  it("cache: another key, credential, provider, model, body, strictness or beta shares no answer (TH38)", async () => {
    const gateway = counting({ keys, accounts: [googleAccount, { ...vertexAccount, regions: ["eu"] }] })
    const carried = (token: string) => ({ authorization: `Bearer ${token}` })
    const others: ReadonlyArray<readonly [body: object, headers: Record<string, string>]> = [
      [hello, as("one")],
      [hello, as("two")],
      [hello, { ...as("one"), ...carried("a") }],
      [hello, { ...as("one"), ...carried("b") }],
      [{ ...hello, model: "@vertex-ai/gemini-2.5-flash" }, as("one")],
      [
        { ...hello, model: "@vertex-ai/gemini-2.5-flash" },
        { ...as("one"), "x-gateway-vertex-region": "eu" }
      ],
      [{ ...hello, model: "@google/gemini-2.5-pro" }, as("one")],
      [{ ...hello, temperature: 0 }, as("one")],
      [{ ...hello, user: "b" }, as("one")],
      [hello, { ...as("one"), "x-gateway-strict-schema-compliance": "false" }],
      [hello, { ...as("one"), ...inline({ override_params: { top_p: 0.5 } }) }]
    ]
    for (const _round of [1, 2]) {
      for (const [body, headers] of others) await gateway.post(path, body, { ...ask, ...headers })
    }
    expect(gateway.seen).toHaveLength(others.length)
  })
  it("cache: requests with the same namespace share answers across keys (TH38)", async () => {
    const gateway = counting({ keys })
    const named = (namespace: string) => ({ ...ask, "x-portkey-cache-namespace": namespace })
    const said = []
    for (const [key, namespace] of [
      ["one", "team"],
      ["two", "team"],
      ["two", "other"]
    ] as const) {
      said.push(await told(await gateway.post(path, hello, { ...as(key), ...named(namespace) })))
    }
    expect(said).toEqual(["MISS 1", "HIT 1", "MISS 2"])
  })
  it("cache: a request without a credential never shares an answer (TH38)", async () => {
    const { post, seen } = counting({ accounts: [{ ...googleAccount, credentials: undefined }] })
    const statuses = []
    for (const headers of [{ authorization: "Bearer a" }, {}])
      statuses.push((await post(path, hello, { ...ask, ...headers })).status)
    expect([statuses, seen.length]).toEqual([[200, 401], 1])
  })
})

describe("answers that are stored", () => {
  it("cache: failures are not stored", async () => {
    const gateway: ScriptedGateway = over(() =>
      gateway.seen.length === 1
        ? { status: 503, chunks: ["{}"] }
        : replying(reply([{ text: "fine" }], { finishReason: "STOP" }))
    )
    expect((await gateway.post(path, hello, ask)).status).toBe(503)
    expect(await told(await gateway.post(path, hello, ask))).toBe("MISS fine")
  })
  it("cache: the full form is stored, and a strict answer is reduced from it", async () => {
    const gateway = over(() =>
      replying(reply([{ text: "hm", thought: true }, { text: "fine" }], { finishReason: "STOP" }))
    )
    const loose = { ...ask, "x-gateway-strict-schema-compliance": "false" }
    const first = await (await gateway.post(path, hello, loose)).json()
    expect(await (await gateway.post(path, hello, loose)).json()).toEqual({
      ...first,
      usage: { ...first.usage, cost: 0 }
    })
    expect(gateway.seen).toHaveLength(1)
  })
  it("cache: a complete stream is stored, and replayed with or without usage", async () => {
    const chunks = [
      sse([
        reply([{ text: "Hel" }]),
        reply(
          [{ text: "lo" }],
          { finishReason: "STOP" },
          { usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 2, totalTokenCount: 3 } }
        )
      ])
    ]
    const gateway = over(() => ({ status: 200, headers: { "content-type": "text/event-stream" }, chunks }))
    const texts = []
    for (const usage of [true, true, false]) {
      const answer = await gateway.post(path, { ...hello, stream: true, stream_options: { include_usage: usage } }, ask)
      texts.push([answer.headers.get("x-gateway-cache-status"), await answer.text()] as const)
    }
    const [first, second, third] = texts
    expect([first?.[0], second?.[0], third?.[0], gateway.seen.length]).toEqual(["MISS", "HIT", "MISS", 2])
    expect(second?.[1]).toBe(first?.[1])
    expect(first?.[1]).toContain('"total_tokens":3')
  })
  it("cache: a broken or abandoned stream is not stored", async () => {
    const half = sse([reply([{ text: "half" }])])
    const gateway = over(() => ({
      status: 200,
      headers: { "content-type": "text/event-stream" },
      chunks: [half],
      fault: "reset"
    }))
    for (const _round of [1, 2]) await (await gateway.post(path, { ...hello, stream: true }, ask)).text()
    expect(gateway.seen).toHaveLength(2)
  })
  it("cache: native answers and streams are replayed byte for byte", async () => {
    const body = JSON.stringify(message([text("smörgås 🙂")]))
    const events = sse(stream([start(0, text("🙂")), stop(0)]), "\n")
    const gateway = over(({ url }) =>
      url.endsWith("streamRawPredict")
        ? { status: 200, headers: { "content-type": "text/event-stream" }, chunks: [events] }
        : { status: 200, headers: { "content-type": "application/json; charset=utf-8" }, chunks: [body] }
    )
    const native = {
      model: "@vertex-ai/claude-sonnet-4-5@20250929",
      max_tokens: 5,
      messages: [{ role: "user", content: "hi" }]
    }
    for (const stream of [false, true]) {
      const type = stream ? "text/event-stream; charset=utf-8" : "application/json; charset=utf-8"
      for (const status of ["MISS", "HIT"]) {
        const answer = await gateway.post("/v1/messages", { ...native, stream }, ask)
        expect([
          answer.headers.get("x-gateway-cache-status"),
          answer.headers.get("content-type"),
          await answer.text()
        ]).toEqual([status, type, stream ? events : body])
      }
    }
    expect(gateway.seen).toHaveLength(2)
  })
  it("cache: embeddings are stored with their encoding, and token counts too", async () => {
    const gateway = over(({ url }) =>
      url.includes("countTokens") ? replying({ totalTokens: 7 }) : replying({ embeddings: [{ values: [0.5, 1] }] })
    )
    const input = { model: "@google/gemini-embedding-001", input: "a" }
    const bodies = []
    for (const encoding of [undefined, undefined, "base64"]) {
      const answer = await gateway.post(
        "/v1/embeddings",
        { ...input, ...(encoding === undefined ? {} : { encoding_format: encoding }) },
        ask
      )
      const body: { readonly data: ReadonlyArray<{ readonly embedding: unknown }> } = JSON.parse(await answer.text())
      bodies.push([answer.headers.get("x-gateway-cache-status"), body.data[0]?.embedding])
    }
    expect(bodies).toEqual([
      ["MISS", [0.5, 1]],
      ["HIT", [0.5, 1]],
      ["MISS", expect.any(String)]
    ])
    for (const status of ["MISS", "HIT"]) {
      const answer = await gateway.post(`${path}/count_tokens`, hello, ask)
      expect([answer.headers.get("x-gateway-cache-status"), await answer.json()]).toEqual([
        status,
        { object: "token_count", model: expect.any(String), input_tokens: 7 }
      ])
    }
  })
  it("cache: an answer belongs to its target, and other targets of the config are called", async () => {
    let down = true
    const gateway: ScriptedGateway = over(({ url }) =>
      url.includes("generativelanguage") && down
        ? { status: 503, chunks: ["{}"] }
        : replying(reply([{ text: String(gateway.seen.length) }], { finishReason: "STOP" }))
    )
    const config = inline({
      ...fallback({ provider: "google" }, { provider: "vertex-ai" }),
      cache: { mode: "simple" }
    } as Json)
    const body = { ...hello, model: "gemini-2.5-flash" }
    const said = [
      await told(await gateway.post(path, body, config)),
      await told(await gateway.post(path, body, config))
    ]
    down = false
    said.push(await told(await gateway.post(path, body, config)), await told(await gateway.post(path, body, config)))
    expect(said).toEqual(["MISS 2", "HIT 2", "MISS 4", "HIT 4"])
  })
})
