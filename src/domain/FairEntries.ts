// Entries of many owners within one bound: the owner that holds the most makes room, so that no owner drives out the others.
// It must not know what an entry is, or any clock.

interface Held<A> {
  readonly owner: string
  readonly value: A
  readonly weight: number
}

/** What one owner holds: names, the oldest first, and their weight. */
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
  /** The owner that was last found to hold the most; it stays while it holds more than its share. */
  private heaviest = ""

  /** Without a bound on weight, entries have none. */
  constructor(most: number, mostWeight = 1) {
    this.most = most
    this.mostWeight = mostWeight
  }

  get(name: string): A | undefined {
    return this.entries.get(name)?.value
  }

  /** The entry that was put in longest ago. */
  get oldest(): readonly [name: string, value: A] | undefined {
    for (const [name, { value }] of this.entries) return [name, value]
    return undefined
  }

  /** False while nothing is free and this owner holds its even share: an entry more would cost one of its own. */
  mayAdd(owner: string): boolean {
    const others = this.owners.size + (this.owners.has(owner) ? 0 : 1)
    return this.entries.size < this.most || this.share(this.owners.get(owner)) * others < 1
  }

  /** Puts the entry in as the latest. What is too much leaves: the oldest entries of the owner that holds the most. */
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

  /** Deletes every entry that is over. */
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

  /** Which part of all an owner holds, by number or by weight. */
  private share(holding: Holding | undefined): number {
    return holding === undefined ? 0 : Math.max(holding.names.size / this.most, holding.weight / this.mostWeight)
  }

  private isCrowding(owner: string): boolean {
    return this.share(this.owners.get(owner)) * this.owners.size > 1
  }

  /** An owner above its even share; there is one whenever there is too much. Owners are looked through once for many entries. */
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
