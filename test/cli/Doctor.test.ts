// `doctor` in front of the simulated Google services: everything in order, and each fault.
// Must not call real services.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createServer as createTlsServer } from "node:https"
import { type AddressInfo, createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type Simulator, makeSimulator } from "../../src/demo/google/Simulator.ts"
import type { Finding } from "../../src/cli/Output.ts"
import { clockFinding } from "../../src/cli/doctor/ProviderChecks.ts"
import { makeCertificates } from "../support/certificates.ts"
import { commandLine } from "../support/commandLine.ts"
import { geminiKey, serviceAccount } from "../support/TestGateway.ts"

const folder = mkdtempSync(join(tmpdir(), "gateway-doctor-"))
let simulator: Simulator
let listening: Awaited<ReturnType<Simulator["listen"]>>
const withoutRole = "poor@test-project.iam.gserviceaccount.com"

beforeAll(async () => {
  simulator = makeSimulator({
    geminiApiKeys: [geminiKey],
    serviceAccounts: [serviceAccount, { ...serviceAccount, clientEmail: withoutRole }],
    withoutPredict: [withoutRole]
  })
  listening = await simulator.listen()
})
afterAll(async () => {
  await listening.close()
  rmSync(folder, { recursive: true })
})

const keyFile = (email: string): string => {
  const { privateKeyId, privateKeyPem, projectId } = serviceAccount
  return JSON.stringify({
    type: "service_account",
    client_email: email,
    private_key_id: privateKeyId,
    private_key: privateKeyPem,
    project_id: projectId
  })
}

const doctor = (providers: string, ...words: ReadonlyArray<string>) => {
  const file = join(folder, "gateway.yaml")
  writeFileSync(file, `server: { port: 0 }\n${providers}`)
  writeFileSync(join(folder, "sa.json"), keyFile(serviceAccount.clientEmail))
  writeFileSync(join(folder, "poor.json"), keyFile(withoutRole))
  return commandLine(["doctor", "--config", file, ...words], { GATEWAY_DATA_DIR: folder })
}

const rows = async (
  providers: string
): Promise<{ readonly code: number | null; readonly rows: ReadonlyArray<Finding> }> => {
  const { code, err, out } = await doctor(providers, "--json")
  expect(err).toBe("")
  const found: ReadonlyArray<Finding> = JSON.parse(out)
  return { code, rows: found.filter(({ check }) => check.startsWith("@") || check === "host" || check === "port") }
}

const google = (key: string, url = listening.url) =>
  `providers:\n  - { slug: google, provider: google, api_key: "${key}", base_url: "${url}" }\n`
const vertex = (file: string, more = "") =>
  `  - slug: vertex-ai\n    provider: vertex-ai\n    region: us-central1\n    credentials: { type: service_account, file: ./${file} }\n    base_url: "${listening.url}"\n    token_url: "${listening.url}/token"\n${more}`

