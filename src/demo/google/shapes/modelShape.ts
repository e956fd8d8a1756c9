// Defines the notation for Anthropic's request models, and checks a JSON body against models in that notation.
// It must not depend on any particular model, route or semantic rule.
// Source: the wording of recorded refusals.

import { isRecord } from "./open.ts"

/**
 * One model: field name to type words. `|` separates alternatives. A word is one of:
 * - `string`, `integer`, `number`, `boolean`, `null`, `any`, `object` (any object);
 * - a literal `'text'`, a pattern `/.../`, a list `[word]`, a map `{word}`, the name of a model or of an alias;
 * - `<A B C>`, a choice of models by the literal in their `type` (else in their `role`).
 *
 * `(1..255)` after `string`, `integer`, `number` or a list bounds its length or value. `!` at the end means required.
 * `!~` means required unless the caller sends an `anthropic-beta`. `~` before a word, or before a name within `<>`,
 * accepts that alternative only with an `anthropic-beta`.
 */
export interface ModelShape {
  readonly [field: string]: string
}

export interface ModelShapes {
  readonly models: Readonly<Record<string, ModelShape>>
  /** Type words that have a name because several models use them. */
  readonly aliases: Readonly<Record<string, string>>
  /** Models that accept unknown fields. */
  readonly open: ReadonlyArray<string>
}

export interface ModelViolation {
  /** `messages.0.content.1.text.cache_control`, including the names of chosen alternatives. */
  readonly path: string
  readonly message: string
  /** The value has the right kind, but violates a bound or a pattern or is a fraction. */
  readonly bound: boolean
}

interface Walk {
  readonly betas: boolean
  readonly violations: Array<ModelViolation>
}

type Read = (walk: Walk, value: unknown, path: string) => void

interface Alternative {
  readonly kind: "null" | "string" | "number" | "boolean" | "list" | "object" | "any"
  readonly beta: boolean
  /** The only accepted text. */
  readonly literal?: string
  readonly expected: string
  readonly read: Read
}

const kindOf = (value: unknown): Alternative["kind"] => {
  if (value === null) return "null"
  if (Array.isArray(value)) return "list"
  const type = typeof value
  return type === "string" || type === "number" || type === "boolean" ? type : "object"
}

const report = (walk: Walk, path: string, message: string, bound = false): void =>
  void walk.violations.push({ path, message, bound })

const below = (path: string, key: string | number): string => (path === "" ? String(key) : `${path}.${key}`)

/** `'a', 'b' or 'c'`. */
const listed = (words: ReadonlyArray<string>): string => {
  const quoted = words.map((word) => `'${word}'`)
  const last = quoted.pop() ?? ""
  return quoted.length === 0 ? last : `${quoted.join(", ")} or ${last}`
}

interface Bounds {
  readonly least: number
  readonly most: number
}

/** `(1..255)`, `(1..)` or `(..20)`; unbounded without text. */
const boundsOf = (text: string | undefined): Bounds => {
  const match = /^\((-?[0-9]*)\.\.(-?[0-9]*)\)$/.exec(text ?? "(..)")
  if (match === null) throw new Error(`shape bounds ${text} are not understood`)
  const [, least = "", most = ""] = match
  return {
    least: least === "" ? Number.NEGATIVE_INFINITY : Number(least),
    most: most === "" ? Number.POSITIVE_INFINITY : Number(most)
  }
}

const characters = (count: number): string => `${count} character${count === 1 ? "" : "s"}`

const readString =
  ({ least, most }: Bounds): Read =>
  (walk, value, path) => {
    const length = typeof value === "string" ? [...value].length : 0
    if (length < least) report(walk, path, `String should have at least ${characters(least)}`, true)
    if (length > most) report(walk, path, `String should have at most ${characters(most)}`, true)
  }

const readNumber =
  ({ least, most }: Bounds, whole: boolean): Read =>
  (walk, value, path) => {
    const number = Number(value)
    if (whole && !Number.isInteger(number))
      report(walk, path, "Input should be a valid integer, got a number with a fractional part", true)
    else if (number < least) report(walk, path, `Input should be greater than or equal to ${least}`, true)
    else if (number > most) report(walk, path, `Input should be less than or equal to ${most}`, true)
  }

