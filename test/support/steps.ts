// Counts the steps of synchronous code: items, characters and bytes that built-in functions of lists, maps, texts and bytes visit.
// Must not depend on what is counted. Loops over indexes and spreads of objects are not seen.

type Cost = (self: unknown, args: ReadonlyArray<unknown>, result: unknown) => number

const lengthOf = (value: unknown): number => {
  const length: unknown = typeof value === "string" ? value.length : Object(value)["length"]
  return typeof length === "number" ? length : 0
}

let steps = 0

const ofSelf: Cost = (self) => lengthOf(self)
const ofResult: Cost = (_self, _args, result) => lengthOf(result)
const ofArgument: Cost = (_self, args) => lengthOf(args[0])
/** From where the search begins to what it finds, or to the end. */
const ofFound: Cost = (self, args, result) => {
  const from = typeof args[1] === "number" ? args[1] : 0
  return (typeof result === "number" && result >= 0 ? result + 1 : lengthOf(self)) - from
}
const nothing: Cost = () => 0

/** A callback, counted each time it is called. */
const counted = (callback: unknown): unknown =>
  typeof callback !== "function"
    ? callback
    : function (this: unknown, ...args: ReadonlyArray<unknown>): unknown {
        steps++
        return Reflect.apply(callback, this, args)
      }

const withCallback = (original: Function) =>
  function (this: unknown, ...args: ReadonlyArray<unknown>): unknown {
    const given: Array<unknown> = []
    for (let at = 0; at < args.length; at++) given[at] = at === 0 ? counted(args[0]) : args[at]
    return Reflect.apply(original, this, given)
  }

const withCost = (cost: Cost) => (original: Function) =>
  function (this: unknown, ...args: ReadonlyArray<unknown>): unknown {
    const result: unknown = Reflect.apply(original, this, args)
    steps += cost(this, args, result)
    return result
  }

/** Each `next` of the iterator is a step. */
const stepwise = (original: Function) =>
  function (this: unknown): unknown {
    const inner: { next: () => unknown } = Reflect.apply(original, this, [])
    const iterator = {
      next: (): unknown => {
        steps++
        return inner.next()
      },
      return: (value: unknown): unknown => ({ done: true, value }),
      [Symbol.iterator]: (): unknown => iterator
    }
    return iterator
  }

type Patch = readonly [owner: object, names: ReadonlyArray<PropertyKey>, patch: (original: Function) => Function]

const bytes: object = Object.getPrototypeOf(Uint8Array.prototype)
const iterators: ReadonlyArray<PropertyKey> = [Symbol.iterator, "keys", "values", "entries"]

const patches: ReadonlyArray<Patch> = [
  [Array.prototype, iterators, stepwise],
  [Map.prototype, iterators, stepwise],
  [Set.prototype, iterators, stepwise],
  [String.prototype, [Symbol.iterator], stepwise],
  [
    Array.prototype,
    [
      "map",
      "filter",
      "forEach",
      "every",
      "some",
      "find",
      "findIndex",
      "findLast",
      "findLastIndex",
      "flatMap",
      "reduce"
    ],
    withCallback
  ],
  [Map.prototype, ["forEach"], withCallback],
  [Array.prototype, ["concat", "slice", "with", "toSorted", "toReversed", "splice", "flat"], withCost(ofResult)],
  [Array.prototype, ["join", "shift", "unshift", "sort", "reverse"], withCost(ofSelf)],
  [Array.prototype, ["indexOf", "includes", "lastIndexOf"], withCost(ofFound)],
  [Array.prototype, ["push"], withCost((_self, args) => args.length)],
  [Object, ["keys", "values", "entries"], withCost(ofResult)],
  [Object, ["fromEntries"], withCost(nothing)],
  [String.prototype, ["slice", "substring", "replace", "replaceAll", "trim"], withCost(ofResult)],
  [bytes, ["set"], withCost(ofArgument)],
  [bytes, ["slice"], withCost(ofResult)],
  [bytes, ["indexOf", "includes"], withCost(ofFound)]
]

/** How many steps the work takes. The built-in functions are themselves again when it has ended. */
export const countSteps = (work: () => unknown): number => {
  const before: Array<() => void> = []
  for (const [owner, names, patch] of patches) {
    for (const name of names) {
      const descriptor = Object.getOwnPropertyDescriptor(owner, name)
      if (descriptor === undefined || typeof descriptor.value !== "function") continue
      before.push(() => Object.defineProperty(owner, name, descriptor))
      Object.defineProperty(owner, name, { ...descriptor, value: patch(descriptor.value) })
    }
  }
  steps = 0
  try {
    work()
    return steps
  } finally {
    for (let at = 0; at < before.length; at++) before[at]?.()
  }
}

/** The power of the size by which the steps grow: about 1 for linear work, 2 for quadratic work. */
export const exponentOf = (work: (size: number) => () => unknown, size: number, times: number): number => {
  const small = countSteps(work(size))
  const large = countSteps(work(size * times))
  return Math.log(Math.max(1, large) / Math.max(1, small)) / Math.log(times)
}
