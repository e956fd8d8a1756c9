// Lists of models in the dialects of Google's products and of Anthropic.
import { describe, expect, it } from "vitest"
import {
  anthropicModels,
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
].map((id) => ({ id }))

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
    expect(anthropicPage(models, undefined, undefined)).toStrictEqual({
      data: [claude],
      first_id: claude.id,
      last_id: claude.id,
      has_more: false
    })
    expect(anthropicPage([...models, ...models], 1, undefined)).toMatchObject({ has_more: true })
    expect(anthropicPage(models, 1, claude.id)).toStrictEqual({
      data: [],
      first_id: null,
      last_id: null,
      has_more: false
    })
  })
  it("model lists: have pages (N701)", () => {
    expect([pageOf([1, 2, 3], 2, undefined), pageOf([1, 2, 3], 2, "2"), pageOf([1], undefined, "x")]).toStrictEqual([
      { items: [1, 2], nextPageToken: "2" },
      { items: [3], nextPageToken: undefined },
      { items: [1], nextPageToken: undefined }
    ])
  })
})
