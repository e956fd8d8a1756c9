// An admin key that moves providers, to have credentials it cannot read sent to a host of its own.
import * as Redacted from "effect/Redacted"
import { describe, expect, it } from "vitest"
import { movedSecretsGuard } from "../../src/admin/movedSecrets.ts"
import type { JsonObject } from "../../src/domain/text/json.ts"
import type { Held } from "../../src/store/Holdings.ts"
import type { RecordKind, StoredRecord } from "../../src/store/Records.ts"
import { googleAccount, vertexAccount } from "../support/account.ts"
import { config } from "../support/config.ts"
import { reply } from "../support/gemini.ts"
import { gatewaysOver, replying, type ScriptedOptions } from "../support/scripted.ts"
import { gatewayKey } from "../support/TestGateway.ts"

const over = gatewaysOver()
const adminKey = "mgk_admin0000000000000000000000000000"
const evil = "https://evil.example"

/** What was sent where, and the admin API. */
const attacked = (more: ScriptedOptions = {}) => {
  const calls: Array<string> = []
  const gateway = over(
    ({ auth, url }) => {
      calls.push(`${Object.values(auth).map(Redacted.value).join()} ${new URL(url).host}`)
      return replying(reply([{ text: "fine" }], { finishReason: "STOP" }))
    },
    {
      keys: [
        { name: "test", key: Redacted.make(gatewayKey) },
        { name: "admin", key: Redacted.make(adminKey), scopes: ["admin"] }
      ],
      accounts: [
        { ...googleAccount, credentials: undefined },
        { ...vertexAccount, slug: "prod" }
      ],
      ...more
    }
  )
  const admin = async (method: string, path: string, body?: object) => {
    const answer = await gateway.send(`/admin/v1/${path}`, {
      method,
      headers: { "content-type": "application/json", "x-gateway-api-key": adminKey },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    const text = await answer.text()
    const problem: { readonly type?: string; readonly detail?: string } = text === "" ? {} : JSON.parse(text)
    return [answer.status, ...(answer.status < 400 ? [] : [problem.type, problem.detail])]
  }
  const use = (id: string) =>
    gateway.post(
      "/v1/chat/completions",
      { model: "gemini-2.5-flash", messages: [{ role: "user", content: "hi" }] },
      { "x-gateway-config": id }
    )
  return { ...gateway, admin, use, calls }
}

const refused = (slug: string, ...configs: ReadonlyArray<string>) => [
  409,
  "urn:model-gateway:error:credentials_would_move",
  `The change sends the credentials that these configs hold for "${slug}" elsewhere: ${configs.join(", ")}. Take them out of the configs, change the provider, and send them again.`
]
const keyed = (provider: string) => ({
  config: {
    strategy: { mode: "fallback" },
    targets: [{ provider: `@${provider}`, api_key: "embedded" }, { virtual_key: provider }]
  }
})

describe("the credential of a config stays with the host it was given for (TH23)", () => {
  it("when its provider is moved, whatever says where it is", async () => {
    const { admin, calls, use } = attacked()
    expect(await admin("POST", "providers", { slug: "mine", provider: "google" })).toEqual([201])
    expect(await admin("POST", "configs", { id: "keyed", ...keyed("mine") })).toEqual([201])
    expect(await admin("PUT", "providers/mine", { provider: "google", base_url: evil })).toEqual(
      refused("mine", "keyed")
    )
    expect(await admin("PUT", "providers/mine", { provider: "google", api_key: "k", base_url: evil })).toEqual(
      refused("mine", "keyed")
    )
    for (const moved of [{ token_url: evil }, { endpoints: { e: { dialect: "openai", host: "evil.example" } } }, {}]) {
      expect(await admin("PUT", "providers/mine", { provider: "vertex-ai", ...moved })).toEqual(
        refused("mine", "keyed")
      )
    }
    expect(await admin("PUT", "providers/mine", { provider: "google", models: ["gemini-2.5-flash"] })).toEqual([200])
    await use("keyed")
    expect(calls).toEqual(["embedded generativelanguage.googleapis.com"])
  })
  it("when it is a built-in one that is taken over, or given back", async () => {
    const { admin, calls, use } = attacked()
    expect(await admin("POST", "configs", { id: "keyed", ...keyed("google") })).toEqual([201])
    expect(await admin("POST", "providers", { slug: "google", provider: "google", base_url: evil })).toEqual(
      refused("google", "keyed")
    )
    expect(await admin("POST", "providers", { slug: "google", provider: "google", api_key: "k" })).toEqual([201])
    expect(await admin("DELETE", "providers/google")).toEqual([204])
    await use("keyed")
    expect(calls).toEqual(["embedded generativelanguage.googleapis.com"])
  })
  it("when the config is declared in the file", async () => {
    const { admin, calls, use } = attacked({ configs: { declared: config(keyed("google").config) } })
    expect(await admin("POST", "providers", { slug: "google", provider: "google", base_url: evil })).toEqual(
      refused("google", "declared")
    )
    await use("declared")
    expect(calls).toEqual(["embedded generativelanguage.googleapis.com"])
  })
  it("when the config is made before its provider, or the provider goes and comes back", async () => {
    const { admin } = attacked()
    expect((await admin("POST", "configs", { id: "early", ...keyed("mine") }))[0]).toBe(400)
    await admin("POST", "providers", { slug: "mine", provider: "google" })
    await admin("POST", "configs", { id: "keyed", ...keyed("mine") })
    expect((await admin("DELETE", "providers/mine")).slice(0, 2)).toEqual([409, "urn:model-gateway:error:in_use"])
  })
  it("until it is taken out of the config and sent again", async () => {
    const { admin, calls, use } = attacked()
    await admin("POST", "providers", { slug: "mine", provider: "google" })
    await admin("POST", "configs", { id: "keyed", ...keyed("mine") })
    expect(await admin("PUT", "configs/keyed", { config: { provider: "mine" } })).toEqual([200])
    expect(await admin("PUT", "providers/mine", { provider: "google", base_url: "https://new.example" })).toEqual([200])
    const masked = { config: { provider: "mine", api_key: "***" } }
    expect((await admin("PUT", "configs/keyed", masked))[0]).toBe(400)
    expect(await admin("PUT", "configs/keyed", { config: { provider: "mine", api_key: "sent again" } })).toEqual([200])
    await use("keyed")
    expect(calls).toEqual(["sent again new.example"])
  })
  it("a config without a credential of its own does not hold a provider back", async () => {
    const { admin } = attacked()
    await admin("POST", "providers", { slug: "mine", provider: "google" })
    await admin("POST", "configs", {
      id: "plain",
      config: { targets: [{ provider: "mine" }, { provider: "prod", api_key: "k" }], strategy: { mode: "fallback" } }
    })
    expect(await admin("PUT", "providers/mine", { provider: "google", base_url: "https://new.example" })).toEqual([200])
  })
})

it("the machine's own credential goes to no host of an endpoint that comes over HTTP (TH4)", async () => {
  const { admin } = attacked()
  const ambient = { slug: "v", provider: "vertex-ai", credentials: { type: "application_default" } }
  const hosted = (host: string) => ({ endpoints: { e: { dialect: "openai", host } } })
  const fault = [
    400,
    "urn:model-gateway:error:invalid_value",
    "endpoints.e.host would be sent the machine's own credential; declare a dedicated endpoint of application_default in the configuration file"
  ]
  expect(await admin("POST", "providers", { ...ambient, ...hosted("evil.example") })).toEqual(fault)
  expect(await admin("POST", "providers", ambient)).toEqual([201])
  expect(await admin("PUT", "providers/v", { provider: "vertex-ai", ...hosted("evil.example") })).toEqual([
    400,
    fault[1],
    `${fault[2]} (and 1 more)`
  ])
  expect(await admin("PUT", "providers/v", { ...ambient, ...hosted("evil.example") })).toEqual(fault)
  expect(
    await admin("POST", "providers", {
      ...ambient,
      slug: "own",
      credentials: { type: "access_token", token: "t" },
      ...hosted("mine.example")
    })
  ).toEqual([201])
})

it("a provider that vanished from the file and comes back over HTTP is another one (TH23)", () => {
  const record = (kind: RecordKind, id: string, value: JsonObject): StoredRecord => ({
    kind,
    id,
    value,
    version: 1,
    createdMillis: 0,
    updatedMillis: 0,
    secret: undefined
  })
  const held = (provider: ReadonlyArray<StoredRecord>, api_key?: string): Held => ({
    declared: { accounts: [], keys: [] },
    records: {
      provider,
      key: [],
      prompt: [],
      config: [
        record("config", "keyed", { config: { provider: "mine", ...(api_key === undefined ? {} : { api_key }) } })
      ]
    },
    revision: 1
  })
  const back = [record("provider", "mine", { slug: "mine", provider: "google", base_url: evil })]
  expect(movedSecretsGuard(held([], "***"), held(back, "***"), "mine", 0)?.code).toBe("credentials_would_move")
  expect(movedSecretsGuard(held([]), held(back), "mine", 0)).toBe(undefined)
})
