// The record verbs on keys, providers, configs and prompts, over a SQLite file.
// Must not use the admin API.
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeEach, describe, expect, it } from "vitest"
import { commandLine } from "../support/commandLine.ts"

const home = mkdtempSync(join(tmpdir(), "gateway-records-"))
afterAll(() => rmSync(home, { recursive: true }))

let folder = home
beforeEach(() => {
  folder = mkdtempSync(join(home, "run-"))
})

const write = (name: string, text: string): string => {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

const run = (words: ReadonlyArray<string>, env: Readonly<Record<string, string>> = {}) =>
  commandLine(words, { GATEWAY_DATA_DIR: folder, ...env })

/** The JSON output of a command that succeeds. */
const json = async (words: ReadonlyArray<string>, env?: Readonly<Record<string, string>>): Promise<unknown> => {
  const { code, err, out } = await run([...words, "--json"], env)
  expect([code, err]).toEqual([0, ""])
  return JSON.parse(out)
}

const store = { source: "store", created_at: expect.any(String), updated_at: expect.any(String) }

describe("keys", () => {
  it("keys: created once, listed without their text, changed, rotated and revoked", async () => {
    const made = await run([
      "keys",
      "create",
      "--name",
      "ci",
      "--provider",
      "google",
      "--model",
      "gemini-*",
      "--requests-per-minute",
      "600",
      "--budget-usd",
      "50",
      "--budget-per",
      "month",
      "--metadata",
      "team=a",
      "--metadata-locked",
      "--other-models",
      "translate"
    ])
    const [, id = ""] = /^made key (key_\w+), version 1; its text is shown only here\n$/.exec(made.err) ?? []
    expect([made.code, /^mgk_[A-Za-z0-9]{43}\n$/.test(made.out), id === ""]).toEqual([0, true, false])
    const key = {
      object: "key",
      id,
      name: "ci",
      providers: ["google"],
      models: ["gemini-*"],
      rate_limit: { requests_per_minute: 600 },
      budget: { usd: 50, per: "month" },
      metadata: { team: "a" },
      metadata_locked: true,
      other_models: { messages: "translate" },
      prefix: made.out.slice(0, 8),
      version: 1,
      ...store
    }
    expect(await json(["keys", "list"])).toEqual([key])
    expect((await run(["keys", "list"])).out.split("\n")[1]?.split(/ +/)).toEqual([
      id,
      "ci",
      key.prefix,
      "-",
      "google",
      "gemini-*",
      "active",
      "store"
    ])
    expect(await run(["keys", "update", id, "--tokens-per-minute", "9000", "--unset", "models"])).toEqual({
      code: 0,
      out: "",
      err: `changed key ${id}, version 2\n`
    })
    const { models: _, ...open } = key
    expect(await json(["keys", "get", id])).toEqual({
      ...open,
      rate_limit: { requests_per_minute: 600, tokens_per_minute: 9000 },
      version: 2
    })
    const rotated = await run(["keys", "rotate", id])
    expect([rotated.code, /^mgk_[A-Za-z0-9]{43}\n$/.test(rotated.out), rotated.out === made.out]).toEqual([
      0,
      true,
      false
    ])
    expect(await run(["keys", "revoke", id])).toEqual({ code: 0, out: "", err: `revoked key ${id}\n` })
    expect((await run(["keys", "list"])).out.split("\n")[1]?.split(/ +/)[6]).toBe("revoked")
    expect(await run(["keys", "rotate-secret"])).toMatchObject({ code: 0, err: "" })
  })

  it("keys rotate --grace-seconds: the old text is taken for that long, and a time out of its bounds is refused", async () => {
    const made = await run(["keys", "create", "--name", "ci"])
    const [, id = ""] = /^made key (key_\w+)/.exec(made.err) ?? []
    for (const seconds of ["0", "-1", "2592001"])
      expect(await run(["keys", "rotate", id, `--grace-seconds=${seconds}`])).toEqual({
        code: 2,
        out: "",
        err: "--grace-seconds  is a whole number from 1 to 2592000\n"
      })
    const startedMillis = Date.now()
    const rotated = (await json(["keys", "rotate", id, "--grace-seconds", "2592000"])) as Record<string, string>
    expect(rotated).toMatchObject({ id, version: 2, key: expect.stringMatching(/^mgk_[A-Za-z0-9]{43}$/) })
    const rotatedMillis = Date.parse(rotated["previous_until"] ?? "") - 2_592_000_000
    expect([rotatedMillis >= startedMillis, rotatedMillis <= Date.now()]).toEqual([true, true])
    expect(await json(["keys", "rotate", id])).not.toHaveProperty("previous_until")
  })

  it("keys: control and direction characters in names are escaped, in a list, one by one and as JSON", async () => {
    const name = "a\u001b[2J\u001b]0;x\u0007\nkey_1\u009b31m\u202e\u2066z\u200b"
    const escaped = "a\\u001b[2J\\u001b]0;x\\u0007\\u000akey_1\\u009b31m\\u202e\\u2066z\\u200b"
    const made = await run(["keys", "create", "--name", name, "--metadata", `x=${name}`])
    const [, id = ""] = /^made key (key_\w+)/.exec(made.err) ?? []
    const row = (await run(["keys", "list"])).out.split("\n").find((line) => line.startsWith(id))
    expect(row?.split(/ {2,}/)).toEqual([id, escaped, made.out.slice(0, 8), "-", "-", "-", "active", "store"])
    const { out } = await run(["keys", "get", id])
    expect(
      out
        .split("\n")
        .find((line) => line.startsWith("name"))
        ?.split(/ {2,}/)
    ).toEqual(["name", escaped])
    const shown = await run(["keys", "get", id, "--json"])
    // oxlint-disable-next-line no-control-regex
    expect([
      /[\p{Cf}\u2028\u2029\u0000-\u0009\u000b-\u001f\u007f-\u009f]/u.test(out + shown.out),
      JSON.parse(shown.out).name,
      JSON.parse(shown.out).metadata
    ]).toEqual([false, name, { x: name }])
    await run(["keys", "revoke", id])
  })

  it("keys: may name some configs and prompts only", async () => {
    await run(["configs", "create", "narrow", "--file", write("narrow.yaml", 'provider: "@google"\n')])
    const made = await run([
      "keys",
      "create",
      "--name",
      "tenant",
      "--allow-config",
      "narrow",
      "--allow-prompt",
      "team-*"
    ])
    const [, id = ""] = /^made key (key_\w+),/.exec(made.err) ?? []
    expect(await json(["keys", "get", id])).toMatchObject({ configs: ["narrow"], prompts: ["team-*"] })
    expect((await run(["keys", "update", id, "--allow-config", "narow", "--allow-prompt", "tone"])).err).toBe(
      '--allow-config  "narow" is no config of this configuration; did you mean narrow?\n--allow-prompt  "tone" is no prompt of this configuration\n'
    )
  })

  it("keys: every fault of the written resource is a line, exit 2", async () => {
    expect(
      await run(["keys", "create", "--name", "ci", "--provider", "gogle", "--expires-at", "soon", "--metadata-locked"])
    ).toEqual({
      code: 2,
      out: "",
      err: '--metadata-locked  locks nothing: the key has no metadata\n--expires-at  "soon" is not a moment such as 2027-01-31T12:00:00Z\n--provider  "gogle" is no provider of this configuration; did you mean google?\n'
    })
  })
})

describe("providers", () => {
  it("providers: read secrets from files and variables, and never show them", async () => {
    expect(
      await run(["providers", "create", "prod", "--provider", "google", "--api-key-env", "MY_KEY"], {
        MY_KEY: "sekret-1"
      })
    ).toEqual({ code: 0, out: "", err: "made provider prod, version 1\n" })
    expect(
      await run([
        "providers",
        "update",
        "prod",
        "--api-key-file",
        write("key.txt", "sekret-2\n"),
        "--model",
        "gemini-2.5-*"
      ])
    ).toEqual({ code: 0, out: "", err: "changed provider prod, version 2\n" })
    const shown = await json(["providers", "get", "prod"])
    expect([shown, JSON.stringify(shown).includes("sekret")]).toEqual([
      {
        object: "provider",
        slug: "prod",
        provider: "google",
        models: ["gemini-2.5-*"],
        credential: { type: "api_key", fingerprint: expect.any(String) },
        version: 2,
        ...store
      },
      false
    ])
    expect(await run(["providers", "create", "none", "--provider", "google", "--api-key-env", "GONE"])).toEqual({
      code: 2,
      out: "",
      err: "--api-key-env  the environment variable GONE is not set\n"
    })
    expect(await run(["providers", "delete", "prod"])).toEqual({ code: 0, out: "", err: "deleted provider prod\n" })
    expect(await run(["providers", "get", "prod"])).toMatchObject({ code: 1, out: "" })
    expect(statSync(join(folder, "secret.key")).mode & 0o777).toBe(0o600)
  })

  it("providers: report what requests may name under their credential", async () => {
    const flags = [
      "--allow-project",
      "other-project",
      "--allow-region",
      "us",
      "--allow-region",
      "europe-*",
      "--gcs-read",
      "gs://in/a",
      "--gcs-read",
      "gs://in/b",
      "--gcs-write",
      "gs://out"
    ]
    expect((await run(["providers", "create", "lists", "--provider", "vertex-ai", ...flags])).code).toBe(0)
    const lists = {
      projects: ["other-project"],
      regions: ["us", "europe-*"],
      gcs: { read: ["gs://in/a", "gs://in/b"], write: ["gs://out"] }
    }
    expect(await json(["providers", "get", "lists"])).toMatchObject(lists)
    await run(["providers", "update", "lists", "--gcs-write", "gs://elsewhere"])
    expect(await json(["providers", "get", "lists"])).toMatchObject({
      ...lists,
      gcs: { ...lists.gcs, write: ["gs://elsewhere"] }
    })
  })

  it("providers: those of the configuration are listed next to those of the store, and cannot be changed", async () => {
    const config = write("gateway.yaml", "providers: [{ slug: mine, provider: google, api_key: sekret }]\n")
    expect(
      (await run(["providers", "list", "--config", config])).out.split("\n").map((line) => line.split(/ +/))
    ).toEqual([
      ["slug", "provider", "project", "region", "credential", "source"],
      ["mine", "google", "-", "-", "api_key", "file"],
      [""]
    ])
    expect(await run(["providers", "delete", "mine", "--config", config])).toEqual({
      code: 1,
      out: "",
      err: 'The provider "mine" is declared under "providers" of the configuration file, or by the environment; change it there.\n'
    })
  })
})

describe("configs and prompts", () => {
  it("configs and prompts: come from files, and flags win over them", async () => {
    const file = write(
      "fast.yaml",
      'strategy: { mode: fallback }\ntargets: [{ provider: "@google" }, { provider: "@vertex-ai" }]\n'
    )
    expect(await run(["configs", "create", "fast", "--file", file, "--name", "Fast"])).toEqual({
      code: 0,
      out: "",
      err: "made config fast, version 1\n"
    })
    const config = { strategy: { mode: "fallback" }, targets: [{ provider: "@google" }, { provider: "@vertex-ai" }] }
    expect(await json(["configs", "get", "fast"])).toEqual({
      object: "config",
      id: "fast",
      name: "Fast",
      config,
      version: 1,
      versions: [1],
      ...store
    })
    expect(
      await run(["configs", "update", "fast", "--file", write("fast.json", JSON.stringify({ provider: "@google" }))])
    ).toEqual({ code: 0, out: "", err: "changed config fast, version 2\n" })
    expect(
      await run([
        "configs",
        "create",
        "slow",
        "--file",
        write("slow.yaml", 'provider: "@gone"\nretry: { attempt: 3 }\n')
      ])
    ).toMatchObject({ code: 2, out: "" })
    const prompt = write(
      "greet.yaml",
      'model: "@google/gemini-2.5-flash"\nmessages: [{ role: user, content: "Hello {{name}}" }]\n'
    )
    expect(await run(["prompts", "create", "greet", "--file", prompt])).toEqual({
      code: 0,
      out: "",
      err: "made prompt greet, version 1\n"
    })
    expect(
      await run(["prompts", "update", "greet", "--model", "@google/gemini-2.5-pro", "--label", "production=1"])
    ).toEqual({ code: 0, out: "", err: "changed prompt greet, version 2\n" })
    expect(await run(["prompts", "update", "greet", "--label", "staging=2"])).toEqual({
      code: 0,
      out: "",
      err: "changed prompt greet, version 3\n"
    })
    expect((await run(["prompts", "list"])).out.split("\n")[1]?.split(/ +/)).toEqual([
      "greet",
      "-",
      "@google/gemini-2.5-pro",
      "3",
      "production=1,staging=2",
      "store"
    ])
    expect(await json(["prompts", "get", "greet@1"])).toMatchObject({ model: "@google/gemini-2.5-flash", version: 1 })
  })

  it("configs and prompts: a missing or an existing one is reported with a fix", async () => {
    const file = write("fast.yaml", 'provider: "@google"\n')
    await run(["configs", "create", "fast", "--file", file])
    expect(await run(["configs", "create", "fast", "--file", file])).toEqual({
      code: 1,
      out: "",
      err: 'There is a config "fast" already; update it, or choose another id.\n'
    })
    expect(await run(["configs", "update", "fast"])).toEqual({
      code: 2,
      out: "",
      err: "nothing to change: give flags, --unset or --file\n"
    })
    expect(await json(["configs", "get", "fast"])).toMatchObject({ version: 1 })
    for (const [words, err] of [
      [["keys", "revoke", "ci"], "There is no such key; keys list shows them with their ids.\n"],
      [["providers", "get", "gone"], "There is no such provider; providers list shows them with their slugs.\n"],
      [
        ["prompts", "update", "gone", "--name", "x"],
        "There is no such prompt; prompts list shows them with their ids.\n"
      ]
    ] as const)
      expect(await run(words)).toEqual({ code: 1, out: "", err })
  })

  it("configs and prompts: need a store that outlives the command", async () => {
    expect(await run(["configs", "list"], { GATEWAY_STORE_URL: "sqlite::memory:" })).toEqual({
      code: 2,
      out: "",
      err: "the store of this configuration is the memory of the gateway; use its admin API, or set store.url\n"
    })
  })
})

it("keys: a fault names the flag that sets the field, and the field of a file", async () => {
  const refused = async (...words: ReadonlyArray<string>) => (await run(["keys", "create", ...words])).err
  expect([
    await refused("--name", "x", "--budget-usd", "5"),
    await refused("--name", "x", "--budget-per", "day"),
    await refused("--name", "x", "--requests-per-minute", "9", "--requests-burst", "0", "--tokens-burst", "0"),
    await refused("--budget-usd", "-1", "--budget-per", "day", "--scope", "root"),
    await refused("--file", write("key.yaml", "name: x\nbudget: { usd: 5 }\n"))
  ]).toEqual([
    "--budget-per  is missing\n",
    "--budget-usd  is missing\n",
    "--requests-burst  expected a whole number from 1 to 2147483647\n--tokens-burst  expected a whole number from 1 to 2147483647\n",
    '--name  is missing\n--scope  "root" is not known here; known: inference, admin\n--budget-usd  expected US dollars from 0 to 1000000000\n',
    "budget.per  is missing\n"
  ])
})
