// Tests the package as published: built, packed and installed elsewhere; subpaths, types, program, client without Node.
// Must not import the sources of the package, except to compare their exports.
import { execFile, spawn } from "node:child_process"
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { browserClient, clientNames, inBrowser } from "./support/browserClient.ts"
import { startTestGateway, type TestGateway } from "./support/TestGateway.ts"

const root = join(dirname(fileURLToPath(import.meta.url)), "..")
const run = promisify(execFile)
const tool = (name: string): string => join(root, "node_modules", ".bin", name)
const tsc = tool("tsc")

interface Manifest {
  readonly bin: Readonly<Record<string, string>>
  readonly exports: Readonly<
    Record<string, { readonly "model-gateway-source": string; readonly types: string; readonly default: string }>
  >
  readonly files: ReadonlyArray<string>
  readonly dependencies: Readonly<Record<string, string>>
  readonly peerDependencies: Readonly<Record<string, string>>
  readonly peerDependenciesMeta: Readonly<Record<string, unknown>>
}
const manifest: Manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))

/** The compiler is slow among concurrent tests; these tests do not measure speed. */
const patience = 600_000

/** An application with the packed package installed; its dependencies are links. */
let app = ""
let build = ""
beforeAll(async () => {
  build = mkdtempSync(join(tmpdir(), "model-gateway-build-"))
  app = mkdtempSync(join(tmpdir(), "model-gateway-app-"))
  await run(tsc, ["-p", join(root, "tsconfig.build.json"), "--outDir", join(build, "dist")])
  await run(tool("rolldown"), ["--config", "test/build/program.ts", "--dir", join(build, "dist")], { cwd: root })
  await run(tool("rolldown"), ["--config", "test/build/console.ts", "--dir", join(build, "dist")], { cwd: root })
  for (const name of ["package.json", ...manifest.files.filter((name) => name !== "dist")])
    cpSync(join(root, name), join(build, name), { recursive: true })
  const { stdout } = await run("npm", ["pack", "--ignore-scripts", "--silent"], { cwd: build })
  mkdirSync(join(app, "node_modules", "model-gateway"), { recursive: true })
  await run("tar", [
    "-xzf",
    join(build, stdout.trim()),
    "-C",
    join(app, "node_modules", "model-gateway"),
    "--strip-components=1"
  ])
  // Links the declared dependencies, and Node's types for programs of a user. Undeclared and optional packages are absent.
  const peers = Object.keys(manifest.peerDependencies).filter((name) => !(name in manifest.peerDependenciesMeta))
  for (const name of [...Object.keys(manifest.dependencies), ...peers, "@types/node"]) {
    mkdirSync(dirname(join(app, "node_modules", name)), { recursive: true })
    symlinkSync(join(root, "node_modules", name), join(app, "node_modules", name))
  }
  writeFileSync(join(app, "package.json"), '{ "type": "module" }')
}, patience)
afterAll(() => {
  for (const folder of [app, build]) rmSync(folder, { recursive: true, force: true })
})

const node = async (name: string, source: string): Promise<unknown> => {
  writeFileSync(join(app, name), source)
  const { stdout } = await run(process.execPath, ["--no-warnings", join(app, name)])
  return JSON.parse(stdout)
}

/** The examples and the code blocks of pages that import the package. */
const shownCode = (): ReadonlyArray<string> => {
  const imports = (code: string): boolean => /from "model-gateway(?:\/testing|\/translate)?"/.test(code)
  const pages = ["README.md", "docs/embedding.md", "docs/add-a-provider.md"].map((page) =>
    readFileSync(join(root, page), "utf8")
  )
  const blocks = pages.flatMap((page) => [...page.matchAll(/^```ts\n([\s\S]*?)^```/gm)].map(([, code = ""]) => code))
  const examples = readdirSync(join(root, "examples")).map((name) => readFileSync(join(root, "examples", name), "utf8"))
  return [...blocks, ...examples].filter(imports)
}

