// What `check` and `doctor` make of the models in a configuration: rows, warnings, exit codes.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, describe, expect, it } from "vitest"
import { makeSimulator } from "../../src/demo/google/Simulator.ts"
import { modelFindings } from "../../src/cli/doctor/Doctor.ts"
import type { Finding } from "../../src/cli/Output.ts"
import { explainModel, modelTable } from "../../src/domain/models/modelTable.ts"
import { geminiKey } from "../support/TestGateway.ts"
import { commandLine } from "../support/commandLine.ts"

const folder = mkdtempSync(join(tmpdir(), "gateway-models-"))
afterAll(() => rmSync(folder, { recursive: true }))

/** The rows of `check` about models, and the exit code. */
const check = async (models: ReadonlyArray<string>, ...words: ReadonlyArray<string>) => {
  const file = join(folder, "gateway.yaml")
  writeFileSync(
    file,
    `server: { port: 0 }\nproviders:\n  - { slug: v, provider: vertex-ai, models: ${JSON.stringify(models)} }\n`
  )
  const { code, out } = await commandLine(["check", "--config", file, ...words], { GATEWAY_DATA_DIR: folder })
  return { code, out, rows: out.split("\n").filter((line) => /^(error|warn|note) /.test(line)) }
}

const current = "gemini-3.8-flash"
const ended = "gemini-2.0-flash"
const kept = "imagen-3.0-generate-001"

describe("check", () => {
  it("current models pass, and an unknown one is a note (M-720)", async () => {
    expect(await check([current, "gemini-9-foo"])).toMatchObject({
      code: 0,
      rows: ["note  @v: gemini-9-foo is not a known model; it has the facts of gemini-4-argon"]
    })
  })

  it("a model that is shut down is an error and exit 2 (M-720)", async () => {
    expect(await check([current, ended])).toMatchObject({
      code: 2,
      rows: ["error @v: gemini-2.0-flash is shut down since 2026-06-01; its successor is gemini-3.5-flash"]
    })
  })

  it("a deprecated model is a warning, and exit 2 on demand (M-720)", async () => {
    const rows = [
      "warn  @v: imagen-3.0-generate-001 is shut down for new projects; its successor is gemini-3.1-flash-image"
    ]
    expect(await check([kept])).toMatchObject({ code: 0, rows })
    expect(await check([kept], "--fail-on", "deprecated")).toMatchObject({ code: 2, rows })
    expect(await check([current], "--fail-on", "deprecated")).toMatchObject({ code: 0, rows: [] })
  })

  it("the JSON has each model with its kind, and reports whether the configuration is sound (M-720)", async () => {
    const { code, out } = await check([kept, ended], "--json")
    const { models, ok } = JSON.parse(out)
    expect([code, ok, models]).toEqual([
      2,
      false,
      [
        {
          at: "@v",
          kind: "deprecated",
          message: "imagen-3.0-generate-001 is shut down for new projects; its successor is gemini-3.1-flash-image"
        },
        {
          at: "@v",
          kind: "shut_down",
          message: "gemini-2.0-flash is shut down since 2026-06-01; its successor is gemini-3.5-flash"
        }
      ]
    ])
  })
})

describe("doctor", () => {
  const nothing = { accounts: [], keys: [] }
  it("warns of facts that are older than 90 days (M-104)", () => {
    expect(["2027-02-24", "2027-02-25"].map((day) => modelFindings(nothing, day))).toEqual([
      [],
      [
        {
          check: "models",
          status: "warn",
          detail: "the facts about models are of 2026-11-26",
          todo: "install a newer version"
        }
      ]
    ])
  })

  it("names models of the store's accounts and keys, but of no revoked key (M-720)", async () => {
    const data = mkdtempSync(join(folder, "data-"))
    const env = { GATEWAY_DATA_DIR: data, MY_KEY: geminiKey }
    // Port 9 is closed on every machine: no provider is reached.
    const to = ["--api-key-env", "MY_KEY", "--base-url", "http://127.0.0.1:9"]
    await commandLine(["providers", "create", "stored", "--provider", "google", "--model", ended, ...to], env)
    await commandLine(["keys", "create", "--name", "ci", "--model", ended], env)
    const made = await commandLine(["keys", "create", "--name", "old", "--model", ended], env)
    const [id = ""] = /key_\w+/.exec(made.err) ?? []
    expect((await commandLine(["keys", "revoke", id], env)).code).toBe(0)
    const file = join(folder, "empty.yaml")
    writeFileSync(file, "server: { port: 0 }\n")
    const { out } = await commandLine(["doctor", "--config", file, "--json"], env)
    const found: ReadonlyArray<Finding> = JSON.parse(out)
    expect(found.filter((row) => row.check === "models")).toEqual([
      {
        check: "models",
        status: "warn",
        detail: "@stored: gemini-2.0-flash is shut down since 2026-06-01; its successor is gemini-3.5-flash"
      },
      {
        check: "models",
        status: "warn",
        detail: "key ci: gemini-2.0-flash is shut down since 2026-06-01; its successor is gemini-3.5-flash"
      }
    ])
  })
})

describe("doctor --online", () => {
  const online = async (...words: ReadonlyArray<string>) => {
    const simulator = makeSimulator({ geminiApiKeys: [geminiKey], accessTokens: ["ya29.x"], day: "2026-11-22" })
    const { close, url } = await simulator.listen()
    const file = join(folder, "online.yaml")
    const accounts = [
      `{ slug: g, provider: google, api_key: "${geminiKey}", base_url: "${url}", models: [gemini-3.8-flash, gemini-9-foo, gemini-2.0-flash] }`,
      `{ slug: v, provider: vertex-ai, project_id: test-project, region: us-central1, base_url: "${url}", credentials: { type: access_token, token: ya29.x }, models: [gemini-2.5-flash, gemini-3.8-flash, anthropic.claude-opus-5-5] }`
    ]
    writeFileSync(file, `server: { port: 0 }\nproviders:\n${accounts.map((one) => `  - ${one}\n`).join("")}`)
    const { out } = await commandLine(["doctor", "--config", file, "--json", ...words], { GATEWAY_DATA_DIR: folder })
    await close()
    const found: ReadonlyArray<Finding> = JSON.parse(out)
    return found.flatMap((row) => (row.check === "models" && row.detail.includes("does not list") ? [row.detail] : []))
  }

  it("names the models that the Gemini API does not list, and that Vertex AI cannot count with (M-721)", async () => {
    expect(await online("--online")).toEqual([
      "@g: @g does not list gemini-9-foo",
      "@g: @g does not list gemini-2.0-flash",
      "@v: @v does not list gemini-3.8-flash",
      "@v: @v does not list claude-opus-5-5"
    ])
  })

  it("asks for no list without the flag (M-721)", async () => {
    expect(await online()).toEqual([])
  })
})

describe("explain --model", () => {
  it("prints the facts in force, with the origin of each (M-103)", async () => {
    const file = join(folder, "facts.yaml")
    writeFileSync(file, "models:\n  gemini-5-own: { inherits: gemini-4-neon, context: 5 }\n")
    const { code, err, out } = await commandLine(["explain", "--config", file, "--model", "@google/gemini-5-own"], {
      GATEWAY_DATA_DIR: folder
    })
    expect([code, err, JSON.parse(out)]).toEqual([
      0,
      "",
      explainModel(modelTable({ "gemini-5-own": { inherits: "gemini-4-neon", context: 5 } }), "gemini-5-own")
    ])
  })
})
