// Tests the list of operations: the operation of a route, and the dialect of a path.
// Must not depend on the HTTP layer.
import { describe, expect, it } from "@effect/vitest"
import { dialectOf, operationAt, operationLabel, operationNames, operationPaths } from "../../src/domain/operations.ts"

describe("list of operations", () => {
  it("operations: each has one path, and no two have the same", () => {
    expect(
      operationNames.map((name) => [name, operationAt(operationPaths[operationNames.indexOf(name)] ?? "")])
    ).toEqual(operationNames.map((name) => [name, name]))
  })
  it("operations: a route of prompts ends in a chat", () => {
    expect([operationAt("/v1/prompts/:id/completions"), operationAt("/v1/prompts/:id/render")]).toEqual([
      "chat",
      undefined
    ])
  })
  it("operations: a path has the dialect of the route it begins with", () => {
    const paths = ["/v1/messages", "/v1/messages/count_tokens", "/v1/messages/unknown", "/v1/embeddings", "/unknown"]
    expect(paths.map(dialectOf)).toEqual(["anthropic", "anthropic", "anthropic", "openai", "openai"])
  })
  it("operations: an unknown name is its own label", () => {
    expect(["images", "messagesCountTokens", "/v1/models"].map(operationLabel)).toEqual([
      "image_generation",
      "count_tokens",
      "/v1/models"
    ])
  })
})
