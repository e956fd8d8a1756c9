// Tests POST /v1/embeddings through the whole service: exact upstream calls, exact answers, batches over several calls.
// Must not reach the network: upstreams are scripted or simulated.
import * as Effect from "effect/Effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import type { TransportRequest } from "../../src/upstream/HttpExchange.ts"
import { googleAccount, vertexAccount } from "../support/account.ts"
import { until } from "../support/eventually.ts"
import { gatewaysOver, replying, type SeenCall } from "../support/scripted.ts"
import { passTime, resumeTime, stopTime } from "../support/stoppedTime.ts"
import { gatewayKey, startTestGateway, type TestGateway } from "../support/TestGateway.ts"

const path = "/v1/embeddings"
const loose = { "x-gateway-strict-schema-compliance": "false" }
const vertexBase = "https://us-central1-aiplatform.googleapis.com/v1/projects/test-project/locations/us-central1"

const over = gatewaysOver()

const bodyOf = (
  body: string | Uint8Array | undefined
): {
  readonly requests: ReadonlyArray<{ readonly content: { readonly parts: ReadonlyArray<{ readonly text: string }> } }>
} => JSON.parse(String(body))

/** One vector per text: its length. */
const lengths = ({ body }: TransportRequest) =>
  replying({
    embeddings: bodyOf(body).requests.map(({ content }) => ({ values: [content.parts[0]?.text.length ?? 0] }))
  })

