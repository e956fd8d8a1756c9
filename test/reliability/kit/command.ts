// Runs a command of this repository and reads the figures it prints.
// Must not know the command.
import { spawn } from "node:child_process"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import type { Figure } from "../proof.ts"

const root = fileURLToPath(new URL("../../..", import.meta.url))

/** The output of a command of Node in this repository, and its exit code. */
export const runCommand = (
  ...args: ReadonlyArray<string>
): Promise<{ readonly output: string; readonly code: number | null }> =>
  new Promise((resolve) => {
    const child = spawn(process.execPath, [join(root, args[0] ?? ""), ...args.slice(1)], { cwd: root })
    process.once("exit", () => child.kill("SIGKILL"))
    let output = ""
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (part: string) => (output += part))
    child.once("close", (code) => resolve({ output, code }))
  })

const line = /^(ok {2}|MISS) {2}(.+?)\s+(-?[\d.]+|NaN|-?Infinity) {3}goal (.+)$/gm

/** The figures of a command of test/bench, as it judged them; a command without figures has failed. */
export const figuresOf = async (...args: ReadonlyArray<string>): Promise<ReadonlyArray<Figure>> => {
  const { code, output } = await runCommand(...args)
  const name = args.join(" ")
  const figures = [...output.matchAll(line)].map(([, word = "", figure = "", value = "", goal = ""]): Figure => ({
    name: `${name}: ${figure.trim()}`,
    value: Number(value),
    unit: "",
    goal: goal.startsWith("none") ? "" : goal,
    holds: word.startsWith("ok")
  }))
  const end: Figure = { name: `${name}: exit code`, value: code ?? -1, unit: "", goal: "0", holds: code === 0 }
  return [...figures, end]
}
