// `node test/bench/compare.ts <checkout> [<later checkout>]`: compares this tree, or a later one, with a checkout on one core.
// Must not judge. It prints the CPU time of both and their ratio.
// Flags: --pairs=5 (processes per side), --turns=4 (two seconds each), --warm=6 (seconds), --only=unary,messages,longPrompt,burst,
// --later-options=--max-semi-space-size=16 (options of Node for this tree alone, so that a checkout compares with itself).
import { dirname, join, resolve } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import type { buildPrograms } from "./built.ts"
import { type Contestant, cpuMicros, freePort, start, startGateway } from "./contestants.ts"
import { median } from "./goals.ts"
import type { Target } from "./load.ts"
import { burstEvents, startLoad } from "./measure.ts"

const isFlag = (argument: string): boolean => argument.startsWith("--")
const here = dirname(fileURLToPath(import.meta.url))
const flags = process.argv.slice(2).filter(isFlag)
const [checkout, later = join(here, "../..")] = process.argv.slice(2).filter((argument) => !isFlag(argument))
if (checkout === undefined)
  throw new Error(
    "usage: node test/bench/compare.ts <checkout> [<later checkout>] [--pairs=5] [--turns=4] [--warm=6] [--only=unary,messages,longPrompt,burst] [--later-options=OPTIONS]"
  )
const flag = (name: string): string | undefined =>
  flags.find((one) => one.startsWith(`--${name}=`))?.slice(name.length + 3)
const laterOptions = flag("later-options")
const pairs = Number(flag("pairs") ?? 5)
const turns = Number(flag("turns") ?? 4)
const warmMillis = Number(flag("warm") ?? 6) * 1_000
const turnMillis = 2_000

interface Scenario {
  readonly target: (one: Contestant) => Target | undefined
  /** Units of work in one answer. */
  readonly units: number
}

const scenarios: Readonly<Record<string, Scenario>> = {
  unary: { target: (one) => one.target("gemini-3.8-flash", false), units: 1 },
  messages: { target: (one) => one.other?.("messages"), units: 1 },
  longPrompt: { target: (one) => one.other?.("longPrompt"), units: 1 },
  burst: { target: (one) => one.target("gemini-bench-burst", true), units: burstEvents }
}
const chosen = (flag("only") ?? "unary,messages,burst").split(",")

const upstreamPort = await freePort()
const upstream = `http://127.0.0.1:${upstreamPort}`
const provider = await start(
  1,
  [join(here, "upstream.ts"), String(upstreamPort), String(burstEvents)],
  `${upstream}/stats`
)
const load = startLoad()

const programOf = async (folder: string): Promise<string> => {
  const path = pathToFileURL(resolve(folder, "test/bench/built.ts")).href
  const there: { readonly buildPrograms: typeof buildPrograms } = await import(path)
  return (await there.buildPrograms()).main
}
const programs = [await programOf(checkout), await programOf(later)]

const run = async (target: Target, millis: number): Promise<number> => {
  const { done, failed } = await load.run({ kind: "loop", target, connections: 32, millis })
  if (failed > 0 || done === 0) throw new Error(`${failed} failed, ${done} done`)
  return done
}

/** CPU time per unit in microseconds, for each side of one pair of processes. */
const measurePair = async (
  sides: ReadonlyArray<Contestant>,
  { target, units }: Scenario
): Promise<ReadonlyArray<number>> => {
  const targets = sides.map((side) => {
    const found = target(side)
    if (found === undefined) throw new Error("the scenario is not for this program")
    return found
  })
  const sums = sides.map(() => ({ cpu: 0, done: 0 }))
  for (const one of targets) await run(one, warmMillis)
  for (let turn = 0; turn < turns; turn++) {
    for (const [at, side] of sides.entries()) {
      const [sum, one] = [sums[at], targets[at]]
      if (sum === undefined || one === undefined) continue
      const before = cpuMicros(side.pid)
      sum.done += (await run(one, turnMillis)) * units
      sum.cpu += cpuMicros(side.pid) - before
    }
  }
  return sums.map(({ cpu, done }) => cpu / done)
}

const ratios = new Map<string, Array<number>>()
for (let pair = 1; pair <= pairs; pair++) {
  // Odd pairs start with the other side, so that both sides are equally often first.
  const sides: Array<Contestant> = []
  for (const [at, main] of programs.entries())
    sides.push(await startGateway(upstream, { nodeOptions: at === 0 ? undefined : laterOptions }, main))
  for (const name of chosen) {
    const scenario = scenarios[name]
    if (scenario === undefined) throw new Error(`no scenario ${name}`)
    const ordered = pair % 2 === 0 ? sides : sides.toReversed()
    const costs = await measurePair(ordered, scenario)
    const [other = 0, ours = 0] = pair % 2 === 0 ? costs : costs.toReversed()
    ratios.set(name, [...(ratios.get(name) ?? []), ours / other])
    console.log(
      `pair ${pair} ${name}: other ${other.toFixed(1)} us, this ${ours.toFixed(1)} us, ${(ours / other).toFixed(3)}`
    )
  }
  for (const side of sides) await side.stop()
}
for (const [name, all] of ratios) {
  const sorted = all.toSorted((one, other) => one - other)
  console.log(
    `${name}: median ${median(sorted).toFixed(3)} of the other, from ${sorted.map((one) => one.toFixed(3)).join(", ")}`
  )
}
load.stop()
await provider.stop()
