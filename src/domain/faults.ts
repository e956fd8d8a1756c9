// Turns schema issues into sentences: all faults of a configuration, the first of a request body; and suggests the nearest name.
// It must not know files, headers or which body it is. It quotes a value only where the value cannot be a secret.
import type * as Schema from "effect/Schema"
import { isOutOfRange, outOfRange, pathText } from "./text/json.ts"
import * as Result from "effect/Result"
import { BodyInvalid } from "./GatewayError.ts"

/** Keys and indices from the top of the file. */
export type FaultPath = ReadonlyArray<string | number>

export interface Fault {
  /** `providers[0].region`, or the name of a variable or flag. */
  readonly path: string
  readonly message: string
  /** The path as keys and indices; undefined when the value is not from a file. */
  readonly at: FaultPath | undefined
  /** A credential that cannot be used: the account stops, and the service does not. */
  readonly isOfCredential?: true
}

/** Renders keys and indices as `providers[0].region`. */
export const renderPath = (at: FaultPath): string =>
  at.map((part, index) => (typeof part === "number" ? `[${part}]` : index === 0 ? part : `.${part}`)).join("")

/** A fault at a path of the file. */
export const faultAt = (at: FaultPath, message: string): Fault => ({ path: renderPath(at), message, at })

/** All faults in one line, for logs and single-line messages. */
export const joinFaults = (faults: ReadonlyArray<Fault>): string =>
  faults.map(({ message, path }) => `${path} ${message}`).join("; ")

/** A quoted value of the configuration: at most 80 characters, printable ASCII only. */
export const quoteValue = (value: string): string => `"${value.slice(0, 80).replace(/[^\x20-\x7e]/g, "?")}"`

type Issue = Schema.SchemaError["issue"]
type Ast = Schema.Top["ast"]

const nouns: Readonly<Record<string, string>> = {
  String: "text",
  Number: "a number",
  Boolean: "true or false",
  Arrays: "a list",
  Objects: "a mapping of keys",
  Declaration: "a mapping of keys"
}

const messageOf = (annotations: Schema.Annotations.Annotations | undefined): string | undefined => {
  const message = annotations?.["message"]
  return typeof message === "string" ? message : undefined
}

const at = (value: unknown, key: PropertyKey): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined

/** The literals of a union: its own, or those of its members' `type`. */
const literalsOf = (ast: Ast): ReadonlyArray<string> => {
  if (ast._tag === "Literal") return [String(ast.literal)]
  if (ast._tag === "Union") return ast.types.flatMap(literalsOf)
  if (ast._tag === "Objects")
    return ast.propertySignatures.filter((one) => one.name === "type").flatMap((one) => literalsOf(one.type))
  return []
}

/** The name of a type in messages. Null is left out, because it means that the key is absent. */
const nounOf = (ast: Ast): string => {
  const types = ast._tag === "Union" ? ast.types.filter((one) => one._tag !== "Null") : [ast]
  return types.map((one) => nouns[one._tag] ?? "another kind of value").join(" or ")
}

/** A value of another type. Schemas do not count a number that is out of range as a number. */
const typeFault = (ast: Ast, value: unknown, path: FaultPath): Fault => {
  const noun = nounOf(ast)
  return faultAt(path, noun.includes("a number") && isOutOfRange(value) ? outOfRange : `expected ${noun}`)
}

const isObjects = (ast: Ast): boolean => (ast._tag === "Union" ? ast.types.some(isObjects) : ast._tag === "Objects")

/** A value outside a closed set: of words, or of mappings that differ in `type`. */
const choiceFault = (ast: Ast, value: unknown, path: FaultPath): Fault => {
  const known = literalsOf(ast)
  if (known.length === 0) return typeFault(ast, value, path)
  if (!isObjects(ast)) return wordFault(known, value, path)
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return faultAt(path, `expected a mapping with type: ${known.join(", ")}`)
  }
  const type = at(value, "type")
  return type === undefined
    ? faultAt(path, `type is missing; known: ${known.join(", ")}`)
    : wordFault(known, type, [...path, "type"])
}

/** A longer word is not a misspelling, and may be a secret in the wrong place: it is not quoted. */
const longestWord = 24

const wordFault = (known: ReadonlyArray<string>, value: unknown, path: FaultPath): Fault =>
  typeof value === "string" && value.length <= longestWord
    ? faultAt(path, `${quoteValue(value)} is not known here${hint(value, known)}`)
    : faultAt(path, `expected one of ${known.join(", ")}`)

