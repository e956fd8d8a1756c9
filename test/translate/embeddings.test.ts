// Tests embeddings on every operation of Google, rule by rule, with exact bodies and answers.
// Must not open sockets or read clocks.
import * as fc from "fast-check"
import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import { embeddingsToBatch, embeddingsToEmbedContent } from "../../src/translate/embeddings-to-gemini.ts"
import { embeddingsToOpenAi } from "../../src/translate/embeddings-to-openai.ts"
import { embeddingsToPredict } from "../../src/translate/embeddings-to-predict.ts"
import { joinEmbeddings } from "../../src/translate/shared/reply/embeddingList.ts"
import { cutEmbeddings, embeddingModel } from "../../src/translate/shared/readEmbeddings.ts"
import { strictlyEmbeddings } from "../../src/translate/shared/reply/clientForm.ts"
import type { EmbeddingsRequest } from "../../src/wire/openai/Embeddings.ts"
import { chatContext, type ContextOptions, deepFreeze } from "../support/chat.ts"
import { loudlySkipped, sharedDir } from "../support/shared.ts"
import { drive, schemaErrors } from "../support/unary.ts"

if (sharedDir() === undefined) loudlySkipped("embedding bodies and lists against the published schemas")

const batch = drive(embeddingsToBatch, "BatchEmbedContentsRequest")
const embed = drive(embeddingsToEmbedContent, "EmbedContentRequest")
const predict = drive(embeddingsToPredict, "PredictRequest")

const google = chatContext("gemini-embedding-001")
const vertex = (model: string, more: ContextOptions = {}) => chatContext(model, { kind: "vertex-ai", ...more })
const text004 = vertex("text-embedding-004")
const embed2 = vertex("gemini-embedding-2")
const media = vertex("multimodalembedding@001")

const asking = (input: unknown, rest: Partial<EmbeddingsRequest> = {}): EmbeddingsRequest => ({
  model: "m",
  ...rest,
  input
})
const list = (data: ReadonlyArray<object>, tokens = 0, model = "m", provider = "vertex-ai") => ({
  object: "list",
  data: data.map((item, index) => ({ object: "embedding", index, ...item })),
  model,
  usage: { prompt_tokens: tokens, total_tokens: tokens },
  provider
})

