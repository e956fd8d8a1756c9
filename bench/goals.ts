// The goals as one table of pure rules: which ratio, what it must reach, what it aims at.
// It must not know how a figure was measured.
import type { Name } from "./contestants.ts"

/** Medians of one contestant, with every round kept for the spread. Times in the unit of the name. */
export interface Figures {
  unaryPerSecond: Array<number>
  unaryCpuMicros: Array<number>
  addedMillis: Array<number>
  eventsPerSecond: Array<number>
  eventCpuMicros: Array<number>
  firstChunkMillis: Array<number>
  chunkDelayMillis: Array<number>
  slowEventCpuMicros: Array<number>
  idleMib: Array<number>
  loadMib: Array<number>
  openStreamKib: Array<number>
  stoppedGrowthPercent: Array<number>
  leaveMillis: Array<number>
  startMillis: Array<number>
  embeddingsPerSecond: Array<number>
  embeddingsCpuMicros: Array<number>
  claudePerSecond: Array<number>
  claudeCpuMicros: Array<number>
  claudeStreamsPerSecond: Array<number>
  claudeStreamsCpuMicros: Array<number>
  messagesPerSecond: Array<number>
  messagesCpuMicros: Array<number>
  messageStreamsPerSecond: Array<number>
  messageStreamsCpuMicros: Array<number>
  limitedShare: Array<number>
  limitedCpuShare: Array<number>
  watchedShare: Array<number>
  watchedCpuShare: Array<number>
  keptShare: Array<number>
  watchedPerSecond: Array<number>
  unwatchedPerSecond: Array<number>
}
export type All = Partial<Record<Name, Figures>>

export const noFigures = (): Figures => ({
  unaryPerSecond: [],
  unaryCpuMicros: [],
  addedMillis: [],
  eventsPerSecond: [],
  eventCpuMicros: [],
  firstChunkMillis: [],
  chunkDelayMillis: [],
  slowEventCpuMicros: [],
  idleMib: [],
  loadMib: [],
  openStreamKib: [],
  stoppedGrowthPercent: [],
  leaveMillis: [],
  startMillis: [],
  embeddingsPerSecond: [],
  embeddingsCpuMicros: [],
  claudePerSecond: [],
  claudeCpuMicros: [],
  claudeStreamsPerSecond: [],
  claudeStreamsCpuMicros: [],
  messagesPerSecond: [],
  messagesCpuMicros: [],
  messageStreamsPerSecond: [],
  messageStreamsCpuMicros: [],
  limitedShare: [],
  limitedCpuShare: [],
  watchedShare: [],
  watchedCpuShare: [],
  keptShare: [],
  watchedPerSecond: [],
  unwatchedPerSecond: []
})

export const median = (values: ReadonlyArray<number>): number => {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const at = (n: number): number => sorted[n] ?? Number.NaN
  return sorted.length % 2 === 1 ? at(middle) : (at(middle - 1) + at(middle)) / 2
}

interface Goal {
  readonly id: string
  readonly figure: string
  readonly must: number
  readonly aim: number
  /** True when more is better. */
  readonly up: boolean
  readonly unit: string
  /** True for a ratio, whose rounds must agree within 15 %. */
  readonly steady: boolean
  readonly of: (all: All) => ReadonlyArray<number>
}

const pairs = (
  all: All,
  other: Name,
  key: keyof Figures,
  how: (ours: number, theirs: number) => number
): ReadonlyArray<number> => {
  const theirs = all[other]?.[key] ?? []
  return (all.ours?.[key] ?? []).flatMap((ours, round) => {
    const one = theirs[round]
    return one === undefined ? [] : [how(ours, one)]
  })
}
const over = (a: number, b: number): number => a / b
const minus = (a: number, b: number): number => a - b
const own = (all: All, key: keyof Figures): ReadonlyArray<number> => all.ours?.[key] ?? []

