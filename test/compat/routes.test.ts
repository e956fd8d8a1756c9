// Tests embeddings, images and token counts over sockets, raw and through stock clients, on the requirement's models.
// Must not reach the network beyond its own sockets.
import OpenAI from "openai"
import { Portkey } from "portkey-ai"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { gatewayKey, startTestGateway, type TestGateway } from "../support/TestGateway.ts"

let gateway: TestGateway
let client: OpenAI
let peer: Portkey
beforeAll(async () => {
  gateway = await startTestGateway({ simulator: { accessTokens: ["ya29.own"] } })
  client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gatewayKey, maxRetries: 0 })
  peer = new Portkey({ baseURL: `${gateway.url}/v1`, apiKey: gatewayKey })
})
afterAll(() => gateway.close())

type Body = ReturnType<typeof JSON.parse>

const post = async (
  path: string,
  body: unknown,
  headers: Record<string, string> = {}
): Promise<{ status: number; answer: Body; sent: Body }> => {
  const response = await fetch(`${gateway.url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-gateway-api-key": gatewayKey, ...headers },
    body: JSON.stringify(body)
  })
  const answer: Body = await response.json()
  return { status: response.status, answer, sent: gateway.simulator.calls.at(-1)?.body }
}
const open = { "x-gateway-strict-schema-compliance": "false" }

describe("embeddings", () => {
  it("embeddings: a text is embedded on an English and a multilingual model, with a task", async () => {
    for (const model of ["text-embedding-005", "text-multilingual-embedding-002"]) {
      const { answer, sent, status } = await post("/v1/embeddings", {
        model: `@vertex-ai/${model}`,
        input: "A cat",
        task_type: "CLASSIFICATION"
      })
      expect([status, sent]).toEqual([200, { instances: [{ content: "A cat", task_type: "CLASSIFICATION" }] }])
      expect({
        ...answer,
        data: answer.data.map((one: Body) => ({ ...one, embedding: one.embedding.length }))
      }).toEqual({
        object: "list",
        data: [{ object: "embedding", index: 0, embedding: 768 }],
        model,
        usage: { prompt_tokens: 2, total_tokens: 2 }
      })
    }
  })
  it("embeddings: the openai SDK requests base64 by default and reads the same numbers", async () => {
    for (const model of ["@google/gemini-embedding-001", "@vertex-ai/gemini-embedding-2"]) {
      const packed = await client.embeddings.create({ model, input: ["a cat", "a dog"] })
      const plain = await client.embeddings.create({ model, input: ["a cat", "a dog"], encoding_format: "float" })
      expect(packed.data.map(({ embedding }) => embedding)).toEqual(
        plain.data.map(({ embedding }) => embedding.map(Math.fround))
      )
    }
  })
  it("embeddings: similar texts are nearer than others, through the whole gateway", async () => {
    const { data } = await client.embeddings.create({
      model: "@vertex-ai/text-embedding-005",
      input: ["the cat sat", "a cat sits", "stock prices fell"]
    })
    const [first = [], second = [], third = []] = data.map(({ embedding }) => embedding)
    const dot = (left: ReadonlyArray<number>, right: ReadonlyArray<number>) =>
      left.reduce((sum, value, index) => sum + value * (right[index] ?? 0), 0)
    expect(dot(first, second)).toBeGreaterThan(dot(first, third))
  })
  it("embeddings: Portkey's client works with the headers of its prefix", async () => {
    const answer = await peer.embeddings.create({ model: "@vertex-ai/text-embedding-005", input: ["a", "b"] })
    expect([answer.object, answer.data?.map(({ embedding, index }) => [index, embedding?.length])]).toEqual([
      "list",
      [
        [0, 768],
        [1, 768]
      ]
    ])
    expect(answer.getHeaders()?.["provider"]).toBe("vertex-ai")
  })
  it("embeddings: a refusal of the upstream has OpenAI's format", async () => {
    const { answer, status } = await post("/v1/embeddings", {
      model: "@vertex-ai/text-embedding-005",
      input: "a",
      dimensions: 5000
    })
    expect([status, answer.error.type]).toEqual([400, "invalid_request_error"])
  })
})

describe("images", () => {
  it.each([
    "imagen-3.0-generate-001",
    "imagen-3.0-fast-generate-001",
    "imagegeneration@006",
    "imagegeneration@005",
    "imagegeneration@002",
    "imagen-4.0-generate-001"
  ])("images: %s draws from a prompt", async (id) => {
    const { answer, sent, status } = await post("/v1/images/generations", {
      model: `@vertex-ai/${id}`,
      prompt: "A cat on a mat"
    })
    expect([status, sent.instances, Object.keys(answer).sort()]).toEqual([
      200,
      [{ prompt: "A cat on a mat" }],
      ["created", "data", "output_format"]
    ])
    expect(answer.data).toEqual([{ b64_json: expect.stringMatching(/^iVBORw0KGgo/) }])
    expect(gateway.simulator.calls.at(-1)?.url.split("/").at(-1)).toBe(`${id}:predict`)
  })
  it("images: the header may name the provider", async () => {
    const { status } = await post(
      "/v1/images/generations",
      { model: "imagen-3.0-generate-001", prompt: "A cat" },
      { "x-gateway-provider": "@vertex-ai" }
    )
    expect(status).toBe(200)
  })
  it("images: every parameter of Imagen is accepted within its range", async () => {
    const { answer, sent, status } = await post(
      "/v1/images/generations",
      {
        model: "@vertex-ai/imagen-3.0-generate-001",
        prompt: "A cat",
        n: 3,
        size: "1792x1024",
        image_size: "2K",
        output_format: "jpeg",
        output_compression: 80,
        seed: 7,
        add_watermark: false,
        negative_prompt: "dogs",
        guidance_scale: 5,
        person_generation: "dont_allow",
        safety_setting: "block_only_high",
        enhance_prompt: true,
        language: "en",
        include_rai_reason: true,
        include_safety_attributes: true
      },
      open
    )
    expect([status, sent.parameters]).toEqual([
      200,
      {
        sampleCount: 3,
        aspectRatio: "16:9",
        sampleImageSize: "2K",
        outputOptions: { mimeType: "image/jpeg", compressionQuality: 80 },
        seed: 7,
        addWatermark: false,
        negativePrompt: "dogs",
        guidanceScale: 5,
        personGeneration: "dont_allow",
        safetySetting: "block_only_high",
        enhancePrompt: true,
        language: "en",
        includeRaiReason: true,
        includeSafetyAttributes: true
      }
    ])
    expect(answer.data).toHaveLength(3)
    expect([answer.output_format, answer.data[0].revised_prompt, answer.data[0].b64_json.slice(0, 4)]).toEqual([
      "jpeg",
      "A cat, in soft light, finely detailed",
      "/9j/"
    ])
  })
  it("images: filtered images are left out; a filtered prompt, or a filter on all images, is reported", async () => {
    const draw = (prompt: string) =>
      post("/v1/images/generations", { model: "@vertex-ai/imagen-3.0-generate-001", prompt, n: 4 })
    expect((await draw("demo:filter-some")).answer.data).toHaveLength(2)
    for (const prompt of ["demo:filter-all", "demo:block-prompt"]) {
      const { answer, status } = await draw(prompt)
      expect([status, answer.error.param, answer.error.code]).toEqual([400, "prompt", "content_policy_violation"])
    }
  })
  it("images: a stored image is answered by its address", async () => {
    const asked = {
      model: "@vertex-ai/imagen-3.0-generate-001",
      prompt: "A cat",
      storage_uri: "gs://bucket/images",
      response_format: "url"
    }
    expect((await post("/v1/images/generations", asked, { authorization: "Bearer ya29.own" })).answer.data).toEqual([
      { url: expect.stringMatching(/^gs:\/\/bucket\/images\/\d+\/sample_0\.png$/) }
    ])
  })
  it("images: a Gemini image model is called once for each image", async () => {
    for (const slug of ["google", "vertex-ai"]) {
      const before = gateway.simulator.calls.length
      const asked = { model: `@${slug}/gemini-2.5-flash-image`, prompt: "A cat", n: 2, size: "1536x1024" }
      const { answer, sent } = await post("/v1/images/generations", asked)
      expect([answer.data.length, sent.generationConfig]).toEqual([
        2,
        { responseModalities: ["TEXT", "IMAGE"], imageConfig: { aspectRatio: "3:2" } }
      ])
      const calls = gateway.simulator.calls.slice(before).filter(({ url }) => url.endsWith(":generateContent"))
      expect(calls).toHaveLength(2)
      expect(answer.usage.output_tokens).toBeGreaterThan(2 * 1290)
    }
  })
  it("images: the openai SDK and Portkey's client work", async () => {
    const mine = await client.images.generate({ model: "@vertex-ai/imagen-3.0-generate-001", prompt: "A cat", n: 2 })
    expect(mine.data?.map(({ b64_json }) => b64_json?.slice(0, 5))).toEqual(["iVBOR", "iVBOR"])
    const theirs: Body = await peer.images.generate({
      model: "@vertex-ai/imagen-3.0-generate-001",
      prompt: "A cat",
      n: 2
    })
    expect([theirs.data.length, theirs.getHeaders()["provider"]]).toEqual([2, "vertex-ai"])
  })
})

describe("token counts", () => {
  it("token counts: a chat body is counted before it is sent, on both providers", async () => {
    const asked = {
      messages: [
        { role: "system", content: "Be terse." },
        { role: "user", content: "What is the capital of France?" }
      ],
      max_tokens: 5,
      stream: true
    }
    for (const slug of ["google", "vertex-ai"]) {
      const { answer, status } = await post("/v1/chat/completions/count_tokens", {
        model: `@${slug}/gemini-2.5-flash`,
        ...asked
      })
      expect([status, answer]).toEqual([
        200,
        {
          object: "token_count",
          model: "gemini-2.5-flash",
          input_tokens: 11,
          input_tokens_details: { text_tokens: 11 }
        }
      ])
    }
  })
  it("token counts: the count equals that of the following call", async () => {
    const asked = {
      model: "@vertex-ai/gemini-2.5-flash",
      messages: [{ role: "user", content: "What is the capital of France?" }]
    }
    const { answer } = await post("/v1/chat/completions/count_tokens", asked)
    expect((await post("/v1/chat/completions", asked)).answer.usage.prompt_tokens).toBe(answer.input_tokens)
  })
})
