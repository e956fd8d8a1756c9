// How lists of what operators keep are shown: the columns of each kind.
// It must not know where a resource comes from.
import type { Json, JsonObject } from "../../domain/text/json.ts"
import { isJsonObject } from "../../domain/text/json.ts"

type Column = readonly [head: string, cell: (resource: JsonObject) => string]

const words = (value: Json | undefined): string =>
  value === undefined || value === null
    ? "-"
    : Array.isArray(value)
      ? value.map(words).join(",")
      : isJsonObject(value)
        ? Object.entries(value)
            .map(([name, member]) => `${name}=${words(member)}`)
            .join(",")
        : String(value)

const field = (name: string, head = name): Column => [head, (resource) => words(resource[name])]

const columns = {
  keys: [
    field("id"),
    field("name"),
    field("prefix"),
    field("scopes"),
    field("providers"),
    field("models"),
    [
      "state",
      ({ expires_at: expires, revoked_at: revoked }) =>
        revoked === undefined ? (expires === undefined ? "active" : `until ${words(expires)}`) : "revoked"
    ],
    field("source")
  ],
  providers: [
    field("slug"),
    field("provider"),
    field("project_id", "project"),
    field("region"),
    ["credential", ({ credential }) => (isJsonObject(credential) ? words(credential["type"]) : "-")],
    field("source")
  ],
  configs: [field("id"), field("name"), field("version"), field("source")],
  prompts: [field("id"), field("name"), field("model"), field("version"), field("labels"), field("source")]
} as const satisfies Readonly<Record<string, ReadonlyArray<Column>>>

/** A row of heads, and one for each resource. */
export const recordRows = (
  noun: keyof typeof columns,
  resources: ReadonlyArray<JsonObject>
): ReadonlyArray<ReadonlyArray<string>> => {
  const shown: ReadonlyArray<Column> = columns[noun]
  return [shown.map(([head]) => head), ...resources.map((resource) => shown.map(([, cell]) => cell(resource)))]
}

/** A line for each field of one resource. */
export const fieldRows = (resource: JsonObject): ReadonlyArray<ReadonlyArray<string>> =>
  Object.entries(resource)
    .filter(([name]) => name !== "object")
    .map(([name, value]) => [name, isJsonObject(value) || Array.isArray(value) ? JSON.stringify(value) : words(value)])