describe("doctor", () => {
  it("doctor prints a table without a secret when everything is in order, exit 0", async () => {
    const { code, err, out } = await doctor(
      `${google(geminiKey)}${vertex("sa.json", "    endpoints: { demo-llama: { dialect: openai } }\n")}`
    )
    expect([code, err]).toEqual([0, ""])
    expect(out).toBe(
      [
        `ok  node                   ${process.versions.node}`,
        `ok  configuration          ${join(folder, "gateway.yaml")}`,
        "ok  port                   any free one",
        `ok  data                   ${folder} is writable`,
        `ok  store                  sqlite:${join(folder, "gateway.db")} will be made`,
        "ok  clock                  as upstream",
        `ok  host                   ${listening.url} answers`,
        "ok  @google credential     API key",
        "ok  @google call           gemini-3.8-flash answers",
        `ok  @vertex-ai credential  service account ${serviceAccount.clientEmail}`,
        "ok  @vertex-ai call        gemini-2.5-flash answers",
        "ok  @vertex-ai endpoint    demo-llama answers",
        ""
      ].join("\n")
    )
  })

  it("doctor reports a wrong key and an account without a credential", async () => {
    expect(await rows(google("wrong-key"))).toEqual({
      code: 1,
      rows: [
        { check: "port", status: "ok", detail: "any free one" },
        { check: "host", status: "ok", detail: `${listening.url} answers` },
        { check: "@google credential", status: "ok", detail: "API key" },
        {
          check: "@google call",
          status: "fail",
          detail: "API key not valid. Please pass a valid API key.",
          todo: "make an API key at https://aistudio.google.com/apikey and set it"
        },
        {
          check: "@vertex-ai credential",
          status: "warn",
          detail:
            "no credential: set GOOGLE_APPLICATION_CREDENTIALS to a service-account key file, or let requests bring their own"
        }
      ]
    })
  })

  it("doctor prints the command that grants a missing role", async () => {
    const { code, rows: found } = await rows(
      `providers:\n${vertex("poor.json", "    endpoints: { demo-llama: { dialect: openai } }\n")}`
    )
    expect([code, found.find(({ check }) => check === "@vertex-ai endpoint")]).toEqual([
      1,
      {
        check: "@vertex-ai endpoint",
        status: "fail",
        detail:
          "Permission 'aiplatform.endpoints.predict' denied on resource '//[upstream]' (or it may not exist). Grant it to the service account, for example by the role Vertex AI User; a credential of project id and region alone may lack it.",
        todo: `gcloud projects add-iam-policy-binding test-project --member=serviceAccount:${withoutRole} --role=roles/aiplatform.user`
      }
    ])
  })

  it("doctor reports a closed port, an expired certificate and a port in use", async () => {
    const taken = createServer()
    await new Promise<void>((done) => taken.listen(0, "127.0.0.1", done))
    const { port } = taken.address() as AddressInfo
    const { expired } = makeCertificates()
    const tls = createTlsServer({ key: expired.key, cert: expired.cert })
    await new Promise<void>((done) => tls.listen(0, "127.0.0.1", done))
    const secure = `https://localhost:${(tls.address() as AddressInfo).port}`
    const closed = "http://127.0.0.1:1"
    const accounts = `${google(geminiKey, closed)}  - { slug: old, provider: google, api_key: k, base_url: "${secure}" }\n`
    const file = join(folder, "ports.yaml")
    writeFileSync(file, `server: { port: ${port} }\n${accounts}`)
    const { code, out } = await commandLine(["doctor", "--config", file, "--json"])
    const found: ReadonlyArray<Finding> = JSON.parse(out)
    await Promise.all([taken, tls].map((server) => new Promise((done) => server.close(done))))
    expect([code, found.filter(({ check }) => check === "host" || check === "port")]).toEqual([
      1,
      [
        {
          check: "port",
          status: "warn",
          detail: `127.0.0.1:${port} is in use, by a running gateway perhaps`,
          todo: "model-gateway health shows whether it is one; else choose another port with --port"
        },
        {
          check: "host",
          status: "fail",
          detail: `${closed}: nothing listens there`,
          todo: "let this machine reach it: DNS, firewall, proxy"
        },
        {
          check: "host",
          status: "fail",
          detail: `${secure}: its certificate is not trusted`,
          todo: "a proxy that opens TLS needs its authority in network.ca_file or NODE_EXTRA_CA_CERTS"
        }
      ]
    ])
  })

  it("doctor reports an admin port in use", async () => {
    const taken = createServer()
    await new Promise<void>((done) => taken.listen(0, "127.0.0.1", done))
    const { port } = taken.address() as AddressInfo
    const file = join(folder, "admin.yaml")
    writeFileSync(file, `server: { port: 0, admin_port: ${port} }\n`)
    const { out } = await commandLine(["doctor", "--config", file, "--json"], { GATEWAY_DATA_DIR: folder })
    await new Promise((done) => taken.close(done))
    const found: ReadonlyArray<Finding> = JSON.parse(out)
    expect(found.filter(({ check }) => check.endsWith("port"))).toEqual([
      { check: "port", status: "ok", detail: "any free one" },
      {
        check: "admin port",
        status: "warn",
        detail: `127.0.0.1:${port} is in use, by a running gateway perhaps`,
        todo: "model-gateway health shows whether it is one; else choose another port under server.admin_port"
      }
    ])
  })

  it("doctor reports a faulty configuration as check does, exit 2", async () => {
    const { code, err, out } = await doctor("serfer: {}\n")
    expect([code, out, err]).toEqual([
      2,
      "",
      `${join(folder, "gateway.yaml")}:2:1  serfer  unknown key; did you mean server?\n`
    ])
    const json = await doctor("serfer: {}\n", "--json")
    expect([json.code, json.err, JSON.parse(json.out)]).toEqual([
      2,
      "",
      [
        {
          check: "configuration",
          status: "fail",
          detail: `${join(folder, "gateway.yaml")}:2:1  serfer  unknown key; did you mean server?`
        }
      ]
    ])
  })
})

