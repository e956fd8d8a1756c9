// The command line: exit codes, stdout and stderr of the verbs, and as a process its arguments, input and signals.
// Must not look inside the process.
import { once } from "node:events"
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import * as Effect from "effect/Effect"
import { describe, expect, it, vi } from "vitest"
import { loadForCommand } from "../../src/cli/settings/LoadSettings.ts"
import { version } from "../../src/domain/version.ts"
import { commandLine, startCommand } from "../support/commandLine.ts"
import { processPatienceMillis, until } from "../support/eventually.ts"
import { processes } from "../support/process.ts"

const { home, run, start } = processes()

const wrong = `server: { prot: 8787 }
providers:
  - slug: vertex-prod
    provider: vertex-ai
    region: us-centrl1
    credentials: { type: access_token, token: sekret-token, extra: sekret-extra }
  - slug: gemini
    provider: google
    api_key: \${NOPE}
keys:
- { name: ci, key: sekret }
`

const chat = (model: string) =>
  JSON.stringify({ model, messages: [{ role: "user", content: "Hello" }], temperature: 0.5, store: true })

// Processes start slowly on a busy machine.
describe("command line as a process", { timeout: 120_000 }, () => {
  it("model-gateway: --version prints the version", async () => {
    const packageJson: unknown = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"))
    expect(packageJson).toMatchObject({ version })
    expect(await run(["--version"])).toEqual({ code: 0, out: `model-gateway v${version}\n`, err: "" })
  })
  it("check prints every fault with its place, none of the secrets, and exits 2", async () => {
    expect(await run(["check"], { files: { "gateway.yaml": wrong } })).toEqual({
      code: 2,
      out: "",
      err: [
        "gateway.yaml:1:11  server.prot  unknown key; did you mean port?",
        'gateway.yaml:5:5  providers[0].region  "us-centrl1" is not a region; did you mean us-central1?',
        "gateway.yaml:6:61  providers[0].credentials.extra  unknown key; known: type, token",
        "gateway.yaml:9:5  providers[1].api_key  the environment variable NOPE is not set; set it, or write ${NOPE:-default}",
        "gateway.yaml:11:15  keys[0].key  must be 8 to 256 printable characters without spaces",
        ""
      ].join("\n")
    })
  })
  it("explain prints the upstream request, sends nothing and needs no credential", async () => {
    const { code, err, out } = await run(["explain"], { stdin: chat("@google/gemini-2.5-flash") })
    expect([code, err]).toEqual([0, ""])
    expect(JSON.parse(out)).toEqual({
      object: "dry_run",
      provider: "google",
      target_index: 0,
      method: "POST",
      url: "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:generateContent",
      headers: { "content-type": "application/json" },
      body: { contents: [{ role: "user", parts: [{ text: "Hello" }] }], generationConfig: { temperature: 0.5 } },
      ignored_params: ["store"],
      adjusted_params: []
    })
  })
  it("serve without a key makes one, prints it once, becomes ready, and exits with 0 when stopped", async () => {
    const { child, ended, said } = start(["serve", "--port", "0"], {
      env: { GATEWAY_LIMITS_READY_DELAY_MILLIS: "0", GEMINI_API_KEY: "sekret" }
    })
    const [text, origin = "", key = ""] = await said(/API {6}(http:\S+)\/v1[^]*Key {6}(mgk_[0-9A-Za-z]{43}) {3}made/)
    expect(text.includes("sekret")).toBe(false)
    expect(await commandLine(["health", "--url", origin])).toEqual({ code: 0, out: "ready\n", err: "" })
    const models = await fetch(`${origin}/v1/models`, { headers: { "x-gateway-api-key": key } })
    const refused = await fetch(`${origin}/v1/models`, { headers: { "x-gateway-api-key": "mgk_other000" } })
    expect([models.status, refused.status]).toEqual([200, 401])
    child.kill("SIGTERM")
    const { code, err, out } = await ended
    expect([code, err.split(key).length]).toEqual([0, 2])
    expect(
      out
        .trimEnd()
        .split("\n")
        .map((line): unknown => JSON.parse(line))
    ).toEqual([200, 401].map((status) => expect.objectContaining({ msg: "request", route: "/v1/models/*", status })))
    expect(await commandLine(["health", "--url", origin])).toEqual({
      code: 1,
      out: "",
      err: `no answer from ${origin}\n`
    })
  })
  it("serve ends immediately with the signal's code when it is stopped twice", async () => {
    const { child, ended, said } = start(["serve", "--port", "0"], {
      env: { GATEWAY_LIMITS_READY_DELAY_MILLIS: "600000" }
    })
    const [, origin = ""] = await said(/API {6}(http:\S+)\/v1/)
    child.kill("SIGTERM")
    await until(async () => (await fetch(`${origin}/health/ready`)).status === 503, processPatienceMillis)
    child.kill("SIGTERM")
    expect((await ended).code).toBe(143)
  })
})

