// Runs the shell commands of the first pages, before a release of all, and checks each link, verb and flag of a sentence.
// Must not change a command; what it stands on is simulated.
import { existsSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { makeSimulator } from "../src/demo/google/Simulator.ts"
import { commandLine } from "./support/commandLine.ts"
import { notRun, reasonNotToRun, runCommands, runElsewhere } from "./support/docCommands.ts"
import {
  anchorsOf,
  docPages,
  inlineCommands,
  localLinks,
  readPage,
  repository,
  shellCommands
} from "./support/docPages.ts"
import { isRelease } from "./support/release.ts"
import { serviceAccount } from "./support/TestGateway.ts"

const texts = new Map(docPages.map((page) => [page, readPage(page)]))
const commandsOf = (page: string): ReadonlyArray<string> => shellCommands(texts.get(page) ?? "")
const all = docPages.flatMap(commandsOf)

/** The address that the simulated Google gets. */
let google = ""
let close = async () => {}
beforeAll(async () => {
  const simulator = makeSimulator({ geminiApiKeys: ["..."], serviceAccounts: [serviceAccount], anyLocation: true })
  const listening = await simulator.listen()
  google = listening.url
  close = listening.close
})
afterAll(() => close())

/** Vertex AI as the quickstart declares it, and the Gemini API of a variable; at the simulated addresses. */
const gatewayFile = (): string =>
  /^```yaml\n([\s\S]*?)^```/m
    .exec(texts.get("docs/quickstart.md") ?? "")?.[1]
    ?.replace("provider: vertex-ai\n", "provider: vertex-ai\n    base_url: GOOGLE\n    token_url: GOOGLE/token\n")
    .replace("providers:\n", "providers:\n  - { slug: google, provider: google, api_key: ..., base_url: GOOGLE }\n")
    .replaceAll("GOOGLE", google) ?? ""

const keyFile = JSON.stringify({
  type: "service_account",
  project_id: "my-project",
  client_email: serviceAccount.clientEmail,
  private_key_id: serviceAccount.privateKeyId,
  private_key: serviceAccount.privateKeyPem
})

const ordinaryFiles = (): Readonly<Record<string, string>> => ({
  "gateway.yaml": gatewayFile(),
  "service-account.json": keyFile,
  "fast.yaml": 'strategy: { mode: fallback }\ntargets: [{ provider: "@google" }, { provider: "@vertex-ai" }]\n',
  "greeting.yaml": 'model: "@google/gemini-2.5-flash"\nmessages: [{ role: user, content: "Hello {{name}}" }]\n',
  "request.json": '{"model":"@google/gemini-3.8-flash","messages":[{"role":"user","content":"Hello"}]}',
  "config.yaml":
    "model_list:\n  - model_name: fast\n    litellm_params: { model: gemini/gemini-3.8-flash, api_key: os.environ/GEMINI_API_KEY }\n",
  "configs.json": '{"fast":{"strategy":{"mode":"fallback"},"targets":[{"provider":"@google"}]}}'
})

const ordinaryEnv = {
  GATEWAY: "http://127.0.0.1:8787",
  GEMINI_API_KEY: "...",
  GOOGLE_API_KEY: "...",
  GATEWAY_ADMIN_KEY: "mgk_operator_0123",
  OPS_KEY: "mgk_operator_0123"
}

/** The gateways that pages speak of without starting them. */
const before: Readonly<Record<string, ReadonlyArray<string>>> = {
  "docs/connect.md": ["model-gateway demo"],
  "docs/prompts.md": ["model-gateway demo"]
}

/** The pages that a reader starts with. */
const firstPages = ["README.md", "docs/quickstart.md"]

describe("shell commands of the pages", () => {
  const pages = (isRelease ? docPages : firstPages).filter(
    (page) => commandsOf(page).length > 0 && runElsewhere[page] === undefined
  )

  it.each(pages)(
    "shell commands: those of %s run, and their requests are answered",
    async (page) => {
      const commands = commandsOf(page).filter((command) => reasonNotToRun(command) === undefined)
      const { code, err, statuses } = await runCommands(commands, ordinaryFiles(), ordinaryEnv, before[page])
      const requests = commands.join("\n").match(/^(?:\w+=\$\()?curl /gm)?.length ?? 0
      expect([code, err, statuses]).toEqual([0, expect.not.stringContaining("failed:"), Array(requests).fill(200)])
    },
    120_000
  )

  it("shell commands: each reason not to run one is needed", () => {
    expect(Object.keys(notRun).filter((row) => !all.some((command) => reasonNotToRun(command) === row))).toEqual([])
  })

  it.each(Object.entries(runElsewhere))("shell commands: those of %s are run by %s", (page, path) => {
    expect([commandsOf(page).length > 0, readPage(path).includes(page.replace("/README.md", ""))]).toEqual([true, true])
  })
})

describe("links of the pages", () => {
  it("links: anchors are those of GitHub", () => {
    const text = "# One `two`: three\n\n## See [it](a.md)\n\n```sh\n# no heading\n```\n\n## See it\n"
    expect([...anchorsOf(text)]).toEqual(["one-two-three", "see-it", "see-it-1"])
    expect(localLinks("docs/a.md", "[a](b.md#c) ![d](../e.png) [f](#g) [h](https://i.example)\n")).toEqual([
      { link: "b.md#c", file: "docs/b.md", anchor: "c" },
      { link: "../e.png", file: "e.png", anchor: undefined },
      { link: "#g", file: "docs/a.md", anchor: "g" }
    ])
  })

  it.each(docPages)("links: those of %s lead to files and headings that exist", (page) => {
    const broken = localLinks(page, texts.get(page) ?? "").filter(({ anchor, file }) => {
      if (!existsSync(join(repository, file))) return true
      return anchor !== undefined && !(file.endsWith(".md") && anchorsOf(readPage(file)).has(anchor))
    })
    expect(broken.map(({ link }) => link)).toEqual([])
  })
})

describe("commands inside sentences", () => {
  const inline = [...texts.values()].flatMap((text) => [
    ...inlineCommands(text, "model-gateway"),
    ...inlineCommands(text, "npm run -s gateway --").map((code) =>
      code.replace("npm run -s gateway --", "model-gateway")
    )
  ])

  /** Those whose verb or flag the command line does not have. */
  const unknownOf = async (codes: Iterable<string>): Promise<ReadonlyArray<string>> => {
    const unknown: Array<string> = []
    for (const code of codes) {
      const words =
        code
          .split(/ [<>|] /)[0]
          ?.split(" ")
          .slice(1) ?? []
      const end = words.findIndex((word) => !/^[a-z][a-z-]*$/.test(word))
      const verbs = words.slice(0, end < 0 ? words.length : end)
      const { out } = await commandLine([...verbs, "--help"])
      const flags = words.filter((word) => word.startsWith("--")).map((word) => word.split("=")[0] ?? "")
      const isKnown = out.includes(`  ${["model-gateway", ...verbs].join(" ")} `)
      if (!isKnown || flags.some((flag) => !out.includes(`  ${flag}`))) unknown.push(code)
    }
    return unknown
  }

  it("sentences: name verbs and flags of the command line that exist", async () => {
    expect(inline.length).toBeGreaterThan(20)
    expect(await unknownOf(new Set(inline))).toEqual([])
    const planted = ["model-gateway serve --nonsense", "model-gateway nonsense", "model-gateway keys nonsense --json"]
    expect(await unknownOf([...planted, "model-gateway keys create --name ci"])).toEqual(planted)
  })

  it("sentences: name scripts and programs of the repository that exist", () => {
    const { scripts }: { readonly scripts: Record<string, string> } = JSON.parse(readPage("package.json"))
    const named = [...texts.values()].flatMap((text) =>
      inlineCommands(text, "npm run").map((code) => /^npm run (?:-s )?([\w-]+)/.exec(code)?.[1] ?? code)
    )
    expect(named.filter((name) => scripts[name] === undefined)).toEqual([])
    const programs = [...texts.values()].flatMap((text) =>
      inlineCommands(text, "node").flatMap((code) => /^node ((?:bench|src|test|examples)\S+)/.exec(code)?.[1] ?? [])
    )
    expect(programs.filter((path) => !existsSync(join(repository, path)))).toEqual([])
  })
})
