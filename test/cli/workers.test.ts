// `serve --workers`: limits that all processes share, replacement, reload, drain, and metrics of all of them.
// Must not look inside a process.
import { existsSync, writeFileSync } from "node:fs"
import { createServer, request, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest"
import { commandLine } from "../support/commandLine.ts"
import { processPatienceMillis, until } from "../support/eventually.ts"
import { processes, type Started } from "../support/process.ts"
import { ask, childrenOf, isRunning, signal, tally } from "../support/workerProcesses.ts"

const { run, start } = processes()
const keys = {
  plain: "mgk_plain0000000000000000000000000000",
  rated: "mgk_rated0000000000000000000000000000",
  narrow: "mgk_narrow000000000000000000000000000",
  budget: "mgk_budget000000000000000000000000000",
  ops: "mgk_ops000000000000000000000000000000"
}

/** Answers of the upstream wait here while it holds. */
const held: Array<ServerResponse> = []
let isHolding = false
const reply = JSON.stringify({
  candidates: [{ content: { role: "model", parts: [{ text: "Hi" }] }, finishReason: "STOP" }],
  usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 }
})
const answer = (response: ServerResponse): void => {
  response.writeHead(200, { "content-type": "application/json" }).end(reply)
}
const upstream = createServer((incoming, response) => {
  incoming.resume().on("end", () => (isHolding ? held.push(response) : answer(response)))
})
const release = (): void => {
  isHolding = false
  for (const response of held.splice(0)) answer(response)
}
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
afterEach(release)
afterAll(() => {
  upstream.closeAllConnections()
  upstream.close()
})

const configuration = (prompt = "Be brief."): string => `
server: { port: 0, workers: 2 }
providers:
  - { slug: google, provider: google, api_key: key, base_url: "${base}" }
prices: { gemini-2.5-flash: { input: 0, output: 1000000 } }
prompts: [{ id: tone, text: ${prompt} }]
keys:
  - { name: plain, key: ${keys.plain} }
  - { name: rated, key: ${keys.rated}, rate_limit: { requests_per_minute: 3, requests_burst: 3 } }
  - { name: narrow, key: ${keys.narrow}, concurrency: 3 }
  - { name: budget, key: ${keys.budget}, budget: { usd: 5.5, per: month } }
  - { name: ops, key: ${keys.ops}, scopes: [admin] }
`
const env = {
  GATEWAY_LIMITS_READY_DELAY_MILLIS: "0",
  GATEWAY_LIMITS_REFRESH_MILLIS: "3600000",
  GATEWAY_LOG_FORMAT: "json"
}
const serve = (): Started => start(["serve"], { files: { "gateway.yaml": configuration() }, env })
const originOf = async (gateway: Started): Promise<string> => (await gateway.said(/API {6}(http:\S+)\/v1/))[1] ?? ""

const chat = JSON.stringify({
  model: "@google/gemini-2.5-flash",
  max_tokens: 1,
  messages: [{ role: "user", content: "Hello" }]
})
const chats = (origin: string, key: string, count: number) =>
  Promise.all(Array.from({ length: count }, () => ask(origin, "/v1/chat/completions", key, chat)))
const metric = async (origin: string, line: RegExp): Promise<ReadonlyArray<string>> =>
  ((await ask(origin, "/metrics", "")).text.match(line) ?? []).toSorted()

/** The value of one series; 0 before it counts. */
const valueOf = async (origin: string, series: string): Promise<number> => {
  const lines = (await ask(origin, "/metrics", "")).text.split("\n")
  return Number(lines.find((line) => line.startsWith(`${series} `))?.slice(series.length) ?? 0)
}
/** Chat requests that the provider answered, and the lines of all that reached it. */
const answeredSeries =
  'gateway_requests_total{route="/v1/chat/completions",provider="google",model="gemini-2.5-flash",status_class="2xx"}'
