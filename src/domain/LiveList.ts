// A list of what runs at the moment, where each entry leaves by itself and in any order.
// It must not know what an entry is.

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
