import { describe, expect, it } from "vitest"
import { loudlySkipped, schemaOracle, sharedDir } from "../../../support/shared.ts"
import { asking, place } from "../asking.ts"

if (sharedDir() === undefined) loudlySkipped("simulated answers against the published schemas")

const { ask } = asking({ projects: ["test-project"], now: () => Date.UTC(2025, 11, 1) })

const content = { parts: [{ text: "Hello, world!" }] }
const message = async (path: string, body: unknown) => {
  const { status, json } = await ask(path, body)
  return [status, json().error.message]
}

describe("embedContent on simulated Vertex AI", () => {
  const path = (model: string) => `${place}/publishers/google/models/${model}:embedContent`
  it("embedContent: gives one vector and the usage on Vertex AI", async () => {
    const { status, json } = await ask(path("gemini-embedding-2"), { content })
    const { embedding, ...rest } = json()
    expect([status, embedding.values.length, rest]).toEqual([
      200,
      3072,
      {
        usageMetadata: {
          promptTokenCount: 4,
          promptTokensDetails: [{ modality: "TEXT", tokenCount: 4 }],
          totalTokenCount: 4
        }
      }
    ])
  })
  it("embedContent: reads its settings next to the content or in embedContentConfig", async () => {
    const length = async (more: Record<string, unknown>) =>
      (await ask(path("gemini-embedding-2-preview"), { content, ...more })).json().embedding.values.length
    expect([
      await length({ outputDimensionality: 768 }),
      await length({ embedContentConfig: { outputDimensionality: 256, autoTruncate: true } })
    ]).toEqual([768, 256])
  })
  it("embedContent: refuses invalid requests on Vertex AI", async () => {
    const model = path("gemini-embedding-2")
    expect(await message(model, { content: { parts: [] } })).toEqual([
      400,
      "* EmbedContentRequest.content: content is empty\n"
    ])
    expect(await message(model, { content: { parts: [{ text: "" }] } })).toEqual([
      400,
      "* EmbedContentRequest.content.parts: text must not be empty\n"
    ])
    expect(await message(model, { content, outputDimensionality: 4000 })).toEqual([
      400,
      "* EmbedContentRequest.output_dimensionality: must be between 1 and 3072\n"
    ])
    expect(await message(model, { content, title: "t" })).toEqual([
      400,
      "* EmbedContentRequest.title: title can only be set with task type RETRIEVAL_DOCUMENT\n"
    ])
    expect(await message(model, { content, taskType: "TASK_TYPE_UNSPECIFIED" })).toEqual([
      400,
      "Invalid value at 'task_type' (TYPE_ENUM), \"TASK_TYPE_UNSPECIFIED\""
    ])
    expect((await ask(path("gemini-embedding-001"), { content })).status).toBe(404)
  })
})

