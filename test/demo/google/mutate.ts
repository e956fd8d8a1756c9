// Seeded mutations of a JSON body: delete, retype, add an unknown field, rename. The same seed gives the same mutants.

export type Random = () => number

/** Mulberry32: small, seeded, good enough to pick places. */
export const seeded = (seed: number): Random => {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

type Holder = Record<string, unknown> | Array<unknown>

interface Place {
  readonly holder: Holder
  readonly key: string | number
}

const placesOf = (value: unknown): ReadonlyArray<Place> => {
  if (Array.isArray(value)) return value.flatMap((item, key) => [{ holder: value, key }, ...placesOf(item)])
  if (typeof value !== "object" || value === null) return []
  const holder = value as Record<string, unknown>
  return Object.entries(holder).flatMap(([key, item]) => [[{ holder, key }], placesOf(item)].flat())
}

const pick = <A>(random: Random, list: ReadonlyArray<A>): A | undefined => list[Math.floor(random() * list.length)]

const others: ReadonlyArray<unknown> = [
  "word",
  7,
  1.5,
  true,
  {},
  [],
  [{}],
  "STRING",
  "-12",
  "1.5s",
  { text: "x" },
  ["a"]
]

const names = [
  "taskType",
  "output_dimensionality",
  "instances",
  "content",
  "text",
  "inlineData",
  "inline_data",
  "functionCall",
  "tools",
  "tool_config",
  "thinkingLevel",
  "x-unknown",
  "labels",
  "googleSearch",
  "urlContext"
]

const put = (holder: Holder, key: string | number, value: unknown): void => {
  if (Array.isArray(holder)) holder[Number(key)] = value
  else holder[key] = value
}

const remove = (holder: Holder, key: string | number): unknown => {
  if (Array.isArray(holder)) return holder.splice(Number(key), 1)[0]
  const value = holder[key]
  delete holder[key]
  return value
}

/** A copy of `body` with one thing changed, and what was done. */
export const mutate = (body: unknown, random: Random): { readonly body: unknown; readonly done: string } => {
  const copy = structuredClone(body)
  const place = pick(random, placesOf(copy))
  if (place === undefined) return { body: copy, done: "nothing" }
  const { holder, key } = place
  const kind = Math.floor(random() * 4)
  if (kind === 0) {
    remove(holder, key)
    return { body: copy, done: `deleted ${key}` }
  }
  if (kind === 1) {
    const value = pick(random, others)
    put(holder, key, structuredClone(value))
    return { body: copy, done: `set ${key} to ${JSON.stringify(value)}` }
  }
  const name = pick(random, names) ?? "text"
  if (kind === 2 || Array.isArray(holder)) {
    const target = Array.isArray(holder) ? (copy as Record<string, unknown>) : holder
    put(target, name, structuredClone(pick(random, others)))
    return { body: copy, done: `added ${name} beside ${key}` }
  }
  put(holder, name, remove(holder, key))
  return { body: copy, done: `renamed ${key} to ${name}` }
}
