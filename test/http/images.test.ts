// Tests POST /v1/images/generations through the whole service: exact upstream calls, exact answers.
// Must not reach the network: upstreams are scripted or simulated.
import * as Effect from "effect/Effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { googleAccount, vertexAccount } from "../support/account.ts"
import { gatewayOfFile, gatewaysOver, replying } from "../support/scripted.ts"
import type { TransportScript } from "../../src/upstream/Transport.ts"
import { gatewayKey, startTestGateway, type TestGateway } from "../support/TestGateway.ts"

const path = "/v1/images/generations"
const vertexBase = "https://us-central1-aiplatform.googleapis.com/v1/projects/test-project/locations/us-central1"
const googleBase = "https://generativelanguage.googleapis.com/v1beta/models"
/** An account with an endpoint that draws nothing. */
const tuned = {
  ...vertexAccount,
  endpoints: { "33": { dialect: "gemini" as const, host: undefined, model: undefined } }
}

const over = gatewayOfFile({ accounts: [googleAccount, tuned] })
const withOptions = gatewaysOver()

/** An image whose data names the call it came from. */
const picture = (data: string) =>
  replying({
    candidates: [
      {
        content: { role: "model", parts: [{ text: "Here." }, { inlineData: { mimeType: "image/png", data } }] },
        finishReason: "STOP"
      }
    ],
    usageMetadata: { promptTokenCount: 2, candidatesTokenCount: 10, totalTokenCount: 12 }
  })
const usage = (calls: number) => ({
  input_tokens: 2 * calls,
  output_tokens: 10 * calls,
  total_tokens: 12 * calls,
  input_tokens_details: { text_tokens: 2 * calls, image_tokens: 0 },
  output_tokens_details: { text_tokens: 0, image_tokens: 10 * calls }
})

describe("images by Imagen", () => {
  const predictions = {
    predictions: [{ mimeType: "image/png", bytesBase64Encoded: "AAAA", safetyAttributes: { scores: [] } }]
  }

  it.each([
    "imagen-3.0-generate-001",
    "imagen-3.0-fast-generate-001",
    "imagegeneration@006",
    "imagegeneration@005",
    "imagegeneration@002"
  ])("images: one predict call draws all images of %s (T1601, T1602)", async (model) => {
    const gateway = over(() => replying(predictions))
    const answer = await gateway.post(
      path,
      { model, prompt: "a cat", n: 2, quality: "hd" },
      { "x-gateway-provider": "@vertex-ai" }
    )
    expect([answer.status, answer.headers.get("x-gateway-ignored-params"), await answer.json()]).toEqual([
      200,
      "quality",
      {
        created: expect.any(Number),
        data: [{ b64_json: "AAAA" }],
        output_format: "png"
      }
    ])
    expect(gateway.seen).toEqual([
      {
        method: "POST",
        url: `${vertexBase}/publishers/google/models/${model}:predict`,
        headers: { "content-type": "application/json" },
        body: { instances: [{ prompt: "a cat" }], parameters: { sampleCount: 2, includeRaiReason: true } }
      }
    ])
  })

  it("images: a non-strict answer of the Gemini API has the full form (T1601)", async () => {
    const gateway = over(() => replying(predictions))
    const answer = await gateway.post(
      path,
      { model: "@google/imagen-4.0-generate-001", prompt: "a cat" },
      { "x-gateway-strict-schema-compliance": "false" }
    )
    expect(await answer.json()).toEqual({
      created: expect.any(Number),
      data: [{ b64_json: "AAAA", safety_attributes: { scores: [] } }],
      output_format: "png",
      provider: "google"
    })
    expect(gateway.seen.map(({ url }) => url)).toEqual([`${googleBase}/imagen-4.0-generate-001:predict`])
  })

  it("images: a filtered answer, a refused prompt, a retired model are errors (T1608, T1609, T1613, B117)", async () => {
    const refusals = async (script: TransportScript) => {
      const answer = await over(script).post(path, { model: "@vertex-ai/imagen-3.0-generate-001", prompt: "a cat" })
      return [answer.status, await answer.json()]
    }
    const refused = (message: string) => [
      400,
      { error: { message, type: "invalid_request_error", param: "prompt", code: "content_policy_violation" } }
    ]
    const error = (status: number, message: string) => () => ({
      status,
      chunks: [JSON.stringify({ error: { code: status, message } })]
    })
    expect(await refusals(() => replying({ predictions: [{ raiFilteredReason: "Filtered." }] }))).toEqual(
      refused("Filtered.")
    )
    expect(await refusals(error(400, "It violates Google's Responsible AI practices."))).toEqual(
      refused("It violates Google's Responsible AI practices.")
    )
    expect(await refusals(error(404, "Gone."))).toEqual([
      404,
      {
        error: {
          message: "Gone. Imagen models are being retired; a gemini-*-image model draws as well.",
          type: "not_found_error",
          param: "model",
          code: "model_not_found"
        }
      }
    ])
  })
})

