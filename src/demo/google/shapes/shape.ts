// Defines the notation for Google's request messages, and checks a JSON body against messages in that notation.
// It must not depend on any particular message, route or model; it checks shape, not meaning.

import { isRecord } from "./open.ts"

/**
 * One message: field name to type word. A word is one of:
 * - `string`, `bool`, `int32`, `int64`, `number`, `bytes`, `duration`, `timestamp`, `struct` (any object), `any`;
 * - the name of a message or enum, `[word]` for a list, `{word}` for a map with string keys.
 *
 * A `!` at the end means required. A field name `oneof NAME` contains a group of which at most one member may be set.
 */
export interface MessageShape {
  readonly [field: string]: string | Readonly<Record<string, string>>
}

/** The messages and enums of one API; `notEmpty` names messages that may not be `{}`. */
export interface Shapes {
  readonly messages: Readonly<Record<string, MessageShape>>
  readonly enums: Readonly<Record<string, string>>
  readonly notEmpty: ReadonlyArray<string>
}

export interface Violation {
  readonly field: string
  readonly description: string
  /** The group in which two members were set. */
  readonly oneof?: { readonly group: string; readonly members: ReadonlyArray<string> }
}

export interface Reading {
  readonly violations: ReadonlyArray<Violation>
  /** The body in camelCase, without `null` members, enum values in upper case; valid only without violations. */
  readonly value: unknown
}

interface Field {
  readonly name: string
  readonly type: string
  readonly required: boolean
  readonly group: string | undefined
}

interface Message {
  readonly name: string
  readonly spellings: ReadonlyMap<string, Field>
  readonly required: ReadonlyArray<Field>
  readonly notEmpty: boolean
}

interface State {
  readonly messages: ReadonlyMap<string, Message>
  readonly enums: ReadonlyMap<string, ReadonlySet<string>>
  readonly violations: Array<Violation>
}

/** `inlineData` as `inline_data`. */
export const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

const compileMessage = (name: string, shape: MessageShape, notEmpty: boolean): Message => {
  const spellings = new Map<string, Field>()
  const required: Array<Field> = []
  const add = (fieldName: string, word: string, group: string | undefined) => {
    const isRequired = word.endsWith("!")
    const field = { name: fieldName, type: isRequired ? word.slice(0, -1) : word, required: isRequired, group }
    spellings.set(fieldName, field)
    spellings.set(snake(fieldName), field)
    if (isRequired) required.push(field)
  }
  for (const [key, word] of Object.entries(shape)) {
    if (typeof word === "string") add(key, word, undefined)
    else for (const [member, type] of Object.entries(word)) add(member, type, key.replace("oneof ", ""))
  }
  return { name, spellings, required, notEmpty }
}

const isInt32 = (value: unknown): boolean =>
  typeof value === "number" && Number.isInteger(value) && value >= -2147483648 && value <= 2147483647

const scalars: Readonly<Record<string, { readonly type: string; readonly accepts: (value: unknown) => boolean }>> = {
  string: { type: "TYPE_STRING", accepts: (value) => typeof value === "string" },
  bool: { type: "TYPE_BOOL", accepts: (value) => typeof value === "boolean" },
  int32: { type: "TYPE_INT32", accepts: isInt32 },
  int64: {
    type: "TYPE_INT64",
    accepts: (value) =>
      typeof value === "string" ? /^-?[0-9]{1,19}$/.test(value) : typeof value === "number" && Number.isInteger(value)
  },
  number: { type: "TYPE_DOUBLE", accepts: (value) => typeof value === "number" },
  bytes: {
    type: "TYPE_BYTES",
    accepts: (value) => typeof value === "string" && /^[A-Za-z0-9+/_-]*={0,2}$/.test(value)
  },
  duration: {
    type: "type.googleapis.com/google.protobuf.Duration",
    accepts: (value) => typeof value === "string" && /^-?[0-9]+(\.[0-9]{1,9})?s$/.test(value)
  },
  timestamp: { type: "type.googleapis.com/google.protobuf.Timestamp", accepts: (value) => typeof value === "string" },
  struct: { type: "type.googleapis.com/google.protobuf.Struct", accepts: isRecord },
  any: { type: "type.googleapis.com/google.protobuf.Value", accepts: () => true }
}

const shown = (value: unknown): string => {
  const text = typeof value === "string" ? `"${value}"` : (JSON.stringify(value) ?? "undefined")
  return text.length > 120 ? `${text.slice(0, 120)}...` : text
}

