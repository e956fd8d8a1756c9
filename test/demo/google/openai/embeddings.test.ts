import { describe, expect, it } from "vitest"
import { embeddingsRequest } from "../../../../src/demo/google/shapes/openai.ts"
import { loudlySkipped, schemaOracle, sharedDir } from "../../../support/shared.ts"
import { asking, place } from "../asking.ts"

if (sharedDir() === undefined) loudlySkipped("simulated embeddings of OpenAI's dialect against the published schemas")

const { ask } = asking({ projects: ["test-project"] })

describe("embeddings of a simulated endpoint", () => {
  const path = `${place}/endpoints/demo-llama/embeddings`
  it("endpoint embeddings: give a vector for each text, shortened or packed when requested", async () => {
    const { json } = await ask(path, { model: "demo-llama", input: ["Ruby", "Python"], dimensions: 3 })
    const { data, ...rest } = json()
    expect(rest).toEqual({ object: "list", model: "demo-llama", usage: { prompt_tokens: 3, total_tokens: 3 } })
    expect(
      data.map(({ index, object, embedding }: { index: number; object: string; embedding: ReadonlyArray<number> }) => [
        index,
        object,
        embedding.length
      ])
    ).toEqual([
      [0, "embedding", 3],
      [1, "embedding", 3]
    ])
    const packed = (
      await ask(path, { model: "demo-llama", input: "Ruby", dimensions: 3, encoding_format: "base64" })
    ).json().data[0].embedding
    expect([...new Float32Array(new Uint8Array(Buffer.from(packed, "base64")).buffer)]).toEqual(data[0].embedding)
  })
  it("endpoint embeddings: accept tokens", async () => {
    const lengths = async (input: unknown) => (await ask(path, { model: "demo-llama", input })).json().data.length
    expect([await lengths([1, 2, 3]), await lengths([[1, 2], [3]])]).toEqual([1, 2])
  })
  it("endpoint embeddings: refuse other requests", async () => {
    const rows: ReadonlyArray<readonly [unknown, number]> = [
      [{ model: "demo-llama" }, 400],
      [{ model: "demo-llama", input: [] }, 400],
      [{ model: "demo-llama", input: ["a", 7] }, 400],
      [{ model: "demo-llama", input: "a", dimensions: 5000 }, 400],
      [{ model: "other", input: "a" }, 404]
    ]
    const statuses = await Promise.all(rows.map(async ([body]) => (await ask(path, body)).status))
    expect(statuses).toEqual(rows.map(([, status]) => status))
  })
  const oracle = schemaOracle("openai.schema.json", "CreateEmbeddingResponse")
  it.skipIf(oracle === undefined)("endpoint embeddings: answer in the published schema", async () => {
    expect(oracle?.((await ask(path, { model: "demo-llama", input: "Ruby" })).json())).toBe(true)
  })

  const embeddings = schemaOracle("openai.schema.json", "CreateEmbeddingRequest")
  it.skipIf(embeddings === undefined)("endpoint embeddings: agree on the members of an embedding request", () => {
    const rows: ReadonlyArray<Record<string, unknown>> = [
      { input: "a" },
      { input: ["a", "b"] },
      { input: [1, 2] },
      { input: [[1], [2]] },
      { input: [] },
      { input: ["a", 1] },
      { input: [[]] },
      { input: 7 },
      { input: "a", dimensions: 3 },
      { input: "a", dimensions: 0 },
      { input: "a", dimensions: 1.5 },
      { input: "a", user: "u" },
      { input: "a", user: 7 },
      { input: "a", encoding_format: "float" },
      { input: "a", encoding_format: "hex" },
      {}
    ]
    const judged = rows.map((row) => [row, embeddings?.({ model: "m", ...row })])
    expect(rows.map((row) => [row, embeddingsRequest({ model: "m", ...row }, "") === undefined])).toEqual(judged)
  })
})
