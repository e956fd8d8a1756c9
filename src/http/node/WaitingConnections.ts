// The open connections of a server that stops: which of them it need not wait for.
// It must not depend on requests or on the order of a shutdown.
import type { Server } from "node:http"
import type { Socket } from "node:net"

/** A client that has just connected may be about to send. */
const silentMillis = 1000

/** The open connections of a server. */
export class WaitingConnections {
  private readonly server: Server
  private readonly openedAt = new Map<Socket, number>()

  constructor(server: Server) {
    this.server = server
    server.on("connection", (socket: Socket) => {
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