const readMessage = (state: State, message: Message, value: unknown, path: string): unknown => {
  if (!isRecord(value)) {
    const what = Array.isArray(value)
      ? "Proto field is not repeating, cannot start list."
      : `Invalid value (${message.name}), ${shown(value)}`
    state.violations.push({ field: path, description: `Invalid value at '${path}': ${what}` })
    return undefined
  }
  const out: Record<string, unknown> = {}
  const set = new Set<Field>()
  const groups = new Map<string, string>()
  let members = 0
  for (const [key, member] of Object.entries(value)) {
    members += 1
    const field = message.spellings.get(key)
    if (field === undefined) {
      const at = path === "" ? "" : ` at '${path}'`
      state.violations.push({
        field: path,
        description: `Invalid JSON payload received. Unknown name "${key}"${at}: Cannot find field.`
      })
      continue
    }
    if (member === null) continue
    if (field.group !== undefined) {
      const other = groups.get(field.group)
      if (other !== undefined) {
        const description = `Invalid value at '${path}' (oneof), oneof field '${field.group}' is already set. Cannot set '${key}'`
        state.violations.push({ field: path, description, oneof: { group: field.group, members: [other, key] } })
      }
      groups.set(field.group, key)
    }
    set.add(field)
    out[field.name] = readType(
      state,
      field.type,
      member,
      path === "" ? snake(field.name) : `${path}.${snake(field.name)}`
    )
  }
  for (const field of message.required) {
    if (set.has(field)) continue
    const at = path === "" ? snake(field.name) : `${path}.${snake(field.name)}`
    state.violations.push({ field: at, description: `${at}: required field is not set` })
  }
  if (message.notEmpty && members === 0) {
    state.violations.push({
      field: path,
      description: `${path}: required oneof field 'data' must have one initialized field`
    })
  }
  return out
}

const readType = (state: State, type: string, value: unknown, path: string): unknown => {
  if (type.startsWith("[")) {
    const inner = type.slice(1, -1)
    if (Array.isArray(value))
      return value.map((item: unknown, index) => readType(state, inner, item, `${path}[${index}]`))
    state.violations.push({
      field: path,
      description: `Invalid value at '${path}' (repeated ${inner}), ${shown(value)}`
    })
    return undefined
  }
  if (type.startsWith("{")) {
    const inner = type.slice(1, -1)
    if (isRecord(value)) {
      const read = ([key, item]: [string, unknown]) => [key, readType(state, inner, item, `${path}[${key}]`)] as const
      return Object.fromEntries(Object.entries(value).map(read))
    }
    state.violations.push({ field: path, description: `Invalid value at '${path}' (map of ${inner}), ${shown(value)}` })
    return undefined
  }
  const message = state.messages.get(type)
  if (message !== undefined) return readMessage(state, message, value, path)
  const words = state.enums.get(type)
  if (words !== undefined) {
    if (typeof value === "string" && words.has(value)) return value.toUpperCase()
    state.violations.push({ field: path, description: `Invalid value at '${path}' (TYPE_ENUM), ${shown(value)}` })
    return undefined
  }
  const scalar = scalars[type]
  if (scalar === undefined) throw new Error(`shape word ${type} is not defined`)
  if (!scalar.accepts(value)) {
    state.violations.push({ field: path, description: `Invalid value at '${path}' (${scalar.type}), ${shown(value)}` })
  }
  return value
}

/**
 * Compiles the messages of one API once and returns their reader. The reader accepts proto JSON as Google does:
 * both spellings of a name, `null` for "not set", enum values in upper or lower case.
 */
export const compileShapes = (shapes: Shapes): ((entry: string, body: unknown) => Reading) => {
  const compiled = Object.entries(shapes.messages).map(
    ([name, shape]) => [name, compileMessage(name, shape, shapes.notEmpty.includes(name))] as const
  )
  const messages = new Map(compiled)
  const enums = new Map(
    Object.entries(shapes.enums).map(([name, words]) => {
      const upper = words.split(" ")
      return [name, new Set([...upper, ...upper.map((word) => word.toLowerCase())])] as const
    })
  )
  return (entry, body) => {
    const message = messages.get(entry)
    if (message === undefined) throw new Error(`message ${entry} is not defined`)
    const state: State = { messages, enums, violations: [] }
    const value = readMessage(state, message, body, "")
    return { violations: state.violations, value }
  }
}
