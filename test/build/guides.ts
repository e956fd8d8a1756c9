// The pages of the documentation as one module of texts: docs/*.md and the README as HTML, for reading without a network.
// The gateway imports it by the name #guides when a reader asks for the first page.
import { createHash } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"
import { basename, join } from "node:path"
import { Marked } from "marked"
import { defineConfig, type Plugin } from "rolldown"

const root = join(import.meta.dirname, "../..")
const entry = "\0guides"

/** The names under which pages are served; the README is the page "readme". */
const sources: ReadonlyMap<string, string> = new Map([
  ["readme", "README.md"],
  ["changelog", "CHANGELOG.md"],
  ...readdirSync(join(root, "docs"))
    .filter((name) => name.endsWith(".md"))
    .toSorted()
    .map((name) => [basename(name, ".md"), `docs/${name}`] as const)
])
const names = new Map([...sources].map(([name, path]) => [path, name]))

const style = [
  ":root{color-scheme:light dark}",
  "body{max-width:60rem;margin:0 auto;padding:1rem;font:16px/1.5 system-ui,sans-serif}",
  "pre{overflow-x:auto;padding:.75rem;background:#8881;border-radius:.4rem}",
  "code{font-family:ui-monospace,monospace;font-size:.9em}",
  "table{display:block;overflow-x:auto;border-collapse:collapse}",
  "th,td{padding:.3rem .6rem;border:1px solid #8885;text-align:left;vertical-align:top}"
].join("")

const escapeHtml = (text: string): string =>
  text.replace(/[&<>"]/g, (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[sign] ?? sign)

/** Where a link of a page leads: to a served page, to a heading or elsewhere; undefined for files that are not served. */
const targetOf = (path: string, href: string): string | undefined => {
  if (/^(?:https?:|mailto:|#)/.test(href)) return href
  const [file = "", anchor] = href.split("#")
  const name = names.get(join(path, "..", file))
  return name === undefined ? undefined : `/docs/${name}${anchor === undefined ? "" : `#${anchor}`}`
}

/** The anchor of a heading as GitHub makes it, with a number when the page has it already. */
const anchorMaker = (): ((text: string) => string) => {
  const seen = new Map<string, number>()
  return (text) => {
    const anchor = text
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, "")
      .replace(/\s/g, "-")
    const before = seen.get(anchor) ?? 0
    seen.set(anchor, before + 1)
    return before === 0 ? anchor : `${anchor}-${before}`
  }
}

const renderPage = (path: string): string => {
  const text = readFileSync(join(root, path), "utf8")
  const anchorOf = anchorMaker()
  const marked = new Marked({
    async: false,
    renderer: {
      heading({ depth, tokens }) {
        const plain = this.parser.parseInline(tokens, this.parser.textRenderer).replace(/&(?:quot|#39|amp|lt|gt);/g, "")
        return `<h${depth} id="${anchorOf(plain)}">${this.parser.parseInline(tokens)}</h${depth}>\n`
      },
      link({ href, tokens }) {
        const target = targetOf(path, href)
        const shown = this.parser.parseInline(tokens)
        return target === undefined ? shown : `<a href="${escapeHtml(target)}">${shown}</a>`
      },
      // Pictures are left out, so that a page is one file.
      image: () => "",
      html: ({ text: raw }) =>
        raw.startsWith("<!--") || raw === "<br>" ? raw.replace(/^<!--.*/s, "") : escapeHtml(raw)
    }
  })
  const title = /^# (.+)$/m.exec(text)?.[1] ?? path
  const home = '<nav><a href="/docs/index">Documentation</a> · <a href="/docs">API reference</a></nav>'
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><link rel="icon" href="data:,">
<title>${escapeHtml(title)} · model-gateway</title><style>${style}</style></head>
<body>${home}<main>${marked.parse(text)}</main></body></html>
`
}

const digest = createHash("sha256").update(style).digest("base64")

const guidesModule: Plugin = {
  name: "guides-module",
  resolveId: (id) => (id === entry ? id : null),
  load: (id) =>
    id === entry
      ? `export const styleDigest = ${JSON.stringify(`sha256-${digest}`)}\nexport const pages = ${JSON.stringify(
          Object.fromEntries([...sources].map(([name, path]) => [name, renderPage(path)]))
        )}`
      : null
}

export default defineConfig({
  input: { bundle: entry },
  platform: "node",
  plugins: [guidesModule],
  output: { dir: "dist", entryFileNames: "guides/[name].js" }
})
