// The sockets of the connection pool: those that rested since the last look are closed beyond a bound.
// Must not know the HTTP client library, or what is called.
import type { Socket } from "node:net"

/** A connection of the pool, with the number of its requests. */
interface Owner {
  readonly stats: { readonly size: number }
}

interface Kept {
  readonly owner: Owner
  readonly socket: Socket
  /** Bytes that the socket had sent by the last look. */
  sent: number
}

/** A socket that nothing used from one look to the next is idle; it serves no burst. */
const lookMillis = 1_000

export class IdleSockets {
  private readonly open = new Set<Kept>()
  private readonly most: number
  private readonly timer: NodeJS.Timeout

  constructor(most: number) {
    this.most = most
    this.timer = setInterval(() => this.look(), lookMillis)
    this.timer.unref()
  }

  add(owner: Owner, socket: Socket): void {
    const kept = { owner, socket, sent: -1 }
    this.open.add(kept)
    socket.on("close", () => this.open.delete(kept))
  }

  /** Destroys the idle sockets beyond the bound, the newest first: the pool uses the oldest first. */
  look(): void {
    let idle = 0
    // Not for-of, which makes an object of each entry.
    this.open.forEach((kept) => {
      const { owner, sent, socket } = kept
      kept.sent = socket.bytesWritten
      if (sent === kept.sent && owner.stats.size === 0 && ++idle > this.most) socket.destroy()
    })
  }

  close(): void {
    clearInterval(this.timer)
  }
}
