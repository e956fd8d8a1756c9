// Regular expressions without backtracking: linear time, counted steps, and a stop when the step budget is spent.
// It must not know what is matched. Grammar: JavaScript without flags, lookaround and backreferences.
import * as Result from "effect/Result"

/** The remaining steps of a request. Below 0 the budget is spent, and every earlier result of the request is void. */
export interface StepBudget {
  left: number
}

/**
 * A compiled pattern. Text longer than `mostText` never matches. One step checks one place of the pattern at one place
 * of the text.
 */
export type Pattern = (text: string, budget: StepBudget) => boolean

const mostSource = 256
const mostSteps = 512
const mostText = 4_096
const mostRepeats = 200

/** A set of UTF-16 units as ascending bounds: the first unit of a run, the first unit after it, and so on. */
type Units = ReadonlyArray<number>

type Node =
  | { readonly kind: "unit"; readonly units: Units }
  | { readonly kind: "place"; readonly place: number }
  | { readonly kind: "all"; readonly nodes: ReadonlyArray<Node> }
  | { readonly kind: "any"; readonly nodes: ReadonlyArray<Node> }
  | { readonly kind: "repeat"; readonly node: Node; readonly least: number; readonly most: number | undefined }

/**
 * Binary search, so a step costs the same for large sets. Beyond the ends of the text the unit is NaN, which is in no
 * set.
 */
const has = (units: Units, unit: number): boolean => {
  let low = 0
  let high = units.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((units[middle] ?? 0) <= unit) low = middle + 1
    else high = middle
  }
  return low % 2 === 1
}

const within = (from: number, to: number): Units => [from, to + 1]
const just = (unit: number): Units => within(unit, unit)
const not = (units: Units): Units => (units[0] === 0 ? units.slice(1) : [0, ...units])
const either = (sets: ReadonlyArray<Units>): Units => {
  const changes = sets
    .flatMap((units) => units.map((bound, index) => [bound, index % 2 === 0 ? 1 : -1] as const))
    .toSorted(([a], [b]) => a - b)
  const bounds: Array<number> = []
  let depth = 0
  for (const [index, [bound, change]] of changes.entries()) {
    depth += change
    // Of several equal bounds the last one decides.
    if (changes[index + 1]?.[0] !== bound && depth > 0 === (bounds.length % 2 === 0)) bounds.push(bound)
  }
  return bounds
}

const digit = within(0x30, 0x39)
const word = either([digit, within(0x41, 0x5a), within(0x61, 0x7a), just(0x5f)])
/** White space and line ends of ECMAScript. */
const space = either([
  within(0x09, 0x0d),
  ...[0x20, 0xa0, 0x1680, 0x202f, 0x205f, 0x3000, 0xfeff].map(just),
  within(0x2000, 0x200a),
  within(0x2028, 0x2029)
])
const lineEnd = either([just(0x0a), just(0x0d), within(0x2028, 0x2029)])

/** Whether a place of the text is a word boundary. */
const isAtBound = (text: string, at: number): boolean =>
  has(word, text.charCodeAt(at - 1)) !== has(word, text.charCodeAt(at))
const places: ReadonlyArray<(text: string, at: number) => boolean> = [
  (_text, at) => at === 0,
  (text, at) => at === text.length,
  isAtBound,
  (text, at) => !isAtBound(text, at)
]
const [atStart, atEnd, atBound, offBound] = [0, 1, 2, 3]

const classes: Readonly<Record<string, Units>> = {
  d: digit,
  D: not(digit),
  w: word,
  W: not(word),
  s: space,
  S: not(space)
}
const controls: Readonly<Record<string, number>> = { t: 0x09, n: 0x0a, v: 0x0b, f: 0x0c, r: 0x0d }

/** Parses a pattern from left to right; the first fault ends it. */
class Reader {
  private readonly source: string
  private at = 0
  fault: string | undefined

  constructor(source: string) {
    this.source = source
  }

  whole(): Node {
    const node = this.alternatives()
    if (this.at < this.source.length) this.stop('has a ")" without its "("')
    return node
  }

  private stop(fault: string): void {
    this.fault ??= fault
    this.at = this.source.length
  }

  private taken(text: string): boolean {
    if (!this.source.startsWith(text, this.at)) return false
    this.at += text.length
    return true
  }

  private alternatives(): Node {
    const nodes = [this.sequence()]
    while (this.taken("|")) nodes.push(this.sequence())
    return { kind: "any", nodes }
  }

