// Regular expressions whose time is bounded whatever the pattern: no backtracking, one pass over the text.
// It must not know what is matched. The grammar is that of JavaScript without flags, less lookaround and backreferences.
import * as Result from "effect/Result"

/** A pattern made ready; longer text than `mostText` matches nothing. */
export type Pattern = (text: string) => boolean

const mostSource = 256
const mostSteps = 512
const mostText = 4_096
const mostRepeats = 200

type Units = (unit: number) => boolean

/** Where a match stands: the place in the text and the units around it, NaN beyond its ends. */
type Place = (at: number, length: number, before: number, after: number) => boolean

type Node =
  | { readonly kind: "unit"; readonly has: Units }
  | { readonly kind: "place"; readonly holds: Place }
  | { readonly kind: "all"; readonly nodes: ReadonlyArray<Node> }
  | { readonly kind: "any"; readonly nodes: ReadonlyArray<Node> }
  | { readonly kind: "repeat"; readonly node: Node; readonly least: number; readonly most: number | undefined }

const within = (from: number, to: number): Units => (unit) => unit >= from && unit <= to
const just = (unit: number): Units => (other) => other === unit
const not = (units: Units): Units => (unit) => !units(unit)
const either = (some: ReadonlyArray<Units>): Units => (unit) => some.some((has) => has(unit))

const digit = within(0x30, 0x39)
const word = either([digit, within(0x41, 0x5a), within(0x61, 0x7a), just(0x5f)])
const space: Units = (unit) => /\s/.test(String.fromCharCode(unit))
const lineEnd = either([just(0x0a), just(0x0d), just(0x2028), just(0x2029)])
const atBound: Place = (_at, _length, before, after) => word(before) !== word(after)

const classes: Readonly<Record<string, Units>> = { d: digit, D: not(digit), w: word, W: not(word), s: space, S: not(space) }
const controls: Readonly<Record<string, number>> = { t: 0x09, n: 0x0a, v: 0x0b, f: 0x0c, r: 0x0d }

/** Reads a source from left to right; the first fault ends it. */
class Reader {
  private readonly source: string
  private at = 0
  fault: string | undefined

  constructor(source: string) {
    this.source = source
  }

  whole(): Node {
    const node = this.alternatives()
    if (this.at < this.source.length) this.stop("has a \")\" without its \"(\"")
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
    while (this.at < this.source.length && !"|)".includes(this.source.charAt(this.at))) nodes.push(this.repeated(this.atom()))
    return { kind: "all", nodes }
  }