const servedLines = /^gateway_requests_total\{.*provider="google".*$/gm

const end = async (gateway: Started): Promise<void> => {
  gateway.child.kill("SIGTERM")
  expect((await gateway.ended).code).toBe(0)
}

// Processes start slowly on a busy machine.
const timeout = 120_000

it("serve --workers: ends with 0 when it is stopped before all workers are up", async () => {
  const { child, ended, folder } = start(["serve"], {
    files: { "gateway.yaml": configuration() },
    env: { ...env, GATEWAY_DATA_DIR: "kept" }
  })
  // The first worker opens the store long before the last one is up.
  await until(() => existsSync(join(folder, "kept", "gateway.db")), processPatienceMillis)
  child.kill("SIGTERM")
  expect((await ended).code).toBe(0)
})

describe("one service with two workers", { timeout }, () => {
  let gateway: Started
  let [origin, code] = ["", ""]
  /** The first two; each test that kills one has its own. */
  let workers: ReadonlyArray<number> = []
  beforeAll(async () => {
    gateway = serve()
    ;[, origin = "", code = ""] = await gateway.said(/Console {2}(http:\S+)\/console\/#code=([\w-]{43})/)
    workers = childrenOf(gateway.child.pid)
  }, timeout)
  afterAll(() => end(gateway), timeout)

  it("workers: rate limits, running requests and budgets count in all processes together", async () => {
    const before = await valueOf(origin, answeredSeries)
    expect(childrenOf(gateway.child.pid)).toHaveLength(2)
    expect(tally(await chats(origin, keys.rated, 12))).toEqual({ 200: 3, 429: 9 })

    isHolding = true
    let answered = 0
    const running = Array.from({ length: 12 }, async () => {
      const answer = await ask(origin, "/v1/chat/completions", keys.narrow, chat)
      answered++
      return answer
    })
    // All but the three that the provider holds are refused before it answers.
    await until(() => held.length === 3 && answered === 9)
    release()
    expect(tally(await Promise.all(running))).toEqual({ 200: 3, 429: 9 })
    await until(async () => (await ask(origin, "/v1/chat/completions", keys.narrow, chat)).status === 200)

    // While the other worker holds a part of the budget, the refusal may end; afterwards it does not.
    const paid: Array<number | "refused" | "lost"> = []
    for (let at = 0; at < 8; at++) {
      const { status } = await ask(origin, "/v1/chat/completions", keys.budget, chat)
      paid.push(status === 402 || status === 429 ? "refused" : status)
    }
    expect(paid).toEqual([200, 200, 200, 200, 200, "refused", "refused", "refused"])
    const usage = async (): Promise<{ data: ReadonlyArray<{ key?: string; requests: number; cost_usd: number }> }> =>
      JSON.parse((await ask(origin, "/admin/v1/usage?group_by=key", keys.ops)).text)
    await until(async () => (await usage()).data.find(({ key }) => key === "budget")?.requests === 8)
    expect((await usage()).data.find(({ key }) => key === "budget")?.cost_usd).toBe(5)
    expect(await metric(origin, servedLines)).toEqual([`${answeredSeries} ${before + 12}`])
  })

  it("workers: a console session, its link and its events are those of all processes (TH30)", async () => {
    /** On a connection of its own, so that the system chooses the process. */
    const send = (path: string, init: { method?: string; headers?: Record<string, string>; body?: string } = {}) =>
      new Promise<{ status: number; cookie: string }>((resolve, reject) => {
        const { body, headers, method = "GET" } = init
        const own = { origin, "x-gateway-console": "1", "content-type": "application/json", ...headers }
        const outgoing = request(`${origin}${path}`, { method, agent: false, headers: own }, (response) => {
          response.resume()
          const cookie = response.headers["set-cookie"]?.[0]?.split(";", 1)[0] ?? ""
          resolve({ status: response.statusCode ?? 0, cookie })
        })
        outgoing.on("error", reject)
        outgoing.end(body)
      })
    const signIn = () => send("/admin/v1/session", { method: "POST", body: JSON.stringify({ code }) })
    const { cookie, status } = await signIn()
    expect(status).toBe(200)
    const several = (one: () => Promise<{ readonly status: number }>) =>
      Promise.all(Array.from({ length: 8 }, one)).then(tally)
    expect(await several(signIn)).toEqual({ 401: 8 })
    expect(await several(() => send("/admin/v1/keys", { headers: { cookie } }))).toEqual({ 200: 8 })

    const events = await fetch(`${origin}/admin/v1/requests/events`, { headers: { cookie } })
    const reader = events.body?.pipeThrough(new TextDecoderStream()).getReader()
    await reader?.read()
    expect(tally(await chats(origin, keys.plain, 24))).toEqual({ 200: 24 })
    let text = ""
    while ((text.match(/"object":"request"/g) ?? []).length < 24) text += (await reader?.read())?.value ?? ""
    await reader?.cancel()

    expect((await send("/admin/v1/session", { method: "DELETE", headers: { cookie } })).status).toBe(204)
    expect(await several(() => send("/admin/v1/keys", { headers: { cookie } }))).toEqual({ 401: 8 })
  })

  it("workers: one that is killed is replaced, requests of the others end, and its counts stay", async () => {
    const before = await valueOf(origin, answeredSeries)
    const restarts = await valueOf(origin, "gateway_worker_restarts_total")
    expect(tally(await chats(origin, keys.plain, 10))).toEqual({ 200: 10 })
    expect(await metric(origin, servedLines)).toEqual([`${answeredSeries} ${before + 10}`])

    isHolding = true
    const running = chats(origin, keys.plain, 24)
    await until(() => held.length === 24)
    signal(workers[1] ?? 0, "SIGKILL")
    const [line] = await gateway.said(/\{.*"msg":"worker 2 ended with SIGKILL; it is replaced in 100 ms"\}/)
    expect(JSON.parse(line).level).toBe("warn")
    const ready = async () => JSON.parse((await ask(origin, "/health/ready", "")).text || "{}")
    await until(async () => (await metric(origin, /^gateway_workers .*$/gm))[0] === "gateway_workers 2")
    await until(async () => (await ready()).checks?.workers === "ok", processPatienceMillis)
    release()
    // Those of the killed process are lost, those of the other have their answers.
    const { 200: answered = 0, lost = 0 } = tally(await running)
    expect([answered + lost, answered > 0, lost > 0]).toEqual([24, true, true])
    expect(tally(await chats(origin, keys.plain, 10))).toEqual({ 200: 10 })
    expect(await metric(origin, servedLines)).toEqual([`${answeredSeries} ${before + 20 + answered}`])
    expect(await metric(origin, /^gateway_worker.*$/gm)).toEqual([
      `gateway_worker_restarts_total ${restarts + 1}`,
      "gateway_workers 2"
    ])
  })

  it("workers: a reload reaches all of them, one with faults none, and a replacement has the one in use", async () => {
    const file = join(gateway.folder, "gateway.yaml")
    const tones = async () =>
      Object.keys(
        Object.groupBy(
          await Promise.all(
            Array.from({ length: 16 }, () => ask(origin, "/v1/prompts/tone/render", keys.plain, '{"variables":{}}'))
          ),
          ({ text }) => text
        )
      )
    const [before] = await tones()
    writeFileSync(file, configuration("Be long."))
    gateway.child.kill("SIGHUP")
    await gateway.said(/reloaded from gateway.yaml: prompts changed\./)
    const after = await tones()
    expect(after).toEqual([before?.replace("Be brief.", "Be long.")])
    writeFileSync(file, `${configuration("Be rude.")}serfer: {}\n`)
    gateway.child.kill("SIGHUP")
    await gateway.said(/serfer {2}unknown key; did you mean server\?/)
    await gateway.said(/the one in use stays/)
    signal(workers[0] ?? 0, "SIGKILL")
    await gateway.said(/worker 1 ended with SIGKILL/)
    await until(
      async () => (await metric(origin, /^gateway_workers .*$/gm))[0] === "gateway_workers 2",
      processPatienceMillis
    )
    expect(await tones()).toEqual(after)
    expect(await metric(origin, /^gateway_config_reload_total.*$/gm)).toEqual([
      'gateway_config_reload_total{result="failure"} 1',
      'gateway_config_reload_total{result="success"} 1'
    ])
  })

  it("workers: a change by the admin API holds in all of them when it is answered", async () => {
    const made: { id: string; key: string } = JSON.parse(
      (await ask(origin, "/admin/v1/keys", keys.ops, '{"name":"made"}')).text
    )
    const models = async () =>
      tally(await Promise.all(Array.from({ length: 16 }, () => ask(origin, "/v1/models", made.key))))
    expect(await models()).toEqual({ 200: 16 })
    expect((await ask(origin, `/admin/v1/keys/${made.id}`, keys.ops, undefined, "DELETE")).status).toBe(204)
    expect(await models()).toEqual({ 401: 16 })
  })
})

describe("services with two workers that end", { timeout }, () => {
  it("workers: SIGTERM drains all of them, and each request has its line", async () => {
    const gateway = serve()
    const origin = await originOf(gateway)
    isHolding = true
    const running = chats(origin, keys.plain, 16)
    await until(() => held.length === 16)
    gateway.child.kill("SIGTERM")
    await until(async () => (await ask(origin, "/health/live", "")).status === "lost")
    release()
    expect(tally(await running)).toEqual({ 200: 16 })
    const { code, out } = await gateway.ended
    const lines = out.split("\n").filter((line) => line !== "")
    expect([code, lines.map((line) => JSON.parse(line).status)]).toEqual([0, Array(16).fill(200)])
  })

  it("workers: a crash loop ends the program with a message", async () => {
    const gateway = serve()
    await originOf(gateway)
    const failed = gateway.ended
    let isOver = false
    void failed.then(() => {
      isOver = true
    })
    const [survivor] = childrenOf(gateway.child.pid)
    await until(() => {
      if (isOver) return true
      for (const pid of childrenOf(gateway.child.pid)) if (pid !== survivor) signal(pid, "SIGKILL")
      return false
    }, processPatienceMillis)
    const { code, err } = await failed
    expect([code, err.trimEnd().split("\n").at(-1)]).toEqual([
      1,
      "worker 2 ended 6 times within a minute, the last time with SIGKILL; its last lines above give the reason"
    ])
    expect(isRunning(survivor ?? 0)).toBe(false)
  })

  it("workers: end when their first process is killed", async () => {
    const gateway = serve()
    await originOf(gateway)
    const workers = childrenOf(gateway.child.pid)
    gateway.child.kill("SIGKILL")
    await until(() => !workers.some(isRunning), processPatienceMillis)
    expect(workers.map(isRunning)).toEqual([false, false])
  })

  it("workers: a store in memory, an address in use and a wrong number are refused", async () => {
    const taken = (upstream.address() as AddressInfo).port
    const refused = async (args: ReadonlyArray<string>, more: Readonly<Record<string, string>> = {}) => {
      const { code, err } = await commandLine(["serve", ...args], { ...env, ...more }, { files: {} })
      return [code, err.trimEnd()]
    }
    expect(await refused(["--workers", "2"], { GATEWAY_STORE_URL: "sqlite::memory:" })).toEqual([
      2,
      "--workers  needs a store that all processes open; name a file or a PostgreSQL in store.url, or leave workers out"
    ])
    expect(await refused(["--workers", "2", "--port", String(taken)])).toEqual([
      1,
      `cannot listen on 127.0.0.1:${taken}: another process does; choose a port with --port`
    ])
    expect(await refused(["--workers", "0"])).toEqual([2, "--workers  expected a whole number from 1 to 1024"])
    const checked = await commandLine(["check"], {}, { files: { "gateway.yaml": configuration() } })
    expect(checked.out.split("\n").slice(0, 3)).toEqual([
      "ok  gateway.yaml",
      "    listens on 127.0.0.1:0",
      "    workers: 2; slots, memory, connections and access tokens are of each, all else is shared"
    ])
    expect(await run(["worker"])).toEqual({
      code: 2,
      out: "",
      err: "worker is a process that serve --workers starts; run serve\n"
    })
  })
})
