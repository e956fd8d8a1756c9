// Lists of models in the dialects of Google's products and of Anthropic.
import { describe, expect, it } from "vitest"
import {
  anthropicModels,
  type AnthropicPage,
  anthropicPage,
  googleModels,
  pageOf,
  publisherModels
} from "../../../src/translate/native/modelLists.ts"

const rows = [
  "@g/gemini-2.5-flash",
  "@g/gemini-embedding-001",
  "@v/anthropic.claude-sonnet-4-5@20250929",
  "@v/imagen-4.0-generate-001",
  "@v/meta/llama",
  "@v/endpoints.1",
  "broken@"
].map((id) => ({ id, target: id }))

describe("model lists", () => {
  it("Gemini API's list: has Gemini and embedding models, with names that a client can call (N701)", () => {
    expect(googleModels(rows)).toStrictEqual([
      {
        name: "models/@g/gemini-2.5-flash",
        baseModelId: "gemini-2.5-flash",
        version: "001",
        displayName: "Gemini 2.5 Flash",
        supportedGenerationMethods: ["generateContent", "streamGenerateContent", "countTokens"]
      },
      {
        name: "models/@g/gemini-embedding-001",
        baseModelId: "gemini-embedding-001",
        version: "001",
        displayName: "Gemini Embedding 001",
        supportedGenerationMethods: ["embedContent", "batchEmbedContents", "countTokens"]
      }
    ])
  })
  it("Vertex AI's list: has the models of one publisher (N702)", () => {
    expect(publisherModels(rows, "google")).toStrictEqual([
      { name: "publishers/google/models/@g/gemini-2.5-flash", versionId: "default", launchStage: "GA" },
      { name: "publishers/google/models/@g/gemini-embedding-001", versionId: "001", launchStage: "GA" }
    ])
    expect(publisherModels(rows, "anthropic")).toStrictEqual([
      {
        name: "publishers/anthropic/models/@v/anthropic.claude-sonnet-4-5@20250929",
        versionId: "20250929",
        launchStage: "GA"
      }
    ])
  })
  it("Anthropic's list: has Claude by ids that the messages route takes (N109)", () => {
    const models = anthropicModels(rows)
    const claude = {
      type: "model",
      id: "@v/anthropic.claude-sonnet-4-5@20250929",
      display_name: "Claude Sonnet 4 5 20250929",
      created_at: "1970-01-01T00:00:00Z"
    }
    expect(models).toStrictEqual([claude])
    expect(anthropicPage(models, {})).toStrictEqual({
      data: [claude],
      first_id: claude.id,
      last_id: claude.id,
      has_more: false
    })
  })
  it("Anthropic's list: pages lead in both directions (N1210)", () => {
    const models = ["a", "b", "c", "d"].map((id) => ({
      type: "model" as const,
      id,
      display_name: id,
      created_at: "1970-01-01T00:00:00Z"
    }))
    const page = (asked: AnthropicPage) => {
      const { data, first_id, has_more, last_id } = anthropicPage(models, asked)
      return [data.map(({ id }) => id).join(""), first_id, last_id, has_more]
    }
    expect(
      [
        { limit: 2 },
        { limit: 2, afterId: "b" },
        { limit: 2, afterId: "d" },
        { limit: 2, beforeId: "d" },
        { limit: 2, beforeId: "c" },
        { limit: 2, beforeId: "a" },
        { limit: 2, beforeId: "unknown" },
        { limit: 5, afterId: "a", beforeId: "d" }
      ].map(page)
    ).toStrictEqual([
      ["ab", "a", "b", true],
      ["cd", "c", "d", false],
      ["", null, null, false],
      ["bc", "b", "c", true],
      ["ab", "a", "b", false],
      ["", null, null, false],
      ["ab", "a", "b", true],
      ["bc", "b", "c", false]
    ])
  })
  it("model lists: an operator's name is of the family of its model (N1206)", () => {
    const named = [
      { id: "fast", target: "@g/gemini-2.5-flash" },
      { id: "sonnet", target: "@v/claude-sonnet-4-6" }
    ]
    expect([
      googleModels(named).map(({ baseModelId, name }) => [name, baseModelId]),
      publisherModels(named, "anthropic").map(({ name }) => name),
      anthropicModels(named).map(({ display_name, id }) => [id, display_name])
    ]).toStrictEqual([
      [["models/fast", "gemini-2.5-flash"]],
      ["publishers/anthropic/models/sonnet"],
      [["sonnet", "Claude Sonnet 4 6"]]
    ])
  })
  it("model lists: have pages (N701)", () => {
    expect([pageOf([1, 2, 3], 2, undefined), pageOf([1, 2, 3], 2, "2"), pageOf([1], undefined, "x")]).toStrictEqual([
      { items: [1, 2], nextPageToken: "2" },
      { items: [3], nextPageToken: undefined },
      { items: [1], nextPageToken: undefined }
    ])
  })
})
