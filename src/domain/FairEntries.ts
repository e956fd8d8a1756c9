// A bounded map shared by many owners: the owner with the most entries loses its oldest ones first.
// It must not know what an entry is, and it must not read a clock.

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
