// Proves that no request fails because PostgreSQL, Redis or the collector of traces does, and bounds its wait.
// Must not know how the gateway goes on without one.
import { setTimeout as pause } from "node:timers/promises"
import { hasRedisServer, startRedisServer } from "../../support/redisServer.ts"
import { type Relay, startRelay } from "../../support/relay.ts"
import { ask, closeClients, type Heard } from "../kit/ask.ts"
import { makePlace, startGateway, withKeys } from "../kit/gateway.ts"
import { hasPostgres, startPostgres } from "../kit/postgres.ts"
import { startProvider } from "../kit/provider.ts"
import { atMost, type Figure, none, noteFaults, type Promised, type Run, shown } from "../proof.ts"

const perSecond = 60
const limitedKey = "mgk_reliability_limited_00000000000"
const budgetKey = "mgk_reliability_budget_000000000000"
const plainKey = "mgk_reliability_plain_0000000000000"
const keys = [
  { name: "plain", key: plainKey },
  {
    name: "limited",
    key: limitedKey,
    rate_limit: { requests_per_minute: 1_000_000, tokens_per_minute: 1_000_000_000 }
  },
  { name: "budgeted", key: budgetKey, budget: { usd: 1_000_000, per: "day" } }
]
const body = JSON.stringify({
  model: "@google/gemini-2.5-flash",
  max_tokens: 10,
  messages: [{ role: "user", content: "Hi" }]
})
/** The wait for a dependency that hangs: that of the store, and a share for a busy machine. */
const mostMillis = 1_000

interface Phase {
  readonly name: string
  readonly begin: () => Promise<void> | void
  readonly end: () => Promise<void> | void
}

/** Asks at a steady rate, with each key in turn, whatever earlier requests do. */
const steadily = async (port: number, seconds: number): Promise<ReadonlyArray<Heard>> => {
  const pending: Array<Promise<Heard>> = []
  let due = performance.now()
  for (let n = 0; n < seconds * perSecond; n++) {
    const key = keys[n % keys.length]?.key ?? plainKey
    pending.push(ask(port, { path: "/v1/chat/completions", headers: { "x-gateway-api-key": key }, body }))
    due += 1_000 / perSecond
    const wait = due - performance.now()
    if (wait > 0) await pause(wait)
  }
  return Promise.all(pending)
}

const impeded = (name: string, relay: Relay): ReadonlyArray<Phase> => [
  { name: `${name} hangs`, begin: relay.stall, end: relay.heal },
  { name: `${name} refuses connections`, begin: relay.cut, end: relay.heal },
  { name: `${name} resets its connections`, begin: relay.reset, end: relay.heal },
  { name: `${name} is 5 s late`, begin: () => relay.delay(5_000), end: relay.heal }
]

const prove = async (run: Run): Promise<ReadonlyArray<Figure>> => {
  if (!hasPostgres() || !hasRedisServer) {
    run.note("left out: it needs initdb, pg_ctl and redis-server")
    return []
  }
  const seconds = run.isFull ? 20 : 5
  const place = makePlace()
  const [provider, collector, postgres, redis] = await Promise.all([
    startProvider(),
    startProvider(),
    startPostgres(),
    startRedisServer()
  ])
  const relayTo = (url: string): Promise<Relay> => startRelay("127.0.0.1", Number(new URL(url).port))
  const [storeRelay, redisRelay, collectorRelay] = (await Promise.all(
    [postgres.url, redis.url, collector.url].map(relayTo)
  )) as [Relay, Relay, Relay]
  const settings = withKeys(
    {
      store: { url: `postgres://postgres@127.0.0.1:${storeRelay.port}/postgres` },
      redis: { url: `redis://127.0.0.1:${redisRelay.port}` },
      prices: { "gemini-2.5-flash": { input: 1, output: 1 } },
      providers: [{ slug: "google", provider: "google", api_key: "reliability", base_url: provider.url }]
    },
    keys
  )
  const gateway = await startGateway(place, settings, {
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${collectorRelay.port}`,
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
      OTEL_METRIC_EXPORT_INTERVAL: "1000"
    }
  })
  await steadily(gateway.port, 4)
  const phases: ReadonlyArray<Phase> = [
    ...impeded("PostgreSQL", storeRelay),
    { name: "PostgreSQL crashes", begin: postgres.crash, end: postgres.start },
    ...impeded("Redis", redisRelay),
    { name: "Redis freezes", begin: redis.freeze, end: redis.thaw },
    { name: "Redis is killed", begin: redis.stop, end: redis.start },
    ...impeded("the collector", collectorRelay),
    {
      name: "all of them hang",
      begin: () => [storeRelay, redisRelay, collectorRelay].forEach(({ stall }) => stall()),
      end: () => [storeRelay, redisRelay, collectorRelay].forEach(({ heal }) => heal())
    }
  ]
  const faults: Array<string> = []
  let [count, slowest] = [0, 0]
  for (const { begin, end, name } of phases) {
    await begin()
    const during = await steadily(gateway.port, seconds)
    await end()
    const after = await steadily(gateway.port, 2)
    const all = [...during, ...after]
    const worst = Math.max(...all.map(({ millis }) => millis))
    count += all.length
    slowest = Math.max(slowest, worst)
    if (worst > mostMillis) run.note(`${name}: a request took ${worst.toFixed(0)} ms`)
    faults.push(
      ...all
        .filter(({ status }) => status !== 200)
        .map(({ body: text, status }) => `${name}: ${status} ${text.slice(0, 200)}`)
    )
  }
  noteFaults(run, faults)
  closeClients()
  await gateway.kill()
  await Promise.all([storeRelay, redisRelay, collectorRelay].map(({ close }) => close()))
  await Promise.all([provider.close(), collector.close(), redis.close(), postgres.remove()])
  place.remove()
  return [
    shown(`requests in ${phases.length} outages of PostgreSQL, Redis and the collector`, count),
    none("requests that failed because of an outage", faults.length),
    atMost("slowest request of them", slowest, mostMillis, "ms")
  ]
}

export const dependencies: Promised = {
  id: "dependencies",
  sentence:
    "No request fails because the store, Redis or the collector of traces does, and one bound holds for its wait.",
  prove
}