describe("embeddings requests", () => {
  const one = { model: "models/gemini-embedding-001", content: { parts: [{ text: "a" }] } }

  it("the Gemini API gets one request per input, in order (T1501)", () => {
    expect(batch.sent(asking("a"), google)).toStrictEqual({ body: { requests: [one] }, ignored: [] })
    expect(batch.sent(asking(["a", "b"]), google).body).toStrictEqual({
      requests: [one, { ...one, content: { parts: [{ text: "b" }] } }]
    })
  })

  it("Vertex AI gets predict for older models and embedContent for newer ones (T1502)", () => {
    expect(predict.sent(asking(["a", "b"]), text004)).toStrictEqual({
      body: { instances: [{ content: "a" }, { content: "b" }] },
      ignored: []
    })
    expect(embed.sent(asking("a"), embed2)).toStrictEqual({
      body: { content: { parts: [{ text: "a" }] } },
      ignored: []
    })
  })

  it("dimensions are sent in every dialect (T1503)", () => {
    const dimensions = { dimensions: 256 }
    expect(batch.sent(asking("a", dimensions), google).body).toStrictEqual({
      requests: [{ ...one, outputDimensionality: 256 }]
    })
    expect(predict.sent(asking("a", dimensions), text004).body).toStrictEqual({
      instances: [{ content: "a" }],
      parameters: { outputDimensionality: 256 }
    })
    expect(embed.sent(asking("a", dimensions), embed2).body).toStrictEqual({
      content: { parts: [{ text: "a" }] },
      embedContentConfig: { outputDimensionality: 256 }
    })
    expect(predict.sent(asking("a", dimensions), media).body).toStrictEqual({
      instances: [{ text: "a" }],
      parameters: { dimension: 256 }
    })
  })

  it("task_type is accepted in any case and sent in upper case, unknown words too (T1504)", () => {
    const task = { task_type: "retrieval_query" }
    expect(batch.sent(asking("a", task), google).body).toStrictEqual({
      requests: [{ ...one, taskType: "RETRIEVAL_QUERY" }]
    })
    expect(predict.sent(asking(["a", "b"], task), text004).body).toStrictEqual({
      instances: [
        { content: "a", task_type: "RETRIEVAL_QUERY" },
        { content: "b", task_type: "RETRIEVAL_QUERY" }
      ]
    })
    expect(embed.sent(asking("a", task), embed2).body).toStrictEqual({
      content: { parts: [{ text: "a" }] },
      embedContentConfig: { taskType: "RETRIEVAL_QUERY" }
    })
    const unknown = Result.getOrThrow(
      embeddingsToPredict.request(asking("a", { task_type: "Some_New_Task2" }), text004)
    )
    expect(unknown.body).toStrictEqual({ instances: [{ content: "a", task_type: "SOME_NEW_TASK2" }] })
  })

  it("a title is sent for documents only; auto_truncate where the field exists (T1505)", () => {
    const titled = { title: "t", task_type: "RETRIEVAL_DOCUMENT", auto_truncate: false }
    expect(batch.sent(asking("a", titled), google)).toStrictEqual({
      body: { requests: [{ ...one, taskType: "RETRIEVAL_DOCUMENT", title: "t" }] },
      ignored: ["auto_truncate"]
    })
    expect(predict.sent(asking("a", titled), text004)).toStrictEqual({
      body: {
        instances: [{ content: "a", task_type: "RETRIEVAL_DOCUMENT", title: "t" }],
        parameters: { autoTruncate: false }
      },
      ignored: []
    })
    expect(embed.sent(asking("a", titled), embed2)).toStrictEqual({
      body: {
        content: { parts: [{ text: "a" }] },
        embedContentConfig: { taskType: "RETRIEVAL_DOCUMENT", title: "t", autoTruncate: false }
      },
      ignored: []
    })
    for (const [pair, context] of [
      [batch, google],
      [predict, text004],
      [embed, embed2]
    ] as const) {
      expect(pair.sent(asking("a", { title: "t" }), context).ignored).toStrictEqual(["title"])
    }
  })

  it("encoding_format is not sent upstream (T1506)", () => {
    for (const encoding_format of ["base64", "float", null]) {
      expect(batch.sent(asking("a", { encoding_format }), google)).toStrictEqual({
        body: { requests: [one] },
        ignored: []
      })
      expect(predict.sent(asking("a", { encoding_format }), text004)).toStrictEqual({
        body: { instances: [{ content: "a" }] },
        ignored: []
      })
    }
  })

  it("user and unknown fields are listed as ignored; labels are sent to predict alone (T1514, T911)", () => {
    const words = { user: "u", labels: { team: "a" }, surprise: 1, dimensions: null }
    expect(batch.sent(asking("a", words), google)).toStrictEqual({
      body: { requests: [one] },
      ignored: ["user", "labels", "surprise"]
    })
    expect(embed.sent(asking("a", words), embed2).ignored).toStrictEqual(["user", "labels", "surprise"])
    expect(predict.sent(asking("a", words), text004)).toStrictEqual({
      body: { instances: [{ content: "a" }], labels: { team: "a" } },
      ignored: ["user", "surprise"]
    })
    expect(predict.sent(asking("a", words), vertex("1234", { family: "predict" }))).toStrictEqual({
      body: { instances: [{ content: "a" }] },
      ignored: ["user", "labels", "surprise"]
    })
    expect(predict.fault(asking("a", { labels: { "Not ok": "x" } }), text004)).toStrictEqual([
      "invalid_label",
      "labels.Not ok"
    ])
  })
})

