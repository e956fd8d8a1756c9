// Proves that memory is flat under a mix of answers, streams, tools, faults and clients that leave.
// Must not know what the gateway keeps. Bounded memories are small here, so that they are full before the measure.
import { request as send } from "node:http"
import { setTimeout as pause } from "node:timers/promises"
import { randomOf } from "../../attack/random.ts"
import { codeMib, grownKinds, takeSnapshot } from "../../bench/heap.ts"
import { inspect } from "../../bench/inspector.ts"
import { ask, closeClients } from "../kit/ask.ts"
import { figuresOf } from "../kit/command.ts"
import { faults } from "../kit/faults.ts"
import { asClient, heapOf, makePlace, startGateway, withKeys } from "../kit/gateway.ts"
import { startProvider } from "../kit/provider.ts"
import { requestOf, routes } from "../kit/routes.ts"
import { atMost, type Figure, noteFaults, type Promised, type Run, shown } from "../proof.ts"

const perSecond = 100
const words = [
  "sound",
  "sound",
  "sound",
  "sound",
  "sound",
  "cut",
  "status-503",
  "status-429",
  "garbage",
  "single-bytes"
]
const smallBounds = {
  retryBaseMillis: 1,
  retryCapMillis: 2,
  requestsKept: 100,
  requestsStored: 1_000,
  usageEntries: 100,
  signatureEntries: 100,
  signatureTotalBytes: 2 ** 20,
  lessonEntries: 20,
  circuitEntries: 50,
  cacheEntries: 50,
  cacheBytes: 2 ** 20
}
const tools = [
  {
    type: "function",
    function: { name: "weather", parameters: { type: "object", properties: { place: { type: "string" } } } }
  }
]

interface Sample {
  readonly seconds: number
  readonly mib: number
}

/** MiB in ten minutes, by least squares. */
const slopeOf = (samples: ReadonlyArray<Sample>): number => {
  const mean = (of: (one: Sample) => number): number => samples.reduce((sum, one) => sum + of(one), 0) / samples.length
  const [x, y] = [mean(({ seconds }) => seconds), mean(({ mib }) => mib)]
  const above = samples.reduce((sum, one) => sum + (one.seconds - x) * (one.mib - y), 0)
  return (above / samples.reduce((sum, one) => sum + (one.seconds - x) ** 2, 0)) * 600
}

/** A client that leaves as soon as the answer begins. */
const leave = (port: number, path: string, body: string): Promise<void> =>
  new Promise((resolve) => {
    const outgoing = send({
      host: "127.0.0.1",
      port,
      method: "POST",
      path,
      headers: { "content-type": "application/json", ...asClient }
    })
    outgoing.on("response", (incoming) => void incoming.destroy())
    outgoing.on("error", () => undefined)
    outgoing.on("close", () => resolve())
    outgoing.end(body)
  })

const prove = async (run: Run): Promise<ReadonlyArray<Figure>> => {
  const { isFull, seed } = run
  const [warmSeconds, seconds, most] = isFull ? [300, 1_200, 1] : [75, 90, 4]
  const random = randomOf(seed, 6)
  const place = makePlace()
  const provider = await startProvider({
    behaviours: Object.fromEntries(faults.map(({ behave, word }) => [word, behave]))
  })
  const vertex = {
    slug: "vertex-ai",
    provider: "vertex-ai",
    project_id: "reliability",
    region: "us-central1",
    credentials: { type: "access_token", token: "reliability-token" },
    base_url: provider.url
  }
  const google = { slug: "google", provider: "google", api_key: "reliability", base_url: provider.url }
  const gateway = await startGateway(place, withKeys({ limits: smallBounds, providers: [google, vertex] }), {
    isInspected: true
  })
  const inspector = await inspect(gateway.inspectorPort)
  const pending = new Set<Promise<unknown>>()
  let asked = 0
  const one = (): Promise<unknown> => {
    const route = random.pick(routes)
    const { body, path } = requestOf(route, random.pick(words), random.below(100), random.below(40))
    const full = route.form.startsWith("chat") ? JSON.stringify({ ...JSON.parse(body), tools }) : body
    asked++
    provider.calls.length = 0
    return random.chance(0.1)
      ? leave(gateway.port, path, full)
      : ask(gateway.port, { path, headers: asClient, body: full })
  }
  const load = async (forSeconds: number, sample: () => Promise<void>): Promise<void> => {
    const started = performance.now()
    let [due, next] = [started, started]
    while (performance.now() - started < forSeconds * 1_000) {
      const running = one().finally(() => pending.delete(running))
      pending.add(running)
      due += 1_000 / perSecond
      const wait = due - performance.now()
      if (wait > 0) await pause(wait)
      if (performance.now() < next) continue
      next = performance.now() + 3_000
      await sample()
    }
  }
  await load(warmSeconds, async () => undefined)
  const before = await takeSnapshot(inspector, place.folder)
  const samples: Array<Sample> = []
  const started = performance.now()
  await load(seconds, async () => {
    samples.push({ seconds: (performance.now() - started) / 1_000, mib: (await heapOf(inspector)) / 2 ** 20 })
  })
  const after = await takeSnapshot(inspector, place.folder)
  const slope = slopeOf(samples) - (codeMib(after) - codeMib(before)) * (600 / seconds)
  run.note(
    `heap after collections, MiB: ${samples
      .filter((_, at) => at % Math.ceil(samples.length / 10) === 0)
      .map(({ mib }) => mib.toFixed(1))
      .join(" ")}`
  )
  if (slope > most) noteFaults(run, grownKinds(before, after), 12)
  await Promise.all(pending)
  closeClients()
  inspector.close()
  await gateway.kill()
  await provider.close()
  place.remove()
  return [
    shown("requests", asked),
    atMost(`growth of the heap over ${seconds} s, in 10 minutes, without compiled code`, slope, most, "MiB"),
    ...(isFull
      ? [...(await figuresOf("test/bench/readers.ts")), ...(await figuresOf("test/bench/soak.ts", "--minutes=20"))]
      : [])
  ]
}

export const memory: Promised = {
  id: "memory",
  sentence: "Memory is flat once the bounded memories are full.",
  prove
}