describe("embedContent on the simulated Gemini API", () => {
  const single = (model: string) => `/v1beta/models/${model}:embedContent`
  const batch = (model: string) => `/v1beta/models/${model}:batchEmbedContents`
  const requests = (model: string, count: number, more: Record<string, unknown> = {}) => ({
    requests: Array.from({ length: count }, (_, index) => ({
      model: `models/${model}`,
      content: { parts: [{ text: `Text ${index}` }] },
      ...more
    }))
  })

  it("embedContent: reports usage from embedding-2 on, in its own spelling, and none before", async () => {
    const details = [{ modality: "TEXT", tokenCount: 4 }]
    expect((await ask(batch("gemini-embedding-2"), requests("gemini-embedding-2", 2))).json().usageMetadata).toEqual({
      promptTokenCount: 4,
      promptTokenDetails: details
    })
    expect(Object.keys((await ask(batch("gemini-embedding-001"), requests("gemini-embedding-001", 2))).json())).toEqual(
      ["embeddings"]
    )
    expect(Object.keys((await ask(single("gemini-embedding-001"), { content })).json())).toEqual(["embedding"])
    expect((await ask(single("gemini-embedding-2"), { content })).json().usageMetadata).toEqual({
      promptTokenCount: 4,
      promptTokenDetails: details
    })
  })
  it("batchEmbedContents: keeps the order and the settings of each request", async () => {
    const { embeddings } = (
      await ask(batch("gemini-embedding-2"), requests("gemini-embedding-2", 3, { outputDimensionality: 5 }))
    ).json()
    const alone = await Promise.all(
      [0, 1, 2].map(
        async (index) =>
          (
            await ask(single("gemini-embedding-2"), {
              content: { parts: [{ text: `Text ${index}` }] },
              output_dimensionality: 5
            })
          ).json().embedding
      )
    )
    expect(embeddings).toEqual(alone)
  })
  it("embedContent: makes one vector of all parts of a content", async () => {
    const joined = { model: "models/gemini-embedding-2", content: { parts: [{ text: "a" }, { text: "b" }] } }
    expect((await ask(batch("gemini-embedding-2"), { requests: [joined] })).json().embeddings).toHaveLength(1)
  })
  it("batchEmbedContents: accepts at most a hundred requests", async () => {
    expect(
      (await ask(batch("gemini-embedding-2"), requests("gemini-embedding-2", 100, { outputDimensionality: 2 }))).json()
        .embeddings
    ).toHaveLength(100)
    expect(await message(batch("gemini-embedding-2"), requests("gemini-embedding-2", 101))).toEqual([
      400,
      "* BatchEmbedContentsRequest.requests: at most 100 requests can be in one batch\n"
    ])
  })
  it("embedContent: refuses invalid requests on the Gemini API", async () => {
    const path = batch("gemini-embedding-2")
    expect(await message(path, { requests: [] })).toEqual([
      400,
      "* BatchEmbedContentsRequest.requests: requests is empty\n"
    ])
    expect(await message(path, requests("gemini-embedding-001", 1))).toEqual([
      400,
      "* BatchEmbedContentsRequest.requests[0].model: model name must match the one in the parent request\n"
    ])
    expect(await message(path, { requests: [{ content }] })).toEqual([
      400,
      "requests[0].model: required field is not set"
    ])
    expect(await message(path, requests("gemini-embedding-2", 1, { task_type: "SINGING" }))).toEqual([
      400,
      "Invalid value at 'requests[0].task_type' (TYPE_ENUM), \"SINGING\""
    ])
    expect(await message(batch("no-such-embedding-model"), requests("no-such-embedding-model", 1))).toEqual([
      404,
      "models/no-such-embedding-model is not found for API version v1beta, or is not supported for embedContent. " +
        "Call ModelService.ListModels to see the list of available models and their supported methods."
    ])
    expect((await ask(batch("gemini-2.5-flash"), requests("gemini-2.5-flash", 1))).status).toBe(404)
  })
  it("embedContent: fails on purpose", async () => {
    expect([
      (await ask(batch("demo-flaky-429"), requests("demo-flaky-429", 1))).status,
      (await ask(batch("demo-flaky-429"), requests("demo-flaky-429", 1))).status
    ]).toEqual([429, 200])
  })
})

