// `--json` of the commands that answer, and the split of stdout and stderr.
// Must not check human-readable output.
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, expect, it } from "vitest"
import { commandLine } from "../support/commandLine.ts"
import { startTestGateway } from "../support/TestGateway.ts"

const folder = mkdtempSync(join(tmpdir(), "gateway-json-"))
afterAll(() => rmSync(folder, { recursive: true }))

const written = (text: string): string => {
  const file = join(folder, "gateway.yaml")
  writeFileSync(file, text)
  return file
}

it("check --json prints a valid configuration by names", async () => {
  const file = written(
    'keys: [{ name: ci, key: mgk_sekret0 }]\nconfigs: { fast: { provider: "@google" } }\nprompts: [{ id: tone, text: Be brief. }]\n'
  )
  const { code, err, out } = await commandLine(["check", "--config", file, "--json"], {
    GEMINI_API_KEY: "sekret",
    GOOGLE_CLOUD_PROJECT: "my-project"
  })
  expect([code, err, JSON.parse(out)]).toEqual([
    0,
    "",
    {
      ok: true,
      file,
      server: { host: "127.0.0.1", port: 8787 },
      providers: [
        { slug: "vertex-ai", provider: "vertex-ai", credential: null, project_id: "my-project" },
        { slug: "google", provider: "google", credential: "API key" }
      ],
      keys: ["ci"],
      configs: ["fast"],
      prompts: ["tone"],
      warnings: [],
      models: []
    }
  ])
})

it("check warns of accounts whose stored credential reads every object, on exit 0", async () => {
  const account = (slug: string, more = "") =>
    `{ slug: ${slug}, provider: vertex-ai, project_id: my-project, region: us, credentials: { type: application_default }${more} }`
  const file = written(
    `providers:\n${["open", "closed"].map((slug) => `  - ${account(slug, slug === "open" ? "" : ", gcs: { read: [] }")}\n`).join("")}`
  )
  const warning =
    "@open has no gcs.read: requests may read every gs:// object that its credential can read; list the prefixes they need, or [] for none"
  const said = await commandLine(["check", "--config", file])
  expect([said.code, said.out.split("\n").filter((line) => line.startsWith("warn"))]).toEqual([0, [`warn  ${warning}`]])
  const { out } = await commandLine(["check", "--config", file, "--json"])
  expect(JSON.parse(out).warnings).toEqual([warning])
})

it("check warns of a shared database whose master key is a file (R406)", async () => {
  const file = written("store: { url: postgres://db.invalid/gateway }\n")
  const env = { GATEWAY_DATA_DIR: folder }
  const warningsOf = async (more: Readonly<Record<string, string>>) =>
    JSON.parse((await commandLine(["check", "--config", file, "--json"], { ...env, ...more })).out).warnings
  expect(await warningsOf({})).toEqual([
    `store.url is a database that several gateways can share, and its master key is the file ${folder}/secret.key: a gateway without this file opens neither the store nor reasoning that another sealed; set GATEWAY_SECRET_KEY to one key for all`
  ])
  expect(await warningsOf({ GATEWAY_SECRET_KEY: Buffer.alloc(32, 7).toString("base64") })).toEqual([])
})

it("check --json prints the faults, and exits with 2", async () => {
  const file = written("serfer: {}\n")
  const { code, err, out } = await commandLine(["check", "--config", file, "--json"])
  expect([code, err, JSON.parse(out)]).toEqual([
    2,
    "",
    { ok: false, faults: [`${file}:1:1  serfer  unknown key; did you mean server?`] }
  ])
})

