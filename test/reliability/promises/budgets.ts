// Proves that budgets and limits hold over two replicas on one PostgreSQL and one Redis.
// Must not know leases or buckets.
import { hasRedisServer, startRedisServer } from "../../support/redisServer.ts"
import { ask, closeClients, inParallel } from "../kit/ask.ts"
import { makePlace, startGateway, withKeys } from "../kit/gateway.ts"
import { hasPostgres, startPostgres } from "../kit/postgres.ts"
import { type Behaviour, bytesOf, startProvider } from "../kit/provider.ts"
import { atLeast, atMost, type Figure, type Promised, type Run, shown } from "../proof.ts"

/** US dollars a token in and out; 1,000 tokens of output are the estimate of a request below. */
const price = 10 / 1_000_000
const most = 1_000
const budget = 1
const together = 32
const perMinute = 600
/** What a bucket holds in addition to its rate; the default of `burst` is a tenth. */
const burst = perMinute / 10
const secondsOfLimit = 75

const key = (name: string): string => `mgk_reliability_${name.padEnd(20, "0")}`
/** Output tokens of a request by key: as estimated, less, and twice as many. */
const outputs = { exact: most, less: 400, more: 2 * most } as const
type Name = keyof typeof outputs
const names: ReadonlyArray<Name> = ["exact", "less", "more"]

const keys = [
  ...names.map((name) => ({ name, key: key(name), budget: { usd: budget, per: "month" } })),
  { name: "limited", key: key("limited"), rate_limit: { requests_per_minute: perMinute } }
]
const bodyOf = (name: string): string =>
  JSON.stringify({
    model: `@google/gemini-2.5-flash-rel.${name}.0.0`,
    max_tokens: most,
    messages: [{ role: "user", content: "Hi" }]
  })

/** Answers after a moment, so that requests overlap. */
const slowly: Behaviour = ({ answer, socket }) => void setTimeout(() => socket.write(bytesOf(answer)), 20)

const askAs = (port: number, name: string) =>
  ask(port, { path: "/v1/chat/completions", headers: { "x-gateway-api-key": key(name) }, body: bodyOf(name) })

/** The most of these moments within any minute. */
const worstMinute = (moments: ReadonlyArray<number>): number => {
  const sorted = [...moments].toSorted((one, other) => one - other)
  let [from, worst] = [0, 0]
  for (let to = 0; to < sorted.length; to++) {
    while ((sorted[to] ?? 0) - (sorted[from] ?? 0) >= 60_000) from++
    worst = Math.max(worst, to - from + 1)
  }
  return worst
}

const spend = async (ports: readonly [number, number], name: Name): Promise<ReadonlyArray<Figure>> => {
  const tokensIn = 1
  const cost = (tokensIn + outputs[name]) * price
  const count = Math.ceil((budget / cost) * 2)
  const heard = await inParallel(count, together, (at) => askAs(ports[at % 2 === 0 ? 0 : 1], name))
  const served = heard.filter(({ status }) => status === 200).length
  // Of the running requests each may cost its cost less its estimate beyond the budget.
  const overspend = together * Math.max(0, outputs[name] - most) * price
  return [
    atMost(
      `${outputs[name]} tokens for an estimate of ${most}: spent of 1 US dollar`,
      served * cost,
      Number((budget + overspend).toFixed(2)),
      "USD"
    )
  ]
}

/** Sends more than the limit allows for over a minute, by both replicas. */
const limit = async (ports: readonly [number, number]): Promise<ReadonlyArray<Figure>> => {
  const started = performance.now()
  const allowed: Array<number> = []
  const client = async (at: number): Promise<void> => {
    while (performance.now() - started < secondsOfLimit * 1_000) {
      const { at: moment, status } = await askAs(ports[at % 2 === 0 ? 0 : 1], "limited")
      if (status === 200) allowed.push(moment)
      else await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
  await Promise.all(Array.from({ length: 8 }, (_, at) => client(at)))
  const worst = worstMinute(allowed)
  return [
    atMost(`limit of ${perMinute} a minute over two replicas: most in any minute`, worst, perMinute + burst),
    atLeast("the same: served in that minute", worst, perMinute)
  ]
}

const prove = async (run: Run): Promise<ReadonlyArray<Figure>> => {
  if (!hasPostgres() || !hasRedisServer) {
    run.note("left out: it needs initdb, pg_ctl and redis-server")
    return []
  }
  const place = makePlace()
  const [postgres, redis] = await Promise.all([startPostgres(), startRedisServer()])
  const provider = await startProvider({
    behaviours: Object.fromEntries([...names, "limited"].map((name) => [name, slowly])),
    counts: (url) => ({
      input: 1,
      output: names.map((name) => (url.includes(`-rel.${name}.`) ? outputs[name] : 0)).find((n) => n > 0) ?? 1
    })
  })
  const settings = withKeys(
    {
      store: { url: postgres.url },
      redis: { url: redis.url },
      prices: Object.fromEntries(
        [...names, "limited"].map((name) => [
          `gemini-2.5-flash-rel.${name}.0.0`,
          { input: price * 1_000_000, output: price * 1_000_000 }
        ])
      ),
      providers: [{ slug: "google", provider: "google", api_key: "reliability", base_url: provider.url }]
    },
    keys
  )
  const gateways = [await startGateway(place, settings), await startGateway(place, settings)] as const
  const ports = [gateways[0].port, gateways[1].port] as const
  const spent: Array<Figure> = []
  for (const name of names) spent.push(...(await spend(ports, name)))
  const limited = await limit(ports)
  closeClients()
  await Promise.all(gateways.map((gateway) => gateway.kill()))
  await Promise.all([provider.close(), redis.close(), postgres.remove()])
  place.remove()
  return [shown("requests that run together over two replicas", together), ...spent, ...limited]
}

export const budgets: Promised = {
  id: "budgets",
  sentence: "Budgets and limits hold over all replicas together; what a budget can be overspent by has a formula.",
  prove
}
