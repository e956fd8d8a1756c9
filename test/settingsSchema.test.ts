// Tests the JSON Schema of the configuration file against its reader, on every example and on typical slips.
// Must not state a key of its own.
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { Ajv2020 } from "ajv/dist/2020.js"
import * as Result from "effect/Result"
import { expect, it } from "vitest"
import { readSettings } from "../src/cli/settings/readSettings.ts"
import { parseSettingsText } from "../src/cli/settings/SettingsText.ts"
import type { Json } from "../src/domain/text/json.ts"
import { listedVariables } from "./support/environmentPage.ts"
import { settingsVariables } from "./support/settingsVariables.ts"
import { settingsSchema } from "./support/settingsSchema.ts"

const root = fileURLToPath(new URL("../", import.meta.url))
const fits = new Ajv2020({ strict: false }).compile<unknown>(settingsSchema)

/** Yaml blocks of a page that are a whole configuration, `${NAME}` and all. */
const examples = (path: string): ReadonlyArray<Json> =>
  [...readFileSync(join(root, path), "utf8").matchAll(/^```yaml\n([\s\S]*?)^```/gm)].map(
    ([, text = ""]) => Result.getOrThrow(parseSettingsText("gateway.yaml", text)).value
  )

it.each(["README.md", "docs/client.md", "docs/configuration.md", "docs/prompts.md", "docs/settings.md"])(
  "settings schema: accepts the examples of %s",
  (path) => {
    expect(examples(path).length).toBeGreaterThan(0)
    expect(examples(path).map((example) => [example, fits(example)])).toEqual(
      examples(path).map((example) => [example, true])
    )
  }
)

const key = "mgk_0123456789abcdef"
const sound: ReadonlyArray<Json> = [
  null,
  {},
  { server: { port: 0, admin_port: 9090, cors: ["*"] }, limits: { bodyBytes: 1 } },
  {
    providers: [
      {
        slug: "v",
        provider: "vertex-ai",
        project_id: "my-project",
        region: "us",
        credentials: { type: "application_default" },
        endpoints: { "my-llm": { dialect: "openai" } }
      }
    ]
  },
  { keys: [{ name: "ci", key, budget: { usd: 0.5, per: "day" }, scopes: ["admin"], metadata: { team: "search" } }] },
  {
    configs: {
      fast: {
        strategy: { mode: "fallback" },
        targets: [
          { provider: "google", override_params: { model: "gemini-2.5-flash" } },
          { strategy: { mode: "single" }, targets: [{ provider: "google" }] }
        ]
      }
    }
  },
  {
    prompts: [{ id: "tone", text: "Be brief.", labels: { production: 1 } }],
    prices: { "my-llm": { input: 0 }, "my-llm-2": [{ input: 1 }, { from: "2026-12-01", input: 2 }] },
    log: { level: "warn" }
  }
]
const wrong: ReadonlyArray<Json> = [
  [],
  { sever: {} },
  { server: { port: 65_536 } },
  { server: { port: 1.5 } },
  { server: { metrics_auth: "all" } },
  { providers: { slug: "v" } },
  { providers: [{ slug: "v" }] },
  { providers: [{ slug: "v", provider: "vertex-ai", credentials: { type: "access_token" } }] },
  { keys: [{ name: "", key }] },
  { keys: [{ name: "ci", key, budget: { usd: 1 } }] },
  { configs: { fast: { targets: [{ provider: "google", retry: { attempts: 6 } }] } } },
  { limits: { bodyBites: 1 } },
  { telemetry: { accounting: "no" } }
]

it("settings page: lists every variable that the sources read, and no other", () => {
  const folder = join(root, "src")
  const written = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts"))
    .flatMap((path) => [...readFileSync(join(folder, path), "utf8").matchAll(/\benv\["([A-Z_]+)"\]/g)])
    .map(([, name = ""]) => name)
  expect([...listedVariables(settingsVariables)].sort()).toEqual(
    [...new Set([...settingsVariables, ...written])].sort()
  )
})

it("settings schema: agrees with the reader", () => {
  const reads = (file: Json) =>
    Result.isSuccess(readSettings({ file, env: {}, flags: {}, fileText: () => Result.fail("no file") }))
  expect([...sound, ...wrong].map((one) => [one, fits(one), reads(one)])).toEqual([
    ...sound.map((one) => [one, true, true]),
    ...wrong.map((one) => [one, false, false])
  ])
})

it("settings schema: accepts a variable in place of a number, a list or a boolean", () => {
  expect(
    [
      {
        server: { port: "${PORT}", cors: "${ORIGINS}" },
        limits: { bodyBytes: "${MOST:-1}" },
        media: { fetch: "${FETCH}" }
      },
      { server: { port: "8787" } }
    ].map((one) => fits(one))
  ).toEqual([true, false])
})
