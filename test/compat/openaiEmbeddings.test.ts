// Tests the stock openai SDK over a socket: embeddings in its default encoding, and images.
// Must not change the SDK: only base URL and key differ.
import OpenAI, { BadRequestError, NotFoundError } from "openai"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { listedModels } from "../../src/catalog/models.ts"
import { builtInKinds } from "../../src/domain/ProviderAccount.ts"
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

const listed = builtInKinds.flatMap((kind) => listedModels(kind).map((model) => `@${kind}/${model}`))

describe("embeddings by the openai SDK", () => {
  it.each(listed.filter((model) => model.includes("embedding")))(
    "openai SDK embeddings: %s is listed and embeds",
    async (model) => {
      expect((await client.embeddings.create({ model, input: "a cat" })).data.length).toBe(1)
    }
  )

  const models = [
    "@google/gemini-embedding-001",
    "@google/gemini-embedding-2",
    "@vertex-ai/gemini-embedding-001",
    "@vertex-ai/gemini-embedding-2",
    "@vertex-ai/text-multilingual-embedding-002"
  ]

  it.each(models)(
    "openai SDK embeddings: %s gives the same vector in the SDK's default base64 (T1506)",
    async (model) => {
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
    }
  )

  it("openai SDK embeddings: one text is embedded with fewer dimensions (T1503)", async () => {
    const { data } = await client.embeddings.create({
      model: "@google/gemini-embedding-2",
      input: "a cat",
      dimensions: 256
    })
    expect(data.map(({ embedding }) => embedding.length)).toEqual([256])
  })

  it("openai SDK embeddings: a task type is accepted for classification", async () => {
    const before = gateway.simulator.calls.length
    const request = { model: "@vertex-ai/text-multilingual-embedding-002", input: "a cat", task_type: "CLASSIFICATION" }
    expect((await client.embeddings.create(request)).data.length).toBe(1)
    expect(sentSince(before)).toEqual([{ instances: [{ content: "a cat", task_type: "CLASSIFICATION" }] }])
  })

  it("openai SDK embeddings: errors have the SDK's types", async () => {
    await expect(client.embeddings.create({ model: "@google/gemini-embedding-001", input: [[1, 2]] })).rejects.toThrow(
      BadRequestError
    )
    await expect(client.embeddings.create({ model: "@google/no-such-embedding-model", input: "a" })).rejects.toThrow(
      NotFoundError
    )
  })
})

describe("images by the openai SDK", () => {
  it.each(listed.filter((model) => /image/.test(model)))("openai SDK images: %s is listed and draws", async (model) => {
    expect((await client.images.generate({ model, prompt: "a cat" })).data?.length).toBe(1)
  })

  it.each(["@vertex-ai/imagen-3.0-generate-001", "@vertex-ai/imagegeneration@006", "@google/gemini-2.5-flash-image"])(
    "openai SDK images: %s draws the requested number",
    async (model) => {
      const { data, output_format } = await client.images.generate({ model, prompt: "a cat", n: 2, size: "1024x1024" })
      expect(output_format).toBe("png")
      expect(data?.map(({ b64_json = "" }) => Buffer.from(b64_json, "base64").subarray(1, 4).toString())).toEqual([
        "PNG",
        "PNG"
      ])
    }
  )

  it("openai SDK images: the header may name the provider", async () => {
    const { data } = await client.images.generate(
      { model: "imagen-3.0-fast-generate-001", prompt: "a cat" },
      { headers: { "x-gateway-provider": "@vertex-ai" } }
    )
    expect(data?.length).toBe(1)
  })

  it("openai SDK images: a url is a data URI (T1607)", async () => {
    const { data } = await client.images.generate({
      model: "@google/gemini-2.5-flash-image",
      prompt: "a cat",
      response_format: "url"
    })
    expect(data?.[0]?.url?.slice(0, 22)).toBe("data:image/png;base64,")
  })

  it("openai SDK images: errors have the SDK's types (T1612)", async () => {
    await expect(client.images.generate({ model: "@google/gemini-2.5-flash-image", prompt: "" })).rejects.toThrow(
      BadRequestError
    )
  })
})
