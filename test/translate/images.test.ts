// Tests image generation on Imagen and on Gemini's image models, rule by rule, with exact bodies and answers.
// Must not open sockets or read clocks.
import * as fc from "fast-check"
import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import { geminiCanvas, geminiImageParams, imagesToGemini } from "../../src/translate/images-to-gemini.ts"
import { imagenParams, imagesToImagen } from "../../src/translate/images-to-imagen.ts"
import { bothSpellings, cutImages, joinImages } from "../../src/translate/shared/images.ts"
import { adjustmentText, type Translated } from "../../src/translate/Translator.ts"
import { strictlyImages } from "../../src/translate/shared/reply/clientForm.ts"
import { ImagesParameters, type ImagesRequest } from "../../src/wire/openai/Images.ts"
import { chatContext, deepFreeze } from "../support/chat.ts"
import { loudlySkipped, sharedDir } from "../support/shared.ts"
import { drive, schemaErrors } from "../support/unary.ts"

if (sharedDir() === undefined) loudlySkipped("image bodies and lists against the published schemas")

const imagen = drive(imagesToImagen, "PredictRequest")
const gemini = drive(imagesToGemini, "GenerateContentRequest")
const imagenVertex = chatContext("imagen-3.0-generate-001", { kind: "vertex-ai" })
const imagenGoogle = chatContext("imagen-4.0-generate-001")
const geminiVertex = chatContext("gemini-2.5-flash-image", { kind: "vertex-ai" })
const geminiGoogle = chatContext("gemini-3-pro-image-preview")

const asking = (rest: Partial<ImagesRequest> = {}): ImagesRequest => ({ model: "m", prompt: "a cat", ...rest })
const parameters = (rest: Partial<ImagesRequest>, context = imagenVertex) => {
  const { body, ignored } = imagen.sent(asking(rest), context)
  const { includeRaiReason, sampleCount, ...others } = body.parameters ?? {}
  expect([sampleCount, includeRaiReason]).toEqual([
    rest.n ?? 1,
    rest["include_rai_reason"] ?? rest["includeRaiReason"] ?? true
  ])
  return [others, ignored]
}
const config = (rest: Partial<ImagesRequest>, context = geminiVertex) => {
  const { body, ignored } = gemini.sent(asking(rest), context)
  const { responseModalities, ...others } = body.generationConfig ?? {}
  expect(responseModalities).toStrictEqual(["TEXT", "IMAGE"])
  return [others, ignored]
}

