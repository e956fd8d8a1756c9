// Generates the parts of the architecture page that the sources state: its floors and its layers.
// Must not state a floor, layer or subject of its own; the sources and the tidy rules do.
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { parseAst } from "vitest/node"
import { shownModels } from "./modelsPage.ts"
import { floorTable } from "./tidyRules.ts"

const root = fileURLToPath(new URL("../../", import.meta.url))
const read = (path: string): string => readFileSync(join(root, path), "utf8")

interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [key: string]: unknown
}

const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null && "type" in value

const visit = (node: Node, take: (node: Node) => void): void => {
  take(node)
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) visit(child, take)
  }
}

/** The names of a union type: `A | B["Service"]` has A and B; `never` has none. */
const namesIn = (type: string): ReadonlyArray<string> =>
  type
    .split("|")
    .map((name) => /[\w.]+/.exec(name)?.[0].split(".").at(-1) ?? "")
    .filter((name) => name !== "" && name !== "never" && !/^[A-Z]$/.test(name))

/** What the typed layers of a file build, and what each of them needs. */
const layersIn = (path: string): ReadonlyArray<{ readonly builds: string; readonly needs: ReadonlyArray<string> }> => {
  const text = read(path)
  const found: Array<{ builds: string; needs: ReadonlyArray<string> }> = []
  const program: unknown = parseAst(text, { lang: "ts" })
  if (!isNode(program)) return found
  visit(program, (node) => {
    if (node.type !== "TSTypeReference" || !text.startsWith("Layer.Layer<", node.start)) return
    const argumentsNode = node["typeArguments"] ?? node["typeParameters"]
    const params =
      isNode(argumentsNode) && Array.isArray(argumentsNode["params"]) ? argumentsNode["params"].filter(isNode) : []
    const [builds = "", , needs = ""] = params.map(({ end, start }) => text.slice(start, end))
    for (const name of namesIn(builds)) found.push({ builds: name, needs: namesIn(needs) })
  })
  return found
}

/** The services that `src/Gateway.ts` composes, each with all that its layers need. */
const layerTable = (): string => {
  const imports = [...read("src/Gateway.ts").matchAll(/from "\.\/([^"]+)"/g)].map(([, path]) => `src/${path}`)
  const rows = imports.toSorted().flatMap((path) => {
    const layers = layersIn(path)
    return [...new Set(layers.map(({ builds }) => builds))].map((name) => {
      const needs = [
        ...new Set(layers.filter(({ builds }) => builds === name).flatMap((layer) => layer.needs))
      ].toSorted()
      return `| \`${name}\` | ${needs.map((need) => `\`${need}\``).join(", ")} | [${path}](../../${path}) |`
    })
  })
  return ["| service | its layers need | file |", "| --- | --- | --- |", ...rows].join("\n")
}

/** Puts a generated text between `<!-- name -->` and `<!-- /name -->`. */
const fill = (page: string, name: string, text: string): string =>
  page.replace(
    new RegExp(`(<!-- ${name} -->)[\\s\\S]*?(<!-- /${name} -->)`),
    (_, open, close) => `${open}\n\n${text}\n\n${close}`
  )

const architecture = "docs/internals/architecture.md"

export const structurePages = (): ReadonlyArray<{ readonly path: string; readonly text: string }> => [
  { path: architecture, text: fill(fill(read(architecture), "floors", floorTable()), "layers", layerTable()) },
  { path: "README.md", text: fill(read("README.md"), "models", shownModels()) }
]
