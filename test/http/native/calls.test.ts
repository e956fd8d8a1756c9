// Google's own dialects through the whole service: exact calls upstream, exact answers, errors in the shape of the client.
import * as Layer from "effect/Layer"
import { describe, expect, it } from "vitest"
import { NativeDefaults } from "../../../src/http/routes/NativeRoutes.ts"
import { googleAccount, vertexAccount } from "../../support/account.ts"
import { gatewayOfFile, gatewaysOver, replying } from "../../support/scripted.ts"
import { gatewayKey } from "../../support/TestGateway.ts"

const over = gatewayOfFile()
const withOptions = gatewaysOver()
const google = "https://generativelanguage.googleapis.com"
const vertex =
  "https://us-central1-aiplatform.googleapis.com/v1/projects/test-project/locations/us-central1/publishers/google/models"
const contents = [{ role: "user", parts: [{ text: "Hi" }] }]
const full = {
  candidates: [{ content: { role: "model", parts: [{ text: "Hello" }] }, finishReason: "STOP" }],
  usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 }
}

const keyed = { "content-type": "application/json", "x-goog-api-key": gatewayKey, "x-request-id": "r1" }
const text = (value: unknown): string =>
  value instanceof Uint8Array ? new TextDecoder().decode(value) : JSON.stringify(value)

describe("native calls", () => {
  it("native call: goes up as its own bytes, and the answer comes back as its own (N301, N401)", async () => {
    const reply = ` {"candidates" : [{"finishReason":"STOP"}],"new":12345678901234567890, "s":"\\u00e9"}\n`
    const gateway = over(() => ({
      status: 200,
      headers: { "content-type": "application/json; charset=UTF-8" },
      chunks: [reply]
    }))
    const body = ` { "contents":[{"parts":[{"text":"\\u00e9"}]}] , "new_field" : 1.0 }\n`
    const answer = await gateway.send("/v1beta/models/gemini-2.5-flash:generateContent", {
      method: "POST",
      headers: keyed,
      body
    })
    expect([answer.status, answer.headers.get("content-type"), await answer.text()]).toStrictEqual([
      200,
      "application/json; charset=UTF-8",
      reply
    ])
    expect(gateway.seen.map((call) => ({ ...call, body: text(call.body) }))).toStrictEqual([
      {
        method: "POST",
        url: `${google}/v1beta/models/gemini-2.5-flash:generateContent`,
        headers: { "content-type": "application/json" },
        body
      }
    ])
    expect([
      answer.headers.get("x-gateway-provider"),
      answer.headers.get("x-request-id"),
      answer.headers.get("x-gateway-cache-status")
    ]).toStrictEqual(["google", "r1", "DISABLED"])
  })
  it.each([
    ["/v1beta/models/gemini-2.5-flash:generateContent", `${google}/v1beta/models/gemini-2.5-flash:generateContent`],
    ["/v1/models/gemini-2.5-flash:generateContent", `${google}/v1beta/models/gemini-2.5-flash:generateContent`],
    ["/v1alpha/models/gemini-2.5-flash:generateContent", `${google}/v1alpha/models/gemini-2.5-flash:generateContent`],
    [
      "/v1beta/models/@google/gemini-2.5-flash:generateContent",
      `${google}/v1beta/models/gemini-2.5-flash:generateContent`
    ],
    ["/v1beta/@vertex-ai/gemini-2.5-flash:generateContent", `${vertex}/gemini-2.5-flash:generateContent`],
    ["/v1/publishers/google/models/gemini-2.5-flash:generateContent", `${vertex}/gemini-2.5-flash:generateContent`],
    [
      "/v1/projects/p/locations/l/publishers/google/models/gemini-2.5-flash:generateContent",
      `${vertex}/gemini-2.5-flash:generateContent`
    ],
    [
      "/v1beta1/publishers/@vertex-ai/models/gemini-2.5-flash:generateContent",
      `${vertex.replace("/v1/", "/v1beta1/")}/gemini-2.5-flash:generateContent`
    ]
  ])("native path %s: is served by the account of its kind or slug (N101-N103, N201, N208)", async (path, url) => {
    const gateway = over(() => replying(full))
    const answer = await gateway.post(path, { contents })
    expect([answer.status, gateway.seen.map((call) => call.url)]).toStrictEqual([200, [url]])
  })
})

