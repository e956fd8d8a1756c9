// Defines checks for JSON that is not proto JSON: bodies in OpenAI's dialect, free-form parameters of predict.
// It must not depend on any particular body; it checks shape and range, not meaning.

/** The path of a value that fails a check, and the expected value. */
export interface Mismatch {
  /** `messages[0].content`; empty for the whole body. */
  readonly path: string
  readonly expected: string
}

/** The error message of a mismatch. */
export const mismatchMessage = ({ path, expected }: Mismatch): string =>
  `Invalid value at '${path}': expected ${expected}.`

export type Check = (value: unknown, path: string) => Mismatch | undefined

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** A copy without members that are `null`, which means "not set". */
export const withoutNulls = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (!isRecord(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => member !== null)
      .map(([key, member]) => [key, withoutNulls(member)])
  )
}

const fine = undefined

const simple =
  (expected: string, holds: (value: unknown) => boolean): Check =>
  (value, path) =>
    holds(value) ? fine : { path, expected }

export const text: Check = simple("a string", (value) => typeof value === "string")
export const bool: Check = simple("a boolean", (value) => typeof value === "boolean")
export const nothing: Check = simple("null", (value) => value === null)
export const anyObject: Check = simple("an object", isRecord)

export const textUpTo = (most: number): Check =>
  simple(`a string of at most ${most} characters`, (value) => typeof value === "string" && value.length <= most)

const ranged = (kind: string, least: number | undefined, most: number | undefined): string =>
  least === undefined ? kind : `${kind} between ${least} and ${most}`

export const integer = (least?: number, most?: number): Check =>
  simple(
    ranged("an integer", least, most),
    (value) =>
      typeof value === "number" && Number.isInteger(value) && value >= (least ?? value) && value <= (most ?? value)
  )

export const number = (least?: number, most?: number): Check =>
  simple(
    ranged("a number", least, most),
    (value) => typeof value === "number" && value >= (least ?? value) && value <= (most ?? value)
  )

export const word = (...words: ReadonlyArray<string>): Check =>
  simple(
    `one of ${words.map((one) => `'${one}'`).join(", ")}`,
    (value) => typeof value === "string" && words.includes(value)
  )

export const list =
  (of: Check, least = 0, most = Number.MAX_SAFE_INTEGER): Check =>
  (value, path) => {
    if (!Array.isArray(value)) return { path, expected: "an array" }
    if (value.length < least) return { path, expected: `an array of at least ${least}` }
    if (value.length > most) return { path, expected: `an array of at most ${most}` }
    for (const [index, item] of value.entries()) {
      const mismatch = of(item, `${path}[${index}]`)
      if (mismatch !== undefined) return mismatch
    }
    return fine
  }

export const mapOf =
  (of: Check): Check =>
  (value, path) => {
    if (!isRecord(value)) return { path, expected: "an object" }
    for (const [key, item] of Object.entries(value)) {
      const mismatch = of(item, `${path}.${key}`)
      if (mismatch !== undefined) return mismatch
    }
    return fine
  }

/** Checks members by name; a name that ends with `!` is required. `closed` refuses every other name. */
const members = (shape: Readonly<Record<string, Check>>, closed: boolean): Check => {
  const checks = Object.entries(shape).map(([key, check]) => ({
    name: key.replace(/!$/, ""),
    required: key.endsWith("!"),
    check
  }))
  const names = new Set(checks.map(({ name }) => name))
  return (value, path) => {
    if (!isRecord(value)) return { path, expected: "an object" }
    const at = (name: string) => (path === "" ? name : `${path}.${name}`)
    for (const { name, required, check } of checks) {
      if (!Object.hasOwn(value, name)) {
        if (required) return { path: at(name), expected: "a value: it is required" }
        continue
      }
      const mismatch = check(value[name], at(name))
      if (mismatch !== undefined) return mismatch
    }
    const stranger = closed ? Object.keys(value).find((name) => !names.has(name)) : undefined
    return stranger === undefined ? fine : { path: at(stranger), expected: "left out: there is no such field" }
  }
}

export const record = (shape: Readonly<Record<string, Check>>): Check => members(shape, false)
export const closedRecord = (shape: Readonly<Record<string, Check>>): Check => members(shape, true)

/** Passes if one of the checks passes; otherwise returns the deepest mismatch. */
export const either =
  (...checks: ReadonlyArray<Check>): Check =>
  (value, path) => {
    let deepest: Mismatch | undefined
    for (const check of checks) {
      const mismatch = check(value, path)
      if (mismatch === undefined) return fine
      if (deepest === undefined || mismatch.path.length > deepest.path.length) deepest = mismatch
    }
    return deepest
  }

export const nullable = (check: Check): Check => either(check, nothing)

/** Chooses the check by the word in one member, such as `type` or `role`. */
export const byMember = (name: string, kinds: Readonly<Record<string, Check>>): Check => {
  const expected = `one of ${Object.keys(kinds)
    .map((kind) => `'${kind}'`)
    .join(", ")}`
  return (value, path) => {
    if (!isRecord(value)) return { path, expected: "an object" }
    const kind = value[name]
    const check = typeof kind === "string" && Object.hasOwn(kinds, kind) ? kinds[kind] : undefined
    return check === undefined ? { path: path === "" ? name : `${path}.${name}`, expected } : check(value, path)
  }
}