describe("malformed embeddings inputs", () => {
  const many = Array.from({ length: 2_049 }, () => "a")
  const rows: ReadonlyArray<readonly [string, unknown, string]> = [
    ["no text (T1508)", [], "invalid_value"],
    ["too many (T1508)", many, "array_too_long"],
    ["tokens (T1507)", [1, 2], "unsupported_input"],
    ["lists of tokens (T1507)", [[1], [2]], "unsupported_input"],
    ["more tokens than texts are taken (T1507)", Array.from({ length: 4_000 }, (_, at) => at), "unsupported_input"],
    ["a number (T918)", 5, "invalid_type"],
    ["null (T918)", null, "invalid_type"]
  ]
  it.each(rows)("a malformed input is refused: %s", (_, input, code) => {
    for (const [pair, context] of [
      [batch, google],
      [predict, text004],
      [embed, embed2]
    ] as const) {
      expect(pair.fault(asking(input), context)).toStrictEqual([code, "input"])
    }
  })

  it("a token array names the setting of the client that sends it (W35, RB09)", () => {
    const fault = batch.sent
    expect(() => fault(asking([[9906, 1917]]), google)).toThrow(
      "Token arrays mean nothing to this model, whose tokens are others; send texts. In LangChain's OpenAIEmbeddings set check_embedding_ctx_length=False."
    )
  })

  it("an entry that is neither text nor object is refused by its place (T1508)", () => {
    expect(batch.fault(asking(["a", null]), google)).toStrictEqual(["invalid_type", "input[1]"])
    expect(embed.fault(asking({}), embed2)).toStrictEqual(["invalid_value", "input"])
  })

  it("texts in objects, mixed and empty ones are texts (W35)", () => {
    const texts = ["", "a", { text: "b" }, { type: "text", text: "c" }, { content: [{ type: "text", text: "d" }] }]
    expect(batch.sent(asking(texts), google).body).toStrictEqual({
      requests: ["", "a", "b", "c", "d"].map((text) => ({
        model: "models/gemini-embedding-001",
        content: { parts: [{ text }] }
      }))
    })
    expect(predict.sent(asking(texts), text004).body).toStrictEqual({
      instances: ["", "a", "b", "c", "d"].map((content) => ({ content }))
    })
  })

  it("media are refused by models of texts (T1513)", () => {
    for (const [pair, context] of [
      [batch, google],
      [predict, text004]
    ] as const)
      expect(pair.fault(asking(["a", { image: { base64: "iVBORw0KGgo=" } }]), context)).toStrictEqual([
        "unsupported_input",
        "input[1]"
      ])
  })

  it("the largest accepted input passes (T1508)", () => {
    expect(batch.fault(asking(many.slice(1)), google)).toBe(undefined)
  })

  it.each([
    ["dimensions", 0],
    ["dimensions", 1.5],
    ["dimensions", 2 ** 31],
    ["encoding_format", "hex"],
    ["task_type", ""],
    ["task_type", "a b"]
  ])("a malformed parameter is refused: %s %s (B97)", (param, value) => {
    expect(predict.fault(asking("a", { [param]: value }), text004)).toStrictEqual(["invalid_value", param])
  })
})

