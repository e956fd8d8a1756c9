// Reloading the configuration of a running gateway: by signals and files, under requests, with and without faults.
// Must not look inside the gateway.
import { createServer } from "node:http"
import { mkdirSync, mkdtempSync, renameSync, symlinkSync, writeFileSync } from "node:fs"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { serviceAccount } from "../support/TestGateway.ts"
import { commandLine, startCommand } from "../support/commandLine.ts"
import { type Heard, processes } from "../support/process.ts"
import { isRelease } from "../support/release.ts"

const { home, start } = processes()
const key = "mgk_reload000000000000000000000000000"

/** Every call as the pair that must agree: the number in the API key and the number in the config's override. */
const calls: Array<string> = []
const upstream = createServer((request, response) => {
  let text = ""
  request.on("data", (part) => (text += part))
  request.on("end", () => {
    const body: { generationConfig?: { maxOutputTokens?: number } } = JSON.parse(text)
    calls.push(`${request.headers["x-goog-api-key"]} ${body.generationConfig?.maxOutputTokens}`)
    response.writeHead(200, { "content-type": "application/json" }).end(
      JSON.stringify({
        candidates: [{ content: { role: "model", parts: [{ text: "Hi" }] }, finishReason: "STOP" }],
        usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 }
      })
    )
  })
})
let base = ""
beforeAll(
  () =>
    new Promise<void>((done) =>
      upstream.listen(0, "127.0.0.1", () => {
        const { port } = upstream.address() as AddressInfo
        base = `http://127.0.0.1:${port}`
        done()
      })
    )
)
afterAll(() => new Promise((done) => upstream.close(done)))

/** A configuration with one number in two of its parts. */
const numbered = (n: number, more = ""): string => `
server: { port: 0 }
providers:
  - { slug: google, provider: google, api_key: "key-${n}", base_url: "${base}" }
keys:
  - { name: ci, key: ${key}, config: fast }
configs:
  fast: { provider: "@google", override_params: { max_tokens: ${n} } }
${more}`

const env = (refreshMillis: number) => ({
  GATEWAY_LIMITS_READY_DELAY_MILLIS: "0",
  GATEWAY_LIMITS_REFRESH_MILLIS: String(refreshMillis),
  GATEWAY_LOG_FORMAT: "json"
})
/** An interval so long that only signals cause a reload. */
const never = env(3_600_000)
const soon = env(20)

const originOf = async (gateway: Heard): Promise<string> => (await gateway.said(/API {6}(http:\S+)\/v1/))[1] ?? ""

