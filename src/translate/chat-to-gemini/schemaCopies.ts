// How much the schemas of a request may copy when references are resolved: one count for all tools and the response format.
// It must not know keywords, or where a schema stands.
import type { Json } from "../../domain/text/json.ts"

/** A name that a merge writes again takes about as long as copying so many characters. */
const nameSize = 32

/** Of the size of the whole request. */
const mostTimes = 4

/** What is left of `left` after the JSON text of a value; measuring ends where nothing is left. */
const without = (value: Json | undefined, left: number): number => {
  if (typeof value === "string") return left - value.length - 2
  if (typeof value !== "object" || value === null) return left - 4
  let rest = left - 2
  if (Array.isArray(value)) {
    for (const member of value) {
      if (rest < 0) break
      rest = without(member, rest - 1)
    }
    return rest
  }
  for (const [key, member] of Object.entries(value)) {
    if (rest < 0) break
    rest = without(member, rest - key.length - 4)
  }
  return rest
}

/** Sizes are characters of JSON text. */
export class SchemaCopies {
  private left: number
  private readonly least: number
  /** Measured only when the least does not suffice. */
  private request: object | undefined
  spent = false

  /** Copies may make up `least`, or four times the request where that is more. */
  constructor(least: number, request: object) {
    this.left = least
    this.least = least
    this.request = request
  }

  /** Half of the least is taken: what need not be copied is better left out. */
  get isScarce(): boolean {
    return this.left < this.least / 2
  }

  /** Counts one copy of a value; false when it is too much. */
  copy(value: Json | undefined): boolean {
    return this.spend((left) => without(value, left))
  }

  /** Counts the names that a merge writes again. */
  names(count: number): boolean {
    return this.spend((left) => left - nameSize * count)
  }

  private spend(rest: (left: number) => number): boolean {
    let left = rest(this.left)
    if (left < 0 && this.request !== undefined) {
      const size = Number.MAX_SAFE_INTEGER - without(this.request as Json, Number.MAX_SAFE_INTEGER)
      this.request = undefined
      this.left = Math.max(this.left, this.left + mostTimes * size - this.least)
      left = rest(this.left)
    }
    this.left = left
    this.spent ||= left < 0
    return !this.spent
  }
}
