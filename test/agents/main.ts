// `npm run agents`: installs coding agents from npm and runs them against the demo gateway, without any network but loopback.
// Must not know an agent. Exit codes: 0 all steps good, 1 a step failed, 2 could not run. `--only=NAME` runs one agent.
import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { type Agent, agents } from "./clients.ts"
import { run } from "./run.ts"

const only = process.argv.find((one) => one.startsWith("--only="))?.slice("--only=".length)
const installMillis = 600_000

const couldNotRun = (why: string): never => {
  console.error(`agents: COULD NOT RUN. ${why}`)
  process.exit(2)
}

/** A new network namespace; a user other than root gets one inside a user namespace. */
const unshare = process.getuid?.() === 0 ? "-n" : "-rn"

const folder = mkdtempSync(join(tmpdir(), "model-gateway-agents-"))
process.once("exit", () => rmSync(folder, { recursive: true, force: true }))
const [packages, work] = [join(folder, "packages"), join(folder, "work")]
for (const one of [packages, work]) mkdirSync(one)
writeFileSync(join(packages, "package.json"), '{"private":true}')

const chosen = agents(work).filter(({ name }) => only === undefined || name.includes(only))
if (chosen.length === 0) couldNotRun(`No agent is named ${only}.`)

const namespace = await run("unshare", [unshare, "ip", "link", "set", "lo", "up"], { cwd: folder })
if (namespace.code !== 0)
  couldNotRun(`A network namespace with loopback needs Linux, unshare and ip: ${namespace.err.trim() || "it failed"}`)

/** Only the scripts named in the table run. */
const install = async (wanted: ReadonlyArray<Agent>): Promise<void> => {
  const names = wanted.flatMap(({ alongside = [], package: name, version }) => [`${name}@${version}`, ...alongside])
  console.log(`agents: installs ${names.join(", ")}`)
  const flags = ["--no-audit", "--no-fund", "--ignore-scripts"]
  const installed = await run("npm", ["install", ...flags, ...names], { cwd: packages, millis: installMillis })
  if (installed.code !== 0) couldNotRun(`npm install failed: ${installed.err.trim()}`)
  for (const { afterInstall, package: name } of wanted) {
    if (afterInstall === undefined) continue
    const placed = await run(process.execPath, [afterInstall], { cwd: join(packages, "node_modules", name) })
    if (placed.code !== 0) couldNotRun(`${afterInstall} of ${name} failed: ${placed.err.trim()}`)
  }
}
await install(chosen)

const inside = fileURLToPath(new URL("inside.ts", import.meta.url))
const names = chosen.map(({ name }) => name)
const { status } = spawnSync("unshare", [unshare, process.execPath, inside, folder, ...names], { stdio: "inherit" })
process.exitCode = status ?? 2
