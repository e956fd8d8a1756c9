// The house rules R1 to R10 as pure functions over the texts of source files.
// Must not depend on the file system or on a particular file of the project.
import { parseAst } from "vitest/node"

/** A source file: path from the root of the repository, and its text. */
export interface Source {
  readonly path: string
  readonly text: string
}

interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [key: string]: unknown
}

interface Import {
  readonly from: string
  readonly at: number
  /** True for `import type`. */
  readonly isType: boolean
}

interface Parsed extends Source {
  /** The path below `src/`. */
  readonly file: string
  readonly folder: string
  readonly nodes: ReadonlyArray<{ readonly node: Node; readonly parent: Node | undefined }>
  readonly imports: ReadonlyArray<Import>
  readonly lineOf: (offset: number) => number
}

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && "type" in value && typeof value.type === "string" && "start" in value

const flatten = (root: Node): Parsed["nodes"] => {
  const out: Array<{ node: Node; parent: Node | undefined }> = []
  const visit = (node: Node, parent: Node | undefined): void => {
    out.push({ node, parent })
    for (const value of Object.values(node)) {
      if (isNode(value)) visit(value, node)
      else if (Array.isArray(value)) for (const one of value) if (isNode(one)) visit(one, node)
    }
  }
  visit(root, undefined)
  return out
}

const literal = (value: unknown): string | undefined =>
  isNode(value) && value.type === "Literal" && typeof value["value"] === "string" ? value["value"] : undefined

const importTypes = new Set([
  "ImportDeclaration",
  "ExportNamedDeclaration",
  "ExportAllDeclaration",
  "ImportExpression",
  "TSImportType"
])

const readImports = (nodes: Parsed["nodes"]): ReadonlyArray<Import> =>
  nodes.flatMap(({ node }) => {
    const from = importTypes.has(node.type) ? literal(node["source"]) : undefined
    return from === undefined ? [] : [{ from, at: node.start, isType: node["importKind"] === "type" }]
  })

