// Reads `response_format` (structured output): free text, any JSON object, or JSON by a schema.
// Must not depend on how an upstream enforces the format.
import * as Result from "effect/Result"
import type { RequestFault } from "../../../domain/GatewayError.ts"
import { isJsonObject, type JsonObject } from "../../../domain/text/json.ts"
import type { ChatRequest } from "../../../wire/openai/Chat.ts"
import { invalid } from "../fault.ts"

export type AskedFormat =
  | { readonly _tag: "Text" }
  | { readonly _tag: "Object" }
  /** `named` is `json_schema`: the schema with its name and description. `path` is where the request has the schema. */
  | { readonly _tag: "Schema"; readonly named: JsonObject; readonly schema: JsonObject; readonly path: string }

const schemaPath = "response_format.json_schema.schema"

type Format = ChatRequest["response_format"]

/** The place of a schema in the spellings of other servers and of the Responses API. */
const plainNames = ["schema", "response_schema", "json_schema"] as const

const plainName = (format: NonNullable<Format>): (typeof plainNames)[number] | undefined =>
  plainNames.find((name) => isJsonObject(format[name]))

/** A schema next to its type is one of `json_schema`, where OpenAI's API has it. */
export const openAiFormat = (format: Format): Format => {
  const type = format?.["type"]
  if (format === undefined || format === null || (type !== "json_object" && type !== "json_schema")) return format
  const named = format["json_schema"]
  if (isJsonObject(named) && isJsonObject(named["schema"]))
    return type === "json_schema" ? format : { type: "json_schema", json_schema: named }
  const at = plainName(format)
  if (at === undefined || (isJsonObject(named) && !isSchema(named))) return format
  const { name, strict } = format
  return {
    type: "json_schema",
    json_schema: {
      name: typeof name === "string" ? name : "response",
      ...(typeof strict === "boolean" ? { strict } : {}),
      schema: format[at]
    }
  }
}

/** A schema in the place of an object that has one. */
const isSchema = (value: JsonObject): boolean =>
  ["type", "properties", "anyOf", "oneOf", "allOf", "$ref", "enum"].some((word) => value[word] !== undefined)

/** The same format as a text, for models without a JSON mode; undefined for free text. */
export const formatWords = (format: AskedFormat): string | undefined => {
  if (format._tag === "Text") return undefined
  return format._tag === "Object"
    ? "Answer with one JSON object, without any text or code fence around it."
    : `Answer with JSON that follows this schema: ${JSON.stringify(format.schema)}`
}

const text: AskedFormat = { _tag: "Text" }

const pathOf = (asked: Format): string => {
  const named = asked?.["json_schema"]
  if (isJsonObject(named) && isJsonObject(named["schema"])) return schemaPath
  return `response_format.${asked === undefined || asked === null ? "schema" : plainName(asked)}`
}

const noSchema = (path: string) => invalid(path, "invalid_value", `${path} must be a JSON schema, which is an object.`)

export const readFormat = (asked: Format): Result.Result<AskedFormat, RequestFault> => {
  const format = openAiFormat(asked)
  const type = format?.["type"]
  if (format === undefined || format === null || type === "text") return Result.succeed(text)
  if (type === "json_object")
    return (format["schema"] ?? undefined) === undefined
      ? Result.succeed({ _tag: "Object" })
      : noSchema("response_format.schema")
  if (type !== "json_schema") {
    return invalid(
      "response_format.type",
      "invalid_value",
      "response_format.type must be text, json_object or json_schema."
    )
  }
  const named = format["json_schema"]
  const schema = isJsonObject(named) ? named["schema"] : undefined
  return isJsonObject(named) && isJsonObject(schema)
    ? Result.succeed({ _tag: "Schema", named, schema, path: pathOf(asked) })
    : noSchema(schemaPath)
}