describe("image generation requests", () => {
  it("Imagen gets one instance and the requested number of samples, one by default (T1601)", () => {
    expect(imagen.sent(asking(), imagenVertex)).toStrictEqual({
      body: { instances: [{ prompt: "a cat" }], parameters: { sampleCount: 1, includeRaiReason: true } },
      ignored: []
    })
    expect(imagen.sent(asking({ n: 8 }), imagenGoogle).body).toStrictEqual({
      instances: [{ prompt: "a cat" }],
      parameters: { sampleCount: 8, includeRaiReason: true }
    })
  })

  it("Gemini gets generateContent with both modalities (T1603)", () => {
    expect(gemini.sent(asking({ n: null }), geminiVertex)).toStrictEqual({
      body: {
        contents: [{ role: "user", parts: [{ text: "a cat" }] }],
        generationConfig: { responseModalities: ["TEXT", "IMAGE"] }
      },
      ignored: []
    })
  })

  const sizes: ReadonlyArray<readonly [string, string, string]> = [
    ["256x256", "1:1", "1:1"],
    ["1024x1024", "1:1", "1:1"],
    ["1792x1024", "16:9", "16:9"],
    ["1024x1792", "9:16", "9:16"],
    ["1536x1024", "4:3", "3:2"],
    ["1024x1536", "3:4", "2:3"],
    ["1000x300", "16:9", "21:9"],
    ["16:9", "16:9", "16:9"]
  ]
  it.each(sizes)("size %s is %s on Imagen, %s on Gemini (T1605)", (size, onImagen, onGemini) => {
    expect(parameters({ size })).toStrictEqual([{ aspectRatio: onImagen }, []])
    expect(config({ size })).toStrictEqual([{ imageConfig: { aspectRatio: onGemini } }, []])
  })

  it("the Gemini API accepts longer aspect ratios (T1605)", () => {
    expect(config({ size: "300x1200" }, geminiGoogle)).toStrictEqual([{ imageConfig: { aspectRatio: "1:4" } }, []])
    expect(config({ size: "100x800" }, geminiGoogle)).toStrictEqual([{ imageConfig: { aspectRatio: "1:8" } }, []])
    expect(config({ size: "300x1200" })).toStrictEqual([{ imageConfig: { aspectRatio: "9:16" } }, []])
  })

  it("the longer side determines the resolution (T1605)", () => {
    expect(parameters({ size: "2048x2048" })).toStrictEqual([{ aspectRatio: "1:1", sampleImageSize: "2K" }, []])
    expect(parameters({ size: "4096x4096" })).toStrictEqual([{ aspectRatio: "1:1", sampleImageSize: "2K" }, []])
    expect(config({ size: "1024x2048" })).toStrictEqual([{ imageConfig: { aspectRatio: "9:16", imageSize: "2K" } }, []])
    expect(config({ size: "4096x2304" })).toStrictEqual([{ imageConfig: { aspectRatio: "16:9", imageSize: "4K" } }, []])
  })

  it("size auto is dropped, aspect_ratio takes precedence, and an unused size is reported (T1605)", () => {
    expect(parameters({ size: "auto" })).toStrictEqual([{}, []])
    expect(config({ size: "auto" })).toStrictEqual([{}, []])
    expect(parameters({ size: "1024x1024", aspectRatio: "9:16" })).toStrictEqual([{ aspectRatio: "9:16" }, ["size"]])
    expect(config({ size: "4096x4096", aspect_ratio: "21:9" })).toStrictEqual([
      { imageConfig: { aspectRatio: "21:9", imageSize: "4K" } },
      []
    ])
    expect(config({ size: "4096x4096", aspect_ratio: "21:9", image_size: "1K" })).toStrictEqual([
      { imageConfig: { aspectRatio: "21:9", imageSize: "1K" } },
      ["size"]
    ])
  })

  it("the parameters of table 12 are sent to Imagen, false and 0 included (T1606)", () => {
    const words = {
      seed: 0,
      image_size: "2K",
      output_format: "jpeg",
      output_compression: 0,
      negative_prompt: "dogs",
      guidance_scale: 0,
      person_generation: "dont_allow",
      safety_setting: "block_few",
      add_watermark: false,
      enhance_prompt: false,
      language: "en",
      include_rai_reason: false,
      include_safety_attributes: false,
      storage_uri: "gs://bucket/out/"
    }
    const sent = {
      seed: 0,
      sampleImageSize: "2K",
      outputOptions: { mimeType: "image/jpeg", compressionQuality: 0 },
      negativePrompt: "dogs",
      guidanceScale: 0,
      personGeneration: "dont_allow",
      safetySetting: "block_few",
      addWatermark: false,
      enhancePrompt: false,
      language: "en",
      includeSafetyAttributes: false,
      storageUri: "gs://bucket/out/"
    }
    expect(parameters(words)).toStrictEqual([sent, []])
    const { storageUri, ...google } = sent
    expect(storageUri).toBe(words.storage_uri)
    expect(parameters(words, imagenGoogle)).toStrictEqual([google, ["storage_uri"]])
    const camel = Object.fromEntries(
      Object.entries(words).map(([name, value]) => [
        name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
        value
      ])
    )
    expect(parameters(camel)).toStrictEqual([sent, []])
  })

  it("the parameters of table 12 are sent to Gemini (T1606)", () => {
    const words = {
      seed: 0,
      image_size: "2K",
      output_format: "jpeg",
      output_compression: 0,
      person_generation: "ALLOW_ALL",
      safety_settings: [{ category: "HARM_CATEGORY_HARASSMENT", threshold: "BLOCK_NONE" }],
      labels: { team: "a" },
      safety_setting: "block_few",
      include_rai_reason: true,
      include_safety_attributes: true,
      negative_prompt: "dogs",
      guidanceScale: 1,
      add_watermark: false,
      enhance_prompt: false,
      language: "en",
      storageUri: "gs://bucket/out/"
    }
    const ignored = ["negative_prompt", "guidanceScale", "add_watermark", "enhance_prompt", "language", "storageUri"]
    const body = {
      contents: [{ role: "user", parts: [{ text: "a cat" }] }],
      generationConfig: {
        responseModalities: ["TEXT", "IMAGE"],
        imageConfig: {
          imageSize: "2K",
          personGeneration: "ALLOW_ALL",
          imageOutputOptions: { mimeType: "image/jpeg", compressionQuality: 0 }
        },
        seed: 0
      },
      safetySettings: [{ category: "HARM_CATEGORY_HARASSMENT", threshold: "BLOCK_NONE" }],
      labels: { team: "a" }
    }
    expect(gemini.sent(asking(words), geminiVertex)).toStrictEqual({ body, ignored })
    const { labels, ...rest } = body
    expect(labels).toStrictEqual(words.labels)
    expect(gemini.sent(asking(words), geminiGoogle)).toStrictEqual({
      body: { ...rest, generationConfig: { ...body.generationConfig, imageConfig: { imageSize: "2K" } } },
      ignored: ["output_format", "output_compression", "person_generation", "labels", ...ignored]
    })
  })

  it("unsupported output options are listed as ignored (T1606)", () => {
    expect(parameters({ output_format: "png", output_compression: 50 })).toStrictEqual([
      { outputOptions: { mimeType: "image/png" } },
      ["output_compression"]
    ])
    expect(parameters({ output_format: "webp", output_compression: 50 })).toStrictEqual([
      {},
      ["output_format", "output_compression"]
    ])
    expect(config({ output_format: "webp" })).toStrictEqual([{}, ["output_format"]])
  })

  it("OpenAI's spelling takes precedence (T1606)", () => {
    expect(parameters({ negative_prompt: "a", negativePrompt: "b" })).toStrictEqual([
      { negativePrompt: "a" },
      ["negativePrompt"]
    ])
    expect(parameters({ negative_prompt: null, negativePrompt: "b" })).toStrictEqual([{ negativePrompt: "b" }, []])
  })

  it("parameters no model accepts are listed as ignored (T1612, T1606)", () => {
    const words = {
      quality: "hd",
      style: "vivid",
      background: "auto",
      moderation: "low",
      user: "u",
      stream: true,
      partial_images: 0,
      surprise: 1
    }
    expect(parameters({ ...words, safety_settings: [] })).toStrictEqual([
      {},
      [...Object.keys(words), "safety_settings"]
    ])
    expect(config(words)).toStrictEqual([{}, Object.keys(words)])
    expect(config({ stream: false })).toStrictEqual([{}, []])
  })

  it("every known parameter has a rule on each model, in each spelling (L29)", () => {
    const known = Object.keys(ImagesParameters.fields).sort()
    for (const rules of [imagenParams, geminiImageParams])
      expect(Object.keys(bothSpellings(rules)).sort()).toStrictEqual(known)
  })

  it("labels are sent where the operation accepts them (T911)", () => {
    expect(imagen.sent(asking({ labels: { team: "a" } }), imagenVertex)).toStrictEqual({
      body: {
        instances: [{ prompt: "a cat" }],
        parameters: { sampleCount: 1, includeRaiReason: true },
        labels: { team: "a" }
      },
      ignored: []
    })
    expect(imagen.sent(asking({ labels: { team: "a" } }), imagenGoogle).ignored).toStrictEqual(["labels"])
  })

  const faults: ReadonlyArray<readonly [string, Partial<ImagesRequest>, string]> = [
    ["T1612", { prompt: "" }, "prompt"],
    ["T1612", { prompt: "a".repeat(32_001) }, "prompt"]
  ]
  it.each(faults)("an invalid image parameter is refused: $1 ($0)", (_, rest, param) => {
    expect(imagen.fault(asking(rest), imagenVertex)).toStrictEqual(["invalid_value", param])
    expect(gemini.fault(asking(rest), geminiGoogle)).toStrictEqual(["invalid_value", param])
  })

  it.each<readonly [Partial<ImagesRequest>, ReadonlyArray<string>, ReadonlyArray<string>]>([
    [{ n: 0 }, ["n=0>1"], []],
    [{ n: 9 }, ["n=9>8"], []],
    [{ n: 1.5 }, ["n=1.5>2"], []],
    [{ size: "banana" }, [], ["size"]],
    [{ size: "0x100" }, [], ["size"]],
    [{ size: "1024" }, [], ["size"]],
    [{ response_format: "png" }, [], ["response_format"]],
    [{ seed: 2 ** 31 }, ["seed=2147483648>-2147483648"], []]
  ])("a hint out of range is bent or left out, and named: %j (W2, W24)", (rest, adjusted, ignored) => {
    const bent = (read: Result.Result<Translated<unknown>, unknown>) => {
      const out = Result.getOrThrow(read)
      return [(out.adjusted ?? []).map(adjustmentText), out.ignored]
    }
    expect(bent(imagesToImagen.request(asking(rest), imagenVertex))).toStrictEqual([adjusted, ignored])
    expect(bent(imagesToGemini.request(asking(rest), geminiGoogle))).toStrictEqual([adjusted, ignored])
  })

  it("the prompt bound counts characters, not their halves, and safety settings are checked (T1003, T1612)", () => {
    expect(imagen.fault(asking({ prompt: "😀".repeat(32_000) }), imagenVertex)).toBe(undefined)
    expect(gemini.fault(asking({ safety_settings: [{ category: 1 }] }), geminiGoogle)).toStrictEqual([
      "invalid_type",
      "safety_settings[0].category"
    ])
    expect(imagen.fault(asking({ labels: 1 }), imagenVertex)).toStrictEqual(["invalid_label", "labels"])
    expect(gemini.fault(asking({ labels: 1 }), geminiVertex)).toStrictEqual(["invalid_label", "labels"])
  })
})