const readPattern =
  (pattern: RegExp): Read =>
  (walk, value, path) => {
    if (!pattern.test(String(value))) report(walk, path, `String should match pattern '${pattern.source}'`, true)
  }

const readList =
  (inner: Read, { most }: Bounds): Read =>
  (walk, value, path) => {
    if (!Array.isArray(value)) return
    if (value.length > most)
      report(walk, path, `List should have at most ${most} items after validation, not ${value.length}`, true)
    value.forEach((item: unknown, index) => inner(walk, item, below(path, index)))
  }

const nothing: Read = () => undefined

const splitTop = (text: string, separator: string): ReadonlyArray<string> => {
  const parts: Array<string> = []
  let depth = 0
  let part = ""
  for (const letter of text) {
    if ("[{<(".includes(letter)) depth += 1
    if ("]}>)".includes(letter)) depth -= 1
    if (letter === separator && depth === 0) {
      parts.push(part)
      part = ""
    } else part += letter
  }
  return [...parts, part]
}

/** The models of one API during compilation; each compiles at its first use, so models may be recursive. */
interface Compiler {
  readonly shapes: ModelShapes
  readonly readers: Map<string, Read>
}

const compileModel = (compiler: Compiler, name: string): Read => {
  const fields = Object.entries(compiler.shapes.models[name] ?? {}).map(([field, words]) => {
    const [, beta = "", type = "", required = ""] = /^(~?)([\s\S]*?)(!?~?)$/.exec(words) ?? []
    return { field, required, beta: beta !== "", read: compileType(compiler, type) }
  })
  const byName = new Map(fields.map((field) => [field.field, field]))
  const closed = !compiler.shapes.open.includes(name)
  return (walk, value, path) => {
    if (!isRecord(value)) return
    for (const { field, required, read } of fields) {
      if (Object.hasOwn(value, field)) read(walk, value[field], below(path, field))
      else if (required === "!" || (required === "!~" && !walk.betas))
        report(walk, below(path, field), "Field required")
    }
    if (!closed) return
    for (const key of Object.keys(value)) {
      const field = byName.get(key)
      if (field === undefined || (field.beta && !walk.betas))
        report(walk, below(path, key), "Extra inputs are not permitted")
    }
  }
}

const readModel = (compiler: Compiler, name: string): Read => {
  const before = compiler.readers.get(name)
  if (before !== undefined) return before
  let compiled: Read | undefined
  const late: Read = (walk, value, path) => (compiled ??= compileModel(compiler, name))(walk, value, path)
  compiler.readers.set(name, late)
  return late
}

const tagsOf = (shape: ModelShape | undefined, key: string): ReadonlyArray<string> =>
  [...(shape?.[key] ?? "").matchAll(/'([^']*)'/g)].map((match) => match[1] ?? "")

/** `<A B C>`: the tag chooses the model; without a tag, the model whose tag may be null. */
const readTagged = (compiler: Compiler, text: string): Read => {
  const { models } = compiler.shapes
  const members = text
    .split(" ")
    .map((word) => (word.startsWith("~") ? { name: word.slice(1), beta: true } : { name: word, beta: false }))
  const key = members.some(({ name }) => models[name]?.["type"] !== undefined) ? "type" : "role"
  const byTag = new Map(
    members.flatMap(({ name, beta }) =>
      tagsOf(models[name], key).map((tag) => [tag, { beta, read: readModel(compiler, name) }] as const)
    )
  )
  const untagged = members.find(({ name }) => models[name]?.[key]?.includes("null"))
  const fallback = untagged === undefined ? undefined : tagsOf(models[untagged.name], key)[0]
  return (walk, value, path) => {
    if (!isRecord(value)) return
    const tag = value[key] ?? fallback
    if (tag === undefined) return report(walk, below(path, key), "Field required")
    const member = typeof tag === "string" ? byTag.get(tag) : undefined
    if (member !== undefined && (!member.beta || walk.betas))
      return member.read(walk, value, key === "type" ? below(path, String(tag)) : path)
    const tags = [...byTag].filter(([, one]) => !one.beta || walk.betas).map(([one]) => `'${one}'`)
    const shown = typeof tag === "string" ? tag : JSON.stringify(tag)
    report(
      walk,
      path,
      `Input tag '${shown}' found using '${key}' does not match any of the expected tags: ${tags.join(", ")}`
    )
  }
}

