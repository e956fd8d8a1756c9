// The bound on open connections: one beyond it is answered with a refusal, and closed.
// It must not depend on requests, or on the words of the refusal.
import type { Server } from "node:http"
import type { Socket } from "node:net"
import { destroyLater } from "./UnreadBody.ts"

/** The open connections of a process, on all of its servers. */
export interface OpenConnections {
  count: number
}

/** Most connections beyond the bound that are read until their client has its refusal. */
const mostSpare = 64

/** How many connections are open beyond the bound, for refusals and for operators. */
export const spareConnections = (most: number): number => Math.min(mostSpare, Math.floor(most / 4))

/**
 * Refuses connections beyond `most`. One that is closed with unread bytes may lose its answer on the way, so a few are
 * read for a moment. Further ones are closed before the kernel hands over the next, so that descriptors never run out.
 */
export const boundConnections = (server: Server, open: OpenConnections, most: number, refusal: () => string): void => {
  const spare = spareConnections(most)
  server.on("connection", (socket: Socket) => {
    open.count++
    socket.on("close", () => open.count--)
    if (open.count <= most) return
    if (open.count > most + spare) {
      socket.write(refusal())
      socket.destroy()
      return
    }
    socket.end(refusal())
    destroyLater(socket)
  })
}
