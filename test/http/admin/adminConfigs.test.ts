// Tests the versions of configs, the check of a config before it is saved, and where it would send a request.
// Must not depend on how configs are kept: requests go through the whole service.
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { ConfigCheck } from "../../../src/api/AdminReports.ts"
import { defaultLimits } from "../../../src/domain/Limits.ts"
import { adminKey } from "../../support/accounted.ts"
import { gatewayOver, replying, type ScriptedGateway } from "../../support/scripted.ts"
import { gatewayKey } from "../../support/TestGateway.ts"

type Json = ReturnType<typeof JSON.parse>

const keys = [
  { name: "test", key: Redacted.make(gatewayKey), providers: ["google"], metadata: { tier: "free" } },
  { name: "boss", key: Redacted.make(adminKey), scopes: ["admin" as const] }
]

let gateway: ScriptedGateway
beforeEach(() => {
  gateway = gatewayOver(() => replying({}), {
    settings: { keys, limits: { ...defaultLimits, configVersions: 3 } }
  })
})
afterEach(() => gateway.dispose())

const send = async (method: string, path: string, body?: Json): Promise<Json> => {
  const answer = await gateway.send(`/admin/v1/${path}`, {
    method,
    headers: {
      "x-gateway-api-key": adminKey,
      "x-request-id": "r1",
      ...(body === undefined ? {} : { "content-type": "application/json" })
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })
  return JSON.parse(await answer.text())
}

const decodeCheck = Schema.decodeUnknownSync(ConfigCheck, { onExcessProperty: "error" })
const check = async (body: Json) => {
  const checked = decodeCheck(await send("POST", "check", body))
  return checked
}

const problem = (status: number, code: string, detail: string) => ({
  type: `urn:model-gateway:error:${code}`,
  title: code.replaceAll("_", " "),
  status,
  detail,
  instance: "r1"
})

describe("versions of a config", () => {
  it("config versions: the latest are kept and read one by one, and an old one is saved again as the newest", async () => {
    await send("POST", "configs", { id: "slow", config: { provider: "@google", request_timeout: 1 } })
    for (let timeout = 2; timeout <= 4; timeout++)
      await send("PUT", "configs/slow", { config: { provider: "@google", request_timeout: timeout } })
    const newest = await send("GET", "configs/slow")
    expect([newest.version, newest.versions, newest.config.request_timeout]).toEqual([4, [2, 3, 4], 4])
    const old = await send("GET", "configs/slow@2")
    expect([old.version, old.versions, old.config.request_timeout]).toEqual([2, [2, 3, 4], 2])
    const missing = problem(404, "config_not_found", "There is no such config.")
    for (const reference of ["slow@1", "slow@5", "slow@x", "slow@", "other@1"])
      expect([reference, await send("GET", `configs/${reference}`)]).toEqual([reference, missing])
    await send("PUT", "configs/slow", { config: old.config })
    const back = await send("GET", "configs/slow")
    expect([back.version, back.versions, back.config]).toEqual([5, [3, 4, 5], old.config])
    await gateway.send("/admin/v1/configs/slow", { method: "DELETE", headers: { "x-gateway-api-key": adminKey } })
    expect(await send("GET", "configs/slow@5")).toEqual(missing)
  })

  it("config versions: a credential that only an old version had is not restored by its mask", async () => {
    const secret = "AIzaCanary0000000000000000000000000wxyz"
    await send("POST", "configs", { id: "own", config: { provider: "@google", api_key: secret } })
    await send("PUT", "configs/own", { config: { provider: "@google" } })
    const old = await send("GET", "configs/own@1")
    expect(old.config).toEqual({ provider: "@google", api_key: "***wxyz" })
    expect((await send("PUT", "configs/own", { config: old.config })).errors).toEqual([
      {
        path: "config.api_key",
        message:
          "is how a credential is shown, and stands for none that this provider has here; write the credential itself"
      }
    ])
  })
})

const valid = { object: "config_check", ok: true, faults: [], notices: [] }
const first = { provider: "google", model: "gemini-2.5-flash" }
const model = "gemini-2.5-flash"
const why = "every request of the config"

describe("check of a config", () => {
  it("config check: lists every fault at its place, as saving would, and saves nothing", async () => {
    const config = {
      strategy: { mode: "fallback" },
      targets: [{ provider: "@googel" }, { retry: { attempts: "two" } }]
    }
    expect(await check({ config })).toEqual({
      ...valid,
      ok: false,
      faults: [{ path: "config.targets[1].retry.attempts", message: "expected a number" }]
    })
    expect(await check({ config: { ...config, targets: [{ provider: "@googel" }] } })).toEqual({
      ...valid,
      ok: false,
      faults: [
        {
          path: "config.targets[0]",
          message: '"googel" is no provider of this configuration; did you mean google?'
        }
      ]
    })
    expect((await send("GET", "configs")).data).toEqual([])
  })

  it("config check: names models of targets that end, as check does (M-720)", async () => {
    const config = { provider: "@google", override_params: { model: "gemini-2.0-flash" } }
    expect((await check({ config })).notices).toEqual([
      {
        path: "config",
        kind: "shut_down",
        message: "gemini-2.0-flash is shut down since 2026-06-01; its successor is gemini-3.5-flash"
      }
    ])
  })

  it("config check: weights become shares, and a target of weight 0 is never asked", async () => {
    const config = {
      strategy: { mode: "loadbalance" },
      targets: [{ provider: "@google", weight: 3 }, { provider: "@vertex-ai" }, { provider: "@google", weight: 0 }]
    }
    expect(await check({ config, request: { body: { model } } })).toEqual({
      ...valid,
      plan: [
        { path: "config", mode: "loadbalance", reached: "first", share: 1, why },
        { path: "config.targets[0]", ...first, reached: "first", share: 0.75, why: "its weight is 3 of 4" },
        {
          path: "config.targets[1]",
          provider: "vertex-ai",
          model,
          reached: "first",
          share: 0.25,
          why: "its weight is 1 of 4"
        },
        { path: "config.targets[2]", ...first, reached: "never", share: 0, why: "its weight is 0" }
      ]
    })
  })

  it("config check: conditions are decided by the metadata of the request and of its key", async () => {
    const config = {
      strategy: {
        mode: "conditional",
        conditions: [
          { query: { "metadata.tier": "free" }, then: "cheap" },
          { query: { "params.max_tokens": { $gt: 1000 } }, then: "long" }
        ],
        default: "usual"
      },
      targets: [
        { name: "cheap", provider: "@google" },
        {
          name: "long",
          strategy: { mode: "fallback", on_status_codes: [429, 503] },
          targets: [{ provider: "@google" }, { provider: "@vertex-ai" }]
        },
        { name: "usual", provider: "@vertex-ai" }
      ]
    }
    const reasons = async (request: Json) =>
      (await check({ config, request })).plan?.map(({ path, reached, why }) => `${path.slice(7)} ${reached}: ${why}`)
    const other = "never: condition 1 holds for another target"
    expect(await reasons({ body: { model }, metadata: { tier: "free" } })).toEqual([
      ` first: ${why}`,
      "targets[0] first: condition 1 holds",
      `targets[1] ${other}`,
      "targets[1].targets[0] never: its group is not asked",
      "targets[1].targets[1] never: its group is not asked",
      `targets[2] ${other}`
    ])
    expect(await reasons({ body: { model, max_tokens: 2000 } })).toEqual([
      ` first: ${why}`,
      "targets[0] never: condition 2 holds for another target",
      "targets[1] first: condition 2 holds",
      "targets[1].targets[0] first: it is the first target",
      "targets[1].targets[1] failure: after a failure with status 429, 503",
      "targets[2] never: condition 2 holds for another target"
    ])
    expect((await reasons({ body: { model } }))?.at(-1)).toBe(
      "targets[2] first: no condition holds, and it is the default"
    )
  })

  it("config check: a key that may not use a target gets the refusal that its request would get", async () => {
    const config = { provider: "@vertex-ai" }
    expect(await check({ config, request: { key: "test", body: { model } } })).toEqual({
      ...valid,
      refused: { code: "model_not_allowed", message: 'This key may not use the provider "vertex-ai".' }
    })
    expect(await send("POST", "check", { config, request: { key: "nobody", body: { model } } })).toEqual(
      problem(404, "key_not_found", "There is no such key.")
    )
  })

  it("config check: a body of another shape is refused with the place of each fault", async () => {
    const refused = await send("POST", "check", { config: {}, request: { body: 1 }, id: "" })
    expect([refused.status, refused.errors]).toEqual([
      400,
      [
        { path: "id", message: "must not be empty" },
        { path: "request.body", message: "expected a mapping of keys" }
      ]
    ])
  })
})

describe("rotation with a grace time", () => {
  it("admin keys: the old text is taken for grace_seconds, and a time out of its bounds is refused", async () => {
    const { id, key } = await send("POST", "keys", { name: "team" })
    const used = async (text: string) =>
      (await gateway.send("/v1/models", { headers: { "x-gateway-api-key": text } })).status
    const sent = Date.now()
    const rotated = await send("POST", `keys/${id}/rotate?grace_seconds=3600`)
    const began = Date.parse(rotated.previous_until) - 3600 * 1000
    expect([began >= sent, began <= Date.now()]).toEqual([true, true])
    expect([await used(key), await used(rotated.key)]).toEqual([200, 200])
    expect(await send("POST", `keys/${id}/rotate?grace_seconds=2592001`)).toEqual(
      problem(400, "invalid_value", "grace_seconds is a whole number from 1 to 2592000.")
    )
    await send("POST", `keys/${id}/rotate`)
    expect([await used(key), await used(rotated.key)]).toEqual([401, 401])
  })
})