const sseOf = (...events: ReadonlyArray<unknown>) =>
  events.map((event) => `data: ${JSON.stringify(event)}\r\n\r\n`).join("")
const part = (text: string, finishReason?: string) => ({
  candidates: [
    { content: { role: "model", parts: [{ text }] }, ...(finishReason === undefined ? {} : { finishReason }) }
  ],
  usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 }
})
const stream = "/v1beta/models/gemini-2.5-flash:streamGenerateContent"
const eventStream = { "content-type": "text/event-stream" }

describe("native streams", () => {
  it("native stream: events pass as their own bytes, and nothing is added (N402, N403)", async () => {
    const events = sseOf(part("a"), part("b", "STOP"))
    const gateway = over(() => ({ status: 200, headers: eventStream, chunks: [events.slice(0, 30), events.slice(30)] }))
    const answer = await gateway.post(`${stream}?alt=sse&key=${gatewayKey}&fields=x`, { contents })
    expect([answer.status, answer.headers.get("content-type"), await answer.text()]).toStrictEqual([
      200,
      "text/event-stream; charset=utf-8",
      events
    ])
    expect(gateway.seen.map(({ url }) => url)).toStrictEqual([`${google}${stream}?alt=sse`])
  })
  it("native stream: without alt=sse the array passes as its own bytes (N402)", async () => {
    const array = `[${JSON.stringify(part("a"))}\n,\r\n${JSON.stringify(part("b", "STOP"))}\n]\n`
    const gateway = over(() => ({ status: 200, headers: { "content-type": "application/json" }, chunks: [array] }))
    const answer = await gateway.post(stream, { contents })
    expect([answer.headers.get("content-type"), await answer.text()]).toStrictEqual([
      "application/json; charset=UTF-8",
      array
    ])
  })
  it.each([
    ["?alt=sse", sseOf(part("a")), (error: string) => `${sseOf(part("a"))}data: ${error}\r\n\r\n`],
    ["", `[${JSON.stringify(part("a"))}`, (error: string) => `[${JSON.stringify(part("a"))},${error}]`]
  ] as const)(
    "native stream %s: a cut one ends with an error in its framing (N404, N405)",
    async (query, sent, end) => {
      const gateway = over(() => ({ status: 200, headers: eventStream, chunks: [sent] }))
      const answer = await gateway.post(stream + query, { contents })
      const error = JSON.stringify({
        error: {
          code: 502,
          message: "The upstream ended its answer without a finish reason; it is not complete.",
          status: "INTERNAL",
          details: [
            {
              "@type": "type.googleapis.com/google.rpc.ErrorInfo",
              reason: "UPSTREAM_TRUNCATED",
              domain: "model-gateway",
              metadata: { requestId: "request-1" }
            }
          ]
        }
      })
      expect(await answer.text()).toBe(end(error))
    }
  )
  it("native stream: an error in the first event is an HTTP error (N402)", async () => {
    const error = { error: { code: 429, message: "Quota", status: "RESOURCE_EXHAUSTED" } }
    const gateway = over(() => ({ status: 200, headers: eventStream, chunks: [sseOf(error)] }))
    const answer = await gateway.post(`${stream}?alt=sse`, { contents })
    expect([answer.status, (await answer.json()).error.status]).toStrictEqual([429, "RESOURCE_EXHAUSTED"])
  })
})

const generate = "/v1beta/models/gemini-2.5-flash:generateContent"
const info = (reason: string) => ({
  "@type": "type.googleapis.com/google.rpc.ErrorInfo",
  reason,
  domain: "model-gateway",
  metadata: { requestId: "request-1" }
})
const violation = (field: string, description: string) => ({
  "@type": "type.googleapis.com/google.rpc.BadRequest",
  fieldViolations: [{ field, description }]
})