describe("images by Gemini", () => {
  it("images: n images are n calls, four together, in order, their usage summed (T1604)", async () => {
    const waiting: Array<() => void> = []
    const crowds: Array<number> = []
    const release = () => {
      crowds.push(waiting.length)
      for (const answer of waiting.splice(0).toReversed()) answer()
    }
    const gateway = over(() =>
      Effect.callback((resume) => {
        const scripted = picture(`P${gateway.seen.length}`)
        if (waiting.push(() => resume(Effect.succeed(scripted))) === 1) setImmediate(release)
      })
    )
    const answer = await gateway.post(path, {
      model: "@google/gemini-2.5-flash-image",
      prompt: "a cat",
      n: 6,
      seed: 5,
      response_format: "url"
    })
    expect(await answer.json()).toEqual({
      created: expect.any(Number),
      data: ["P1", "P2", "P3", "P4", "P5", "P6"].map((data) => ({ url: `data:image/png;base64,${data}` })),
      output_format: "png",
      usage: usage(6)
    })
    expect(crowds).toEqual([4, 2])
    expect(gateway.seen.map(({ body, url }) => ({ body, url }))).toEqual(
      [5, 6, 7, 8, 9, 10].map((seed) => ({
        url: `${googleBase}/gemini-2.5-flash-image:generateContent`,
        body: {
          contents: [{ role: "user", parts: [{ text: "a cat" }] }],
          generationConfig: { responseModalities: ["TEXT", "IMAGE"], seed }
        }
      }))
    )
  })

  const filtered = replying({ promptFeedback: { blockReason: "SAFETY" } })
  const nothing = replying({
    candidates: [{ content: { role: "model", parts: [{ text: "Done." }] }, finishReason: "STOP" }]
  })
  const drawn = async (...scripts: ReadonlyArray<ReturnType<typeof replying>>) => {
    const gateway = over(() => scripts[gateway.seen.length - 1] ?? picture("A"))
    const answer = await gateway.post(path, {
      model: "@vertex-ai/gemini-2.5-flash-image",
      prompt: "a cat",
      n: scripts.length
    })
    return [answer.status, await answer.json()]
  }

  it("images: drawn images are answered although others were filtered or missing (T1515)", async () => {
    for (const scripts of [
      [filtered, picture("A"), picture("B")],
      [picture("A"), nothing, picture("B")]
    ]) {
      expect(await drawn(...scripts)).toEqual([
        200,
        {
          created: expect.any(Number),
          data: [{ b64_json: "A" }, { b64_json: "B" }],
          output_format: "png",
          usage: usage(2)
        }
      ])
    }
  })

  it("images: without any image the first call's failure answers; other failures fail the request (T1515)", async () => {
    expect(await drawn(filtered, nothing)).toMatchObject([
      400,
      { error: { code: "content_policy_violation", param: "prompt" } }
    ])
    expect(await drawn(nothing, filtered)).toMatchObject([502, { error: { code: "upstream_bad_response" } }])
    expect(await drawn(picture("A"), { status: 403, chunks: ["{}"] })).toMatchObject([
      403,
      { error: { code: "upstream_permission_denied" } }
    ])
  })

  it("images: a dry run shows the first call", async () => {
    const gateway = over(() => picture("A"))
    const answer = await gateway.post(
      path,
      { model: "@vertex-ai/gemini-2.5-flash-image", prompt: "a cat", n: 3, size: "1024x1024" },
      { "x-gateway-dry-run": "true" }
    )
    expect([gateway.seen, await answer.json()]).toEqual([
      [],
      {
        object: "dry_run",
        provider: "vertex-ai",
        target_index: 0,
        method: "POST",
        url: `${vertexBase}/publishers/google/models/gemini-2.5-flash-image:generateContent`,
        headers: { "content-type": "application/json", authorization: "Bearer <redacted>" },
        body: {
          contents: [{ role: "user", parts: [{ text: "a cat" }] }],
          generationConfig: { responseModalities: ["TEXT", "IMAGE"], imageConfig: { aspectRatio: "1:1" } }
        },
        ignored_params: [],
        adjusted_params: []
      }
    ])
  })
})

