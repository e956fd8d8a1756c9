// Proves what a stopped and a killed process of `serve --workers` costs: the wait of its clients, and counts.
// Must not know how the processes watch each other.
import { setTimeout as pause } from "node:timers/promises"
import { childrenOf, signal } from "../../support/workerProcesses.ts"
import { ask, closeClients, type Heard } from "../kit/ask.ts"
import { type Gateway, makePlace, startGateway, withKeys } from "../kit/gateway.ts"
import { startProvider } from "../kit/provider.ts"
import { atLeast, atMost, type Figure, none, noteFaults, type Promised, type Run, shown } from "../proof.ts"

const perSecond = 40
const silentMillis = 4_000
/** The silence, the pause before a replacement, and a share for a busy machine. */
const mostMillis = silentMillis + 2_000
const limitedKey = "mgk_reliability_limited_00000000000"
const limited = { name: "limited", key: limitedKey, concurrency: 1_000, rate_limit: { requests_per_minute: 1_000_000 } }
const asked = {
  path: "/v1/chat/completions",
  headers: { "x-gateway-api-key": limitedKey },
  body: JSON.stringify({
    model: "@google/gemini-2.5-flash",
    max_tokens: 10,
    messages: [{ role: "user", content: "Hi" }]
  })
}

/** Asks at a steady rate, whatever earlier requests do. */
const steadily = async ({ port }: Gateway, seconds: number): Promise<ReadonlyArray<Heard>> => {
  const pending: Array<Promise<Heard>> = []
  let due = performance.now()
  for (let n = 0; n < seconds * perSecond; n++) {
    pending.push(ask(port, asked))
    due += 1_000 / perSecond
    const wait = due - performance.now()
    if (wait > 0) await pause(wait)
  }
  return Promise.all(pending)
}

const failed = (all: ReadonlyArray<Heard>): ReadonlyArray<Heard> => all.filter(({ status }) => status !== 200)
const slowest = (all: ReadonlyArray<Heard>): number => Math.max(...all.map(({ millis }) => millis))
const faultsOf = (name: string, all: ReadonlyArray<Heard>): ReadonlyArray<string> =>
  failed(all).map(({ body, status }) => `${name}: ${status} ${body.slice(0, 200)}`)

/** Chats that the workers have answered, from `/metrics`. */
const countOf = async ({ port }: Gateway): Promise<number> => {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  const lines = text
    .split("\n")
    .filter((line) => line.startsWith("gateway_requests_total{") && line.includes("/v1/chat"))
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" "))), 0)
}

const haveAllWorkers = async ({ port }: Gateway): Promise<boolean> => {
  const text = await (await fetch(`http://127.0.0.1:${port}/health/ready`)).text()
  return text.includes('"workers":"ok"')
}
const complete = async (gateway: Gateway): Promise<void> => {
  while (!(await haveAllWorkers(gateway))) await pause(50)
}

const proveStopped = async (run: Run, gateway: Gateway): Promise<ReadonlyArray<Figure>> => {
  signal(childrenOf(gateway.pid)[1] ?? 0, "SIGSTOP")
  const during = await steadily(gateway, 8)
  await complete(gateway)
  closeClients()
  const after = await steadily(gateway, 2)
  noteFaults(run, faultsOf("after the replacement", after))
  return [
    shown(
      `requests while one of two workers is stopped, which is killed after ${silentMillis / 1_000} s`,
      during.length
    ),
    shown("of them lost with that worker", failed(during).length),
    atMost("longest wait of them", slowest(during), mostMillis, "ms"),
    none("requests that failed after the replacement", failed(after).length)
  ]
}

const proveAlone = async (run: Run, gateway: Gateway): Promise<ReadonlyArray<Figure>> => {
  signal(gateway.pid, "SIGSTOP")
  const first = await steadily(gateway, 3)
  const during = await steadily(gateway, 4)
  signal(gateway.pid, "SIGCONT")
  await complete(gateway)
  const after = await steadily(gateway, 2)
  noteFaults(run, faultsOf("without the first process", [...first, ...during, ...after]))
  return [
    none(
      "requests with limits that failed while the first process was stopped",
      failed([...first, ...during, ...after]).length
    ),
    atMost("slowest request of the first 3 s of it", slowest(first), 1_500, "ms"),
    atMost("slowest request later", slowest(during), 500, "ms")
  ]
}

const proveCounts = async (gateway: Gateway): Promise<ReadonlyArray<Figure>> => {
  const before = await countOf(gateway)
  const { length } = await steadily(gateway, 2)
  // Counts are handed over every 5 s.
  await pause(6_000)
  closeClients()
  signal(childrenOf(gateway.pid)[0] ?? 0, "SIGKILL")
  await pause(1_000)
  await complete(gateway)
  return [
    atLeast(`of ${length} counts, 6 s before a worker was killed, kept`, (await countOf(gateway)) - before, length)
  ]
}

const prove = async (run: Run): Promise<ReadonlyArray<Figure>> => {
  const place = makePlace()
  const provider = await startProvider()
  const settings = withKeys(
    {
      server: { workers: 2 },
      limits: { workerSilentMillis: silentMillis },
      providers: [{ slug: "google", provider: "google", api_key: "reliability", base_url: provider.url }]
    },
    [limited]
  )
  const gateway = await startGateway(place, settings)
  await complete(gateway)
  await steadily(gateway, 2)
  const figures = [
    ...(await proveStopped(run, gateway)),
    ...(await proveAlone(run, gateway)),
    ...(await proveCounts(gateway))
  ]
  closeClients()
  await gateway.stop()
  await provider.close()
  place.remove()
  return figures
}

export const workers: Promised = {
  id: "workers",
  sentence: "A worker that hangs is replaced and its connections end; a first process that hangs costs one wait.",
  prove
}
