import { describe, expect, it } from "vitest"
import { drawJpeg, drawPng } from "../../../../src/demo/google/shared/pictures.ts"
import { embed } from "../../../../src/demo/google/shared/vectors.ts"
import { asking, place } from "../asking.ts"

const now = Date.UTC(2025, 11, 1)
const { ask } = asking({ projects: ["test-project"], now: () => now })

const vertex = (model: string) => `${place}/publishers/google/models/${model}:predict`
const google = (model: string) => `/v1beta/models/${model}:predict`
const endpoint = (id: string) => `${place}/endpoints/${id}:predict`

const told = async (path: string, body: unknown) => {
  const { status, json } = await ask(path, body)
  return status === 200 ? json() : [status, json().error.message]
}
const invalid = (path: string, expected: string) => [400, `Invalid value at '${path}': expected ${expected}.`]

describe("simulated Imagen", () => {
  const draw = (parameters: Record<string, unknown> = {}, prompt = "a cat", path = vertex("imagen-3.0-generate-001")) =>
    told(path, { instances: [{ prompt }], parameters })

  it("Imagen: draws with every id", async () => {
    const ids = [
      "imagen-3.0-generate-001",
      "imagen-3.0-fast-generate-001",
      "imagegeneration@006",
      "imagegeneration@005",
      "imagegeneration@002",
      "imagen-4.0-generate-001",
      "imagen-4.0-fast-generate-001",
      "imagen-4.0-ultra-generate-001"
    ]
    const drawn = [{ mimeType: "image/png", bytesBase64Encoded: drawPng("a cat  0", undefined) }]
    for (const id of ids) expect([id, await draw({}, "a cat", vertex(id))]).toEqual([id, { predictions: drawn }])
    expect(await draw({}, "a cat", google("imagen-4.0-generate-001"))).toEqual({ predictions: drawn })
  })
  it("Imagen: draws the requested number, each different, the same for the same seed", async () => {
    const { predictions } = await draw({ sampleCount: 8 })
    expect(new Set(predictions.map((one: { bytesBase64Encoded: string }) => one.bytesBase64Encoded)).size).toBe(8)
    const seeded = { seed: 7, addWatermark: false }
    expect(await draw(seeded)).toEqual(await draw(seeded))
    expect(await draw(seeded)).not.toEqual(await draw({ ...seeded, seed: 0 }))
  })
  it("Imagen: draws in the requested format, ratio and size", async () => {
    const {
      predictions: [wide]
    } = await draw({
      aspectRatio: "16:9",
      sampleImageSize: "2K",
      outputOptions: { mimeType: "image/jpeg", compressionQuality: 0 }
    })
    expect(wide).toEqual({ mimeType: "image/jpeg", bytesBase64Encoded: drawJpeg("a cat  0", "16:9", 128) })
  })
  it("Imagen: reports the enhanced prompt, ratings of images and prompt, and addresses in Cloud Storage", async () => {
    const rated = { categories: ["Violence", "Health"], scores: [0.125, 0.0625] }
    expect(
      await draw({
        enhancePrompt: true,
        includeSafetyAttributes: true,
        storageUri: "gs://bucket/images/",
        sampleCount: 2
      })
    ).toEqual({
      predictions: [
        {
          mimeType: "image/png",
          prompt: "a cat, in soft light, finely detailed",
          safetyAttributes: rated,
          gcsUri: `gs://bucket/images/${now}/sample_0.png`
        },
        {
          mimeType: "image/png",
          prompt: "a cat, in soft light, finely detailed",
          safetyAttributes: rated,
          gcsUri: `gs://bucket/images/${now}/sample_1.png`
        },
        { contentType: "Positive Prompt", safetyAttributes: rated }
      ]
    })
  })
  it("Imagen: accepts every parameter within its range", async () => {
    const all = {
      sampleCount: 1,
      seed: 0,
      addWatermark: false,
      aspectRatio: "3:4",
      sampleImageSize: "1K",
      negativePrompt: "",
      guidanceScale: 7.5,
      personGeneration: "ALLOW_ADULT",
      safetySetting: "block_only_high",
      enhancePrompt: false,
      language: "auto",
      includeRaiReason: true,
      includeSafetyAttributes: false,
      outputOptions: { mimeType: "image/png" }
    }
    expect((await draw(all)).predictions).toHaveLength(1)
  })
  it.each([
    [{ sampleCount: 0 }, "parameters.sampleCount", "an integer between 1 and 8"],
    [{ sampleCount: 9 }, "parameters.sampleCount", "an integer between 1 and 8"],
    [{ sampleCount: "1" }, "parameters.sampleCount", "an integer between 1 and 8"],
    [{ aspectRatio: "2:3" }, "parameters.aspectRatio", "one of '1:1', '3:4', '4:3', '9:16', '16:9'"],
    [{ sampleImageSize: "4K" }, "parameters.sampleImageSize", "one of '1K', '2K'"],
    [
      { outputOptions: { mimeType: "image/webp" } },
      "parameters.outputOptions.mimeType",
      "one of 'image/png', 'image/jpeg'"
    ],
    [
      { outputOptions: { mimeType: "image/jpeg", compressionQuality: 101 } },
      "parameters.outputOptions.compressionQuality",
      "an integer between 0 and 100"
    ],
    [{ addWatermark: "false" }, "parameters.addWatermark", "a boolean"],
    [{ sample_count: 1 }, "parameters.sample_count", "left out: there is no such field"]
  ])("Imagen: refuses %j", async (parameters, path, expected) => {
    expect(await draw(parameters)).toEqual(invalid(path, expected))
  })
  it("Imagen: refuses a seed with a watermark, which newer models add by default", async () => {
    const message = "Image generation failed with the following error: Seed is not supported when watermark is enabled."
    expect(await draw({ seed: 1 })).toEqual([400, message])
    expect(await draw({ seed: 1, addWatermark: true }, "a cat", vertex("imagegeneration@002"))).toEqual([400, message])
    expect((await draw({ seed: 1 }, "a cat", vertex("imagegeneration@002"))).predictions).toHaveLength(1)
  })
  it("Imagen: refuses prompts: none, several, empty, sensitive, with the recorded message", async () => {
    const path = vertex("imagen-3.0-generate-001")
    expect(await told(path, { instances: [] })).toEqual([400, "Empty instances."])
    expect(await told(path, { instances: [{ prompt: "a" }, { prompt: "b" }] })).toEqual(
      invalid("instances", "an array of at most 1")
    )
    expect(await told(path, { instances: [{}] })).toEqual(invalid("instances[0].prompt", "a value: it is required"))
    expect(await draw({}, " ")).toEqual([
      400,
      "Image generation failed with the following error: Text prompt can not be empty."
    ])
    expect(await draw({}, "demo:block-prompt")).toEqual([
      400,
      "Image generation failed with the following error: The prompt could not be submitted. This prompt contains sensitive words that violate " +
        "Google's Responsible AI practices. Try rephrasing the prompt. If you think this was an error, send feedback. Support codes: 42876398"
    ])
  })
  it("Imagen: filters some or all, and gives the reason when requested", async () => {
    const reason = (count: number) => ({
      raiFilteredReason:
        `Your current safety filter threshold filtered out ${count} generated images. You will not be charged for blocked images. ` +
        "Try rephrasing the prompt. If you think this was an error, send feedback."
    })
    const some = await draw({ sampleCount: 4, includeRaiReason: true }, "demo:filter-some")
    expect([some.predictions.length, some.predictions.at(-1)]).toEqual([3, reason(2)])
    expect((await draw({ sampleCount: 4 }, "demo:filter-some")).predictions).toHaveLength(2)
    expect(await draw({ sampleCount: 2, includeRaiReason: true }, "demo:filter-all")).toEqual({
      predictions: [reason(2)]
    })
    expect(await draw({ sampleCount: 2 }, "demo:filter-all")).toEqual({})
  })
  it("Imagen: refuses fields of Vertex AI on the Gemini API", async () => {
    const path = google("imagen-4.0-generate-001")
    expect(await draw({ storageUri: "gs://b" }, "a cat", path)).toEqual([
      400,
      "`storageUri` isn't supported by this model."
    ])
    expect((await told(path, { instances: [{ prompt: "a" }], labels: { a: "b" } }))[1]).toBe(
      'Invalid JSON payload received. Unknown name "labels": Cannot find field.'
    )
    expect(
      (await told(vertex("imagen-3.0-generate-001"), { instances: [{ prompt: "a" }], labels: { a: "b" } })).predictions
    ).toHaveLength(1)
    expect((await ask(google("imagegeneration@099"), { instances: [{ prompt: "a" }] })).status).toBe(404)
  })
})