describe("multimodal embeddings (T1513)", () => {
  const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
  const instances = (input: unknown) => predict.sent(asking(input), media).body.instances

  it("objects become instances in order; options for texts are listed as ignored", () => {
    expect(instances([{ text: "a" }, { text: "b", image: { gcs_uri: "gs://bucket/b" } }])).toStrictEqual([
      { text: "a" },
      { text: "b", image: { gcsUri: "gs://bucket/b" } }
    ])
    expect(
      predict.sent(asking("a", { task_type: "CLUSTERING", title: "t", auto_truncate: true }), media)
    ).toStrictEqual({
      body: { instances: [{ text: "a" }] },
      ignored: ["task_type", "title", "auto_truncate"]
    })
  })

  it("an image is accepted in every form", () => {
    const image = (value: unknown) => instances({ image: value })[0]?.["image"]
    expect(image({ url: "gs://bucket/a.png", mime_type: "image/png" })).toStrictEqual({
      gcsUri: "gs://bucket/a.png",
      mimeType: "image/png"
    })
    expect(image({ url: `data:image/png;base64,${png}` })).toStrictEqual({
      bytesBase64Encoded: png,
      mimeType: "image/png"
    })
    expect(image({ base64: png })).toStrictEqual({ bytesBase64Encoded: png })
    // The bytes decide where they contradict the declared type (W45).
    expect(image({ base64: `data:image/jpeg;base64,${png}`, mime_type: null })).toStrictEqual({
      bytesBase64Encoded: png,
      mimeType: "image/png"
    })
  })

  it("a video is sent with its segment options", () => {
    expect(
      instances({ video: { url: "gs://bucket/v.mp4", start_offset: 0, end_offset: 10, interval: 5 } })
    ).toStrictEqual([
      {
        video: {
          gcsUri: "gs://bucket/v.mp4",
          videoSegmentConfig: { startOffsetSec: 0, endOffsetSec: 10, intervalSec: 5 }
        }
      }
    ])
    expect(instances({ video: { base64: "AAAA" } })).toStrictEqual([{ video: { bytesBase64Encoded: "AAAA" } }])
  })

  const faults: ReadonlyArray<readonly [string, unknown, string, string]> = [
    ["an https URL", { image: { url: "https://host.example/a.png" } }, "invalid_media_url", "input.image.url"],
    ["a bucket without path", { image: { gcs_uri: "gs://bucket" } }, "invalid_media_url", "input.image.gcs_uri"],
    ["no base64", { image: { base64: "*" } }, "invalid_base64", "input.image.base64"],
    ["an image without a source", { image: { url: null } }, "invalid_value", "input.image.url"],
    ["an image that is a text", { image: "gs://bucket/a" }, "invalid_type", "input.image"],
    ["a type that is none", { image: { base64: "AAAA", mime_type: 1 } }, "invalid_type", "input.image.mime_type"],
    [
      "a stretch in words",
      [{ text: "a" }, { video: { base64: "AAAA", interval: "5s" } }],
      "invalid_type",
      "input[1].video.interval"
    ],
    ["nothing", {}, "invalid_value", "input"],
    ["an empty text", { text: "" }, "invalid_value", "input.text"]
  ]
  it.each(faults)("a malformed medium is refused: %s", (_, input, code, param) => {
    expect(predict.fault(asking(input), media)).toStrictEqual([code, param])
  })

  it("the main vector is the text's, else the image's, else the video's", () => {
    const all = {
      textEmbedding: [1],
      imageEmbedding: [2],
      videoEmbeddings: [{ startOffsetSec: 0, endOffsetSec: 5, embedding: [3] }, { embedding: [4] }]
    }
    const videos = [{ start_offset: 0, end_offset: 5, embedding: [3] }, { embedding: [4] }]
    const given = (prediction: object) =>
      predict.answer({ predictions: [{ ...prediction }], deployedModelId: "1" }, media, asking({ text: "a" })).data[0]
    const head = { object: "embedding", index: 0 }
    expect(given(all)).toStrictEqual({ ...head, embedding: [1], image_embedding: [2], video_embeddings: videos })
    expect(given({ imageEmbedding: [2] })).toStrictEqual({ ...head, embedding: [2], image_embedding: [2] })
    expect(given({ videoEmbeddings: all.videoEmbeddings })).toStrictEqual({
      ...head,
      embedding: [3],
      video_embeddings: videos
    })
  })

  it("every vector has the requested encoding (T1506)", () => {
    const reply = { predictions: [{ textEmbedding: [1], imageEmbedding: [-2], videoEmbeddings: [{ embedding: [1] }] }] }
    expect(predict.answer(reply, media, asking({ text: "a" }, { encoding_format: "base64" })).data).toStrictEqual([
      {
        object: "embedding",
        index: 0,
        embedding: "AACAPw==",
        image_embedding: "AAAAwA==",
        video_embeddings: [{ embedding: "AACAPw==" }]
      }
    ])
  })
})

