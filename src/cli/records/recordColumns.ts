// The columns of the tables that list keys, providers, configs and prompts.
// Must not know where a resource comes from.
import type { Json, JsonObject } from "../../domain/text/json.ts"
import { isJsonObject } from "../../domain/text/json.ts"

type Column = readonly [head: string, cell: (resource: JsonObject) => string]

const renderValue = (value: Json | undefined): string =>
  value === undefined || value === null
    ? "-"
    : Array.isArray(value)
      ? value.map(renderValue).join(",")
      : isJsonObject(value)
        ? Object.entries(value)
            .map(([name, member]) => `${name}=${renderValue(member)}`)
            .join(",")
        : String(value)

const fieldColumn = (name: string, head = name): Column => [head, (resource) => renderValue(resource[name])]

const columns = {
  keys: [
    fieldColumn("id"),
    fieldColumn("name"),
    fieldColumn("prefix"),
    fieldColumn("scopes"),
    fieldColumn("providers"),
    fieldColumn("models"),
    [
      "state",
      ({ expires_at: expires, revoked_at: revoked }) =>
        revoked === undefined ? (expires === undefined ? "active" : `until ${renderValue(expires)}`) : "revoked"
    ],
    fieldColumn("source")
  ],
  providers: [
    fieldColumn("slug"),
    fieldColumn("provider"),
    fieldColumn("project_id", "project"),
    fieldColumn("region"),
    ["credential", ({ credential }) => (isJsonObject(credential) ? renderValue(credential["type"]) : "-")],
    fieldColumn("source")
  ],
  configs: [fieldColumn("id"), fieldColumn("name"), fieldColumn("version"), fieldColumn("source")],
  prompts: [
    fieldColumn("id"),
    fieldColumn("name"),
    fieldColumn("model"),
    fieldColumn("version"),
    fieldColumn("labels"),
    fieldColumn("source")
  ]
} as const satisfies Readonly<Record<string, ReadonlyArray<Column>>>

/** A header row, and one row per resource. */
export const recordRows = (
  noun: keyof typeof columns,
  resources: ReadonlyArray<JsonObject>
): ReadonlyArray<ReadonlyArray<string>> => {
  const shown: ReadonlyArray<Column> = columns[noun]
  return [shown.map(([head]) => head), ...resources.map((resource) => shown.map(([, cell]) => cell(resource)))]
}

/** One row per field of a resource. */
export const fieldRows = (resource: JsonObject): ReadonlyArray<ReadonlyArray<string>> =>
  Object.entries(resource)
    .filter(([name]) => name !== "object")
    .map(([name, value]) => [
      name,
      isJsonObject(value) || Array.isArray(value) ? JSON.stringify(value) : renderValue(value)
    ])
