// Proves that a gateway with a small heap refuses what does not fit, lives, and serves again afterwards.
// Must not know how the gateway measures its memory.
import { fork } from "node:child_process"
import { once } from "node:events"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { type Container, makeContainer } from "../../bench/container.ts"
import { rssKib } from "../../bench/contestants.ts"
import { inspect } from "../../bench/inspector.ts"
import { ask, closeClients, type Heard, inParallel } from "../kit/ask.ts"
import { asClient, heapOf, makePlace, startGateway, withKeys } from "../kit/gateway.ts"
import { atLeast, atMost, type Figure, none, noteFaults, type Promised, type Run, shown } from "../proof.ts"

/** With the memory of a whole machine around it. */
const heapMiB = 128

/** Its process ends with `close`, or with this one. */
const startSlowProvider = async () => {
  const child = fork(join(dirname(fileURLToPath(import.meta.url)), "..", "kit", "slowProvider.ts"))
  const [url] = await once(child, "message")
  return { url: String(url), close: () => child.disconnect() }
}

const path = "/v1/chat/completions"
const chat = (content: unknown, more: object = {}): string =>
  JSON.stringify({ model: "@google/gemini-2.5-flash", messages: [{ role: "user", content }], ...more })

const imageOf = (mebibytes: number) => ({
  type: "image_url",
  image_url: { url: `data:image/png;base64,${"A".repeat(mebibytes * 2 ** 20)}` }
})

interface Kind {
  readonly name: string
  readonly body: string
  readonly count: number
  /** Requests that run together. */
  readonly together: number
}

interface Bound {
  /** What is bounded, as figures name it. */
  readonly name: string
  readonly starting: Parameters<typeof startGateway>[2]
  /** What a body may just have. */
  readonly imageMiB: number
  /** Together; with the other requests three quarters of the connections that the bound allows, as a refused one is replaced. */
  readonly streams: number
  /** Rounds of that many streams, of 300 chats and of 10 images. */
  readonly rounds: number
  readonly container?: Container
}

const kinds = (isFull: boolean, { imageMiB, rounds, streams }: Bound): ReadonlyArray<Kind> => {
  const times = isFull ? rounds * 3 : rounds
  return [
    { name: `images of ${imageMiB} MB`, body: chat([imageOf(imageMiB)]), count: 10 * times, together: 10 },
    { name: "chats of 64 KB", body: chat("word ".repeat(13_000)), count: 300 * times, together: 300 },
    { name: "streams", body: chat("Hello", { stream: true }), count: streams * times, together: streams }
  ]
}

/** Served, or refused with the time of the next try. */
const isSound = ({ headers, isComplete, status }: Heard): boolean =>
  isComplete && (status === 200 || ((status === 503 || status === 429) && headers["retry-after"] !== undefined))

const proveOf = async (run: Run, bound: Bound): Promise<ReadonlyArray<Figure>> => {
  const { container, name, starting } = bound
  const place = makePlace()
  const provider = await startSlowProvider()
  const google = { slug: "google", provider: "google", api_key: "reliability", base_url: provider.url }
  const gateway = await startGateway(place, withKeys({ providers: [google] }), { isInspected: true, ...starting })
  const send = (body: string): Promise<Heard> => ask(gateway.port, { path, headers: asClient, body })
  let mostKib = 0
  const watch = setInterval(() => {
    if (gateway.isAlive()) mostKib = Math.max(mostKib, rssKib(gateway.pid))
  }, 50)
  const heard = await Promise.all(
    kinds(run.isFull, bound).map(async ({ body, count, name, together }) => ({
      name,
      answers: await inParallel(count, together, () => (gateway.isAlive() ? send(body) : send("")))
    }))
  )
  clearInterval(watch)
  const isAlive = gateway.isAlive()
  const after = isAlive ? await inParallel(200, 4, () => send(chat("Hello"))) : []
  const served = after.filter(({ status }) => status === 200).length
  const inspector = isAlive ? await inspect(gateway.inspectorPort) : undefined
  const kept = inspector === undefined ? Number.NaN : (await heapOf(inspector)) / 2 ** 20
  inspector?.close()
  if (!isAlive) run.note(gateway.printed().slice(-1_000))
  const unsound = heard.flatMap(({ answers, name }) =>
    answers.filter((one) => !isSound(one)).map(({ body, status }) => `${name}: ${status} ${body.slice(0, 200)}`)
  )
  noteFaults(run, unsound, 5)
  closeClients()
  await gateway.kill()
  provider.close()
  place.remove()
  return [
    ...heard.map(({ answers, name: kind }) =>
      shown(`${name}: ${kind} served of ${answers.length}`, answers.filter(({ status }) => status === 200).length)
    ),
    none(`${name}: processes that died`, isAlive ? 0 : 1),
    none(`${name}: requests that were neither served nor refused with a time to retry`, unsound.length),
    atLeast(`${name}: of 200 later requests served`, served, 200),
    atMost(`${name}: heap after collections, later`, kept, heapMiB * 0.85, "MiB"),
    shown(`${name}: most memory of the process`, mostKib / 1024, "MiB"),
    ...(container === undefined ? [] : [none(`${name}: kills by the kernel`, container.kills())])
  ]
}

const containerMiB = 256

const prove = async (run: Run): Promise<ReadonlyArray<Figure>> => {
  const ofHeap = await proveOf(run, {
    name: `heap of ${heapMiB} MiB`,
    imageMiB: 10,
    streams: 3_000,
    rounds: 5,
    starting: { env: { NODE_OPTIONS: `--max-old-space-size=${heapMiB}` } }
  })
  const container = makeContainer(`model-gateway-${process.pid}`, containerMiB * 2 ** 20)
  if (container === undefined) {
    run.note(`left out: a container of ${containerMiB} MiB, as this user may make no control group`)
    return ofHeap
  }
  const name = `container of ${containerMiB} MiB`
  try {
    return [
      ...ofHeap,
      ...(await proveOf(run, { name, imageMiB: 5, streams: 2_000, rounds: 5, starting: { container }, container }))
    ]
  } finally {
    container.remove()
  }
}

export const heap: Promised = {
  id: "heap",
  sentence: "A small heap, or container, refuses what does not fit with a time to retry, and the process lives.",
  prove
}
