// GET /v1/models and its rows, filtered by the key; the version and the table of routes.
import { readFileSync } from "node:fs"
import { afterAll, describe, expect, it } from "vitest"
import { listedModels } from "../../src/catalog/models.ts"
import { modelList } from "../../src/http/routes/modelList.ts"
import { version } from "../../src/domain/version.ts"
import { vertexAccount } from "../support/account.ts"
import { face, key, narrowKey } from "./face.ts"

const gateway = face()
afterAll(() => gateway.dispose())
const get = (path: string, as = key) => gateway.send(path, { headers: { authorization: `Bearer ${as}` } })
const row = (id: string, owned_by = "google") => ({ id, object: "model", created: 0, owned_by })

describe("models", () => {
  it("lists an account's own models, else the provider's", async () => {
    expect(await (await get("/v1/models")).json()).toEqual({
      object: "list",
      data: [
        row("@gemini/gemini-2.5-flash"),
        row("@gemini/anthropic.claude-x", "anthropic"),
        ...listedModels.google.map((model) => row(`@google/${model}`))
      ]
    })
  })

  it("lists the endpoints an account knows, unless it names its models", () => {
    const endpoints = { "my-llm": { dialect: "openai" as const, host: undefined, model: undefined } }
    const all = { id: "k", name: "k", providers: undefined, models: undefined, scopes: ["inference" as const] }
    expect(modelList([{ ...vertexAccount, endpoints }], all).at(-1)).toEqual(
      row("@vertex-ai/endpoints.my-llm", "self-deployed")
    )
    expect(modelList([{ ...vertexAccount, endpoints, models: ["gemini-2.5-pro"] }], all)).toEqual([
      row("@vertex-ai/gemini-2.5-pro")
    ])
  })

  it("shows a key only what it may call", async () => {
    expect(await (await get("/v1/models", narrowKey)).json()).toEqual({
      object: "list",
      data: ["gemini-2.5-flash", "gemini-2.5-flash-lite", "gemini-2.5-flash-image"].map((model) =>
        row(`@google/${model}`)
      )
    })
  })

  it.each([
    "/v1/models/@gemini/gemini-2.5-flash",
    "/v1/models/%40gemini%2Fgemini-2.5-flash",
    "/v1/v1/models/@gemini/gemini-2.5-flash?x=1"
  ])("%s", async (path) => {
    expect(await (await get(path)).json()).toEqual(row("@gemini/gemini-2.5-flash"))
  })

  it.each([
    ["/v1/models/@gemini/none", key],
    ["/v1/models/gemini-2.5-flash", key],
    ["/v1/models/@gemini/gemini-2.5-flash", narrowKey]
  ])("404 %s", async (path, as) => {
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

it("the version is the package's", () => {
  expect(version).toBe(JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")).version)
})