export const goals: ReadonlyArray<Goal> = [
  {
    id: "G1",
    figure: "unary CPU per request / raw",
    must: 1.6,
    aim: 1.35,
    up: false,
    unit: "",
    steady: true,
    of: (all) => pairs(all, "raw", "unaryCpuMicros", over)
  },
  {
    id: "G2",
    figure: "unary throughput / raw",
    must: 0.65,
    aim: 0.75,
    up: true,
    unit: "",
    steady: true,
    of: (all) => pairs(all, "raw", "unaryPerSecond", over)
  },
  {
    id: "G2",
    figure: "unary throughput / peer",
    must: 7,
    aim: 9,
    up: true,
    unit: "",
    steady: true,
    of: (all) => pairs(all, "peer", "unaryPerSecond", over)
  },
  {
    id: "G3",
    figure: "added latency at one connection, p50 / raw's",
    must: 1.5,
    aim: 1.2,
    up: false,
    unit: "",
    steady: true,
    of: (all) => pairs(all, "raw", "addedMillis", over)
  },
  {
    id: "G5",
    figure: "burst events/s / raw",
    must: 0.6,
    aim: 0.85,
    up: true,
    unit: "",
    steady: true,
    of: (all) => pairs(all, "raw", "eventsPerSecond", over)
  },
  {
    id: "G5",
    figure: "burst events/s / peer",
    must: 1.7,
    aim: 2.3,
    up: true,
    unit: "",
    steady: true,
    of: (all) => pairs(all, "peer", "eventsPerSecond", over)
  },
  {
    id: "G5b",
    figure: "CPU per event, many slow streams / peer",
    must: 0.65,
    aim: 0.5,
    up: false,
    unit: "",
    steady: true,
    of: (all) => pairs(all, "peer", "slowEventCpuMicros", over)
  },
  {
    id: "G6",
    figure: "time to first chunk, p50 over raw",
    must: 2,
    aim: 1,
    up: false,
    unit: "ms",
    steady: false,
    of: (all) => pairs(all, "raw", "firstChunkMillis", minus)
  },
  {
    id: "G7",
    figure: "chunk delay at 100 paced streams, p50 over raw",
    must: 1.5,
    aim: 1,
    up: false,
    unit: "ms",
    steady: false,
    of: (all) => pairs(all, "raw", "chunkDelayMillis", minus)
  },
  {
    id: "G8",
    figure: "memory per open stream",
    must: 60,
    aim: 50,
    up: false,
    unit: "KiB",
    steady: false,
    of: (all) => own(all, "openStreamKib")
  },
  {
    id: "G9",
    figure: "20 stopped readers: growth of memory",
    must: 5,
    aim: 5,
    up: false,
    unit: "%",
    steady: false,
    of: (all) => own(all, "stoppedGrowthPercent")
  },
  {
    id: "G10",
    figure: "200 clients leave: last upstream stream closed",
    must: 250,
    aim: 100,
    up: false,
    unit: "ms",
    steady: false,
    of: (all) => own(all, "leaveMillis")
  },
  {
    id: "G12",
    figure: "start to ready",
    must: 1000,
    aim: 300,
    up: false,
    unit: "ms",
    steady: false,
    of: (all) => own(all, "startMillis")
  },
  {
    id: "G13",
    figure: "memory when idle",
    must: 160,
    aim: 110,
    up: false,
    unit: "MiB",
    steady: false,
    of: (all) => own(all, "idleMib")
  },
  {
    id: "G14",
    figure: "embeddings: CPU per request / raw",
    must: 1.6,
    aim: 1.35,
    up: false,
    unit: "",
    steady: true,
    of: (all) => pairs(all, "raw", "embeddingsCpuMicros", over)
  },
  {
    id: "G14",
    figure: "embeddings: throughput / raw",
    must: 0.65,
    aim: 0.75,
    up: true,
    unit: "",
    steady: true,
    of: (all) => pairs(all, "raw", "embeddingsPerSecond", over)
  },
  {
    id: "G15",
    figure: "Claude chat: CPU per request / raw",
    must: 1.6,
    aim: 1.35,
    up: false,
    unit: "",
    steady: true,
    of: (all) => pairs(all, "raw", "claudeCpuMicros", over)
  },
  {
    id: "G15",
    figure: "Claude chat: throughput / raw",
    must: 0.65,
    aim: 0.75,
    up: true,
    unit: "",
    steady: true,
    of: (all) => pairs(all, "raw", "claudePerSecond", over)
  },
  {
    id: "G15",
    figure: "Claude chat: burst streams/s / raw",
    must: 0.6,
    aim: 0.85,
    up: true,
    unit: "",
    steady: true,
    of: (all) => pairs(all, "raw", "claudeStreamsPerSecond", over)
  },
  {
    id: "G16",
    figure: "messages passed: CPU per request / raw",
    must: 1.6,
    aim: 1.35,
    up: false,
    unit: "",
    steady: true,
    of: (all) => pairs(all, "raw", "messagesCpuMicros", over)
  },
  {
    id: "G16",
    figure: "messages passed: throughput / raw",
    must: 0.65,
    aim: 0.75,
    up: true,
    unit: "",
    steady: true,
    of: (all) => pairs(all, "raw", "messagesPerSecond", over)
  },
  // Raw does not look at the events it passes.
  {
    id: "G16",
    figure: "messages streamed: streams/s / raw",
    must: 0.25,
    aim: 0.5,
    up: true,
    unit: "",
    steady: true,
    of: (all) => pairs(all, "raw", "messageStreamsPerSecond", over)
  },
  {
    id: "G17",
    figure: "a key with limits and a budget: throughput / without",
    must: 0.85,
    aim: 0.95,
    up: true,
    unit: "",
    steady: true,
    of: (all) => own(all, "limitedShare")
  },
  {
    id: "G18",
    figure: "config, log, metrics, list of requests: throughput / none",
    must: 0.85,
    aim: 0.95,
    up: true,
    unit: "",
    steady: true,
    of: (all) => own(all, "watchedShare")
  }
]

export interface Verdict {
  readonly goal: Goal
  readonly value: number
  /** Of a ratio: distance of the outer rounds in percent of the median. */
  readonly spread: number
  readonly word: "aim" | "must" | "noisy" | "FAIL" | "left out"
}

const reaches = (value: number, bound: number, up: boolean): boolean => (up ? value >= bound : value <= bound)

/** A must that is missed fails; one that is met by rounds that disagree is noisy, which is not passed. */
export const judge = (all: All): ReadonlyArray<Verdict> =>
  goals.map((goal) => {
    const rounds = goal.of(all)
    const value = median(rounds)
    if (rounds.length === 0) return { goal, value, spread: 0, word: "left out" }
    const spread = value === 0 ? 0 : ((Math.max(...rounds) - Math.min(...rounds)) / Math.abs(value)) * 100
    if (!reaches(value, goal.must, goal.up)) return { goal, value, spread, word: "FAIL" }
    if (goal.steady && spread > 15) return { goal, value, spread, word: "noisy" }
    return { goal, value, spread, word: reaches(value, goal.aim, goal.up) ? "aim" : "must" }
  })
