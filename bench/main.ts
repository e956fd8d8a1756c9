// `npm run bench`: the bare proxy, this gateway and Portkey, in one run and in turn, against one simulated provider.
// Prints a table and one JSON line; exit code 1 when a required goal fails. Everything stays on loopback.
// Flags: --quick (about five minutes), --profile (CPU time per request by package and function, no figures),
// --no-portkey, --streams=N, --warm=SECONDS, --only=unary,burst (scenario names as printed).
import { dirname, join } from "node:path"
import { arch, cpus, release, totalmem } from "node:os"
import { setTimeout as pause } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import {
  body,
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
const warmMillis = (numberOf("warm") ?? (quick ? 8 : 15)) * 1_000

const plan: measure.Plan = quick
  ? {
      rounds: 3,
      warmMillis,
      roundMillis: 1_500,
      latencyCount: 300,
      openStreams,
      slowStreams: 200,
      stoppedMillis: 4_000
    }
  : {
      rounds: 5,
      warmMillis,
      roundMillis: 5_000,
      latencyCount: 600,
      openStreams,
      slowStreams: 500,
      stoppedMillis: 10_000
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
/** Runs a scenario in which all contestants take turns within a round. */
const allInTurns = async (name: string, scenario: Round): Promise<void> => {
  if (!isSelected(name)) return
  for (let round = 0; round < plan.rounds; round++) {
    logLine(`${name}  round ${round + 1} of ${plan.rounds}`)
    await scenario(bench, contestants, figuresOf)
  }
}
/** Runs a scenario in which each contestant has a round of its own. */
const inTurn = (name: string, scenario: Scenario): Promise<void> =>
  allInTurns(name, async () => {
    for (const one of contestants) await scenario(bench, one, figuresOf(one))
  })

/** The provider alone must be three times as fast as the bare proxy, or the run measures the provider. */
const upstreamBound = async (): Promise<number> => {
  const result = await bench.load.run({
    kind: "loop",
    target: bench.direct("gemini-2.5-flash", false),
    connections: 32,
    millis: plan.roundMillis
  })
  return result.done / result.seconds
}

/** Fresh processes: memory does not shrink after load, and Portkey keeps streams whose clients left. */
const inFresh = async (name: string, scenario: Scenario, rounds: number): Promise<void> => {
  if (!isSelected(name)) return
  for (const one of contestants) await one.stop()
  for (let round = 0; round < rounds; round++) {
    logLine(`${name}  round ${round + 1} of ${rounds}`)
    for (const [who, again] of [
      ["bare", startBareProxy],
      ["gateway", startGateway],
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

const startAndIdle: Scenario = async (_bench, one, figures) => {
  await pause(300)
  figures.startMillis.push(one.startMillis)
  figures.idleMib.push(rssKib(one.pid) / 1024)
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
  ["embeddingsPerSecond", "embeddings, 32 connections: requests/s"],
  ["embeddingsCpuMicros", "embeddings: CPU us per request"],
  ["claudePerSecond", "Claude chat, 32 connections: requests/s"],
  ["claudeCpuMicros", "Claude chat: CPU us per request"],
  ["claudeStreamsPerSecond", "Claude chat, burst: streams/s"],
  ["claudeStreamsCpuMicros", "Claude chat, burst: CPU us per stream"],
  ["messagesPerSecond", "messages passed, 32 connections: requests/s"],
  ["messagesCpuMicros", "messages passed: CPU us per request"],
  ["messageStreamsPerSecond", "messages streamed: streams/s"],
  ["messageStreamsCpuMicros", "messages streamed: CPU us per stream"],
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
    .map(([name = "", ...cells]) => name.padEnd(46) + cells.map((one) => one.padStart(10)).join(""))
    .join("\n")

const report = (direct: number): number => {
  const verdicts = judge(all)
  console.log(`\n${table()}\n`)
  for (const { goal, spread, value, word } of verdicts) {
    const bound = `must ${goal.up ? ">=" : "<="} ${goal.must}, aim ${goal.aim} ${goal.unit}`.trim()
    console.log(
      `${goal.id.padEnd(4)} ${goal.figure.padEnd(50)} ${cell(value).padStart(8)}  ${bound.padEnd(30)} ${word}${goal.steady && word !== "left out" ? `  (spread ${spread.toFixed(0)} %)` : ""}`
    )
  }
  const barePerSecond = median(all.bare?.unaryPerSecond ?? [])
  if (direct < 3 * barePerSecond)
    console.log(
      `upstream-bound: the provider alone does ${cell(direct)} requests/s, less than three times the bare proxy`
    )
  if (!isPinned()) console.log("not pinned: taskset is missing, figures mix contestants with the load")
  console.log(
    JSON.stringify({
      date: new Date().toISOString().slice(0, 10),
      node: process.version,
      machine: `${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GiB, ${arch()}, kernel ${release().split("-")[0]}`,
      plan: { ...plan, pinned: isPinned(), directPerSecond: Math.round(direct) },
      goals: verdicts.map(({ goal, spread, value, word }) => ({
        id: goal.id,
        figure: goal.figure,
        value: Number(value.toFixed(3)),
        spread: Math.round(spread),
        word
      })),
      figures: Object.fromEntries(
        Object.entries(all).map(([name, figures]) => [
          name,
          Object.fromEntries(Object.entries(figures).map(([key, values]) => [key, Number(median(values).toFixed(3))]))
        ])
      )
    })
  )
  return verdicts.some(({ word }) => word === "FAIL") ? 1 : 0
}

await requireSameAnswers(contestants)
await requireSameOthers(contestants)
logLine("same answers from all; warming up")
for (const [name, stream] of [
  ["gemini-bench-burst", true],
  ["gemini-2.5-flash", false]
] as const) {
  for (const one of contestants)
    await bench.load.run({ kind: "loop", target: one.target(name, stream), connections: 32, millis: plan.warmMillis })
}
if (flags.has("--profile")) {
  for (const one of contestants) {
    const job = {
      kind: "loop",
      target: one.target("gemini-2.5-flash", false),
      connections: 32,
      millis: plan.roundMillis
    } as const
    if (one.inspector !== undefined)
      console.log(`\n${await profileRequests(one, one.inspector, async () => (await bench.load.run(job)).done)}`)
  }
  process.exit(0)
}
const direct = await upstreamBound()
await allInTurns("unary", measure.unary)
await inTurn("latency", measure.latency)
await allInTurns("burst", measure.burst)
for (const what of ["embeddings", "claude", "claudeStreams", "messages", "messageStreams"] as const)
  await allInTurns(what, measure.other(what))
await inTurn("limited", measure.limited)
if (isSelected("watched")) {
  const [unwatched, inMemory] = [await startUnwatched(upstreamUrl), await startUnwatched(upstreamUrl, true)]
  await inTurn("watched", measure.watched(unwatched, inMemory))
  await unwatched.stop()
  await inMemory.stop()
}
await inFresh("paced", warmed(measure.paced), plan.rounds)
await inFresh("slow", warmed(measure.slow), plan.rounds)
await inFresh("start", startAndIdle, plan.rounds)
await inFresh("open", measure.openStreams, 1)
await inFresh("leaving", measure.leaving, 1)
await inFresh("stopped", measure.stoppedReaders, 1)
const code = report(direct)
bench.load.stop()
for (const one of contestants) await one.stop()
await upstream.stop()
process.exit(code)