describe("Imagen answers", () => {
  const created = imagenVertex.createdSeconds
  const png = { mimeType: "image/png", bytesBase64Encoded: "AAAA" }
  const filtered = { raiFilteredReason: "Filtered. Project 123456789012 was not charged." }

  it("pictures keep their order and their details (T1601, T1610)", () => {
    const reply = {
      predictions: [
        { ...png, prompt: "a fine cat" },
        { ...png, bytesBase64Encoded: "BBBB", safetyAttributes: { categories: ["c"], scores: [0.5] } },
        { safetyAttributes: { categories: [], scores: [] }, contentType: "Positive Prompt" }
      ]
    }
    const full = imagen.answer(reply, imagenVertex, asking({ n: 2 }))
    expect(full).toStrictEqual({
      created,
      data: [
        { b64_json: "AAAA", revised_prompt: "a fine cat" },
        { b64_json: "BBBB", safety_attributes: { categories: ["c"], scores: [0.5] } }
      ],
      output_format: "png",
      provider: "vertex-ai"
    })
    const strict = strictlyImages(deepFreeze(full))
    expect(strict).toStrictEqual({
      created,
      output_format: "png",
      data: [{ b64_json: "AAAA", revised_prompt: "a fine cat" }, { b64_json: "BBBB" }]
    })
    expect(schemaErrors("openai.schema.json", "strict.ImagesResponse", strict)).toBe(null)
  })

  it("response_format url gives a data URI, or the storage address (T1607)", () => {
    const reply = {
      predictions: [
        { ...png, mimeType: "image/jpeg" },
        { mimeType: "image/jpeg", gcsUri: "gs://bucket/1.jpg" }
      ]
    }
    expect(imagen.answer(reply, imagenVertex, asking({ response_format: "url" }))).toStrictEqual({
      created,
      data: [{ url: "data:image/jpeg;base64,AAAA" }, { url: "gs://bucket/1.jpg" }],
      output_format: "jpeg",
      provider: "vertex-ai"
    })
    expect(imagen.answer(reply, imagenVertex, asking({ response_format: null })).data).toStrictEqual([
      { b64_json: "AAAA" },
      { url: "gs://bucket/1.jpg" }
    ])
  })

  it("filtered pictures are dropped; a fully filtered answer is a refused prompt (T1608)", () => {
    expect(imagen.answer({ predictions: [filtered, png] }, imagenVertex, asking({ n: 2 })).data).toStrictEqual([
      { b64_json: "AAAA" }
    ])
    expect(
      imagen.reason({ predictions: [filtered, { raiFilteredReason: "more" }] }, imagenVertex, asking())
    ).toStrictEqual({
      _tag: "InvalidRequest",
      code: "content_policy_violation",
      param: "prompt",
      message: "Filtered. Project [redacted] was not charged."
    })
  })

  it("an answer without picture and reason fails (T1614, T1211)", () => {
    const none = {
      _tag: "BadReply",
      kind: "no_content",
      message: "The upstream answered without a picture. Try again."
    }
    for (const predictions of [
      [],
      null,
      [null, 5, "x", {}],
      [{ bytesBase64Encoded: "", gcsUri: 1, mimeType: "image/png" }]
    ]) {
      expect(imagen.reason({ predictions }, imagenVertex, asking())).toStrictEqual(none)
    }
    expect(imagen.reason({}, imagenVertex, asking())).toStrictEqual(none)
    const odd = imagen.answer(
      { predictions: [{ bytesBase64Encoded: "AAAA", mimeType: "image/odd" }, { bytesBase64Encoded: "BBBB" }] },
      imagenVertex,
      asking({ response_format: "url" })
    )
    expect(odd).toStrictEqual({
      created,
      data: [{ url: "data:image/odd;base64,AAAA" }, { url: "data:image/png;base64,BBBB" }],
      provider: "vertex-ai"
    })
  })

  it("errors of the call map to reasons (T1609, T1613)", () => {
    const fail = (status: number, message: string) =>
      imagesToImagen.failure(status, {}, { error: { message } }, "caller")
    for (const message of [
      "It violates Google's Responsible AI practices.",
      "The response is blocked, as it may violate our policies."
    ]) {
      expect(fail(400, message)).toStrictEqual({
        _tag: "InvalidRequest",
        code: "content_policy_violation",
        param: "prompt",
        message
      })
    }
    expect(fail(400, "Bad seed.")).toStrictEqual({ _tag: "InvalidRequest", message: "Bad seed." })
    expect(fail(404, "Not found.")).toStrictEqual({
      _tag: "ModelNotFound",
      message: "Not found. Imagen models are being retired; a gemini-*-image model draws as well."
    })
    expect(fail(500, "violates our policies")._tag).toBe("Internal")
  })
})

