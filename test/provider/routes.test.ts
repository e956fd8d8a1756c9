// Tests the addresses of Google's services: hosts, paths, versions, projects and regions, and refusals (table 10).
// Must not depend on the network.
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { ProviderAccount } from "../../src/domain/ProviderAccount.ts"
import { cloudRoute, makerRoute, targetModel, vertexHost } from "../../src/provider/route.ts"
import { googleAccount, vertexAccount } from "../support/account.ts"

const call = (account: ProviderAccount, model: string, verb: string) => {
  const route = account.kind === "google" ? makerRoute : cloudRoute
  const result = Result.flatMap(targetModel(model, account), (target) => route(account, target, verb))
  return Result.isSuccess(result) ? result.success.url : result.failure
}
const url = (account: ProviderAccount, model: string, stream = false) =>
  call(account, model, stream ? ":streamGenerateContent?alt=sse" : ":generateContent")
const base = "https://us-central1-aiplatform.googleapis.com/v1/projects/test-project/locations/us-central1"

describe("hosts and URLs (table 10)", () => {
  it.each([
    ["global", "aiplatform.googleapis.com"],
    ["us", "aiplatform.us.rep.googleapis.com"],
    ["eu", "aiplatform.eu.rep.googleapis.com"],
    ["us-central1", "us-central1-aiplatform.googleapis.com"],
    ["northamerica-northeast1", "northamerica-northeast1-aiplatform.googleapis.com"]
  ])("routes: the location %s has its host (T2103)", (region, host) => {
    expect(vertexHost(region)).toBe(host)
    expect(url({ ...vertexAccount, region }, "gemini-2.5-pro")).toBe(
      `https://${host}/v1/projects/test-project/locations/${region}/publishers/google/models/gemini-2.5-pro:generateContent`
    )
  })
  it("routes: ask for server-sent events (T1301)", () => {
    expect(url(vertexAccount, "gemini-2.5-pro", true)).toBe(
      "https://us-central1-aiplatform.googleapis.com/v1/projects/test-project/locations/us-central1/publishers/google/models/gemini-2.5-pro:streamGenerateContent?alt=sse"
    )
    expect(url(googleAccount, "gemini-2.5-pro", true)).toBe(
      "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse"
    )
  })
  it("routes: use the version of the catalog entry (T2106)", () => {
    expect(url({ ...googleAccount, api_version: "v1alpha" }, "gemini-2.5-pro")).toBe(
      "https://generativelanguage.googleapis.com/v1alpha/models/gemini-2.5-pro:generateContent"
    )
  })
  it("routes: base_url replaces scheme and host only (T2105)", () => {
    expect(url({ ...googleAccount, base_url: "http://127.0.0.1:9101" }, "gemini-2.5-pro")).toBe(
      "http://127.0.0.1:9101/v1beta/models/gemini-2.5-pro:generateContent"
    )
    expect(url({ ...googleAccount, base_url: "http://127.0.0.1:9101/proxy/" }, "gemini-2.5-pro")).toBe(
      "http://127.0.0.1:9101/proxy/v1beta/models/gemini-2.5-pro:generateContent"
    )
  })
  it("routes: project falls back to the service account's (T2107)", () => {
    const account: ProviderAccount = {
      ...vertexAccount,
      project_id: undefined,
      credentials: {
        _tag: "ServiceAccount",
        key: { clientEmail: "a@b", privateKeyId: "1", privateKey: Redacted.make("k"), projectId: "sa-project" }
      }
    }
    expect(url(account, "gemini-2.5-pro")).toBe(
      "https://us-central1-aiplatform.googleapis.com/v1/projects/sa-project/locations/us-central1/publishers/google/models/gemini-2.5-pro:generateContent"
    )
  })
  it("routes: a missing project or region names the header to send (T2107)", () => {
    expect(url({ ...vertexAccount, region: undefined }, "gemini-2.5-pro")).toMatchObject({
      code: "missing_required_parameter",
      param: "x-gateway-vertex-region"
    })
    expect(url({ ...vertexAccount, project_id: undefined }, "gemini-2.5-pro")).toMatchObject({
      code: "missing_required_parameter",
      param: "x-gateway-vertex-project-id"
    })
  })
  it("routes: express mode has neither project nor location (T2108)", () => {
    const account: ProviderAccount = {
      ...vertexAccount,
      project_id: undefined,
      region: undefined,
      credentials: { _tag: "ApiKey", key: Redacted.make("k") }
    }
    expect(url(account, "gemini-2.5-pro")).toBe(
      "https://aiplatform.googleapis.com/v1/publishers/google/models/gemini-2.5-pro:generateContent"
    )
    expect(url(account, "endpoints.my-llm")).toMatchObject({ _tag: "UnsupportedOperation" })
  })
  it("routes: a tuned Gemini endpoint is called, on its own host when set (T2010, T2011)", () => {
    const endpoints = { "1234": { dialect: "gemini" as const, host: undefined, model: undefined } }
    expect(url({ ...vertexAccount, endpoints }, "endpoints.1234")).toBe(
      "https://us-central1-aiplatform.googleapis.com/v1/projects/test-project/locations/us-central1/endpoints/1234:generateContent"
    )
    const dedicated = {
      "1234": { dialect: "gemini" as const, host: "1234.us-central1-99.prediction.vertexai.goog", model: undefined }
    }
    expect(url({ ...vertexAccount, endpoints: dedicated }, "endpoints.1234")).toBe(
      "https://1234.us-central1-99.prediction.vertexai.goog/v1/projects/test-project/locations/us-central1/endpoints/1234:generateContent"
    )
  })
  it.each([
    [
      "anthropic.claude-sonnet-4@20250514",
      ":rawPredict",
      "/publishers/anthropic/models/claude-sonnet-4@20250514:rawPredict"
    ],
    ["meta.llama-4-maverick-17b-128e-instruct-maas", "/chat/completions", "/endpoints/openapi/chat/completions"],
    ["deepseek-ai/deepseek-v3.1-maas", "/chat/completions", "/endpoints/openapi/chat/completions"],
    ["endpoints.my-llm", "/chat/completions", "/endpoints/my-llm/chat/completions"],
    ["imagegeneration@006", ":predict", "/publishers/google/models/imagegeneration@006:predict"],
    ["gemini-embedding-2-preview", ":embedContent", "/publishers/google/models/gemini-embedding-2-preview:embedContent"]
  ])("routes: %s%s has its URL (T1801, T2001, T2009, T1602)", (model, verb, path) => {
    expect(call(vertexAccount, model, verb)).toBe(base + path)
  })
  it("routes: the Gemini API has the other calls of table 10", () => {
    expect(call(googleAccount, "gemini-embedding-001", ":batchEmbedContents")).toBe(
      "https://generativelanguage.googleapis.com/v1beta/models/gemini-embedding-001:batchEmbedContents"
    )
  })
  it.each(["anthropic.claude-sonnet-4-5", "meta.llama-4", "endpoints.my-llm"])(
    "routes: %s does not exist on google (B43)",
    (model) => {
      expect(url(googleAccount, model)).toMatchObject({ _tag: "UnsupportedOperation" })
    }
  )
})

