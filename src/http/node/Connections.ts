// The connections of a Node server: their bound, the order of their requests, unread and broken requests, stalled and waiting clients.
// It must not depend on what is answered, or on the words of a refusal.
import type { IncomingMessage, Server, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import { Server as TlsServer } from "node:tls"
import type { Duplex } from "node:stream"
import { endsConnection, hasBegun, keepFromNode, queuedBytes, responseOnSocket } from "./NodeMarks.ts"

/** The open connections of a process, on all of its servers. */
export interface OpenConnections {
  count: number
}

/** Most connections beyond the bound that are read until their client has its refusal. */
const mostSpare = 64

/** The event of a connection on which requests come: under TLS the one after the handshake. */
const connected = (server: Server): "connection" | "secureConnection" =>
  server instanceof TlsServer ? "secureConnection" : "connection"

/** How many connections are open beyond the bound, for refusals and for operators. */
export const spareConnections = (most: number): number => Math.min(mostSpare, Math.floor(most / 4))

/**
 * Refuses connections beyond `most`. One that is closed with unread bytes may lose its answer on the way, so a few are
 * read for a moment. Further ones are closed before the kernel hands over the next, so that descriptors never run out.
 */
export const boundConnections = (server: Server, open: OpenConnections, most: number, refusal: () => string): void => {
  const spare = spareConnections(most)
  const refuse = (socket: Socket): void => {
    if (open.count > most + spare) {
      socket.write(refusal())
      socket.destroy()
      return
    }
    socket.end(refusal())
    destroyLater(socket)
  }
  const isSecure = connected(server) === "secureConnection"
  server.on("connection", (socket: Socket) => {
    open.count++
    socket.on("close", () => open.count--)
    // A refusal can be read after the handshake only.
    if (isSecure && open.count > most + spare) socket.destroy()
    else if (!isSecure && open.count > most) refuse(socket)
  })
  if (isSecure)
    server.on("secureConnection", (socket: Socket) => {
      if (open.count > most) refuse(socket)
    })
}

// The requests that a client sends on one connection without waiting for answers: they are worked on one after the other.

/** The requests of one socket that wait. */
class Line {
  private readonly socket: Duplex
  private readonly most: number
  private count = 0
  private isPaused = false

  constructor(socket: Duplex, most: number) {
    this.socket = socket
    this.most = most
    // Node resumes the socket for the body of the request that is worked on; this listener runs after Node's own.
    socket.on("resume", () => {
      if (this.isPaused) socket.pause()
    })
  }

  /**
   * The socket is read up to `most` waiting requests, and to the end of the read that has them. While it is not read, a
   * client that leaves is noticed at the next write.
   */
  join(response: ServerResponse, start: () => void): void {
    this.count++
    if (this.count >= this.most && !this.isPaused) {
      this.isPaused = true
      this.socket.pause()
    }
    // Node gives each answer the socket in turn. A connection that closes before starts none of the rest.
    response.once("socket", () => {
      this.count--
      if (this.isPaused && this.count < this.most) {
        this.isPaused = false
        this.socket.resume()
      }
      start()
    })
  }
}

/** Starts each request when the answers before it on its connection are complete. `most` may wait. */
export const pipelined = (
  most: number
): ((message: IncomingMessage, response: ServerResponse, start: () => void) => void) => {
  const lines = new WeakMap<Duplex, Line>()
  return ({ socket }, response, start) => {
    if (response.socket !== null || responseOnSocket(socket) === undefined) return start()
    const line = lines.get(socket) ?? new Line(socket, most)
    lines.set(socket, line)
    line.join(response, start)
  }
}

// Refuses bytes that are no request, after the answers to the requests before them on their connection.

/** Writes the refusal as the last answer of the connection. */
const refuseLast = (socket: Duplex, refusal: string): void => {
  const response = responseOnSocket(socket)
  // The broken bytes belong to a later request than one that has arrived whole. Node gives its answer the socket first.
  if (socket.writable && response?.req.complete === true) {
    response.once("close", () => refuseLast(socket, refusal))
    return
  }
  if (!socket.writable || (response !== undefined && hasBegun(response))) {
    socket.destroy()
    return
  }
  socket.end(refusal)
  destroyLater(socket)
}

/** Refuses the first broken bytes of each socket. Node reports every read after them as well. */
export const refusingBroken = (): ((socket: Duplex, refusal: () => string) => void) => {
  const refused = new WeakSet<Duplex>()
  return (socket, refusal) => {
    if (refused.has(socket)) return
    refused.add(socket)
    refuseLast(socket, refusal())
  }
}

// What becomes of the rest of a body whose request is answered before all of it has come.

/** How much of an unread body is taken in to keep the connection. */
const mostDrained = 256 * 1024

/** How long a client may take to read its answer before the socket is destroyed. */
const graceMillis = 500

/**
 * True when the answer closes its connection, because the rest of the body is too large to be taken in, or the client
 * waits for a word before it sends it.
 */
export const closesConnection = (request: IncomingMessage): boolean =>
  !request.complete &&
  (request.headers.expect !== undefined || Number(request.headers["content-length"] ?? 0) > mostDrained)

/** Destroys a socket that a client keeps open after its last answer. */
const destroyLater = (socket: Duplex): void => {
  const timer = setTimeout(() => socket.destroy(), graceMillis)
  socket.once("close", () => clearTimeout(timer))
}

/** Ends the connection, and reads on for a while: a socket that is destroyed with unread bytes takes the answer with it. */
const closeGently = (socket: Duplex): void => {
  if (socket.destroyed) return
  socket.end()
  destroyLater(socket)
}

/**
 * Takes in a bounded rest of the body once its answer is written. Node would take in any amount of it, or destroy the
 * socket before the client has read its answer.
 */
export const boundUnreadBody = (request: IncomingMessage, response: ServerResponse): void => {
  // Before Node's own listener.
  response.prependListener("finish", () => {
    if (request.complete || request.destroyed) return
    const { socket } = request
    if (endsConnection(response)) {
      keepFromNode(request, response)
      return closeGently(socket)
    }
    let bytes = 0
    request.on("data", (part: Buffer) => {
      bytes += part.length
      if (bytes <= mostDrained) return
      request.pause()
      closeGently(socket)
    })
    request.resume()
  })
}

// Closes connections whose client has taken nothing for too long of what waits for it.

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
  server.on(connected(server), (socket: Socket) => {
    stalls.add(socket)
    socket.on("close", () => stalls.remove(socket))
  })
}

// The open connections of a server that stops: which of them it need not wait for.

/** A client that has just connected may be about to send. */
const silentMillis = 1000

/** The open connections of a server. */
export class WaitingConnections {
  private readonly server: Server
  private readonly openedAt = new Map<Socket, number>()

  constructor(server: Server) {
    this.server = server
    server.on(connected(server), (socket: Socket) => {
      this.openedAt.set(socket, performance.now())
      socket.on("close", () => this.openedAt.delete(socket))
    })
  }

  /**
   * To be called again and again while the server stops. Closes connections on which nothing has come for a second,
   * which are no idle ones to Node, and idle ones. To Node one is idle too when its client still takes an answer that
   * has been written, so idle ones are left open until all clients have taken theirs.
   */
  close(): void {
    const now = performance.now()
    let isTaking = false
    for (const [socket, openedAt] of this.openedAt) {
      if (socket.bytesRead === 0 && now - openedAt >= silentMillis) socket.destroy()
      isTaking ||= socket.writableLength > 0
    }
    if (!isTaking) this.server.closeIdleConnections()
  }
}
