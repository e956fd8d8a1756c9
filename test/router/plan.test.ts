// Tests the plan of a request without a config: its provider, its credential, and its refusals.
// Must not depend on HTTP or on upstream calls.
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import { builtInModels } from "../../src/domain/models/modelTable.ts"
import { requireCredentials, withCarriedCredentials } from "../../src/auth/carried.ts"
import type { GatewayKey } from "../../src/domain/GatewayKey.ts"
import type { CarriedCredentials, CatalogView, ProviderAccount } from "../../src/domain/ProviderAccount.ts"
import { callIds } from "../../src/router/PrepareAttempt.ts"
import { planOne } from "../../src/router/plan.ts"
import { googleAccount, requestContext, vertexAccount } from "../support/account.ts"

const key: GatewayKey = requestContext.key
const view = (...accounts: ReadonlyArray<ProviderAccount>): CatalogView => ({
  resolve: (slug) => accounts.find((account) => account.slug === slug),
  list: () => accounts,
  models: builtInModels
})
const both = view(googleAccount, vertexAccount)
const run = (model: string, header: string | undefined, catalog = both, by = key) => {
  const result = planOne({ model, header, key: by, carried: requestContext.carried }, catalog)
  return Result.isSuccess(result)
    ? { slug: result.success[0].account.slug, modelId: result.success[0].modelId }
    : result.failure
}

describe("provider of a request (interface section 4)", () => {
  it("plan: the prefix wins over the header (B37)", () =>
    expect(run("@google/gemini-2.5-pro", "vertex-ai")).toEqual({ slug: "google", modelId: "gemini-2.5-pro" }))
  it("plan: the header names the provider where the model does not", () =>
    expect(run("gemini-2.5-pro", "vertex-ai")).toEqual({ slug: "vertex-ai", modelId: "gemini-2.5-pro" }))
  it("plan: the only account with a credential serves when nothing names one", () =>
    expect(run("gemini-2.5-pro", undefined, view(googleAccount, { ...vertexAccount, credentials: undefined }))).toEqual(
      { slug: "google", modelId: "gemini-2.5-pro" }
    ))
  it("plan: two candidates without a name are refused (B36)", () =>
    expect(run("gemini-2.5-pro", undefined)).toMatchObject({ _tag: "ProviderMissing", known: ["google", "vertex-ai"] }))
  it("plan: an unknown slug is refused, with the place that named it (B35)", () => {
    expect(run("@nope/gemini-2.5-pro", undefined)).toMatchObject({ _tag: "SlugUnknown", slug: "nope", param: "model" })
    expect(run("gemini-2.5-pro", "nope")).toMatchObject({
      _tag: "SlugUnknown",
      slug: "nope",
      param: "x-gateway-provider"
    })
  })
  it("plan: a key's and an account's lists limit providers and models (B3)", () => {
    expect(run("@google/gemini-2.5-pro", undefined, both, { ...key, providers: ["vertex-ai"] })).toMatchObject({
      _tag: "ModelNotAllowed"
    })
    expect(run("@google/gemini-2.5-pro", undefined, both, { ...key, models: ["gemini-3*"] })).toMatchObject({
      _tag: "ModelNotAllowed"
    })
    expect(run("@google/gemini-3-pro", undefined, both, { ...key, models: ["gemini-3*"] })).toEqual({
      slug: "google",
      modelId: "gemini-3-pro"
    })
    expect(
      run("@google/gemini-2.5-pro", undefined, view({ ...googleAccount, models: ["gemini-2.5-flash"] }))
    ).toMatchObject({ _tag: "ModelNotAllowed" })
  })
})

