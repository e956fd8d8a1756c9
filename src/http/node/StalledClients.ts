// Closes connections whose client has taken nothing for too long of what waits for it.
// It must not depend on what is answered. What the kernel has taken counts as taken by the client.
import type { Server } from "node:http"
import type { Socket } from "node:net"

/** A connection is closed at most a tenth of the limit too late: one look until it counts as stalled, one after the limit. */
const looksPerLimit = 20

/** What a socket had taken, and when a look first found so. */
interface Standing {
  /** Bytes of complete writes. */
  readonly written: number
  /** Bytes of the running write that the kernel has not taken. */
  readonly queued: number
  readonly sinceMillis: number
}

/** The part of a socket that is looked at. */
export interface Writing extends Pick<Socket, "bytesWritten" | "writableLength"> {
  readonly destroy: () => unknown
}

/** A write runs until the kernel has all of it; how much it lacks only Node's own handle knows. */
const queuedBytes = (socket: object): number => {
  const handle: unknown = "_handle" in socket ? socket._handle : undefined
  const known = typeof handle === "object" && handle !== null && "writeQueueSize" in handle
  return known ? Number(handle.writeQueueSize) : 0
}

/** The open connections of a server. */
export class Stalls {
  private readonly limitMillis: number
  private readonly standings = new Map<Writing, Standing | undefined>()

  constructor(limitMillis: number) {
    this.limitMillis = limitMillis
  }

  add(socket: Writing): void {
    this.standings.set(socket, undefined)
  }

  remove(socket: Writing): void {
    this.standings.delete(socket)
  }

  /** Closes what has stood still for the limit. */
  look(nowMillis: number): void {
    // Not for-of, which makes three objects of each entry.
    this.standings.forEach((before, socket) => {
      if (socket.writableLength > 0) this.lookAt(socket, before, nowMillis)
      else if (before !== undefined) this.standings.set(socket, undefined)
    })
  }

  private lookAt(socket: Writing, before: Standing | undefined, nowMillis: number): void {
    const written = socket.bytesWritten - socket.writableLength
    const queued = queuedBytes(socket)
    if (before?.written !== written || before.queued !== queued)
      this.standings.set(socket, { written, queued, sinceMillis: nowMillis })
    else if (nowMillis - before.sinceMillis >= this.limitMillis) socket.destroy()
  }
}

/** One timer for all connections of the server. */
export const closeStalled = (server: Server, limitMillis: number): void => {
  const stalls = new Stalls(limitMillis)
  const timer = setInterval(() => stalls.look(performance.now()), Math.ceil(limitMillis / looksPerLimit))
  timer.unref()
  server.once("close", () => clearInterval(timer))
  server.on("connection", (socket: Socket) => {
    stalls.add(socket)
    socket.on("close", () => stalls.remove(socket))
  })
}
