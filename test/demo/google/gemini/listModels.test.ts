// Lists of models over HTTP, and the models that are served on a day and in a place.
import { describe, expect, it } from "vitest"
import { asking, bearer, keyed } from "../asking.ts"

const { ask, url } = asking({ projects: ["test-project"], day: "2026-11-22" })

const get = async (path: string, headers: Record<string, string>) => {
  const response = await fetch(url() + path, { headers })
  const body = await response.json()
  return { status: response.status, body }
}
const names = (models: ReadonlyArray<{ readonly name: string }>) => models.map(({ name }) => name)

describe("lists of models", () => {
  it("the Gemini API lists what it serves, in pages (M-721)", async () => {
    const first = await get("/v1beta/models?pageSize=20", keyed)
    const second = await get(`/v1beta/models?pageToken=${first.body.nextPageToken}`, keyed)
    const all = await get("/v1beta/models?pageSize=1000", keyed)
    expect([first.status, first.body.models.length, first.body.nextPageToken]).toEqual([200, 20, "20"])
    expect([...first.body.models, ...second.body.models]).toEqual(all.body.models)
    const ids = names(all.body.models)
    expect(
      ["gemini-3.8-flash", "gemini-2.5-flash", "gemini-2.0-flash", "claude-opus-5-5", "gemini-2.5-flash-tts"].map(
        (id) => ids.includes(`models/${id}`)
      )
    ).toEqual([true, true, false, false, false])
  })

  it("the Gemini API describes one model, and knows no model that is shut down (M-721)", async () => {
    expect(await get("/v1beta/models/gemini-3.8-flash", keyed)).toEqual({
      status: 200,
      body: {
        name: "models/gemini-3.8-flash",
        version: "001",
        displayName: "gemini-3.8-flash",
        inputTokenLimit: 1_048_576,
        outputTokenLimit: 65_536,
        supportedGenerationMethods: ["generateContent", "countTokens", "createCachedContent", "batchGenerateContent"],
        thinking: true
      }
    })
    expect(await get("/v1beta/models/gemini-2.0-flash", keyed)).toEqual({
      status: 404,
      body: {
        error: {
          code: 404,
          message: "Model is not found: models/gemini-2.0-flash for api version v1beta",
          status: "NOT_FOUND"
        }
      }
    })
  })

  it("Vertex AI lists the models of a publisher in v1beta1 (M-721)", async () => {
    const { body } = await get("/v1beta1/publishers/anthropic/models?pageSize=2", bearer)
    expect(body).toEqual({
      publisherModels: [
        { name: "publishers/anthropic/models/claude-sonnet-4-5@20250929", versionId: "default", launchStage: "GA" },
        { name: "publishers/anthropic/models/claude-haiku-4-5@20251001", versionId: "default", launchStage: "GA" }
      ],
      nextPageToken: "2"
    })
    expect(await get("/v1/publishers/google/models/gemini-4-neon", bearer)).toEqual({
      status: 200,
      body: { name: "publishers/google/models/gemini-4-neon", versionId: "default", launchStage: "GA" }
    })
    expect((await fetch(`${url()}/v1/publishers/google/models`, { headers: bearer })).status).toBe(404)
  })

  it("a list needs a credential, and takes no page of nonsense (M-721)", async () => {
    expect([
      (await get("/v1beta/models", {})).status,
      (await get("/v1beta1/publishers/google/models", {})).status,
      (await get("/v1beta/models?pageSize=many", keyed)).status
    ]).toEqual([403, 401, 400])
  })
})

describe("models that are not served", () => {
  const hello = { contents: [{ role: "user", parts: [{ text: "Hi" }] }] }
  const vertex = (place: string, model: string) =>
    `/v1/projects/test-project/locations/${place}/publishers/google/models/${model}:generateContent`

  it("a model that is shut down answers 404 in the words of each service (M-723)", async () => {
    const onGoogle = await ask("/v1beta/models/gemini-2.0-flash:generateContent", hello)
    const onVertex = await ask(vertex("global", "gemini-2.0-flash"), hello)
    expect([onGoogle.status, onGoogle.json().error.message]).toEqual([
      404,
      "models/gemini-2.0-flash is not found for API version v1beta, or is not supported for generateContent. " +
        "Call ListModels to see the list of available models and their supported methods."
    ])
    expect([onVertex.status, onVertex.json().error.message]).toEqual([
      404,
      "Publisher Model `projects/test-project/locations/global/publishers/google/models/gemini-2.0-flash` was not found " +
        "or your project does not have access to it. Please ensure you are using a valid model version."
    ])
  })

  it("a misspelled id and one that was never published answer 404, and one with a version is served (M-723)", async () => {
    const unknown = ["gemini-2.5-flsh", "gemini-2.5-flash-lte", "gemini-9", "gemini-3-flash", "gemini-embeding-001"]
    const versioned = ["gemini-2.5-flash-001", "gemini-2.5-flash-preview-09-2025", "gemini-3.8-flash"]
    const statusOf = async (model: string) => [
      (await ask(`/v1beta/models/${model}:generateContent`, hello)).status,
      (await ask(vertex("global", model), hello)).status
    ]
    expect(await Promise.all([...unknown, ...versioned].map(statusOf))).toEqual([
      ...unknown.map(() => [404, 404]),
      ...versioned.map(() => [200, 200])
    ])
  })

  it("the newest models are served in no single region (M-800)", async () => {
    const statuses = await Promise.all(
      ["global", "eu", "us-central1"].flatMap((place) =>
        ["gemini-3.8-flash", "gemini-2.5-flash"].map(async (model) => (await ask(vertex(place, model), hello)).status)
      )
    )
    expect(statuses).toEqual([200, 200, 200, 200, 404, 200])
  })
})
