// Holds the pages to the program: links, headings, generated tables, and the examples of the README.
// Must not judge prose.
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import Anthropic from "@anthropic-ai/sdk"
import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
import { streamText } from "ai"
import * as Result from "effect/Result"
import OpenAI from "openai"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { clientLines } from "../src/api/clientSettings.ts"
import { readSettings } from "../src/cli/settings/readSettings.ts"
import { parseSettingsText } from "../src/cli/settings/SettingsText.ts"
import { demoPrompts } from "../src/demo/seed.ts"
import { targetWords } from "../src/domain/config/GatewayConfig.ts"
import { defaultLimits } from "../src/domain/Limits.ts"
import { readConfig } from "../src/domain/config/readConfig.ts"
import * as Package from "../src/index.ts"
import { agents } from "./agents/clients.ts"
import { run } from "./agents/run.ts"
import { serviceAccount, startTestGateway, type TestGateway, gatewayKey } from "./support/TestGateway.ts"
import { generatedPages } from "./support/generateDocs.ts"
import { testNames } from "./support/testNames.ts"

const root = join(dirname(fileURLToPath(import.meta.url)), "..")
const read = (path: string): string => readFileSync(join(root, path), "utf8")
const pages = [
  "README.md",
  "SECURITY.md",
  "CONTRIBUTING.md",
  "CHANGELOG.md",
  "examples/README.md",
  ...readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`)
]
const readme = read("README.md")

/** Code blocks of one language, in order. */
const blocks = (text: string, language: string): ReadonlyArray<string> =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, "gm"))].map((match) => match[1] ?? "")
const prose = (text: string): string => text.replace(/^```[\s\S]*?^```/gm, "")

describe.each(pages)("page %s", (page) => {
  const text = prose(read(page))

  it("page: has one first-level heading", () => {
    expect(text.match(/^# .+$/gm)).toHaveLength(1)
  })

  it("page: has links to existing targets", () => {
    const links = [...text.matchAll(/\]\(([^)]+)\)/g)].map((match) => match[1] ?? "")
    const local = links.filter((link) => !/^[a-z]+:/.test(link)).map((link) => link.replace(/#.*/, ""))
    expect(local.filter((link) => !existsSync(join(root, dirname(page), link)))).toEqual([])
  })
})

const sourceNames = ["src", "test", "examples"].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((name) => `/${folder}/${name}`)
)

it.each(pages.filter((page) => page.startsWith("docs/internals/") || page === "CONTRIBUTING.md"))(
  "page %s: names source files that exist",
  (page) => {
    const named = [...read(page).matchAll(/`([\w./-]+\.tsx?)`/g)].map((match) => match[1] ?? "")
    expect(named.filter((name) => !sourceNames.some((path) => path.endsWith(`/${name}`)))).toEqual([])
  }
)

describe("generated pages", () => {
  it.each(generatedPages())("generated page: $path is current (npm run docs)", ({ path, text }) => {
    expect(read(path)).toBe(text)
  })
})

describe("examples page", () => {
  const page = read("examples/README.md")
  const files = readdirSync(join(root, "examples"))
    .filter((name) => name !== "README.md")
    .toSorted()

  it("examples page: has a row and a command for each example", () => {
    expect([...page.matchAll(/^\| \[(\S+)\]\(\1\)/gm)].map(([, name]) => name).toSorted()).toEqual(files)
    const commands = (blocks(page, "sh")[0] ?? "").trimEnd().split("\n")
    expect(commands.map((line) => /examples\/(\S+)$/.exec(line)?.[1]).toSorted()).toEqual(files)
  })

  it("examples page: examples that import the package run with `npm run example`, and others with node", () => {
    for (const line of (blocks(page, "sh")[0] ?? "").trimEnd().split("\n")) {
      const path = line.split(" ").at(-1) ?? ""
      const program = path.endsWith(".sh")
        ? "sh"
        : /from "model-gateway[/"]/.test(read(path))
          ? "npm run example"
          : "node"
      expect(line).toBe(`${program} ${path}`)
    }
  })
})

describe("embedding page", () => {
  const page = read("docs/embedding.md")

  it("embedding page: installs the Effect version of the package", () => {
    const { devDependencies: tested }: { devDependencies: Record<string, string> } = JSON.parse(read("package.json"))
    expect(blocks(page, "sh")).toEqual([
      `npm install model-gateway effect@${tested["effect"]} @effect/platform-node@${tested["@effect/platform-node"]}\n`
    ])
  })

  it("embedding page: names services and layers that exist", () => {
    const rows = [...page.matchAll(/^\| ((?:`\w+`(?:, )?)+) \|.*\| (`.*`) \|$/gm)]
    expect(rows.length).toBeGreaterThan(8)
    const missing = rows.flatMap(([, names = "", layers = ""]) =>
      [...names.matchAll(/`(\w+)`/g)].flatMap(([, name = ""]) => {
        const service = Object.entries(Package).find(([one]) => one === name)?.[1]
        return [...layers.matchAll(/`(\w+)/g)].flatMap(([, layer = ""]) =>
          typeof service === "function" && layer in service ? [] : [`${name}.${layer}`]
        )
      })
    )
    expect(missing).toEqual([])
  })

  it("embedding page: names layers of Gateway.ts that exist", () => {
    const named = [...page.matchAll(/^\| `Gateway\.(\w+)\(settings\)`/gm)].map(([, name]) => name)
    expect(named.toSorted()).toEqual(Object.keys(Package.Gateway).toSorted())
  })

  it("embedding page: names the subpaths of the package", () => {
    const { exports }: { readonly exports: Record<string, unknown> } = JSON.parse(read("package.json"))
    expect(
      [...page.matchAll(/^\| `(model-gateway\S*)` \|/gm)].map(([, name = ""]) => name.replace("model-gateway", "."))
    ).toEqual(Object.keys(exports))
  })
})

