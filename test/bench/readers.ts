// Measures clients that leave, and readers that stop in front of an endless answer: `node test/bench/readers.ts`.
// Must not call other hosts than loopback. About three minutes; one line per figure; exit code 1 when a goal is missed.
import { dirname, join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { defaultLimits } from "../../src/domain/Limits.ts"
import { cpuMicros, freePort, rssKib, start, startGateway } from "./contestants.ts"
import { reportFigure, isMissed } from "./figures.ts"
import { inspect } from "./inspector.ts"
import { type Bench, burstEvents, closedAfter, startLoad } from "./measure.ts"

const tries = 200
const stopped = 200
const warmMillis = 8_000

const upstreamUrl = `http://127.0.0.1:${await freePort()}`
const upstream = await start(
  1,
  [join(dirname(fileURLToPath(import.meta.url)), "upstream.ts"), new URL(upstreamUrl).port, String(burstEvents)],
  `${upstreamUrl}/stats`
)
const gateway = await startGateway(upstreamUrl, { inspected: true })
const load = startLoad()
await load.run({
  kind: "loop",
  target: gateway.target("gemini-bench-burst", true),
  connections: 32,
  millis: warmMillis
})

const stats: Bench["upstreamStats"] = async () => (await fetch(`${upstreamUrl}/stats`)).json()
const closed: Array<number> = []
for (let one = 0; one < tries; one++) {
  await load.run({ kind: "open", target: gateway.target("gemini-bench-paced-10", true), count: 1, stopReading: false })
  const { leftMicros } = await load.run({ kind: "leave" })
  const millis = await closedAfter(stats, leftMicros, 2)
  closed.push(Number.isNaN(millis) ? Infinity : millis)
}
const p99 = closed.toSorted((a, b) => a - b)[Math.ceil(tries * 0.99) - 1] ?? Infinity
reportFigure(`upstream closed after its client left, p99 of ${tries}, ms`, p99, "< 100", p99 < 100)

const inspector = await inspect(gateway.inspector ?? 0)
/** Heap in use after garbage collections. Without them it would count the garbage from before the stop. */
const kept = async (): Promise<number> => {
  for (let again = 0; again < 3; again++) await inspector.send("HeapProfiler.collectGarbage")
  return rssKib(gateway.pid)
}
const before = await kept()
await load.run({
  kind: "open",
  target: gateway.target("gemini-bench-endless", true),
  count: stopped,
  stopReading: true
})
await pause(4_000)
const uncollected = (rssKib(gateway.pid) - before) / 1024
reportFigure(`growth of the process with ${stopped} readers that stopped, MiB`, uncollected, "none: with garbage", true)
const all = ((await kept()) - before) / 1024
reportFigure(`memory of ${stopped} readers that stopped, MiB`, all, "< 60", all < 60)
await pause(8_000)
const later = ((await kept()) - before) / 1024
reportFigure("the same eight seconds later, MiB", later, "< 60", later < 60)

// From the last byte that a kernel took for a reader: then the gateway has nothing to do.
const idleMicros = 50_000
for (let used = Infinity; used > idleMicros;) {
  const busy = cpuMicros(gateway.pid)
  await pause(2_000)
  used = cpuMicros(gateway.pid) - busy
}
const filled = performance.now()
while ((await stats()).openStreams > 0) await pause(100)
const waited = (performance.now() - filled) / defaultLimits.writeStallMillis
reportFigure("the last of them is closed after, of limits.writeStallMillis", waited, "< 1.2", waited < 1.2)

inspector.close()
load.stop()
await gateway.stop()
await upstream.stop()
process.exit(isMissed() ? 1 : 0)