describe("Gemini image answers", () => {
  const image = (data: string, more: object = {}) => ({ inlineData: { mimeType: "image/png", data }, ...more })
  const reply = (parts: ReadonlyArray<object>, rest: object = {}) => ({
    candidates: [
      { content: { role: "model", parts: parts.map((part) => ({ ...part })) }, finishReason: "STOP", ...rest }
    ]
  })
  const created = geminiGoogle.createdSeconds

  it("pictures keep their order; text, thoughts and drafts are dropped (T1603, T1404)", () => {
    const usageMetadata = {
      promptTokenCount: 10,
      candidatesTokenCount: 1290,
      thoughtsTokenCount: 10,
      totalTokenCount: 1310,
      promptTokensDetails: [{ modality: "TEXT", tokenCount: 10 }]
    }
    const parts = [
      { text: "Here:" },
      image("DRAFT", { thought: true }),
      image("AAAA", { thoughtSignature: "s" }),
      { text: "and" },
      image("BBBB")
    ]
    expect(gemini.answer({ ...reply(parts), usageMetadata }, geminiGoogle, asking())).toStrictEqual({
      created,
      data: [{ b64_json: "AAAA" }, { b64_json: "BBBB" }],
      output_format: "png",
      usage: {
        input_tokens: 10,
        output_tokens: 1300,
        total_tokens: 1310,
        input_tokens_details: { text_tokens: 10, image_tokens: 0 },
        output_tokens_details: { text_tokens: 10, image_tokens: 1290 }
      },
      provider: "google"
    })
  })

  it("url gives a data URI; usage is absent without counts, and unlisted tokens are text (T1607, T1611)", () => {
    expect(gemini.answer(reply([image("AAAA")]), geminiGoogle, asking({ response_format: "url" }))).toStrictEqual({
      created,
      data: [{ url: "data:image/png;base64,AAAA" }],
      output_format: "png",
      provider: "google"
    })
    const counted = (usageMetadata: object) =>
      gemini.answer({ ...reply([image("AAAA")]), usageMetadata: { ...usageMetadata } }, geminiGoogle, asking()).usage
    expect(
      counted({ promptTokenCount: 10, promptTokensDetails: [{ modality: "IMAGE", tokenCount: 4 }] })
    ).toStrictEqual({
      input_tokens: 10,
      output_tokens: 0,
      total_tokens: 10,
      input_tokens_details: { text_tokens: 6, image_tokens: 4 },
      output_tokens_details: { text_tokens: 0, image_tokens: 0 }
    })
    const listed = [{ modality: "IMAGE", tokenCount: 1290 }]
    expect(
      counted({
        promptTokenCount: 1,
        candidatesTokenCount: 1300,
        thoughtsTokenCount: 20,
        candidatesTokensDetails: listed
      })?.output_tokens_details
    ).toStrictEqual({ text_tokens: 30, image_tokens: 1290 })
    expect(
      counted({ promptTokenCount: 1, candidatesTokenCount: 1290, thoughtsTokenCount: 20 })?.output_tokens_details
    ).toStrictEqual({ text_tokens: 20, image_tokens: 1290 })
    expect(counted({ trafficType: "ON_DEMAND" })).toBe(undefined)
  })

  it("a blocked prompt, or a filter word without picture, is a refused prompt (T1609)", () => {
    const refused = (message: string) => ({
      _tag: "InvalidRequest",
      code: "content_policy_violation",
      param: "prompt",
      message
    })
    const usual = refused("The provider's safety filters kept the picture back. Change the prompt.")
    expect(gemini.reason({ promptFeedback: { blockReason: "SAFETY" } }, geminiGoogle, asking())).toStrictEqual(usual)
    expect(
      gemini.reason(
        { promptFeedback: { blockReason: "OTHER", blockReasonMessage: "Blocked." } },
        geminiVertex,
        asking()
      )
    ).toStrictEqual(refused("Blocked."))
    expect(gemini.reason(reply([], { finishReason: "IMAGE_SAFETY" }), geminiGoogle, asking())).toStrictEqual(usual)
    expect(
      gemini.reason(
        reply([{ text: "no" }], { finishReason: "PROHIBITED_CONTENT", finishMessage: "Held." }),
        geminiGoogle,
        asking()
      )
    ).toStrictEqual(refused("Held."))
    expect(
      gemini.answer(reply([image("AAAA")], { finishReason: "IMAGE_SAFETY" }), geminiGoogle, asking()).data
    ).toStrictEqual([{ b64_json: "AAAA" }])
  })

  it("an answer without picture and reason, or an error inside a 200, fails (T1614, T1209)", () => {
    const none = {
      _tag: "BadReply",
      kind: "no_content",
      message: "The upstream answered without a picture. Try again."
    }
    for (const body of [
      {},
      reply([{ text: "no" }]),
      reply([], { finishReason: "NO_IMAGE" }),
      reply([{ inlineData: { mimeType: "audio/wav", data: "AAAA" } }, { inlineData: null }])
    ]) {
      expect(gemini.reason({ ...body }, geminiGoogle, asking())).toStrictEqual(none)
    }
    expect(gemini.reason({ error: { code: 429, message: "m" } }, geminiGoogle, asking())).toStrictEqual({
      _tag: "RateLimited",
      message: "m"
    })
  })

  it("n pictures become n calls for one each, with rising seeds (T1604)", () => {
    const cut = (rest: Partial<ImagesRequest>) =>
      Result.getOrThrow(cutImages(deepFreeze(asking(rest)), geminiCanvas("google")))
    expect(cut({})).toStrictEqual([asking()])
    expect(cut({ n: 1, seed: 7 })).toStrictEqual([asking({ n: 1, seed: 7 })])
    expect(cut({ n: 3 })).toStrictEqual([asking({ n: 3 }), asking({ n: 1 }), asking({ n: 1 })])
    expect(cut({ n: 2, seed: 2 ** 31 - 1 }).map(({ seed }) => seed)).toStrictEqual([2 ** 31 - 1, -(2 ** 31)])
    expect(cut({ n: 9 }).length).toBe(8)
  })

  it("joined answers keep their order, and usage is their sum (T1604, L14, L22)", () => {
    const counts = fc.array(fc.tuple(fc.nat(1e6), fc.nat(1e6)), { minLength: 1, maxLength: 8 })
    fc.assert(
      fc.property(counts, (tokens) => {
        const answers = tokens.map(([promptTokenCount, candidatesTokenCount], at) =>
          gemini.answer(
            { ...reply([image(`P${at}`)]), usageMetadata: { promptTokenCount, candidatesTokenCount } },
            geminiGoogle,
            asking()
          )
        )
        const input = tokens.reduce((sum, [one]) => sum + one, 0)
        const output = tokens.reduce((sum, [, one]) => sum + one, 0)
        expect(joinImages(deepFreeze(answers))).toStrictEqual({
          created,
          data: tokens.map((_, at) => ({ b64_json: `P${at}` })),
          output_format: "png",
          usage: {
            input_tokens: input,
            output_tokens: output,
            total_tokens: input + output,
            input_tokens_details: { text_tokens: input, image_tokens: 0 },
            output_tokens_details: { text_tokens: 0, image_tokens: output }
          },
          provider: "google"
        })
      }),
      { numRuns: 30 }
    )
    expect(
      joinImages([
        { created: 1, data: [] },
        { created: 2, data: [{ url: "u" }] }
      ])
    ).toStrictEqual({ created: 1, data: [{ url: "u" }] })
  })
})
