// Checks the packages of the project: lockfile, licences, list of components, known vulnerabilities.
// Must not define a fault; `supplyChain.ts` has the rules.
import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import {
  auditFindings,
  componentFaults,
  copies,
  licenceFaults,
  licenceLines,
  licencesOf,
  type Lockfile,
  lockFaults,
  type Manifest,
  pinFaults,
  productionLock
} from "./supplyChain.ts"

const root = fileURLToPath(new URL("../../", import.meta.url))
const made = join(root, ".cache", "supply")

const json = <A>(path: string): A => JSON.parse(readFileSync(join(root, path), "utf8"))
const manifest = json<Manifest & Record<string, unknown>>("package.json")
const lock = json<Lockfile>("package-lock.json")
const production = productionLock(lock)

/** The lockfile has the registry's words; an installed package has its own. */
const installed = licencesOf(production).map((one) => {
  const path = `node_modules/${one.name}/package.json`
  return existsSync(join(root, path))
    ? { ...one, licence: json<{ readonly license?: string }>(path).license ?? "none" }
    : one
})

/** npm leaves packages out of its lists that development uses as well; where there is no development it leaves out none. */
const npm = (...args: ReadonlyArray<string>): unknown => {
  const { stdout } = spawnSync("npm", args, {
    cwd: made,
    encoding: "utf8",
    timeout: 60_000,
    maxBuffer: 64 * 1024 * 1024
  })
  try {
    return JSON.parse(stdout)
  } catch {
    return undefined
  }
}

mkdirSync(made, { recursive: true })
const { devDependencies: _, scripts: _scripts, ...alone } = manifest
writeFileSync(join(made, "package.json"), JSON.stringify(alone))
writeFileSync(join(made, "package-lock.json"), JSON.stringify(production))
writeFileSync(join(made, "licences.txt"), licenceLines(installed))
const components = npm("sbom", "--sbom-format=cyclonedx", "--package-lock-only")
writeFileSync(join(made, "sbom.cdx.json"), JSON.stringify(components ?? {}, undefined, 2))
const findings = auditFindings(
  npm("audit", "--package-lock-only", "--json", "--fetch-retries=0", "--fetch-timeout=20000")
)

const faults = [
  ...lockFaults(lock, manifest),
  ...pinFaults(manifest),
  ...copies(production).map((name) => `${name}: more than one copy is installed`),
  ...licenceFaults(installed),
  ...componentFaults(Object(components), production).map((fault) => `list of components: ${fault}`),
  ...(findings === undefined || findings === 0
    ? []
    : [`npm audit: ${findings} high or critical; run npm audit --omit=dev`])
]
console.log(
  `supply: ${Object.keys(lock.packages).length - 1} packages locked, ${installed.length} of them in production`
)
console.log(`supply: licences in .cache/supply/licences.txt, components in .cache/supply/sbom.cdx.json`)
console.log(
  `supply: npm audit ${findings === undefined ? "was skipped, the registry does not answer it" : `has ${findings} high or critical`}`
)
for (const fault of faults) console.error(`supply: ${fault}`)
process.exitCode = faults.length === 0 ? 0 : 1
