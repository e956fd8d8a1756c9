// The rules for lockfile, licences and list of components, as functions of plain values.
// Must not depend on files, npm or the network.

export interface LockEntry {
  readonly version?: string
  readonly integrity?: string
  readonly resolved?: string
  readonly link?: boolean
  readonly license?: string
  readonly hasInstallScript?: boolean
  readonly dev?: boolean
  readonly optional?: boolean
  readonly devOptional?: boolean
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

export interface Lockfile {
  readonly lockfileVersion: number
  readonly packages: Readonly<Record<string, LockEntry>>
}

export interface Manifest {
  readonly allowScripts?: Readonly<Record<string, boolean>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  /** Peer dependencies that are optional. */
  readonly peerDependenciesMeta?: Readonly<Record<string, unknown>>
}

/** The name a path of the lockfile ends in. */
const nameOf = (path: string): string => path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length)

const entriesOf = ({ packages }: Lockfile): ReadonlyArray<readonly [path: string, entry: LockEntry]> =>
  Object.entries(packages).filter(([path]) => path !== "")

const sha512 = /^sha512-[A-Za-z0-9+/]{86}==$/
const exactVersion = /^\d+\.\d+\.\d+(?:-[\w.]+)?$/

const entryFaults = (
  path: string,
  entry: LockEntry,
  allowed: Readonly<Record<string, boolean>>
): ReadonlyArray<string> => [
  ...(path.startsWith("node_modules/") && entry.link !== true ? [] : [`${path}: is no package of a registry`]),
  ...(sha512.test(entry.integrity ?? "") ? [] : [`${path}: has no sha512 integrity`]),
  ...(entry.resolved === undefined ? [] : [`${path}: names an address`]),
  // Each script is allowed or denied by name; npm runs allowed ones only.
  ...(entry.hasInstallScript === true && allowed[nameOf(path)] === undefined
    ? [`${path}: runs a script when it is installed`]
    : [])
]

/** What the entries of a lockfile lack. Only scripts that `allowScripts` of the manifest names may run. */
export const lockFaults = (lock: Lockfile, { allowScripts = {} }: Manifest): ReadonlyArray<string> => [
  ...(lock.lockfileVersion === 3 ? [] : [`lockfileVersion is ${lock.lockfileVersion}, not 3`]),
  ...entriesOf(lock).flatMap(([path, entry]) => entryFaults(path, entry, allowScripts))
]

/** Declared versions that leave a choice. */
export const pinFaults = ({ dependencies, devDependencies, optionalDependencies }: Manifest): ReadonlyArray<string> =>
  Object.entries({ ...dependencies, ...optionalDependencies, ...devDependencies })
    .filter(([, range]) => !exactVersion.test(range))
    .map(([name, range]) => `${name}: ${range} is no exact version`)

/**
 * The lockfile of production: without development packages, with optional packages, and with installed peer dependencies
 * and what these need.
 */
export const productionLock = (lock: Lockfile): Lockfile => {
  const { devDependencies: _, ...root } = lock.packages[""] ?? {}
  const peers = new Set(required(lock, { dependencies: root.peerDependencies ?? {} }))
  const kept = entriesOf(lock).filter(
    ([path, { dev }]) => dev !== true || (peers.has(nameOf(path)) && path === `node_modules/${nameOf(path)}`)
  )
  return {
    ...lock,
    packages: { "": root, ...Object.fromEntries(kept.map(([path, entry]) => [path, { ...entry, dev: false }])) }
  }
}

/** Packages of which more than one copy is installed. */
export const copies = (lock: Lockfile): ReadonlyArray<string> => {
  const names = entriesOf(lock).map(([path]) => nameOf(path))
  return [...new Set(names.filter((name, at) => names.indexOf(name) !== at))].toSorted()
}

/** Names that the manifest's dependencies and peers reach by dependencies alone, without optional packages. */
export const required = (
  lock: Lockfile,
  { dependencies = {}, peerDependencies = {}, peerDependenciesMeta = {} }: Manifest
): ReadonlyArray<string> => {
  const found = new Set<string>()
  const visit = (names: ReadonlyArray<string>): void => {
    for (const name of names) {
      if (found.has(name)) continue
      found.add(name)
      visit(Object.keys(lock.packages[`node_modules/${name}`]?.dependencies ?? {}))
    }
  }
  visit(Object.keys(dependencies))
  visit(Object.keys(peerDependencies).filter((name) => peerDependenciesMeta[name] === undefined))
  return [...found].toSorted()
}

/** Licences that allow use, change and distribution without conditions on the program that uses them. */
export const allowedLicences: ReadonlySet<string> = new Set([
  "MIT",
  "ISC",
  "Apache-2.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "0BSD"
])

export interface Licensed {
  readonly name: string
  readonly version: string
  readonly licence: string
}

/** Packages by name, each with the licence that its entry states. */
export const licencesOf = (lock: Lockfile): ReadonlyArray<Licensed> =>
  entriesOf(lock)
    .map(([path, { license = "none", version = "none" }]) => ({ name: nameOf(path), version, licence: license }))
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))

export const licenceFaults = (packages: ReadonlyArray<Licensed>): ReadonlyArray<string> =>
  packages
    .filter(({ licence }) => !allowedLicences.has(licence))
    .map(({ licence, name }) => `${name}: the licence ${licence} is not on the list`)

/** The list of licences as text: one line a package. */
export const licenceLines = (packages: ReadonlyArray<Licensed>): string =>
  packages.map(({ licence, name, version }) => `${name} ${version} ${licence}\n`).join("")

export interface Components {
  readonly bomFormat?: string
  readonly components?: ReadonlyArray<{
    readonly name: string
    readonly version: string
    readonly hashes?: ReadonlyArray<{ readonly alg: string; readonly content: string }>
  }>
}

/** What a CycloneDX list lacks of a lockfile: packages, and their digests. */
export const componentFaults = ({ bomFormat, components = [] }: Components, lock: Lockfile): ReadonlyArray<string> => {
  const listed = new Map<string, string | undefined>(
    components.map(({ hashes = [], name, version }) => [
      `${name} ${version}`,
      hashes.find(({ alg }) => alg === "SHA-512")?.content
    ])
  )
  return [
    ...(bomFormat === "CycloneDX" ? [] : ["it is no CycloneDX list"]),
    ...entriesOf(lock).flatMap(([path, { integrity = "", version }]) => {
      const own = `${nameOf(path)} ${version}`
      const digest = Buffer.from(integrity.replace("sha512-", ""), "base64").toString("hex")
      return listed.get(own) === digest
        ? []
        : [`${own}: ${listed.has(own) ? "its digest is another" : "is not listed"}`]
    })
  ]
}

/** What `npm audit --json` reports: its own count of findings that are high or critical; undefined where the registry did not answer. */
export const auditFindings = (report: unknown): number | undefined => {
  const counts: unknown = Object(Object(Object(report)["metadata"])["vulnerabilities"])
  const { critical, high }: { readonly critical?: unknown; readonly high?: unknown } = Object(counts)
  return typeof critical === "number" && typeof high === "number" ? critical + high : undefined
}