describe("embeddings answers", () => {
  const two = asking(["a", "b"])
  const batchReply = { embeddings: [{ values: [0.1, 0.2] }, { values: [0.3, 0.4] }] }
  const predictReply = {
    predictions: [
      { embeddings: { values: [0.1], statistics: { token_count: 3, truncated: false } } },
      { embeddings: { values: [0.2], statistics: { token_count: 4, truncated: true } } }
    ],
    metadata: { billableCharacterCount: 5 }
  }

  it("the Gemini API: vectors are assigned by position, tokens are read if sent (T1509, T1510)", () => {
    const data = [{ embedding: [0.1, 0.2] }, { embedding: [0.3, 0.4] }]
    expect(batch.answer(batchReply, google, two)).toStrictEqual(list(data, 0, "gemini-embedding-001", "google"))
    const counted = {
      ...batchReply,
      usageMetadata: { promptTokenCount: 7, promptTokenDetails: [{ modality: "TEXT", tokenCount: 7 }] }
    }
    expect(batch.answer(counted, google, two)).toStrictEqual(list(data, 7, "gemini-embedding-001", "google"))
    for (const wrong of [-1, "7", null]) {
      expect(
        batch.answer({ ...batchReply, usageMetadata: { promptTokenCount: wrong } }, google, two).usage
      ).toStrictEqual({ prompt_tokens: 0, total_tokens: 0 })
    }
  })

  it("Vertex AI: token counts are summed, a truncated input is marked (T1510, T1511)", () => {
    expect(predict.answer(predictReply, text004, two)).toStrictEqual(
      list([{ embedding: [0.1] }, { embedding: [0.2], truncated: true }], 7, "text-embedding-004")
    )
    const reply = {
      embedding: { values: [0.5] },
      truncated: true,
      usageMetadata: { promptTokenCount: 11, totalTokenCount: 11 }
    }
    expect(embed.answer(reply, embed2, asking("a"))).toStrictEqual(
      list([{ embedding: [0.5], truncated: true }], 11, "gemini-embedding-2")
    )
    expect(embed.answer({ ...reply, truncated: false }, embed2, asking(["a"])).data).toStrictEqual([
      { object: "embedding", index: 0, embedding: [0.5] }
    ])
  })

  it("base64 vectors are little-endian 32-bit floats (T1506)", () => {
    const asked = asking(["a", "b"], { encoding_format: "base64" })
    const of = (...values: ReadonlyArray<number>) => Buffer.from(Float32Array.from(values).buffer).toString("base64")
    expect(batch.answer(batchReply, google, asked).data.map((item) => item.embedding)).toStrictEqual([
      of(0.1, 0.2),
      of(0.3, 0.4)
    ])
    expect(predict.answer(predictReply, text004, asked).data.map((item) => item.embedding)).toStrictEqual([
      of(0.1),
      of(0.2)
    ])
    expect(embed.answer({ embedding: { values: [0.5] } }, embed2, { ...asked, input: "a" }).data[0]?.embedding).toBe(
      of(0.5)
    )
  })

  it("embeddings: does not copy the vector (L13)", () => {
    const values = [0.1, 0.2]
    const answer = Result.getOrThrow(embeddingsToBatch.response({ embeddings: [{ values }] }, google, asking("a")))
    expect(answer.data[0]?.embedding).toBe(values)
  })

  it("a wrong number of vectors, or a missing vector, fails (T1512, T2312)", () => {
    const bad = (found: number) => ({
      _tag: "BadReply",
      kind: "no_content",
      message: `The upstream answered 2 inputs with ${found} usable vectors. Try again.`
    })
    expect(batch.reason({}, google, two)).toStrictEqual(bad(0))
    expect(batch.reason({ embeddings: [{ values: [1] }] }, google, two)).toStrictEqual(bad(1))
    expect(batch.reason({ embeddings: [{ values: [1] }, { values: [] }] }, google, two)).toStrictEqual(bad(1))
    expect(
      batch.reason({ embeddings: [{ values: [1] }, { values: [1] }, { values: [1] }] }, google, two)
    ).toStrictEqual(bad(3))
    expect(predict.reason({ predictions: null }, text004, two)).toStrictEqual(bad(0))
    expect(
      predict.reason({ predictions: [{ embeddings: {} }, null, "x", 5, { embeddings: { values: [1] } }] }, text004, two)
    ).toStrictEqual(bad(1))
    expect(embed.reason({ embedding: { values: ["NaN"] } }, embed2, asking("a"))?.message).toBe(
      "The upstream answered 1 input with 0 usable vectors. Try again."
    )
  })

  it("bare vectors of a self-deployed model are read", () => {
    expect(
      predict.answer({ predictions: [[0.1, 0.2], [0.3]] }, vertex("1234", { family: "predict" }), two)
    ).toStrictEqual(list([{ embedding: [0.1, 0.2] }, { embedding: [0.3] }], 0, "1234"))
  })

  it("strict output has OpenAI's fields alone (L10, L11)", () => {
    const full = predict.answer(
      { predictions: [{ textEmbedding: [1], imageEmbedding: [2], surprise: true }], model: "x" },
      media,
      asking({ text: "a" })
    )
    const strict = strictlyEmbeddings(deepFreeze(full))
    expect(strict).toStrictEqual({
      object: "list",
      model: "multimodalembedding@001",
      usage: { prompt_tokens: 0, total_tokens: 0 },
      data: [{ object: "embedding", index: 0, embedding: [1] }]
    })
    expect(schemaErrors("openai.schema.json", "strict.CreateEmbeddingResponse", strict)).toBe(null)
    expect(strictlyEmbeddings(strict)).toStrictEqual(strict)
  })
})