describe("native errors", () => {
  it.each<readonly [string, string, unknown, Record<string, string>, number, unknown]>([
    [
      "an empty body",
      generate,
      { contents: [] },
      {},
      400,
      {
        code: 400,
        message: "contents is empty; send at least one element.",
        status: "INVALID_ARGUMENT",
        details: [info("EMPTY_ARRAY"), violation("contents", "contents is empty; send at least one element.")]
      }
    ],
    [
      "an unknown path",
      "/v1beta/models/m:sing",
      {},
      {},
      404,
      {
        code: 404,
        message:
          "There is no such path here. Served are generateContent, streamGenerateContent, countTokens, computeTokens, embedContent, batchEmbedContents, predict, rawPredict, streamRawPredict of models, and lists of models.",
        status: "NOT_FOUND",
        details: [info("UNKNOWN_URL")]
      }
    ],
    [
      "a store of a project",
      "/v1beta/files",
      {},
      {},
      400,
      {
        code: 400,
        message:
          "files is not offered by this gateway: send the data as inlineData up to the body limit, name a gs:// object on Vertex AI, or upload with a key of your own at Google and call with that key.",
        status: "FAILED_PRECONDITION",
        details: [info("UNSUPPORTED_OPERATION")]
      }
    ],
    [
      "a framing nobody has",
      `${generate}?alt=media`,
      { contents },
      {},
      400,
      {
        code: 400,
        message: 'alt is "sse" or "json".',
        status: "INVALID_ARGUMENT",
        details: [info("INVALID_VALUE"), violation("alt", 'alt is "sse" or "json".')]
      }
    ],
    [
      "a place that does not count, in strict use",
      "/v1/projects/other-project/locations/eu/publishers/google/models/gemini-2.5-flash:generateContent",
      { contents },
      { "x-gateway-unsupported-params": "reject" },
      400,
      {
        code: 400,
        message:
          '"project" has no effect: "vertex-ai" is called at its own place unless the request brings the credential, and the request asked for refusal of such parameters.',
        status: "INVALID_ARGUMENT",
        details: [
          info("UNSUPPORTED_PARAMETER"),
          violation(
            "project",
            '"project" has no effect: "vertex-ai" is called at its own place unless the request brings the credential, and the request asked for refusal of such parameters.'
          )
        ]
      }
    ]
  ])(
    "native error of %s has Google's shape (N207, N901, N903, N1001)",
    async (_name, path, body, headers, status, error) => {
      const gateway = over(() => replying(full))
      const answer = await gateway.post(path, body, headers)
      expect([answer.status, await answer.json()]).toStrictEqual([status, { error }])
      expect(gateway.seen).toStrictEqual([])
    }
  )
  it("native error: a wrong method names the right one, and the key is asked first of refusals (N110, N902)", async () => {
    const gateway = over(() => replying(full))
    const got = await gateway.send(generate, { headers: { "x-request-id": "request-1" } })
    expect([got.status, got.headers.get("allow"), (await got.json()).error.status]).toStrictEqual([
      405,
      "POST",
      "UNIMPLEMENTED"
    ])
    const live = "/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent"
    const asked = await Promise.all([
      gateway.send(live, { headers: { "x-request-id": "r" } }),
      gateway.send(`${live}?key=${gatewayKey}`, { headers: { "x-request-id": "r" } })
    ])
    expect(asked.map(({ status }) => status)).toStrictEqual([401, 400])
  })
  it("native error: an upstream's keeps its details, and a refused stored credential is no 401 (N1002, N1003)", async () => {
    const quota = {
      "@type": "type.googleapis.com/google.rpc.QuotaFailure",
      violations: [{ quotaMetric: "m", quotaId: "GenerateRequestsPerDayPerProject" }]
    }
    const retry = { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "7s" }
    const statuses = [
      { code: 429, message: "Quota exceeded.", status: "RESOURCE_EXHAUSTED", details: [quota, retry] },
      { code: 401, message: "API key not valid.", status: "UNAUTHENTICATED" }
    ]
    const shown: Array<unknown> = []
    for (const error of statuses) {
      const gateway = over(() => ({ status: error.code, chunks: [JSON.stringify({ error })] }))
      const answer = await gateway.post(generate, { contents })
      shown.push([answer.status, await answer.json()])
    }
    expect(shown).toStrictEqual([
      [
        429,
        {
          error: {
            code: 429,
            message: `The quota of the gateway's account "google" is spent at Google; ask its operator: Quota exceeded.`,
            status: "RESOURCE_EXHAUSTED",
            details: [quota, retry, { "@type": "type.googleapis.com/google.rpc.RequestInfo", requestId: "request-1" }]
          }
        }
      ],
      [
        502,
        {
          error: {
            code: 502,
            message: `The gateway's credential for "google" was refused by Google; ask its operator: API key not valid.`,
            status: "INTERNAL",
            details: [info("UPSTREAM_CREDENTIALS_REJECTED")]
          }
        }
      ]
    ])
  })
})

