// The scenarios of the bench: each loads contestants once and appends to their figures.
// Must not know goals.
import { fork } from "node:child_process"
import { availableParallelism } from "node:os"
import { dirname, join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { type Contestant, cpuMicros, pinToCore, rssKib } from "./contestants.ts"
import { type Figures, median } from "./goals.ts"
import type { Job, LoadResult, Target } from "./load.ts"
import { connectionsOf, type OperationName } from "./operations.ts"

/** Events of one burst stream; passed to the provider. */
export const burstEvents = 200

/** Rounds, times and sizes of a run: a quick look, or figures to quote. */
export interface Plan {
  /** Rounds, each with processes of its own. */
  readonly rounds: number
  /** A large program is compiled for many seconds: of each side of a new process, for chats and for streams. */
  readonly startMillis: number
  /** Of each side before the turns of a scenario: so many requests, or the time above. */
  readonly warmRequests: number
  /** All turns of a side. */
  readonly roundMillis: number
  /** Short, as the speed of a shared machine changes within seconds and both sides should meet the same. */
  readonly turnMillis: number
  readonly latencyCount: number
  readonly openStreams: number
  /** Added to the prompt of each open stream. */
  readonly promptBytes: number
  readonly slowStreams: number
  readonly stoppedMillis: number
}

/** A job that takes longer has lost an answer. */
const mostJobMillis = 60_000

export interface Load {
  readonly pid: number
  readonly run: (job: Job) => Promise<LoadResult>
  readonly stop: () => void
}

/** The load generator on the second core. One job at a time. */
export const startLoad = (): Load => {
  const [execPath, args] = pinToCore(1, [])
  const inner = execPath === process.execPath ? { execPath } : { execPath, execArgv: [...args] }
  const child = fork(join(dirname(fileURLToPath(import.meta.url)), "load.ts"), [], { ...inner, serialization: "json" })
  return {
    pid: child.pid ?? 0,
    run: (job) =>
      new Promise((resolve, reject) => {
        const died = (): void => reject(new Error("the load generator died"))
        const late = setTimeout(() => reject(new Error(`no end of a ${job.kind} job`)), mostJobMillis)
        child.once("exit", died)
        child.once("message", (result: LoadResult) => {
          clearTimeout(late)
          child.off("exit", died)
          resolve(result)
        })
        child.send(job)
      }),
    stop: () => child.disconnect()
  }
}

export interface Bench {
  readonly load: Load
  readonly plan: Plan
  /** The process of the simulated provider. */
  readonly providerPid: number
  /** The provider itself, for the cost of a call without a proxy. */
  readonly direct: (model: string, stream: boolean) => Target
  readonly upstreamStats: () => Promise<{ readonly openStreams: number; readonly lastCloseMicros: number }>
}

const clean = (what: string, result: LoadResult): LoadResult => {
  if (result.failed > 0 || result.done === 0) throw new Error(`${what}: ${result.failed} failed, ${result.done} done`)
  return result
}

const model = "gemini-3.8-flash"

interface Side {
  readonly pid: number
  readonly target: Target
}

/** Of one side in one round. */
interface Cost {
  readonly cpuMicros: number
  readonly perSecond: number
}

/** A closed loop of one side. */
const loop = async ({ load, plan }: Bench, { target }: Side, connections: number): Promise<LoadResult> =>
  clean(target.path, await load.run({ kind: "loop", target, connections, millis: plan.turnMillis }))

const measureTurn = async (bench: Bench, side: Side, connections: number): Promise<Cost> => {
  const before = cpuMicros(side.pid)
  const { done, seconds } = await loop(bench, side, connections)
  return { cpuMicros: (cpuMicros(side.pid) - before) / done, perSecond: done / seconds }
}

/** Until the code of the scenario is compiled. */
const warm = async (bench: Bench, side: Side, connections: number, processes: number): Promise<void> => {
  const { startMillis, turnMillis, warmRequests } = bench.plan
  for (let done = 0, spent = 0; done < processes * warmRequests && spent < processes * startMillis; spent += turnMillis)
    done += (await loop(bench, side, connections)).done
}

/** Every side in short turns when it is warm; the median of its turns. */
const measureInTurns = async (
  bench: Bench,
  sides: ReadonlyArray<Side>,
  { connections = 32, processes = 1 } = {}
): Promise<ReadonlyArray<Cost>> => {
  const { roundMillis, turnMillis } = bench.plan
  for (const side of sides) await warm(bench, side, connections, processes)
  const turns = sides.map((side) => ({ side, costs: new Array<Cost>() }))
  for (let spent = 0; spent < roundMillis; spent += turnMillis)
    for (const { costs, side } of turns) costs.push(await measureTurn(bench, side, connections))
  return turns.map(({ costs }) => ({
    cpuMicros: median(costs.map((one) => one.cpuMicros)),
    perSecond: median(costs.map((one) => one.perSecond))
  }))
}

type FiguresOf = (one: Contestant) => Figures

const noCost: Cost = { cpuMicros: Number.NaN, perSecond: Number.NaN }

/** 32 connections, small bodies. */
export const unary = async (bench: Bench, all: ReadonlyArray<Contestant>, figuresOf: FiguresOf): Promise<void> => {
  const sides = all.map(({ pid, target }): Side => ({ pid, target: target(model, false) }))
  const costs = await measureInTurns(bench, sides)
  for (const [at, one] of all.entries()) {
    const { cpuMicros: micros, perSecond } = costs[at] ?? noCost
    const figures = figuresOf(one)
    figures.unaryCpuMicros.push(micros)
    figures.unaryPerSecond.push(perSecond)
    figures.loadMib.push(rssKib(one.pid) / 1024)
  }
}

/** Throughput and CPU time per request of one side, relative to the other. */
const compareSides = async (bench: Bench, on: Side, off: Side) => {
  const [without = noCost, cost = noCost] = await measureInTurns(bench, [off, on])
  return {
    perSecond: cost.perSecond,
    offPerSecond: without.perSecond,
    share: cost.perSecond / without.perSecond,
    cpuShare: cost.cpuMicros / without.cpuMicros
  }
}

/** A key with limits and a budget on SQLite, relative to a key without, in the same process. */
export const limited = async (bench: Bench, one: Contestant, figures: Figures): Promise<void> => {
  if (one.limited === undefined) return
  const off = { pid: one.pid, target: one.target(model, false) }
  const { cpuShare, share } = await compareSides(bench, { pid: one.pid, target: one.limited }, off)
  figures.limitedCpuShare.push(cpuShare)
  figures.limitedShare.push(share)
}

/** Config, log, metrics and a list of requests, relative to a gateway without; then with SQLite. */
export const watched =
  (unwatched: Contestant, inMemory: Contestant) =>
  async (bench: Bench, one: Contestant, figures: Figures): Promise<void> => {
    if (one.configured === undefined || inMemory.configured === undefined) return
    const off = { pid: unwatched.pid, target: unwatched.target(model, false) }
    const { cpuShare, offPerSecond, perSecond, share } = await compareSides(
      bench,
      { pid: inMemory.pid, target: inMemory.configured },
      off
    )
    figures.watchedPerSecond.push(perSecond)
    figures.unwatchedPerSecond.push(offPerSecond)
    figures.watchedCpuShare.push(cpuShare)
    figures.watchedShare.push(share)
    figures.keptShare.push((await compareSides(bench, { pid: one.pid, target: one.configured }, off)).share)
  }

/** Like `unary`, for another operation, on the contestants that support it. */
export const other =
  (what: OperationName): ((bench: Bench, all: ReadonlyArray<Contestant>, figuresOf: FiguresOf) => Promise<void>) =>
  async (bench, all, figuresOf) => {
    const some = all.flatMap((one) => {
      const target = one.other?.(what)
      return target === undefined ? [] : [{ figures: figuresOf(one), side: { pid: one.pid, target } }]
    })
    const costs = await measureInTurns(
      bench,
      some.map(({ side }) => side),
      { connections: connectionsOf(what) }
    )
    for (const [at, { figures }] of some.entries()) {
      const { cpuMicros: micros, perSecond } = costs[at] ?? noCost
      figures[`${what}CpuMicros`].push(micros)
      figures[`${what}PerSecond`].push(perSecond)
    }
  }

/** One connection: latency that the contestant adds to a call, and time to a stream's first event. */
export const latency = async ({ direct, load, plan }: Bench, one: Contestant, figures: Figures): Promise<void> => {
  const ask = async (target: Target, until: "end" | "first"): Promise<number> =>
    clean(`${one.name}, latency`, await load.run({ kind: "latency", target, count: plan.latencyCount, until })).p50
  const through = await ask(one.target(model, false), "end")
  figures.addedMillis.push(through - (await ask(direct(model, false), "end")))
  figures.firstChunkMillis.push(await ask(one.target(model, true), "first"))
}

/** 32 streams at full speed, one burst of events after another. */
export const burst = async (bench: Bench, all: ReadonlyArray<Contestant>, figuresOf: FiguresOf): Promise<void> => {
  const sides = all.map(({ pid, target }): Side => ({ pid, target: target("gemini-bench-burst", true) }))
  const costs = await measureInTurns(bench, sides)
  for (const [at, one] of all.entries()) {
    const { cpuMicros: micros, perSecond } = costs[at] ?? noCost
    figuresOf(one).eventCpuMicros.push(micros / burstEvents)
    figuresOf(one).eventsPerSecond.push(perSecond * burstEvents)
  }
}

/** 100 streams of 50 events a second: the delay of an event. */
export const paced = async ({ load, plan }: Bench, one: Contestant, figures: Figures): Promise<void> => {
  const target = one.target("gemini-bench-paced-50", true)
  const result = clean(
    `${one.name}, paced`,
    await load.run({ kind: "paced", target, connections: 100, millis: plan.roundMillis })
  )
  figures.chunkDelayMillis.push(result.p50)
}

/** Many streams of 10 events a second: the CPU time of an event that arrives alone. */
export const slow = async ({ load, plan }: Bench, one: Contestant, figures: Figures): Promise<void> => {
  const target = one.target("gemini-bench-paced-10", true)
  await load.run({ kind: "open", target, count: plan.slowStreams, stopReading: false })
  const before = cpuMicros(one.pid)
  await pause(plan.roundMillis)
  figures.slowEventCpuMicros.push((cpuMicros(one.pid) - before) / (plan.slowStreams * 10 * (plan.roundMillis / 1000)))
  await load.run({ kind: "leave" })
  await pause(300)
}

/**
 * Two workers relative to one, both on all processors. Load generator and provider run on the same processors; their
 * share of the CPU time that the machine has is stated.
 */
export const workers = async (bench: Bench, [one, two]: readonly [Contestant, Contestant], figures: Figures) => {
  const { load, providerPid } = bench
  const sides = [one, two].map(({ pid, target }) => ({ pid, target: target(model, false) }))
  const outside = () => cpuMicros(load.pid) + cpuMicros(providerPid)
  const before = outside()
  const started = performance.now()
  const costs = await measureInTurns(bench, sides, { connections: 64, processes: 2 })
  const available = (performance.now() - started) * 1_000 * availableParallelism()
  figures.loadGeneratorShare.push((outside() - before) / available)
  const [alone = 0, both = 0] = costs.map(({ perSecond }) => perSecond)
  figures.oneWorkerPerSecond.push(alone)
  figures.twoWorkersPerSecond.push(both)
  figures.twoWorkersShare.push(both / alone)
}

/** Compiles a contestant's streaming code before it is timed. */
export const warmStreams = async ({ load, plan }: Bench, one: Contestant): Promise<void> => {
  await load.run({
    kind: "loop",
    target: one.target("gemini-bench-burst", true),
    connections: 32,
    millis: plan.startMillis / 4
  })
}

const withPrompt = (target: Target, bytes: number): Target =>
  bytes === 0 ? target : { ...target, body: target.body.replace('"messages":[', `"messages":[${longMessage(bytes)},`) }

const longMessage = (bytes: number): string =>
  JSON.stringify({ role: "user", content: "Tide and moon. ".repeat(bytes / 15) })

/** Memory of open, silent streams: the slope after the first quarter, which pays for compiled code and pools. */
export const openStreams = async ({ load, plan }: Bench, one: Contestant, figures: Figures): Promise<void> => {
  const open = async (count: number): Promise<number> => {
    const result = await load.run({
      kind: "open",
      target: withPrompt(one.target("gemini-bench-hold", true), plan.promptBytes),
      count,
      stopReading: false
    })
    if (result.failed > 0) throw new Error(`${one.name}, open streams: ${result.failed} failed`)
    await pause(1_000)
    return rssKib(one.pid)
  }
  const quarter = Math.floor(plan.openStreams / 4)
  const early = await open(quarter)
  const all = await open(plan.openStreams - quarter)
  figures.openStreamKib.push((all - early) / (plan.openStreams - quarter))
  console.error(`open  ${one.name}: ${Math.round(all / 1024)} MiB with ${plan.openStreams} streams`)
  await load.run({ kind: "leave" })
}

/** 20 readers that stop, in front of an endless provider: memory must stay constant. */
export const stoppedReaders = async ({ load, plan }: Bench, one: Contestant, figures: Figures): Promise<void> => {
  await load.run({ kind: "open", target: one.target("gemini-bench-endless", true), count: 20, stopReading: true })
  await pause(plan.stoppedMillis * 0.3)
  const early = rssKib(one.pid)
  await pause(plan.stoppedMillis * 0.7)
  figures.stoppedGrowthPercent.push(((rssKib(one.pid) - early) / early) * 100)
  await load.run({ kind: "leave" })
  await pause(500)
}

/** Milliseconds from the clients' leaving until the provider sees the last stream closed. NaN after three seconds. */
export const closedAfter = async (
  upstreamStats: Bench["upstreamStats"],
  leftMicros: number,
  everyMillis: number
): Promise<number> => {
  for (let waited = 0; waited < 3_000; waited += everyMillis) {
    await pause(everyMillis)
    const { lastCloseMicros, openStreams } = await upstreamStats()
    if (openStreams === 0) return (lastCloseMicros - leftMicros) / 1000
  }
  return Number.NaN
}

/** 200 clients leave together: time until the provider sees the last stream closed. Portkey never closes them: NaN. */
export const leaving = async (bench: Bench, one: Contestant, figures: Figures): Promise<void> => {
  const { load, upstreamStats } = bench
  await load.run({ kind: "open", target: one.target("gemini-bench-paced-10", true), count: 200, stopReading: false })
  const { leftMicros } = await load.run({ kind: "leave" })
  figures.leaveMillis.push(await closedAfter(upstreamStats, leftMicros, 100))
}