describe("embeddings on OpenAI-compatible endpoints (T2009)", () => {
  const server = chatContext("1234", { kind: "vertex-ai", family: "openai" })
  const openAi = drive(embeddingsToOpenAi)

  it("the request passes whole except for encoding_format and the gateway's own fields (T2002, T1506)", () => {
    expect(openAi.sent(asking(["a"], { dimensions: 4, user: "u", priority: 1, labels: null }), server)).toStrictEqual({
      body: { model: "1234", dimensions: 4, user: "u", priority: 1, input: ["a"] },
      ignored: []
    })
    const ours = { task_type: "CLUSTERING", title: "t", auto_truncate: true, labels: { team: "a" } }
    expect(openAi.sent(asking("a", { ...ours, encoding_format: "base64" }), server)).toStrictEqual({
      body: { model: "1234", input: "a" },
      ignored: Object.keys(ours)
    })
  })

  it("texts in objects become texts (W35)", () => {
    expect(openAi.sent(asking([{ text: "a" }, "b"]), server).body).toMatchObject({ input: ["a", "b"] })
  })
  it("inputs are checked as for every upstream (T1507, T1508)", () => {
    expect(openAi.fault(asking([[1]]), server)).toStrictEqual(["unsupported_input", "input"])
    expect(openAi.fault(asking({ image: { base64: "iVBORw0KGgo=" } }), server)).toStrictEqual([
      "unsupported_input",
      "input"
    ])
  })

  const two = asking(["a", "b"])
  it("vectors are assigned by index, else by position (T1509, L14)", () => {
    const data = [{ embedding: [1] }, { embedding: [2] }]
    const reply = (...items: ReadonlyArray<object>) => ({
      object: "list",
      data: items.map((item) => ({ ...item })),
      model: "m",
      usage: { prompt_tokens: 3, total_tokens: 3 }
    })
    expect(openAi.answer(reply({ index: 1, embedding: [2] }, { index: 0, embedding: [1] }), server, two)).toStrictEqual(
      list(data, 3)
    )
    expect(openAi.answer({ data: [{ embedding: [1] }, { embedding: [2] }] }, server, two)).toStrictEqual(
      list(data, 0, "1234")
    )
    expect(
      openAi.answer(reply({ index: 0, embedding: [1] }), server, asking("a", { encoding_format: "base64" })).data[0]
        ?.embedding
    ).toBe("AACAPw==")
  })

  it("endpoint errors name the setting to change (T2010, T2012)", () => {
    const fail = (status: number, error: object) =>
      embeddingsToOpenAi.failure(status, {}, { error: { ...error } }, "stored")
    expect(fail(404, { message: "The model `1234` does not exist.", code: "model_not_found" })).toStrictEqual({
      _tag: "ModelNotFound",
      message:
        "The model `1234` does not exist. Set the endpoint's model in the provider's endpoints to the name under which it serves the model.",
      upstreamCode: "model_not_found"
    })
    for (const pair of [embeddingsToOpenAi, embeddingsToPredict]) {
      expect(
        pair.failure(
          400,
          {},
          { error: { message: "Dedicated endpoint cannot be accessed through the shared domain." } },
          "stored"
        )
      ).toStrictEqual({
        _tag: "InvalidRequest",
        code: "upstream_failed_precondition",
        message:
          "Dedicated endpoint cannot be accessed through the shared domain. Set the endpoint's host in the provider's endpoints to its dedicated host name."
      })
    }
  })

  it("an index without an input fails (T1512)", () => {
    for (const index of [2, -1, 0.5, 1e9]) {
      expect(
        openAi.reason(
          {
            data: [
              { index: 0, embedding: [1] },
              { index, embedding: [2] }
            ]
          },
          server,
          two
        )
      ).toStrictEqual({
        _tag: "BadReply",
        kind: "no_content",
        message: "The upstream answered 2 inputs with 1 usable vectors. Try again."
      })
    }
    expect(
      openAi.reason(
        {
          data: [
            { index: 0, embedding: [1] },
            { index: 0, embedding: [2] }
          ]
        },
        server,
        two
      )?._tag
    ).toBe("BadReply")
    expect(openAi.reason({}, server, two)?._tag).toBe("BadReply")
  })
})

