// Measures the effect of slow clients (TH17) and slow readers (F28) on other clients: `node test/bench/slow.ts`.
// Must not call other hosts than loopback. About four minutes; one line per figure; exit code 1 when a goal is missed.
import { connect, type Socket } from "node:net"
import { dirname, join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { cpuMicros, freePort, rssKib, start, startGateway } from "./contestants.ts"
import { reportFigure, isMissed } from "./figures.ts"
import { inspect } from "./inspector.ts"
import { burstEvents, startLoad } from "./measure.ts"

const slowSockets = 2_000
const slowSeconds = 20
const readers = 200
/** The gateway closes a client that reads nothing for 60 seconds. It checks once in that time. */
const stallSeconds = 125

const upstreamPort = await freePort()
const upstream = await start(
  1,
  [join(dirname(fileURLToPath(import.meta.url)), "upstream.ts"), String(upstreamPort), String(burstEvents)],
  `http://127.0.0.1:${upstreamPort}/stats`
)
const gateway = await startGateway(`http://127.0.0.1:${upstreamPort}`, { inspected: true })
const inspector = await inspect(gateway.inspector ?? 0)
const load = startLoad()
const usual = gateway.target("gemini-3.8-flash", false)
const endless = gateway.target("gemini-bench-endless", true)

const headOf = ({ body, headers, path }: typeof usual): string =>
  [
    `POST ${path} HTTP/1.1`,
    "host: 127.0.0.1",
    "content-type: application/json",
    `content-length: ${Buffer.byteLength(body)}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    "",
    ""
  ].join("\r\n")

/** A socket that sends its bytes slowly. */
const dripping = (text: string, bytesPerSecond: number): Socket => {
  const socket = connect({ port: usual.port, host: "127.0.0.1" })
  let at = 0
  const timer = setInterval(() => {
    if (at < text.length) socket.write(text.slice(at, (at += bytesPerSecond)))
  }, 1_000)
  return socket
    .on("error", () => undefined)
    .on("close", () => clearInterval(timer))
    .resume()
}

const used = async (millis: number) => load.run({ kind: "loop", target: usual, connections: 16, millis })

/** Memory of the process that collections leave, in MiB. */
const keptMemory = async (): Promise<number> => {
  for (let collection = 0; collection < 3; collection++) await inspector.send("HeapProfiler.collectGarbage")
  return rssKib(gateway.pid) / 1024
}

await used(6_000)
const alone = await used(5_000)

// TH17: a third of the clients send the head slowly, a third the body, a third nothing.
const head = headOf(usual)
const sockets = Array.from({ length: slowSockets }, (_, n) =>
  n % 3 === 0 ? dripping(head, 10) : n % 3 === 1 ? dripping(head + usual.body, head.length + 5) : dripping("", 1)
)
await pause(2_000)
const among = await used(slowSeconds * 1_000)
reportFigure(
  `TH17 failures of ${among.done} requests among ${slowSockets} slow sockets`,
  among.failed,
  "0",
  among.failed === 0
)
reportFigure(
  "TH17 requests a second, of those without slow sockets",
  among.done / among.seconds / (alone.done / alone.seconds),
  ">= 0.8",
  among.done / among.seconds >= (0.8 * alone.done) / alone.seconds
)
for (const socket of sockets) socket.destroy()
await pause(2_000)

// F28: half of the readers read nothing, half read 100 KB a second. Slower readers look stopped within a minute:
// the kernel buffers megabytes for a loopback socket and reads more when a third of them is free.
await load.run({ kind: "loop", target: gateway.target("gemini-bench-burst", true), connections: 16, millis: 4_000 })
const memoryBefore = await keptMemory()
const reading = Array.from({ length: readers }, (_, n) => {
  const socket = connect({ port: endless.port, host: "127.0.0.1" })
  socket.pause()
  socket.write(headOf(endless) + endless.body)
  const timer = n % 2 === 0 ? undefined : setInterval(() => socket.read(102_400), 1_000)
  if (timer !== undefined) socket.on("readable", () => undefined)
  return socket.on("error", () => undefined).on("close", () => clearInterval(timer))
})
// The provider is endless. The load ends when the kernel's buffers on both sides are full.
for (let busy = 1; busy > 0.1;) {
  const before = cpuMicros(gateway.pid)
  await pause(2_000)
  busy = (cpuMicros(gateway.pid) - before) / 2_000_000
}
const uncollected = rssKib(gateway.pid) / 1024 - memoryBefore
reportFigure(`F28 growth of the process with ${readers} slow readers, MiB`, uncollected, "none: with garbage", true)
// Collections throw compiled code away as well.
await used(6_000)
const beside = await used(5_000)
reportFigure(`F28 failures of ${beside.done} other requests`, beside.failed, "0", beside.failed === 0)
reportFigure(
  "F28 requests a second, of those without slow readers",
  beside.done / beside.seconds / (alone.done / alone.seconds),
  ">= 0.8",
  beside.done / beside.seconds >= (0.8 * alone.done) / alone.seconds
)
const { openStreams } = (await (await fetch(`http://127.0.0.1:${upstreamPort}/stats`)).json()) as {
  readonly openStreams: number
}
reportFigure("F28 upstream streams that are held back and open", openStreams, String(readers), openStreams === readers)
const growth = (await keptMemory()) - memoryBefore
reportFigure(`F28 memory of ${readers} slow readers after collections, MiB`, growth, "none: half of them read", true)
await pause(stallSeconds * 1_000)
const left = (await (await fetch(`http://127.0.0.1:${upstreamPort}/stats`)).json()) as { readonly openStreams: number }
reportFigure(
  `F28 upstream streams left after ${stallSeconds} s: those that are read`,
  left.openStreams,
  String(readers / 2),
  left.openStreams === readers / 2
)
const later = (await keptMemory()) - memoryBefore
reportFigure("F28 memory by then, MiB", later, "none: the same", true)
inspector.close()

for (const socket of reading) socket.destroy()
load.stop()
await gateway.stop()
await upstream.stop()
process.exit(isMissed() ? 1 : 0)