describe("embeddings in one call", () => {
  it("embeddings: the call and the answer on google are exact, strict and not (T1501, T1509)", async () => {
    const gateway = over(lengths)
    const request = { model: "@google/models/gemini-embedding-001", input: ["a", "bcd"], dimensions: 1, user: "u" }
    const answer = await gateway.post(path, request)
    expect(await answer.text()).toBe(
      JSON.stringify({
        object: "list",
        model: "gemini-embedding-001",
        usage: { prompt_tokens: 0, total_tokens: 0 },
        data: [
          { object: "embedding", index: 0, embedding: [1] },
          // Shortened, so of unit length.
          { object: "embedding", index: 1, embedding: [1] }
        ]
      })
    )
    expect([
      answer.status,
      answer.headers.get("x-gateway-ignored-params"),
      answer.headers.get("x-gateway-provider")
    ]).toEqual([200, "user", "google"])
    const part = (text: string) => ({
      model: "models/gemini-embedding-001",
      content: { parts: [{ text }] },
      outputDimensionality: 1
    })
    expect(gateway.seen).toEqual([
      {
        method: "POST",
        url: "https://generativelanguage.googleapis.com/v1beta/models/gemini-embedding-001:batchEmbedContents",
        headers: { "content-type": "application/json" },
        body: { requests: [part("a"), part("bcd")] }
      }
    ])
    expect(await (await gateway.post(path, request, loose)).json()).toMatchObject({ provider: "google" })
  })

  it("embeddings: vectors are base64 where the request asks for it (T1506)", async () => {
    const answer = await over(lengths).post(path, {
      model: "@google/gemini-embedding-001",
      input: "a",
      encoding_format: "base64"
    })
    expect(await answer.json()).toMatchObject({ data: [{ embedding: "AACAPw==" }] })
  })

  it("embeddings: long vectors of several calls keep their numbers, in both forms (L13, T1503)", async () => {
    const vector = Array.from({ length: 768 }, (_, at) => Number((Math.sin(at) / 10 ** (at % 9)).toPrecision(8)))
    const input = Array.from({ length: 101 }, (_, at) => `text ${at}`)
    const gateway = over(({ body }) => replying({ embeddings: bodyOf(body).requests.map(() => ({ values: vector })) }))
    const request = { model: "@google/gemini-embedding-001", input }
    const data = input.map((_, index) => ({ object: "embedding", index, embedding: vector }))
    const facts = { model: "gemini-embedding-001", usage: { prompt_tokens: 0, total_tokens: 0 } }
    expect(await (await gateway.post(path, request)).text()).toBe(JSON.stringify({ object: "list", ...facts, data }))
    expect(await (await gateway.post(path, request, loose)).text()).toBe(
      JSON.stringify({ object: "list", data, ...facts, provider: "google" })
    )
    expect(gateway.seen.length).toBe(4)
  })

  it("embeddings: Vertex AI is called by predict or embedContent, depending on the model (T1502, T1511)", async () => {
    const gateway = over(({ url }) =>
      url.endsWith(":predict")
        ? replying({
            predictions: [{ embeddings: { values: [0.5], statistics: { token_count: 2, truncated: true } } }]
          })
        : replying({ embedding: { values: [0.25] }, usageMetadata: { promptTokenCount: 3 } })
    )
    const asked = { input: "a", task_type: "clustering", labels: { team: "a" } }
    const predicted = await gateway.post(path, { ...asked, model: "@vertex-ai/text-multilingual-embedding-002" }, loose)
    expect(await predicted.json()).toEqual({
      object: "list",
      data: [{ object: "embedding", index: 0, embedding: [0.5], truncated: true }],
      model: "text-multilingual-embedding-002",
      usage: { prompt_tokens: 2, total_tokens: 2, cost: 0 },
      provider: "vertex-ai"
    })
    const embedded = await gateway.post(path, { ...asked, model: "@vertex-ai/gemini-embedding-2" })
    expect([await embedded.json(), embedded.headers.get("x-gateway-ignored-params")]).toEqual([
      {
        object: "list",
        data: [{ object: "embedding", index: 0, embedding: [0.25] }],
        model: "gemini-embedding-2",
        usage: { prompt_tokens: 3, total_tokens: 3 }
      },
      "labels"
    ])
    expect(gateway.seen.map(({ body, url }) => ({ body, url }))).toEqual([
      {
        url: `${vertexBase}/publishers/google/models/text-multilingual-embedding-002:predict`,
        body: { instances: [{ content: "a", task_type: "CLUSTERING" }], labels: { team: "a" } }
      },
      {
        url: `${vertexBase}/publishers/google/models/gemini-embedding-2:embedContent`,
        body: { content: { parts: [{ text: "a" }] }, embedContentConfig: { taskType: "CLUSTERING" } }
      }
    ])
  })

  it("embeddings: a self-deployed endpoint is called in the dialect its account states (T2009, T2012)", async () => {
    const account = {
      ...vertexAccount,
      endpoints: {
        "11": { dialect: "openai" as const, host: "11.us-central1-1.prediction.vertexai.goog", model: "my/embedder" },
        "22": { dialect: "predict" as const, host: undefined, model: undefined }
      }
    }
    const gateway = over(
      ({ url }) =>
        url.endsWith("/embeddings")
          ? replying({
              data: [
                { index: 1, embedding: [2] },
                { index: 0, embedding: [1] }
              ],
              model: "my/embedder",
              usage: { prompt_tokens: 4 }
            })
          : replying({ predictions: [[1], [2]] }),
      { accounts: [account] }
    )
    const asked = { input: ["a", "b"], user: "u", task_type: "x", encoding_format: "float" }
    const data = [
      { object: "embedding", index: 0, embedding: [1] },
      { object: "embedding", index: 1, embedding: [2] }
    ]
    const one = await gateway.post(path, { ...asked, model: "endpoints.11" })
    expect([await one.json(), one.headers.get("x-gateway-ignored-params")]).toEqual([
      { object: "list", data, model: "my/embedder", usage: { prompt_tokens: 4, total_tokens: 4 } },
      "task_type"
    ])
    const other = await gateway.post(path, { ...asked, model: "endpoints.22" })
    expect([await other.json(), other.headers.get("x-gateway-ignored-params")]).toEqual([
      { object: "list", data, model: "22", usage: { prompt_tokens: 0, total_tokens: 0 } },
      "user"
    ])
    expect(gateway.seen.map(({ body, url }) => ({ body, url }))).toEqual([
      {
        url: "https://11.us-central1-1.prediction.vertexai.goog/v1/projects/test-project/locations/us-central1/endpoints/11/embeddings",
        body: { model: "my/embedder", input: ["a", "b"], user: "u" }
      },
      {
        url: `${vertexBase}/endpoints/22:predict`,
        body: {
          instances: [
            { content: "a", task_type: "X" },
            { content: "b", task_type: "X" }
          ]
        }
      }
    ])
  })

  it("embeddings: a dry run shows the first call and sends nothing", async () => {
    const gateway = over(lengths)
    const answer = await gateway.post(
      path,
      { model: "@vertex-ai/gemini-embedding-001", input: ["a", "b"], user: "u" },
      { "x-gateway-dry-run": "true" }
    )
    expect([gateway.seen, await answer.json()]).toEqual([
      [],
      {
        object: "dry_run",
        provider: "vertex-ai",
        target_index: 0,
        method: "POST",
        url: `${vertexBase}/publishers/google/models/gemini-embedding-001:predict`,
        headers: { "content-type": "application/json", authorization: "Bearer <redacted>" },
        body: { instances: [{ content: "a" }] },
        ignored_params: ["user"],
        adjusted_params: []
      }
    ])
  })
})