describe("embedding operations (table 11)", () => {
  const rows: ReadonlyArray<readonly [string, ContextOptions, string, number]> = [
    ["text-embedding-004", { kind: "vertex-ai" }, "predict", 250],
    ["text-embedding-005", { kind: "vertex-ai" }, "predict", 250],
    ["text-multilingual-embedding-002", { kind: "vertex-ai" }, "predict", 250],
    ["textembedding-gecko@003", { kind: "vertex-ai" }, "predict", 250],
    ["textembedding-gecko-multilingual@001", { kind: "vertex-ai" }, "predict", 250],
    ["gemini-embedding-001", { kind: "vertex-ai" }, "predict", 1],
    ["gemini-embedding-2", { kind: "vertex-ai" }, "embedContent", 1],
    ["gemini-embedding-2-preview", { kind: "vertex-ai" }, "embedContent", 1],
    ["gemini-embedding-9", { kind: "vertex-ai" }, "embedContent", 1],
    ["multimodalembedding@001", { kind: "vertex-ai" }, "predict", 1],
    ["1234", { kind: "vertex-ai", family: "predict" }, "predict", 250],
    ["1234", { kind: "vertex-ai", family: "openai" }, "embeddings", 250],
    ["text-embedding-004", {}, "batchEmbedContents", 100],
    ["gemini-embedding-001", {}, "batchEmbedContents", 100],
    ["gemini-embedding-2", {}, "batchEmbedContents", 100]
  ]
  it.each(rows)("the operation of a model: %s %o", (model, options, operation, inputsPerCall) => {
    const multimodal = model === "multimodalembedding@001"
    const isText = operation === "predict" && options.family === undefined
    expect(embeddingModel(chatContext(model, options).target)).toStrictEqual({
      operation,
      inputsPerCall,
      multimodal,
      takesMedia: multimodal || model.startsWith("gemini-embedding-2") || model === "gemini-embedding-9",
      ...(isText ? { tokensPerCall: 20_000 } : {})
    })
  })

  it("a model without embeddings has no operation", () => {
    expect(embeddingModel(chatContext("multimodalembedding@001").target)).toBe(undefined)
    expect(embeddingModel(chatContext("meta/llama", { kind: "vertex-ai", family: "openai" }).target, false)).toBe(
      undefined
    )
    expect(embeddingModel(chatContext("1234", { kind: "vertex-ai" }).target, true)).toBe(undefined)
    expect(embeddingModel(chatContext("claude-x", { kind: "vertex-ai", family: "claude" }).target)).toBe(undefined)
  })
})

