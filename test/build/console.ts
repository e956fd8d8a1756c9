// The console as one module of texts: src/console bundled for browsers, with its style sheet and page.
// The gateway imports it by the name #console when a browser asks for it first.
import { createHash } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { defineConfig, type Plugin, rolldown, type RolldownOptions } from "rolldown"

const root = join(import.meta.dirname, "../..")
const folder = join(root, "src/console")
const entry = "\0console"

/** Calls of `h` are 0.5 KB shorter, gzipped, than those of the runtime that the types are checked with. */
const transform: RolldownOptions["transform"] = {
  jsx: { runtime: "classic", pragma: "h", pragmaFrag: "Fragment" },
  inject: { h: ["preact", "h"], Fragment: ["preact", "Fragment"] }
}

/** What uPlot attaches to itself and the console does not call; 1.6 KB gzipped. */
const unused = [
  "(paths.stepped = stepped);",
  "(paths.spline  = monotoneCubic);",
  "uPlot.rangeLog = rangeLog;",
  "uPlot.rangeAsinh = rangeAsinh;",
  "uPlot.join = join;",
  "uPlot.fmtDate = fmtDate;",
  "uPlot.tzDate  = tzDate;"
]

const smallerChart: Plugin = {
  name: "smaller-chart",
  transform: (code, id) => {
    if (!id.endsWith("uPlot.esm.js")) return null
    const missing = unused.filter((line) => !code.includes(line))
    if (missing.length > 0) throw new Error(`uPlot has changed: it has no ${missing.join(" and no ")}`)
    return unused.reduce((smaller, line) => smaller.replace(line, ""), code)
  }
}

/** Names with a digest of the bytes may be cached for ever. */
const named = (name: string, ending: string, text: string): string =>
  `${name}-${createHash("sha256").update(text).digest("base64url").slice(0, 12)}.${ending}`

/** The style sheet of the whole console, then those of single pages. */
const styles = (): string =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".css"))
    .toSorted()
    .map((name) => readFileSync(join(folder, name), "utf8"))
    .join("")

const bundleFiles = async (): Promise<Readonly<Record<string, string>>> => {
  const input = { input: join(folder, "Main.tsx"), platform: "browser" as const, transform, plugins: [smallerChart] }
  const build = await rolldown(input)
  const { output } = await build.generate({
    format: "esm",
    minify: true,
    comments: { annotation: false },
    codeSplitting: false
  })
  await build.close()
  const script = output[0].code
  const chart = readFileSync(join(root, "node_modules/uplot/dist/uPlot.min.css"), "utf8")
  const style = (chart + styles()).replaceAll(/\n\s*/g, "")
  const [scriptName, styleName] = [named("console", "js", script), named("console", "css", style)]
  const page = readFileSync(join(folder, "index.html"), "utf8")
    .replace("SCRIPT", scriptName)
    .replace("STYLE", styleName)
  return { "index.html": page, [scriptName]: script, [styleName]: style }
}

const consoleModule: Plugin = {
  name: "console-module",
  resolveId: (id) => (id === entry ? id : null),
  load: async (id) => (id === entry ? `export const files = ${JSON.stringify(await bundleFiles())}` : null)
}

export default defineConfig({
  input: { bundle: entry },
  platform: "node",
  plugins: [consoleModule],
  output: { dir: "dist", entryFileNames: "console/[name].js" }
})