describe("refusals of images", () => {
  const rows: ReadonlyArray<readonly [string, object, string, string]> = [
    ["B98", { model: "@vertex-ai/imagegeneration@006" }, "prompt", "missing_required_parameter"],
    ["B98", { model: "@vertex-ai/imagegeneration@006", prompt: 5 }, "prompt", "invalid_type"],
    ["B98", { model: "@vertex-ai/imagegeneration@006", prompt: "" }, "prompt", "invalid_value"],
    ["B98", { model: "@google/gemini-2.5-flash-image", prompt: "a", n: "many" }, "n", "invalid_type"],
    ["B42", { model: "@vertex-ai/anthropic.claude-sonnet-4", prompt: "a" }, "model", "unsupported_operation"],
    ["B42", { model: "@vertex-ai/meta.llama-3.3", prompt: "a" }, "model", "unsupported_operation"],
    ["B42", { model: "@vertex-ai/endpoints.33", prompt: "a" }, "model", "unsupported_operation"],
    ["B43", { model: "@google/endpoints.33", prompt: "a" }, "model", "unsupported_operation"]
  ]
  it.each(rows)("images: refuses $1 ($0)", async (_, body, param, code) => {
    const gateway = over(() => picture("A"))
    const answer = await gateway.post(path, body)
    expect([answer.status, await answer.json(), gateway.seen]).toMatchObject([
      400,
      { error: { type: "invalid_request_error", param, code } },
      []
    ])
  })

  it("images: refuses a body over the route's own limit (B22, TH15)", async () => {
    const answer = await withOptions(() => picture("A"), { limits: { imagesBodyBytes: 100 } }).post(path, {
      model: "@google/gemini-2.5-flash-image",
      prompt: "a".repeat(100)
    })
    expect([answer.status, await answer.json()]).toMatchObject([413, { error: { code: "request_too_large" } }])
  })
})

describe("images by the simulated services", () => {
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startTestGateway({ simulator: { day: "2025-12-01" } })
  })
  afterAll(() => gateway.close())

  it.each([
    "@vertex-ai/imagen-3.0-generate-001",
    "@vertex-ai/imagen-3.0-fast-generate-001",
    "@vertex-ai/imagegeneration@006",
    "@vertex-ai/imagegeneration@002",
    "@google/imagen-4.0-generate-001",
    "@vertex-ai/gemini-2.5-flash-image",
    "@google/gemini-3-pro-image-preview"
  ])("images: %s draws two images in the requested form", async (model) => {
    const answer = await fetch(`${gateway.url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-gateway-api-key": gatewayKey },
      body: JSON.stringify({ model, prompt: "a cat", n: 2, size: "1792x1024" })
    })
    const list: { readonly data: ReadonlyArray<{ readonly b64_json: string }>; readonly output_format: string } =
      await answer.json()
    expect(answer.status).toBe(200)
    expect(list.data.map(({ b64_json }) => Buffer.from(b64_json, "base64").subarray(1, 4).toString())).toEqual([
      "PNG",
      "PNG"
    ])
    expect(list.output_format).toBe("png")
  })
})
