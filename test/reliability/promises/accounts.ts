// Proves that the sums of usage equal what the provider billed, and how much a kill -9 can lose.
// Must not know how usage is written.
import { setTimeout as pause } from "node:timers/promises"
import { randomOf } from "../../attack/random.ts"
import { ask, closeClients, type Heard, inParallel } from "../kit/ask.ts"
import type { Counts } from "../kit/answers.ts"
import { faults } from "../kit/faults.ts"
import { admin, asClient, type Gateway, listAll, makePlace, startGateway, withKeys } from "../kit/gateway.ts"
import { type Provider, startProvider } from "../kit/provider.ts"
import { requestOf, type Route, routes } from "../kit/routes.ts"
import { atMost, type Figure, none, noteFaults, type Promised, type Run, shown } from "../proof.ts"

/** Routes whose providers bill tokens. */
const billed = routes.filter(({ form }) => !["embeddings", "images", "count"].includes(form))
/** Faults that end before an answer with counts; a request with one of them costs nothing. */
const free = ["sound", "sound", "sound", "status-429", "status-503", "status-400", "reset", "busy-once", "closed-after"]

/** Counts that differ from call to call: the number at the end of the model id decides. */
const countsOf = (text: string): Counts => {
  const n = Number(/-rel\.[a-z0-9-]+\.\d+\.(\d+)/.exec(text)?.[1] ?? 0)
  return { input: 1 + (n % 97), output: 1 + (n % 89) }
}

const settings = (provider: string): object =>
  withKeys({
    limits: { retryBaseMillis: 1, retryCapMillis: 2, requestsStored: 100_000 },
    providers: [
      { slug: "google", provider: "google", api_key: "reliability", base_url: provider },
      {
        slug: "vertex-ai",
        provider: "vertex-ai",
        project_id: "reliability",
        region: "us-central1",
        credentials: { type: "access_token", token: "reliability-token" },
        base_url: provider
      }
    ]
  })

interface Sums extends Counts {
  readonly requests: number
}
interface UsageRow {
  readonly requests: number
  readonly input_tokens: number
  readonly output_tokens: number
}

const usageOf = async (port: number): Promise<Sums> => {
  const { data } = await admin<{ readonly data: ReadonlyArray<UsageRow> }>(port, "GET", "/usage?group_by=key")
  const sum = (of: (row: UsageRow) => number): number => data.reduce((all, row) => all + of(row), 0)
  return {
    requests: sum((row) => row.requests),
    input: sum((row) => row.input_tokens),
    output: sum((row) => row.output_tokens)
  }
}

const off = (one: Sums, other: Sums): number =>
  Math.abs(one.requests - other.requests) + Math.abs(one.input - other.input) + Math.abs(one.output - other.output)

interface Billed {
  readonly id: string
  readonly heard: Heard
  readonly counts: Counts
}

const askBilled = async (port: number, route: Route, word: string, id: string, n: number): Promise<Billed> => {
  const request = requestOf(route, word, 0, n)
  const heard = await ask(port, { ...request, headers: { ...asClient, "x-request-id": id } })
  const counts = heard.status === 200 ? countsOf(request.path + request.body) : { input: 0, output: 0 }
  return { id, heard, counts }
}

/** A mix of answers, streams and refusals; then the sums of the gateway against those of the provider. */
const proveExact = async (run: Run, gateway: Gateway, provider: Provider): Promise<ReadonlyArray<Figure>> => {
  const random = randomOf(run.seed, 1)
  const count = run.isFull ? 100_000 : 4_000
  const draws = Array.from({ length: count }, () => ({ route: random.pick(billed), word: random.pick(free) }))
  const all = await inParallel(count, 24, async (at) => {
    const { route, word } = draws[at] ?? { route: billed[0] as Route, word: "sound" }
    return askBilled(gateway.port, route, word, `exact-${at}`, at)
  })
  const answered = new Set(all.filter(({ heard }) => heard.status === 200).map(({ id }) => id.slice(6)))
  const atProvider = { input: 0, output: 0 }
  const paid = new Map(provider.calls.map(({ counts, name }) => [name.split(".").at(-1) ?? "", counts]))
  for (const [n, { input, output }] of paid) {
    if (!answered.has(n)) continue
    atProvider.input += input
    atProvider.output += output
  }
  const found = await usageOf(gateway.port)
  const difference = off(found, { ...atProvider, requests: count })
  if (difference > 0) run.note(`found ${JSON.stringify(found)}, billed ${JSON.stringify(atProvider)} of ${count}`)
  return [
    shown("requests whose counts were compared", count),
    none("tokens and requests by which the sums differ from the provider's", difference)
  ]
}

/** Kills a gateway under load again and again, and looks for the rows of every request that had ended. */
const proveKills = async (run: Run, first: Gateway): Promise<ReadonlyArray<Figure>> => {
  const random = randomOf(run.seed, 2)
  const kills = run.isFull ? 50 : 8
  const chat = billed[0] as Route
  const ended: Array<Billed & { readonly killedAfter: number }> = []
  let gateway = first
  for (let round = 0; round < kills; round++) {
    const some: Array<Billed> = []
    let isRunning = true
    const clients = Array.from({ length: 16 }, async (_, client) => {
      for (let n = 0; isRunning; n++) {
        const one = await askBilled(gateway.port, chat, "sound", `kill-${round}-${client}-${n}`, n)
        if (one.heard.isComplete && one.heard.status === 200) some.push(one)
      }
    })
    await pause(300 + random.below(500))
    const at = performance.now()
    isRunning = false
    await gateway.kill()
    await Promise.all(clients)
    closeClients()
    ended.push(...some.map((one) => ({ ...one, killedAfter: at - one.heard.at })))
    gateway = await gateway.again()
  }
  const rows = await listAll<{ readonly request_id: string }>(gateway.port, "/requests")
  const ids = new Map<string, number>()
  for (const { request_id: id } of rows) ids.set(id, (ids.get(id) ?? 0) + 1)
  const lost = ended.filter(({ id }) => !ids.has(id))
  const double = [...ids].filter(([, times]) => times > 1)
  const oldest = Math.max(0, ...lost.map(({ killedAfter }) => killedAfter))
  noteFaults(
    run,
    double.map(([id, times]) => `${id} has ${times} rows`)
  )
  await gateway.stop()
  return [
    shown(`requests that had ended before ${kills} kills`, ended.length),
    atMost("a killed process loses requests that ended before its end by", oldest, 250, "ms"),
    none("requests with two rows after the kills", double.length)
  ]
}

const prove = async (run: Run): Promise<ReadonlyArray<Figure>> => {
  const place = makePlace()
  const provider = await startProvider({
    behaviours: Object.fromEntries(faults.map(({ behave, word }) => [word, behave])),
    counts: (url, body) => countsOf(url + body)
  })
  const gateway = await startGateway(place, settings(provider.url))
  const exact = await proveExact(run, gateway, provider)
  const killed = await proveKills(run, gateway)
  await provider.close()
  place.remove()
  return [...exact, ...killed]
}

export const accounts: Promised = {
  id: "accounts",
  sentence: "Usage equals what the provider billed, to the token; a killed process loses the last moment of it.",
  prove
}
