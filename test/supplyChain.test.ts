// Tests the lockfile, its licences and its sizes, and each supply chain rule with a planted violation.
// Must not call the network; `.ci/run` does, where it answers.
import { execFileSync } from "node:child_process"
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"
import {
  auditFindings,
  componentFaults,
  copies,
  licenceFaults,
  licenceLines,
  licencesOf,
  type LockEntry,
  type Lockfile,
  lockFaults,
  type Manifest,
  pinFaults,
  productionLock,
  required
} from "./support/supplyChain.ts"

const json = <A>(path: string): A =>
  JSON.parse(readFileSync(fileURLToPath(new URL(`../${path}`, import.meta.url)), "utf8"))
const manifest = json<Manifest>("package.json")
const lock = json<Lockfile>("package-lock.json")
const production = productionLock(lock)

const integrity = `sha512-${"A".repeat(86)}==`
const sound: LockEntry = { version: "1.0.0", integrity, license: "MIT" }
const locked = (packages: Readonly<Record<string, LockEntry>>): Lockfile => ({
  lockfileVersion: 3,
  packages: { "": {}, ...packages }
})

describe("files of the package", () => {
  it("package: takes the files it names, and none that an operator keeps in the working copy (TH29b)", () => {
    const { files } = json<{ readonly files: ReadonlyArray<string> }>("package.json")
    const named = files.filter((name) => name !== "dist")
    const copy = mkdtempSync(join(tmpdir(), "model-gateway-pack-"))
    try {
      for (const name of ["package.json", "deploy", ...named])
        cpSync(fileURLToPath(new URL(`../${name}`, import.meta.url)), join(copy, name), { recursive: true })
      for (const secret of [
        "deploy/config/service-account.json",
        "deploy/config/keys.yaml",
        "deploy/.env",
        "deploy/tls.key",
        "deploy/helm/values-production.yaml",
        "deploy/helm/templates/secret.yaml",
        ".env"
      ])
        writeFileSync(join(copy, secret), "secret")
      const printed = execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
        cwd: copy,
        encoding: "utf8",
        stdio: ["ignore", "pipe", "ignore"]
      })
      const [packed]: ReadonlyArray<{ readonly files: ReadonlyArray<{ readonly path: string }> }> = JSON.parse(printed)
      expect(packed?.files.map(({ path }) => path).toSorted()).toEqual([...named, "package.json"].toSorted())
    } finally {
      rmSync(copy, { recursive: true, force: true })
    }
  })
})

describe("lockfile of the project", () => {
  it("lockfile: names a digest for every package, no address and two scripts, one of them refused (TH29)", () => {
    expect(lockFaults(lock, manifest)).toEqual([])
    expect(
      Object.entries(lock.packages)
        .filter(([, { hasInstallScript }]) => hasInstallScript === true)
        .map(([path]) => path)
    ).toEqual(["node_modules/node", "node_modules/protobufjs"])
  })

  it("lockfile: has exact versions, and one copy of each production package (TH29)", () => {
    expect(pinFaults(manifest)).toEqual([])
    expect(copies(production)).toEqual([])
  })

  it("lockfile: has licences without conditions for the program (TH29)", () => {
    expect(licenceFaults(licencesOf(production))).toEqual([])
  })

  it("lockfile: needs at most 12 packages without the optional ones", () => {
    expect(required(lock, manifest)).toEqual([
      "@effect/platform-node",
      "@effect/platform-node-shared",
      "@pydantic/genai-prices",
      "@types/node",
      "@types/ws",
      "effect",
      "undici",
      "undici-types",
      "ws"
    ])
  })
})

const planted: ReadonlyArray<readonly [what: string, lock: Lockfile, faults: ReadonlyArray<string>]> = [
  ["nothing", locked({ "node_modules/a": sound }), []],
  [
    "an entry without a digest",
    locked({ "node_modules/a": { version: "1.0.0" } }),
    ["node_modules/a: has no sha512 integrity"]
  ],
  [
    "an old digest",
    locked({ "node_modules/a": { ...sound, integrity: "sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=" } }),
    ["node_modules/a: has no sha512 integrity"]
  ],
  [
    "an address",
    locked({ "node_modules/@b/a": { ...sound, resolved: "https://packages.example/a.tgz" } }),
    ["node_modules/@b/a: names an address"]
  ],
  [
    "a script",
    locked({ "node_modules/x/node_modules/@b/a": { ...sound, hasInstallScript: true } }),
    ["node_modules/x/node_modules/@b/a: runs a script when it is installed"]
  ],
  ["the script that may run", locked({ "node_modules/node": { ...sound, hasInstallScript: true } }), []],
  [
    "a script that is refused by name, which npm does not run",
    locked({ "node_modules/refused": { ...sound, hasInstallScript: true } }),
    []
  ],
  [
    "a script that nothing is stated about",
    locked({ "node_modules/a": { ...sound, hasInstallScript: true } }),
    ["node_modules/a: runs a script when it is installed"]
  ],
  ["a link", locked({ "node_modules/a": { ...sound, link: true } }), ["node_modules/a: is no package of a registry"]],
  ["a folder", locked({ "packages/a": sound }), ["packages/a: is no package of a registry"]],
  ["an older form", { ...locked({}), lockfileVersion: 2 }, ["lockfileVersion is 2, not 3"]]
]

