// Bounded collections: a memo of a pure function, a map and slots shared fairly by many owners, a list of what runs.
// It must not know what an entry or an owner is, and it must not read a clock.

/** Clients choose the texts, so the cache is bounded. A full cache is cleared. */
const most = 512
/** Results for longer texts are not cached. */
const longest = 1024

/** Returns cached results. `work` must be pure, and callers must not change its results. */
export const memoizeBounded = <A>(work: (text: string) => A): ((text: string) => A) => {
  const known = new Map<string, A>()
  return (text) => {
    const cached = known.get(text)
    if (cached !== undefined) return cached
    const answer = work(text)
    if (text.length > longest) return answer
    if (known.size >= most) known.clear()
    known.set(text, answer)
    return answer
  }
}

// A bounded map shared by many owners: the owner with the most entries loses its oldest ones first.

interface Held<A> {
  readonly owner: string
  readonly value: A
  readonly weight: number
}

/** The names of an owner's entries, oldest first, and their total weight. */
interface Holding {
  readonly names: Set<string>
  weight: number
}

export class FairEntries<A> {
  private readonly most: number
  private readonly mostWeight: number
  private readonly entries = new Map<string, Held<A>>()
  private readonly owners = new Map<string, Holding>()
  private weight = 0
  /** The owner that last held the most. It is cached while it holds more than its share. */
  private heaviest = ""

  /** `mostWeight` bounds the total weight; entries weigh 0 unless `set` is given a weight. */
  constructor(most: number, mostWeight = 1) {
    this.most = most
    this.mostWeight = mostWeight
  }

  get(name: string): A | undefined {
    return this.entries.get(name)?.value
  }

  get size(): number {
    return this.entries.size
  }

  /** The entry that was added first. */
  get oldest(): readonly [name: string, value: A] | undefined {
    for (const [name, { value }] of this.entries) return [name, value]
    return undefined
  }

  /** In the order in which they were added. */
  *values(): Generator<A> {
    for (const { value } of this.entries.values()) yield value
  }

  /** False when the map is full and this owner has its even share: another entry would evict one of its own. */
  mayAdd(owner: string): boolean {
    const others = this.owners.size + (this.owners.has(owner) ? 0 : 1)
    return this.entries.size < this.most || this.share(this.owners.get(owner)) * others < 1
  }

  /** Adds the entry as the latest. While a bound is exceeded, the owner with the most loses its oldest entry. */
  set(owner: string, name: string, value: A, weight = 0): void {
    this.delete(name)
    this.entries.set(name, { owner, value, weight })
    this.weight += weight
    const holding = this.owners.get(owner)
    if (holding === undefined) this.owners.set(owner, { names: new Set([name]), weight })
    else {
      holding.names.add(name)
      holding.weight += weight
    }
    while (this.entries.size > this.most || this.weight > this.mostWeight) {
      const [first] = this.owners.get(this.crowding(owner))?.names ?? []
      if (first === undefined) return
      this.delete(first)
    }
  }

  /** Deletes every entry for which `isOver` is true. */
  prune(isOver: (value: A) => boolean): void {
    for (const [name, { value }] of this.entries) if (isOver(value)) this.delete(name)
  }

  delete(name: string): void {
    const entry = this.entries.get(name)
    if (entry === undefined) return
    this.entries.delete(name)
    this.weight -= entry.weight
    const holding = this.owners.get(entry.owner)
    if (holding === undefined) return
    holding.names.delete(name)
    holding.weight -= entry.weight
    if (holding.names.size === 0) this.owners.delete(entry.owner)
  }

  /** The owner's part of the capacity from 0 to 1, by number or by weight, whichever is larger. */
  private share(holding: Holding | undefined): number {
    return holding === undefined ? 0 : Math.max(holding.names.size / this.most, holding.weight / this.mostWeight)
  }

  private isCrowding(owner: string): boolean {
    return this.share(this.owners.get(owner)) * this.owners.size > 1
  }

  /**
   * An owner above its even share; one exists whenever a bound is exceeded. The result is cached, so one scan of the
   * owners serves many evictions.
   */
  private crowding(latest: string): string {
    if (this.isCrowding(latest)) return latest
    if (this.isCrowding(this.heaviest)) return this.heaviest
    let most = 0
    for (const [owner, holding] of this.owners) {
      const share = this.share(holding)
      if (share > most) {
        most = share
        this.heaviest = owner
      }
    }
    return this.heaviest
  }
}

// A bounded number of slots that many owners wait for: the last part is for owners below their share, the rest for any.

/** Waits for a slot; `start` is called once, when the slot is taken. */
interface Waiting {
  readonly start: () => void
}

interface Owner {
  running: number
  readonly waiting: Set<Waiting>
}

export class FairSlots {
  private readonly most: number
  private readonly reserved: number
  private readonly owners = new Map<string, Owner>()
  private running = 0

  /** `keptPercent` of the slots stay free for owners that have less than an even part of all. */
  constructor(most: number, keptPercent: number) {
    this.most = most
    this.reserved = Math.floor((most * keptPercent) / 100)
  }

  /** Takes a slot now or once one is free. The result gives it back, or ends the wait; to be called once. */
  enter(name: string, start: () => void): () => void {
    const owner = this.owners.get(name) ?? { running: 0, waiting: new Set() }
    this.owners.set(name, owner)
    const waiting: Waiting = { start }
    owner.waiting.add(waiting)
    this.fill()
    return () => {
      if (!owner.waiting.delete(waiting)) {
        owner.running--
        this.running--
      }
      if (owner.running === 0 && owner.waiting.size === 0) this.owners.delete(name)
      this.fill()
    }
  }

  /** Each free slot goes to the waiting owner with the fewest, and of these to the one that came first. */
  private fill(): void {
    for (;;) {
      let next: Owner | undefined
      for (const owner of this.owners.values())
        if (owner.waiting.size > 0 && (next === undefined || owner.running < next.running)) next = owner
      const [first] = next?.waiting ?? []
      if (next === undefined || first === undefined || !this.mayStart(next)) return
      next.waiting.delete(first)
      next.running++
      this.running++
      first.start()
    }
  }

  /** The even part counts one owner more than there are, so that a newcomer finds a slot. */
  private mayStart({ running }: Owner): boolean {
    const free = this.most - this.running
    return free > this.reserved || (free > 0 && running < Math.max(1, Math.floor(this.most / (this.owners.size + 1))))
  }
}

// A list of what runs at the moment, where each entry leaves by itself and in any order.

/** An entry's place, which its owner keeps to take it out again. */
export interface Place<A> {
  readonly value: A
  /** Negative once it is out. */
  at: number
}

/**
 * A `Set` of what comes and goes with each request keeps its entries alive longer than they live: its replaced tables
 * refer to the next one, so one of them in the old generation keeps all later ones, with the requests in them, until the
 * next full collection. An array is replaced without such a reference.
 */
export class LiveList<A> implements Iterable<A> {
  private readonly places: Array<Place<A>> = []

  get size(): number {
    return this.places.length
  }

  add(value: A): Place<A> {
    const place = { value, at: this.places.length }
    this.places.push(place)
    return place
  }

  /** The last entry moves to the place that becomes free. */
  remove(place: Place<A>): void {
    if (place.at < 0) return
    const last = this.places.pop()
    if (last !== undefined && last !== place) {
      this.places[place.at] = last
      last.at = place.at
    }
    place.at = -1
  }

  /** The entries of the moment in which the loop begins. */
  [Symbol.iterator](): Iterator<A> {
    return this.places.map(({ value }) => value).values()
  }
}
