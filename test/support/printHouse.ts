// Prints the size of the source and the files that a request runs: `npm run house`.
// Must not judge the figures.
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { houseCounts } from "./houseCounts.ts"
import { tracedRequests } from "./tracedRequests.ts"

const root = join(import.meta.dirname, "../..")
const sources = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
  .filter((name) => /\.tsx?$/.test(name))
  .map((name) => ({ path: `src/${name}`, text: readFileSync(join(root, "src", name), "utf8") }))

const rooms = Map.groupBy(sources, ({ path }) => /^src\/([^/]+)\//.exec(path)?.[1] ?? "src")
const rows = [...houseCounts(sources)]
for (const [room, files] of rooms) rows.push([`${room}: files / lines`, String(houseCounts(files)[0]?.[1])])
for (const { files, flow, name } of await tracedRequests()) {
  const distinct = new Set(flow).size
  const counts = [files.length, distinct, flow.length - distinct]
  rows.push([`${name}: files / flow files to the first byte / re-entries`, counts.join(" / ")])
}
for (const [what, count] of rows) console.log(`| ${what} | ${count} |`)
process.exit(0)