describe("native keys and models", () => {
  it.each<readonly [string, Record<string, string>, string]>([
    ["x-goog-api-key", { "x-goog-api-key": gatewayKey }, ""],
    ["authorization", { authorization: `Bearer ${gatewayKey}` }, ""],
    ["x-gateway-api-key", { "x-gateway-api-key": gatewayKey }, ""],
    ["the query", {}, `?key=${gatewayKey}`]
  ])("native key: stands in %s (N204)", async (_name, headers, query) => {
    const gateway = over(() => replying(full))
    const answer = await gateway.send(generate + query, {
      method: "POST",
      headers,
      body: new TextEncoder().encode(JSON.stringify({ contents }))
    })
    expect([answer.status, gateway.seen.map(({ url }) => url)]).toStrictEqual([200, [google + generate]])
  })
  it("native key: a key of Google's in the query is a carried credential (N205)", async () => {
    const gateway = withOptions(() => replying(full), { accounts: [{ ...googleAccount, credentials: undefined }] })
    const answer = await gateway.post(`${generate}?key=AIzaOwn`, { contents })
    expect([answer.status, gateway.seen.map(({ url }) => url)]).toStrictEqual([200, [google + generate]])
  })
  it("native place: counts with a carried token, and is named as ignored without one (N206, N207)", async () => {
    const path =
      "/v1/projects/other-project/locations/europe-west1/publishers/google/models/gemini-2.5-flash:generateContent"
    const gateway = over(() => replying(full))
    const stored = await gateway.post(path, { contents })
    const carried = await gateway.post(path, { contents }, { authorization: "Bearer ya29.own" })
    expect([
      gateway.seen.map(({ url }) => url),
      [stored, carried].map(({ headers }) => headers.get("x-gateway-ignored-params"))
    ]).toStrictEqual([
      [
        `${vertex}/gemini-2.5-flash:generateContent`,
        "https://europe-west1-aiplatform.googleapis.com/v1/projects/other-project/locations/europe-west1/publishers/google/models/gemini-2.5-flash:generateContent"
      ],
      ["project,location", null]
    ])
  })
  it("native headers: the closed list reaches Vertex AI, and nothing else (N210)", async () => {
    const gateway = over(() => replying(full))
    await gateway.post(
      "/v1/publishers/google/models/gemini-2.5-flash:generateContent",
      { contents },
      {
        "x-vertex-ai-llm-shared-request-type": "flex",
        "x-vertex-ai-llm-request-type": "anything",
        "x-goog-user-project": "other",
        "x-goog-api-client": "x",
        "x-gemini-api-privileged-user-id": "u"
      }
    )
    expect(gateway.seen.map(({ headers }) => headers)).toStrictEqual([
      { "content-type": "application/json", "x-vertex-ai-llm-shared-request-type": "flex" }
    ])
  })
  it("native account: the operator's setting chooses between several of one kind (N201)", async () => {
    const second = { ...googleAccount, slug: "second" }
    const accounts = [googleAccount, second, vertexAccount]
    const undecided = withOptions(() => replying(full), { accounts })
    const decided = withOptions(() => replying(full), {
      accounts,
      references: Layer.succeed(NativeDefaults, { google: "second" })
    })
    const answers = [await undecided.post(generate, { contents }), await decided.post(generate, { contents })]
    expect(answers.map(({ headers, status }) => [status, headers.get("x-gateway-provider")])).toStrictEqual([
      [400, null],
      [200, "second"]
    ])
  })
})

