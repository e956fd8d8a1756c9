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
const plainPath = "response_format.schema"

type Format = ChatRequest["response_format"]

/** Clients of other servers put the schema next to `json_object`. OpenAI's API has it in `json_schema`. */
export const openAiFormat = (format: Format): Format => {
  const schema = format?.["type"] === "json_object" ? format["schema"] : undefined
  return isJsonObject(schema) ? { type: "json_schema", json_schema: { name: "response", schema } } : format
}

const text: AskedFormat = { _tag: "Text" }

const noSchema = (path: string) => invalid(path, "invalid_value", `${path} must be a JSON schema, which is an object.`)

export const readFormat = (asked: Format): Result.Result<AskedFormat, RequestFault> => {
  const format = openAiFormat(asked)
  const type = format?.["type"]
  if (format === undefined || format === null || type === "text") return Result.succeed(text)
  if (type === "json_object")
    return (format["schema"] ?? undefined) === undefined ? Result.succeed({ _tag: "Object" }) : noSchema(plainPath)
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
    ? Result.succeed({ _tag: "Schema", named, schema, path: format === asked ? schemaPath : plainPath })
    : noSchema(schemaPath)
}
