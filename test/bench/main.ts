// `npm run bench`: the bare proxy, this gateway and Portkey, in turn, against one simulated provider.
// Prints a table and one JSON line; exit code 1 when a required goal fails. Everything stays on loopback.
// Every figure is a median over several processes of each side, as processes of one build differ by 5 to 10 %.
// Flags: --keep (writes the result to docs/performance.md), --quick (three processes), --processes=N, --no-portkey,
// --profile (CPU time per request by package and function, no figures), --streams=N and --prompt=BYTES (open streams),
// --memory=MIB (open streams in a process with so much memory, as in a container), --only=unary,burst (scenario names).
import { dirname, join } from "node:path"
import { totalmem } from "node:os"
import { setTimeout as pause } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { makeContainer } from "./container.ts"
import {
  type Contestant,
  freePort,
  isPinned,
  rssKib,
  start,
  startGateway,
  startPortkey,
  startBareProxy,
  startUnwatched
} from "./contestants.ts"
import { type FiguresByName, type Figures, judge, median, noFigures } from "./goals.ts"
import * as measure from "./measure.ts"
import { commitOf, keep, machineName, type Result, whyNotKept } from "./keep.ts"
import { body, connectionsOf, operationNames, operationTitles } from "./operations.ts"
import { profileRequests } from "./profile.ts"
import { requireSameAnswers, requireSameOthers } from "./sameAnswer.ts"

const flags = new Set(process.argv.slice(2))
const quick = flags.has("--quick")
const numberOf = (name: string): number | undefined => {
  const flag = [...flags].find((one) => one.startsWith(`--${name}=`))
  return flag === undefined ? undefined : Number(flag.slice(name.length + 3))
}
/** Each open stream costs about 200 KiB over all processes. */
const affordable = Math.min(5_000, Math.max(500, Math.floor(totalmem() / 2 ** 20)))
const openStreams = numberOf("streams") ?? (quick ? 500 : affordable)
const processes = numberOf("processes") ?? (quick ? 3 : 5)

const plan: measure.Plan = {
  rounds: processes,
  startMillis: quick ? 2_000 : 12_000,
  warmRequests: quick ? 2_000 : 20_000,
  turnMillis: 400,
  roundMillis: quick ? 800 : 2_400,
  latencyCount: 300,
  openStreams,
  promptBytes: numberOf("prompt") ?? 0,
  slowStreams: quick ? 200 : 500,
  stoppedMillis: quick ? 4_000 : 10_000
}

const logLine = (line: string): void => console.error(line)

const upstreamPort = await freePort()
const upstreamUrl = `http://127.0.0.1:${upstreamPort}`
const here = dirname(fileURLToPath(import.meta.url))
const upstream = await start(
  1,
  [join(here, "upstream.ts"), String(upstreamPort), String(measure.burstEvents)],
  `${upstreamUrl}/stats`
)

const startAll = async (): Promise<ReadonlyArray<Contestant>> => {
  const bareProxy = await startBareProxy(upstreamUrl)
  const gateway = await startGateway(upstreamUrl)
  const portkey = flags.has("--no-portkey") ? "left out by --no-portkey" : await startPortkey(upstreamUrl)
  if (typeof portkey === "string")
    logLine(`*** WITHOUT PORTKEY: ${portkey}. The goals that compare with it are left out. ***`)
  return typeof portkey === "string" ? [bareProxy, gateway] : [bareProxy, gateway, portkey]
}

