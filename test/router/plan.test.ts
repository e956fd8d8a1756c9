import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import { requireCredentials, withCarried } from "../../src/auth/carried.ts"
import type { GatewayKey } from "../../src/domain/GatewayKey.ts"
import type { CarriedCredentials, CatalogView, ProviderAccount } from "../../src/domain/ProviderAccount.ts"
import { callIds } from "../../src/router/callIds.ts"
import { planOne } from "../../src/router/plan.ts"
import { googleAccount, requestContext, vertexAccount } from "../support/account.ts"

const key: GatewayKey = requestContext.key
const view = (...accounts: ReadonlyArray<ProviderAccount>): CatalogView => ({
  resolve: (slug) => accounts.find((account) => account.slug === slug),
  list: () => accounts
})
const both = view(googleAccount, vertexAccount)
const run = (model: string, header: string | undefined, catalog = both, by = key) => {
  const result = planOne({ model, header, key: by, carried: requestContext.carried }, catalog)
  return Result.isSuccess(result)
    ? { slug: result.success[0].account.slug, modelId: result.success[0].modelId }
    : result.failure
}

describe("which provider (interface section 4)", () => {
  it("B37 the prefix wins over the header", () =>
    expect(run("@google/gemini-2.5-pro", "vertex-ai")).toEqual({ slug: "google", modelId: "gemini-2.5-pro" }))
  it("the header names it where the model does not", () =>
    expect(run("gemini-2.5-pro", "vertex-ai")).toEqual({ slug: "vertex-ai", modelId: "gemini-2.5-pro" }))
  it("the only account with a credential serves when nothing names one", () =>
    expect(run("gemini-2.5-pro", undefined, view(googleAccount, { ...vertexAccount, credentials: undefined }))).toEqual(
      { slug: "google", modelId: "gemini-2.5-pro" }
    ))
  it("B36 two candidates and no name", () =>
    expect(run("gemini-2.5-pro", undefined)).toMatchObject({ _tag: "ProviderMissing", known: ["google", "vertex-ai"] }))
  it("B35 an unknown slug, told where it stood", () => {
    expect(run("@nope/gemini-2.5-pro", undefined)).toMatchObject({ _tag: "SlugUnknown", slug: "nope", param: "model" })
    expect(run("gemini-2.5-pro", "nope")).toMatchObject({
      _tag: "SlugUnknown",
      slug: "nope",
      param: "x-gateway-provider"
    })
  })
  it("B3 a key's allow-lists and an account's own", () => {
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

describe("whose credential (interface section 4)", () => {
  const none = requestContext.carried
  const carried = (some: Partial<CarriedCredentials>): CarriedCredentials => ({ ...none, ...some })
  const lay = (account: ProviderAccount, some: Partial<CarriedCredentials>) => {
    const result = withCarried(account, carried(some), "caller", "key-1")
    return Result.isSuccess(result) ? result.success : result.failure
  }
  const secret = Redacted.make("ya29.caller")
  it("what the request carries wins and is the caller's", () => {
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
  it("TH34 a Gemini key is no Vertex credential, a service account no Gemini one", () => {
    expect(lay(vertexAccount, { googApiKey: secret })).toEqual(vertexAccount)
    expect(lay(googleAccount, { vertexServiceAccountJson: secret })).toEqual(googleAccount)
  })
  it("B95 a service account that is none", () => {
    for (const text of ["", "{", "[]", '{"type":"external_account"}', '{"type":"authorized_user"}']) {
      expect(lay(vertexAccount, { vertexServiceAccountJson: Redacted.make(text) })).toMatchObject({
        _tag: "BodyInvalid",
        code: "invalid_service_account",
        param: "x-gateway-vertex-service-account-json"
      })
    }
  })
  it("B93 nothing to send", () => {
    const result = requireCredentials({ ...googleAccount, credentials: undefined })
    expect(Result.isFailure(result) && result.failure._tag).toBe("CredentialsMissing")
  })
})

describe("call ids", () => {
  it("T518 are call-<uuid>, one after the other, the same for the same seed", () => {
    const id = callIds("01234567-89ab-7cde-8fff-fffffffffffe")
    expect([id(0), id(1), id(2)]).toEqual([
      "call-01234567-89ab-7cde-8fff-ffffffffffff",
      "call-01234567-89ab-7cde-8fff-000000000000",
      "call-01234567-89ab-7cde-8fff-000000000001"
    ])
  })
})
