// A bounded number of slots that many owners wait for: the last part is for owners below their share, the rest for any.
// It must not know what a slot is for, and it must not read a clock.

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
  private readonly kept: number
  private readonly owners = new Map<string, Owner>()
  private running = 0

  /** `keptPercent` of the slots stay free for owners that have less than an even part of all. */
  constructor(most: number, keptPercent: number) {
    this.most = most
    this.kept = Math.floor((most * keptPercent) / 100)
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
    return free > this.kept || (free > 0 && running < Math.max(1, Math.floor(this.most / (this.owners.size + 1))))
  }
}