  private sequence(): Node {
    const nodes: Array<Node> = []
    while (this.at < this.source.length && !"|)".includes(this.source.charAt(this.at)))
      nodes.push(this.repeated(this.atom()))
    return { kind: "all", nodes }
  }

  private repeated(node: Node): Node {
    const quantifier = /^(?:[*+?]|\{(\d+)(,(\d*))?\})/.exec(this.source.slice(this.at))
    if (quantifier === null) return node
    if (node.kind === "place") this.stop("repeats an anchor")
    this.at += quantifier[0].length
    this.taken("?")
    const [sign, low, comma, high] = quantifier
    const least = low === undefined ? Number(sign === "+") : Number(low)
    const bounded =
      sign === "?" ? 1 : low === undefined || high === "" ? undefined : comma === undefined ? least : Number(high)
    if (Math.max(least, bounded ?? 0) > mostRepeats) this.stop(`repeats more than ${mostRepeats} times`)
    if (bounded !== undefined && bounded < least) this.stop("has a range of repeats that ends before it begins")
    return { kind: "repeat", node, least, most: bounded }
  }

  private atom(): Node {
    const unit = this.source.charCodeAt(this.at++)
    switch (String.fromCharCode(unit)) {
      case "(":
        return this.group()
      case "[":
        return { kind: "unit", units: this.set() }
      case ".":
        return { kind: "unit", units: not(lineEnd) }
      case "^":
        return { kind: "place", place: atStart }
      case "$":
        return { kind: "place", place: atEnd }
      case "\\":
        return this.escapedAtom()
      case "*":
      case "+":
      case "?":
        this.stop("repeats nothing")
    }
    return { kind: "unit", units: just(unit) }
  }

  private group(): Node {
    if (!this.taken("?:") && this.taken("?")) this.stop("may not use lookahead, lookbehind or named groups")
    const node = this.alternatives()
    if (!this.taken(")")) this.stop('has a "(" without its ")"')
    return node
  }

  private escapedAtom(): Node {
    if (this.taken("b")) return { kind: "place", place: atBound }
    if (this.taken("B")) return { kind: "place", place: offBound }
    const units = this.escaped()
    return { kind: "unit", units: typeof units === "number" ? just(units) : units }
  }

  /** Parses what follows a backslash: one unit, or a class of units. */
  private escaped(): number | Units {
    const letter = this.source.charAt(this.at++)
    const units = classes[letter]
    if (units !== undefined) return units
    const control = controls[letter]
    if (control !== undefined) return control
    const hex = letter === "x" ? 2 : letter === "u" ? 4 : 0
    if (hex > 0) {
      const digits = this.source.slice(this.at, this.at + hex)
      this.at += hex
      if (digits.length === hex && /^[\da-fA-F]+$/.test(digits)) return Number.parseInt(digits, 16)
    }
    if (letter === "" || /[A-Za-z0-9]/.test(letter)) this.stop(`may not hold "\\${letter}"`)
    return letter.charCodeAt(0)
  }

  private set(): Units {
    const negated = this.taken("^")
    const some: Array<Units> = []
    while (!this.taken("]")) {
      if (this.at >= this.source.length) {
        this.stop('has a "[" without its "]"')
        break
      }
      some.push(this.member())
    }
    return negated ? not(either(some)) : either(some)
  }

  private member(): Units {
    const from = this.setUnit()
    const isRange =
      this.source.charAt(this.at) === "-" && this.source.charAt(this.at + 1) !== "]" && this.at + 1 < this.source.length
    if (!isRange) return typeof from === "number" ? just(from) : from
    this.at++
    const to = this.setUnit()
    if (typeof from !== "number" || typeof to !== "number") {
      return either([just(0x2d), ...[from, to].map((end) => (typeof end === "number" ? just(end) : end))])
    }
    if (to < from) this.stop("has a range of characters that ends before it begins")
    return within(from, to)
  }

  private setUnit(): number | Units {
    if (!this.taken("\\")) return this.source.charCodeAt(this.at++)
    return this.taken("b") ? 0x08 : this.escaped()
  }
}

/** How many steps a node compiles to. */
const sizeOf = (node: Node): number => {
  switch (node.kind) {
    case "unit":
    case "place":
      return 1
    case "all":
    case "any":
      return node.nodes.reduce((sum, one) => sum + sizeOf(one) + 2, 0)
    case "repeat":
      return (sizeOf(node.node) + 1) * ((node.most ?? node.least + 1) + 1)
  }
}

/**
 * The kinds of steps: consume a unit of a set, check a place, continue at two steps. The step after the last one is the
 * match.
 */