describe("command line", () => {
  it("model-gateway: without a verb prints help on stdout, exit 0", async () => {
    const { code, err, out } = await commandLine([])
    expect([code, err, out.match(/^ {2}(serve|demo|check|doctor|explain|health) /gm)]).toEqual([
      0,
      "",
      ["  serve ", "  demo ", "  check ", "  doctor ", "  explain ", "  health "]
    ])
  })
  it.each([
    [
      ["serv"],
      'Unknown subcommand "serv" for "model-gateway"\n\n  Did you mean this?\n    serve\nHelp: model-gateway --help\n'
    ],
    [["nonsense", "--help"], 'Unknown subcommand "nonsense" for "model-gateway"\nHelp: model-gateway --help\n'],
    [
      ["keys", "creat", "-h"],
      'Unknown subcommand "creat" for "model-gateway keys"\n\n  Did you mean this?\n    create\nHelp: model-gateway keys --help\n'
    ],
    [
      ["serve", "--prot", "1"],
      "Unrecognized flag: --prot in command model-gateway serve\n\n  Did you mean this?\n    --port\nHelp: model-gateway serve --help\n"
    ],
    [["health", "--url", "x"], "--url takes an http or https URL\n"],
    [["check", "--config", "absent.yaml"], "absent.yaml  the configuration file does not exist\n"],
    [["serve", "--port", "70000"], "--port  expected a whole number from 0 to 65535\n"]
  ])("model-gateway: the usage fault %j exits with 2, text on stderr only", async (args, err) => {
    expect(await commandLine(args)).toEqual({ code: 2, out: "", err })
  })

  it("check prints faults of meaning in the same run as faults of shape", async () => {
    const text =
      "providers:\n  - provider: vertex-ai\n    region: us-centrl1\nkeys:\n  - name: ci\n    key: sekret\n    scopes: [admn]\n    providers: [vertx]\n"
    expect(await commandLine(["check"], {}, { files: { "gateway.yaml": text } })).toEqual({
      code: 2,
      out: "",
      err: [
        "gateway.yaml:2:3  providers[0].slug  is missing",
        'gateway.yaml:3:5  providers[0].region  "us-centrl1" is not a region; did you mean us-central1?',
        "gateway.yaml:6:5  keys[0].key  must be 8 to 256 printable characters without spaces",
        'gateway.yaml:7:14  keys[0].scopes[0]  "admn" is not known here; did you mean admin?',
        ""
      ].join("\n")
    })
  })
  it("check finds the line of a template that cannot be used", async () => {
    const text =
      'prompts:\n  - id: greeting\n    model: "@google/gemini-2.5-flash"\n    messages:\n      - role: user\n        content: Hello {{>gone}}\n'
    expect(await commandLine(["check"], {}, { files: { "gateway.yaml": text } })).toEqual({
      code: 2,
      out: "",
      err: 'gateway.yaml:6:9  prompts[0].messages[0].content  there is no prompt or partial "gone"\n'
    })
  })
  it("check prints a valid configuration without its secrets", async () => {
    const files = { "gateway.json": JSON.stringify({ keys: [{ name: "ci", key: "${CI_KEY}" }] }) }
    const env = { CI_KEY: "mgk_sekret", GEMINI_API_KEY: "sekret", PORT: "99" }
    expect(await commandLine(["check"], env, { files })).toEqual({
      code: 0,
      out: [
        "ok  gateway.json",
        "    listens on 127.0.0.1:99",
        "    @vertex-ai  no credential: set GOOGLE_APPLICATION_CREDENTIALS to a service-account key file, or let requests bring their own",
        "    @google  API key",
        "    gateway keys: ci",
        ""
      ].join("\n"),
      err: ""
    })
  })
  it("configuration file: is named by --config, GATEWAY_CONFIG, or found in the working directory", async () => {
    const file = (port: number) => `server: { port: ${port} }`
    const files = { "flag.yaml": file(1), "env.yaml": file(2), "gateway.yml": file(3) }
    const listens = async (args: ReadonlyArray<string>, env: Readonly<Record<string, string>>) =>
      (await commandLine(["check", ...args], env, { files })).out.split("\n").slice(0, 2)
    expect(await listens([], {})).toEqual(["ok  gateway.yml", "    listens on 127.0.0.1:3"])
    expect(await listens([], { GATEWAY_CONFIG: "env.yaml" })).toEqual(["ok  env.yaml", "    listens on 127.0.0.1:2"])
    expect(await listens(["--config", "flag.yaml"], { GATEWAY_CONFIG: "env.yaml" })).toEqual([
      "ok  flag.yaml",
      "    listens on 127.0.0.1:1"
    ])
  })

  it("application_default: GOOGLE_APPLICATION_CREDENTIALS wins over the login of gcloud", async () => {
    const folder = mkdtempSync(join(home, "login-"))
    const login = join(folder, ".config", "gcloud", "application_default_credentials.json")
    mkdirSync(join(folder, ".config", "gcloud"), { recursive: true })
    writeFileSync(login, "{}")
    writeFileSync(join(folder, "empty.yaml"), "")
    vi.stubEnv("HOME", folder)
    const file = () =>
      Effect.runPromise(
        Effect.map(
          loadForCommand({ config: join(folder, "empty.yaml"), flags: {} }),
          ({ settings }) => settings.applicationCredentialsFile
        )
      )
    expect(await file()).toBe(login)
    writeFileSync(join(folder, "user.json"), JSON.stringify({ type: "authorized_user" }))
    vi.stubEnv("GOOGLE_APPLICATION_CREDENTIALS", join(folder, "user.json"))
    expect(await file()).toBe(join(folder, "user.json"))
    vi.unstubAllEnvs()
  })

  it("explain --provider leaves the credential out of its output", async () => {
    const env = { GEMINI_API_KEY: "sekret" }
    const stdin = chat("gemini-2.5-flash")
    const { code, out } = await commandLine(["explain", "--provider", "google"], env, { stdin })
    expect([code, out.includes("sekret"), JSON.parse(out).headers]).toEqual([
      0,
      false,
      { "content-type": "application/json", "x-goog-api-key": "<redacted>" }
    ])
  })
  it("explain refuses requests that the service refuses, exit 1", async () => {
    expect(await commandLine(["explain"], {}, { stdin: "{" })).toMatchObject({ code: 1, out: "" })
    expect(await commandLine(["explain"], {}, { stdin: chat("@google/a b") })).toEqual({
      code: 1,
      out: "",
      err: '"a b" is not a model id: letters, digits, ".", "_", "-", "/" and one "@version" are allowed.\n'
    })
  })

  it("demo --snippets prints one snippet for each client", async () => {
    const { code, err, out } = await commandLine(["demo", "--snippets", "--port", "9"])
    expect([code, err, out.match(/^--- .*/gm), out.match(/http:\/\/127\.0\.0\.1:9\/v1/g)?.length]).toEqual([
      0,
      "",
      ["--- curl", "--- curl, streamed", "--- OpenAI SDK", "--- AI SDK", "--- Anthropic SDK", "--- Prompt template"],
      5
    ])
  })

  it("demo takes address and key of the environment, as in a container", async () => {
    const env = { GATEWAY_SERVER_HOST: "0.0.0.0", GATEWAY_SERVER_PORT: "0", GATEWAY_API_KEY: "mgk_chosen_0123" }
    const { said, stop } = startCommand(["demo"], env)
    const [, origin = "", key] = await said(/API {6}(http:\/\/127\.0\.0\.1:\d+)\/v1 +key {2}(\S+)/)
    expect(key).toBe("mgk_chosen_0123")
    const models = await fetch(`${origin}/v1/models`, { headers: { "x-gateway-api-key": "mgk_chosen_0123" } })
    expect(models.status).toBe(200)
    expect((await stop()).code).toBe(0)
    expect(await commandLine(["demo"], { GATEWAY_SERVER_PORT: "http" })).toEqual({
      code: 2,
      out: "",
      err: "GATEWAY_SERVER_PORT  expected a number\n"
    })
  })

  it("serve on a taken port prints one line and exits with 1", async () => {
    const taken = createServer().listen(0, "127.0.0.1")
    await once(taken, "listening")
    const { port } = taken.address() as AddressInfo
    expect(await commandLine(["serve", "--port", String(port)], {}, { files: {} })).toEqual({
      code: 1,
      out: "",
      err: `cannot listen on 127.0.0.1:${port}: another process does; choose a port with --port\n`
    })
    taken.close()
  })
})
