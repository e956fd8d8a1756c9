// Slots and bytes that running requests hold, shared fairly by the keys they belong to.
// It must not know HTTP, or what the bytes are.
import type { Room, Shortage } from "../domain/Room.ts"

/** What is held: requests that run, and bytes of bodies, of their translations and of replies. */
interface Held {
  requests: number
  bytes: number
}
export type Resource = keyof Held

export interface Capacity extends Readonly<Held> {
  /** This percentage of each is only for keys that hold no more than their fair share. */
  readonly keptPercent: number
}

/** A slot is refused by the limit of the key itself, by its share, or because all slots are taken. */
export type SlotRefused = "limit" | Shortage

/**
 * Any key may take what is free. The last part is kept for keys that hold no more than their fair share, which is the
 * capacity divided by the keys that hold something and one newcomer. So one key never takes everything.
 */
export class FairShares {
  private readonly capacity: Capacity
  /** The part of the capacity that is kept for keys below their share. */
  private readonly kept: Readonly<Held>
  private readonly all: Held = { requests: 0, bytes: 0 }
  private readonly byKey = new Map<string, Held>()
  private readonly refused: (resource: Resource) => void

  /** `refused` is called when a key is refused for what it holds itself. */
  constructor(capacity: Capacity, refused: (resource: Resource) => void) {
    this.capacity = capacity
    const keptOf = (amount: number): number => Math.floor((amount * capacity.keptPercent) / 100)
    this.kept = { requests: keptOf(capacity.requests), bytes: keptOf(capacity.bytes) }
    this.refused = refused
  }

  /** A slot for a request, to be ended once; `most` is how many requests of this key may run at once. */
  enter(keyId: string, most?: number): RequestHold | SlotRefused {
    const known = this.byKey.get(keyId)
    const held = known ?? { requests: 0, bytes: 0 }
    if (most !== undefined && held.requests >= most) {
      this.refused("requests")
      return "limit"
    }
    const shortage = this.shortage("requests", held, 1)
    if (shortage !== undefined) return shortage
    if (known === undefined) this.byKey.set(keyId, held)
    held.requests++
    this.all.requests++
    return new RequestHold(this, keyId, held)
  }

  take(held: Held, bytes: number): Shortage | undefined {
    const shortage = this.shortage("bytes", held, bytes)
    if (shortage !== undefined) return shortage
    held.bytes += bytes
    this.all.bytes += bytes
    return undefined
  }

  give(held: Held, bytes: number): void {
    held.bytes -= bytes
    this.all.bytes -= bytes
  }

  leave(keyId: string, held: Held): void {
    this.all.requests--
    if (--held.requests === 0) this.byKey.delete(keyId)
  }

  /** What all requests hold now. */
  get total(): Readonly<Held> {
    return this.all
  }

  private shortage(resource: Resource, held: Held, amount: number): Shortage | undefined {
    const capacity = this.capacity[resource]
    const free = capacity - this.all[resource] - amount
    if (free >= this.kept[resource]) return undefined
    const newcomers = held.requests === 0 ? 2 : 1
    if (held[resource] > capacity / (this.byKey.size + newcomers)) {
      this.refused(resource)
      return "key"
    }
    return free < 0 ? "all" : undefined
  }
}

/** What one request holds: its slot, and bytes of memory. */
export class RequestHold implements Room {
  private readonly shares: FairShares
  private readonly keyId: string
  private readonly held: Held
  private bytes = 0

  constructor(shares: FairShares, keyId: string, held: Held) {
    this.shares = shares
    this.keyId = keyId
    this.held = held
  }

  take(bytes: number): Shortage | undefined {
    const shortage = this.shares.take(this.held, bytes)
    if (shortage === undefined) this.bytes += bytes
    return shortage
  }

  give(bytes: number): void {
    this.bytes -= bytes
    this.shares.give(this.held, bytes)
  }

  /** Releases all of it; to be called once. */
  end(): void {
    this.shares.give(this.held, this.bytes)
    this.shares.leave(this.keyId, this.held)
  }
}