describe("planted violations", () => {
  it.each(planted)("supply chain rules: find or accept %s", (_, lock, faults) => {
    expect(lockFaults(lock, { allowScripts: { node: true, refused: false } })).toEqual(faults)
  })

  it("supply chain rules: find a range of versions", () => {
    expect(
      pinFaults({
        dependencies: { a: "1.0.0", b: "^1.0.0" },
        optionalDependencies: { c: "~2.0.0" },
        devDependencies: { d: "latest", e: "1.0.0-rc.1" }
      })
    ).toEqual(["b: ^1.0.0 is no exact version", "c: ~2.0.0 is no exact version", "d: latest is no exact version"])
  })

  it("supply chain rules: find a second copy", () => {
    expect(
      copies(locked({ "node_modules/a": sound, "node_modules/b": sound, "node_modules/b/node_modules/a": sound }))
    ).toEqual(["a"])
  })

  it("supply chain rules: development is not production, a peer is", () => {
    const whole: Lockfile = {
      lockfileVersion: 3,
      packages: {
        "": {
          dependencies: { a: "1.0.0" },
          devDependencies: { b: "1.0.0", c: "1.0.0" },
          peerDependencies: { c: "1.0.0" }
        },
        "node_modules/a": sound,
        "node_modules/b": { ...sound, dev: true },
        "node_modules/c": { ...sound, dev: true }
      }
    }
    expect(productionLock(whole)).toEqual({
      lockfileVersion: 3,
      packages: {
        "": { dependencies: { a: "1.0.0" }, peerDependencies: { c: "1.0.0" } },
        "node_modules/a": { ...sound, dev: false },
        "node_modules/c": { ...sound, dev: false }
      }
    })
  })

  it("supply chain rules: find a licence that is not on the list", () => {
    const found = licencesOf(
      locked({
        "node_modules/b": { ...sound, license: "GPL-3.0" },
        "node_modules/a": sound,
        "node_modules/c": { version: "2.0.0" }
      })
    )
    expect(licenceLines(found)).toBe("a 1.0.0 MIT\nb 1.0.0 GPL-3.0\nc 2.0.0 none\n")
    expect(licenceFaults(found)).toEqual([
      "b: the licence GPL-3.0 is not on the list",
      "c: the licence none is not on the list"
    ])
  })

  it("supply chain rules: find a list of components without a component, and with another digest", () => {
    const two = locked({ "node_modules/a": sound, "node_modules/@c/b": sound })
    const hashes = [{ alg: "SHA-512", content: "0".repeat(128) }]
    expect(
      componentFaults(
        {
          bomFormat: "CycloneDX",
          components: [
            { name: "a", version: "1.0.0", hashes },
            { name: "@c/b", version: "1.0.0", hashes }
          ]
        },
        two
      )
    ).toEqual([])
    expect(
      componentFaults({ bomFormat: "CycloneDX", components: [{ name: "a", version: "1.0.0", hashes }] }, two)
    ).toEqual(["@c/b 1.0.0: is not listed"])
    expect(
      componentFaults({ components: [{ name: "a", version: "1.0.0" }] }, locked({ "node_modules/a": sound }))
    ).toEqual(["it is no CycloneDX list", "a 1.0.0: its digest is another"])
  })

  it("supply chain rules: high and critical findings of an audit count, and no answer is no finding", () => {
    expect(
      auditFindings({
        metadata: { vulnerabilities: { info: 1, low: 9, moderate: 9, high: 2, critical: 1, total: 22 } }
      })
    ).toBe(3)
    expect(
      auditFindings({ metadata: { vulnerabilities: { info: 0, low: 0, moderate: 4, high: 0, critical: 0, total: 4 } } })
    ).toBe(0)
    expect(auditFindings({ message: "405 Method Not Allowed", statusCode: 405 })).toBe(undefined)
    expect(auditFindings(undefined)).toBe(undefined)
  })
})
