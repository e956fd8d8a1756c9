// The part of `npm run agents` inside the network namespace: starts the demo gateway, runs each step, prints the table.
// Must not know an agent. Arguments: the folder with packages and work, and the names of the agents to run.
import { spawn } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { type Agent, agents, note, origin, type Step } from "./clients.ts"
import { type Ended, run } from "./run.ts"

const [folder = "", ...names] = process.argv.slice(2)
const work = join(folder, "work")
const path = process.env["PATH"] ?? ""
const stepMillis = 180_000

const demoIsReady = async (): Promise<boolean> => {
  for (let attempt = 0; attempt < 300; attempt++) {
    const answer = await fetch(`${origin}/health/ready`).catch(() => undefined)
    if (answer?.ok === true) return true
    await pause(100)
  }
  return false
}

const perform = async ({ command, script }: Agent, { args, env, files = {} }: Step, home: string): Promise<Ended> => {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(home, name)), { recursive: true })
    writeFileSync(join(home, name), text)
  }
  const options = { env: { PATH: path, HOME: home, TERM: "dumb", ...env }, millis: stepMillis }
  const packages = join(folder, "packages")
  return script === undefined
    ? run(join(packages, "node_modules", ".bin", command), args, { ...options, cwd: work })
    : run(process.execPath, ["--input-type=module", "-e", script, ...args], { ...options, cwd: packages })
}

/** What a step that failed shows of its output. */
const tail = (text: string): string => text.trim().slice(-1_500)

const row = (...cells: ReadonlyArray<string>): string =>
  cells.map((cell, index) => (index === 0 ? cell.padEnd(14) : index === 1 ? cell.padEnd(32) : cell)).join("")

const runAll = async (chosen: ReadonlyArray<Agent>): Promise<number> => {
  let failed = 0
  console.log(row("client", "step", "result"))
  for (const agent of chosen) {
    const home = join(folder, "homes", agent.command)
    mkdirSync(home, { recursive: true })
    for (const step of agent.steps) {
      const started = performance.now()
      const ended = await perform(agent, step, home)
      const isGood = ended.code === 0 && ended.out.includes(step.shows)
      const seconds = ((performance.now() - started) / 1_000).toFixed(1)
      console.log(row(agent.name, step.name, `${isGood ? "good" : "FAILED"} (${seconds} s)`))
      if (isGood) continue
      failed++
      console.log(`  exit ${ended.code}, without "${step.shows}"\n${tail(ended.out)}\n${tail(ended.err)}`)
    }
  }
  return failed
}

if ((await run("ip", ["link", "set", "lo", "up"], { cwd: folder })).code !== 0) process.exit(2)
writeFileSync(join(work, note.name), `${note.text}\n`)
const main = fileURLToPath(new URL("../../src/main.ts", import.meta.url))
const demo = spawn(process.execPath, [main, "demo", "--port", new URL(origin).port], { stdio: "ignore" })
process.once("exit", () => demo.kill("SIGKILL"))
if (!(await demoIsReady())) {
  console.error("agents: COULD NOT RUN. The demo gateway did not start.")
  process.exit(2)
}
const failed = await runAll(agents(work).filter(({ name }) => names.includes(name)))
console.log(failed === 0 ? "agents: every step is good" : `agents: ${failed} steps FAILED`)
process.exit(failed === 0 ? 0 : 1)
