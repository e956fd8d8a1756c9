// The scenarios: each loads one contestant once and appends to its figures.
// It must not know goals.
import { fork } from "node:child_process"
import { dirname, join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { type Contestant, cpuMicros, onCore, type Other, rssKib } from "./contestants.ts"
import type { Figures } from "./goals.ts"
import type { Job, LoadResult, Target } from "./load.ts"

/** Events of one burst stream; the provider is told. */
export const burstEvents = 200

/** How long and how much; the quick table is for a look, the full one for figures to quote. */
export interface Plan {
  readonly rounds: number
  /** A large program is compiled for seconds: below six the figures are those of cold code. */
  readonly warmMillis: number
  readonly roundMillis: number
  readonly latencyCount: number
  readonly openStreams: number
  readonly slowStreams: number
  readonly stoppedMillis: number
}

/** A job that takes longer has lost an answer. */
const mostJobMillis = 60_000

export interface Load {
  readonly run: (job: Job) => Promise<LoadResult>
  readonly stop: () => void
}

/** The load generator on the second core, one job at a time. */
export const startLoad = (): Load => {
  const [execPath, args] = onCore(1, [])
  const inner = execPath === process.execPath ? { execPath } : { execPath, execArgv: [...args] }
  const child = fork(join(dirname(fileURLToPath(import.meta.url)), "load.ts"), [], { ...inner, serialization: "json" })
  return {
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
  /** The provider itself, for what a call costs without anybody between. */
  readonly direct: (model: string, stream: boolean) => Target
  readonly upstreamStats: () => Promise<{ readonly openStreams: number; readonly lastCloseMicros: number }>
}

const clean = (one: Contestant, what: string, result: LoadResult): LoadResult => {
  if (result.failed > 0 || result.done === 0) throw new Error(`${one.name}, ${what}: ${result.failed} failed, ${result.done} done`)
  return result
}

const model = "gemini-2.5-flash"

/** 32 connections, closed loop, small bodies. */
export const unary = async ({ load, plan }: Bench, one: Contestant, figures: Figures): Promise<void> => {
  const before = cpuMicros(one.pid)
  const job = { kind: "loop", target: one.target(model, false), connections: 32, millis: plan.roundMillis } as const
  const result = clean(one, "unary", await load.run(job))
  figures.unaryCpuMicros.push((cpuMicros(one.pid) - before) / result.done)
  figures.unaryPerSecond.push(result.done / result.seconds)
  figures.loadMib.push(rssKib(one.pid) / 1024)
}

/** The machine's own pace changes within seconds: whoever is compared takes turns this short. */
const turnMillis = 400

interface Side {
  readonly pid: number
  readonly target: Target
}

/** What one side does of the other's requests a second, and needs of its CPU time per request, in turns over one round each. */
const compared = async ({ load, plan }: Bench, one: Contestant, on: Side, off: Side, isFirst: boolean): Promise<{ readonly share: number; readonly cpuShare: number; readonly perSecond: number; readonly offPerSecond: number }> => {
  const ask = (target: Target, millis: number) => load.run({ kind: "loop", target, connections: 32, millis })
  if (isFirst) {
    await ask(off.target, plan.warmMillis)
    await ask(on.target, plan.warmMillis)
  }
  const sums = { on: { done: 0, seconds: 0, cpu: 0 }, off: { done: 0, seconds: 0, cpu: 0 } }
  for (let turn = 0; turn < plan.roundMillis / turnMillis; turn++) {
    for (const [side, sum] of [[off, sums.off], [on, sums.on]] as const) {
      const before = cpuMicros(side.pid)
      const { done, seconds } = clean(one, "compared", await ask(side.target, turnMillis))
      sum.cpu += cpuMicros(side.pid) - before
      sum.done += done
      sum.seconds += seconds
    }
  }
  const perSecond = sums.on.done / sums.on.seconds
  const offPerSecond = sums.off.done / sums.off.seconds
  return {
    perSecond,
    offPerSecond,
    share: perSecond / offPerSecond,
    cpuShare: sums.on.cpu / sums.on.done / (sums.off.cpu / sums.off.done)
  }
}

/** A key with limits and a budget, on SQLite, against one without in the same process. */
export const limited = async (bench: Bench, one: Contestant, figures: Figures): Promise<void> => {
  if (one.limited === undefined) return
  const off = { pid: one.pid, target: one.target(model, false) }
  const { cpuShare, share } = await compared(bench, one, { pid: one.pid, target: one.limited }, off, figures.limitedShare.length === 0)
  figures.limitedCpuShare.push(cpuShare)
  figures.limitedShare.push(share)
}

/** With a config, a log, metrics and a list of requests against a gateway with none of it; and the same with that list on SQLite. */
export const watched = (unwatched: Contestant, inMemory: Contestant) => async (bench: Bench, one: Contestant, figures: Figures): Promise<void> => {
  if (one.configured === undefined || inMemory.configured === undefined) return
  const off = { pid: unwatched.pid, target: unwatched.target(model, false) }
  const isFirst = figures.watchedShare.length === 0
  const { cpuShare, offPerSecond, perSecond, share } = await compared(bench, one, { pid: inMemory.pid, target: inMemory.configured }, off, isFirst)
  figures.watchedPerSecond.push(perSecond)
  figures.unwatchedPerSecond.push(offPerSecond)
  figures.watchedCpuShare.push(cpuShare)
  figures.watchedShare.push(share)
  figures.keptShare.push((await compared(bench, one, { pid: one.pid, target: one.configured }, off, isFirst)).share)
}

/** As `unary`, for another operation; nothing where the contestant is not asked for it. */
export const other = (what: Other): (bench: Bench, one: Contestant, figures: Figures) => Promise<void> => async ({ load, plan }, one, figures) => {
  if (one.other === undefined) return
  const target = one.other(what)
  if (figures[`${what}PerSecond`].length === 0) await load.run({ kind: "loop", target, connections: 32, millis: plan.warmMillis })
  const before = cpuMicros(one.pid)
  const result = clean(one, what, await load.run({ kind: "loop", target, connections: 32, millis: plan.roundMillis }))
  figures[`${what}CpuMicros`].push((cpuMicros(one.pid) - before) / result.done)
  figures[`${what}PerSecond`].push(result.done / result.seconds)
}

/** One connection: what the contestant adds to a call, and how soon a stream begins. */
export const latency = async ({ direct, load, plan }: Bench, one: Contestant, figures: Figures): Promise<void> => {
  const ask = async (target: Target, until: "end" | "first"): Promise<number> =>
    clean(one, "latency", await load.run({ kind: "latency", target, count: plan.latencyCount, until })).p50
  const through = await ask(one.target(model, false), "end")
  figures.addedMillis.push(through - await ask(direct(model, false), "end"))
  figures.firstChunkMillis.push(await ask(one.target(model, true), "first"))
}

/** 32 streams flat out, one burst of events after the other. */
export const burst = async ({ load, plan }: Bench, one: Contestant, figures: Figures): Promise<void> => {
  const before = cpuMicros(one.pid)
  const target = one.target("gemini-bench-burst", true)
  const result = clean(one, "burst", await load.run({ kind: "loop", target, connections: 32, millis: plan.roundMillis }))
  const events = result.done * burstEvents
  figures.eventCpuMicros.push((cpuMicros(one.pid) - before) / events)
  figures.eventsPerSecond.push(events / result.seconds)
}

/** 100 streams of 50 events a second: how late an event arrives. */
export const paced = async ({ load, plan }: Bench, one: Contestant, figures: Figures): Promise<void> => {
  const target = one.target("gemini-bench-paced-50", true)
  const result = clean(one, "paced", await load.run({ kind: "paced", target, connections: 100, millis: plan.roundMillis }))
  figures.chunkDelayMillis.push(result.p50)
}

/** Many streams of 10 events a second: what an event costs that comes alone. */
export const slow = async ({ load, plan }: Bench, one: Contestant, figures: Figures): Promise<void> => {
  const target = one.target("gemini-bench-paced-10", true)
  await load.run({ kind: "open", target, count: plan.slowStreams, stopReading: false })
  const before = cpuMicros(one.pid)
  await pause(plan.roundMillis)
  figures.slowEventCpuMicros.push((cpuMicros(one.pid) - before) / (plan.slowStreams * 10 * (plan.roundMillis / 1000)))
  await load.run({ kind: "leave" })
  await pause(300)
}

/** Compiles a contestant's streaming code before something is timed. */
export const warmStreams = async ({ load, plan }: Bench, one: Contestant): Promise<void> => {
  await load.run({ kind: "loop", target: one.target("gemini-bench-burst", true), connections: 32, millis: plan.warmMillis })
}

/** Memory of streams that are open and silent: the slope after the first quarter, which pays for compiled code and pools. */
export const openStreams = async ({ load, plan }: Bench, one: Contestant, figures: Figures): Promise<void> => {
  const open = async (count: number): Promise<number> => {
    const result = await load.run({ kind: "open", target: one.target("gemini-bench-hold", true), count, stopReading: false })
    if (result.failed > 0) throw new Error(`${one.name}, open streams: ${result.failed} failed`)
    await pause(1_000)
    return rssKib(one.pid)
  }
  const quarter = Math.floor(plan.openStreams / 4)
  const early = await open(quarter)
  figures.openStreamKib.push((await open(plan.openStreams - quarter) - early) / (plan.openStreams - quarter))
  await load.run({ kind: "leave" })
}

/** 20 readers that stop, in front of a provider that never does: memory must stay where it is. */
export const stoppedReaders = async ({ load, plan }: Bench, one: Contestant, figures: Figures): Promise<void> => {
  await load.run({ kind: "open", target: one.target("gemini-bench-endless", true), count: 20, stopReading: true })
  await pause(plan.stoppedMillis * 0.3)
  const early = rssKib(one.pid)
  await pause(plan.stoppedMillis * 0.7)
  figures.stoppedGrowthPercent.push(((rssKib(one.pid) - early) / early) * 100)
  await load.run({ kind: "leave" })
  await pause(500)
}

/** 200 clients leave at once: how long until the provider sees the last of them gone. The peer never lets go: NaN. */
export const leaving = async (bench: Bench, one: Contestant, figures: Figures): Promise<void> => {
  const { load, upstreamStats } = bench
  await load.run({ kind: "open", target: one.target("gemini-bench-paced-10", true), count: 200, stopReading: false })
  const { leftMicros } = await load.run({ kind: "leave" })
  for (let tries = 0; tries < 30; tries++) {
    await pause(100)
    const stats = await upstreamStats()
    if (stats.openStreams === 0) {
      figures.leaveMillis.push((stats.lastCloseMicros - leftMicros) / 1000)
      return
    }
  }
  figures.leaveMillis.push(Number.NaN)
}
