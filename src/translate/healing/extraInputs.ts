// Takes a field off a Claude body by the path that a refusal names; no content, and nothing that the answer depends on unseen.
// Must not depend on the text of the refusal.
import { isJsonObject, type Json, type JsonObject } from "../../domain/text/json.ts"

/** Members whose loss would change what is asked for. */
const kept: ReadonlySet<string> = new Set([
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
  return !kept.has(names.at(-1) ?? "*") && !names.some((name) => closed.has(name))
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