const contestants = await startAll()
const bench: measure.Bench = {
  load: measure.startLoad(),
  providerPid: upstream.pid,
  plan,
  direct: (model, stream) => ({
    port: upstreamPort,
    path: `/v1beta/models/${model}:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
    headers: {},
    body: body(model, stream)
  }),
  upstreamStats: async () => (await fetch(`${upstreamUrl}/stats`)).json()
}

const all: FiguresByName = {}
const figuresOf = (one: Contestant): Figures => (all[one.name] ??= noFigures())

const only = [...flags]
  .find((flag) => flag.startsWith("--only="))
  ?.slice("--only=".length)
  .split(",")
const isSelected = (name: string): boolean => only?.includes(name) ?? true

type Scenario = (bench: measure.Bench, one: Contestant, figures: Figures) => Promise<void>
type Round = (
  bench: measure.Bench,
  all: ReadonlyArray<Contestant>,
  figuresOf: (one: Contestant) => Figures
) => Promise<void>
/** Compiles what all scenarios share. */
const warmUp = async (some: ReadonlyArray<Contestant>, millis: number): Promise<void> => {
  for (const [name, stream] of [
    ["gemini-bench-burst", true],
    ["gemini-3.8-flash", false]
  ] as const) {
    for (const one of some)
      await bench.load.run({ kind: "loop", target: one.target(name, stream), connections: 32, millis })
  }
}

const own: ReadonlyArray<readonly [name: string, scenario: Scenario]> = [
  ["latency", measure.latency],
  ["limited", measure.limited]
]
const together: ReadonlyArray<readonly [name: string, scenario: Round]> = [
  ["unary", measure.unary],
  ["burst", measure.burst],
  ...operationNames.map((name) => [name, measure.other(name)] as const)
]

/** All scenarios on one process of each contestant, which take turns. */
const measureProcesses = async (some: ReadonlyArray<Contestant>): Promise<void> => {
  await pause(300)
  for (const one of some) {
    figuresOf(one).startMillis.push(one.startMillis)
    figuresOf(one).idleMib.push(rssKib(one.pid) / 1024)
  }
  await warmUp(some, plan.startMillis)
  for (const [name, scenario] of together) if (isSelected(name)) await scenario(bench, some, figuresOf)
  for (const [name, scenario] of own)
    if (isSelected(name)) for (const one of some) await scenario(bench, one, figuresOf(one))
}

/** Two workers and one, on all processors. */
const measureWorkers = async (): Promise<void> => {
  const one = await startGateway(upstreamUrl, { workers: 1 })
  const two = await startGateway(upstreamUrl, { workers: 2 })
  await measure.workers(bench, [one, two], figuresOf(two))
  await one.stop()
  await two.stop()
}

/** The provider alone must be three times as fast as the bare proxy, or the run measures the provider. */
const upstreamBound = async (): Promise<number> => {
  const result = await bench.load.run({
    kind: "loop",
    target: bench.direct("gemini-3.8-flash", false),
    connections: 32,
    millis: plan.roundMillis
  })
  return result.done / result.seconds
}

const memoryMiB = numberOf("memory")
const container =
  memoryMiB === undefined ? undefined : makeContainer(`model-gateway-bench-${process.pid}`, memoryMiB * 2 ** 20)
if (memoryMiB !== undefined && container === undefined) throw new Error("this user may make no control group")

/** Fresh processes: memory does not shrink after load, and Portkey keeps streams whose clients left. */
const inFresh = async (name: string, scenario: Scenario, rounds: number): Promise<void> => {
  if (!isSelected(name)) return
  for (let round = 0; round < rounds; round++) {
    logLine(`${name}  round ${round + 1} of ${rounds}`)
    for (const [who, again] of [
      ["bare", (url: string) => startBareProxy(url, { container })],
      ["gateway", (url: string) => startGateway(url, { streams: openStreams, container })],
      ["portkey", startPortkey]
    ] as const) {
      const one = contestants.some((known) => known.name === who) ? await again(upstreamUrl) : ""
      if (typeof one === "string") continue
      await scenario(bench, one, figuresOf(one))
      await one.stop()
    }
  }
}

const warmed =
  (scenario: Scenario): Scenario =>
  async (on, one, figures) => {
    await measure.warmStreams(on, one)
    await scenario(on, one, figures)
  }

const cell = (value: number): string =>
  Number.isNaN(value) ? "-" : Math.abs(value) >= 100 ? value.toFixed(0) : value.toFixed(2)
const rows: ReadonlyArray<readonly [key: keyof Figures, name: string]> = [
  ["unaryPerSecond", "unary, 32 connections: requests/s"],
  ["unaryCpuMicros", "unary: CPU us per request"],
  ["addedMillis", "unary, 1 connection: added ms, p50"],
  ["eventsPerSecond", "streams, burst: events/s"],
  ["eventCpuMicros", "streams, burst: CPU us per event"],
  ["slowEventCpuMicros", "streams, slow: CPU us per event"],
  ["firstChunkMillis", "time to first chunk: ms, p50"],
  ["chunkDelayMillis", "100 paced streams: chunk delay ms, p50"],
  ...operationNames.flatMap((name) => [
    [`${name}PerSecond`, `${operationTitles[name]}: per second`] as const,
    [`${name}CpuMicros`, `${operationTitles[name]}: CPU us`] as const
  ]),
  ["oneWorkerPerSecond", "all processors, one worker: requests/s"],
  ["twoWorkersPerSecond", "all processors, two workers: requests/s"],
  ["twoWorkersShare", "two workers: throughput / one"],
  ["loadGeneratorShare", "the same: CPU share of load and provider"],
  ["limitedShare", "a key with limits: throughput / without"],
  ["limitedCpuShare", "a key with limits: CPU per request / without"],
  ["unwatchedPerSecond", "no config, log, metrics: requests/s"],
  ["watchedPerSecond", "config, log, metrics: requests/s"],
  ["watchedShare", "config, log, metrics: throughput / without"],
  ["watchedCpuShare", "config, log, metrics: CPU per request / without"],
  ["keptShare", "the same, requests on SQLite: throughput / without"],
  ["idleMib", "memory idle: MiB"],
  ["loadMib", "memory under load: MiB"],
  ["openStreamKib", `memory per open stream (${plan.openStreams}): KiB`],
  ["stoppedGrowthPercent", "20 stopped readers: growth %"],
  ["leaveMillis", "200 clients leave: last closed after ms"],
  ["startMillis", "start to ready: ms"]
]

const table = (): string =>
  [
    ["", "bare proxy", "gateway", "Portkey"],
    ...rows.map(([key, name]) => [
      name,
      ...(["bare", "gateway", "portkey"] as const).map((who) => cell(median(all[who]?.[key] ?? [])))
    ])
  ]
    .map(([name = "", ...cells]) => name.padEnd(56) + cells.map((one) => one.padStart(10)).join(""))
    .join("\n")

const report = (direct: number): number => {
  const verdicts = judge(all)
  console.log(`\n${table()}\n`)
  for (const { goal, spread, value, word } of verdicts) {
    const bound = `must ${goal.up ? ">=" : "<="} ${goal.must}, aim ${goal.aim} ${goal.unit}`.trim()
    console.log(
      `${goal.id.padEnd(4)} ${goal.figure.padEnd(60)} ${cell(value).padStart(8)}  ${bound.padEnd(30)} ${word}${goal.steady && word !== "left out" ? `  (spread ${spread.toFixed(0)} %)` : ""}`
    )
  }
  const barePerSecond = median(all.bare?.unaryPerSecond ?? [])
  if (direct < 3 * barePerSecond)
    console.log(
      `upstream-bound: the provider alone does ${cell(direct)} requests/s, less than three times the bare proxy`
    )
  if (!isPinned()) console.log("not pinned: taskset is missing, figures mix contestants with the load")
  const result: Result = {
    machine: machineName(),
    commit: commitOf(),
    date: new Date().toISOString().slice(0, 10),
    processes,
    rows: rows.map(([key, name]) => ({
      name,
      cells: (["bare", "gateway", "portkey"] as const).map((who) => median(all[who]?.[key] ?? []))
    })),
    verdicts
  }
  console.log(JSON.stringify({ ...result, plan: { ...plan, pinned: isPinned(), directPerSecond: Math.round(direct) } }))
  if (flags.has("--keep")) {
    const refused = whyNotKept(result, { isPinned: isPinned(), isPart: only !== undefined || quick })
    if (refused !== undefined) {
      console.error(`not kept: ${refused}`)
      return 1
    }
    keep(result)
    console.error("kept in docs/performance.md and docs/images/performance.svg")
  }
  return verdicts.some(({ word }) => word === "FAIL") ? 1 : 0
}

/** Prints where the time of a warm process goes: for a small chat, or for the operations that `--only` names. */
const profile = async (one: Contestant): Promise<void> => {
  const { inspector } = one
  if (inspector === undefined) return
  const chat = only === undefined || only.includes("unary") ? one.target("gemini-3.8-flash", false) : undefined
  const profiled = [
    ["a small chat", chat, 32],
    ...operationNames.map(
      (what) =>
        [
          operationTitles[what],
          only?.includes(what) === true ? one.other?.(what) : undefined,
          connectionsOf(what)
        ] as const
    )
  ] as const
  for (const [title, target, connections] of profiled) {
    if (target === undefined) continue
    const run = async (millis: number) => (await bench.load.run({ kind: "loop", target, connections, millis })).done
    await run(15_000)
    console.log(`\n${await profileRequests(`${one.name}, ${title}`, inspector, () => run(5_000))}`)
  }
}

await requireSameAnswers(contestants)
await requireSameOthers(contestants)
logLine("same answers from all")
if (flags.has("--profile")) {
  for (const one of contestants) await profile(one)
  process.exit(0)
}
const direct = await upstreamBound()
for (const one of contestants) await one.stop()
for (let round = 1; round <= processes; round++) {
  logLine(`processes ${round} of ${processes}`)
  const some = await startAll()
  await measureProcesses(some)
  for (const one of some) await one.stop()
  if (isSelected("workers")) await measureWorkers()
  if (isSelected("watched")) {
    const [gateway, unwatched, inMemory] = [
      await startGateway(upstreamUrl),
      await startUnwatched(upstreamUrl),
      await startUnwatched(upstreamUrl, true)
    ]
    await measure.watched(unwatched, inMemory)(bench, gateway, figuresOf(gateway))
    for (const one of [gateway, unwatched, inMemory]) await one.stop()
  }
}
await inFresh("paced", warmed(measure.paced), processes)
await inFresh("slow", warmed(measure.slow), processes)
await inFresh("open", measure.openStreams, 1)
await inFresh("leaving", measure.leaving, 1)
await inFresh("stopped", measure.stoppedReaders, 1)
const code = report(direct)
bench.load.stop()
await upstream.stop()
container?.remove()
process.exit(code)
