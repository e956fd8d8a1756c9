// Generates the JSON Schema of the configuration file, and its page, from the schema that reads the file.
// Must not state a key, a type or a bound of its own.
import { isDeepStrictEqual } from "node:util"
import type * as AST from "effect/SchemaAST"
import { variableOf } from "../../src/cli/settings/environment.ts"
import { WrittenConfig } from "../../src/domain/config/GatewayConfig.ts"
import { isJsonObject, type JsonObject } from "../../src/domain/text/json.ts"
import { publicLimits } from "../../src/domain/Limits.ts"
import { settingsFile } from "../../src/domain/settings/settingsFile.ts"
import { environmentPage } from "./environmentPage.ts"
import { settingsVariables } from "./settingsVariables.ts"

const configRef = "#/$defs/config"

/** The description of a schema. With checks, the last check holds it. */
const descriptionOf = (ast: AST.AST): JsonObject => {
  const { description } = ast.checks?.at(-1)?.annotations ?? ast.annotations ?? {}
  return typeof description === "string" ? { description } : {}
}

/** Bounds of a number, where its checks have them. */
const numberOf = (ast: AST.AST): JsonObject => {
  const told = ast.checks
    ?.map(({ annotations }) => annotations?.["toJsonSchema"])
    .find((one) => typeof one === "function")
  const schema: unknown = (told as (() => unknown) | undefined)?.()
  return isJsonObject(schema) ? schema : { type: "number" }
}

const objectOf = ({ indexSignatures, propertySignatures }: AST.Objects): JsonObject => {
  const required = propertySignatures
    .filter(({ type }) => type.context?.isOptional !== true)
    .map(({ name }) => String(name))
  const [rest] = indexSignatures
  return {
    type: "object",
    ...(propertySignatures.length === 0
      ? {}
      : { properties: Object.fromEntries(propertySignatures.map(({ name, type }) => [String(name), schemaOf(type)])) }),
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: rest === undefined ? false : schemaOf(rest.type)
  }
}

const shapeOf = (ast: AST.AST): JsonObject => {
  switch (ast._tag) {
    case "Objects":
      return ast === WrittenConfig.ast ? { $ref: configRef } : objectOf(ast)
    case "Arrays":
      return { type: "array", items: ast.rest[0] === undefined ? {} : schemaOf(ast.rest[0]) }
    case "Union":
      return ast.types.every(({ _tag }) => _tag === "Literal")
        ? { enum: ast.types.flatMap((one) => (one._tag === "Literal" ? [String(one.literal)] : [])) }
        : { anyOf: ast.types.map(schemaOf) }
    case "Literal":
      return { const: typeof ast.literal === "bigint" ? String(ast.literal) : ast.literal }
    case "Suspend":
      return schemaOf(ast.thunk())
    case "Number":
      return numberOf(ast)
    case "String":
      return ast.checks === undefined ? { type: "string" } : { type: "string", minLength: 1 }
    case "Boolean":
      return { type: "boolean" }
    default:
      return {}
  }
}

const schemaOf = (ast: AST.AST): JsonObject => ({ ...shapeOf(ast), ...descriptionOf(ast) })

const members = (schema: unknown): ReadonlyArray<readonly [name: string, schema: JsonObject]> =>
  Object.entries(isJsonObject(schema) ? schema : {}).flatMap(([name, one]) =>
    isJsonObject(one) ? [[name, one] as const] : []
  )

const reference = { type: "string", pattern: "^\\$\\{" }

/** Sections in which a number, a list, or yes and no may be a `${NAME}` that holds one. */
const takingReferences: ReadonlySet<string> = new Set(["server", "limits", "media"])
const referable: ReadonlySet<unknown> = new Set(["integer", "array", "boolean"])

const withReferences = (section: JsonObject): JsonObject => ({
  ...section,
  properties: Object.fromEntries(
    members(section["properties"]).map(([name, { description, ...one }]) => [
      name,
      {
        ...(referable.has(one["type"]) ? { anyOf: [one, reference] } : one),
        ...(description === undefined ? {} : { description })
      }
    ])
  )
})

const sections = members(objectOf(settingsFile.ast as AST.Objects)["properties"])

const secretRef = "#/$defs/secret"

/** A secret may be a text, or the place where it is read. Descriptions of secrets name `${NAME}`. */
const withSecrets = (schema: JsonObject): JsonObject => {
  const { description, ...rest } = schema
  if (schema["type"] === "string" && typeof description === "string" && description.includes("${NAME}"))
    return { anyOf: [rest, { $ref: secretRef }], description }
  return Object.fromEntries(
    Object.entries(schema).map(([name, part]) => [
      name,
      Array.isArray(part)
        ? part.map((one) => (isJsonObject(one) ? withSecrets(one) : one))
        : isJsonObject(part ?? null)
          ? withSecrets(part as JsonObject)
          : part
    ])
  )
}

const secret: JsonObject = {
  description: "The place of a secret: a variable, a file, or a version in Google's Secret Manager.",
  anyOf: ["env", "file", "secret"].map((name) => ({
    type: "object",
    properties: { [name]: { type: "string", minLength: 1 } },
    required: [name],
    additionalProperties: false
  }))
}

export const settingsSchema: JsonObject = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: "The configuration file of model-gateway",
  type: ["object", "null"],
  properties: Object.fromEntries(
    sections.map(([name, one]) => [name, withSecrets(takingReferences.has(name) ? withReferences(one) : one)])
  ),
  additionalProperties: false,
  $defs: { config: objectOf(WrittenConfig.ast as AST.Objects), secret }
}

