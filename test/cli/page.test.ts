// Tests the page on the command line: every verb it names exists, and its commands run unchanged.
// Must not change the commands of the page.
import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, expect, it } from "vitest"
import { commandLine } from "../support/commandLine.ts"

const page = readFileSync(new URL("../../docs/cli.md", import.meta.url), "utf8")
const folder = mkdtempSync(join(tmpdir(), "gateway-page-"))
afterAll(() => rmSync(folder, { recursive: true }))

const files: Readonly<Record<string, string>> = {
  "fast.yaml": 'strategy: { mode: fallback }\ntargets: [{ provider: "@google" }, { provider: "@vertex-ai" }]\n',
  "greeting.yaml": 'model: "@google/gemini-2.5-flash"\nmessages: [{ role: user, content: "Hello {{name}}" }]\n'
}

it("command line page: the table has every verb and no other", async () => {
  const { out } = await commandLine([])
  const verbs = [...(out.split("SUBCOMMANDS")[1] ?? "").matchAll(/^ {2}([a-z]+)/gm)].map(([, verb = ""]) => verb).sort()
  const rows = [...(page.split("| exit code")[0] ?? "").matchAll(/^\| (`.*?`) \|/gm)]
    .flatMap(([, cell = ""]) => cell.replaceAll("`", "").split(", "))
    .sort()
  expect(rows).toEqual(verbs)
})

it("command line page: the commands on the store run", async () => {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  const block = /## The store[^]*?```sh\n([^]*?)```/.exec(page)?.[1] ?? ""
  const lines = block.trim().split("\n")
  expect(lines).toHaveLength(10)
  for (const line of lines) {
    const words = [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "")
    const placed = words.slice(1).map((word) => (Object.hasOwn(files, word) ? join(folder, word) : word))
    expect([line, (await commandLine(placed, { GATEWAY_DATA_DIR: folder, GEMINI_API_KEY: "sekret" })).code]).toEqual([
      line,
      0
    ])
  }
})

it("command line page: the line for bash completes verbs and flags", async () => {
  const { out } = await commandLine(["--completions", "bash"])
  const rc = join(folder, ".bashrc")
  writeFileSync(rc, out)
  const complete = (...words: ReadonlyArray<string>): string =>
    execFileSync(
      "bash",
      [
        "-c",
        '. "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}; _model_gateway; echo "${COMPREPLY[@]}"',
        rc,
        "model-gateway",
        ...words
      ],
      { encoding: "utf8" }
    )
  expect([complete("do"), complete("keys", "rot"), complete("serve", "--wor")]).toEqual([
    "doctor\n",
    "rotate rotate-secret\n",
    "--workers\n"
  ])
})
