// Concurrency and memory limits across keys: running requests and their bytes are shared fairly between gateway keys.
// It must not know HTTP, what the bytes contain, or how processes that count together talk.
import type { Room, Shortage } from "../domain/RequestContext.ts"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"

/** Running requests, and the bytes of their bodies, translations and replies. */
interface Holding {
  requests: number
  bytes: number
}
export type Resource = keyof Holding

export interface Capacity extends Readonly<Holding> {
  /** The percentage of each that is reserved for keys below their fair share. */
  readonly keptPercent: number
}

/** A request is refused by the key's own limit, by its fair share, or because all slots or the memory are taken. */
export type SlotRefused = "limit" | Shortage

/**
 * Any key may use free capacity. The last part is reserved for keys at or below their fair share. The fair share is the
 * capacity divided by the keys with running requests and one newcomer. So no key ever takes everything.
 */
export class FairShares {
  private readonly capacity: Capacity
  /** The part of the capacity that is reserved for keys below their share. */
  private readonly reserve: Readonly<Holding>
  private readonly all: Holding = { requests: 0, bytes: 0 }
  private readonly byKey = new Map<string, Holding>()
  /** Counts a refusal of a key for its own usage. */
  readonly refused: (resource: Resource) => void
  private readonly isFull: (isBusy: boolean) => boolean

  /**
   * `refused` is called when a key is refused for its own usage. No request enters while `isFull` returns true; its
   * argument is whether any runs.
   */
  constructor(
    capacity: Capacity,
    refused: (resource: Resource) => void,
    isFull: (isBusy: boolean) => boolean = () => false
  ) {
    this.capacity = capacity
    this.isFull = isFull
    const reserveOf = (amount: number): number => Math.floor((amount * capacity.keptPercent) / 100)
    this.reserve = { requests: reserveOf(capacity.requests), bytes: reserveOf(capacity.bytes) }
    this.refused = refused
  }

  /** Reserves a slot for a request, to be ended once; `most` limits the running requests of this key. */
  enter(keyId: string, most?: number): RequestHold | SlotRefused {
    const known = this.byKey.get(keyId)
    const holding = known ?? { requests: 0, bytes: 0 }
    if (most !== undefined && holding.requests >= most) {
      this.refused("requests")
      return "limit"
    }
    if (this.isFull(this.all.requests > 0)) return "all"
    const shortage = this.shortage("requests", holding, 1)
    if (shortage !== undefined) return shortage
    if (known === undefined) this.byKey.set(keyId, holding)
    holding.requests++
    this.all.requests++
    return new RequestHold(this, keyId, holding)
  }

  take(holding: Holding, bytes: number): Shortage | undefined {
    const shortage = this.shortage("bytes", holding, bytes)
    if (shortage !== undefined) return shortage
    holding.bytes += bytes
    this.all.bytes += bytes
    return undefined
  }

  give(holding: Holding, bytes: number): void {
    holding.bytes -= bytes
    this.all.bytes -= bytes
  }

  leave(keyId: string, holding: Holding): void {
    this.all.requests--
    if (--holding.requests === 0) this.byKey.delete(keyId)
  }

  /** The current usage of all requests. */
  get total(): Readonly<Holding> {
    return this.all
  }

  private shortage(resource: Resource, holding: Holding, amount: number): Shortage | undefined {
    const capacity = this.capacity[resource]
    const free = capacity - this.all[resource] - amount
    if (free >= this.reserve[resource]) return undefined
    const newcomers = holding.requests === 0 ? 2 : 1
    if (holding[resource] > capacity / (this.byKey.size + newcomers)) {
      this.refused(resource)
      return "key"
    }
    return free < 0 ? "all" : undefined
  }
}

/** The usage of one request: its slot, and bytes of memory. */
export class RequestHold implements Room {
  private readonly shares: FairShares
  private readonly keyId: string
  private readonly holding: Holding
  private bytes = 0
  private bodyBytes = 0
  /** Runs at the end: frees the slot that other processes see. */
  freeShared: (() => void) | undefined

  constructor(shares: FairShares, keyId: string, holding: Holding) {
    this.shares = shares
    this.keyId = keyId
    this.holding = holding
  }

  get size(): number {
    return this.bytes
  }

  take(bytes: number): Shortage | undefined {
    const shortage = this.shares.take(this.holding, bytes)
    if (shortage === undefined) this.bytes += bytes
    return shortage
  }

  give(bytes: number): void {
    this.bytes -= bytes
    this.shares.give(this.holding, bytes)
  }

  /** Reserves bytes for the body of the request. */
  takeBody(bytes: number): Shortage | undefined {
    const shortage = this.take(bytes)
    if (shortage === undefined) this.bodyBytes += bytes
    return shortage
  }

  /** Releases them, once nothing refers to the body any more. */
  giveBody(): void {
    this.give(this.bodyBytes)
    this.bodyBytes = 0
  }

  /** Releases the slot and all bytes; to be called once. */
  end(): void {
    this.shares.give(this.holding, this.bytes)
    this.shares.leave(this.keyId, this.holding)
    this.freeShared?.()
  }
}

// The slots of keys with a limit of running requests, where several processes count them together.

export interface SharedSlots {
  /** Takes a slot. Succeeds with the function that frees it, or with undefined when all slots are taken. */
  readonly enter: (keyId: string, most: number) => Effect.Effect<(() => void) | undefined>
}

export const SharedSlots: Context.Reference<SharedSlots | undefined> = Context.Reference<SharedSlots | undefined>(
  "gateway/keys/SharedSlots",
  { defaultValue: () => undefined }
)
