// The response format of a request: free text, any JSON object, or JSON by a schema.
// It must not know how an upstream is made to obey it.
import * as Result from "effect/Result"
import type { RequestFault } from "../../../domain/GatewayError.ts"
import { isJsonObject, type JsonObject } from "../../../domain/text/json.ts"
import type { ChatRequest } from "../../../wire/openai/Chat.ts"
import { invalid } from "../fault.ts"

export type AskedFormat =
  | { readonly _tag: "Text" }
  | { readonly _tag: "Object" }
  /** `named` is what holds the schema, with its name and description. */
  | { readonly _tag: "Schema"; readonly named: JsonObject; readonly schema: JsonObject }

/** Where the schema of a format stands. */
export const schemaPath = "response_format.json_schema.schema"

const text: AskedFormat = { _tag: "Text" }

export const readFormat = (format: ChatRequest["response_format"]): Result.Result<AskedFormat, RequestFault> => {
  const type = format?.["type"]
  if (format === undefined || format === null || type === "text") return Result.succeed(text)
  if (type === "json_object") return Result.succeed({ _tag: "Object" })
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
    ? Result.succeed({ _tag: "Schema", named, schema })
    : invalid(schemaPath, "invalid_value", `${schemaPath} must be a JSON schema, which is an object.`)
}
