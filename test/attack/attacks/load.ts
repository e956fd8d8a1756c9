// Attacks on time and memory: patterns, schemas, large bodies and replies, slots.
// Must not run an attack.
import { connect, type Socket } from "node:net"
import { setTimeout as pause } from "node:timers/promises"
import { keys } from "../canaries.ts"
import { serviceBounds } from "../gateway.ts"
import { slowMillis } from "../upstream.ts"
import {
  type Attack,
  ask,
  type RequestOptions,
  callsOf,
  chat,
  codeOf,
  flash,
  generalFaults,
  hello,
  holds,
  json,
  faultsUnlessRefused,
  describeAnswer,
  type World
} from "./attack.ts"

const large = 20 * 2 ** 20
const mebibyte = 2 ** 20
/** Memory growth allowed during an attack, in MiB. Pages of an earlier attack may still be counted. */
const mostTakenMib = 896
/** Longest allowed block of the event loop, in milliseconds. */
const mostHeldMillis = 500

/** Runs the work and watches the process: memory stays within its bound, and another key is served meanwhile. */
const watchProcess = async (world: World, work: () => Promise<unknown>): Promise<ReadonlyArray<string>> => {
  await world.gateway.heap()
  const before = world.gateway.rssMib()
  let [peak, done] = [0, false]
  const unserved: Array<string> = []
  const watch = async (): Promise<void> => {
    while (!done) {
      peak = Math.max(peak, world.gateway.rssMib())
      const answer = await ask(world, { key: "other", path: "/v1/models" })
      if (answer.status !== 200) unserved.push(describeAnswer(answer))
      await pause(20)
    }
  }
  const watching = watch()
  await work()
  done = true
  await watching
  return [
    ...holds(peak - before < mostTakenMib, `${(peak - before).toFixed(0)} MiB more resident, at most ${mostTakenMib}`),
    ...holds(unserved.length === 0, `another key was not served: ${unserved[0]}`)
  ]
}

const patterns = (count: number): RequestOptions => ({
  headers: {
    "x-gateway-config": JSON.stringify({
      strategy: {
        mode: "conditional",
        conditions: Array.from({ length: count }, () => ({
          query: { "params.user": { $regex: "a{0,200}b" } },
          then: "x"
        })),
        default: "x"
      },
      targets: [{ name: "x", provider: "google" }]
    })
  },
  body: { ...hello("gemini-2.5-flash"), user: "a".repeat(4_000) }
})

/** A model whose schemas allow no references, so each reference is expanded. */
const written = "@google/gemini-2.0-flash"

const withTool = (parameters: object): RequestOptions => ({
  body: { ...hello(written), tools: [{ type: "function", function: { name: "f", parameters } }] }
})

/** One definition of this size and this many references to it. Expanded, it is far larger than the request. */
const references = (bytes: number, count: number): RequestOptions =>
  withTool({
    type: "object",
    properties: Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${at}`, { $ref: "#/$defs/a" }])),
    $defs: { a: { type: "object", description: "x".repeat(bytes) } }
  })

/** A chain of 30 definitions, each with two references to the next: 2^30 when expanded. */
const doubling: RequestOptions = withTool({
  $ref: "#/$defs/d0",
  $defs: Object.fromEntries(
    Array.from({ length: 30 }, (_, at) => [
      `d${at}`,
      at === 29
        ? { type: "string" }
        : {
            type: "object",
            properties: { a: { $ref: `#/$defs/d${at + 1}` }, b: { $ref: `#/$defs/d${at + 1}` } }
          }
    ])
  )
})

/** A body of 20 MiB, sent immediately or after `100 Continue`. */
const heavy = (port: number, expects: boolean): Promise<string> =>
  new Promise((resolve) => {
    const body = JSON.stringify({
      model: "@google/gemini-attack-slow",
      messages: [{ role: "user", content: "x".repeat(large) }]
    })
    const socket = connect({ port, host: "127.0.0.1" }, () => {
      socket.write(
        `POST ${chat} HTTP/1.1\r\nhost: x\r\nx-gateway-api-key: ${keys.plain}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n` +
          `${expects ? "expect: 100-continue\r\n" : ""}connection: close\r\n\r\n`
      )
      if (!expects) socket.write(body)
    })
    let text = ""
    socket.setTimeout(20_000, () => socket.destroy())
    socket.on("data", (part: Buffer) => {
      text += part.toString("latin1")
      if (expects && text.startsWith("HTTP/1.1 100")) {
        text = text.slice(text.indexOf("\r\n\r\n") + 4)
        socket.write(body)
      }
    })
    socket.on("error", () => undefined)
    socket.on("close", () => resolve(text))
  })

