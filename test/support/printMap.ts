// Prints every source file with the first line of its opening comment: `npm run map`, or `npm run map -- NOUN` for a search.
// Must not state what a file does; the file does.
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

const root = join(import.meta.dirname, "../..")
const noun = (process.argv[2] ?? "").toLowerCase()

const lines = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
  .filter((name) => /\.tsx?$/.test(name))
  .toSorted()
  .map((name) => {
    const [first = ""] = readFileSync(join(root, "src", name), "utf8").split("\n", 1)
    return `src/${name}: ${first.replace(/^\/\/ ?/, "")}`
  })
for (const line of lines) if (line.toLowerCase().includes(noun)) console.log(line)