const parse = (source: Source): Parsed => {
  const program: unknown = parseAst(source.text, { lang: source.path.endsWith(".tsx") ? "tsx" : "ts" })
  const nodes = isNode(program) ? flatten(program) : []
  const file = source.path.replace(/^src\//, "")
  const slash = file.indexOf("/")
  const lineOf = (offset: number) => source.text.slice(0, offset).split("\n").length
  const simulator = file.startsWith("demo/google/")
  const folder = simulator ? "demo/google" : slash < 0 ? "" : file.slice(0, slash)
  return { ...source, file, folder, nodes, imports: readImports(nodes), lineOf }
}

/**
 * The floors, lowest first. Names of one group do not import each other; a group imports the groups before it on its
 * floor. Files are those at the root of `src`.
 */
const floors: ReadonlyArray<ReadonlyArray<ReadonlyArray<string>>> = [
  [["domain", "wire"]],
  [["translate", "api", "batching"]],
  [["upstream", "store", "telemetry", "client"]],
  [["auth", "catalog", "keys", "state"]],
  [["provider"], ["operations"]],
  [["router", "accounting"]],
  [["admin"], ["http"]],
  [
    ["console", "GatewayParts.ts", "StandIns.ts"],
    ["Gateway.ts"],
    ["demo"],
    ["cli"],
    ["main.ts", "index.ts", "schema.ts", "translation.ts", "testing.ts"]
  ]
]

/** The floors as a Markdown table, highest first. */
export const floorTable = (): string => {
  const named = (names: ReadonlyArray<string>): string => names.map((name) => `\`${name}\``).join(", ")
  const rows = floors.map((floor, number) => `| ${number} | ${floor.map(named).join("; then ")} |`).toReversed()
  return ["| floor | folders and files |", "| --- | --- |", ...rows].join("\n")
}

/** The place of each folder and file in the order of all groups. */
const groups: ReadonlyMap<string, number> = new Map(
  floors.flat().flatMap((names, place) => names.map((name) => [name, place] as const))
)

const groupOf = (file: Parsed): number | undefined => groups.get(file.folder === "" ? file.file : file.folder)
const floorOf = (file: Parsed): number =>
  floors.findIndex((floor) => floor.flat().includes(file.folder === "" ? file.file : file.folder))

const baseName = (file: Parsed): string => file.file.slice(file.file.lastIndexOf("/") + 1)
const isEdgeFile = (file: Parsed): boolean => file.folder === ""
const isSimulator = (file: Parsed): boolean => file.folder === "demo/google"
const isCamel = (file: Parsed): boolean => /^[a-z]/.test(baseName(file))
/** Of floors 0 and 1 all but `batching`, which asks the event loop for its turn. */
const pureFolders: ReadonlySet<string> = new Set(["domain", "wire", "translate", "api"])
const isPure = (file: Parsed): boolean =>
  !isEdgeFile(file) && !isSimulator(file) && (pureFolders.has(file.folder) || isCamel(file))

const at = (file: Parsed, offset: number, rule: string, what: string): string =>
  `${file.path}:${file.lineOf(offset)} ${rule}: ${what}`

const resolveImport = (file: Parsed, from: string): string => {
  const parts = file.path.split("/").slice(0, -1)
  for (const part of from.split("/")) {
    if (part === "..") parts.pop()
    else if (part !== ".") parts.push(part)
  }
  return parts.join("/")
}

const resolved = (file: Parsed, byPath: ReadonlyMap<string, Parsed>) =>
  file.imports.flatMap((one) => {
    const target = one.from.startsWith(".") ? byPath.get(resolveImport(file, one.from)) : undefined
    return target === undefined ? [] : [{ ...one, target }]
  })

const mayImport = (file: Parsed, target: Parsed): boolean => {
  if (file.folder !== "" && file.folder === target.folder) return true
  if (isSimulator(file)) return false
  if (isSimulator(target)) return file.folder === "demo" || file.file === "testing.ts"
  const mine = groupOf(file) ?? -1
  const theirs = groupOf(target) ?? 99
  if (file.folder === "client") return floorOf(target) === 0 || target.folder === "api"
  if (file.folder === "console") return target.folder === "api"
  return theirs < mine && target.folder !== "client" && target.folder !== "console"
}

/** R1: own folder, a lower floor, or an earlier group of the same floor, type imports included. */
const floorRule = (file: Parsed, byPath: ReadonlyMap<string, Parsed>): ReadonlyArray<string> => {
  if (groupOf(file) === undefined && !isSimulator(file))
    return [at(file, 0, "R1 floors", "the file stands on no floor")]
  return resolved(file, byPath)
    .filter(({ target }) => !mayImport(file, target))
    .map((one) => at(file, one.at, "R1 floors", `may not import ${one.target.path}`))
}

/** R1c: the console takes types of the contract and no code, because all its code goes to browsers. */
const consoleRule = (file: Parsed, byPath: ReadonlyMap<string, Parsed>): ReadonlyArray<string> =>
  file.folder !== "console"
    ? []
    : resolved(file, byPath)
        .filter(({ isType, target }) => target.folder === "api" && !isType)
        .map((one) => at(file, one.at, "R1c console", `takes code of ${one.target.path}`))

/**
 * The order of the rooms inside a folder, lowest rank first. A room imports itself and lower ranks, not its own rank.
 * Files at the root of the folder stand above all its rooms.
 */
const roomOrders: Readonly<Record<string, ReadonlyArray<ReadonlyArray<string>>>> = {
  "demo/google": [["shapes"], ["shared"], ["gemini", "claude"], ["openai", "predict"], ["service"]],
  http: [["node"], ["request"], ["response"], ["edge"], ["routes", "admin"]]
}

/** R1b: inside a folder with an order, a lower room or the same one, type imports included. */
const roomRule = (file: Parsed, byPath: ReadonlyMap<string, Parsed>): ReadonlyArray<string> =>
  Object.entries(roomOrders).flatMap(([folder, ranks]) => {
    const roomOf = ({ file: path }: Parsed): string | undefined =>
      path.startsWith(`${folder}/`)
        ? (path
            .slice(folder.length + 1)
            .split("/")
            .slice(0, -1)[0] ?? "")
        : undefined
    const rankOf = (room: string): number =>
      room === "" ? ranks.length : ranks.findIndex((rooms) => rooms.includes(room))
    const room = roomOf(file)
    if (room === undefined) return []
    if (rankOf(room) < 0) return [at(file, 0, "R1b rooms", `src/${folder}/${room} has no place in the order`)]
    return resolved(file, byPath).flatMap((one) => {
      const other = roomOf(one.target)
      const fine = other === undefined || other === room || rankOf(other) < rankOf(room)
      return fine ? [] : [at(file, one.at, "R1b rooms", `may not import ${one.target.path}`)]
    })
  })

/** R2: no circle of imports, type imports included. Each circle is reported once, from its first file by name. */
const circleRule = (files: ReadonlyArray<Parsed>, byPath: ReadonlyMap<string, Parsed>): ReadonlyArray<string> => {
  const found = new Set<string>()
  const finished = new Set<string>()
  const visit = (file: Parsed, trail: ReadonlyArray<string>): void => {
    const seen = trail.indexOf(file.path)
    if (seen >= 0) {
      const circle = trail.slice(seen)
      const first = circle.indexOf([...circle].sort()[0] ?? "")
      const ordered = [...circle.slice(first), ...circle.slice(0, first)]
      found.add(`${ordered[0]}:1 R2 circles: ${[...ordered, ordered[0]].join(" -> ")}`)
      return
    }
    if (finished.has(file.path)) return
    for (const one of resolved(file, byPath)) visit(one.target, [...trail, file.path])
    finished.add(file.path)
  }
  for (const file of files) visit(file, [])
  return [...found].sort()
}

const dataModules = new Set(
  ["Schema", "Result", "Option", "Array", "HashMap", "Record", "Struct", "Redacted", "Brand", "Types"].map(
    (name) => `effect/${name}`
  )
)
const impureNames = new Set([
  "process",
  "fetch",
  "crypto",
  "performance",
  "setTimeout",
  "setInterval",
  "setImmediate",
  "queueMicrotask"
])

/** True for an identifier that is read as a variable, not the name of a field or property. */
const isVariable = (node: Node, parent: Node | undefined): boolean => {
  if (node.type !== "Identifier" || parent === undefined) return false
  if (parent.type === "MemberExpression") return parent["object"] === node || parent["computed"] === true
  const key = parent["key"] === node && parent["computed"] !== true && parent["shorthand"] !== true
  return !key && !parent.type.startsWith("TS") && !parent.type.startsWith("Import")
}

/** `Date.now` for a member expression of two plain names. */
const memberName = (node: Node): string | undefined => {
  if (node.type !== "MemberExpression" || node["computed"] === true) return undefined
  const { object, property } = node
  return isNode(object) && isNode(property) && object.type === "Identifier"
    ? `${object["name"]}.${property["name"]}`
    : undefined
}

const mayDataImport = (file: Parsed, from: string): boolean =>
  dataModules.has(from) ||
  (from === "effect/Context" && !isCamel(file) && file.folder !== "translate" && file.folder !== "wire") ||
  (file.folder === "api" && from.startsWith("effect/http-api"))

/** R3: the pure folders of floors 0 and 1 and camelCase files know data modules only, no clock, chance, timers or process. */
const purityRule = (file: Parsed): ReadonlyArray<string> => {
  if (!isPure(file)) return []
  const imports = file.imports
    .filter((one) => !one.from.startsWith(".") && !mayDataImport(file, one.from))
    .map((one) => at(file, one.at, "R3 purity", `may not import ${one.from}`))
  const uses = file.nodes.flatMap(({ node, parent }) => {
    const member = memberName(node)
    if (member === "Date.now" || member === "Math.random") return [at(file, node.start, "R3 purity", member)]
    if (isVariable(node, parent) && impureNames.has(String(node["name"]))) {
      return [at(file, node.start, "R3 purity", String(node["name"]))]
    }
    const { callee, arguments: args } = node
    const freshDate =
      node.type === "NewExpression" &&
      isNode(callee) &&
      callee["name"] === "Date" &&
      Array.isArray(args) &&
      args.length === 0
    return freshDate ? [at(file, node.start, "R3 purity", "new Date()")] : []
  })
  return [...imports, ...uses]
}

const isDataFile = (file: Parsed): boolean =>
  file.folder === "wire" || file.file.startsWith("demo/google/shapes/") || file.file === "domain/models/factLines.ts"

const functionTypes = new Set(["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"])

/** R4: a function has at most 70 lines, a file 400 (schema and data files 500). */
const sizeRule = (file: Parsed): ReadonlyArray<string> => {
  const lines = file.text.trimEnd().split("\n").length
  const most = isDataFile(file) ? 500 : 400
  const whole = lines > most ? [at(file, 0, "R4 size", `file of ${lines} lines, at most ${most}`)] : []
  const functions = file.nodes.flatMap(({ node }) => {
    if (!functionTypes.has(node.type)) return []
    const length = file.lineOf(node.end) - file.lineOf(node.start) + 1
    return length > 70 ? [at(file, node.start, "R4 size", `function of ${length} lines, at most 70`)] : []
  })
  return [...whole, ...functions]
}

const mostFiles = 20

/** R4: a folder has at most 20 files; its sub-folders count on their own. */
const folderRule = (files: ReadonlyArray<Parsed>): ReadonlyArray<string> => {
  const counts = new Map<string, number>()
  for (const { file } of files) {
    const folder = file.split("/").slice(0, -1).join("/")
    counts.set(folder, (counts.get(folder) ?? 0) + 1)
  }
  return [...counts].flatMap(([folder, count]) =>
    count > mostFiles ? [`src/${folder} R4 size: folder of ${count} files, at most ${mostFiles}`] : []
  )
}

/** R5: no barrels, neither of ours nor of a package; relative imports name the file. */
const importRule = (file: Parsed): ReadonlyArray<string> => {
  const paths = file.imports.flatMap((one) => {
    if (one.from.startsWith(".") && !/\.tsx?$/.test(one.from))
      return [at(file, one.at, "R5 imports", `${one.from} without .ts`)]
    const barrel = one.from === "effect" || one.from === "@effect/platform-node"
    return barrel ? [at(file, one.at, "R5 imports", `the barrel ${one.from}`)] : []
  })
  if (file.file === "index.ts" || file.file === "testing.ts") return paths
  const stars = file.nodes
    .filter(({ node }) => node.type === "ExportAllDeclaration")
    .map(({ node }) => at(file, node.start, "R5 imports", "export * is a barrel"))
  return [...paths, ...stars]
}

const sayNever = (node: Node): string | undefined => {
  if (node.type === "TSAnyKeyword") return "any"
  if (node.type !== "TSAsExpression" && node.type !== "TSTypeAssertion") return undefined
  const to = node["typeAnnotation"]
  if (isNode(to) && to.type === "TSNeverKeyword") return "as never"
  const inner = node["expression"]
  const innerTo = isNode(inner) && inner.type === "TSAsExpression" ? inner["typeAnnotation"] : undefined
  return isNode(innerTo) && innerTo.type === "TSUnknownKeyword" ? "as unknown as" : undefined
}

const readers: ReadonlyArray<readonly [name: RegExp, where: (file: Parsed) => boolean]> = [
  [/^process\.env$/, (file) => file.file === "cli/settings/LoadSettings.ts"],
  [/^JSON\.parse$/, (file) => ["domain/text/json.ts", "client/failures.ts", "console/readJson.ts"].includes(file.file)],
  [/^console\./, (file) => file.folder === "cli"],
  // The ring starts the fiber of each request, as a server of Effect would.
  [/^Effect\.run/, ({ file, folder, path }) => file === "main.ts" || folder === "client" || path === "src/http/Ring.ts"]
]

const opensLayer = (node: Node): boolean => {
  if (node.type !== "TSTypeReference") return false
  const { typeArguments } = node
  const first = isNode(typeArguments) && Array.isArray(typeArguments["params"]) ? typeArguments["params"][0] : undefined
  const name = node["typeName"]
  return (
    isNode(name) &&
    name["type"] === "TSQualifiedName" &&
    isNode(name["right"]) &&
    name["right"]["name"] === "Layer" &&
    isNode(first) &&
    first.type === "TSUnknownKeyword"
  )
}

/** R6: no type escapes; one reader each for environment, JSON, console and the running of effects. */
const honestyRule = (file: Parsed): ReadonlyArray<string> => {
  if (isSimulator(file)) return []
  const ignores = [...file.text.matchAll(/@ts-(?:ignore|expect-error|nocheck)/g)].map((match) =>
    at(file, match.index, "R6 honest types", match[0])
  )
  const nodes = file.nodes.flatMap(({ node }) => {
    const escape = sayNever(node) ?? (opensLayer(node) ? "Layer of unknown" : undefined)
    if (escape !== undefined) return [at(file, node.start, "R6 honest types", escape)]
    const member = memberName(node)
    const reader = member === undefined ? undefined : readers.find(([name]) => name.test(member))
    return reader === undefined || reader[1](file) ? [] : [at(file, node.start, "R6 single readers", `${member} here`)]
  })
  return [...ignores, ...nodes]
}

const doors: ReadonlyArray<readonly [name: RegExp, where: (file: Parsed) => boolean]> = [
  [/^undici(\/|$)/, (file) => /^upstream\/(ConnectionPool|UndiciParts\.d|Network)\.ts$/.test(file.file)],
  [/^(node:sqlite|redis$|@effect\/sql-)/, (file) => file.folder === "store"],
  [/^effect\/http\/HttpServerResponse$/, (file) => file.folder === "http"]
]

/** R7: the doors: one file for the upstream pool, one folder for SQL, few places that open a secret. */
const doorRule = (file: Parsed): ReadonlyArray<string> => {
  if (isSimulator(file)) return []
  const imports = file.imports.flatMap((one) => {
    const door = doors.find(([name]) => name.test(one.from))
    return door === undefined || door[1](file) ? [] : [at(file, one.at, "R7 doors", `may not import ${one.from}`)]
  })
  const opens =
    ["http/node/Certificate.ts", "upstream/ConnectionPool.ts", "upstream/Network.ts"].includes(file.file) ||
    ["auth", "keys", "store"].includes(file.folder)
  const secrets = file.nodes
    .filter(({ node }) => !opens && memberName(node) === "Redacted.value")
    .map(({ node }) => at(file, node.start, "R7 doors", "Redacted.value here"))
  return [...imports, ...secrets]
}

const unbounded = (node: Node): string | undefined => {
  const member = memberName(node)
  if (member === "Queue.unbounded" || member === "PubSub.unbounded" || member === "Number.POSITIVE_INFINITY")
    return member
  const { key, value } = node
  const concurrency =
    node.type === "Property" && isNode(key) && key["name"] === "concurrency" && literal(value) === "unbounded"
  return concurrency ? 'concurrency: "unbounded"' : undefined
}

/** R8: every bound comes from `domain/Limits.ts`. */
const limitRule = (file: Parsed): ReadonlyArray<string> => {
  if (isSimulator(file) || file.file === "domain/Limits.ts") return []
  const floor = floorOf(file)
  return file.nodes.flatMap(({ node, parent }) => {
    const word = unbounded(node) ?? (isVariable(node, parent) && node["name"] === "Infinity" ? "Infinity" : undefined)
    if (word !== undefined) return [at(file, node.start, "R8 limits", word)]
    const big = node.type === "Literal" && typeof node["value"] === "number" && node["value"] > 1024
    return big && floor >= 2 && floor <= 6 ? [at(file, node.start, "R8 limits", `the number ${node["raw"]}`)] : []
  })
}

/** Words of model ids; the openings of comments and messages hold them as well, so only patterns are looked at. */
const modelWord = /gemini|claude|gemma|imagen|imagegeneration|embedding-|nano-banana|learnlm|haiku|sonnet|opus-/
const readsIds = (file: Parsed): boolean => file.file.startsWith("domain/models/")
const textTests = new Set(["startsWith", "endsWith", "includes", "indexOf", "match", "test", "search"])

/** R10: a pattern on model ids stands with the reader of facts, and in the simulator. */
const modelRule = (file: Parsed): ReadonlyArray<string> => {
  if (isSimulator(file) || readsIds(file)) return []
  return file.nodes.flatMap(({ node, parent }) => {
    if (node.type !== "Literal") return []
    const raw = String(node["raw"])
    const callee = parent?.type === "CallExpression" ? parent["callee"] : undefined
    const property = isNode(callee) ? callee["property"] : undefined
    const isTest = isNode(property) && textTests.has(String(property["name"]))
    const isPattern = node["regex"] !== undefined || isTest
    return isPattern && modelWord.test(raw) ? [at(file, node.start, "R10 models", `the pattern ${raw}`)] : []
  })
}

/** Each file opens with two comment lines, below a shebang if it has one: what it is, and what it must not know. */
const openingRule = (file: Parsed): ReadonlyArray<string> => {
  const [first = "", second = ""] = file.text.replace(/^#!.*\n/, "").split("\n")
  return first.startsWith("// ") && second.startsWith("// ")
    ? []
    : [at(file, 0, "opening", "two comment lines are missing")]
}

/** Every violation of R1 to R10 below `src/`: of files as `path:line rule: what`, then of folders and circles. */
export const tidyViolations = (sources: ReadonlyArray<Source>): ReadonlyArray<string> => {
  const files = sources.map(parse)
  const byPath = new Map(files.map((file) => [file.path, file]))
  const rules = [purityRule, sizeRule, importRule, honestyRule, doorRule, limitRule, modelRule, openingRule]
  return [
    ...files.flatMap((file) => [
      ...floorRule(file, byPath),
      ...consoleRule(file, byPath),
      ...roomRule(file, byPath),
      ...rules.flatMap((rule) => rule(file))
    ]),
    ...folderRule(files),
    ...circleRule(files, byPath)
  ]
}

const leftOpen = new RegExp(`\\b(?:TO${"DO"}|FIX${"ME"}|(?:it|describe|test)\\.(?:on${"ly"}|sk${"ip"})\\b)`, "g")
const hostPath = /(?<![\w.$}/-])\/(?:home|root|work|Users)\/[\w.-]+/g
const registry = /"resolved": "[h]ttp/g

/** Words left open, paths of a machine, and addresses of a registry; for any text of the repository. */
export const cleanlinessViolations = (sources: ReadonlyArray<Source>): ReadonlyArray<string> =>
  sources.flatMap(({ path, text }) =>
    (
      [
        ["left open", leftOpen],
        ["host path", hostPath],
        ["registry address", registry]
      ] as const
    ).flatMap(([rule, pattern]) =>
      [...text.matchAll(pattern)].map(
        (match) => `${path}:${text.slice(0, match.index).split("\n").length} ${rule}: ${match[0]}`
      )
    )
  )