const heavies =
  (expects: boolean) =>
  async (world: World): Promise<ReadonlyArray<string>> => {
    const answers: Array<string> = []
    const faults = await watchProcess(world, async () => {
      answers.push(...(await Promise.all(Array.from({ length: 30 }, () => heavy(world.gateway.port, expects)))))
    })
    const statuses = answers.map((text) => text.slice(9, 12))
    return [
      ...faults,
      ...holds(statuses.includes("200"), `none of 30 was served: ${statuses.join(" ")}`),
      ...holds(
        statuses.every((status) => ["200", "429", "503", ""].includes(status)),
        `answered ${statuses.join(" ")}`
      )
    ]
  }

/** Opens requests that stay open until their sockets are closed. */
const openRequests = (world: World, key: keyof typeof keys, count: number): ReadonlyArray<Socket> =>
  Array.from({ length: count }, () => {
    const body = JSON.stringify(hello("@google/gemini-attack-hold"))
    const socket = connect({ port: world.gateway.port, host: "127.0.0.1" }, () =>
      socket.write(
        `POST ${chat} HTTP/1.1\r\nhost: x\r\nx-gateway-api-key: ${keys[key]}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
      )
    )
    socket.on("error", () => undefined)
    socket.on("data", () => undefined)
    return socket
  })

const opened = async ({ upstream }: World, count: number): Promise<void> => {
  for (let tries = 0; tries < 100 && upstream.open() < count; tries++) await pause(20)
}
const closed = async ({ upstream }: World): Promise<void> => {
  for (let tries = 0; tries < 200 && upstream.open() > 0; tries++) await pause(20)
}

const crowd = async (world: World): Promise<ReadonlyArray<string>> => {
  const sockets = openRequests(world, "crowded", serviceBounds.crowd)
  await opened(world, serviceBounds.crowd)
  const own = await ask(world, { key: "crowded", body: hello() })
  const other = await ask(world, { key: "other", body: hello() })
  for (const socket of sockets) socket.destroy()
  await closed(world)
  const later = await ask(world, { key: "crowded", body: hello() })
  return [
    ...holds(
      own.status === 429 && codeOf(own) === "concurrency_limit_exceeded",
      `the request over its limit answered ${describeAnswer(own)}`
    ),
    ...holds(other.status === 200, `another key answered ${describeAnswer(other)}`),
    ...holds(later.status === 200, `the key itself, when its requests had ended, answered ${describeAnswer(later)}`)
  ]
}

const flood = async (world: World): Promise<ReadonlyArray<string>> => {
  const sockets = openRequests(world, "plain", serviceBounds.inFlight + 20)
  await opened(world, serviceBounds.inFlight / 2)
  await pause(200)
  const answers: ReadonlyArray<readonly [what: string, asked: RequestOptions]> = [
    ["/health/live", { path: "/health/live" }],
    ["/health/ready", { path: "/health/ready" }],
    ["/admin/v1/keys", { key: "admin", path: "/admin/v1/keys" }],
    ["/metrics", { path: "/metrics" }],
    ["another key", { key: "other", body: hello() }]
  ]
  const faults: Array<string> = []
  for (const [what, asked] of answers) {
    const answer = await ask(world, asked)
    if (answer.status !== 200) faults.push(`${what} answered ${describeAnswer(answer)}`)
  }
  for (const socket of sockets) socket.destroy()
  await closed(world)
  return faults
}

const circuits = async (world: World): Promise<ReadonlyArray<string>> => {
  const rule = (threshold: number, model: string): RequestOptions => ({
    headers: {
      "x-gateway-config": JSON.stringify({
        provider: "google",
        cb_config: { failure_threshold: threshold, cooldown_interval: 60_000 },
        retry: { attempts: 0 }
      })
    },
    body: hello(model)
  })
  const mine: RequestOptions = { ...rule(2, "gemini-attack-unavailable"), key: "other" }
  for (let start = 0; start < 2 * serviceBounds.circuits; start += 20) {
    await Promise.all(
      Array.from({ length: 20 }, (_, at) => ask(world, rule(2 + start + at, "gemini-attack-unavailable")))
    )
  }
  for (let times = 0; times < 2; times++) await ask(world, mine)
  const { calls, result } = await callsOf(world, () => ask(world, mine))
  return [
    ...holds(result.status === 503, `answered ${describeAnswer(result)}`),
    ...holds(calls.length === 0, "another key has no circuit: its provider was called after two failures")
  ]
}

const quotes = async (world: World): Promise<ReadonlyArray<string>> => {
  const body = `{"model":"${flash}","messages":[{"role":"user","content":"${'\\"'.repeat(10 * mebibyte)}"}]}`
  const { answer, faults } = await generalFaults(world, { body })
  return [
    ...faults,
    ...holds(
      answer.status === 200 || answer.status === 400 || answer.status === 413,
      `answered ${describeAnswer(answer)}`
    )
  ]
}

const replies = (world: World): Promise<ReadonlyArray<string>> =>
  watchProcess(world, async () => {
    await Promise.all(Array.from({ length: 30 }, () => ask(world, { body: hello("@google/gemini-attack-large") })))
  })

const readers = async (world: World): Promise<ReadonlyArray<string>> => {
  const body = JSON.stringify({ ...hello("@google/gemini-attack-endless"), stream: true })
  const sockets: Array<Socket> = []
  const faults = await watchProcess(world, async () => {
    for (let one = 0; one < 60; one++) {
      const socket = connect({ port: world.gateway.port, host: "127.0.0.1" }, () =>
        socket.write(
          `POST ${chat} HTTP/1.1\r\nhost: x\r\nx-gateway-api-key: ${keys.plain}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
        )
      )
      socket.on("error", () => undefined).pause()
      sockets.push(socket)
    }
    await pause(1_500)
  })
  for (const socket of sockets) socket.destroy()
  await closed(world)
  return [
    ...faults,
    ...holds(world.upstream.open() === 0, `${world.upstream.open()} streams of providers are still open`)
  ]
}

const slow = async (world: World): Promise<ReadonlyArray<string>> => {
  const { answer, faults } = await generalFaults(world, { body: hello("@google/gemini-attack-slow") }, slowMillis)
  return [...faults, ...holds(json(answer)["object"] === "chat.completion", `answered ${describeAnswer(answer)}`)]
}

/** Sends the request twice and takes the shorter block: another program may block the machine once. */
const serveTwice =
  (asked: RequestOptions) =>
  async (world: World): Promise<ReadonlyArray<string>> => {
    const held: Array<number> = []
    const faults: Array<string> = []
    for (let times = 0; times < 2; times++) {
      const { answer, faults: found } = await generalFaults(world, asked)
      held.push((await world.gateway.measured(() => ask(world, asked))).held)
      faults.push(
        ...found,
        ...holds(answer.status === 200 || answer.status === 400, `answered ${describeAnswer(answer)}`)
      )
    }
    const least = Math.min(...held)
    return [
      ...faults,
      ...holds(
        least < mostHeldMillis,
        `the event loop stood still for ${least.toFixed(0)} ms, at most ${mostHeldMillis}`
      )
    ]
  }

export const load: ReadonlyArray<Attack> = [
  {
    name: "patterns-20",
    sentence: "20 slow patterns in an inline config take no time",
    attack: serveTwice(patterns(20))
  },
  {
    name: "patterns-100",
    sentence: "100 slow patterns in an inline config take no time",
    attack: serveTwice(patterns(100))
  },
  {
    name: "references-55k",
    sentence: "600 references to 55 KB of a schema are refused",
    attack: (world) => faultsUnlessRefused(world, 400, "invalid_schema", references(55_000, 600))
  },
  {
    name: "references-1m",
    sentence: "600 references to 1 MB of a schema are refused",
    attack: (world) => faultsUnlessRefused(world, 400, "invalid_schema", references(1_000_000, 600))
  },
  {
    name: "references-doubling",
    sentence: "30 definitions that double are refused",
    attack: (world) => faultsUnlessRefused(world, 400, "invalid_schema", doubling)
  },
  { name: "slow-upstream", sentence: "a provider that waits costs its own wait", attack: slow },
  { name: "bodies", sentence: "30 bodies of 20 MiB are held within the bound of memory", attack: heavies(false) },
  { name: "bodies-expected", sentence: "the same, with Expect: 100-continue", attack: heavies(true) },
  { name: "replies", sentence: "30 replies of 20 MiB are held within the bound of memory", attack: replies },
  { name: "readers", sentence: "60 readers that stop hold no memory and leave no stream", attack: readers },
  { name: "quotes", sentence: "20 MB of escaped quotes take no time", attack: quotes },
  { name: "crowd", sentence: "a key over its concurrency is refused, another is served", attack: crowd },
  { name: "flood", sentence: "one key in every slot leaves health, admin and others served", attack: flood },
  { name: "circuits", sentence: "rules of one key push out no circuit of another", attack: circuits }
]
