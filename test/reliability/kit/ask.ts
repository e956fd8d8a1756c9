// Sends one request and reads its whole answer, and whether the answer ended as HTTP wants it.
// Must not know the request or the expected answer.
import { Agent, type IncomingMessage, request as send } from "node:http"

export interface Asked {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface Heard {
  /** 0 when no status line was received. */
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** True when the answer came to the end that its framing announces. */
  readonly isComplete: boolean
  /** From the request to the end, and the moment of the end by `performance.now()`. */
  readonly millis: number
  readonly at: number
}

/** After this time an answer counts as lost. */
const lostMillis = 30_000

const agent = new Agent({ keepAlive: true, maxSockets: 8_192, maxFreeSockets: 128 })

/** Closes idle connections. */
export const closeClients = (): void => agent.destroy()

const plain = ({ headers }: IncomingMessage): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))

export const ask = (port: number, { body, headers, path }: Asked): Promise<Heard> =>
  new Promise((resolve) => {
    const started = performance.now()
    const done = (heard: Pick<Heard, "status" | "headers" | "body" | "isComplete">): void => {
      clearTimeout(timer)
      const at = performance.now()
      resolve({ ...heard, millis: at - started, at })
    }
    const outgoing = send({
      host: "127.0.0.1",
      port,
      method: "POST",
      path,
      agent,
      headers: { "content-type": "application/json", "content-length": String(Buffer.byteLength(body)), ...headers }
    })
    const timer = setTimeout(() => outgoing.destroy(new Error("no end in time")), lostMillis)
    outgoing.on("error", (error: NodeJS.ErrnoException) =>
      done({ status: 0, headers: {}, body: error.code ?? error.message, isComplete: false })
    )
    outgoing.on("response", (incoming) => {
      const parts: Array<Buffer> = []
      incoming.on("data", (part: Buffer) => parts.push(part))
      incoming.on("error", () => undefined)
      incoming.on("close", () =>
        done({
          status: incoming.statusCode ?? 0,
          headers: plain(incoming),
          body: Buffer.concat(parts).toString("utf8"),
          isComplete: incoming.complete
        })
      )
    })
    outgoing.end(body)
  })

/** Runs the tasks, so many at a time. */
export const inParallel = async <A>(
  count: number,
  most: number,
  task: (at: number) => Promise<A>
): Promise<ReadonlyArray<A>> => {
  const results: Array<A> = []
  let next = 0
  const worker = async (): Promise<void> => {
    while (next < count) {
      const at = next++
      results[at] = await task(at)
    }
  }
  await Promise.all(Array.from({ length: Math.min(most, count) }, worker))
  return results
}
