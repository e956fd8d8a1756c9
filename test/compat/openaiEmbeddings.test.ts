// The stock openai package against the gateway over a socket: embeddings as it asks for them by default, and images.
import OpenAI, { BadRequestError, NotFoundError } from "openai"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { listedModels } from "../../src/catalog/models.ts"
import { gatewayKey, startTestGateway, type TestGateway } from "../support/TestGateway.ts"

let gateway: TestGateway
let client: OpenAI

beforeAll(async () => {
  gateway = await startTestGateway()
  client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gatewayKey, maxRetries: 0 })
})
afterAll(() => gateway.close())

/** Bodies of the calls that reached the simulated services since `from`, without those for tokens. */
const sentSince = (from: number): ReadonlyArray<unknown> =>
  gateway.simulator.calls
    .slice(from)
    .filter(({ url }) => !url.startsWith("/token"))
    .map(({ body }) => body)

const listed = Object.entries(listedModels).flatMap(([slug, models]) => models.map((model) => `@${slug}/${model}`))

describe("embeddings", () => {
  it.each(listed.filter((model) => model.includes("embedding")))("%s is listed and embeds", async (model) => {
    expect((await client.embeddings.create({ model, input: "a cat" })).data.length).toBe(1)
  })

  const models = [
    "@google/gemini-embedding-001",
    "@google/gemini-embedding-2",
    "@vertex-ai/gemini-embedding-001",
    "@vertex-ai/gemini-embedding-2",
    "@vertex-ai/text-multilingual-embedding-002"
  ]

  it.each(models)("T1506 %s: the base64 the SDK asks for unasked is the vector it gives", async (model) => {
    const before = gateway.simulator.calls.length
    const packed = await client.embeddings.create({ model, input: ["a cat", "a dog"] })
    expect(JSON.stringify(sentSince(before)).includes("base64")).toBe(false)
    const plain = await client.embeddings.create({ model, input: ["a cat", "a dog"], encoding_format: "float" })
    expect(packed.data.map(({ index, object }) => [index, object])).toEqual([
      [0, "embedding"],
      [1, "embedding"]
    ])
    expect(packed.data.map(({ embedding }) => embedding)).toEqual(
      plain.data.map(({ embedding }) => embedding.map(Math.fround))
    )
    expect([packed.object, packed.model, packed.usage]).toEqual([
      "list",
      model.slice(model.indexOf("/") + 1),
      plain.usage
    ])
  })

  it("T1503 one text, shortened", async () => {
    const { data } = await client.embeddings.create({
      model: "@google/gemini-embedding-2",
      input: "a cat",
      dimensions: 256
    })
    expect(data.map(({ embedding }) => embedding.length)).toEqual([256])
  })

  it("a task type is classification", async () => {
    const before = gateway.simulator.calls.length
    const request = { model: "@vertex-ai/text-multilingual-embedding-002", input: "a cat", task_type: "CLASSIFICATION" }
    expect((await client.embeddings.create(request)).data.length).toBe(1)
    expect(sentSince(before)).toEqual([{ instances: [{ content: "a cat", task_type: "CLASSIFICATION" }] }])
  })

  it("errors are the SDK's own", async () => {
    await expect(client.embeddings.create({ model: "@google/gemini-embedding-001", input: [[1, 2]] })).rejects.toThrow(
      BadRequestError
    )
    await expect(client.embeddings.create({ model: "@google/no-such-embedding-model", input: "a" })).rejects.toThrow(
      NotFoundError
    )
  })
})

describe("images", () => {
  it.each(listed.filter((model) => /image/.test(model)))("%s is listed and draws", async (model) => {
    expect((await client.images.generate({ model, prompt: "a cat" })).data?.length).toBe(1)
  })

  it.each(["@vertex-ai/imagen-3.0-generate-001", "@vertex-ai/imagegeneration@006", "@google/gemini-2.5-flash-image"])(
    "%s draws as many as asked for",
    async (model) => {
      const { data, output_format } = await client.images.generate({ model, prompt: "a cat", n: 2, size: "1024x1024" })
      expect(output_format).toBe("png")
      expect(data?.map(({ b64_json = "" }) => Buffer.from(b64_json, "base64").subarray(1, 4).toString())).toEqual([
        "PNG",
        "PNG"
      ])
    }
  )

  it("the provider may be named by the header", async () => {
    const { data } = await client.images.generate(
      { model: "imagen-3.0-fast-generate-001", prompt: "a cat" },
      { headers: { "x-gateway-provider": "@vertex-ai" } }
    )
    expect(data?.length).toBe(1)
  })

  it("T1607 a url is a data URI", async () => {
    const { data } = await client.images.generate({
      model: "@google/gemini-2.5-flash-image",
      prompt: "a cat",
      response_format: "url"
    })
    expect(data?.[0]?.url?.slice(0, 22)).toBe("data:image/png;base64,")
  })

  it("T1612 errors are the SDK's own", async () => {
    await expect(client.images.generate({ model: "@google/gemini-2.5-flash-image", prompt: "" })).rejects.toThrow(
      BadRequestError
    )
  })
})
