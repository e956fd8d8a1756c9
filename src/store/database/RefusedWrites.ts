// Remembers which kinds of writes the database refuses because its disk is full, broken or read-only.
// Must not know SQL, tables or how a change of this state is reported.

/** Why the database takes no writes; a check of readiness has this text. */
export type WriteRefusal = "disk_full" | "disk_error" | "read_only"

/**
 * A kind of write that nothing repeats, such as a change by the admin API, is forgotten after this time, once a write of
 * another kind commits.
 */
const forgottenMillis = 60 * 1000

interface Refused {
  readonly refusal: WriteRefusal
  readonly atMillis: number
}

/**
 * A full disk still commits small writes and answers reads. So a kind of write counts as refused until a write of this
 * kind commits.
 */
export class RefusedWrites {
  readonly #byKind = new Map<object, Refused>()

  /** Undefined while no kind of write is refused. */
  get refusal(): WriteRefusal | undefined {
    for (const { refusal } of this.#byKind.values()) return refusal
    return undefined
  }

  /** Returns whether this is the first kind that is refused. */
  add(kind: object, refusal: WriteRefusal, nowMillis: number): boolean {
    const isFirst = this.#byKind.size === 0
    this.#byKind.set(kind, { refusal, atMillis: nowMillis })
    return isFirst
  }

  /** A write of this kind was committed. Returns whether it ended the last refusal. */
  committed(kind: object, nowMillis: number): boolean {
    if (this.#byKind.size === 0) return false
    for (const [other, { atMillis }] of this.#byKind)
      if (other === kind || nowMillis - atMillis >= forgottenMillis) this.#byKind.delete(other)
    return this.#byKind.size === 0
  }
}
