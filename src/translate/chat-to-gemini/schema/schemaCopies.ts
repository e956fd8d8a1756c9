// Bounds the copying of schemas during reference resolution: one allowance for all tools and the response format.
// Must not depend on keywords or the position of a schema.
import type { Json } from "../../../domain/text/json.ts"

/** Writing a name again in a merge takes about as long as copying 32 characters. */
const nameSize = 32

/** Multiple of the whole request's size, but no more than this multiple of the least allowance. */
const mostTimes = 4
const mostLeasts = 8

/** Parts of all converted schemas of a request; each takes 1.5 microseconds. */
export const mostNodes = 30_000

/** The rest of `left` after a value's JSON text; measuring stops when nothing is left. */
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
  private nodes = 0
  /** The request to measure, only when `least` does not suffice. */
  private request: object | undefined
  spent = false

  /** The allowance is `least`, or four times the size of the request if that is more, up to eight times `least`. */
  constructor(least: number, request: object) {
    this.left = least
    this.least = least
    this.request = request
  }

  /** Half of `least`, or of the parts, is used: optional copies should be avoided. */
  get isScarce(): boolean {
    return this.left < this.least / 2 || this.nodes > mostNodes / 2
  }

  /** Counts one copy of a value; false when the allowance is exceeded. */
  copy(value: Json | undefined): boolean {
    return this.spend((left) => without(value, left))
  }

  /** Counts one part of a converted schema; false when there are too many. */
  node(): boolean {
    return ++this.nodes <= mostNodes
  }

  /** Counts the names that a merge writes again. */
  names(count: number): boolean {
    return this.spend((left) => left - nameSize * count)
  }

  private spend(rest: (left: number) => number): boolean {
    let left = rest(this.left)
    if (left < 0 && this.request !== undefined) {
      // Cast: a request is the parsed JSON of a body.
      const size = Number.MAX_SAFE_INTEGER - without(this.request as Json, Number.MAX_SAFE_INTEGER)
      this.request = undefined
      const most = Math.min(mostTimes * size, mostLeasts * this.least)
      this.left = Math.max(this.left, this.left + most - this.least)
      left = rest(this.left)
    }
    this.left = left
    this.spent ||= left < 0
    return !this.spent
  }
}