describe("splitting and joining embeddings", () => {
  const one = { inputsPerCall: 1 }
  const inputs = fc.array(fc.string({ minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 40 })

  it("the calls contain all inputs in order within their bound, and all other parameters (L14, T1502)", () => {
    fc.assert(
      fc.property(inputs, fc.integer({ min: 1, max: 12 }), (input, most) => {
        const bounds = { inputsPerCall: most }
        const parts = Result.getOrThrow(cutEmbeddings(deepFreeze(asking(input, { dimensions: 8 })), bounds))
        const calls = parts.map(({ request }) => request)
        expect(calls.flatMap((call) => call.input)).toStrictEqual(input)
        expect(calls.length).toBe(Math.ceil(input.length / most))
        for (const call of calls) expect(call).toStrictEqual(asking(call.input, { dimensions: 8 }))
      })
    )
    const single = asking("a")
    expect(cutEmbeddings(single, one)).toStrictEqual(Result.succeed([{ request: single, empty: [] }]))
    expect(Result.getOrThrow(cutEmbeddings(asking([{ text: "a" }, { text: "" }]), one))).toStrictEqual([
      { request: asking([{ text: "a" }]), empty: [] },
      { request: asking([{ text: "" }]), empty: ["input[1]"] }
    ])
  })

  it("texts are cut by an estimate of their tokens as well, in order (W47, RB76)", () => {
    const bounds = { inputsPerCall: 250, tokensPerCall: 20_000 }
    const texts = Array.from({ length: 250 }, (_, at) => `${at} ${"word ".repeat(299)}`.trim())
    const calls = Result.getOrThrow(cutEmbeddings(asking(texts), bounds)).map(({ request }) => [request.input].flat())
    expect(calls.flat()).toStrictEqual(texts)
    expect(calls.map(({ length }) => length)).toStrictEqual([40, 40, 40, 40, 40, 40, 10])
    const words = Array.from({ length: 3 }, () => "a ".repeat(9_999))
    expect(Result.getOrThrow(cutEmbeddings(asking(words), bounds))).toHaveLength(2)
    expect(Result.getOrThrow(cutEmbeddings(asking(["a ".repeat(30_000)]), bounds))).toHaveLength(1)
  })

  it("a fault in any part is found before splitting", () => {
    const fault = cutEmbeddings(asking(["a", "b", {}]), one)
    expect(Result.isFailure(fault) ? fault.failure.message : undefined).toBe(
      "input[2] holds nothing to embed; give text, image, video or audio."
    )
  })

  it("the joined answers equal the answer of the whole (L14, T1509)", () => {
    fc.assert(
      fc.property(inputs, fc.integer({ min: 1, max: 12 }), (input, most) => {
        const reply = (texts: ReadonlyArray<string>) => ({
          embeddings: texts.map((text) => ({ values: [text.length, text.charCodeAt(0)] })),
          usageMetadata: { promptTokenCount: texts.length }
        })
        const request = asking(input)
        const parts = Result.getOrThrow(cutEmbeddings(request, { inputsPerCall: most })).map((part) => part.request)
        const joined = joinEmbeddings(
          parts.map((part) => batch.answer(reply([part.input].flat() as ReadonlyArray<string>), google, part))
        )
        expect(joined).toStrictEqual(batch.answer(reply(input), google, request))
      })
    )
  })
})
