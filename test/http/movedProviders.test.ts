// Tests an admin key that moves providers to get credentials sent to a host of its own: the credentials stay.
// Must not reach the network: upstreams are scripted.
import * as Redacted from "effect/Redacted"
import { describe, expect, it } from "vitest"
import { movedSecretsGuard } from "../../src/admin/guards.ts"
import type { JsonObject } from "../../src/domain/text/json.ts"
import type { ConfigState } from "../../src/store/ConfigSnapshot.ts"
import { type RecordKind, recordSet, type StoredRecord } from "../../src/store/StoredRecord.ts"
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

describe("config credentials and the host they were given for (TH23)", () => {
  it("config credential: stays with its host when the provider moves, whatever names the new place (TH23)", async () => {
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
  it("config credential: stays with its host when a built-in provider is replaced or restored (TH23)", async () => {
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
  it("config credential: stays with its host when the config is declared in the file (TH23)", async () => {
    const { admin, calls, use } = attacked({ configs: { declared: config(keyed("google").config) } })
    expect(await admin("POST", "providers", { slug: "google", provider: "google", base_url: evil })).toEqual(
      refused("google", "declared")
    )
    await use("declared")
    expect(calls).toEqual(["embedded generativelanguage.googleapis.com"])
  })
  it("config credential: stays with its host when the provider is created later or again (TH23)", async () => {
    const { admin } = attacked()
    expect((await admin("POST", "configs", { id: "early", ...keyed("mine") }))[0]).toBe(400)
    await admin("POST", "providers", { slug: "mine", provider: "google" })
    await admin("POST", "configs", { id: "keyed", ...keyed("mine") })
    expect((await admin("DELETE", "providers/mine")).slice(0, 2)).toEqual([409, "urn:model-gateway:error:in_use"])
  })
  it("config credential: is free again once removed from the config and sent again (TH23)", async () => {
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
  it("config credential: a config without one does not block a change of the provider (TH23)", async () => {
    const { admin } = attacked()
    await admin("POST", "providers", { slug: "mine", provider: "google" })
    await admin("POST", "configs", {
      id: "plain",
      config: { targets: [{ provider: "mine" }, { provider: "prod", api_key: "k" }], strategy: { mode: "fallback" } }
    })
    expect(await admin("PUT", "providers/mine", { provider: "google", base_url: "https://new.example" })).toEqual([200])
  })
})

it("machine credential: never goes to an endpoint's host that was set over HTTP (TH4)", async () => {
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

it("declared provider: counts as another one when it leaves the file and returns over HTTP (TH23)", () => {
  const record = (kind: RecordKind, id: string, value: JsonObject): StoredRecord => ({
    kind,
    id,
    value,
    version: 1,
    createdMillis: 0,
    updatedMillis: 0,
    secret: undefined
  })
  const held = (provider: ReadonlyArray<StoredRecord>, api_key?: string): ConfigState => ({
    declared: { accounts: [], keys: [] },
    records: {
      provider: recordSet(provider),
      key: recordSet([]),
      prompt: recordSet([]),
      config: recordSet([
        record("config", "keyed", { config: { provider: "mine", ...(api_key === undefined ? {} : { api_key }) } })
      ])
    },
    revision: 1
  })
  const back = [record("provider", "mine", { slug: "mine", provider: "google", base_url: evil })]
  expect(movedSecretsGuard(held([], "***"), held(back, "***"), "mine", 0)?.code).toBe("credentials_would_move")
  expect(movedSecretsGuard(held([]), held(back), "mine", 0)).toBe(undefined)
})