describe("packed package", { timeout: 120_000 }, () => {
  it("the packed package contains the listed files only: no sources, no tests", () => {
    const installed = join(app, "node_modules", "model-gateway")
    const files = readdirSync(installed, { recursive: true, withFileTypes: true })
      .filter((one) => one.isFile())
      .map((one) => join(one.parentPath, one.name).slice(installed.length + 1))
    expect(files.filter((path) => !path.startsWith("dist/")).toSorted()).toEqual(
      [...manifest.files.filter((name) => name !== "dist"), "package.json"].toSorted()
    )
    expect(files.filter((path) => /(^|\/)test\/|\.test\.|(?<!\.d)\.ts$/.test(path))).toEqual([])
    const named = [
      ...Object.values(manifest.exports).flatMap((one) => [one.types, one.default]),
      ...Object.values(manifest.bin)
    ]
    expect(named.filter((path) => !existsSync(join(installed, path)))).toEqual([])
  })

  it("packed package: exports from every subpath the names of the sources", async () => {
    const given = await node(
      "names.js",
      `
      const names = ${JSON.stringify(Object.keys(manifest.exports).map((path) => `model-gateway${path.slice(1)}`))}
      console.log(JSON.stringify(await Promise.all(names.map(async (name) => Object.keys(await import(name)).sort()))))
    `
    )
    const sources = Object.values(manifest.exports).map((one) => import(join(root, one["model-gateway-source"])))
    expect(given).toEqual((await Promise.all(sources)).map((one) => Object.keys(one).toSorted()))
  })

  it("packed package: its types compile the documented code and the examples", async () => {
    const codes = shownCode()
    expect(codes.length).toBeGreaterThan(6)
    const folder = join(app, "shown")
    mkdirSync(folder)
    for (const [index, code] of codes.entries()) writeFileSync(join(folder, `${index}.ts`), code)
    const { compilerOptions } = JSON.parse(readFileSync(join(root, "tsconfig.json"), "utf8"))
    writeFileSync(
      join(folder, "tsconfig.json"),
      JSON.stringify({
        compilerOptions: { ...compilerOptions, customConditions: [], noUnusedLocals: false },
        include: ["*.ts"]
      })
    )
    const { stdout } = await run(tsc, ["-p", folder]).catch(({ stdout }: { stdout: string }) => ({ stdout }))
    expect(stdout).toBe("")
  })

  it("packed package: every type that an exported value's type mentions is exported", async () => {
    const folder = join(app, "named")
    mkdirSync(folder)
    for (const [index, [path, one]] of Object.entries(manifest.exports).entries()) {
      const sources: object = await import(join(root, one["model-gateway-source"]))
      const values = Object.keys(sources).map((name) => `export const ${name} = all.${name}`)
      writeFileSync(
        join(folder, `${index}.ts`),
        [`import * as all from "model-gateway${path.slice(1)}"`, ...values, ""].join("\n")
      )
    }
    const { compilerOptions } = JSON.parse(readFileSync(join(root, "tsconfig.json"), "utf8"))
    const options = { ...compilerOptions, customConditions: [], declaration: true, noEmit: false, outDir: "out" }
    writeFileSync(
      join(folder, "tsconfig.json"),
      JSON.stringify({ compilerOptions: { ...options, allowImportingTsExtensions: false }, include: ["*.ts"] })
    )
    const { stdout } = await run(tsc, ["-p", folder]).catch(({ stdout }: { stdout: string }) => ({ stdout }))
    expect(stdout).toBe("")
  })

  it("the packed package serves as the image does, and reports when it is ready", async () => {
    const program = join(app, "node_modules", "model-gateway", manifest.bin["model-gateway"] ?? "")
    const env = {
      PATH: process.env["PATH"],
      HOME: app,
      NODE_ENV: "production",
      GATEWAY_SERVER_PORT: "0",
      GATEWAY_API_KEY: "mgk_packed_0123456789"
    }
    const child = spawn(process.execPath, [program, "serve"], { cwd: app, env })
    const ended = new Promise((done) => child.once("close", done))
    const origin = await new Promise<string>((done, failed) => {
      let said = ""
      child.stderr.on("data", (part) => {
        said += part
        const found = /API\s+(http:\S+)\/v1\n/.exec(said)
        if (found !== null) done(found[1] ?? "")
      })
      child.once("close", (code) => failed(new Error(`ended with ${code}: ${said}`)))
    })
    const { stdout } = await run(process.execPath, [program, "health", "--url", origin], { cwd: app, env })
    const page = await fetch(`${origin}/console/`)
    const script = /src="([^"]+)"/.exec(await page.text())?.[1] ?? ""
    const served = [page.status, (await fetch(origin + script)).headers.get("content-type")]
    child.kill("SIGKILL")
    await ended
    expect(stdout).toBe("ready\n")
    expect(served).toEqual([200, "text/javascript; charset=utf-8"])
  })

  it("packed package: its subpaths resolve in another application", async () => {
    const names = Object.keys(manifest.exports).map((path) => `model-gateway${path.slice(1)}`)
    const found = await node(
      "subpaths.js",
      `
      const names = ${JSON.stringify(names)}
      const found = {}
      for (const name of names) found[name] = Object.keys(await import(name)).sort()
      console.log(JSON.stringify(found))
    `
    )
    expect(found).toMatchObject({
      "model-gateway/client": clientNames,
      "model-gateway/client/effect": ["GatewayClient"]
    })
    expect(
      Object.entries(Object(found)).flatMap(([name, exported]) =>
        Array.isArray(exported) && exported.length > 0 ? [name] : []
      )
    ).toEqual(names)
  })

  it("packed package: the types of each entry are small, and source maps hold their sources", () => {
    const installed = join(app, "node_modules", "model-gateway")
    const sizes = Object.entries(manifest.exports).map(
      ([entry, { types }]) => [entry, statSync(join(installed, types)).size] as const
    )
    expect(sizes.filter(([, size]) => size > 40 * 1024)).toEqual([])
    const maps = readdirSync(join(installed, "dist"), { recursive: true, encoding: "utf8" }).filter((name) =>
      name.endsWith(".js.map")
    )
    const bare = maps.filter((name) => {
      const { sourcesContent }: { readonly sourcesContent?: ReadonlyArray<string> } = JSON.parse(
        readFileSync(join(installed, "dist", name), "utf8")
      )
      return sourcesContent === undefined
    })
    expect([maps.length > 100, bare]).toEqual([true, []])
  })

  it("packed package: has the types of the client", async () => {
    writeFileSync(
      join(app, "typed.ts"),
      `
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
    `
    )
    const flags = [
      "--noEmit",
      "--strict",
      "--skipLibCheck",
      "--module",
      "nodenext",
      "--target",
      "es2024",
      "--lib",
      "es2024,dom,dom.iterable",
      "--types",
      ""
    ]
    await expect(run(tsc, [...flags, join(app, "typed.ts")], { cwd: app })).resolves.toMatchObject({ stdout: "" })
  })
})

describe("packed client without Node", { timeout: patience }, () => {
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startTestGateway()
  })
  afterAll(() => gateway.close())

  it("packed client: imports its own files only, and runs with the globals of a browser", async () => {
    const entry = join(app, "node_modules", "model-gateway", "dist", "client", "Client.js")
    expect(await browserClient(entry, gateway.url)).toEqual(inBrowser)
  })
})