/** Every fault of a schema issue, in the order of the schema; `value` is the value at `path`. */
export const faultsOfIssue = (issue: Issue, value: unknown, path: FaultPath = []): ReadonlyArray<Fault> => {
  switch (issue._tag) {
    case "Pointer": {
      const keys = issue.path.map((key) => (typeof key === "number" ? key : String(key)))
      return faultsOfIssue(issue.issue, keys.reduce<unknown>(at, value), [...path, ...keys])
    }
    case "Composite":
      return issue.issues.flatMap((one) => faultsOfIssue(one, value, path))
    case "AnyOf":
      return issue.issues.length === 0
        ? [choiceFault(issue.ast, value, path)]
        : issue.issues.flatMap((one) => faultsOfIssue(one, value, path))
    case "UnexpectedKey": {
      const known = issue.ast._tag === "Objects" ? issue.ast.propertySignatures.map((one) => String(one.name)) : []
      return [faultAt(path, `unknown key${hint(String(path.at(-1)), known)}`)]
    }
    case "MissingKey":
      return [faultAt(path, "is missing")]
    case "Filter":
      return [faultAt(path, isOutOfRange(value) ? outOfRange : filterMessage(issue))]
    case "InvalidType":
      return [typeFault(issue.ast, value, path)]
    default:
      return [faultAt(path, "is not valid")]
  }
}

/** The sentence that the filter produced, else that of its annotation. */
const filterMessage = (issue: Extract<Issue, { readonly _tag: "Filter" }>): string => {
  const inner = issue.issue
  const written = inner._tag === "InvalidValue" ? messageOf(inner.annotations) : undefined
  return written ?? messageOf(issue.filter.annotations) ?? "must not be empty"
}

// Suggests the nearest known name for a misspelled one ("did you mean").

/** Edits (insert, delete, replace, swap of neighbours) that turn one word into the other. */
export const editDistance = (from: string, to: string): number => {
  const rows = [Array.from({ length: to.length + 1 }, (_, column) => column)]
  const cost = (row: number, column: number): number => rows[row]?.[column] ?? 0
  for (let i = 1; i <= from.length; i++) {
    const row = [i]
    rows.push(row)
    for (let j = 1; j <= to.length; j++) {
      const replaced = cost(i - 1, j - 1) + (from[i - 1] === to[j - 1] ? 0 : 1)
      const swapped =
        from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1] && i > 1 && j > 1 ? cost(i - 2, j - 2) + 1 : replaced
      row.push(Math.min(replaced, swapped, cost(i - 1, j) + 1, cost(i, j - 1) + 1))
    }
  }
  return cost(from.length, to.length)
}

/** Letters and digits only, so that `apiKey` and `api-key` are near `api_key`. */
const plain = (word: string): string => word.toLowerCase().replace(/[^a-z0-9]/g, "")

/** The nearest known name, when its distance is at most a third of the word's length. */
export const nearest = (word: string, known: ReadonlyArray<string>): string | undefined => {
  const asked = plain(word.slice(0, 64))
  let best: { name: string; distance: number } | undefined
  const most = Math.max(1, Math.floor(asked.length / 3))
  for (const name of known) {
    const letters = plain(name)
    // The distance is at least the difference in length, and computing it costs the product of both lengths.
    if (Math.abs(letters.length - asked.length) > most) continue
    const distance = editDistance(asked, letters)
    if (distance <= most && (best === undefined || distance < best.distance)) best = { name, distance }
  }
  return best?.name
}

/** A placeholder for a known name that could not be read; any unknown name may mean it. */
export const unreadName = "\u0000"

/** True for a known name, and where the name or one of the known names could not be read. */
export const isNamed = (word: string, known: ReadonlyArray<string>): boolean =>
  word === unreadName || known.includes(word) || known.includes(unreadName)

/** `; did you mean X?`, else `; known: ...`, else empty text when nothing is known. */
export const hint = (word: string, known: ReadonlyArray<string>): string => {
  const near = nearest(word, known)
  if (near !== undefined) return `; did you mean ${near}?`
  const readable = known.filter((name) => name !== unreadName)
  return readable.length === 0 ? "" : `; known: ${readable.join(", ")}`
}

