// Tests which plans are kept, and that a catalog or a key of its own has plans of its own.
// Must not depend on HTTP or on upstream calls.
import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import { builtInModels } from "../../src/domain/models/modelTable.ts"
import { type CatalogView, nothingCarried, type ProviderAccount } from "../../src/domain/ProviderAccount.ts"
import type { RequestContext } from "../../src/domain/RequestContext.ts"
import { knownPlan } from "../../src/router/RequestPlan.ts"
import { googleAccount, requestContext, vertexAccount } from "../support/account.ts"

const view = (...accounts: ReadonlyArray<ProviderAccount>): CatalogView => ({
  resolve: (slug) => accounts.find((account) => account.slug === slug),
  list: () => accounts,
  models: builtInModels
})
const catalog = view(googleAccount)
const plain: RequestContext = { ...requestContext, catalog, carried: nothingCarried }
const { key } = plain

describe("known plans", () => {
  it("known plans: one plan serves all keys without lists, for each model", () => {
    const first = knownPlan(plain, "gemini-2.5-pro")
    expect(first).toBeDefined()
    expect(knownPlan({ ...plain, key: { ...key, id: "key-2" } }, "gemini-2.5-pro")).toBe(first)
    expect(knownPlan(plain, "gemini-2.5-flash")).not.toBe(first)
  })

  it("known plans: a key with lists is planned by its own", () => {
    const listed = { ...plain, key: { ...key, id: "key-2", models: ["gemini-2.5-flash"] } }
    const refused = knownPlan(listed, "gemini-2.5-pro")
    expect(refused).toMatchObject({ failure: { _tag: "ModelNotAllowed" } })
    const other = knownPlan({ ...listed, key: { ...listed.key } }, "gemini-2.5-pro")
    expect(other).not.toBe(refused)
  })

  it("known plans: another catalog has none of them", () => {
    const slugOf = (of: CatalogView) => {
      const plan = knownPlan({ ...plain, catalog: of }, "gemini-2.5-pro")
      return plan === undefined ? undefined : Result.getOrThrow(plan)[0].account.slug
    }
    expect(slugOf(catalog)).toBe("google")
    expect(slugOf(view(vertexAccount))).toBe("vertex-ai")
  })

  it.each<[string, Partial<RequestContext>]>([
    ["a credential of its own", { carried: { ...nothingCarried, vertexRegion: "europe-west4" } }],
    ["a provider in its headers", { providerHeader: "google" }],
    ["the model of a granted prompt", { grantedModel: "gemini-2.5-pro" }],
    ["a path of Google's dialects", { native: { kind: "google", slug: undefined } }]
  ])("known plans: a request with %s has none", (_what, own) => {
    expect(knownPlan({ ...plain, ...own }, "gemini-2.5-pro")).toBeUndefined()
  })

  it("known plans: a request without a view of its own has none, as other catalogs change", () => {
    const { catalog: _view, ...viewless } = plain
    expect(knownPlan(viewless, "gemini-2.5-pro")).toBeUndefined()
  })
})