describe("requirement page", () => {
  const rows = read("docs/requirement.md")
    .split("\n")
    .filter((line) => /^\| (?!-|statement)/.test(line))
  const proofs = rows.flatMap((row) => (row.split(" | ")[1] ?? "").replace(/ \|$/, "").split("<br>"))
  const namesIn = new Map<string, ReadonlyArray<string>>()

  it("requirement page: has a proof in every row", () => {
    expect(rows.length).toBeGreaterThan(50)
    expect(proofs.filter((proof) => !/^`test\/[\w/-]+\.test\.ts` \S/.test(proof))).toEqual([])
  })

  it.each([...new Set(proofs)])("requirement page: cites an existing test or file: %s", (proof) => {
    const [, path = "", name = ""] = /^`([^`]+)` (.+)$/.exec(proof) ?? []
    const names = namesIn.get(path) ?? testNames(read(path))
    namesIn.set(path, names)
    expect(names).toContain(name)
  })
})

describe("configs page", () => {
  const page = read("docs/configuration.md")

  it("configs page: shows a file the program accepts", () => {
    const parsed = Result.getOrThrow(parseSettingsText("gateway.yaml", blocks(page, "yaml")[0] ?? ""))
    const settings = Result.getOrThrow(
      readSettings({
        file: parsed.value,
        env: { CI_KEY: "mgk_ci_0123456789" },
        flags: {},
        fileText: () => Result.fail("no file")
      })
    )
    expect(settings.configs?.["fast"]?.targets.map(({ model, slug }) => ({ model, slug }))).toEqual([
      { slug: "google", model: undefined },
      { slug: "vertex-ai", model: "anthropic.claude-haiku-5-5" }
    ])
    expect(settings.keys.map((key) => key.config)).toEqual(["fast"])
  })

  it("configs page: shows a config the program accepts", () => {
    const shown = JSON.parse(blocks(page, "json")[0] ?? "")
    expect(Result.getOrThrow(readConfig(shown, defaultLimits)).targets.map(({ model }) => model)).toEqual([
      "gemini-3.8-flash",
      "gemini-4-neon",
      "@google/gemini-4-neon",
      "@vertex-ai/gemini-4-neon"
    ])
  })

  it("configs page: names every field of a target, and no other", () => {
    const rows = page
      .slice(page.indexOf("## Fields of a target"), page.indexOf("## Retries"))
      .split("\n")
      .filter((line) => line.startsWith("| `"))
    const named = rows.flatMap((row) =>
      [...(row.split(" | ")[0] ?? "").matchAll(/`(\w+)`/g)].map((match) => match[1] ?? "")
    )
    expect([...named, "metadata", "other_models", "strategy"].sort()).toEqual(targetWords.toSorted())
  })
})

/** Lines of a client with their values. */
const filled = (text: string, origin: string, key: string, model: string): string =>
  text.replaceAll("{origin}", origin).replaceAll("{key}", key).replaceAll("{model}", model)

