// Measures memory under mixed use (F39): `node test/bench/soak.ts`, eight minutes, or --minutes=60. Loopback only.
// Of requests, 70 % stream, 10 % are left by their client, 5 % reach a failing provider, some carry pictures.
// Growth is judged without compiled code, which two heap snapshots take off; they name what grew.
// Must not call other hosts than loopback. One line per figure; exit code 1 when a goal is missed.
import { readdirSync } from "node:fs"
import { createServer, type ServerResponse } from "node:http"
import { tmpdir } from "node:os"
import { setTimeout as pause } from "node:timers/promises"
import { Agent, fetch } from "undici"
import { listen, rssKib, startGateway } from "./contestants.ts"
import { reportFigure, isMissed } from "./figures.ts"
import { codeMib, grownKinds, takeSnapshot } from "./heap.ts"
import { inspect } from "./inspector.ts"

const minutes = Number(process.argv.find((one) => one.startsWith("--minutes="))?.slice("--minutes=".length) ?? 5)
const perSecond = 60
/** Seconds before the first sample: code is compiled and pools fill. */
const warmSeconds = 180
/** Time limit in milliseconds, after which an answer counts as lost. */
const lostMillis = 30_000

const picture = Buffer.alloc(150_000, 7).toString("base64")
const reply = (parts: ReadonlyArray<object>, finish?: string) =>
  JSON.stringify({
    candidates: [
      { content: { role: "model", parts }, index: 0, ...(finish === undefined ? {} : { finishReason: finish }) }
    ],
    usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 5, totalTokenCount: 12 }
  })
const json = { "content-type": "application/json" }
const fault = (status: number, name: string) => (response: ServerResponse) =>
  response.writeHead(status, json).end(JSON.stringify({ error: { code: status, status: name, message: "as asked" } }))

/** Behaviours by the word at the end of the model id. */
const behaviours: Readonly<Record<string, (response: ServerResponse) => void>> = {
  text: (response) =>
    setTimeout(() => response.writeHead(200, json).end(reply([{ text: "The tide follows the moon." }], "STOP")), 20),
  picture: (response) =>
    response.writeHead(200, json).end(reply([{ inlineData: { mimeType: "image/png", data: picture } }], "STOP")),
  stream: (response) => {
    let left = 20
    response.writeHead(200, { "content-type": "text/event-stream" })
    const timer = setInterval(() => {
      response.write(`data: ${reply([{ text: "word " }], --left === 0 ? "STOP" : undefined)}\r\n\r\n`)
      if (left === 0) response.end()
    }, 25)
    response.on("close", () => clearInterval(timer))
  },
  cut: (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" }).write(`data: ${reply([{ text: "half" }])}\r\n\r\n`)
    setTimeout(() => response.destroy(), 50)
  },
  busy: fault(503, "UNAVAILABLE"),
  spent: fault(429, "RESOURCE_EXHAUSTED"),
  wrong: fault(400, "INVALID_ARGUMENT"),
  garbage: (response) => response.writeHead(200, json).end('{"candidates": ['),
  gone: (response) => response.destroy()
}
const upstream = createServer((incoming, response) => {
  incoming.resume()
  incoming.on("end", () =>
    (behaviours[/soak-(\w+)/.exec(incoming.url ?? "")?.[1] ?? ""] ?? fault(404, "NOT_FOUND"))(response)
  )
})
const upstreamPort = await listen(upstream)

const warnings: Array<string> = []
const gateway = await startGateway(`http://127.0.0.1:${upstreamPort}`, {
  inspected: true,
  prices: Object.fromEntries(
    Object.keys(behaviours).map((word) => [`gemini-2.5-flash-soak-${word}`, { input: 0.3, output: 2.5 }])
  ),
  hear: (words) => void (/warning/i.test(words) && warnings.push(words))
})
const inspector = await inspect(gateway.inspector ?? 0)

interface Kind {
  readonly model: string
  /** The share of requests. */
  readonly share: number
  readonly stream: boolean
  /** The accepted statuses. */
  readonly status: ReadonlyArray<number>
  readonly ending?: string
  readonly leaves?: boolean
  readonly sees?: boolean
}
const done = "data: [DONE]\n\n"
const kinds: ReadonlyArray<Kind> = [
  { model: "stream", share: 0.58, stream: true, status: [200], ending: done },
  { model: "stream", share: 0.1, stream: true, status: [200], leaves: true },
  { model: "text", share: 0.22, stream: false, status: [200] },
  { model: "text", share: 0.03, stream: false, status: [200], sees: true },
  { model: "picture", share: 0.02, stream: false, status: [200] },
  { model: "cut", share: 0.02, stream: true, status: [200] },
  { model: "busy", share: 0.006, stream: false, status: [503] },
  { model: "spent", share: 0.006, stream: false, status: [429] },
  { model: "wrong", share: 0.006, stream: false, status: [400] },
  { model: "garbage", share: 0.006, stream: false, status: [502] },
  { model: "gone", share: 0.006, stream: false, status: [502, 503] }
]
const kindAt = (draw: number): Kind | undefined => {
  let sum = 0
  return kinds.find(({ share }) => (sum += share) > draw) ?? kinds[0]
}

const { headers, path, port } = gateway.target("gemini-3.8-flash", false)
const limited = gateway.limited?.headers ?? headers
const unexpected = new Map<string, number>()
let asked = 0

/** Its idle connections are closed before open handles are counted. */
let client = new Agent()