describe("simulated text embeddings", () => {
  const embedded = (
    instances: ReadonlyArray<unknown>,
    parameters?: Record<string, unknown>,
    model = "text-embedding-005"
  ) => told(vertex(model), { instances, ...(parameters === undefined ? {} : { parameters }) })

  it("text embeddings: have a vector and the counts for each text", async () => {
    const { predictions, metadata } = await embedded([{ content: "Ruby is great" }, { content: "Python" }])
    expect(metadata).toEqual({ billableCharacterCount: 17 })
    expect(
      predictions.map(({ embeddings }: { embeddings: { values: ReadonlyArray<number>; statistics: unknown } }) => [
        embeddings.values.length,
        embeddings.statistics
      ])
    ).toEqual([
      [768, { truncated: false, token_count: 4 }],
      [768, { truncated: false, token_count: 2 }]
    ])
  })
  it("text embeddings: have the sizes of each model, shortened when requested", async () => {
    const size = async (model: string, parameters?: Record<string, unknown>) =>
      (await embedded([{ content: "a" }], parameters, model)).predictions[0].embeddings.values.length
    expect([
      await size("text-embedding-004"),
      await size("text-multilingual-embedding-002"),
      await size("text-embedding-005"),
      await size("gemini-embedding-001"),
      await size("gemini-embedding-001", { outputDimensionality: 256 })
    ]).toEqual([768, 768, 768, 3072, 256])
  })
  it("text embeddings: are cut when shortened, and then not of length one", async () => {
    const whole = (await embedded([{ content: "a word" }])).predictions[0].embeddings.values
    const short = (await embedded([{ content: "a word" }], { outputDimensionality: 100 })).predictions[0].embeddings
      .values
    expect(short).toEqual(whole.slice(0, 100))
  })
  it("text embeddings: turn a little with the task and the title", async () => {
    const values = async (instance: Record<string, unknown>) =>
      (await embedded([{ content: "a word", ...instance }])).predictions[0].embeddings.values
    const seen = [
      await values({}),
      await values({ task_type: "RETRIEVAL_QUERY" }),
      await values({ task_type: "RETRIEVAL_DOCUMENT" }),
      await values({ task_type: "RETRIEVAL_DOCUMENT", title: "t" })
    ]
    expect(new Set(seen.map((one) => JSON.stringify(one))).size).toBe(4)
  })
  it("text embeddings: cut long texts, or refuse them with autoTruncate off", async () => {
    const long = { content: "word ".repeat(2000) }
    expect((await embedded([long])).predictions[0].embeddings.statistics).toEqual({
      truncated: true,
      token_count: 2048
    })
    expect(await embedded([long], { autoTruncate: false })).toEqual([
      400,
      "Unable to submit request because the input token count is 2500 but the model supports up to 2048. Reduce the input token count and try again."
    ])
  })
  const content = "x"
  it.each<readonly [string, ReadonlyArray<unknown>, Record<string, unknown> | undefined, string, string]>([
    [
      "251 instances",
      Array.from({ length: 251 }, () => ({ content })),
      undefined,
      "text-embedding-005",
      "250 instance(s) is allowed per prediction. Actual: 251"
    ],
    [
      "two for gemini-embedding-001",
      [{ content }, { content }],
      undefined,
      "gemini-embedding-001",
      "1 instance(s) is allowed per prediction. Actual: 2"
    ],
    [
      "more tokens than a call takes",
      Array.from({ length: 11 }, () => ({ content: "word ".repeat(1500) })),
      undefined,
      "text-embedding-005",
      "Unable to submit request because the input token count is 20625 but the model supports up to 20000. Reduce the input token count and try again."
    ],
    ["a missing text", [{ content: "" }], undefined, "text-embedding-005", "The text content is empty."],
    [
      "camel case in an instance",
      [{ content, taskType: "CLUSTERING" }],
      undefined,
      "text-embedding-005",
      "Invalid value at 'instances[0].taskType': expected left out: there is no such field."
    ],
    [
      "snake case in parameters",
      [{ content }],
      { output_dimensionality: 5 },
      "text-embedding-005",
      "Invalid value at 'parameters.output_dimensionality': expected left out: there is no such field."
    ],
    [
      "more dimensions than there are",
      [{ content }],
      { outputDimensionality: 769 },
      "text-embedding-005",
      "Invalid value at 'parameters.outputDimensionality': expected an integer between 1 and 768."
    ],
    [
      "a title without documents",
      [{ content, title: "t" }],
      undefined,
      "text-embedding-005",
      "`title` is only valid with task_type=RETRIEVAL_DOCUMENT."
    ],
    [
      "an unknown task",
      [{ content, task_type: "SINGING" }],
      undefined,
      "text-embedding-005",
      "Invalid task_type: SINGING. Supported: RETRIEVAL_QUERY, RETRIEVAL_DOCUMENT, SEMANTIC_SIMILARITY, CLASSIFICATION, CLUSTERING, " +
        "QUESTION_ANSWERING, FACT_VERIFICATION, CODE_RETRIEVAL_QUERY."
    ],
    [
      "a model of the other operation",
      [{ content }],
      undefined,
      "gemini-embedding-2",
      "gemini-embedding-2 is not supported for predict. Please use embedContent."
    ]
  ])("text embeddings: refuse %s", async (_name, instances, parameters, model, message) => {
    expect(await embedded(instances, parameters, model)).toEqual([400, message])
  })
  it("text embeddings: are not served by predict of the Gemini API, nor is an unknown model", async () => {
    expect((await ask(google("gemini-embedding-001"), { instances: [{ content }] })).status).toBe(404)
    expect((await ask(vertex("text-embedding"), { instances: [{ content }] })).status).toBe(404)
  })
})