describe("embeddings in several calls", () => {
  const texts = Array.from({ length: 950 }, (_, index) => "x".repeat(index + 1))
  const sizes = (calls: ReadonlyArray<SeenCall>) =>
    calls.map(({ body }) => bodyOf(JSON.stringify(body)).requests.length)

  it("embeddings: calls have a hundred inputs, four run together, and the order is kept (T1501, T1509)", async () => {
    const waiting: Array<() => void> = []
    const crowds: Array<number> = []
    // Calls wait until no more of them begin for some turns; then the last one answers first.
    const release = (seen: number, quiet: number) => {
      if (waiting.length > seen || quiet < 20)
        return void setImmediate(release, waiting.length, waiting.length > seen ? 0 : quiet + 1)
      crowds.push(waiting.length)
      for (const answer of waiting.splice(0).toReversed()) answer()
    }
    const gateway = over((request) =>
      Effect.callback((resume) => {
        if (waiting.push(() => resume(Effect.succeed(lengths(request)))) === 1) release(0, 0)
      })
    )
    const answer = await (await gateway.post(path, { model: "@google/gemini-embedding-001", input: texts })).json()
    expect(answer).toEqual({
      object: "list",
      data: texts.map((text, index) => ({ object: "embedding", index, embedding: [text.length] })),
      model: "gemini-embedding-001",
      usage: { prompt_tokens: 0, total_tokens: 0 }
    })
    expect(sizes(gateway.seen)).toEqual([100, 100, 100, 100, 100, 100, 100, 100, 100, 50])
    expect(crowds).toEqual([4, 4, 2])
  })

  it("embeddings: one failed part fails the whole request and stops the other calls (T1515)", async () => {
    let given = 0
    const gateway = over(({ body }) =>
      bodyOf(body).requests[0]?.content.parts[0]?.text.length === 301
        ? Effect.succeed({
            status: 429,
            chunks: [JSON.stringify({ error: { code: 429, message: "Slow down.", status: "RESOURCE_EXHAUSTED" } })]
          })
        : Effect.onInterrupt(Effect.never, () => Effect.sync(() => given++))
    )
    const answer = await gateway.post(path, { model: "@google/gemini-embedding-001", input: texts })
    expect([answer.status, await answer.json()]).toEqual([
      429,
      {
        error: { message: "Slow down.", type: "rate_limit_error", param: null, code: "rate_limit_exceeded" }
      }
    ])
    expect([gateway.seen.length, given]).toEqual([4, 3])
  })

  it("embeddings: the deadline covers all calls together", async () => {
    stopTime()
    const gateway = over((request) => (gateway.seen.length <= 4 ? lengths(request) : Effect.never), {
      limits: { totalMillis: 100 }
    })
    const answering = gateway.post(path, { model: "@google/gemini-embedding-001", input: texts })
    await until(() => gateway.seen.length === 8)
    passTime(100)
    const answer = await answering
    resumeTime()
    expect([answer.status, await answer.json()]).toEqual([
      504,
      {
        error: {
          message:
            "The upstream did not finish its answer within 100 ms (limits.totalMillis, x-gateway-request-timeout, or request_timeout or timeouts.total of the config).",
          type: "api_error",
          param: null,
          code: "upstream_timeout"
        }
      }
    ])
    expect(gateway.seen.length).toBe(8)
  })

  it("embeddings: a fault in the last input is found before anything is sent (T1508)", async () => {
    const gateway = over(lengths)
    const answer = await gateway.post(path, { model: "@google/gemini-embedding-001", input: [...texts, {}] })
    expect([answer.status, await answer.json(), gateway.seen]).toEqual([
      400,
      {
        error: {
          message: "input[950] holds nothing to embed; give text, image, video or audio.",
          type: "invalid_request_error",
          param: "input[950]",
          code: "invalid_value"
        }
      },
      []
    ])
  })
})