describe("models without a slug", () => {
  const serving = {
    defaults: { claude: "second" },
    aliases: { sonnet: "@second/claude-sonnet-4-6", long: "claude-opus-4-6[1m]", "claude-sonnet-4-6": "claude-x" }
  }
  const second = { ...vertexAccount, slug: "second" }
  const several = { ...view(googleAccount, vertexAccount, second), serving }
  const planned = (model: string, catalog: CatalogView = several) => {
    const result = planOne({ model, header: undefined, key, carried: requestContext.carried }, catalog)
    if (Result.isFailure(result)) return result.failure
    const [{ account, betas, modelId }] = result.success
    return [account.slug, modelId, betas]
  }
  it("plan: the default of the family serves (N1207)", () => {
    expect(planned("claude-opus-4-6")).toStrictEqual(["second", "claude-opus-4-6", []])
    expect(planned("anthropic/claude-opus-4-6")).toStrictEqual(["second", "anthropic/claude-opus-4-6", []])
  })
  it("plan: the only account that can serve the model serves it (N1207)", () => {
    expect(planned("claude-opus-4-6", both)).toStrictEqual(["vertex-ai", "claude-opus-4-6", []])
    expect(planned("openai/gpt-oss-120b", both)).toStrictEqual(["vertex-ai", "openai/gpt-oss-120b", []])
  })
  it("plan: several that can are an error with the setting that chooses (N1207)", () => {
    expect(planned("gemini-2.5-pro")).toMatchObject({
      _tag: "ProviderMissing",
      known: ["google", "vertex-ai", "second"],
      setting: "defaults.gemini"
    })
    expect(planned("endpoints.42")).toMatchObject({ _tag: "ProviderMissing", known: ["vertex-ai", "second"] })
  })
  it("plan: the only account itself reports why it cannot serve a model (N1207)", () => {
    expect(planned("claude-opus-4-6", view(googleAccount))).toStrictEqual(["google", "claude-opus-4-6", []])
  })
  it("plan: an alias is its model, and its own name once (N1206)", () => {
    expect(planned("sonnet")).toStrictEqual(["second", "claude-sonnet-4-6", []])
    expect(planned("@vertex-ai/sonnet")).toStrictEqual(["vertex-ai", "sonnet", []])
    expect(planned("claude-sonnet-4-6")).toStrictEqual(["second", "claude-x", []])
  })
  it("plan: the suffix of a long context is a flag (N805)", () => {
    const flag = "context-1m-2025-08-07"
    expect(planned("@vertex-ai/claude-opus-4-6[1m]")).toStrictEqual(["vertex-ai", "claude-opus-4-6", [flag]])
    expect(planned("sonnet[1m]")).toStrictEqual(["second", "claude-sonnet-4-6", [flag]])
    expect(planned("long")).toStrictEqual(["second", "claude-opus-4-6", [flag]])
  })
})

describe("credential of a request (interface section 4)", () => {
  const none = requestContext.carried
  const carried = (some: Partial<CarriedCredentials>): CarriedCredentials => ({ ...none, ...some })
  const lay = (account: ProviderAccount, some: Partial<CarriedCredentials>) => {
    const result = withCarriedCredentials(account, carried(some), "caller", "key-1")
    return Result.isSuccess(result) ? result.success : result.failure
  }
  const secret = Redacted.make("ya29.caller")
  it("plan: a credential in the request wins and belongs to the caller", () => {
    expect(lay(vertexAccount, { authorization: secret })).toEqual({
      ...vertexAccount,
      credentials: { _tag: "AccessToken", token: secret },
      origin: "caller",
      carriedBy: "key-1"
    })
    expect(lay(googleAccount, { authorization: secret })).toEqual({
      ...googleAccount,
      credentials: { _tag: "ApiKey", key: secret },
      origin: "caller",
      carriedBy: "key-1"
    })
    expect(lay(googleAccount, { googApiKey: secret })).toEqual({
      ...googleAccount,
      credentials: { _tag: "ApiKey", key: secret },
      origin: "caller",
      carriedBy: "key-1"
    })
  })
  it("plan: a Gemini key is not a Vertex AI credential, and a service account not a Gemini one (TH34)", () => {
    expect(lay(vertexAccount, { googApiKey: secret })).toEqual(vertexAccount)
    expect(lay(googleAccount, { vertexServiceAccountJson: secret })).toEqual(googleAccount)
  })
  it("plan: a malformed service account is refused (B95)", () => {
    for (const text of ["", "{", "[]", '{"type":"external_account"}', '{"type":"authorized_user"}']) {
      expect(lay(vertexAccount, { vertexServiceAccountJson: Redacted.make(text) })).toMatchObject({
        _tag: "BodyInvalid",
        code: "invalid_service_account",
        param: "x-gateway-vertex-service-account-json"
      })
    }
  })
  it("plan: a request without a credential is refused (B93)", () => {
    const result = requireCredentials({ ...googleAccount, credentials: undefined })
    expect(Result.isFailure(result) && result.failure._tag).toBe("CredentialsMissing")
  })
})

describe("call ids", () => {
  it("call ids: are call-<uuid>, one after the other, and equal for equal seeds (T518)", () => {
    const id = callIds("01234567-89ab-7cde-8fff-fffffffffffe")
    expect([id(0), id(1), id(2)]).toEqual([
      "call-01234567-89ab-7cde-8fff-ffffffffffff",
      "call-01234567-89ab-7cde-8fff-000000000000",
      "call-01234567-89ab-7cde-8fff-000000000001"
    ])
  })
})
