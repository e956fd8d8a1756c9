// Packs the package, installs it into an empty project as a user does, compiles the project and runs it.
// Must not use the repository's own packages. Needs the registry; `.ci/run` calls it.
import { execFileSync } from "node:child_process"
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("../../", import.meta.url))
const folder = mkdtempSync(join(tmpdir(), "consumer-"))
const began = Date.now()

const run = (cwd: string, program: string, ...args: ReadonlyArray<string>): string =>
  execFileSync(program, args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] })

const bin = (name: string): string => join(root, "node_modules", ".bin", name)

/** The files of the package, built apart from the repository; the path of the packed file. */
const packed = (): string => {
  const build = join(folder, "build")
  mkdirSync(build)
  run(root, bin("tsc"), "-p", "tsconfig.build.json", "--outDir", join(build, "dist"))
  run(root, bin("rolldown"), "--config", "test/build/program.ts", "--dir", join(build, "dist"))
  const { files }: { readonly files: ReadonlyArray<string> } = JSON.parse(
    readFileSync(join(root, "package.json"), "utf8")
  )
  for (const name of ["package.json", ...files.filter((name) => name !== "dist")])
    cpSync(join(root, name), join(build, name), { recursive: true })
  return join(build, run(build, "npm", "pack", "--ignore-scripts", "--silent").trim())
}

/** The examples that need no server, which is what a user writes first. */
const shown = [
  "add-a-provider",
  "exact-failures",
  "handle-errors",
  "replace-a-layer",
  "test-your-app",
  "translate-only"
]

const entries = `
import * as index from "model-gateway"
import * as schema from "model-gateway/schema"
import * as translate from "model-gateway/translate"
import * as client from "model-gateway/client"
import * as effectClient from "model-gateway/client/effect"
import * as testing from "model-gateway/testing"
console.log([index, schema, translate, client, effectClient, testing].every((one) => Object.keys(one).length > 0))
`

const compilers = { "typescript-5.9": "5.9", "typescript-7": "7" }
const options = {
  nodenext: { module: "nodenext", moduleResolution: "nodenext" },
  bundler: { module: "esnext", moduleResolution: "bundler" }
}
const most = 40 * 1024

try {
  const app = join(folder, "app")
  mkdirSync(join(app, "src"), { recursive: true })
  writeFileSync(
    join(app, "package.json"),
    JSON.stringify({
      private: true,
      type: "module",
      dependencies: { "model-gateway": `file:${packed()}` },
      devDependencies: {
        "@types/node": "24",
        ...Object.fromEntries(Object.entries(compilers).map(([name, version]) => [name, `npm:typescript@${version}`]))
      }
    })
  )
  run(app, "npm", "install", "--prefer-offline", "--no-audit", "--no-fund")
  writeFileSync(join(app, "src", "entries.ts"), entries)
  for (const name of shown) cpSync(join(root, "examples", `${name}.ts`), join(app, "src", `${name}.ts`))
  for (const [name, more] of Object.entries(options)) {
    const compilerOptions = {
      ...more,
      target: "es2023",
      strict: true,
      skipLibCheck: false,
      noEmit: true,
      types: ["node"]
    }
    writeFileSync(join(app, `tsconfig.${name}.json`), JSON.stringify({ compilerOptions, include: ["src"] }))
    for (const compiler of Object.keys(compilers)) {
      run(app, process.execPath, join("node_modules", compiler, "bin", "tsc"), "-p", `tsconfig.${name}.json`)
      console.log(`${compiler} ${name}: compiles with skipLibCheck false`)
    }
  }
  for (const name of ["entries", ...shown]) run(app, process.execPath, "--no-warnings", join("src", `${name}.ts`))
  console.log(`${shown.length + 1} programs run`)
  const installed = join(app, "node_modules", "model-gateway")
  const { exports }: { readonly exports: Readonly<Record<string, { readonly types: string }>> } = JSON.parse(
    readFileSync(join(installed, "package.json"), "utf8")
  )
  for (const [entry, { types }] of Object.entries(exports)) {
    const { size } = statSync(join(installed, types))
    console.log(`${entry}: ${size} bytes of types`)
    if (size > most) throw new Error(`the types of ${entry} have ${size} bytes, more than ${most}`)
  }
  const copies = readdirSync(join(app, "node_modules")).filter((name) => name === "effect").length
  console.log(`${copies} Effect; ${Math.round((Date.now() - began) / 1000)} s`)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
