// Types of self-healing: the lesson of a refusal, the call that it changes, and the change; members and paths of a body.
// Must not depend on an upstream's wording.
import type { BodyInvalid } from "../../domain/GatewayError.ts"
import type { ModelRecord } from "../../domain/models/ModelRecord.ts"
import { isJsonObject, type Json, type JsonObject } from "../../domain/text/json.ts"
import type { Adjustment } from "../Translator.ts"

/** The refusals that are healed or answered in the gateway's own words. Each has a row in docs/internals/cases.md. */
export const healRows = [
  "H1",
  "H2",
  "H3",
  "H4",
  "H5",
  "H6",
  "H7",
  "H8",
  "H9",
  "H10",
  "H11",
  "H12",
  "H13",
  "H14",
  "H15",
  "H16",
  "H17",
  "H18",
  "H19",
  "H20",
  "H21",
  "H23",
  "H24",
  "H30"
] as const
export type HealRow = (typeof healRows)[number]

/** What a model refuses: the row of the refusal, and the value it names; `""` for a field that is refused with any value. */
export interface Lesson {
  readonly row: HealRow
  readonly value: string
}

/** An upstream call that may be changed. Its body is the upstream's, not the client's. */
export interface HealableCall {
  readonly record: ModelRecord
  readonly body: JsonObject
  readonly headers: Readonly<Record<string, string>>
  /** The request parameter by which the client asked for thinking. */
  readonly thinkingParam: string
}

/** The changed parts of a call, and their names for the client. */
export interface CallChange {
  readonly body?: JsonObject
  readonly headers?: Readonly<Record<string, string>>
  readonly ignored?: ReadonlyArray<string>
  readonly adjusted?: ReadonlyArray<Adjustment>
}

/**
 * The change of a call by a lesson: undefined when the call has nothing that the lesson is about, a fault when the
 * request has to be refused. `values` are all refused values of the row.
 */
export type Remedy = (
  call: HealableCall,
  value: string,
  values: ReadonlyArray<string>
) => CallChange | BodyInvalid | undefined

// Members of a JSON object.

/** The object under a name; an empty one where the member is absent or no object. */
export const objectAt = (body: JsonObject, name: string): JsonObject => {
  const value = body[name]
  return isJsonObject(value) ? value : {}
}

/** The array under a name; undefined where the member is absent or no array. */
export const arrayAt = (body: JsonObject, name: string): ReadonlyArray<Json> | undefined => {
  const value: Json = body[name] ?? null
  return Array.isArray(value) ? value : undefined
}

export const withoutMembers = (object: JsonObject, ...names: ReadonlyArray<string>): JsonObject =>
  Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)))

// Fields of a Claude body by the path that a refusal names; none with content, or on which the answer depends unseen.

/** Members whose loss would change what is asked for. */
const neededFields: ReadonlySet<string> = new Set([
  "*",
  "content",
  "container",
  "data",
  "id",
  "input",
  "input_schema",
  "max_tokens",
  "mcp_servers",
  "messages",
  "model",
  "name",
  "role",
  "signature",
  "source",
  "stop_sequences",
  "stream",
  "system",
  "text",
  "tool_use_id",
  "tools",
  "type",
  "url"
])
/** Below these everything is the client's or the model's own data. */
const closed: ReadonlySet<string> = new Set(["input", "input_schema", "source"])

/** True for a field that may be taken off. */
export const isDroppable = (path: string): boolean => {
  const names = path.split(".")
  return !neededFields.has(names.at(-1) ?? "*") && !names.some((name) => closed.has(name))
}

/** The value without the member; a value that lacks it is returned itself. Names of variants in a path are passed over. */
const without = (value: Json, [name = "", ...rest]: ReadonlyArray<string>): Json => {
  if (Array.isArray(value)) {
    const items = value.map((item) => without(item, name === "*" ? rest : [name, ...rest]))
    return items.every((item, at) => item === value[at]) ? value : items
  }
  if (!isJsonObject(value) || name === "") return value
  const inner = value[name]
  if (inner === undefined) return without(value, rest)
  if (rest.length === 0) return Object.fromEntries(Object.entries(value).filter(([key]) => key !== name))
  const changed = without(inner, rest)
  return changed === inner ? value : { ...value, [name]: changed }
}

/** The members of a path, without places and names of variants. */
const namesOf = (value: Json | undefined, [name = "", ...rest]: ReadonlyArray<string>): ReadonlyArray<string> => {
  if (name === "") return []
  if (Array.isArray(value)) return namesOf(value.find(isJsonObject), name === "*" ? rest : [name, ...rest])
  const inner = isJsonObject(value) ? value[name] : undefined
  // A member that the first item lacks may be in another one.
  if (inner === undefined && rest.length > 0) return namesOf(value, rest)
  return [name, ...namesOf(inner, rest)]
}

/** The body without the field, and the field's name for the client; undefined where it is not there or has to stay. */
export const withoutPath = (
  body: JsonObject,
  path: string
): { readonly body: JsonObject; readonly name: string } | undefined => {
  if (!isDroppable(path)) return undefined
  const segments = path.split(".")
  const changed = without(body, segments)
  return changed === body || !isJsonObject(changed)
    ? undefined
    : { body: changed, name: namesOf(body, segments).join(".") }
}
