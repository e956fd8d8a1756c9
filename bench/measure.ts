// The scenarios of the bench: each loads contestants once and appends to their figures.
// Must not know goals.
import { fork } from "node:child_process"
import { availableParallelism } from "node:os"
import { dirname, join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { type Contestant, cpuMicros, pinToCore, rssKib } from "./contestants.ts"
import type { Figures } from "./goals.ts"
import type { Job, LoadResult, Target } from "./load.ts"
import { connectionsOf, type OperationName } from "./operations.ts"

/** Events of one burst stream; passed to the provider. */
export const burstEvents = 200

/** Rounds, times and sizes of a run: a quick look, or figures to quote. */
export interface Plan {
  /** Rounds, each with processes of its own. */
  readonly rounds: number
  /** A large program is compiled for many seconds. Earlier figures are those of cold code. */
  readonly warmMillis: number
  readonly roundMillis: number
  /** One turn of one side; a round has as many as it takes. */
  readonly turnMillis: number
  readonly latencyCount: number
  readonly openStreams: number
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

/** The work of one side in one round. */
interface Sum {
  done: number
  seconds: number
  /** Microseconds. */
  cpu: number
}

const emptySum: Sum = { done: 0, seconds: 0, cpu: 0 }

/** A closed loop over some connections: every side for one round, in turns. The machine's speed changes within seconds. */
const measureInTurns = async <One extends Side>(
  { load, plan }: Bench,
  what: string,
  sides: ReadonlyArray<One>,
  connections = 32
): Promise<ReadonlyArray<readonly [One, Sum]>> => {
  const sums = sides.map((side): readonly [One, Sum] => [side, { done: 0, seconds: 0, cpu: 0 }])
  for (let turn = 0; turn < plan.roundMillis / plan.turnMillis; turn++) {
    for (const [side, sum] of sums) {
      const before = cpuMicros(side.pid)
      const { done, seconds } = clean(
        what,
        await load.run({ kind: "loop", target: side.target, connections, millis: plan.turnMillis })
      )
      sum.cpu += cpuMicros(side.pid) - before
      sum.done += done
      sum.seconds += seconds
    }
  }
  return sums
}

interface Measured extends Side {
  readonly figures: Figures
}

type FiguresOf = (one: Contestant) => Figures

/** 32 connections, small bodies. */
export const unary = async (bench: Bench, all: ReadonlyArray<Contestant>, figuresOf: FiguresOf): Promise<void> => {
  const sides = all.map((one): Measured => ({
    pid: one.pid,
    target: one.target(model, false),
    figures: figuresOf(one)
  }))
  for (const [{ figures, pid }, { cpu, done, seconds }] of await measureInTurns(bench, "unary", sides)) {
    figures.unaryCpuMicros.push(cpu / done)
    figures.unaryPerSecond.push(done / seconds)
    figures.loadMib.push(rssKib(pid) / 1024)
  }
}

/** Throughput and CPU time per request of one side, relative to the other. */
const compareSides = async (
  bench: Bench,
  on: Side,
  off: Side
): Promise<{
  readonly share: number
  readonly cpuShare: number
  readonly perSecond: number
  readonly offPerSecond: number
}> => {
  for (const { target } of [off, on])
    await bench.load.run({ kind: "loop", target, connections: 32, millis: bench.plan.warmMillis })
  const sums = await measureInTurns(bench, "compared", [off, on])
  const [without = emptySum, sum = emptySum] = sums.map(([, one]) => one)
  const perSecond = sum.done / sum.seconds
  const offPerSecond = without.done / without.seconds
  return {
    perSecond,
    offPerSecond,
    share: perSecond / offPerSecond,
    cpuShare: sum.cpu / sum.done / (without.cpu / without.done)
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
    const connections = connectionsOf(what)
    const sides = all.flatMap((one): ReadonlyArray<Measured> => {
      const target = one.other?.(what)
      return target === undefined ? [] : [{ pid: one.pid, target, figures: figuresOf(one) }]
    })
    for (const { target } of sides)
      await bench.load.run({ kind: "loop", target, connections, millis: bench.plan.warmMillis })
    for (const [{ figures }, { cpu, done, seconds }] of await measureInTurns(bench, what, sides, connections)) {
      figures[`${what}CpuMicros`].push(cpu / done)
      figures[`${what}PerSecond`].push(done / seconds)
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
  const sides = all.map((one): Measured => ({
    pid: one.pid,
    target: one.target("gemini-bench-burst", true),
    figures: figuresOf(one)
  }))
  for (const [{ figures }, { cpu, done, seconds }] of await measureInTurns(bench, "burst", sides)) {
    figures.eventCpuMicros.push(cpu / (done * burstEvents))
    figures.eventsPerSecond.push((done * burstEvents) / seconds)
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
  const { load, plan, providerPid } = bench
  const sides = [one, two].map(({ pid, target }) => ({ pid, target: target(model, false) }))
  for (const { target } of sides) await load.run({ kind: "loop", target, connections: 64, millis: plan.warmMillis })
  const outside = () => cpuMicros(load.pid) + cpuMicros(providerPid)
  const before = outside()
  const started = performance.now()
  const sums = await measureInTurns(bench, "workers", sides, 64)
  const available = (performance.now() - started) * 1_000 * availableParallelism()
  figures.loadGeneratorShare.push((outside() - before) / available)
  const [alone = 0, both = 0] = sums.map(([, { done, seconds }]) => done / seconds)
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
    millis: plan.warmMillis
  })
}

/** Memory of open, silent streams: the slope after the first quarter, which pays for compiled code and pools. */
export const openStreams = async ({ load, plan }: Bench, one: Contestant, figures: Figures): Promise<void> => {
  const open = async (count: number): Promise<number> => {
    const result = await load.run({
      kind: "open",
      target: one.target("gemini-bench-hold", true),
      count,
      stopReading: false
    })
    if (result.failed > 0) throw new Error(`${one.name}, open streams: ${result.failed} failed`)
    await pause(1_000)
    return rssKib(one.pid)
  }
  const quarter = Math.floor(plan.openStreams / 4)
  const early = await open(quarter)
  figures.openStreamKib.push(((await open(plan.openStreams - quarter)) - early) / (plan.openStreams - quarter))
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
