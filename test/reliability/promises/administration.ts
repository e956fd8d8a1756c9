// Proves that changes of keys are fast, cheap in a large store, and in force in every replica within a second.
// Must not know how replicas learn of a change.
import { setTimeout as pause } from "node:timers/promises"
import { ask, closeClients, inParallel } from "../kit/ask.ts"
import { runCommand } from "../kit/command.ts"
import { admin, type Gateway, makePlace, startGateway, withKeys } from "../kit/gateway.ts"
import { hasPostgres, startPostgres } from "../kit/postgres.ts"
import { startProvider } from "../kit/provider.ts"
import { atMost, type Figure, none, type Promised, type Run, shown } from "../proof.ts"

const body = JSON.stringify({ model: "@google/gemini-2.5-flash", messages: [{ role: "user", content: "Hi" }] })
const chat = async (port: number, key: string): Promise<number> => {
  const heard = await ask(port, { path: "/v1/chat/completions", headers: { "x-gateway-api-key": key }, body })
  return heard.status
}
interface MadeKey {
  readonly id: string
  readonly key: string
}
const makeKey = (port: number, name: string): Promise<MadeKey> => admin(port, "POST", "/keys", { name })

/** Milliseconds until a gateway answers a key with this status. */
const millisUntil = async (port: number, key: string, status: number): Promise<number> => {
  const started = performance.now()
  while ((await chat(port, key)) !== status) {
    if (performance.now() - started > 10_000) return Infinity
    await pause(5)
  }
  return performance.now() - started
}

const proveReplicas = async (run: Run): Promise<ReadonlyArray<Figure>> => {
  if (!hasPostgres()) {
    run.note("left out: two replicas, because there is no initdb and pg_ctl, or no user to run them")
    return []
  }
  const postgres = await startPostgres()
  const place = makePlace()
  const provider = await startProvider()
  const settings = withKeys({
    store: { url: postgres.url },
    providers: [{ slug: "google", provider: "google", api_key: "reliability", base_url: provider.url }]
  })
  const here = await startGateway(place, settings)
  const there = await startGateway(place, settings)
  const times: Array<number> = []
  let here200 = 0
  for (let round = 0; round < (run.isFull ? 100 : 15); round++) {
    const { id, key } = await makeKey(here.port, `round ${round}`)
    await millisUntil(there.port, key, 200)
    await admin(here.port, "DELETE", `/keys/${id}`)
    if ((await chat(here.port, key)) !== 401) here200++
    times.push(await millisUntil(there.port, key, 401))
  }
  const many = await timedKeys(here)
  closeClients()
  await Promise.all([here.kill(), there.kill(), provider.close()])
  await postgres.remove()
  place.remove()
  return [
    none("revoked keys that the replica of the change still served", here200),
    // A replica looks at the store each second, so the slowest of many comes close to the goal.
    atMost(`revoked key refused by another replica, slowest of ${times.length}`, Math.max(...times), 1_000, "ms"),
    atMost("1,000 keys made one after another in 8 clients, PostgreSQL", many, 5, "s")
  ]
}

/** Seconds for a thousand keys. */
const timedKeys = async ({ port }: Gateway): Promise<number> => {
  const started = performance.now()
  await inParallel(1_000, 8, (at) => makeKey(port, `many ${at}`))
  return (performance.now() - started) / 1_000
}

const proveSqlite = async (): Promise<ReadonlyArray<Figure>> => {
  const place = makePlace()
  const gateway = await startGateway(place, withKeys({}))
  const seconds = await timedKeys(gateway)
  await gateway.kill()
  place.remove()
  return [atMost("1,000 keys made one after another in 8 clients, SQLite", seconds, 5, "s")]
}

/** The CPU time of a change in stores of 200 to 100,000 keys, by test/bench/keys.ts. */
const proveCost = async ({ note }: Run): Promise<ReadonlyArray<Figure>> => {
  const { code, output } = await runCommand("test/bench/keys.ts")
  const costs = [...output.matchAll(/^ {2}(\w+): [\d.]+ ms, CPU ([\d.]+) ms$/gm)].map(([, , cpu]) => Number(cpu))
  if (code !== 0 || costs.length === 0) {
    note(output.slice(-500))
    return [none("runs of test/bench/keys.ts that failed", 1)]
  }
  return [
    shown("kinds and sizes of changes", costs.length),
    atMost("most CPU time of a change, with 200 to 100,000 keys", Math.max(...costs), 5, "ms")
  ]
}

export const administration: Promised = {
  id: "administration",
  sentence: "A change of a key costs the same in a large store, and every replica follows within a second.",
  prove: async (run) => [...(await proveReplicas(run)), ...(await proveSqlite()), ...(await proveCost(run))]
}
