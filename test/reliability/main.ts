// `npm run reliability`: proves the promises of docs/reliability.md with real processes; everything stays on loopback.
// Must not know how a promise is proved. Flags: --full, --only=NAME, --seed=N, and --keep, which writes the page.
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { commitOf, machineName } from "../bench/keep.ts"
import { faults, tokenFaults } from "./kit/faults.ts"
import { promises } from "./promises/all.ts"
import { type Figure, none } from "./proof.ts"
import { corpusMarkdown, pageWith, type Proved, type Result, resultMarkdown, whyNotKept } from "./table.ts"

const flag = (name: string): string | undefined =>
  process.argv.find((one) => one.startsWith(`--${name}=`))?.slice(name.length + 3)
const seed = Number(flag("seed") ?? Math.floor(Math.random() * 2 ** 31))
const isFull = process.argv.includes("--full")
const only = flag("only")?.split(",")
const chosen = promises.filter(({ id }) => only === undefined || only.includes(id))
if (chosen.length === 0) throw new Error(`no such promise; there are ${promises.map(({ id }) => id).join(", ")}`)
console.log(`reliability: seed ${seed}${isFull ? ", the long forms" : ""}`)

const print = ({ goal, holds, name, unit, value }: Figure): void =>
  console.log(
    `  ${goal === "" ? "    " : holds ? "ok  " : "MISS"}  ${name.padEnd(78)} ${String(value).padStart(10)} ${unit.padEnd(3)} ${goal === "" ? "" : `goal ${goal}`}`
  )

const proved: Array<Proved> = []
for (const { id, prove, sentence } of chosen) {
  console.log(`${id}: ${sentence}`)
  const started = performance.now()
  const note = (line: string): void => console.log(`        ${line}`)
  const figures = await prove({ seed, isFull, note }).catch((error: unknown) => {
    note(`the proof itself failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`)
    return [none("proofs that failed", 1)]
  })
  const seconds = (performance.now() - started) / 1_000
  for (const figure of figures) print(figure)
  console.log(`        ${seconds.toFixed(0)} s`)
  proved.push({ id, sentence, seconds, figures })
}

const broken = proved.filter(({ figures }) => figures.some(({ holds }) => !holds)).map(({ id }) => id)
console.log(
  broken.length === 0
    ? "reliability: every promise kept"
    : `reliability: broken: ${broken.join(", ")}; repeat with --only=${broken.join(",")} --seed=${seed}`
)
if (process.argv.includes("--keep")) {
  const date = new Date().toISOString().slice(0, 10)
  const result: Result = { machine: machineName(), commit: commitOf("reliability"), date, seed, isFull, proved }
  const reason = whyNotKept(result, only !== undefined)
  if (reason === undefined) {
    const path = join(import.meta.dirname, "../../docs/reliability.md")
    const page = pageWith(readFileSync(path, "utf8"), "result", resultMarkdown(result))
    writeFileSync(path, pageWith(page, "corpus", corpusMarkdown(faults, tokenFaults)))
  } else console.log(`reliability: not kept: ${reason}`)
}
process.exit(broken.length === 0 ? 0 : 1)
