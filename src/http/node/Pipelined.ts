// The requests that a client sends on one connection without waiting for answers: they are worked on one after the other.
// It must not depend on what is answered.
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Duplex } from "node:stream"

/** The answer a socket is there for, be it not begun; null for none. Read as Node's own handler does. */
export const messageOf = (socket: Duplex): object | null => {
  const message: unknown = "_httpMessage" in socket ? socket._httpMessage : undefined
  return typeof message === "object" ? message : null
}

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
    if (response.socket !== null || messageOf(socket) === null) return start()
    const line = lines.get(socket) ?? new Line(socket, most)
    lines.set(socket, line)
    line.join(response, start)
  }
}