describe("native requests of the other product", () => {
  it("native fallback: goes on between accounts of both kinds, with a body in the words of each (N202, N501, N602)", async () => {
    const gateway = over(({ url }) => (url.startsWith(google) ? { status: 503, chunks: ["{}"] } : replying(full)))
    const config = { strategy: { mode: "fallback" }, targets: [{ provider: "@google" }, { provider: "@vertex-ai" }] }
    const answer = await gateway.post(
      generate,
      { contents: [{ parts: [{ text: "Hi" }] }], store: true },
      { "x-gateway-config": JSON.stringify(config) }
    )
    expect([
      answer.status,
      answer.headers.get("x-gateway-provider"),
      answer.headers.get("x-gateway-ignored-params"),
      gateway.seen.map(({ body, url }) => [url, body instanceof Uint8Array ? text(body) : body])
    ]).toStrictEqual([
      200,
      "vertex-ai",
      "store",
      [
        [google + generate, '{"contents":[{"parts":[{"text":"Hi"}]}],"store":true}'],
        [`${vertex}/gemini-2.5-flash:generateContent`, { contents }]
      ]
    ])
  })
  it("native batch: becomes one call of Vertex AI for as many texts as it takes, and one answer (N504, W47)", async () => {
    const prediction = (...values: ReadonlyArray<number>) => ({
      embeddings: { values, statistics: { token_count: 3 } }
    })
    const gateway = over(() => replying({ predictions: [prediction(1, 2), prediction(3, 4)] }))
    const request = (words: string) => ({ model: "models/text-embedding-005", content: { parts: [{ text: words }] } })
    const answer = await gateway.post("/v1beta/models/@vertex-ai/text-embedding-005:batchEmbedContents", {
      requests: [request("a"), request("b")]
    })
    expect([await answer.json(), gateway.seen.map(({ body }) => body)]).toStrictEqual([
      { embeddings: [{ values: [1, 2] }, { values: [3, 4] }] },
      [{ instances: [{ content: "a" }, { content: "b" }] }]
    ])
  })
  it("native signatures: refused by the other product they are left out, once (N506)", async () => {
    const refusal = { error: { code: 400, message: "Corrupted thought signature.", status: "INVALID_ARGUMENT" } }
    let calls = 0
    const gateway = over(() => (calls++ === 0 ? { status: 400, chunks: [JSON.stringify(refusal)] } : replying(full)))
    const history = [
      { role: "user", parts: [{ text: "Hi" }] },
      { role: "model", parts: [{ text: "Hello", thoughtSignature: "abc" }] },
      { role: "user", parts: [{ text: "More" }] }
    ]
    const answer = await gateway.post("/v1beta/models/@vertex-ai/gemini-2.5-flash:generateContent", {
      contents: history
    })
    expect([answer.status, gateway.seen.map(({ body }) => body)]).toStrictEqual([
      200,
      [{ contents: history }, { contents: [history[0], { role: "model", parts: [{ text: "Hello" }] }, history[2]] }]
    ])
  })
  it("native config: its words of Google and its labels are merged, and others are named (N601)", async () => {
    const gateway = over(() => replying(full))
    const config = {
      provider: "@vertex-ai",
      labels: { team: "a" },
      override_params: { google: { generationConfig: { temperature: 0 } }, temperature: 1 }
    }
    const answer = await gateway.post(
      "/v1/publishers/google/models/gemini-2.5-flash:generateContent",
      { contents, generationConfig: { topK: 1 } },
      { "x-gateway-config": JSON.stringify(config) }
    )
    expect([
      answer.status,
      answer.headers.get("x-gateway-ignored-params"),
      gateway.seen.map(({ body }) => text(body))
    ]).toStrictEqual([
      200,
      "override_params.temperature",
      [
        '{"contents":[{"role":"user","parts":[{"text":"Hi"}]}],"generationConfig":{"topK":1,"temperature":0},"labels":{"team":"a"}}'
      ]
    ])
  })
})

describe("native objects of stores", () => {
  it.each([
    [
      "reads",
      { contents: [{ role: "user", parts: [{ fileData: { fileUri: "gs://theirs/x", mimeType: "text/plain" } }] }] }
    ],
    ["resources", { contents, cachedContent: "projects/other-project/locations/l/cachedContents/1" }]
  ])("native body: a stored credential reaches only listed objects: %s (N306)", async (_name, body) => {
    const gateway = withOptions(() => replying(full), {
      accounts: [{ ...vertexAccount, gcs: { read: ["gs://ours/"], write: [] } }]
    })
    const answer = await gateway.post("/v1/publishers/google/models/gemini-2.5-flash:generateContent", body)
    expect([answer.status, (await answer.json()).error.status, gateway.seen]).toStrictEqual([
      403,
      "PERMISSION_DENIED",
      []
    ])
  })
})
