// The goals of the bench as a table of pure rules: a ratio, its required value, its target value.
// Must not know how a figure was measured.
import type { Name } from "./contestants.ts"
import { type OperationName, operationNames } from "./operations.ts"

const plainFigures = [
  "unaryPerSecond",
  "unaryCpuMicros",
  "addedMillis",
  "eventsPerSecond",
  "eventCpuMicros",
  "firstChunkMillis",
  "chunkDelayMillis",
  "slowEventCpuMicros",
  "idleMib",
  "loadMib",
  "openStreamKib",
  "stoppedGrowthPercent",
  "leaveMillis",
  "startMillis",
  "limitedShare",
  "limitedCpuShare",
  "watchedShare",
  "watchedCpuShare",
  "keptShare",
  "watchedPerSecond",
  "unwatchedPerSecond",
  "oneWorkerPerSecond",
  "twoWorkersPerSecond",
  "twoWorkersShare",
  "loadGeneratorShare"
] as const

/** Figures end with their unit. */
export type FigureName = (typeof plainFigures)[number] | `${OperationName}${"PerSecond" | "CpuMicros"}`

/** Figures of one contestant, one value per process or round. */
export type Figures = Record<FigureName, Array<number>>
export type FiguresByName = Partial<Record<Name, Figures>>

const figureNames: ReadonlyArray<FigureName> = [
  ...plainFigures,
  ...operationNames.flatMap((name) => [`${name}PerSecond`, `${name}CpuMicros`] as const)
]

export const noFigures = (): Figures =>
  Object.fromEntries(figureNames.map((name): [string, Array<number>] => [name, []])) as Figures

export const median = (values: ReadonlyArray<number>): number => {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const at = (n: number): number => sorted[n] ?? Number.NaN
  return sorted.length % 2 === 1 ? at(middle) : (at(middle - 1) + at(middle)) / 2
}

export interface Goal {
  readonly id: string
  readonly figure: string
  readonly must: number
  readonly aim: number
  /** True when more is better. */
  readonly up: boolean
  readonly unit: string
  /** True for a ratio whose rounds must agree within 15 %. */
  readonly steady: boolean
  readonly of: (all: FiguresByName) => ReadonlyArray<number>
}

const comparedRounds = (
  all: FiguresByName,
  other: Name,
  key: keyof Figures,
  how: (ours: number, theirs: number) => number
): ReadonlyArray<number> => {
  const theirs = all[other]?.[key] ?? []
  return (all.gateway?.[key] ?? []).flatMap((ours, round) => {
    const one = theirs[round]
    return one === undefined ? [] : [how(ours, one)]
  })
}
const over = (a: number, b: number): number => a / b
const minus = (a: number, b: number): number => a - b
const ownRounds = (all: FiguresByName, key: keyof Figures): ReadonlyArray<number> => all.gateway?.[key] ?? []