describe("simulated multimodal embeddings", () => {
  const model = vertex("multimodalembedding@001")
  const one = async (instance: Record<string, unknown>, dimension?: number) =>
    told(model, { instances: [instance], ...(dimension === undefined ? {} : { parameters: { dimension } }) })

  it("multimodal embeddings: have a vector for each kind", async () => {
    const {
      predictions: [all]
    } = await one({
      text: "a cat",
      image: { bytesBase64Encoded: "AAAA", mimeType: "image/png" },
      video: { gcsUri: "gs://b/v.mp4", videoSegmentConfig: { startOffsetSec: 0, endOffsetSec: 20, intervalSec: 16 } }
    })
    expect([all.textEmbedding.length, all.imageEmbedding.length]).toEqual([1408, 1408])
    expect(
      all.videoEmbeddings.map(({ embedding, ...span }: { embedding: ReadonlyArray<number> }) => [
        span,
        embedding.length
      ])
    ).toEqual([
      [{ startOffsetSec: 0, endOffsetSec: 16 }, 1408],
      [{ startOffsetSec: 16, endOffsetSec: 20 }, 1408]
    ])
  })
  it("multimodal embeddings: have the allowed sizes", async () => {
    expect((await one({ text: "a" }, 128)).predictions[0].textEmbedding).toHaveLength(128)
    expect(await one({ text: "a" }, 100)).toEqual(invalid("parameters.dimension", "one of 128, 256, 512, 1408"))
  })
  it.each([
    [{}, "At least one of text, image or video must be given."],
    [{ image: {} }, "Invalid value at 'instances[0].image': expected either bytesBase64Encoded or gcsUri."],
    [
      { image: { gcsUri: "gs://b/c.png", bytesBase64Encoded: "AAAA" } },
      "Invalid value at 'instances[0].image': expected either bytesBase64Encoded or gcsUri."
    ],
    [
      { image: { gcsUri: "https://example.com/c.png" } },
      "Invalid value at 'instances[0].image.gcsUri': expected a gs:// URI."
    ],
    [
      { image: { bytesBase64Encoded: "data:image/png;base64,AAAA" } },
      "Invalid value at 'instances[0].image.bytesBase64Encoded': expected base64."
    ],
    [{ text: "word ".repeat(40) }, "The text is longer than 32 tokens."],
    [{ content: "a" }, "Invalid value at 'instances[0].content': expected left out: there is no such field."]
  ])("multimodal embeddings: refuse %j", async (instance, message) => {
    expect(await one(instance)).toEqual([400, message])
  })
  it("multimodal embeddings: accept one instance per call", async () => {
    expect(await told(model, { instances: [{ text: "a" }, { text: "b" }] })).toEqual([
      400,
      "1 instance(s) is allowed per prediction. Actual: 2"
    ])
  })
})