it("settings: a secret, and any variable, may be in a file that a variable names", async () => {
  const file = written('keys: [{ name: ci, key: "${CI_KEY}" }]\n')
  const [keyFile, apiKeyFile] = [join(folder, "ci.key"), join(folder, "api.key")]
  writeFileSync(keyFile, "mgk_sekret0\n")
  writeFileSync(apiKeyFile, "sekret\r\n")
  const sound = await commandLine(["check", "--config", file], {
    CI_KEY_FILE: keyFile,
    GEMINI_API_KEY_FILE: apiKeyFile
  })
  expect([sound.code, sound.out.includes("@google  API key"), sound.out.includes("sekret")]).toEqual([0, true, false])
  const absent = await commandLine(["check", "--config", file], {
    CI_KEY: "mgk_set_itself",
    CI_KEY_FILE: "gone",
    GEMINI_API_KEY_FILE: "gone"
  })
  expect(absent).toEqual({ code: 2, out: "", err: "GEMINI_API_KEY_FILE  the file does not exist\n" })
})

it("health --json prints the gateway's own answer", async () => {
  const gateway = await startTestGateway()
  const { code, err, out } = await commandLine(["health", "--url", gateway.url, "--json"])
  await gateway.close()
  expect([code, err, JSON.parse(out)]).toMatchObject([0, "", { status: "ok" }])
})

it("commands that change the store answer with JSON on stdout", async () => {
  const data = mkdtempSync(join(folder, "data-"))
  const json = async (...words: ReadonlyArray<string>): Promise<unknown> => {
    const { code, err, out } = await commandLine([...words, "--json"], { GATEWAY_DATA_DIR: data })
    expect([words, code, err]).toEqual([words, 0, ""])
    return JSON.parse(out)
  }
  const [copy, database] = [join(data, "copy.db"), join(data, "gateway.db")]
  const store = `sqlite:${database}`
  const plain = await commandLine(["migrate"], { GATEWAY_DATA_DIR: mkdtempSync(join(folder, "data-")) })
  expect(await json("migrate")).toEqual({
    store,
    migrations: [...plain.out.matchAll(/(\d+) (\w+)(?=,|\n)/g)].map(([, id, name]) => ({ id: Number(id), name }))
  })
  expect(await json("migrate")).toEqual({ store, migrations: [] })
  await json("providers", "create", "own", "--provider", "google")
  const { id } = (await json("keys", "create", "--name", "ci")) as { readonly id: string }
  expect(await json("keys", "rotate-secret")).toEqual({ store, records: 0, keys_retired: 1, broken: [] })
  expect(await json("backup", copy)).toEqual({
    store,
    file: copy,
    bytes: statSync(copy).size,
    master_key: `the key file ${join(data, "secret.key")}`
  })
  expect(await json("providers", "delete", "own")).toEqual({ slug: "own", deleted: true })
  expect(await json("keys", "revoke", id)).toEqual({ id, revoked: true })
  const restored = await json("restore", copy)
  const replaced = join(data, readdirSync(data).find((name) => name.startsWith("gateway.db.before-")) ?? "")
  expect(restored).toEqual({ store, file: copy, replaced })
  rmSync(database)
  expect(await json("restore", copy)).toEqual({ store, file: copy, replaced: null })
})

it("import --json has the settings, and what it left out, in one answer", async () => {
  const file = join(folder, "litellm.yaml")
  writeFileSync(file, "model_list: []\nlitellm_settings: { success_callback: [langfuse] }\n")
  const { code, err, out } = await commandLine(["import", "litellm", file, "--json"])
  const plain = await commandLine(["import", "litellm", file])
  expect([code, err, JSON.parse(out)]).toEqual([
    0,
    "",
    {
      settings: JSON.parse(plain.out),
      left_out: [...plain.err.matchAll(/^ {2}(\S+) {2}(.*)$/gm)].map(([, path, why]) => ({ path, why }))
    }
  ])
})

it.each(["bash", "zsh", "fish"])("completions for %s name every verb", async (shell) => {
  const { code, out } = await commandLine(["--completions", shell])
  expect([
    code,
    ["serve", "demo", "check", "doctor", "explain", "health"].filter((verb) => !out.includes(verb))
  ]).toEqual([0, []])
})