describe("refusals of embeddings", () => {
  const rows: ReadonlyArray<readonly [string, object, string, string]> = [
    ["B31", { input: "a" }, "model", "missing_required_parameter"],
    ["B33", { model: " ", input: "a" }, "model", "invalid_model"],
    ["B96", { model: "@google/gemini-embedding-001" }, "input", "missing_required_parameter"],
    ["B96", { model: "@google/gemini-embedding-001", input: [[1]] }, "input", "unsupported_input"],
    ["B97", { model: "@google/gemini-embedding-001", input: "a", dimensions: 0 }, "dimensions", "invalid_value"],
    ["B97", { model: "@google/gemini-embedding-001", input: "a", dimensions: "many" }, "dimensions", "invalid_type"],
    ["B42 T1514", { model: "@vertex-ai/anthropic.claude-sonnet-4", input: "a" }, "model", "unsupported_operation"],
    ["B42 T1514", { model: "@vertex-ai/meta.llama-3.3", input: "a" }, "model", "unsupported_operation"],
    ["B42", { model: "@vertex-ai/endpoints.33", input: "a" }, "model", "unsupported_operation"],
    ["B43", { model: "@google/endpoints.33", input: "a" }, "model", "unsupported_operation"],
    ["T1513", { model: "@google/multimodalembedding@001", input: "a" }, "model", "unsupported_operation"]
  ]
  it.each(rows)("embeddings: refuses $1 ($0)", async (_, body, param, code) => {
    const tuned = {
      ...vertexAccount,
      endpoints: { "33": { dialect: "gemini" as const, host: undefined, model: undefined } }
    }
    const gateway = over(lengths, { accounts: [googleAccount, tuned] })
    const answer = await gateway.post(path, body)
    expect([answer.status, await answer.json(), gateway.seen]).toMatchObject([
      400,
      { error: { type: "invalid_request_error", param, code } },
      []
    ])
  })

  it("embeddings: refuses a body over the route's own limit (B22, TH15)", async () => {
    const body = { model: "@google/gemini-embedding-001", input: "a".repeat(200) }
    for (const limits of [{ embeddingsBodyBytes: 200 }, { bodyBytes: 200 }]) {
      const answer = await over(lengths, { limits }).post(path, body)
      expect([answer.status, await answer.json()]).toMatchObject([413, { error: { code: "request_too_large" } }])
    }
    expect(
      (await over(lengths, { limits: { embeddingsBodyBytes: 300, imagesBodyBytes: 1 } }).post(path, body)).status
    ).toBe(200)
  })

  it("embeddings: refuses an unsupported parameter where the request asks for refusal (B114)", async () => {
    const gateway = over(lengths)
    const answer = await gateway.post(
      path,
      { model: "@google/gemini-embedding-001", input: "a", title: "t" },
      { "x-gateway-unsupported-params": "reject" }
    )
    expect([answer.status, await answer.json(), gateway.seen]).toMatchObject([
      400,
      { error: { param: "title", code: "unsupported_parameter" } },
      []
    ])
  })

  it("embeddings: an answer with too few vectors is an error (T1512)", async () => {
    const answer = await over(() => replying({ embeddings: [] })).post(path, {
      model: "@google/gemini-embedding-001",
      input: "a"
    })
    expect([answer.status, await answer.json()]).toEqual([
      502,
      {
        error: {
          message: "The upstream answered 1 input with 0 usable vectors. Try again.",
          type: "api_error",
          param: null,
          code: "upstream_bad_response"
        }
      }
    ])
  })
})

describe("embeddings by the simulated services", () => {
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startTestGateway()
  })
  afterAll(() => gateway.close())

  const embed = async (body: object) => {
    const answer = await fetch(`${gateway.url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-gateway-api-key": gatewayKey },
      body: JSON.stringify(body)
    })
    expect(answer.status).toBe(200)
    const list: {
      readonly data: ReadonlyArray<{ readonly embedding: ReadonlyArray<number> }>
      readonly usage: { readonly prompt_tokens: number }
    } = await answer.json()
    return list
  }

  it.each([
    ["@google/gemini-embedding-001", 3072],
    ["@google/gemini-embedding-2", 3072],
    ["@vertex-ai/gemini-embedding-001", 3072],
    ["@vertex-ai/gemini-embedding-2", 3072],
    ["@vertex-ai/text-embedding-005", 768],
    ["@vertex-ai/text-multilingual-embedding-002", 768],
    ["@vertex-ai/multimodalembedding@001", 1408]
  ])("embeddings: %s gives vectors of %i numbers, and equal texts equal vectors", async (model, size) => {
    const { data } = await embed({ model, input: ["a cat", "a dog", "a cat"] })
    expect(data.map(({ embedding }) => embedding.length)).toEqual([size, size, size])
    expect(data[0]?.embedding).toEqual(data[2]?.embedding)
    expect(data[0]?.embedding).not.toEqual(data[1]?.embedding)
  })

  it("embeddings: both services shorten vectors and take a task type (T1503, T1504)", async () => {
    for (const model of [
      "@google/gemini-embedding-2",
      "@vertex-ai/text-embedding-005",
      "@vertex-ai/gemini-embedding-2"
    ]) {
      const { data, usage } = await embed({
        model,
        input: "a cat",
        dimensions: 128,
        task_type: "retrieval_document",
        title: "Cats"
      })
      expect([data[0]?.embedding.length, usage.prompt_tokens > 0]).toEqual([128, true])
    }
  })

  it("embeddings: more inputs than a call takes are split (T1501)", async () => {
    const { data } = await embed({
      model: "@google/gemini-embedding-001",
      input: Array.from({ length: 205 }, (_, index) => `text ${index % 200}`),
      dimensions: 4
    })
    expect(data.length).toBe(205)
    expect(data[204]?.embedding).toEqual(data[4]?.embedding)
  })
})