export const goals: ReadonlyArray<Goal> = [
  {
    id: "G1",
    figure: "unary CPU per request / bare proxy",
    must: 1.45,
    aim: 1.35,
    up: false,
    unit: "",
    steady: true,
    of: (all) => comparedRounds(all, "bare", "unaryCpuMicros", over)
  },
  {
    id: "G2",
    figure: "unary throughput / bare proxy",
    must: 0.65,
    aim: 0.75,
    up: true,
    unit: "",
    steady: true,
    of: (all) => comparedRounds(all, "bare", "unaryPerSecond", over)
  },
  {
    id: "G2",
    figure: "unary throughput / Portkey",
    must: 8,
    aim: 9,
    up: true,
    unit: "",
    steady: true,
    of: (all) => comparedRounds(all, "portkey", "unaryPerSecond", over)
  },
  {
    id: "G3",
    figure: "added latency at one connection, p50 / bare proxy",
    must: 1.5,
    aim: 1.2,
    up: false,
    unit: "",
    steady: true,
    of: (all) => comparedRounds(all, "bare", "addedMillis", over)
  },
  {
    id: "G5",
    figure: "burst events/s / bare proxy",
    must: 0.6,
    aim: 0.85,
    up: true,
    unit: "",
    steady: true,
    of: (all) => comparedRounds(all, "bare", "eventsPerSecond", over)
  },
  {
    id: "G5",
    figure: "burst events/s / Portkey",
    must: 1.7,
    aim: 2.3,
    up: true,
    unit: "",
    steady: true,
    of: (all) => comparedRounds(all, "portkey", "eventsPerSecond", over)
  },
  {
    id: "G5b",
    figure: "CPU per event, many slow streams / Portkey",
    must: 0.65,
    aim: 0.5,
    up: false,
    unit: "",
    steady: true,
    of: (all) => comparedRounds(all, "portkey", "slowEventCpuMicros", over)
  },
  {
    id: "G6",
    figure: "time to first chunk, p50 over bare proxy",
    must: 2,
    aim: 1,
    up: false,
    unit: "ms",
    steady: false,
    of: (all) => comparedRounds(all, "bare", "firstChunkMillis", minus)
  },
  {
    id: "G7",
    figure: "chunk delay at 100 paced streams, p50 over bare proxy",
    must: 1.5,
    aim: 1,
    up: false,
    unit: "ms",
    steady: false,
    of: (all) => comparedRounds(all, "bare", "chunkDelayMillis", minus)
  },
  {
    id: "G8",
    figure: "memory per open stream",
    must: 60,
    aim: 50,
    up: false,
    unit: "KiB",
    steady: false,
    of: (all) => ownRounds(all, "openStreamKib")
  },
  {
    id: "G9",
    figure: "20 stopped readers: growth of memory",
    must: 5,
    aim: 5,
    up: false,
    unit: "%",
    steady: false,
    of: (all) => ownRounds(all, "stoppedGrowthPercent")
  },
  {
    id: "G10",
    figure: "200 clients leave: last upstream stream closed",
    must: 250,
    aim: 100,
    up: false,
    unit: "ms",
    steady: false,
    of: (all) => ownRounds(all, "leaveMillis")
  },
  {
    id: "G12",
    figure: "start to ready",
    must: 400,
    aim: 300,
    up: false,
    unit: "ms",
    steady: false,
    of: (all) => ownRounds(all, "startMillis")
  },
  {
    id: "G13",
    figure: "memory when idle",
    must: 110,
    aim: 100,
    up: false,
    unit: "MiB",
    steady: false,
    of: (all) => ownRounds(all, "idleMib")
  },
  {
    id: "G14",
    figure: "embeddings: CPU per request / bare proxy",
    must: 1.6,
    aim: 1.35,
    up: false,
    unit: "",
    steady: true,
    of: (all) => comparedRounds(all, "bare", "embeddingsCpuMicros", over)
  },
  {
    id: "G14",
    figure: "embeddings: throughput / bare proxy",
    must: 0.65,
    aim: 0.75,
    up: true,
    unit: "",
    steady: true,
    of: (all) => comparedRounds(all, "bare", "embeddingsPerSecond", over)
  },
  {
    id: "G15",
    figure: "Claude chat: CPU per request / bare proxy",
    must: 1.6,
    aim: 1.35,
    up: false,
    unit: "",
    steady: true,
    of: (all) => comparedRounds(all, "bare", "claudeCpuMicros", over)
  },
  {
    id: "G15",
    figure: "Claude chat: throughput / bare proxy",
    must: 0.65,
    aim: 0.75,
    up: true,
    unit: "",
    steady: true,
    of: (all) => comparedRounds(all, "bare", "claudePerSecond", over)
  },
  {
    id: "G15",
    figure: "Claude chat: burst streams/s / bare proxy",
    must: 0.6,
    aim: 0.85,
    up: true,
    unit: "",
    steady: true,
    of: (all) => comparedRounds(all, "bare", "claudeStreamsPerSecond", over)
  },
  {
    id: "G16",
    figure: "messages passed: CPU per request / bare proxy",
    must: 1.6,
    aim: 1.35,
    up: false,
    unit: "",
    steady: true,
    of: (all) => comparedRounds(all, "bare", "messagesCpuMicros", over)
  },
  {
    id: "G16",
    figure: "messages passed: throughput / bare proxy",
    must: 0.65,
    aim: 0.75,
    up: true,
    unit: "",
    steady: true,
    of: (all) => comparedRounds(all, "bare", "messagesPerSecond", over)
  },
  // The bare proxy does not parse the events it passes through.
  {
    id: "G16",
    figure: "messages streamed: streams/s / bare proxy",
    must: 0.25,
    aim: 0.5,
    up: true,
    unit: "",
    steady: true,
    of: (all) => comparedRounds(all, "bare", "messageStreamsPerSecond", over)
  },
  {
    id: "G17",
    figure: "a key with limits and a budget: throughput / without",
    must: 0.85,
    aim: 0.95,
    up: true,
    unit: "",
    steady: true,
    of: (all) => ownRounds(all, "limitedShare")
  },
  {
    id: "G18",
    figure: "config, log, metrics, list of requests: throughput / none",
    must: 0.85,
    aim: 0.95,
    up: true,
    unit: "",
    steady: true,
    of: (all) => ownRounds(all, "watchedShare")
  },
  {
    id: "G19",
    figure: "Vertex AI with a token: CPU per request over the Gemini API",
    must: 3,
    aim: 1,
    up: false,
    unit: "us",
    steady: false,
    of: (all) => (all.gateway?.vertexCpuMicros ?? []).map((one, at) => one - (all.gateway?.unaryCpuMicros[at] ?? one))
  },
  {
    id: "G20",
    figure: "two workers: throughput / one, on all processors",
    must: 1.75,
    aim: 2,
    up: true,
    unit: "",
    steady: true,
    of: (all) => ownRounds(all, "twoWorkersShare")
  },
  {
    id: "G21",
    figure: "memory under load",
    must: 220,
    aim: 180,
    up: false,
    unit: "MiB",
    steady: false,
    of: (all) => ownRounds(all, "loadMib")
  }
]

export interface Verdict {
  readonly goal: Goal
  readonly value: number
  /** Of a ratio: the distance between the outer processes in percent of the median; of five and more, without one at each end. */
  readonly spread: number
  readonly word: "aim" | "must" | "noisy" | "FAIL" | "left out"
}

const reaches = (value: number, bound: number, up: boolean): boolean => (up ? value >= bound : value <= bound)

/** The largest spread of a ratio, in percent, that allows a verdict. */
export const mostSpread = 15

const spreadOf = (values: ReadonlyArray<number>): number => {
  const sorted = values.toSorted((a, b) => a - b)
  const inner = sorted.length < 5 ? sorted : sorted.slice(1, -1)
  return Math.abs((((inner.at(-1) ?? 0) - (inner[0] ?? 0)) / (median(values) || 1)) * 100)
}

/** A ratio whose values disagree has no verdict, met or missed. */
export const judge = (all: FiguresByName): ReadonlyArray<Verdict> =>
  goals.map((goal) => {
    const rounds = goal.of(all)
    const value = median(rounds)
    if (rounds.length === 0) return { goal, value, spread: 0, word: "left out" }
    const spread = spreadOf(rounds)
    if (goal.steady && spread > mostSpread) return { goal, value, spread, word: "noisy" }
    if (!reaches(value, goal.must, goal.up)) return { goal, value, spread, word: "FAIL" }
    return { goal, value, spread, word: reaches(value, goal.aim, goal.up) ? "aim" : "must" }
  })