describe("simulated countTokens", () => {
  const google = (model: string) => `/v1beta/models/${model}:countTokens`
  const vertex = (model: string) => `${place}/publishers/google/models/${model}:countTokens`
  const contents = [{ role: "user", parts: [{ text: "What is the capital of France?" }] }]
  const counted = (tokens: number) => ({
    totalTokens: tokens,
    promptTokensDetails: [{ modality: "TEXT", tokenCount: tokens }]
  })

  it("countTokens: counts system and tools in the wrapper, and cached content", async () => {
    const wrapped = (more: Record<string, unknown>) => ({
      generateContentRequest: { model: "models/gemini-3.5-flash", contents, ...more }
    })
    expect((await ask(google("gemini-3.5-flash"), wrapped({}))).json()).toEqual(counted(8))
    expect(
      (await ask(google("gemini-3.5-flash"), wrapped({ systemInstruction: { parts: [{ text: "Be terse." }] } }))).json()
    ).toEqual(counted(11))
    const tools = [{ functionDeclarations: [{ name: "f", description: "d" }] }]
    expect((await ask(google("gemini-3.5-flash"), wrapped({ tools }))).json().totalTokens).toBeGreaterThan(8)
    expect((await ask(google("gemini-3.5-flash"), wrapped({ cachedContent: "cachedContents/a" }))).json()).toEqual({
      ...counted(8),
      totalTokens: 1032,
      cachedContentTokenCount: 1024,
      cacheTokensDetails: [{ modality: "TEXT", tokenCount: 1024 }]
    })
  })
  it("countTokens: requires the wrapper to name the model of the path, without contents next to it", async () => {
    const path = google("gemini-3.5-flash")
    expect(await message(path, { generateContentRequest: { model: "gemini-3.5-flash", contents } })).toEqual([
      400,
      "* CountTokensRequest.generate_content_request.model: unexpected model name format\n"
    ])
    expect(
      await message(path, { contents, generateContentRequest: { model: "models/gemini-3.5-flash", contents } })
    ).toEqual([400, "contents and generate_content_request are mutually exclusive; only one of them may be set."])
    expect((await message(path, { contents, systemInstruction: { parts: [{ text: "a" }] } }))[0]).toBe(400)
    expect((await message(path, {}))[0]).toBe(400)
  })
  it("countTokens: counts embedding models, on Vertex AI by instances", async () => {
    expect((await ask(google("gemini-embedding-2-preview"), { contents })).json()).toEqual(counted(8))
    expect((await ask(vertex("text-embedding-005"), { instances: [{ content: "What is it?" }] })).json()).toEqual({
      ...counted(3),
      totalBillableCharacters: 9
    })
    expect(await message(vertex("text-embedding-005"), { contents })).toEqual([
      400,
      "instances must be provided for text model prediction."
    ])
  })
  it("countTokens: accepts on Vertex AI the fields of table 13, and refuses the rest", async () => {
    const body = {
      contents,
      systemInstruction: { parts: [{ text: "Be terse." }] },
      generationConfig: { temperature: 0 }
    }
    expect((await ask(vertex("gemini-2.5-flash"), body)).json()).toEqual({
      ...counted(11),
      totalBillableCharacters: 33
    })
    expect((await ask(`${place}/endpoints/1234567890:countTokens`, body)).json().totalTokens).toBe(11)
    for (const more of ["toolConfig", "safetySettings", "labels", "cachedContent"]) {
      expect(
        (
          await ask(vertex("gemini-2.5-flash"), {
            ...body,
            [more]: more === "cachedContent" ? "x" : more === "safetySettings" ? [] : {}
          })
        ).status
      ).toBe(400)
    }
  })
  it("countTokens: refuses unknown models", async () => {
    expect((await ask(google("imagen-4.0-generate-001"), { contents })).status).toBe(404)
  })
})

describe("answers compared with the published schemas", () => {
  const google = "google-generativelanguage-v1beta.schema.json"
  const vertex = "google-aiplatform-v1.schema.json"
  const requests = [{ model: "models/gemini-embedding-2", content }]
  const contents = [{ role: "user", ...content }]
  const rows: ReadonlyArray<readonly [file: string, entry: string, path: string, body: unknown]> = [
    [google, "EmbedContentResponse", "/v1beta/models/gemini-embedding-2:embedContent", { content }],
    [google, "BatchEmbedContentsResponse", "/v1beta/models/gemini-embedding-2:batchEmbedContents", { requests }],
    [google, "PredictResponse", "/v1beta/models/imagen-4.0-generate-001:predict", { instances: [{ prompt: "a cat" }] }],
    [
      google,
      "CountTokensResponse",
      "/v1beta/models/gemini-2.5-flash:countTokens",
      { generateContentRequest: { model: "models/gemini-2.5-flash", contents, cachedContent: "cachedContents/a" } }
    ],
    [google, "ErrorResponse", "/v1beta/models/gemini-embedding-2:embedContent", {}],
    [vertex, "EmbedContentResponse", `${place}/publishers/google/models/gemini-embedding-2:embedContent`, { content }],
    [
      vertex,
      "PredictResponse",
      `${place}/publishers/google/models/text-embedding-005:predict`,
      { instances: [{ content: "a" }] }
    ],
    [
      vertex,
      "PredictResponse",
      `${place}/publishers/google/models/multimodalembedding@001:predict`,
      { instances: [{ text: "a" }] }
    ],
    [
      vertex,
      "PredictResponse",
      `${place}/publishers/google/models/imagen-3.0-generate-001:predict`,
      { instances: [{ prompt: "a cat" }] }
    ],
    [vertex, "PredictResponse", `${place}/endpoints/demo-predict:predict`, { instances: [{ prompt: "a cat" }] }],
    [vertex, "CountTokensResponse", `${place}/publishers/google/models/gemini-2.5-flash:countTokens`, { contents }],
    [vertex, "ErrorResponse", `${place}/endpoints/nobody:predict`, { instances: [{ prompt: "a cat" }] }]
  ]
  const missing = schemaOracle(google, "EmbedContentResponse") === undefined
  it.skipIf(missing).each(rows)("published schema: %s %s matches", async (file, entry, path, body) => {
    const oracle = schemaOracle(file, entry)
    expect([oracle?.((await ask(path, body)).json()), oracle?.errors ?? null]).toEqual([true, null])
  })
})
