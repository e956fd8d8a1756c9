// Sends one request over a socket and reads everything that comes back.
// Must not know the request or the expected answer.
import { Agent, request as send } from "node:http"
import { connect } from "node:net"

export interface Request {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array | undefined
  /** Closes the connection after this many bytes of the answer. */
  readonly leaveAfter?: number | undefined
}

export interface Answer {
  /** 0 when no status line was received. */
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly millis: number
}

/** Time limit in milliseconds, after which an answer counts as lost. */
const lostMillis = 30_000
/** Bytes of an answer that are kept. */
const keptBytes = 2 ** 20

const agent = new Agent({ keepAlive: true, maxSockets: 256, maxFreeSockets: 64 })

/** Closes idle connections. */
export const closeIdleSockets = (): void => agent.destroy()

const plain = (headers: NodeJS.Dict<string | Array<string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))

export const call = (port: number, { body, headers, leaveAfter, method, path }: Request): Promise<Answer> =>
  new Promise((resolve) => {
    const started = performance.now()
    const done = (status: number, headers: Answer["headers"], body: string): void => {
      clearTimeout(timer)
      resolve({ status, headers, body, millis: performance.now() - started })
    }
    const outgoing = send({ host: "127.0.0.1", port, method, path, headers, agent })
    const timer = setTimeout(() => outgoing.destroy(new Error("lost")), lostMillis)
    outgoing.on("error", (error: NodeJS.ErrnoException) =>
      done(0, {}, error.message === "lost" ? "lost" : (error.code ?? error.message))
    )
    outgoing.on("response", (incoming) => {
      const { statusCode = 0 } = incoming
      let text = ""
      let bytes = 0
      const end = (): void => done(statusCode, plain(incoming.headers), text)
      incoming.setEncoding("utf8")
      incoming.on("data", (part: string) => {
        bytes += part.length
        if (text.length < keptBytes) text += part
        if (leaveAfter !== undefined && bytes >= leaveAfter) {
          incoming.destroy()
          end()
        }
      })
      incoming.on("end", end)
      incoming.on("error", end)
      incoming.on("close", end)
    })
    outgoing.end(body)
  })

/** Sends these bytes unchanged and reads until the other side closes or the time is over. */
export const sendBytes = (port: number, parts: ReadonlyArray<string | Uint8Array>, millis = 2_500): Promise<Answer> =>
  new Promise((resolve) => {
    const started = performance.now()
    let text = ""
    const socket = connect({ port, host: "127.0.0.1" }, () => {
      for (const part of parts) socket.write(part)
      socket.end()
    })
    const timer = setTimeout(() => socket.destroy(), millis)
    socket.setEncoding("utf8")
    socket.on("data", (part: string) => (text += part))
    socket.on("error", () => undefined)
    socket.on("close", () => {
      clearTimeout(timer)
      const [head = "", ...rest] = text.replace(/^HTTP\/1\.1 100 Continue\r\n\r\n/, "").split("\r\n\r\n")
      const [status = "", ...lines] = head.split("\r\n")
      resolve({
        status: Number(/^HTTP\/1\.[01] (\d{3})/.exec(status)?.[1] ?? 0),
        headers: Object.fromEntries(
          lines.map((line) => [
            line.slice(0, line.indexOf(":")).toLowerCase(),
            line.slice(line.indexOf(":") + 1).trim()
          ])
        ),
        body: rest.join("\r\n\r\n"),
        millis: performance.now() - started
      })
    })
  })
