// Tests the origin of every setting: flag, variable, line of the file, default; and that no secret is shown.
// Must not read files or the environment.
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import { settingOrigins } from "../../src/cli/settings/SettingOrigins.ts"
import { shownSettings } from "../../src/cli/RunGateway.ts"
import { parseSettingsText } from "../../src/cli/settings/SettingsText.ts"
import { defaultLimits } from "../../src/domain/Limits.ts"
import { ReadSettings } from "../../src/http/admin/AdminService.ts"

const fileOf = (text: string) => ({
  name: "gateway.yaml",
  text: Result.getOrThrow(parseSettingsText("gateway.yaml", text))
})

const rowsOf = (text: string, env: Readonly<Record<string, string>> = {}, flags = {}) =>
  settingOrigins({ file: fileOf(text), env, flags })

/** Name, value, source and place of the settings that are set. */
const setOnes = (rows: ReturnType<typeof settingOrigins>) =>
  rows.filter(({ source }) => source !== "default").map(({ from, name, source, value }) => [name, value, source, from])

describe("origins of settings", () => {
  it("origins: a flag wins over a variable, a variable over the file, and the file over the default", () => {
    const file = "server:\n  host: 10.0.0.1\n  port: 1\n  cors: [https://a.example]\nheal: off\n"
    const env = { PORT: "2", GATEWAY_SERVER_PORT: "3", GATEWAY_LIMITS_TOOLS: "7" }
    expect(setOnes(rowsOf(file, env))).toEqual([
      ["server.host", "10.0.0.1", "file", "gateway.yaml:2"],
      ["server.port", 3, "variable", "GATEWAY_SERVER_PORT"],
      ["server.cors", ["https://a.example"], "file", "gateway.yaml:4"],
      ["heal", "off", "file", "gateway.yaml:5"],
      ["limits.tools", 7, "variable", "GATEWAY_LIMITS_TOOLS"]
    ])
    expect(setOnes(rowsOf(file, env, { port: 4 }))[1]).toEqual(["server.port", 4, "flag", "--port"])
  })

  it("origins: each setting has its description, and those with a fixed default have their value", () => {
    const rows = settingOrigins({ file: undefined, env: {}, flags: {} })
    expect(new Set(rows.map(({ source }) => source))).toEqual(new Set(["default"]))
    expect(rows.find(({ name }) => name === "server.port")).toEqual({
      name: "server.port",
      value: 8787,
      source: "default",
      from: undefined,
      description: "Port to listen on; 8787 unless set, 0 for any free one."
    })
    const limits = rows.filter(({ name }) => name.startsWith("limits."))
    expect(Object.fromEntries(limits.map(({ name, value }) => [name.slice(7), value]))).toEqual(defaultLimits)
  })

  it("origins: addresses are shown without name, password and query, and other secrets not at all (TH8)", () => {
    const canary = "canary0000"
    const file = [
      `redis: { url: "rediss://user:${canary}@cache:6380/2?password=${canary}" }`,
      `providers: [{ slug: google, provider: google, api_key: ${canary} }]`,
      `keys: [{ name: a, key: ${canary} }]`,
      'aliases: { quick: "@google/gemini-3.8-flash" }'
    ].join("\n")
    const rows = rowsOf(file, { DATABASE_URL: `postgres://user:${canary}@db/gateway?password=${canary}` })
    expect(setOnes(rows)).toEqual([
      ["store.url", "postgres://db/gateway", "variable", "DATABASE_URL"],
      ["redis.url", "rediss://cache:6380/2", "file", "gateway.yaml:1"],
      ["aliases", "1 entry", "file", "gateway.yaml:4"]
    ])
    expect(JSON.stringify(rows)).not.toContain(canary)
    const odd = rowsOf("store: { url: sqlite:here.db }", { REDIS_URL: canary })
    expect(setOnes(odd)).toEqual([
      ["store.url", "sqlite:here.db", "file", "gateway.yaml:1"],
      ["redis.url", "***", "variable", "REDIS_URL"]
    ])
  })

  it("origins: a reload changes what it takes over, and leaves what needs a restart", () => {
    const shown = shownSettings({ file: "gateway.yaml", origins: rowsOf("heal: off\ndefaults: { claude: a }") })
    shown.reload({ file: "gateway.yaml", origins: rowsOf("heal: on\ndefaults:\n  claude: b") })
    const read = Context.get(Effect.runSync(Effect.scoped(Layer.build(shown.layer))), ReadSettings)
    expect(setOnes(read().origins)).toEqual([
      ["heal", "off", "file", "gateway.yaml:1"],
      ["defaults.claude", "b", "file", "gateway.yaml:3"]
    ])
  })
})
