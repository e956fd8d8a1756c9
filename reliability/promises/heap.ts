// Proves that a gateway with a small heap refuses what does not fit, lives, and serves again afterwards.
// Must not know how the gateway measures its memory.
import { rssKib } from "../../bench/contestants.ts"
import { inspect } from "../../bench/inspector.ts"
import { ask, closeClients, type Heard, inParallel } from "../kit/ask.ts"
import { asClient, heapOf, makePlace, startGateway, withKeys } from "../kit/gateway.ts"
import { type Behaviour, bytesOf, startProvider } from "../kit/provider.ts"
import { atLeast, atMost, type Figure, none, noteFaults, type Promised, type Run, shown } from "../proof.ts"

/** The heap that Node gives a process in a container of 256 MiB. */
const heapMiB = 128
/** How long the provider works on a call: many requests run together. */
const workMillis = 1_000

const slowly: Behaviour = ({ answer, socket }) =>
  void setTimeout(() => {
    if (!socket.destroyed) socket.write(bytesOf(answer))
  }, workMillis)

const path = "/v1/chat/completions"
const chat = (content: unknown, more: object = {}): string =>
  JSON.stringify({ model: "@google/gemini-2.5-flash", messages: [{ role: "user", content }], ...more })

const image = { type: "image_url", image_url: { url: `data:image/png;base64,${"A".repeat(10 * 2 ** 20)}` } }

interface Kind {
  readonly name: string
  readonly body: string
  readonly count: number
  /** Requests that run together. */
  readonly together: number
}

const kinds = (isFull: boolean): ReadonlyArray<Kind> => {
  const times = isFull ? 10 : 1
  return [
    { name: "images of 10 MB", body: chat([image]), count: 100 * times, together: 10 },
    { name: "chats of 64 KB", body: chat("word ".repeat(13_000)), count: 3_000 * times, together: 300 },
    { name: "streams", body: chat("Hello", { stream: true }), count: 20_000 * times, together: 4_000 }
  ]
}

/** Served, or refused with the time of the next try. */
const isSound = ({ headers, isComplete, status }: Heard): boolean =>
  isComplete && (status === 200 || ((status === 503 || status === 429) && headers["retry-after"] !== undefined))

const prove = async (run: Run): Promise<ReadonlyArray<Figure>> => {
  const place = makePlace()
  const provider = await startProvider({ usually: slowly })
  const google = { slug: "google", provider: "google", api_key: "reliability", base_url: provider.url }
  const gateway = await startGateway(place, withKeys({ providers: [google] }), {
    isInspected: true,
    env: { NODE_OPTIONS: `--max-old-space-size=${heapMiB}` }
  })
  const send = (body: string): Promise<Heard> => ask(gateway.port, { path, headers: asClient, body })
  let mostKib = 0
  const watch = setInterval(() => {
    if (gateway.isAlive()) mostKib = Math.max(mostKib, rssKib(gateway.pid))
  }, 50)
  const heard = await Promise.all(
    kinds(run.isFull).map(async ({ body, count, name, together }) => ({
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
  await provider.close()
  place.remove()
  return [
    ...heard.map(({ answers, name }) =>
      shown(`${name}: served of ${answers.length}`, answers.filter(({ status }) => status === 200).length)
    ),
    none(`processes with a heap of ${heapMiB} MiB that died`, isAlive ? 0 : 1),
    none("requests that were neither served nor refused with a time to retry", unsound.length),
    atLeast("of 200 later requests served", served, 200),
    atMost("heap after collections, later", kept, heapMiB * 0.85, "MiB"),
    shown("most memory of the process", mostKib / 1024, "MiB")
  ]
}

export const heap: Promised = {
  id: "heap",
  sentence: "A small heap refuses what does not fit with a time to retry, and the process lives.",
  prove
}