const ask = (origin: string, model = "gemini-2.5-flash"): Promise<number> =>
  fetch(`${origin}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-gateway-api-key": key },
    body: JSON.stringify({ model, messages: [{ role: "user", content: "Hello" }] })
  }).then(async (response) => {
    await response.arrayBuffer()
    return response.status
  })

const asked = async (origin: string, model?: string): Promise<string | number | undefined> => {
  const status = await ask(origin, model)
  return status === 200 ? calls.at(-1) : status
}

const reloads = async (origin: string): Promise<ReadonlyArray<string>> =>
  (await (await fetch(`${origin}/metrics`)).text()).match(/^gateway_config_reload_total\{.*$/gm)?.sort() ?? []

/** Replaces the file by a rename, as editors and deployments do. */
const replace = (path: string, text: string): void => {
  writeFileSync(`${path}.new`, text)
  renameSync(`${path}.new`, path)
}

// Processes start slowly on a busy machine.
describe("reloading the configuration", { timeout: 120_000 }, () => {
  it("a reload on SIGHUP is atomic, names what needs a restart, and reports each fault without a change", async () => {
    const gateway = start(["serve"], { files: { "gateway.yaml": numbered(1) }, env: never })
    const origin = await originOf(gateway)
    const file = join(gateway.folder, "gateway.yaml")
    expect(await asked(origin)).toBe("key-1 1")
    writeFileSync(file, numbered(2, "limits: { retries: 0 }\nprompts: [{ id: tone, text: Be brief. }]\n"))
    gateway.child.kill("SIGHUP")
    expect((await gateway.said(/"msg":"(The configuration [^"]*)"/))[1]).toBe(
      "The configuration was reloaded from gateway.yaml: accounts, configs, prompts changed. Needs a restart: limits."
    )
    expect(await asked(origin)).toBe("key-2 2")
    writeFileSync(file, `${numbered(3)}serfer: {}\nprompts: [{ id: tone, text: "{{>gone}}" }]\n`)
    gateway.child.kill("SIGHUP")
    const lines = (await gateway.said(/(?:.*\n)*.*"msg":"The configuration has faults; the one in use stays."}/))[0]
      .split("\n")
      .filter((line) => line.startsWith("{"))
    const words = lines
      .map((line): { level: string; msg: string } => JSON.parse(line))
      .map(({ level, msg }) => [level, msg])
    expect(words).toEqual([
      ["warn", "gateway.yaml:9:1  serfer  unknown key; did you mean server?"],
      ["warn", 'gateway.yaml:10:23  prompts[0].text  there is no prompt or partial "gone"'],
      ["warn", "The configuration has faults; the one in use stays."]
    ])
    expect(await asked(origin)).toBe("key-2 2")
    for (const [text, fault] of [
      ["", "is empty; write {} for a configuration of defaults"],
      ["- a\n", "the configuration must be a mapping of keys"]
    ] as const) {
      writeFileSync(file, text)
      gateway.child.kill("SIGHUP")
      const [line = ""] = await gateway.said(/\{[^\n]*gateway\.yaml {2}[^\n]*/)
      expect(JSON.parse(line).msg).toBe(`gateway.yaml  ${fault}`)
      await gateway.said(/the one in use stays/)
      expect(await asked(origin)).toBe("key-2 2")
    }
    expect(await reloads(origin)).toEqual([
      'gateway_config_reload_total{result="failure"} 3',
      'gateway_config_reload_total{result="success"} 1'
    ])
    gateway.child.kill("SIGTERM")
    expect((await gateway.ended).code).toBe(0)
  })

  it("a reload takes over names of models and default providers, and keeps those in use where one is wrong (N1206, N1207)", async () => {
    const serving = (defaultSlug: string, fast: string) => `
server: { port: 0 }
providers:
  - { slug: one, provider: google, api_key: key-one, base_url: "${base}" }
  - { slug: two, provider: google, api_key: key-two, base_url: "${base}" }
keys: [{ name: ci, key: ${key} }]
defaults: { gemini: ${defaultSlug} }
aliases: { fast: "@${fast}/gemini-2.5-flash" }
`
    const gateway = startCommand(["serve"], never, { files: { "gateway.yaml": serving("one", "two") } })
    const origin = await originOf(gateway)
    const served = async () => [await asked(origin), await asked(origin, "fast")]
    const change = async (text: string) => {
      writeFileSync(join(gateway.folder, "gateway.yaml"), text)
      process.emit("SIGHUP")
      return (await gateway.said(/"msg":"(The configuration [^"]*)"/))[1]
    }
    expect(await served()).toEqual(["key-one undefined", "key-two undefined"])
    expect(await change(serving("two", "one"))).toBe(
      "The configuration was reloaded from gateway.yaml: aliases, defaults changed."
    )
    expect(await served()).toEqual(["key-two undefined", "key-one undefined"])
    expect(await change(serving("one", "nowhere"))).toBe("The configuration has faults; the one in use stays.")
    expect(await served()).toEqual(["key-two undefined", "key-one undefined"])
    expect((await gateway.stop()).code).toBe(0)
  })

  it("a reload takes over prices: the next request costs what the new ones state", async () => {
    const priced = (output: number) => numbered(1, `prices: { gemini-2.5-flash: { output: ${output} } }\n`)
    const gateway = startCommand(["serve"], never, { files: { "gateway.yaml": priced(3) } })
    const origin = await originOf(gateway)
    await ask(origin)
    writeFileSync(join(gateway.folder, "gateway.yaml"), priced(5))
    process.emit("SIGHUP")
    expect((await gateway.said(/"msg":"(The configuration [^"]*)"/))[1]).toBe(
      "The configuration was reloaded from gateway.yaml: prices changed."
    )
    await ask(origin)
    const { out } = await gateway.stop()
    expect([...out.matchAll(/"cost_usd":([^,}]*)/g)].map(([, cost]) => cost)).toEqual(["0.000003", "0.000005"])
  })

  it("a reload follows a file that is overwritten, replaced, or linked to another target", async () => {
    expect((await commandLine(["serve", "--config", "mounted/gateway.yaml"], soon)).code).toBe(2)
    // Kubernetes mounts a ConfigMap so: the file is a link into `..data`, itself a link to a folder that is replaced.
    const version = (folder: string, n: number): void => {
      mkdirSync(join(folder, `..v${n}`))
      writeFileSync(join(folder, `..v${n}`, "gateway.yaml"), numbered(n))
      symlinkSync(`..v${n}`, join(folder, "..data_tmp"))
      renameSync(join(folder, "..data_tmp"), join(folder, "..data"))
    }
    const mounted = mkdtempSync(join(home, "mounted-"))
    version(mounted, 1)
    symlinkSync("..data/gateway.yaml", join(mounted, "gateway.yaml"))
    const second = startCommand(["serve", "--config", join(mounted, "gateway.yaml")], soon, { files: {} })
    const origin = await originOf(second)
    expect(await asked(origin)).toBe("key-1 1")
    version(mounted, 2)
    await second.said(/accounts, configs changed/)
    expect(await asked(origin)).toBe("key-2 2")
    replace(join(mounted, "gateway.yaml"), numbered(3))
    await second.said(/accounts, configs changed/)
    expect(await asked(origin)).toBe("key-3 3")
    writeFileSync(join(mounted, "gateway.yaml"), numbered(4))
    await second.said(/accounts, configs changed/)
    expect(await asked(origin)).toBe("key-4 4")
  })

  it("a reload follows a credential file that appears or changes", async () => {
    const { clientEmail, privateKeyId, privateKeyPem, projectId } = serviceAccount
    const sa = (email: string) =>
      JSON.stringify({
        type: "service_account",
        client_email: email,
        private_key_id: privateKeyId,
        private_key: privateKeyPem,
        project_id: projectId
      })
    const vertex = (file: string) =>
      numbered(1).replace(
        "keys:",
        `  - { slug: vertex-ai, provider: vertex-ai, region: us-central1, credentials: { type: service_account, file: ${file} } }\nkeys:`
      )
    const gateway = startCommand(["serve"], soon, {
      files: { "gateway.yaml": vertex("./one.json"), "one.json": sa(clientEmail) }
    })
    const origin = await originOf(gateway)
    writeFileSync(join(gateway.folder, "one.json"), sa("other@test-project.iam.gserviceaccount.com"))
    await gateway.said(/reloaded from gateway.yaml: accounts changed\./)
    replace(join(gateway.folder, "gateway.yaml"), vertex("./two.json"))
    await gateway.said(/credentials {2}the credential file does not exist/)
    await gateway.said(/the one in use stays/)
    writeFileSync(join(gateway.folder, "two.json"), sa("third@test-project.iam.gserviceaccount.com"))
    await gateway.said(/reloaded from gateway.yaml: accounts changed\./)
    expect(await reloads(origin)).toEqual([
      'gateway_config_reload_total{result="failure"} 1',
      'gateway_config_reload_total{result="success"} 2'
    ])
  })
})

describe("reloading under load (F37)", { timeout: 120_000 }, () => {
  const rounds = isRelease ? 40 : 12

  it("many reloads under requests, some with faults, fail no request and mix no two configurations", async () => {
    const gateway = start(["serve"], {
      files: { "gateway.yaml": numbered(100) },
      env: { ...never, GATEWAY_LOG_FORMAT: "off" }
    })
    const origin = await originOf(gateway)
    const file = join(gateway.folder, "gateway.yaml")
    const [before, statuses] = [calls.length, new Set<number>()]
    let isOver = false
    const client = async (): Promise<void> => {
      while (!isOver) statuses.add(await ask(origin))
    }
    const clients = Promise.all(Array.from({ length: 8 }, client))
    for (let n = 101; n <= 100 + rounds; n++) {
      const isFaulty = n % 4 === 0
      replace(file, isFaulty ? `${numbered(n)}keys: 7\n` : numbered(n))
      gateway.child.kill("SIGHUP")
      await gateway.said(isFaulty ? /the one in use stays/ : /accounts, configs changed/)
      const [met, own] = [calls.length, await asked(origin)]
      const valid = isFaulty ? n - 1 : n
      // Requests after a change use the changed configuration.
      expect([own === undefined, calls.slice(met).includes(`key-${valid} ${valid}`)]).toEqual([false, true])
    }
    isOver = true
    await clients
    expect([...statuses]).toEqual([200])
    const seen = new Set(calls.slice(before))
    expect([...seen].filter((pair) => !/^key-(\d+) \1$/.test(pair))).toEqual([])
    expect([...seen].filter((pair) => Number(pair.split(" ")[1]) % 4 === 0 && !pair.endsWith(" 100"))).toEqual([])
    expect(await reloads(origin)).toEqual([
      `gateway_config_reload_total{result="failure"} ${rounds / 4}`,
      `gateway_config_reload_total{result="success"} ${(rounds * 3) / 4}`
    ])
  })
})
