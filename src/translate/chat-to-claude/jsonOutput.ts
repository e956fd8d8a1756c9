// Structured output as a tool of ours that the model has to call: its arguments are the answer.
// It must not know messages, or how an answer is read.
import * as Result from "effect/Result"
import type { RequestFault } from "../../domain/GatewayError.ts"
import { isJsonObject, type Json, type JsonObject } from "../../domain/text/json.ts"
import type { ChatRequest } from "../../wire/openai/Chat.ts"
import { readFormat } from "../shared/chat-request/readFormat.ts"

/** Works on every model, while the field for a format exists on the newest alone. */
export interface JsonOutput {
  /** Of the tool; no tool of the client's has it. */
  readonly name: string
  readonly description: string
  readonly schema: JsonObject
  /** The schema is no object, so it stands under `value` of one; the answer is what stands there. */
  readonly wrapped: boolean
}

/** Undefined when the request wants text. */
export const jsonOutputOf = (request: ChatRequest): Result.Result<JsonOutput | undefined, RequestFault> =>
  Result.map(readFormat(request.response_format), (format) => {
    if (format._tag === "Text") return undefined
    const name = freeName(request)
    if (format._tag === "Object") return { name, description: usual, schema: { type: "object" }, wrapped: false }
    const { schema, named } = format
    const description =
      typeof named["description"] === "string" && named["description"] !== "" ? named["description"] : usual
    return isObjectSchema(schema)
      ? { name, description, schema: { type: "object", ...schema }, wrapped: false }
      : { name, description, schema: wrapping(schema), wrapped: true }
  })

const usual = "Gives the answer."

/** At the root a tool's schema takes none of these. */
const branches = ["anyOf", "oneOf", "allOf"]

const isObjectSchema = (schema: JsonObject): boolean =>
  !branches.some((word) => schema[word] !== undefined) &&
  (schema["type"] === "object" || (schema["type"] === undefined && isJsonObject(schema["properties"])))

/** Definitions move up to the new root, where references look for them. */
const wrapping = ({ $defs, definitions, $schema: _dialect, ...value }: JsonObject): JsonObject => ({
  type: "object",
  properties: { value },
  required: ["value"],
  ...($defs === undefined ? {} : { $defs }),
  ...(definitions === undefined ? {} : { definitions })
})

const freeName = ({ tools, functions }: ChatRequest): string => {
  const taken = new Set<Json | undefined>()
  for (const tool of tools ?? functions ?? []) {
    const declared = isJsonObject(tool) && isJsonObject(tool["function"]) ? tool["function"] : tool
    if (isJsonObject(declared)) taken.add(declared["name"])
  }
  let name = "json_output"
  for (let count = 2; taken.has(name); count++) name = `json_output_${count}`
  return name
}
