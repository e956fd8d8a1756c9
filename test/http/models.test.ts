// Tests GET /v1/models and its rows, filtered by the key; the version and the table of routes.
// Must not depend on the model table's rows beyond those named.
import { readFileSync } from "node:fs"
import { afterAll, describe, expect, it } from "vitest"
import { listedModels } from "../../src/catalog/models.ts"
import { modelList } from "../../src/http/routes/modelList.ts"
import { modelIdOf } from "../../src/domain/ModelRef.ts"
import { builtInModels } from "../../src/domain/models/modelTable.ts"
import type { ProviderAccount } from "../../src/domain/ProviderAccount.ts"
import { version } from "../../src/domain/version.ts"
import { vertexAccount } from "../support/account.ts"
import { face, key, narrowKey } from "./face.ts"

const gateway = face()
afterAll(() => gateway.dispose())
/** In strict answers a row has OpenAI's fields only. */
const get = (path: string, as = key, strict = true) =>
  gateway.send(path, {
    headers: { authorization: `Bearer ${as}`, "x-gateway-strict-open-ai-compliance": String(strict) }
  })
/** The second of the day of release; 0 for a model without one. */
const createdOf = (id: string): number => {
  const { release } = builtInModels.find(modelIdOf(id.slice(id.indexOf("/") + 1))).record
  return id.endsWith("claude-x") || id.includes("endpoints.") || release === undefined ? 0 : Date.parse(release) / 1000
}
const row = (id: string, owned_by = "google") => ({ id, object: "model", created: createdOf(id), owned_by })

const view = (...accounts: ReadonlyArray<ProviderAccount>) => ({ list: () => accounts, models: builtInModels })

describe("list of models", () => {
  it("models: a non-strict row states release, limits, kinds, levels, prices, stage and end (M-731)", async () => {
    expect(await (await get("/v1/models/@gemini/gemini-2.5-flash", key, false)).json()).toEqual({
      id: "@gemini/gemini-2.5-flash",
      object: "model",
      created: 1_750_118_400,
      owned_by: "google",
      context_length: 1_048_576,
      max_output_tokens: 65_536,
      input_modalities: ["text", "image", "audio", "video", "pdf"],
      output_modalities: ["text"],
      pricing: { input: 0.3, cached_input: 0.03, output: 2.5, audio_input: 1 },
      stage: "deprecated",
      shutdown_date: "2026-12-01",
      successor: "gemini-3.5-flash-lite"
    })
    expect(await (await get("/v1/models/@google/gemini-4-neon", key, false)).json()).toEqual({
      id: "@google/gemini-4-neon",
      object: "model",
      created: 1_794_960_000,
      owned_by: "google",
      context_length: 1_048_576,
      max_output_tokens: 1_048_576,
      input_modalities: ["text", "image", "audio", "video", "pdf"],
      output_modalities: ["text"],
      thinking_levels: ["low", "medium", "high", "xhigh"],
      pricing: { input: 3, cached_input: 0.15, output: 15 },
      stage: "ga"
    })
  })

  it("models: a provider's list has no retired model but Imagen on Vertex AI, and ends with the oldest (M-731)", () => {
    const stages = (kind: "google" | "vertex-ai") =>
      listedModels(kind).map((model) => builtInModels.find(modelIdOf(model)).record.stage)
    const rank = { ga: 0, preview: 0, deprecated: 1, shut_down: 2 }
    for (const kind of ["google", "vertex-ai"] as const) {
      const ranks = stages(kind).map((stage) => rank[stage ?? "ga"])
      expect(ranks).toEqual(ranks.toSorted((one, other) => one - other))
    }
    expect(stages("google")).not.toContain("shut_down")
    expect(listedModels("vertex-ai").slice(-5)).toEqual([
      "imagen-3.0-generate-001",
      "imagen-3.0-fast-generate-001",
      "imagegeneration@006",
      "imagegeneration@005",
      "imagegeneration@002"
    ])
  })

  it("models: an account with models lists those, and any other its provider's", async () => {
    expect(await (await get("/v1/models")).json()).toEqual({
      object: "list",
      data: [
        row("@gemini/gemini-2.5-flash"),
        row("@gemini/anthropic.claude-x", "anthropic"),
        ...listedModels("google").map((model) => row(`@google/${model}`))
      ]
    })
  })

  it("models: an account lists its endpoints, unless it names its models", () => {
    const endpoints = { "my-llm": { dialect: "openai" as const, host: undefined, model: undefined } }
    const all = { id: "k", name: "k", scopes: ["inference" as const] }
    expect(modelList(view({ ...vertexAccount, endpoints }), all, true).at(-1)?.model).toEqual(
      row("@vertex-ai/endpoints.my-llm", "self-deployed")
    )
    expect(modelList(view({ ...vertexAccount, endpoints, models: ["gemini-2.5-pro"] }), all, true)).toEqual([
      { model: row("@vertex-ai/gemini-2.5-pro"), target: "@vertex-ai/gemini-2.5-pro" }
    ])
  })

  it("models: a key sees only what it may call", async () => {
    expect(await (await get("/v1/models", narrowKey)).json()).toEqual({
      object: "list",
      data: ["gemini-2.5-flash", "gemini-2.5-flash-lite", "gemini-2.5-flash-image", "gemini-2.5-flash-preview-tts"].map(
        (model) => row(`@google/${model}`)
      )
    })
  })

  it.each([
    "/v1/models/@gemini/gemini-2.5-flash",
    "/v1/models/%40gemini%2Fgemini-2.5-flash",
    "/v1/v1/models/@gemini/gemini-2.5-flash?x=1"
  ])("models: GET %s answers one row", async (path) => {
    expect(await (await get(path)).json()).toEqual(row("@gemini/gemini-2.5-flash"))
  })

  it.each([
    ["/v1/models/@gemini/none", key],
    ["/v1/models/gemini-2.5-flash", key],
    ["/v1/models/@gemini/gemini-2.5-flash", narrowKey]
  ])("models: GET %s is a 404", async (path, as) => {
    const answer = await get(path, as)
    expect([answer.status, await answer.json()]).toEqual([
      404,
      {
        error: {
          message: "There is no such model for this key; GET /v1/models lists what it may call.",
          type: "not_found_error",
          param: "model",
          code: "model_not_found"
        }
      }
    ])
  })
})

it("models: the version is the package's", () => {
  expect(version).toBe(JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")).version)
})