describe("simulated endpoints of the predict dialect", () => {
  const greeting =
    "Hello! I am a simulated language model, so nothing you write leaves this machine. What would you like to try?"
  const prompt = "system: Be kind.\nuser: Who?\nassistant: I.\nuser: Hello\nassistant:"

  it("predict endpoint: echoes the prompt before the answer, or answers in another known form", async () => {
    const forms = [
      "demo-predict",
      "demo-predict-text",
      "demo-predict-content",
      "demo-predict-generated-text",
      "demo-predict-output"
    ]
    const predictions = await Promise.all(
      forms.map(async (id) => (await told(endpoint(id), { instances: [{ prompt }] })).predictions)
    )
    expect(predictions).toEqual([
      [`Prompt:\n${prompt}\nOutput:\n${greeting}`],
      [greeting],
      [{ content: greeting }],
      [{ generated_text: greeting }],
      [{ output: greeting }]
    ])
  })
  it("predict endpoint: names the deployed model", async () => {
    const { predictions, ...rest } = await told(endpoint("demo-predict-text"), {
      instances: [{ prompt: "Hello" }, { prompt: "Hello" }]
    })
    expect([predictions, rest]).toEqual([
      [greeting, greeting],
      {
        deployedModelId: "1234567890123456789",
        model: "projects/test-project/locations/us-central1/models/demo-predict-text",
        modelDisplayName: "demo-predict-text",
        modelVersionId: "1"
      }
    ])
  })
  it("predict endpoint: reads limits next to the prompt or in parameters", async () => {
    const words = async (instance: Record<string, unknown>, parameters: Record<string, unknown>) =>
      (await told(endpoint("demo-predict-text"), { instances: [{ prompt: "Hello", ...instance }], parameters }))
        .predictions[0]
    expect(await words({ max_tokens: 2 }, {})).toBe("Hello! I")
    expect(await words({}, { max_tokens: 2, temperature: 0, top_p: 1, top_k: 40, seed: 3 })).toBe("Hello! I")
    expect(await words({}, { stop: [" simulated"] })).toBe("Hello! I am a")
  })
  it("predict endpoint: gives bare vectors for texts", async () => {
    const { predictions } = await told(endpoint("1234567890"), {
      instances: [{ content: "Ruby", task_type: "CLUSTERING" }, { content: "Python" }]
    })
    expect(predictions).toEqual([embed("Ruby", 768), embed("Python", 768)])
    expect(await told(endpoint("1234567890"), { instances: [{ content: 7 }] })).toEqual(
      invalid("instances[0].content", "a string")
    )
  })
  it("predict endpoint: refuses a body without a prompt", async () => {
    const path = endpoint("demo-predict")
    expect(await told(path, { instances: [{ messages: [] }] })).toEqual(
      invalid("instances[0].prompt", "a value: it is required")
    )
    expect(await told(path, { instances: [{ prompt: "a" }], parameters: { max_tokens: "2" } })).toEqual(
      invalid("parameters.max_tokens", "an integer between 1 and 1000000")
    )
    expect((await told(path, { inputs: "a" }))[1]).toBe(
      'Invalid JSON payload received. Unknown name "inputs": Cannot find field.\ninstances: required field is not set'
    )
  })
  it("predict endpoint: fails on purpose", async () => {
    expect((await ask(endpoint("demo-503"), { instances: [{ prompt: "a" }] })).status).toBe(503)
    expect((await ask(vertex("demo-503"), { instances: [{ content: "a" }] })).status).toBe(503)
  })
})
