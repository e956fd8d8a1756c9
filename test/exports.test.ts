// The package as it would be published: built, packed and unpacked elsewhere; its subpaths, its types, and the client without Node.
import { execFile } from "node:child_process"
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { gatewayKey, startTestGateway, type TestGateway } from "./support/TestGateway.ts"

const root = join(dirname(fileURLToPath(import.meta.url)), "..")
const run = promisify(execFile)
const tsc = join(root, "node_modules", ".bin", "tsc")

interface Manifest {
  readonly exports: Readonly<Record<string, { readonly types: string; readonly default: string }>>
  readonly files: ReadonlyArray<string>
  readonly dependencies: Readonly<Record<string, string>>
}
const manifest: Manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))

/** An application beside which the packed package is installed, its dependencies linked from here. */
let app = ""
let build = ""
beforeAll(async () => {
  build = mkdtempSync(join(tmpdir(), "model-gateway-build-"))
  app = mkdtempSync(join(tmpdir(), "model-gateway-app-"))
  await run(tsc, ["-p", join(root, "tsconfig.build.json"), "--outDir", join(build, "dist")])
  for (const name of ["package.json", ...manifest.files.filter((name) => name !== "dist")]) cpSync(join(root, name), join(build, name), { recursive: true })
  const { stdout } = await run("npm", ["pack", "--ignore-scripts", "--silent"], { cwd: build })
  mkdirSync(join(app, "node_modules", "model-gateway"), { recursive: true })
  await run("tar", ["-xzf", join(build, stdout.trim()), "-C", join(app, "node_modules", "model-gateway"), "--strip-components=1"])
  for (const name of Object.keys(manifest.dependencies)) {
    mkdirSync(dirname(join(app, "node_modules", name)), { recursive: true })
    symlinkSync(join(root, "node_modules", name), join(app, "node_modules", name))
  }
  writeFileSync(join(app, "package.json"), "{ \"type\": \"module\" }")
}, 120_000)
afterAll(() => {
  for (const folder of [app, build]) rmSync(folder, { recursive: true, force: true })
})

const node = async (name: string, source: string, ...args: ReadonlyArray<string>): Promise<unknown> => {
  writeFileSync(join(app, name), source)
  const { stdout } = await run(process.execPath, ["--no-warnings", "--experimental-vm-modules", join(app, name), ...args])
  return JSON.parse(stdout)
}

describe("the packed package", () => {
  it("has its subpaths, each with names that work from elsewhere", async () => {
    const names = Object.keys(manifest.exports).map((path) => `model-gateway${path.slice(1)}`)
    const found = await node("subpaths.js", `
      const names = ${JSON.stringify(names)}
      const found = {}
      for (const name of names) found[name] = Object.keys(await import(name)).sort()
      console.log(JSON.stringify(found))
    `)
    expect(found).toMatchObject({
      "model-gateway/client": [
        "Aborted", "AnswerBroken", "AuthenticationFailed", "ConnectionFailed", "EventStream", "GatewayFailure", "NotFound", "PermissionDenied",
        "QuotaExhausted", "RateLimited", "RequestInvalid", "ServiceFailed", "TimedOut", "createClient", "createHeaders", "factsOf"
      ],
      "model-gateway/client/effect": ["GatewayClient"]
    })
    expect(Object.entries(Object(found)).flatMap(([name, exported]) => (Array.isArray(exported) && exported.length > 0 ? [name] : []))).toEqual(names)
  })

  it("has the types of the client", async () => {
    writeFileSync(join(app, "typed.ts"), `
      import { createClient, type ChatCompletion, NotFound } from "model-gateway/client"
      import { GatewayClient } from "model-gateway/client/effect"
      const client = createClient({ baseUrl: "http://127.0.0.1:8787", apiKey: "mgk_demo" })
      export const whole: Promise<ChatCompletion> = client.chat.completions.create({ model: "m", messages: [{ role: "user", content: "Hello" }] })
      export const text = async () => {
        for await (const chunk of await client.chat.completions.create({ model: "m", messages: [], stream: true })) chunk.choices[0]?.delta.content?.at(0)
      }
      export const code = (error: unknown): string | undefined => (error instanceof NotFound ? error.code : undefined)
      export const layer = GatewayClient.layer({ baseUrl: "http://127.0.0.1:8787" })
      // @ts-expect-error a role that is none
      void client.chat.completions.create({ model: "m", messages: [{ role: "nobody", content: "Hello" }] })
    `)
    const flags = ["--noEmit", "--strict", "--skipLibCheck", "--module", "nodenext", "--target", "es2024", "--lib", "es2024,dom,dom.iterable", "--types", ""]
    await expect(run(tsc, [...flags, join(app, "typed.ts")], { cwd: app })).resolves.toMatchObject({ stdout: "" })
  })
})

describe("the packed client where there is no Node", () => {
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startTestGateway()
  })
  afterAll(() => gateway.close())

  it("imports nothing but its own files, and runs with the globals of a browser", async () => {
    const result = await node("browser.js", `
      import { readFileSync } from "node:fs"
      import vm from "node:vm"
      const [, , entry, baseUrl, apiKey] = process.argv
      const { AbortController, AbortSignal, Headers, Request, Response, TextDecoder, TextEncoder, URL, clearTimeout, fetch, setTimeout } = globalThis
      const context = vm.createContext({ AbortController, AbortSignal, Headers, Request, Response, TextDecoder, TextEncoder, URL, clearTimeout, fetch, setTimeout })
      const modules = new Map()
      const load = (url) => {
        if (!modules.has(url.href)) modules.set(url.href, new vm.SourceTextModule(readFileSync(url, "utf8"), { context, identifier: url.href }))
        return modules.get(url.href)
      }
      const client = load(new URL(entry, "file:///"))
      await client.link((specifier, from) => {
        if (!specifier.startsWith(".")) throw new Error(from.identifier + " imports " + specifier)
        return load(new URL(specifier, from.identifier))
      })
      await client.evaluate()
      const page = new vm.SourceTextModule(\`
        import { createClient, RequestInvalid } from "client"
        export const result = async (baseUrl, apiKey) => {
          const client = createClient({ baseUrl, apiKey, maxRetries: 0 })
          const chat = { model: "@google/gemini-2.5-flash", messages: [{ role: "user", content: "Hello" }] }
          const whole = await client.chat.completions.create(chat)
          let text = ""
          for await (const chunk of await client.chat.completions.create({ ...chat, stream: true })) text += chunk.choices[0]?.delta.content ?? ""
          const failed = await client.chat.completions.create({ ...chat, messages: [] }).catch((error) => error instanceof RequestInvalid && error.code)
          return { same: text === whole.choices[0].message.content && text !== "", failed, node: typeof process + typeof Buffer }
        }
      \`, { context })
      await page.link(() => client)
      await page.evaluate()
      console.log(JSON.stringify({ ...await page.namespace.result(baseUrl, apiKey), files: modules.size > 5 }))
    `, join(app, "node_modules", "model-gateway", "dist", "client", "Client.js"), gateway.url, gatewayKey)
    expect(result).toEqual({ same: true, failed: "empty_array", node: "undefinedundefined", files: true })
  })
})