describe("closed set of hosts and paths (P4, L25)", () => {
  const anything = fc.oneof(
    fc.string({ maxLength: 60 }),
    fc.stringMatching(/^[a-z0-9.@/#?%\\:-]{0,40}$/),
    fc.constantFrom(
      "us#-aiplatform",
      "us\\",
      "us\t",
      "%2e%2e",
      "..",
      "a/../../b",
      "us-central1.evil.example",
      "@evil.example",
      "a:b@c"
    )
  )
  it("routes: any region, project and model stays in the set of hosts and paths (P4, L25)", () => {
    fc.assert(
      fc.property(anything, anything, anything, fc.boolean(), (region, projectId, model, stream) => {
        const result = url({ ...vertexAccount, region, project_id: projectId }, model, stream)
        if (typeof result !== "string") return
        const parsed = new URL(result)
        expect(parsed.host).toBe(vertexHost(region))
        const below = parsed.pathname.slice(`/v1/projects/${projectId}/locations/${region}`.length)
        expect(parsed.pathname.startsWith(`/v1/projects/${projectId}/locations/${region}/`)).toBe(true)
        expect(below).toMatch(
          /^\/(publishers\/(google|anthropic)\/models\/[^/]+|endpoints\/[^/]+):(g|streamG)enerateContent$/
        )
        expect(parsed.search).toBe(stream ? "?alt=sse" : "")
      }),
      { numRuns: 2_000, seed: 7 }
    )
  })
  it("routes: any model on google stays in the set of hosts and paths (P4, L25)", () => {
    fc.assert(
      fc.property(anything, (model) => {
        const result = url(googleAccount, model)
        if (typeof result !== "string") return
        const parsed = new URL(result)
        expect(parsed.host).toBe("generativelanguage.googleapis.com")
        expect(parsed.pathname.split("/")).toHaveLength(4)
      }),
      { numRuns: 2_000, seed: 7 }
    )
  })
})
