// `import`: configurations of LiteLLM and Portkey become configurations that `check` accepts and that serve requests.
// Must not call an upstream.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, describe, expect, it } from "vitest"
import { commandLine } from "../support/commandLine.ts"

const folder = mkdtempSync(join(tmpdir(), "gateway-import-"))
afterAll(() => rmSync(folder, { recursive: true }))

const write = (name: string, text: string): string => {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

const env = {
  GEMINI_API_KEY: "AIza-one",
  OTHER_KEY: "AIza-two",
  MASTER_KEY: "sk-master-key",
  GOOGLE_PROD_API_KEY: "AIza-three",
  VERTEX_EU_PROJECT: "project-one",
  GATEWAY_DATA_DIR: folder
}

/** The printed settings, after `check` accepted them. */
const imported = async (
  from: string,
  file: string,
  more: Readonly<Record<string, string>> = {}
): Promise<readonly [settings: unknown, left: string]> => {
  const { code, err, out } = await commandLine(["import", from, file])
  expect(code).toBe(0)
  const checked = await commandLine(["check", "--config", write("gateway.json", out)], { ...env, ...more })
  expect([checked.code, checked.err]).toEqual([0, ""])
  return [JSON.parse(out), err]
}

const litellm = `
model_list:
  - model_name: fast
    litellm_params: { model: gemini/gemini-3.8-flash, api_key: os.environ/GEMINI_API_KEY, weight: 3 }
  - model_name: fast
    litellm_params: { model: gemini/gemini-3.8-flash, api_key: os.environ/OTHER_KEY, weight: 1, rpm: 60 }
  - model_name: smart
    litellm_params: { model: vertex_ai/claude-sonnet-5-5, vertex_project: project-one, vertex_location: europe-west1 }
  - model_name: gpt-4o
    litellm_params: { model: openai/gpt-4o, api_key: os.environ/OPENAI_API_KEY }
  - model_name: "gemini/*"
    litellm_params: { model: "gemini/*", api_key: os.environ/GEMINI_API_KEY }
  - model_name: cheap
    litellm_params: { model: gemini/gemini-3.5-flash-lite, api_key: os.environ/GEMINI_API_KEY }
litellm_settings:
  drop_params: true
  num_retries: 3
  request_timeout: 20
  max_budget: 100
  budget_duration: 30d
  fallbacks: [{ fast: [smart] }, { smart: [gpt-4o] }]
  success_callback: [langfuse]
router_settings:
  redis_host: 127.0.0.1
  redis_port: 6379
general_settings:
  master_key: os.environ/MASTER_KEY
  database_url: postgresql://u:p@h/d
`

describe("import litellm", () => {
  it("import litellm: groups, fallbacks, retries, key and budget become a configuration", async () => {
    const [settings, left] = await imported("litellm", write("config.yaml", litellm))
    const flash = { override_params: { model: "gemini-3.8-flash" } }
    expect(settings).toEqual({
      providers: [
        { slug: "google", provider: "google", api_key: "${GEMINI_API_KEY}" },
        { slug: "google-2", provider: "google", api_key: "${OTHER_KEY}" },
        {
          slug: "vertex-ai",
          provider: "vertex-ai",
          project_id: "project-one",
          region: "europe-west1",
          credentials: { type: "application_default" }
        }
      ],
      aliases: {
        fast: "@google/gemini-3.8-flash",
        smart: "@vertex-ai/anthropic.claude-sonnet-5-5",
        cheap: "@google/gemini-3.5-flash-lite"
      },
      configs: {
        litellm: {
          retry: { attempts: 3 },
          request_timeout: 20_000,
          strategy: {
            mode: "conditional",
            conditions: [{ query: { "params.model": { $eq: "fast" } }, then: "fast" }],
            default: "as asked"
          },
          targets: [
            {
              name: "fast",
              strategy: { mode: "fallback" },
              targets: [
                {
                  strategy: { mode: "loadbalance" },
                  targets: [
                    { provider: "google", ...flash, weight: 3 },
                    { provider: "google-2", ...flash, weight: 1 }
                  ]
                },
                { provider: "vertex-ai", override_params: { model: "anthropic.claude-sonnet-5-5" } }
              ]
            },
            { name: "as asked", passthrough: true }
          ]
        }
      },
      keys: [
        {
          name: "master",
          key: "${MASTER_KEY}",
          scopes: ["inference", "admin"],
          config: "litellm",
          budget: { usd: 100, per: "month" }
        }
      ],
      redis: { url: "redis://127.0.0.1:6379" }
    })
    expect(left).toBe(
      [
        "left out:",
        "  model_list[1].litellm_params.rpm  is a weight here; limits belong to keys",
        '  model_list[3].litellm_params  the provider "openai" is not one of this gateway, which has Vertex AI and the Gemini API',
        "  model_list[4]  clients write the model as @google/NAME instead",
        "  litellm_settings.fallbacks[1]  there is no model gpt-4o here",
        "  general_settings.master_key  is here for requests and the admin API; virtual keys are made again with `keys create`",
        "  model_list  a further key needs `keys create --config litellm` for more than the first deployment",
        "  general_settings.database_url  has no counterpart here",
        "  litellm_settings.success_callback  has no counterpart here",
        ""
      ].join("\n")
    )
  })
})

describe("import litellm: what a deployment may hold", () => {
  it("import litellm: both spellings, named credentials, endpoints, orders, defaults and further names (W1, RB39)", async () => {
    const file = `
credential_list:
  - credential_name: eu
    credential_values: { vertex_project: project-one, vertex_location: europe-west4 }
model_list:
  - model_name: tuned
    litellm_params: { model: vertex_ai/gemini/77, litellm_credential_name: eu, temperature: 0, timeout: 30 }
    model_info: { base_model: vertex_ai/gemini-2.5-flash, mode: chat }
  - model_name: two
    litellm_params: { model: gemini-3.8-flash, custom_llm_provider: vertex_ai, vertex_ai_project: project-one, vertex_ai_location: eu, order: 2 }
  - model_name: two
    litellm_params: { model: gemini/gemini-3.8-flash, order: 1, max_retries: 1 }
  - model_name: bare
    litellm_params: { model: vertex_ai/gemini-3.8-flash }
router_settings:
  model_group_alias: { gpt-4o: two, gone: absent }
  default_fallbacks: [bare, absent]
`
    const [settings, left] = await imported("litellm", write("more.yaml", file), { VERTEXAI_PROJECT: "project-two" })
    const credentials = { type: "application_default" }
    const bare = { provider: "vertex-ai-3", override_params: { model: "gemini-3.8-flash" } }
    const two = {
      strategy: { mode: "fallback" },
      targets: [
        { provider: "google", override_params: { model: "gemini-3.8-flash" }, retry: { attempts: 1 } },
        { provider: "vertex-ai-2", override_params: { model: "gemini-3.8-flash" } }
      ]
    }
    const tuned = {
      provider: "vertex-ai",
      override_params: { model: "endpoints.77" },
      request_timeout: 30_000,
      default_params: { temperature: 0 }
    }
    const withFallback = (name: string, target: object) => ({
      name,
      strategy: { mode: "fallback" },
      targets: [target, bare]
    })
    expect(settings).toEqual({
      providers: [
        {
          slug: "vertex-ai",
          provider: "vertex-ai",
          project_id: "project-one",
          region: "europe-west4",
          credentials,
          endpoints: { "77": { dialect: "gemini" } }
        },
        { slug: "vertex-ai-2", provider: "vertex-ai", project_id: "project-one", region: "eu", credentials },
        { slug: "google", provider: "google", api_key: "${GEMINI_API_KEY}" },
        { slug: "vertex-ai-3", provider: "vertex-ai", project_id: "${VERTEXAI_PROJECT}", region: "global", credentials }
      ],
      models: { "77": { inherits: "gemini-2.5-flash" } },
      aliases: {
        tuned: "@vertex-ai/endpoints.77",
        two: "@vertex-ai-2/gemini-3.8-flash",
        bare: "@vertex-ai-3/gemini-3.8-flash",
        "gpt-4o": "@vertex-ai-2/gemini-3.8-flash"
      },
      configs: {
        litellm: {
          strategy: {
            mode: "conditional",
            conditions: ["tuned", "two", "gpt-4o"].map((name) => ({
              query: { "params.model": { $eq: name } },
              then: name
            })),
            default: "as asked"
          },
          targets: [
            withFallback("tuned", tuned),
            withFallback("two", two),
            withFallback("gpt-4o", two),
            { name: "as asked", passthrough: true }
          ]
        }
      }
    })
    expect(left.split("\n").map((line) => line.trim().split("  ")[0])).toEqual([
      "left out:",
      "model_list[0].model_info.mode",
      "model_list[3].litellm_params.vertex_location",
      "router_settings.model_group_alias.gone",
      "router_settings.fallbacks[0]",
      "model_list",
      ""
    ])
  })
})

describe("import portkey", () => {
  const config = {
    strategy: { mode: "fallback", on_status_codes: [429] },
    cache: { mode: "semantic", max_age: 60 },
    input_guardrails: ["g"],
    retry: { attempts: 2 },
    targets: [
      { virtual_key: "google-prod", override_params: { model: "gemini-3.8-flash" }, forward_headers: ["x"] },
      { provider: "@vertex-eu", override_params: { model: "anthropic.claude-sonnet-5-5" } }
    ]
  }
  const kept = {
    strategy: { mode: "fallback", on_status_codes: [429] },
    retry: { attempts: 2 },
    targets: [
      { virtual_key: "google-prod", override_params: { model: "gemini-3.8-flash" } },
      { provider: "@vertex-eu", override_params: { model: "anthropic.claude-sonnet-5-5" } }
    ]
  }
  const providers = [
    { slug: "google-prod", provider: "google", api_key: "${GOOGLE_PROD_API_KEY}" },
    {
      slug: "vertex-eu",
      provider: "vertex-ai",
      project_id: "${VERTEX_EU_PROJECT}",
      region: "global",
      credentials: { type: "application_default" }
    }
  ]

  it("import portkey: a config keeps what works here, and names the rest", async () => {
    const [settings, left] = await imported("portkey", write("one.json", JSON.stringify(config)))
    expect(settings).toEqual({ providers, configs: { imported: kept } })
    expect(left.split("\n").map((line) => line.trim().split("  ")[0])).toEqual([
      "left out:",
      "configs.imported.input_guardrails",
      "configs.imported.cache.mode",
      "configs.imported.targets[0].forward_headers",
      ""
    ])
  })

  it("import portkey: an export of several configs keeps their ids", async () => {
    const file = JSON.stringify({
      data: [
        { slug: "pc-a b", config: JSON.stringify(config) },
        { slug: "bad", config: "{" }
      ]
    })
    const [settings, left] = await imported("portkey", write("many.json", file))
    expect(settings).toEqual({ providers, configs: { "pc-a-b": kept } })
    expect(left.split("\n").at(-2)).toBe("  configs.bad  expected a mapping of keys")
  })

  it("import: a file that cannot be read is named", async () => {
    const absent = await commandLine(["import", "portkey", join(folder, "absent.json")])
    const broken = await commandLine(["import", "litellm", write("broken.yaml", "a: [")])
    expect([absent.code, absent.err, broken.code]).toEqual([1, `${join(folder, "absent.json")} cannot be read\n`, 2])
  })

  it("import portkey: an account of another vendor is left out, with its targets (W1)", async () => {
    const mixed = {
      strategy: { mode: "loadbalance" },
      targets: [
        { virtual_key: "openai-prod", override_params: { model: "gpt-4o" } },
        { virtual_key: "anthropic", override_params: { model: "claude-sonnet-4-6" } },
        { provider: "@google-prod", override_params: { model: "gemini-3.8-flash" } }
      ]
    }
    const [settings, left] = await imported(
      "portkey",
      write("mixed.json", JSON.stringify({ mixed, bare: { provider: "openai" } }))
    )
    expect(settings).toEqual({
      providers: [{ slug: "google-prod", provider: "google", api_key: "${GOOGLE_PROD_API_KEY}" }],
      configs: { mixed: { ...mixed, targets: mixed.targets.slice(2) } }
    })
    expect(left).toBe(
      [
        "left out:",
        ...["openai-prod", "anthropic"].map(
          (slug) => `  configs.mixed  nothing shows that "${slug}" is an account of Google's; its targets are left out`
        ),
        '  configs.bare  nothing shows that "openai" is an account of Google\'s; its targets are left out',
        ""
      ].join("\n")
    )
  })

  it("import: a file that holds nothing to import is refused (W1)", async () => {
    const fault = async (from: string, name: string, text: string) => {
      const { code, err } = await commandLine(["import", from, write(name, text)])
      return [code, err.replace(`${folder}/`, "")]
    }
    const noLitellm = "is no configuration of LiteLLM: it has no model_list"
    const noPortkey = "holds no config of Portkey: one, a list, or a mapping by id"
    expect([
      await fault("litellm", "empty.yaml", ""),
      await fault("litellm", "comment.yaml", "# nothing\n"),
      await fault("litellm", "list.yaml", "- model_name: fast"),
      await fault("litellm", "other.yaml", "models: []"),
      await fault("portkey", "empty.json", ""),
      await fault("portkey", "text.yaml", "config"),
      await fault("portkey", "none.json", "[]")
    ]).toEqual([
      [2, "empty.yaml  is empty\n"],
      [2, "comment.yaml  is empty\n"],
      [2, `list.yaml  ${noLitellm}\n`],
      [2, `other.yaml  ${noLitellm}\n`],
      [2, "empty.json  not JSON\n"],
      [2, `text.yaml  ${noPortkey}\n`],
      [2, `none.json  ${noPortkey}\n`]
    ])
  })

  it.each([
    ["import", "litellm"],
    ["import", "portkey"],
    ["check", "--config"]
  ] as const)("%s %s: aliases that stand for billions of values are refused (TH14b)", async (...verb) => {
    const levels = Array.from({ length: 20 }, (_, at) => `a${at + 1}: &a${at + 1} [${Array(10).fill(`*a${at}`)}]`)
    const file = write("laughs.yaml", ["a0: &a0 [1]", ...levels].join("\n"))
    const { code, err } = await commandLine([...verb, file])
    const message =
      "its aliases stand for more than 200000 values; use fewer aliases (*name, <<), or write out the values that are needed"
    expect([code, err]).toEqual([2, `${file}  ${verb[0] === "check" ? "cannot be read: " : ""}${message}\n`])
  })
})
