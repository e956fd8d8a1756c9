// An import is proven by a request to each of its names, through a gateway with the imported settings, to Google's simulator.
// Must not judge the text of the settings.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { afterAll, expect, it } from "vitest"
import { readSettings } from "../../src/cli/settings/readSettings.ts"
import { makeSimulator } from "../../src/demo/google/Simulator.ts"
import type { Json } from "../../src/domain/text/json.ts"
import { commandLine } from "../support/commandLine.ts"
import { geminiKey, serviceAccount, settingsFor, startGateway } from "../support/TestGateway.ts"

const folder = mkdtempSync(join(tmpdir(), "gateway-import-"))
afterAll(() => rmSync(folder, { recursive: true }))

const master = "sk-master-key"
const other = "mgk_other000000000000000000000000000"
const env = {
  GEMINI_API_KEY: geminiKey,
  OTHER_KEY: geminiKey,
  MASTER_KEY: master,
  VERTEX_PROJECT: "eu-project",
  VERTEXAI_PROJECT: "test-project",
  PROD_LLM_API_KEY: geminiKey,
  EU_PROJECT: "eu-project"
}

interface Asked {
  readonly name: string
  readonly key?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** For each request its status, and the paths that it made the gateway call. */
const served = async (
  from: string,
  file: string,
  asked: ReadonlyArray<Asked>
): Promise<ReadonlyArray<readonly [name: string, status: number, ...calls: ReadonlyArray<string>]>> => {
  const path = join(folder, from === "litellm" ? "config.yaml" : "configs.json")
  writeFileSync(path, file)
  const { out } = await commandLine(["import", from, path])
  const settings: Json = JSON.parse(out)
  const read = Result.getOrThrow(
    readSettings({ file: settings, env, flags: {}, fileText: () => Result.fail("no file") })
  )
  const simulator = makeSimulator({
    geminiApiKeys: [geminiKey],
    serviceAccounts: [serviceAccount],
    anyLocation: true,
    endpoints: { "5464397967697903616": { dialect: "openai" }, "77": { dialect: "gemini" } }
  })
  const upstream = await simulator.listen()
  const [google, vertex] = settingsFor(upstream.url).accounts
  const accounts = read.accounts.map((account) => ({
    ...account,
    base_url: upstream.url,
    token_url: vertex?.token_url,
    credentials: (account.kind === "google" ? google : vertex)?.credentials
  }))
  const keys = [...read.keys, { name: "other", key: Redacted.make(other) }]
  const { configs = {} } = read
  const gateway = await startGateway({ ...read, ...settingsFor(upstream.url, { keys, accounts, configs }) })
  const outcomes = []
  for (const { headers, key = master, name } of asked) {
    const before = simulator.calls.length
    const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${key}`, ...headers },
      body: JSON.stringify({ model: name, messages: [{ role: "user", content: "Hello" }], max_tokens: 20 })
    })
    await answer.text()
    const calls = simulator.calls.slice(before).map(({ url }) => url.split("?")[0] ?? url)
    outcomes.push([name, answer.status, ...calls.filter((url) => url !== "/token")] as const)
  }
  await gateway.close()
  await upstream.close()
  return outcomes
}

const project = (name: string, region: string) => `/v1/projects/${name}/locations/${region}`

const litellm = `
model_list:
  - model_name: fast
    litellm_params: { model: gemini/gemini-3.8-flash, api_key: os.environ/GEMINI_API_KEY, weight: 1 }
  - model_name: fast
    litellm_params: { model: vertex_ai/gemini-3.8-flash, vertex_project: test-project, vertex_location: us-central1, weight: 0 }
  - model_name: claude
    litellm_params: { model: vertex_ai/claude-sonnet-4-6, vertex_ai_project: os.environ/VERTEX_PROJECT, vertex_ai_location: europe-west1 }
  - model_name: llama
    litellm_params: { model: vertex_ai/openai/5464397967697903616, vertex_ai_project: test-project, vertex_ai_location: us-east1 }
  - model_name: tuned
    litellm_params: { model: vertex_ai/77, vertex_project: test-project, vertex_location: us-east1 }
    model_info: { base_model: vertex_ai/gemini-2.5-flash }
  - model_name: codestral
    litellm_params: { model: vertex_ai/codestral-2, vertex_project: test-project, vertex_location: us-central1 }
general_settings: { master_key: os.environ/MASTER_KEY }
`

it("import litellm: each name is served at the account and the place of its deployment (W1, RB39, RB41)", async () => {
  const names = ["fast", "claude", "llama", "tuned", "@google/gemini-3.8-flash", "codestral"]
  const gemini = "/v1beta/models/gemini-3.8-flash:generateContent"
  const claude = `${project("eu-project", "europe-west1")}/publishers/anthropic/models/claude-sonnet-4-6:rawPredict`
  const wanted = [
    ["fast", 200, gemini],
    ["claude", 200, claude],
    ["llama", 200, `${project("test-project", "us-east1")}/endpoints/5464397967697903616/chat/completions`],
    ["tuned", 200, `${project("test-project", "us-east1")}/endpoints/77:generateContent`],
    ["@google/gemini-3.8-flash", 200, gemini],
    ["codestral", 400]
  ]
  const asked = [master, other].flatMap((key) => names.map((name) => ({ name, key })))
  expect(await served("litellm", litellm, asked)).toStrictEqual([...wanted, ...wanted])
})

const portkey = {
  mixed: {
    strategy: { mode: "fallback" },
    targets: [
      { virtual_key: "openai-prod", override_params: { model: "gpt-4o" } },
      { provider: "@prod-llm", override_params: { model: "gemini-3.8-flash" } },
      { provider: "@claude-prod", override_params: { model: "claude-sonnet-4-6" } }
    ]
  },
  eu: { override_params: { model: "@eu/anthropic.claude-sonnet-4-6" } },
  elsewhere: { provider: "openai", override_params: { model: "gpt-4o" } }
}

it("import portkey: targets of Google's are served, and no key of another vendor goes to Google (W1)", async () => {
  const asked = ["mixed", "eu", "elsewhere"].map((id) => ({
    name: "any",
    key: other,
    headers: { "x-portkey-config": id }
  }))
  expect(await served("portkey", JSON.stringify(portkey), asked)).toStrictEqual([
    ["any", 200, "/v1beta/models/gemini-3.8-flash:generateContent"],
    ["any", 200, `${project("eu-project", "global")}/publishers/anthropic/models/claude-sonnet-4-6:rawPredict`],
    ["any", 404]
  ])
})
