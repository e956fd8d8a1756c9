// Measures retries and circuits with a failing upstream: `node test/bench/storm.ts`. About three minutes; loopback only.
// Must not judge single answers. A storm of 503 at a steady rate and its end (F19), one failing call in two (F20),
// idle sockets closed on reuse (F25). One line per figure and one JSON line; exit code 1 when a goal is missed.
// Flag: --quick (a third of the times).
import { createServer } from "node:http"
import { setTimeout as pause } from "node:timers/promises"
import { listen, startGateway } from "./contestants.ts"
import { reportFigure, isMissed, summary } from "./figures.ts"

const quick = process.argv.includes("--quick")
const perSecond = 100
const stormSeconds = quick ? 15 : 30
const calmSeconds = quick ? 10 : 15
const idleRequests = quick ? 3_000 : 10_000
const windowMillis = 10_000
/** The bound of upstream calls per request. */
const mostCallsPerRequest = 1.2

type Upstream = "ok" | "down" | "half" | "closing"
let behaviour: Upstream = "ok"
let failing = 0
const calls: Array<number> = []
const reply = JSON.stringify({
  candidates: [{ content: { role: "model", parts: [{ text: "ok" }] }, finishReason: "STOP" }],
  usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 }
})
const busy = JSON.stringify({ error: { code: 503, status: "UNAVAILABLE", message: "The model is overloaded." } })
const used = new WeakSet<object>()
let closed = 0

const upstream = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  request.resume()
  request.on("end", () => {
    calls.push(performance.now())
    // A reused socket is closed after the request was read, like a server that closes an idle connection.
    if (behaviour === "closing" && used.has(request.socket)) {
      closed++
      request.socket.destroy()
      return
    }
    used.add(request.socket)
    const fails = behaviour === "down" || (behaviour === "half" && failing++ % 2 === 0)
    response.writeHead(fails ? 503 : 200, { "content-type": "application/json" }).end(fails ? busy : reply)
  })
})
const upstreamPort = await listen(upstream)
const gateway = await startGateway(`http://127.0.0.1:${upstreamPort}`)
const { body, headers, path, port } = gateway.target("gemini-3.8-flash", false)

interface Answered {
  readonly sent: number
  readonly status: number
  readonly retries: number
}

const ask = async (config: object): Promise<Answered> => {
  const sent = performance.now()
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "x-gateway-config": JSON.stringify({ provider: "google", ...config }),
      ...headers
    },
    body
  })
  await answer.arrayBuffer()
  return { sent, status: answer.status, retries: Number(answer.headers.get("x-gateway-retry-attempt-count")) }
}

/** An open loop: requests are sent when they are due, independent of earlier answers. */
const storm = async (config: object, phases: ReadonlyArray<readonly [behaviour: Upstream, seconds: number]>) => {
  calls.length = 0
  const pending: Array<Promise<Answered>> = []
  const ends: Array<number> = []
  const start = performance.now()
  let due = start
  for (const [next, seconds] of phases) {
    behaviour = next
    for (let n = 0; n < seconds * perSecond; n++) {
      pending.push(ask(config))
      due += 1_000 / perSecond
      const wait = due - performance.now()
      if (wait > 0) await pause(wait)
    }
    ends.push(performance.now() - start)
  }
  const answers = await Promise.all(pending)
  behaviour = "ok"
  return {
    answers: answers.map((one) => ({ ...one, sent: one.sent - start })),
    calls: calls.map((at) => at - start),
    ends
  }
}

const within = (times: ReadonlyArray<number>, from: number, to: number): number =>
  times.filter((at) => at >= from && at < to).length
const shareOf = (answers: ReadonlyArray<Answered>, from: number, to = Number.POSITIVE_INFINITY): number => {
  const some = answers.filter(({ sent }) => sent >= from && sent < to)
  return some.filter(({ status }) => status === 200).length / some.length
}

/** The most upstream calls per request in any ten seconds. Counted by send time, as machines pause. */
const worstCalls = ({ answers }: Awaited<ReturnType<typeof storm>>, until: number): number => {
  let worst = 0
  for (let from = 0; from + windowMillis <= until; from += 500) {
    const some = answers.filter(({ sent }) => sent >= from && sent < from + windowMillis)
    worst = Math.max(worst, some.reduce((sum, one) => sum + 1 + one.retries, 0) / some.length)
  }
  return worst
}

await storm({}, [["ok", 2]])

const plain = await storm({}, [
  ["down", stormSeconds],
  ["ok", calmSeconds]
])
const [plainEnd = 0] = plain.ends
reportFigure(
  "F19 calls a request, worst ten seconds",
  worstCalls(plain, plainEnd),
  `<= ${mostCallsPerRequest}`,
  worstCalls(plain, plainEnd) <= mostCallsPerRequest
)
reportFigure(
  "F19 share answered from 5 s behind the storm",
  shareOf(plain.answers, plainEnd + 5_000),
  ">= 0.99",
  shareOf(plain.answers, plainEnd + 5_000) >= 0.99
)
reportFigure(
  "F19 share answered in the first 5 s behind it",
  shareOf(plain.answers, plainEnd, plainEnd + 5_000),
  "none",
  true
)

const guarded = await storm({ cb_config: { failure_threshold: 5, cooldown_interval: 5_000 } }, [
  ["down", stormSeconds],
  ["ok", calmSeconds]
])
const [guardedEnd = 0] = guarded.ends
const probes =
  within(guarded.calls, windowMillis, guardedEnd) /
  within(
    guarded.answers.map(({ sent }) => sent),
    windowMillis,
    guardedEnd
  )
const guardedCalls =
  within(guarded.calls, 0, windowMillis) /
  within(
    guarded.answers.map(({ sent }) => sent),
    0,
    windowMillis
  )
reportFigure(
  "F19 with a circuit: calls a request, first 10 s",
  guardedCalls,
  `<= ${mostCallsPerRequest}`,
  guardedCalls <= mostCallsPerRequest
)
reportFigure("F19 with a circuit: probes a request from 10 s on", probes, "<= 0.1", probes <= 0.1)
reportFigure(
  "F19 with a circuit: share answered from 5 s on",
  shareOf(guarded.answers, guardedEnd + 5_000),
  ">= 0.99",
  shareOf(guarded.answers, guardedEnd + 5_000) >= 0.99
)

const half = await storm({}, [["half", stormSeconds]])
const [halfEnd = 0] = half.ends
const mostCalls = 1 + Math.max(...half.answers.map(({ retries }) => retries))
reportFigure(
  "F20 share answered where one call in two fails",
  shareOf(half.answers, 0),
  ">= 0.58",
  shareOf(half.answers, 0) >= 0.58
)
reportFigure(
  "F20 calls a request, worst ten seconds",
  worstCalls(half, halfEnd),
  `<= ${mostCallsPerRequest}`,
  worstCalls(half, halfEnd) <= mostCallsPerRequest
)
reportFigure("F20 most calls of one request", mostCalls, "<= 3", mostCalls <= 3)

behaviour = "closing"
let failed = 0
for (let n = 0; n < idleRequests; n++) if ((await ask({})).status !== 200) failed++
reportFigure(`F25 failures of ${idleRequests} requests`, failed, "0", failed === 0)
reportFigure("F25 sockets closed as they were used", closed, `>= ${idleRequests / 3}`, closed >= idleRequests / 3)

console.log(summary())
await gateway.stop()
upstream.close()
upstream.closeAllConnections()
process.exitCode = isMissed() ? 1 : 0
