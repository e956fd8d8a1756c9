// Mutates a JSON value and its text, and keeps most of a valid value.
// Must not know the meaning of a value.
import type { Random } from "./random.ts"

export type Json = null | boolean | number | string | ReadonlyArray<Json> | { readonly [name: string]: Json }

type Path = ReadonlyArray<string | number>

const pathsOf = (value: Json, at: Path = []): ReadonlyArray<Path> => {
  if (typeof value !== "object" || value === null) return [at]
  const members: ReadonlyArray<readonly [string | number, Json]> = Array.isArray(value)
    ? [...value.entries()]
    : Object.entries(value)
  return [at, ...members.slice(0, 50).flatMap(([name, member]) => pathsOf(member, [...at, name]))]
}

const at = (value: Json, path: Path): Json => path.reduce<Json>((here, name) => Object(here)[name] ?? null, value)

/** The value with a change at the path. Undefined removes the member. */
const changeAt = (value: Json, [name, ...rest]: Path, change: (old: Json) => Json | undefined): Json | undefined => {
  if (name === undefined) return change(value)
  if (Array.isArray(value)) {
    return value.flatMap((one: Json, index) => {
      const next = index === name ? changeAt(one, rest, change) : one
      return next === undefined ? [] : [next]
    })
  }
  return Object.fromEntries(
    Object.entries<Json>(Object(value)).flatMap(([key, one]) => {
      const next = key === name ? changeAt(one, rest, change) : one
      return next === undefined ? [] : [[key, next]]
    })
  )
}

const nested = (value: Json, depth: number): Json => {
  let out = value
  for (let level = 0; level < depth; level++) out = level % 2 === 0 ? [out] : { a: out }
  return out
}

const numbers = [0, -1, 1e308, -1e308, 2 ** 53, 2 ** 53 + 2, 2 ** 31, 1e-320, 0.1, 4_294_967_296, -0.5] as const
const texts = [
  "",
  " ",
  "\u0000",
  "\ud800",
  "\udfff\ud800",
  "\u202e",
  "__proto__",
  "constructor",
  "gs://other/secret.png",
  "data:image/png;base64,AAAA",
  "data:,",
  "https://127.0.0.1/x",
  "file:///etc/passwd",
  "{{name}}",
  "{{>hidden}}",
  "@google/",
  "@/x",
  "../..",
  "%2e%2e",
  "\r\nx: y",
  "\n\ndata: [DONE]\n\n",
  "$ref",
  "#/$defs/a",
  "NaN"
] as const
const lengths = [1_000, 70_000, 300_000] as const
const names = [
  "__proto__",
  "constructor",
  "prototype",
  "",
  "toString",
  "\u0000",
  "$ref",
  "stream",
  "model",
  "x".repeat(300)
] as const

const scalar = (random: Random): Json =>
  random.pick<Json>([
    null,
    true,
    false,
    random.pick(numbers),
    random.pick(texts),
    [],
    {},
    random.pick(["x", "é", '"', "\\"]).repeat(random.chance(0.1) ? random.pick(lengths) : 50)
  ])

/** Size limit of copies inside a value; without it, repeated changes would grow without end. */
const mostCopied = 2 ** 20

const copies = (value: Json, wanted: number): Json => {
  const most = Math.floor(mostCopied / JSON.stringify(value).length)
  return Array.from<Json>({ length: Math.max(1, Math.min(wanted, most)) }).fill(value)
}

const once = (value: Json, donors: ReadonlyArray<Json>, random: Random): Json => {
  const path = random.pick(pathsOf(value))
  const donor = (): Json => {
    const from = random.pick(donors)
    return at(from, random.pick(pathsOf(from)))
  }
  const change = random.pick<(old: Json) => Json | undefined>([
    () => undefined,
    () => scalar(random),
    () => scalar(random),
    donor,
    (old) => nested(old, random.pick([1, 2, 60, 140])),
    (old) => copies(old, random.pick([2, 20, 700])),
    (old) =>
      typeof old === "object" && old !== null && !Array.isArray(old)
        ? { ...old, [random.pick(names)]: random.chance(0.5) ? scalar(random) : donor() }
        : scalar(random),
    (old) => (typeof old === "number" ? random.pick(numbers) : typeof old === "string" ? old + random.pick(texts) : old)
  ])
  return changeAt(value, path, change) ?? null
}

/** The value with a few changes. Parts of `donors` may be inserted. */
export const mutate = (value: Json, donors: ReadonlyArray<Json>, random: Random): Json => {
  let out = value
  for (let left = random.pick([1, 1, 1, 2, 3, 5]); left > 0; left--) out = once(out, donors, random)
  return out
}

/** The text of a value: sometimes invalid JSON, sometimes JSON that parsers read differently. */
export const textOf = (value: Json, random: Random): string | Uint8Array => {
  const text = JSON.stringify(value)
  if (!random.chance(0.12)) return text
  const place = random.below(text.length + 1)
  return random.pick<() => string | Uint8Array>([
    () => text.slice(0, place),
    () => `\ufeff${text}`,
    () =>
      text.slice(0, place) +
      random.pick(["}", '"', ",", "\\u12", "\u0000", "1e999", "[".repeat(5_000)]) +
      text.slice(place),
    () =>
      Buffer.concat([
        Buffer.from(text.slice(0, place)),
        Buffer.from([0xff, 0xc0, 0x80]),
        Buffer.from(text.slice(place))
      ]),
    () => text.replace("{", '{"model":1,"__proto__":{"a":1},'),
    () => text.replaceAll(/\d+/g, "9007199254740993"),
    () => "[".repeat(100_000),
    () => ""
  ])()
}
