// `serve --workers` while a process of it is stopped: a worker is reported, killed and replaced; without the first process the others serve.
// Must not look inside a process.
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { processPatienceMillis, until } from "../support/eventually.ts"
import { processes, type Started } from "../support/process.ts"
import { ask, childrenOf, isRunning, signal, tally } from "../support/workerProcesses.ts"

const { start } = processes()
const keys = {
  plain: "mgk_plain0000000000000000000000000000",
  limited: "mgk_limited00000000000000000000000000"
}
const upstream = createServer((incoming, response) => {
  incoming.resume().on("end", () =>
    response.writeHead(200, { "content-type": "application/json" }).end(
      JSON.stringify({
        candidates: [{ content: { role: "model", parts: [{ text: "Hi" }] }, finishReason: "STOP" }],
        usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 }
      })
    )
  )
})
let base = ""
beforeAll(
  () =>
    new Promise<void>((done) =>
      upstream.listen(0, "127.0.0.1", () => {
        base = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`
        done()
      })
    )
)
afterAll(() => {
  upstream.closeAllConnections()
  upstream.close()
})

const serve = (silentMillis: number): Started =>
  start(["serve"], {
    files: {
      "gateway.yaml": `
server: { port: 0, workers: 2 }
limits: { workerSilentMillis: ${silentMillis} }
providers:
  - { slug: google, provider: google, api_key: key, base_url: "${base}" }
keys:
  - { name: plain, key: ${keys.plain} }
  - { name: limited, key: ${keys.limited}, concurrency: 8, rate_limit: { requests_per_minute: 1000 } }
`
    },
    env: { GATEWAY_LIMITS_READY_DELAY_MILLIS: "0", GATEWAY_LOG_FORMAT: "json" }
  })
const originOf = async (gateway: Started): Promise<string> => (await gateway.said(/API {6}(http:\S+)\/v1/))[1] ?? ""

const chat = JSON.stringify({
  model: "@google/gemini-2.5-flash",
  max_tokens: 1,
  messages: [{ role: "user", content: "Hello" }]
})
const chats = (origin: string, key: string, count: number) =>
  Array.from({ length: count }, () => ask(origin, "/v1/chat/completions", key, chat))

interface Ready {
  readonly status: string
  readonly checks: Readonly<Record<string, string>>
  readonly messages?: Readonly<Record<string, string>>
}
/** Readiness of a worker that answers: the system gives most of 16 connections to different ones. */
const ready = async (origin: string): Promise<Ready> =>
  JSON.parse((await Promise.any(Array.from({ length: 16 }, () => ask(origin, "/health/ready", "")))).text || "{}")
const isReady = async (origin: string): Promise<boolean> => (await ready(origin)).status === "ok"

const timeout = 120_000

describe("a service whose processes are stopped for a while", { timeout }, () => {
  let gateway: Started
  let origin = ""
  beforeAll(async () => {
    gateway = serve(3_600_000)
    origin = await originOf(gateway)
  }, timeout)
  afterAll(async () => {
    gateway.child.kill("SIGTERM")
    expect((await gateway.ended).code).toBe(0)
  }, timeout)

  it("workers: a worker that does not answer is reported, and counts again once it answers (F90)", async () => {
    const stopped = childrenOf(gateway.child.pid)[1] ?? 0
    signal(stopped, "SIGSTOP")
    const [line] = await gateway.said(/\{.*worker 2 has not answered for 3000 ms; it is killed after 3600000 ms"\}/)
    expect(JSON.parse(line).level).toBe("warn")
    await until(async () => !(await isReady(origin)))
    expect(await ready(origin)).toMatchObject({
      status: "degraded",
      checks: { workers: "down" },
      messages: {
        workers:
          "1 of 2 workers are ready: the others serve. Workers that do not answer: 1; they are killed unless they do, and their clients wait until then. A worker that ended is replaced; the log has its reason."
      }
    })
    const waiting = chats(origin, keys.plain, 16)
    signal(stopped, "SIGCONT")
    await gateway.said(/worker 2 answers again/)
    expect(tally(await Promise.all(waiting))).toEqual({ 200: 16 })
    await until(() => isReady(origin))
    expect(isRunning(stopped)).toBe(true)
  })

  it("workers: without an answer of the first process each serves alone, and returns to it (F91)", async () => {
    gateway.child.kill("SIGSTOP")
    expect(tally(await Promise.all(chats(origin, keys.limited, 8)))).toEqual({ 200: 8 })
    await gateway.said(/The first process does not answer: until it does, limits, circuits, .* are this worker's own\./)
    expect(tally(await Promise.all(chats(origin, keys.limited, 8)))).toEqual({ 200: 8 })
    await until(async () => (await ready(origin)).messages?.["workers"]?.startsWith("The first process") === true)
    gateway.child.kill("SIGCONT")
    await gateway.said(/The first process answers again/)
    await until(() => isReady(origin))
    expect(tally(await Promise.all(chats(origin, keys.limited, 8)))).toEqual({ 200: 8 })
  })
})

it(
  "workers: a worker that stays stopped is killed and replaced, also while the service ends (F90)",
  async () => {
    const gateway = serve(2_000)
    const origin = await originOf(gateway)
    const stopped = childrenOf(gateway.child.pid)[1] ?? 0
    signal(stopped, "SIGSTOP")
    const running = chats(origin, keys.plain, 32)
    const [line] = await gateway.said(/\{.*worker 2 has not answered for 2000 ms; it is killed"\}/)
    expect(JSON.parse(line).level).toBe("error")
    await gateway.said(/worker 2 ended with SIGKILL; it is replaced in 100 ms/)
    // The connections of the killed process end, and those of the other have their answers.
    const { 200: answered = 0, lost = 0 } = tally(await Promise.all(running))
    expect([answered + lost, answered > 0, lost > 0]).toEqual([32, true, true])
    expect(isRunning(stopped)).toBe(false)
    await until(() => isReady(origin), processPatienceMillis)
    expect(tally(await Promise.all(chats(origin, keys.plain, 32)))).toEqual({ 200: 32 })

    const [survivor = 0, replacement = 0] = childrenOf(gateway.child.pid)
    signal(replacement, "SIGSTOP")
    gateway.child.kill("SIGTERM")
    expect((await gateway.ended).code).toBe(0)
    expect([survivor, replacement].map(isRunning)).toEqual([false, false])
  },
  timeout
)