describe("page on clients", () => {
  const page = read("docs/connect.md")
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startTestGateway()
  })
  afterAll(() => gateway.close())

  it("connect: shows the lines with which the agents are run", () => {
    const plain = page.replaceAll('"', "")
    const steps = agents("/work").flatMap((one) => one.steps)
    const lines = steps.flatMap(({ env }) => Object.entries(env).map(([name, value]) => `${name}=${value}`))
    const ofProgram = /^GEMINI_CLI_|^GATEWAY_KEY=/
    expect(lines.filter((line) => !ofProgram.test(line) && !plain.includes(line))).toEqual([])
    expect(page).toContain(steps.flatMap(({ files = {} }) => files[".codex/config.toml"] ?? [])[0])
  })

  it("connect: shows the lines of each client that the admin API has", () => {
    const demo = "http://127.0.0.1:8787"
    const shown = clientLines.map(({ language, lines, model, name, place }) => {
      const [where, text] = [place, lines].map((one) => filled(one, demo, "mgk_demo", model))
      return `### Lines of ${name}\n\n${where}:\n\n\`\`\`${language}\n${text}\n\`\`\`\n`
    })
    expect(page.slice(page.indexOf("### Lines of curl"), page.indexOf("## Agents that are tested"))).toBe(
      `${shown.join("\n")}\n`
    )
  })

  it.each(clientLines.map((client) => [client.name, client] as const))(
    "connect: the model in the lines of %s is one that its route serves (W11, RB54)",
    async (_name, { model, route }) => {
      const messages = [{ role: "user", content: "Hello" }]
      const [path, body] = route.endsWith("/models/")
        ? [`${route}${model}:generateContent`, { contents: [{ parts: [{ text: "Hello" }] }] }]
        : [route, route === "/v1/responses" ? { model, input: "Hello" } : { model, max_tokens: 1000, messages }]
      const headers = { "content-type": "application/json", "x-api-key": gatewayKey }
      const answer = await fetch(gateway.url + path, { method: "POST", headers, body: JSON.stringify(body) })
      expect([answer.status, await answer.text()]).toEqual([200, expect.any(String)])
    }
  )

  it.each(clientLines.filter(({ language }) => language === "ts").map((client) => [client.name, client] as const))(
    "connect: the lines of %s run as they are (W11, RB54)",
    async (_name, { lines, model }) => {
      const script = filled(lines, gateway.url, gatewayKey, model)
      expect(await run(process.execPath, ["--input-type=module", "-e", script], { cwd: root })).toMatchObject({
        code: 0
      })
    },
    60_000
  )

  it("connect: shows requests of curl that are served", async () => {
    const shown = (blocks(page, "sh").find((block) => block.startsWith("curl")) ?? "").split(/^curl /m).slice(1)
    const answers = shown.map(async (line) => {
      const headers = [...line.matchAll(/-H "([^:]+): ([^"]+)"/g)].map(([, name = "", value = ""]) => [name, value])
      const target = (/127\.0\.0\.1:8787([^"]+)/.exec(line)?.[1] ?? "").replace("mgk_demo", gatewayKey)
      const own = Object.fromEntries(headers.map(([name, value]) => [name, value === "mgk_demo" ? gatewayKey : value]))
      const body = /-d '(.+)'/.exec(line)?.[1] ?? ""
      const { status } = await fetch(gateway.url + target, { method: "POST", headers: own, body })
      return status
    })
    expect(await Promise.all(answers)).toEqual([200, 200])
  })
})

describe("README", () => {
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startTestGateway({ prompts: demoPrompts })
  })
  afterAll(() => gateway.close())

  it("README: names commands that exist", () => {
    const { scripts }: { readonly scripts: Record<string, string> } = JSON.parse(read("package.json"))
    const named = [...readme.matchAll(/npm (?:run )?(start|test|demo|bench|docs)\b/g)].map((match) => match[1] ?? "")
    expect(named.filter((name) => scripts[name] === undefined)).toEqual([])
  })

  it("README: shows the answer of its curl", async () => {
    const body = /-d '(.+)'/.exec(blocks(readme, "sh")[1] ?? "")?.[1] ?? ""
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-gateway-api-key": gatewayKey },
      body
    })
    const shown = JSON.parse(blocks(readme, "json")[0] ?? "null")
    const answered = JSON.parse(await response.text())
    expect({ ...answered, id: "", created: 0 }).toEqual({ ...shown, id: "", created: 0 })
  })

  it("README: streams through the openai SDK as shown", async () => {
    expect(blocks(readme, "ts")[0]).toContain(
      'for await (const chunk of stream) process.stdout.write(chunk.choices[0]?.delta.content ?? "")'
    )
    const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gatewayKey })
    const stream = await client.chat.completions.create({
      model: "@google/gemini-3.8-flash",
      stream: true,
      messages: [{ role: "user", content: "Hello" }]
    })
    let text = ""
    for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? ""
    expect(text).toBe(
      "Hello! I am a simulated Gemini model, so nothing you write leaves this machine. What would you like to try?"
    )
  })

  it("page on clients: the AI SDK streams", async () => {
    const provider = createOpenAICompatible({ name: "model-gateway", baseURL: `${gateway.url}/v1`, apiKey: gatewayKey })
    const { textStream } = streamText({ model: provider("@vertex-ai/gemini-3.8-flash"), prompt: "Hello" })
    let text = ""
    for await (const part of textStream) text += part
    expect(text).toBe(
      "Hello! I am a simulated Gemini model, so nothing you write leaves this machine. What would you like to try?"
    )
  })

  it("page on clients: Anthropic's SDK calls Claude", async () => {
    const message = await new Anthropic({ baseURL: gateway.url, apiKey: gatewayKey }).messages.create({
      model: "@vertex-ai/anthropic.claude-sonnet-5-5",
      max_tokens: 256,
      messages: [{ role: "user", content: "Hello" }]
    })
    expect(message.content).toEqual([
      {
        type: "text",
        text: "Hello! I am a simulated Claude model, so nothing you write leaves this machine. What would you like to try?"
      }
    ])
  })

  it("README: its figures are those of the last bench", () => {
    const [, bench = ""] = /<!-- bench -->([\s\S]*?)<!-- \/bench -->/.exec(read("docs/performance.md")) ?? []
    const cellsOf = (name: string) =>
      (bench.split("\n").find((line) => line.startsWith(`| ${name} |`)) ?? "").split("|").map((cell) => cell.trim())
    const [, , bareCpu, cpu, portkeyCpu] = cellsOf("unary: CPU us per request")
    const [, , bareFirst, first, portkeyFirst] = cellsOf("time to first chunk: ms, p50")
    const [, , bareEvents, events, portkeyEvents] = cellsOf("streams, burst: events/s")
    const millis = (micros = "") => (Number(micros) / 1000).toFixed(2)
    expect(readme).toContain(
      `A chat costs ${millis(cpu)} ms of CPU time (a bare Node proxy ${millis(bareCpu)}, Portkey's gateway ${millis(portkeyCpu)}), a stream begins after ${first} ms (${bareFirst}, ${portkeyFirst}), and one core passes ${events} events a second (${bareEvents}, ${portkeyEvents}).`
    )
  })

  it("README: shows a configuration the program accepts", () => {
    const yaml = blocks(readme, "yaml")[0] ?? ""
    expect(yaml.trimEnd().split("\n")).toHaveLength(10)
    const read = Result.flatMap(parseSettingsText("gateway.yaml", yaml), (parsed) =>
      readSettings({
        file: parsed.value,
        env: { GEMINI_API_KEY: "test-key-of-gemini", CI_KEY: "mgk_ci_0123456789" },
        flags: {},
        fileText: () =>
          Result.succeed(
            JSON.stringify({
              type: "service_account",
              project_id: "my-project",
              client_email: serviceAccount.clientEmail,
              private_key_id: serviceAccount.privateKeyId,
              private_key: serviceAccount.privateKeyPem
            })
          )
      })
    )
    expect(Result.isFailure(read) ? read.failure : []).toEqual([])
    const settings = Result.getOrThrow(read)
    expect(settings.accounts.map(({ kind, project_id, region, slug }) => ({ kind, project_id, region, slug }))).toEqual(
      [
        { slug: "google", kind: "google", project_id: undefined, region: undefined },
        { slug: "vertex-ai", kind: "vertex-ai", project_id: "my-project", region: "us-central1" }
      ]
    )
    expect(settings.keys.map(({ models, name, providers }) => ({ models, name, providers }))).toEqual([
      { name: "ci", providers: ["google"], models: ["gemini-*"] }
    ])
  })

  it("prompts page: shows the demo's prompt, and a curl that it answers", async () => {
    const declared = Result.getOrThrow(
      parseSettingsText("gateway.yaml", blocks(read("docs/prompts.md"), "yaml")[0] ?? "")
    ).value
    const settings = Result.getOrThrow(
      readSettings({ file: declared, env: {}, flags: {}, fileText: () => Result.fail("") })
    )
    expect(settings.prompts).toStrictEqual(demoPrompts)
    const shown = blocks(read("docs/prompts.md"), "sh")[0] ?? ""
    const response = await fetch(gateway.url + (/\/v1\S+/.exec(shown)?.[0] ?? ""), {
      method: "POST",
      headers: { "content-type": "application/json", "x-gateway-api-key": gatewayKey },
      body: /-d '(.+)'/.exec(shown)?.[1] ?? ""
    })
    expect([response.status, JSON.parse(await response.text()).choices[0].message.content]).toEqual([
      200,
      "Hello! I am a simulated Gemini model, so nothing you write leaves this machine. What would you like to try?"
    ])
  })

  it("README: imports exports of the package", () => {
    const block = blocks(readme, "ts").find((shown) => shown.includes('from "model-gateway"')) ?? ""
    const names =
      /import \{ ([^}]+) \} from "model-gateway"/
        .exec(block)?.[1]
        ?.split(", ")
        .filter((name) => !name.startsWith("type ")) ?? []
    expect(names).toEqual(["defaultLimits", "Gateway", "providerAccount"])
    expect(names.filter((name) => !(name in Package))).toEqual([])
  })
})