it("doctor checks the accounts of the store, and reports a store that cannot be opened", async () => {
  const data = mkdtempSync(join(folder, "data-"))
  const env = { GATEWAY_DATA_DIR: data, MY_KEY: geminiKey }
  await commandLine(
    ["providers", "create", "stored", "--provider", "google", "--api-key-env", "MY_KEY", "--base-url", listening.url],
    env
  )
  const of = async (more: Readonly<Record<string, string>>) => {
    const file = join(folder, "empty.yaml")
    writeFileSync(file, "server: { port: 0 }\n")
    const { code, out } = await commandLine(["doctor", "--config", file, "--json"], { ...env, ...more })
    const found: ReadonlyArray<Finding> = JSON.parse(out)
    return [
      code,
      found
        .filter(({ check }) => check === "store" || check.startsWith("@stored"))
        .map(({ check, status }) => [check, status])
    ]
  }
  expect(await of({})).toEqual([
    0,
    [
      ["store", "ok"],
      ["@stored credential", "ok"],
      ["@stored call", "ok"]
    ]
  ])
  expect(await of({ GATEWAY_SECRET_KEY: Buffer.alloc(32, 7).toString("base64") })).toEqual([1, [["store", "fail"]]])
})

describe("doctor's clock check", () => {
  it.each([
    [[], "warn", "no upstream has sent the time"],
    [[400, -90_000], "ok", "as upstream"],
    [[-30_000], "warn", "30 s later than the upstream"],
    [[300_000, 400_000], "fail", "300 s earlier than the upstream"]
  ])("doctor's clock check: offsets of %j ms give %s", (skews, status, detail) => {
    expect(clockFinding(skews)).toMatchObject({ status, detail })
  })
})

describe("providers test", () => {
  const test = async (providers: string, ...words: ReadonlyArray<string>) => {
    const file = join(folder, "gateway.yaml")
    writeFileSync(file, providers)
    const ended = await commandLine(["providers", "test", "--config", file, ...words], { GATEWAY_DATA_DIR: folder })
    return { ...ended, out: ended.out.replace(/\d+ ms|(?<="duration_ms": )\d+/, "N") }
  }

  it("providers test: prints that the provider takes the credential, and makes no store", async () => {
    expect(await test(google(geminiKey), "google")).toEqual({
      code: 0,
      out: "ok  @google  The provider answers, and takes the credential. (gemini-3.8-flash, N)\n",
      err: ""
    })
    expect(existsSync(join(folder, "gateway.db"))).toBe(false)
  })

  it("providers test: prints what is wrong and what to do, exit 1", async () => {
    expect(await test(google("wrong"), "google", "--json")).toEqual({
      code: 1,
      out: `${JSON.stringify(
        {
          object: "provider_test",
          slug: "google",
          model: "gemini-3.8-flash",
          duration_ms: "N",
          ok: false,
          message: "API key not valid. Please pass a valid API key. Give the account a credential that is valid.",
          code: "upstream_credentials_rejected",
          upstream_status: 400
        },
        null,
        2
      ).replace('"N"', "N")}\n`,
      err: ""
    })
    expect(await test(google(geminiKey), "gone")).toEqual({
      code: 1,
      out: "",
      err: "There is no such provider; providers list shows them with their slugs.\n"
    })
  })
})
