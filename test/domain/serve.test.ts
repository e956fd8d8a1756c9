// Models without a slug: the account that serves them, aliases, and the suffix of a long context.
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import { providerAccount, type ProviderAccount } from "../../src/domain/ProviderAccount.ts"
import { type AccountChoice, canServe, chooseAccount } from "../../src/domain/ModelRef.ts"
import { resolveModelName } from "../../src/domain/serving.ts"

const token = { _tag: "AccessToken", token: Redacted.make("t") } as const
const apiKey = { _tag: "ApiKey", key: Redacted.make("k") } as const
const vertex = (slug: string, more: Partial<ProviderAccount> = {}) =>
  providerAccount({ slug, kind: "vertex-ai", credentials: token, ...more })
const google = (slug: string, more: Partial<ProviderAccount> = {}) =>
  providerAccount({ slug, kind: "google", credentials: apiKey, ...more })

const choose = (model: string, accounts: ReadonlyArray<ProviderAccount>, more: Partial<AccountChoice> = {}) => {
  const chosen = chooseAccount({
    model,
    accounts,
    key: {},
    defaults: {},
    isCarried: false,
    ...more
  })
  return Result.isSuccess(chosen) ? chosen.success : chosen.failure
}
const undecided = (setting: string, ...known: ReadonlyArray<string>) => ({ _tag: "Undecided", known, setting })

describe("models without a slug", () => {
  it("bare Claude name: goes to the only account of Vertex AI (N201)", () => {
    expect(choose("claude-sonnet-4-6", [google("g"), vertex("v")])).toBe("v")
    expect(choose("anthropic/claude-sonnet-4-6", [google("g"), vertex("v")])).toBe("v")
  })
  it("bare name: of several accounts the operator's default is chosen, else the setting is named (N201)", () => {
    const accounts = [vertex("a"), vertex("b"), google("g")]
    expect(choose("claude-x", accounts)).toStrictEqual(undecided("defaults.claude", "a", "b"))
    expect(choose("claude-x", accounts, { defaults: { claude: "b" } })).toBe("b")
    expect(choose("gemini-x", accounts)).toStrictEqual(undecided("defaults.gemini", "a", "b", "g"))
    expect(choose("openai/gpt-oss", accounts)).toStrictEqual(undecided("defaults.openai", "a", "b"))
    expect(choose("openai/gpt-oss", [vertex("a"), google("g")])).toBe("a")
  })
  it("bare name: accounts the key may not use are no choice (N201)", () => {
    const accounts = [vertex("a"), vertex("b")]
    expect(choose("claude-x", accounts, { key: { providers: ["b"] } })).toBe("b")
    expect(choose("claude-x", accounts, { key: { providers: ["b"] }, defaults: { claude: "a" } })).toBe("b")
  })
  it("bare name: lists of accounts and their endpoints decide (N201)", () => {
    expect(choose("gemini-x", [google("a", { models: ["gemini-y"] }), google("b")])).toBe("b")
    const endpoints = { e: { dialect: "gemini", host: undefined, model: undefined } } as const
    expect(choose("endpoints.e", [vertex("a", { endpoints }), vertex("b", { endpoints: { f: endpoints.e } })])).toBe(
      "a"
    )
    expect(canServe(vertex("a", { credentials: apiKey }), "claude-x")).toBe(false)
    expect(canServe(google("a"), "endpoints.e")).toBe(false)
    expect(canServe(google("a"), "../x")).toBe(false)
  })
  it("native path: the default of its kind, the only account of its kind, the only account (N201)", () => {
    const native = (kind: "google" | "vertex-ai", slug?: string) => ({ native: { kind, slug } })
    const accounts = [vertex("v"), google("g")]
    expect(choose("gemini-x", accounts, native("vertex-ai"))).toBe("v")
    expect(choose("gemini-x", accounts, native("google"))).toBe("g")
    expect(choose("gemini-x", accounts, native("google", "v"))).toBe("v")
    expect(choose("gemini-x", [vertex("v")], native("google"))).toBe("v")
    expect(choose("gemini-x", [...accounts, google("h")], native("google"))).toStrictEqual(
      undecided("native.google", "v", "g", "h")
    )
  })
  it("native path: a carried credential goes to the built-in account of the path's kind (N205)", () => {
    const builtIn = [vertex("vertex-ai", { credentials: undefined }), google("google", { credentials: undefined })]
    const native = { kind: "vertex-ai", slug: undefined } as const
    expect(choose("gemini-x", builtIn, { native, isCarried: true })).toBe("vertex-ai")
    expect(choose("gemini-x", builtIn, { native })).toStrictEqual(undecided("native.vertex", "vertex-ai", "google"))
    expect(choose("gemini-x", [vertex("a"), ...builtIn], { native, isCarried: true })).toBe("a")
  })
})

describe("names of models", () => {
  it("model name: the suffix of a long context becomes its beta (N805)", () => {
    expect(resolveModelName("claude-sonnet-4-6[1m]", {})).toStrictEqual({
      model: "claude-sonnet-4-6",
      betas: ["context-1m-2025-08-07"]
    })
    expect(resolveModelName("claude-sonnet-4-6", {})).toStrictEqual({ model: "claude-sonnet-4-6", betas: [] })
  })
  it("model name: an alias is looked up once (N805)", () => {
    const aliases = { sonnet: "@v/claude-sonnet-5-5", opus: "sonnet", long: "@v/claude-x[1m]" }
    expect([
      resolveModelName("sonnet", aliases),
      resolveModelName("sonnet[1m]", aliases),
      resolveModelName("opus", aliases),
      resolveModelName("long", aliases),
      resolveModelName("toString", aliases)
    ]).toStrictEqual([
      { model: "@v/claude-sonnet-5-5", betas: [] },
      { model: "@v/claude-sonnet-5-5", betas: ["context-1m-2025-08-07"] },
      { model: "sonnet", betas: [] },
      { model: "@v/claude-x", betas: ["context-1m-2025-08-07"] },
      { model: "toString", betas: [] }
    ])
  })
})
