// A TCP relay in front of a server: a test lets bytes pass, holds or delays them, or cuts and refuses connections.
// Must not depend on the meaning of the bytes.
import { connect, createServer, type Socket } from "node:net"

export interface Relay {
  readonly port: number
  /** All that clients have sent since the relay began, whether or not it passed. */
  readonly sent: () => string
  /** The highest number of simultaneous connections. */
  readonly peak: () => number
  /** Holds what is sent either way from now on. */
  readonly stall: () => void
  /** Lets everything arrive so much later. */
  readonly delay: (millis: number) => void
  /** Ends every connection, and each new one immediately. */
  readonly cut: () => void
  /** Ends every connection; new ones are served. */
  readonly reset: () => void
  /** Lets everything pass again, what was held first. */
  readonly heal: () => void
  readonly close: () => Promise<void>
}

export const startRelay = async (host: string, port: number): Promise<Relay> => {
  const sockets = new Set<Socket>()
  let sent = ""
  let peak = 0
  let refuses = false
  /** What bytes wait for before they pass. */
  let wait: () => Promise<unknown> | undefined = () => undefined
  let heal = () => {}
  const impede = (next: (healed: Promise<void>) => () => Promise<unknown>) => {
    const healed = new Promise<void>((resolve) => {
      heal = resolve
    })
    wait = next(healed)
  }
  /** In order, each piece by the rule of when it came. */
  const pass = (from: Socket, to: Socket) => {
    let before: Promise<unknown> = Promise.resolve()
    from.on("data", (bytes: Buffer) => {
      const own = wait()
      before = before.then(() => own).then(() => to.write(bytes))
    })
  }
  const server = createServer((client) => {
    if (refuses) return void client.resetAndDestroy()
    const upstream = connect(port, host)
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client]
    ] as const) {
      sockets.add(socket)
      socket.on("error", () => undefined)
      socket.on("close", () => {
        sockets.delete(socket)
        other.destroy()
      })
    }
    peak = Math.max(peak, sockets.size / 2)
    client.on("data", (bytes: Buffer) => {
      sent += bytes.toString("latin1")
    })
    pass(client, upstream)
    pass(upstream, client)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  const reset = () => sockets.forEach((socket) => socket.destroy())
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    sent: () => sent,
    peak: () => peak,
    stall: () => impede((healed) => () => healed),
    delay: (millis) =>
      impede((healed) => () => Promise.race([healed, new Promise((resolve) => setTimeout(resolve, millis).unref())])),
    cut: () => {
      refuses = true
      reset()
    },
    reset,
    heal: () => {
      refuses = false
      wait = () => undefined
      heal()
    },
    close: () => {
      reset()
      return new Promise((resolve) => server.close(() => resolve()))
    }
  }
}