// Turns a schema error of a request body into the error answer for its first fault.

/** The innermost first fault of decoding `body`, with its path. */
export const bodyFault = (error: Schema.SchemaError, body: unknown): BodyInvalid =>
  faultOf(error.issue, [], { body, said: error.message })

type Decode<A> = (body: unknown) => Result.Result<A, Schema.SchemaError>

/**
 * Decodes a body whose numbers may be texts (`"0.7"`), integers beyond 2^53 or out of range: a number at the top that the
 * schema refuses becomes the nearest one. Other bodies are decoded once.
 */
export const decodeNumbers = <A>(decode: Decode<A>, body: object): Result.Result<A, BodyInvalid> => {
  const first = decode(body)
  if (Result.isSuccess(first)) return Result.succeed(first.success)
  let fault = bodyFault(first.failure, body)
  const read: object = { ...body }
  for (let left = Object.keys(body).length; left > 0; left--) {
    const name = fault.param ?? ""
    const value = isNumberFault(fault) ? nearestNumber(valueAt(read, [name])) : undefined
    if (value === undefined) break
    Reflect.set(read, name, value)
    const again = decode(read)
    if (Result.isSuccess(again)) return Result.succeed(again.success)
    fault = bodyFault(again.failure, read)
  }
  return Result.fail(fault)
}

const isNumberFault = ({ code, message }: BodyInvalid): boolean =>
  code === "invalid_type" ? message.includes("number") : message.endsWith(`${outOfRange}.`)

const nearestNumber = (value: unknown): number | undefined => {
  const text = typeof value === "string" ? value : isOutOfRange(value) ? JSON.stringify(value) : ""
  const number = typeof value === "number" ? value : text.trim() === "" ? Number.NaN : Number(text)
  return Number.isNaN(number) || (typeof value === "number" && Number.isFinite(value))
    ? undefined
    : Math.min(Math.max(number, -Number.MAX_VALUE), Number.MAX_VALUE)
}

/** The decoded value and the schema's error message. */
interface Decoded {
  readonly body: unknown
  readonly said: string
}

const faultOf = (issue: Issue, path: ReadonlyArray<PropertyKey>, decoded: Decoded): BodyInvalid => {
  const param = pathText(path)
  switch (issue._tag) {
    case "Pointer":
      return faultOf(issue.issue, [...path, ...issue.path], decoded)
    case "Composite":
      return faultOf(issue.issues[0], path, decoded)
    case "Encoding":
      return faultOf(issue.issue, path, decoded)
    case "MissingKey":
      return new BodyInvalid({ code: "missing_required_parameter", param, message: `${param} is missing.` })
    case "InvalidType":
    case "AnyOf": {
      const type = expected(decoded.said)
      return type.includes("number") && isOutOfRange(valueAt(decoded.body, path))
        ? outside(param)
        : new BodyInvalid({ code: "invalid_type", param, message: `${param} has the wrong type: ${type}.` })
    }
    case "Filter":
      if (isOutOfRange(valueAt(decoded.body, path))) return outside(param)
      break
  }
  return new BodyInvalid({ code: "invalid_value", param, message: `${param} has a value that is not taken.` })
}

const outside = (param: string): BodyInvalid =>
  new BodyInvalid({ code: "invalid_value", param, message: `${param} ${outOfRange}.` })

const valueAt = (value: unknown, path: ReadonlyArray<PropertyKey>): unknown =>
  path.reduce<unknown>(
    (inner, key) => (typeof inner === "object" && inner !== null ? Reflect.get(inner, key) : undefined),
    value
  )

/** `expected boolean`: the first line of the schema's message, without the null of optional fields. */
const expected = (said: string): string =>
  (said.split("\n")[0] ?? "").slice(0, 128).replace(" | null", "").replace(/^E/, "e")

// Reads the entries of a list one by one into results, and stops at the first fault.

/** The entries after `read`, or the first fault; entries after that are not read. */
export const readEach = <Entry, A, E>(
  entries: ReadonlyArray<Entry>,
  read: (entry: Entry, index: number) => Result.Result<A, E>
): Result.Result<Array<A>, E> => {
  const out: Array<A> = []
  for (const [index, entry] of entries.entries()) {
    const result = read(entry, index)
    if (Result.isFailure(result)) return Result.fail(result.failure)
    out.push(result.success)
  }
  return Result.succeed(out)
}
