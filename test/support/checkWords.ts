// Prints the avoided words below the given paths: `npm run words -- src/store docs`.
// Must not contain the word list; `wordRules.ts` has it.
import { readdirSync, readFileSync, statSync } from "node:fs"
import { avoidedWords } from "./wordRules.ts"

const filesBelow = (path: string): ReadonlyArray<string> => {
  if (statSync(path).isFile()) return [path]
  return readdirSync(path, { recursive: true, encoding: "utf8" })
    .map((name) => `${path}/${name}`)
    .filter((name) => /\.(?:ts|md)$/.test(name) && !name.includes("/fixtures/"))
}

const found = process.argv
  .slice(2)
  .flatMap(filesBelow)
  .flatMap((path) => avoidedWords(path, readFileSync(path, "utf8")))
for (const line of found) console.log(line)
console.log(`${found.length} avoided words`)
process.exitCode = found.length === 0 ? 0 : 1
