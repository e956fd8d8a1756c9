// Proves that every request has one well-formed end, whatever its provider and its token endpoint do.
// Must not know how the gateway treats a fault.
import { randomOf } from "../../attack/random.ts"
import { serviceAccount } from "../../attack/canaries.ts"
import { ask, closeClients, inParallel } from "../kit/ask.ts"
import { endOf } from "../kit/ends.ts"
import { type Expected, type Fault, faults, tokenFaults } from "../kit/faults.ts"
import { asClient, listAll, makePlace, startGateway, withKeys } from "../kit/gateway.ts"
import { startProvider } from "../kit/provider.ts"
import { requestFor, requestOf, type Route, routes, type Sent } from "../kit/routes.ts"
import { atMost, type Figure, none, noteFaults, type Promised, type Run, shown } from "../proof.ts"

/** Short timers, so that a provider that waits is given up in time for this proof. */
const timers = {
  connectMillis: 500,
  firstByteMillis: 600,
  unaryFirstByteMillis: 600,
  idleMillis: 400,
  totalMillis: 1_500,
  retryBaseMillis: 1,
  retryCapMillis: 2
}
/** The timer of a whole call, and as much again for a machine that is busy with the load. */
const mostMillis = 2 * timers.totalMillis

const settings = (provider: string, closed: string): object =>
  withKeys({
    limits: { ...timers, replyBytes: 2_000_000, eventBytes: 2_000_000, requestsStored: 100_000 },
    providers: [
      { slug: "google", provider: "google", api_key: "reliability", base_url: provider },
      { slug: "gone", provider: "google", api_key: "reliability", base_url: closed },
      ...["sound", ...tokenFaults.map(({ word }) => word)].map((word) => ({
        slug: word === "sound" ? "vertex-ai" : `token-${word}`,
        provider: "vertex-ai",
        project_id: "reliability",
        region: "us-central1",
        credentials: {
          type: "service_account",
          json: { ...serviceAccount, client_email: `${word}@reliability.iam.gserviceaccount.com` }
        },
        base_url: provider,
        token_url: `${provider}/token/${word}`
      }))
    ]
  })

interface Case extends Sent {
  readonly name: string
  readonly route: Route
  readonly expected: Expected
  /** The answer of the provider passes unread: only its framing is judged. */
  readonly isPassed: boolean
}

const fits = ({ only }: Fault, { isStream }: Route): boolean => only === undefined || (only === "stream") === isStream

/** Each fault on each route; a fault whose place matters at several places. */
const casesOf = ({ isFull, seed }: Run): ReadonlyArray<Case> => {
  const random = randomOf(seed, 0)
  const places = isFull ? 100 : 4
  let n = 0
  const faulty = faults.flatMap((fault) =>
    routes
      .filter((route) => fits(fault, route))
      .flatMap((route) =>
        Array.from({ length: fault.isPlaced === true ? places : 1 }, (_, at): Case => {
          const percent = isFull ? at : random.below(100)
          return {
            name: `${route.name}, ${fault.word} at ${percent} %`,
            route,
            expected: fault.expected,
            isPassed: fault.isForeign === true && route.passes,
            ...requestOf(route, fault.word, percent, n++)
          }
        })
      )
  )
  const tokenless = routes
    .filter(({ takesTokens }) => takesTokens)
    .flatMap((route) =>
      tokenFaults.map(({ word }): Case => ({
        name: `${route.name}, token endpoint ${word}`,
        route,
        expected: "failed",
        isPassed: false,
        ...requestFor(route, route.model.replace("@vertex-ai/", `@token-${word}/`))
      }))
    )
  const unreachable = routes
    .filter(({ takesTokens }) => !takesTokens)
    .map((route): Case => ({
      name: `${route.name}, closed port`,
      route,
      expected: "failed",
      isPassed: false,
      ...requestFor(route, route.model.replace("@google/", "@gone/"))
    }))
  const sound = routes.map((route): Case => ({
    name: `${route.name}, no fault`,
    route,
    expected: "whole",
    isPassed: false,
    ...requestOf(route, "sound", 0, n++)
  }))
  return shuffled([...faulty, ...tokenless, ...unreachable, ...sound], random.below)
}

const shuffled = <A>(some: ReadonlyArray<A>, below: (count: number) => number): ReadonlyArray<A> => {
  const all = [...some]
  for (let at = all.length - 1; at > 0; at--) {
    const other = below(at + 1)
    const [one, two] = [all[at], all[other]]
    if (one !== undefined && two !== undefined) [all[at], all[other]] = [two, one]
  }
  return all
}

const prove = async (run: Run): Promise<ReadonlyArray<Figure>> => {
  const place = makePlace()
  const byWord = (some: ReadonlyArray<Pick<Fault, "word" | "behave">>) =>
    Object.fromEntries(some.map(({ behave, word }) => [word, behave]))
  const provider = await startProvider({ behaviours: byWord(faults), tokens: byWord(tokenFaults) })
  const gateway = await startGateway(place, settings(provider.url, "http://127.0.0.1:9"))
  const cases = casesOf(run)
  const wrongEnds: Array<string> = []
  const otherEnds: Array<string> = []
  let slowest = 0
  await inParallel(cases.length, 24, async (at) => {
    const one = cases[at]
    if (one === undefined) return
    const heard = await ask(gateway.port, { ...one, headers: { ...asClient, "x-request-id": `end-${at}` } })
    slowest = Math.max(slowest, heard.millis)
    if (one.isPassed) {
      if (!heard.isComplete || heard.status === 500) wrongEnds.push(`${one.name}: ${heard.status}, framing cut`)
      return
    }
    const end = endOf(one.route.form, one.path, heard)
    if (end.is === "wrong")
      wrongEnds.push(`${one.name}: ${end.why}: ${heard.status} ${JSON.stringify(heard.body.slice(-200))}`)
    else if (one.expected !== "either" && end.is !== one.expected)
      otherEnds.push(
        `${one.name}: ${end.is}, not ${one.expected}: ${heard.status} ${JSON.stringify(heard.body.slice(-200))}`
      )
  })
  const ids = new Map<string, number>()
  for (const { request_id: id } of await listAll<{ readonly request_id: string }>(gateway.port, "/requests"))
    ids.set(id, (ids.get(id) ?? 0) + 1)
  const logged = cases.filter((_, at) => ids.get(`end-${at}`) !== 1)
  closeClients()
  await gateway.stop()
  await provider.close()
  place.remove()
  noteFaults(run, [...wrongEnds, ...otherEnds, ...logged.map(({ name }) => `${name}: not one row`)], 60)
  return [
    shown(`requests with ${faults.length + tokenFaults.length + 1} faults on ${routes.length} routes`, cases.length),
    shown("of them judged by status and framing only", cases.filter(({ isPassed }) => isPassed).length),
    none("requests without one well-formed end", wrongEnds.length),
    none("requests with an error in place of an answer, or an answer in place of an error", otherEnds.length),
    none("requests without exactly one row in the list", logged.length),
    atMost("slowest end", slowest, mostMillis, "ms")
  ]
}

export const ends: Promised = {
  id: "ends",
  sentence: "Every request has one well-formed end: a whole answer, or one error in the form of its route.",
  prove
}
