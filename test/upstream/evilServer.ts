// Runs loopback servers that misbehave as a test requires; every socket is counted and closed with the scope.
// Must not depend on the gateway.
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Http from "node:http"
import * as Net from "node:net"
import * as Tls from "node:tls"
import { Worker } from "node:worker_threads"
import { within } from "../support/eventually.ts"

export interface EvilServer {
  readonly url: string
  /** Sockets accepted so far. */
  readonly accepted: () => number
  /** Sockets that are open. */
  readonly open: () => number
  /** Resolves when the n-th accepted socket has closed. */
  readonly closed: (n: number) => Promise<void>
  /** Resolves when n sockets have been accepted. */
  readonly connected: (n: number) => Promise<void>
}

const listen = (server: Net.Server): Effect.Effect<EvilServer, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.promise(() => {
      const sockets: Array<Net.Socket> = []
      const closings: Array<Promise<void>> = []
      const waiting: Array<() => void> = []
      let open = 0
      server.on("connection", (socket) => {
        sockets.push(socket)
        open++
        socket.once("close", () => open--)
        closings.push(new Promise((resolve) => socket.once("close", () => resolve())))
        socket.on("error", () => {})
        for (const wake of waiting.splice(0)) wake()
      })
      const accept = async (n: number) => {
        while (sockets.length < n) await new Promise<void>((resolve) => waiting.push(resolve))
      }
      const connected = (n: number) => within(`${n} accepted sockets`, accept(n))
      return new Promise<EvilServer & { readonly stop: () => Promise<void> }>((resolve) =>
        server.listen(0, "127.0.0.1", () => {
          const address = server.address()
          const port = typeof address === "object" && address !== null ? address.port : 0
          resolve({
            url: `http://127.0.0.1:${port}`,
            accepted: () => sockets.length,
            open: () => open,
            connected,
            closed: async (n) => {
              await connected(n)
              await within(`socket ${n} to close`, Promise.resolve(closings[n - 1]))
            },
            stop: () =>
              new Promise((done) => {
                server.close(() => done())
                for (const socket of sockets) socket.destroy()
              })
          })
        })
      )
    }),
    (made) => Effect.promise(made.stop)
  )

/** A raw TCP server; the handler gets every socket and its number. */
export const netServer = (
  onSocket: (socket: Net.Socket, n: number) => void
): Effect.Effect<EvilServer, never, Scope.Scope> => {
  let n = 0
  return listen(Net.createServer((socket) => onSocket(socket, ++n)))
}

/** Runs the answer once a whole request: head and body may come in several pieces. */
const answering = (answer: (socket: Net.Socket, request: string, n: number) => void) => {
  let n = 0
  return (socket: Net.Socket): void => {
    let seen = ""
    socket.on("data", (data) => {
      seen += data.toString("latin1")
      const end = seen.indexOf("\r\n\r\n")
      const length = Number(/content-length: (\d+)/i.exec(seen)?.[1] ?? 0)
      if (end < 0 || seen.length < end + 4 + length) return
      const request = seen
      seen = ""
      answer(socket, request, ++n)
    })
  }
}

/** A raw server that runs the answer once a whole request. */
export const rawServer = (
  answer: (socket: Net.Socket, request: string, n: number) => void
): Effect.Effect<EvilServer, never, Scope.Scope> => netServer(answering(answer))

/** An ordinary HTTP server. */
export const httpServer = (handler: Http.RequestListener): Effect.Effect<EvilServer, never, Scope.Scope> =>
  listen(Http.createServer({ keepAliveTimeout: 60_000 }, handler))

/** A port without a listener. */
export const closedPort: Effect.Effect<string> = Effect.promise(
  () =>
    new Promise((resolve) => {
      const server = Net.createServer()
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        const port = typeof address === "object" && address !== null ? address.port : 0
        server.close(() => resolve(`http://127.0.0.1:${port}`))
      })
    })
)

/** A TLS server with a raw answer to each whole request inside TLS; sockets are counted before their handshake. */
export const tlsServer = (
  certificate: Tls.TlsOptions,
  answer: (socket: Net.Socket) => void
): Effect.Effect<EvilServer, never, Scope.Scope> => {
  const answered = answering(answer)
  return Effect.map(
    listen(
      Tls.createServer(certificate, (socket) => {
        socket.on("error", () => {})
        answered(socket)
      })
    ),
    (server) => ({ ...server, url: server.url.replace("http://127.0.0.1", "https://localhost") })
  )
}

/** Listens in a thread that then blocks, so that only the kernel accepts connections, up to the length of its queue. */
const standstill = `
const { parentPort, workerData } = require("node:worker_threads")
const server = require("node:net").createServer()
server.listen({ port: 0, host: "127.0.0.1", backlog: 1 }, () => {
  parentPort.postMessage(server.address().port)
  Atomics.wait(workerData, 0, 0)
})`

/** A listener whose queue is full: the SYN of a further connection gets no answer. */
export const fullBacklog: Effect.Effect<string, never, Scope.Scope> = Effect.map(
  Effect.acquireRelease(
    Effect.promise(async () => {
      const worker = new Worker(standstill, { eval: true, workerData: new Int32Array(new SharedArrayBuffer(4)) })
      const port = await new Promise<number>((resolve) => worker.once("message", resolve))
      const waiting = await Promise.all(
        [1, 2].map(
          () =>
            new Promise<Net.Socket>((resolve) => {
              const socket = Net.connect({ port, host: "127.0.0.1" }, () => resolve(socket))
              socket.on("error", () => {})
            })
        )
      )
      return { url: `http://127.0.0.1:${port}`, waiting, worker }
    }),
    ({ waiting, worker }) =>
      Effect.promise(async () => {
        for (const socket of waiting) socket.destroy()
        await worker.terminate()
      })
  ),
  ({ url }) => url
)