const readMap =
  (inner: Read): Read =>
  (walk, value, path) => {
    if (isRecord(value)) for (const [key, item] of Object.entries(value)) inner(walk, item, below(path, key))
  }

/** The alternative of one word without `~` and bounds; `undefined` for an alias. */
const plainAlternative = (compiler: Compiler, word: string, bounds: Bounds): Omit<Alternative, "beta"> | undefined => {
  const inside = word.slice(1, -1)
  switch (word[0]) {
    case "'":
      return { kind: "string", expected: word, read: nothing, literal: inside }
    case "/":
      return { kind: "string", expected: "a valid string", read: readPattern(new RegExp(inside)) }
    case "<":
      return { kind: "object", expected: "an object", read: readTagged(compiler, inside) }
    case "[":
      return { kind: "list", expected: "a valid list", read: readList(compileType(compiler, inside), bounds) }
    case "{":
      return { kind: "object", expected: "an object", read: readMap(compileType(compiler, inside)) }
  }
  switch (word) {
    case "null":
      return { kind: "null", expected: "null", read: nothing }
    case "any":
      return { kind: "any", expected: "anything", read: nothing }
    case "object":
      return { kind: "object", expected: "an object", read: nothing }
    case "boolean":
      return { kind: "boolean", expected: "a valid boolean", read: nothing }
    case "string":
      return { kind: "string", expected: "a valid string", read: readString(bounds) }
    case "integer":
      return { kind: "number", expected: "a valid integer", read: readNumber(bounds, true) }
    case "number":
      return { kind: "number", expected: "a valid number", read: readNumber(bounds, false) }
  }
  if (compiler.shapes.models[word] === undefined) return undefined
  return { kind: "object", expected: "an object", read: readModel(compiler, word) }
}

const alternativesOf = (compiler: Compiler, word: string): ReadonlyArray<Alternative> => {
  const beta = word.startsWith("~")
  const [, head = "", bounds] = /^([\s\S]*?)(\(-?[0-9]*\.\.-?[0-9]*\))?$/.exec(beta ? word.slice(1) : word) ?? []
  const plain = plainAlternative(compiler, head, boundsOf(bounds))
  if (plain !== undefined) return [{ ...plain, beta }]
  const alias = compiler.shapes.aliases[head]
  if (alias === undefined) throw new Error(`shape word ${head} is not defined`)
  return splitTop(alias, "|").flatMap((one) => alternativesOf(compiler, one))
}

const compileType = (compiler: Compiler, words: string): Read => {
  const alternatives = splitTop(words, "|").flatMap((word) => alternativesOf(compiler, word))
  return (walk, value, path) => {
    const usable = alternatives.filter((each) => !each.beta || walk.betas)
    const kind = kindOf(value)
    const fitting = usable.find(
      (each) => (each.kind === kind || each.kind === "any") && (each.literal === undefined || each.literal === value)
    )
    if (fitting !== undefined) return fitting.read(walk, value, path)
    const literals = usable.flatMap((each) => each.literal ?? [])
    const expected =
      literals.length > 0 ? listed(literals) : (usable.find((each) => each.kind !== "null")?.expected ?? "null")
    report(walk, path, `Input should be ${expected}`)
  }
}

/** The reader of one set of models: every violation of a body by the model `entry`, in the order of its fields. */
export const compileModels = (
  shapes: ModelShapes
): ((entry: string, body: unknown, betas: boolean) => ReadonlyArray<ModelViolation>) => {
  const compiler: Compiler = { shapes, readers: new Map() }
  return (entry, body, betas) => {
    if (!isRecord(body)) return [{ path: "", message: "Input should be an object", bound: false }]
    const walk: Walk = { betas, violations: [] }
    readModel(compiler, entry)(walk, body, "")
    return walk.violations
  }
}