const take = 0
const check = 1
const fork = 2

/**
 * Three numbers a step: its kind, then its set, its place, or its two successors. Plain numbers keep cached configs
 * small.
 */
interface Program {
  readonly code: Uint16Array
  readonly sets: ReadonlyArray<Units>
}

class Emitter {
  private readonly code: Array<number> = []
  private readonly sets: Array<Units> = []

  program(node: Node): Program {
    this.emit(node)
    return { code: Uint16Array.from(this.code), sets: this.sets }
  }

  private get next(): number {
    return this.code.length / 3
  }

  private setOf(units: Units): number {
    const known = this.sets.indexOf(units)
    return known < 0 ? this.sets.push(units) - 1 : known
  }

  /** Sets the successors of a fork once the steps between them are written. */
  private leads(step: number, first: number, second = first): void {
    this.code[step * 3 + 1] = first
    this.code[step * 3 + 2] = second
  }

  private forked(): number {
    return this.code.push(fork, 0, 0) / 3 - 1
  }

  private emit(node: Node): void {
    switch (node.kind) {
      case "unit":
        this.code.push(take, this.setOf(node.units), 0)
        return
      case "place":
        this.code.push(check, node.place, 0)
        return
      case "all":
        for (const inner of node.nodes) this.emit(inner)
        return
      case "any": {
        const ends: Array<number> = []
        for (const [index, inner] of node.nodes.entries()) {
          const isLast = index === node.nodes.length - 1
          const entry = isLast ? undefined : this.forked()
          this.emit(inner)
          if (entry === undefined) continue
          ends.push(this.forked())
          this.leads(entry, entry + 1, this.next)
        }
        for (const end of ends) this.leads(end, this.next)
        return
      }
      case "repeat": {
        for (let count = 0; count < node.least; count++) this.emit(node.node)
        const skips: Array<number> = []
        for (let count = node.least; count < (node.most ?? node.least + 1); count++) {
          const skip = this.forked()
          skips.push(skip)
          this.emit(node.node)
          if (node.most === undefined) this.leads(this.forked(), skip)
        }
        for (const skip of skips) this.leads(skip, skip + 1, this.next)
      }
    }
  }
}

/** Follows all places of the pattern together, so each unit of the text has a bounded cost. */
const run = ({ code, sets }: Program, text: string, budget: StepBudget): boolean => {
  const match = code.length / 3
  const seenAt = new Int32Array(match + 1).fill(-1)
  const open = new Uint16Array(match + 1)
  let waiting = new Uint16Array(match)
  let arriving = new Uint16Array(match)
  let count = 0
  let opened = 0
  const see = (step: number, at: number): void => {
    if (seenAt[step] === at) return
    seenAt[step] = at
    open[opened++] = step
  }
  /** Follows the steps that consume no unit; returns true at the match. */
  const enter = (at: number): boolean => {
    while (opened > 0) {
      const step = open[--opened] ?? match
      if (step === match) return true
      budget.left--
      const kind = code[step * 3]
      const first = code[step * 3 + 1] ?? match
      if (kind === take) waiting[count++] = step
      else if (kind === check) {
        // A boundary check looks at two characters.
        budget.left--
        if (places[first]?.(text, at) === true) see(step + 1, at)
      } else {
        see(first, at)
        see(code[step * 3 + 2] ?? match, at)
      }
    }
    return false
  }
  for (let at = 0; budget.left >= 0; at++) {
    see(0, at)
    if (enter(at)) return true
    if (at === text.length) return false
    const unit = text.charCodeAt(at)
    const before = waiting
    const many = count
    waiting = arriving
    arriving = before
    count = 0
    for (let index = 0; index < many; index++) {
      const step = before[index] ?? match
      if (has(sets[code[step * 3 + 1] ?? 0] ?? [], unit)) see(step + 1, at + 1)
    }
    budget.left -= many + 1
    if (enter(at + 1)) return true
  }
  return false
}

/** Compiles a pattern, or returns the reason why it is not supported. */
export const parsePattern = (source: string): Result.Result<Pattern, string> => {
  if (source.length > mostSource) return Result.fail(`is longer than ${mostSource} characters`)
  const reader = new Reader(source)
  const node = reader.whole()
  if (reader.fault !== undefined) return Result.fail(reader.fault)
  if (sizeOf(node) > mostSteps) return Result.fail("repeats too much")
  const program = new Emitter().program(node)
  return Result.succeed((text, budget) => text.length <= mostText && run(program, text, budget))
}
