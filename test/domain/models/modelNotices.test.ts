// Tests the notices to the operator about models that a configuration names: unknown, retired or not offered.
// Must not depend on the command line.
import * as Result from "effect/Result"
import { expect, it } from "vitest"
import { modelNotices } from "../../../src/domain/models/modelLife.ts"
import { readSettings } from "../../../src/cli/settings/readSettings.ts"
import type { Json } from "../../../src/domain/text/json.ts"

const notices = (file: Json, today = "2026-11-22") => {
  const read = readSettings({ file, env: {}, flags: {}, fileText: () => Result.fail("absent") })
  const settings = Result.getOrThrowWith(read, (faults) => new Error(JSON.stringify(faults)))
  return modelNotices(settings, today).map(({ at, kind, text }) => `${at}  ${kind}  ${text}`)
}

const vertex = (...models: ReadonlyArray<string>): Json => ({
  providers: [{ slug: "v", provider: "vertex-ai", models }]
})
const google = (...models: ReadonlyArray<string>): Json => ({ providers: [{ slug: "g", provider: "google", models }] })

it("model notices: name each retired or retiring model of an account with day and successor (M-720, M-1005)", () => {
  const models = [
    "gemini-2.0-flash",
    "gemini-2.5-pro",
    "anthropic.claude-sonnet-4-5@20250929",
    "gemini-9-foo",
    "gemini-4-neon"
  ]
  expect(notices(vertex(...models, "imagen-4.0-generate-001", "imagen-3.0-generate-001", "gemini-*"))).toEqual([
    "@v  shut_down  gemini-2.0-flash is shut down since 2026-06-01; its successor is gemini-3.5-flash",
    "@v  deprecated  gemini-2.5-pro is deprecated and will be shut down on 2027-03-31; its successor is gemini-3.8-flash",
    "@v  deprecated  claude-sonnet-4-5@20250929 is deprecated and will be shut down on 2026-11-30; its successor is claude-sonnet-5-5",
    "@v  unknown  gemini-9-foo is not a known model; it has the facts of gemini-4-argon",
    "@v  shut_down  imagen-4.0-generate-001 is shut down; its successor is gemini-3.1-flash-image",
    "@v  deprecated  imagen-3.0-generate-001 is shut down for new projects; its successor is gemini-3.1-flash-image"
  ])
})

it("model notices: name a model that the provider does not offer (M-720)", () => {
  expect(notices(google("gemini-4-argon-cyber-permissive"))).toEqual([
    "@g  not_offered  gemini-4-argon-cyber-permissive is not offered on google; it is on vertex-ai"
  ])
})

it("model notices: cover aliases, also of a long context (M-720)", () => {
  const aliases = { quick: "@g/gemini-2.0-flash", good: "gemini-3.8-flash", long: "@g/gemini-2.5-pro[1m]" }
  expect(notices({ providers: [{ slug: "g", provider: "google" }], aliases })).toEqual([
    "alias quick  shut_down  gemini-2.0-flash is shut down since 2026-06-01; its successor is gemini-3.5-flash",
    "alias long  deprecated  gemini-2.5-pro is deprecated and will be shut down on 2026-12-01; its successor is gemini-3.8-flash"
  ])
})

it("model notices: cover configs, prompts and keys, and use the operator's facts (M-720)", () => {
  const file = {
    providers: [{ slug: "g", provider: "google" }],
    configs: { fast: { provider: "@g", override_params: { model: "gemini-2.5-flash" } } },
    prompts: [{ id: "hi", model: "@g/gemini-2.0-flash", messages: [{ role: "user", content: "hi" }] }],
    keys: [{ name: "ci", key: "a-long-gateway-key", models: ["gemini-2.0-flash-lite", "gemini-5-own"] }],
    models: { "gemini-5-own": { inherits: "gemini-4-neon" }, "gemini-2.0-flash-lite": { stage: "ga", shutdown: {} } }
  }
  expect(notices(file, "2026-12-02")).toEqual([
    "configs.fast target 0  shut_down  gemini-2.5-flash is shut down since 2026-12-01; its successor is gemini-3.5-flash-lite",
    "prompt hi  shut_down  gemini-2.0-flash is shut down since 2026-06-01; its successor is gemini-3.5-flash",
    "key ci  deprecated  gemini-2.0-flash-lite is deprecated; its end was announced for 2026-06-01; its successor is gemini-3.1-flash-lite"
  ])
})

it("a day that has passed without an end leaves a model deprecated (M-720)", () => {
  expect(notices(google("gemini-embedding-001"))).toEqual([
    "@g  deprecated  gemini-embedding-001 is deprecated; its end was announced for 2026-07-14; its successor is gemini-embedding-2"
  ])
})
