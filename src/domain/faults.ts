// Configuration errors: turns schema issues into sentences with the path of the wrong value.
// It must not know files, headers or credentials. It quotes a value only where the value cannot be a secret.
import type * as Schema from "effect/Schema"
import { isOutOfRange, outOfRange } from "./text/json.ts"
import { hint } from "./text/nearest.ts"

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
  const own = inner._tag === "InvalidValue" ? messageOf(inner.annotations) : undefined
  return own ?? messageOf(issue.filter.annotations) ?? "must not be empty"
}