const ask = async (kind: Kind | undefined): Promise<void> => {
  if (kind === undefined) return
  const { ending, leaves, model, sees, status, stream } = kind
  asked++
  const content =
    sees === true
      ? [
          { type: "text", text: "What is this?" },
          { type: "image_url", image_url: { url: `data:image/png;base64,${picture}` } }
        ]
      : "Why are there tides?"
  const body = JSON.stringify({
    model: `@google/gemini-2.5-flash-soak-${model}`,
    messages: [{ role: "user", content }],
    stream,
    temperature: 0.3
  })
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(), leaves === true ? 50 + Math.random() * 300 : lostMillis)
  const outcome = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...(asked % 2 === 0 ? headers : limited) },
    body,
    signal: controller.signal,
    dispatcher: client
  })
    .then(
      async (answer) => {
        const text = await answer.text()
        return status.includes(answer.status) && text.endsWith(ending ?? "")
          ? undefined
          : `${model}: ${answer.status} ${text.slice(-120)}`
      },
      (error: unknown) => `${model}: ${String(error)}`
    )
    .catch((error: unknown) => `${model}: ${String(error)}`)
  clearTimeout(timer)
  if (outcome !== undefined && leaves !== true) unexpected.set(outcome, (unexpected.get(outcome) ?? 0) + 1)
}

interface Sample {
  readonly seconds: number
  readonly heapMib: number
}
const heapMib = async (): Promise<number> => {
  await inspector.send("HeapProfiler.collectGarbage")
  return (await inspector.send<{ readonly usedSize: number }>("Runtime.getHeapUsage")).usedSize / 2 ** 20
}
const files = (): number => readdirSync(`/proc/${gateway.pid}/fd`).length
const handles = (): Promise<number> =>
  inspector.value<number>("process.getActiveResourcesInfo().filter((one) => one !== 'Timeout').length")

/** Growth in MiB per ten minutes, by least squares. */
const slope = (samples: ReadonlyArray<Sample>): number => {
  const mean = (of: (one: Sample) => number): number => samples.reduce((sum, one) => sum + of(one), 0) / samples.length
  const [x, y] = [mean(({ seconds }) => seconds), mean(({ heapMib: heap }) => heap)]
  const above = samples.reduce((sum, one) => sum + (one.seconds - x) * (one.heapMib - y), 0)
  return (above / samples.reduce((sum, one) => sum + (one.seconds - x) ** 2, 0)) * 600
}

const rest = async (): Promise<void> => {
  await Promise.all(pending)
  await client.destroy()
  client = new Agent()
  // The provider closes connections that were idle for five seconds.
  await pause(8_000)
}
const pending = new Set<Promise<void>>()
const load = async (seconds: number, between: () => Promise<void>): Promise<void> => {
  const ends = performance.now() + seconds * 1_000
  let due = performance.now()
  let next = due
  while (due < ends) {
    const one = ask(kindAt(Math.random())).finally(() => pending.delete(one))
    pending.add(one)
    due += 1_000 / perSecond
    const wait = due - performance.now()
    if (wait > 0) await pause(wait)
    if (performance.now() > next) {
      next = performance.now() + 2_000 + Math.random() * 4_000
      await between()
    }
  }
}

const samples: Array<Sample> = []
const started = performance.now()
await load(warmSeconds, async () => undefined)
await rest()
const before = { files: files(), handles: await handles() }
const heapBefore = await takeSnapshot(inspector, tmpdir())
await load(minutes * 60, async () => {
  samples.push({ seconds: (performance.now() - started) / 1_000, heapMib: await heapMib() })
})
const rss = rssKib(gateway.pid) / 1024
await rest()
const after = { files: files(), handles: await handles() }
const heapAfter = await takeSnapshot(inspector, tmpdir())

const all = slope(samples)
const ofCode = (codeMib(heapAfter) - codeMib(heapBefore)) * (10 / minutes)
const ofRequests = all - ofCode
reportFigure(`F39 heap after collections over ${minutes} min, MiB in 10 min`, all, "none", true)
reportFigure("F39 the same without compiled code", ofRequests, "< 1", ofRequests < 1)
reportFigure(
  "F39 open files, more than at the beginning",
  after.files - before.files,
  "<= 3",
  after.files - before.files <= 3
)
reportFigure(
  "F39 handles, more than at the beginning",
  after.handles - before.handles,
  "<= 3",
  after.handles - before.handles <= 3
)
reportFigure("F39 warnings", warnings.length, "0", warnings.length === 0)
reportFigure(
  `F39 unexpected answers of ${asked}`,
  [...unexpected.values()].reduce((sum, one) => sum + one, 0),
  "0",
  unexpected.size === 0
)
reportFigure("F39 resident memory at the end, MiB", rss, "none", true)
console.log(
  `      heap after collections, MiB: ${samples
    .filter((_, at) => at % Math.ceil(samples.length / 12) === 0)
    .map(({ heapMib: heap }) => heap.toFixed(1))
    .join(" ")}`
)
for (const line of grownKinds(heapBefore, heapAfter)) console.log(`      ${line}`)
for (const [words, times] of [...unexpected].slice(0, 10)) console.log(`      ${times} times ${words}`)
for (const words of warnings.slice(0, 3)) console.log(`      ${words.slice(0, 300)}`)

inspector.close()
await gateway.stop()
upstream.close()
upstream.closeAllConnections()
process.exit(isMissed() ? 1 : 0)