const row = (...cells: ReadonlyArray<string>): string => `| ${cells.join(" | ")} |`
const code = (value: string): string => `\`${value}\``

/** The value in words. */
const valueOf = (schema: JsonObject): string => {
  const { anyOf, const: only, enum: words, items, maximum, minimum, type } = schema
  if (Array.isArray(words)) return words.map((one) => code(String(one))).join(", ")
  if (only !== undefined) return code(String(only))
  if (Array.isArray(anyOf)) return "one of these"
  if (type === "array") return isJsonObject(items) && items["type"] === "string" ? "list of texts" : "list"
  if (type === "integer") return `whole number, ${String(minimum)} to ${String(maximum)}`
  if (type === "boolean") return "true or false"
  return type === "string" ? "text" : type === "number" ? "number" : "mapping"
}

interface Row {
  readonly path: string
  readonly value: string
  readonly description: string
}

/** Several choices that describe one key share a row. */
const joined = (rows: ReadonlyArray<Row>): ReadonlyArray<Row> =>
  [...Map.groupBy(rows, ({ path }) => path)].map(([path, same]) => ({
    path,
    value: [...new Set(same.map(({ value }) => value))].join(", "),
    description: [...new Set(same.map(({ description }) => description))].join(" ")
  }))

/** False for a list of what is also a choice by itself: it has the same keys. */
const isNoListOf =
  (choices: ReadonlyArray<unknown>) =>
  ({ items }: JsonObject): boolean =>
    items === undefined || !choices.some((one) => isDeepStrictEqual(one, items))

/** A key, and those below it. */
const rowsOf = (path: string, schema: JsonObject): ReadonlyArray<Row> => {
  const { additionalProperties: rest, anyOf, description, items } = schema
  const choices = Array.isArray(anyOf) ? anyOf.filter(isJsonObject).filter(isNoListOf(anyOf)) : []
  return [
    {
      path,
      value:
        isJsonObject(rest) && rest["$ref"] === configRef
          ? "[gateway configs](configuration.md) by their ids"
          : valueOf(schema),
      description: typeof description === "string" ? description : ""
    },
    ...members(schema["properties"]).flatMap(([name, one]) => rowsOf(`${path}.${name}`, one)),
    ...(isJsonObject(items) && items["type"] === "object" ? rowsOf(`${path}[]`, items).slice(1) : []),
    ...(isJsonObject(rest) && (rest["properties"] ?? rest["anyOf"]) !== undefined
      ? rowsOf(`${path}.NAME`, rest).slice(1)
      : []),
    ...joined(choices.flatMap((one) => rowsOf(path, one).slice(1)))
  ]
}

const meaningOf = ({ description, path }: Row): string => {
  const [section = "", name = "", ...more] = path.split(".")
  const variable = more.length === 0 && name !== "" ? variableOf(section, name) : ""
  return [description, settingsVariables.has(variable) ? code(variable) : ""].filter((one) => one !== "").join(" ")
}

const sectionPage = ([name, schema]: readonly [string, JsonObject]): ReadonlyArray<string> => {
  const [whole, ...below] = rowsOf(name, schema)
  return [
    `## ${name}`,
    "",
    ...(whole === undefined || whole.description === "" || below.length === 0 ? [] : [whole.description, ""]),
    row("key", "value", "meaning"),
    row("---", "---", "---"),
    ...(whole === undefined || below.length > 0 ? below : [whole]).map((one) =>
      row(code(one.path), one.value, meaningOf(one))
    ),
    ""
  ]
}

const limitsPage: ReadonlyArray<string> = [
  "## limits",
  "",
  "Whole numbers. Each has a variable: `limits.bodyBytes` is `GATEWAY_LIMITS_BODY_BYTES`.",
  "",
  row("key", "unless set", "meaning"),
  row("---", "---", "---"),
  ...Object.entries(publicLimits).map(([name, { description, value }]) =>
    row(code(`limits.${name}`), String(value), description ?? "")
  ),
  "",
  "The service has further bounds, such as the depth of a body's JSON. They are in `src/domain/Limits.ts`, each with its default. The file and variables take them too, but a release may change or drop them.",
  ""
]

export const settingsPage = (): string =>
  [
    "# The configuration file",
    "",
    "Generated by `npm run docs`. Do not edit.",
    "",
    "YAML, or JSON where the name ends in `.json`. Every key may be left out, except the required ones of an entry, which `model-gateway check` names. An unknown key is a fault.",
    "`${NAME}` and `${NAME:-default}` are replaced by variables wherever text stands, and under `server`, `limits` and `media` also where a number, a list, or true and false stand. A flag wins over a variable `GATEWAY_*`, a variable over the file; all variables are [below](#environment-variables).",
    "",
    "A secret may also be the place where it is read: `{ env: NAME }`, `{ file: /run/secrets/key }`, or `{ secret: projects/P/secrets/S }` of Google's Secret Manager, with `/versions/V` or the latest. Secret Manager is asked with the login of the machine, at the start and at each reload.",
    "",
    "An editor completes and checks the file by its JSON Schema, [deploy/gateway.schema.json](../deploy/gateway.schema.json), which the package holds as well:",
    "",
    "```yaml",
    "# yaml-language-server: $schema=node_modules/model-gateway/deploy/gateway.schema.json",
    "server: { port: 8787 }",
    "```",
    "",
    ...sections.flatMap(([name, schema]) => (name === "limits" ? limitsPage : sectionPage([name, schema]))),
    ...environmentPage(settingsVariables)
  ].join("\n")