  private repeated(node: Node): Node {
    const found = /^(?:[*+?]|\{(\d+)(,(\d*))?\})/.exec(this.source.slice(this.at))
    if (found === null) return node
    if (node.kind === "place") this.stop("repeats an anchor")
    this.at += found[0].length
    this.taken("?")
    const [sign, low, comma, high] = found
    const least = low === undefined ? Number(sign === "+") : Number(low)
    const bounded = sign === "?" ? 1 : low === undefined || high === "" ? undefined : comma === undefined ? least : Number(high)
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
        return { kind: "unit", has: this.set() }
      case ".":
        return { kind: "unit", has: not(lineEnd) }
      case "^":
        return { kind: "place", holds: (at) => at === 0 }
      case "$":
        return { kind: "place", holds: (at, length) => at === length }
      case "\\":
        return this.escapedAtom()
      case "*":
      case "+":
      case "?":
        this.stop("repeats nothing")
    }
    return { kind: "unit", has: just(unit) }
  }

  private group(): Node {
    if (!this.taken("?:") && this.taken("?")) this.stop("may not look ahead or behind, nor name groups")
    const node = this.alternatives()
    if (!this.taken(")")) this.stop("has a \"(\" without its \")\"")
    return node
  }

  private escapedAtom(): Node {
    if (this.taken("b")) return { kind: "place", holds: atBound }
    if (this.taken("B")) return { kind: "place", holds: (...place) => !atBound(...place) }
    const has = this.escaped()
    return { kind: "unit", has: typeof has === "number" ? just(has) : has }
  }

  /** What stands behind a backslash: one unit, or a class of them. */
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
        this.stop("has a \"[\" without its \"]\"")
        break
      }
      some.push(this.member())
    }
    return negated ? not(either(some)) : either(some)
  }

  private member(): Units {
    const from = this.setUnit()
    const isRange = this.source.charAt(this.at) === "-" && this.source.charAt(this.at + 1) !== "]" && this.at + 1 < this.source.length
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

/** How many steps a node becomes. */
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

/** One step: go on behind a unit or a place, or go on at several steps at once. The step behind the last is the match. */
type Step =
  | { readonly kind: "unit"; readonly has: Units }
  | { readonly kind: "place"; readonly holds: Place }
  | { readonly kind: "fork"; readonly to: Array<number> }

const emit = (node: Node, steps: Array<Step>): void => {
  switch (node.kind) {
    case "unit":
    case "place":
      steps.push(node)
      return
    case "all":
      for (const one of node.nodes) emit(one, steps)
      return
    case "any": {
      const entries: Array<number> = []
      const ends: Array<Array<number>> = []
      steps.push({ kind: "fork", to: entries })
      for (const one of node.nodes) {
        entries.push(steps.length)
        emit(one, steps)
        const end: Array<number> = []
        ends.push(end)
        steps.push({ kind: "fork", to: end })
      }
      for (const end of ends) end.push(steps.length)
      return
    }
    case "repeat": {
      for (let count = 0; count < node.least; count++) emit(node.node, steps)
      const skips: Array<Array<number>> = []
      for (let count = node.least; count < (node.most ?? node.least + 1); count++) {
        const at = steps.length
        const fork = [at + 1]
        skips.push(fork)
        steps.push({ kind: "fork", to: fork })
        emit(node.node, steps)
        if (node.most === undefined) steps.push({ kind: "fork", to: [at] })
      }
      for (const fork of skips) fork.push(steps.length)
    }
  }
}

/** All places of the pattern that a text can be at are followed at once, so each unit of it costs the same at most. */
const run = (steps: ReadonlyArray<Step>, text: string): boolean => {
  const seenAt = Array.from({ length: steps.length + 1 }, () => -1)
  let waiting: Array<Units> = []
  let followers: Array<number> = []
  let found = false
  const enter = (first: number, at: number): void => {
    const open = [first]
    for (let step = open.pop(); step !== undefined && !found; step = open.pop()) {
      if (seenAt[step] === at) continue
      seenAt[step] = at
      const what = steps[step]
      if (what === undefined) found = true
      else if (what.kind === "fork") open.push(...what.to)
      else if (what.kind === "unit") {
        waiting.push(what.has)
        followers.push(step + 1)
      } else if (what.holds(at, text.length, text.charCodeAt(at - 1), text.charCodeAt(at))) open.push(step + 1)
    }
  }
  for (let at = 0; ; at++) {
    enter(0, at)
    if (found || at === text.length) return found
    const unit = text.charCodeAt(at)
    const [before, next] = [waiting, followers]
    waiting = []
    followers = []
    for (const [index, has] of before.entries()) {
      const follower = next[index]
      if (follower !== undefined && has(unit)) enter(follower, at + 1)
    }
    if (found) return true
  }
}

/** Reads a pattern, or says in words what it may not be. */
export const parsePattern = (source: string): Result.Result<Pattern, string> => {
  if (source.length > mostSource) return Result.fail(`is longer than ${mostSource} characters`)
  const reader = new Reader(source)
  const node = reader.whole()
  if (reader.fault !== undefined) return Result.fail(reader.fault)
  if (sizeOf(node) > mostSteps) return Result.fail("repeats too much")
  const steps: Array<Step> = []
  emit(node, steps)
  return Result.succeed((text) => text.length <= mostText && run(steps, text))
}
