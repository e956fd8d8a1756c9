// Structured output for Claude: a tool of the gateway whose arguments are the answer, or the model's own format field.
// Must not depend on messages or the reading of answers. A tool works on every model; Vertex AI may forbid the field.
import * as Result from "effect/Result"
import type { RequestFault } from "../../domain/GatewayError.ts"
import { isJsonObject, type Json, type JsonObject } from "../../domain/text/json.ts"
import type { ChatRequest } from "../../wire/openai/Chat.ts"
import { readFormat } from "../shared/chat-request/readFormat.ts"
import type { Adjustment } from "../Translator.ts"
import { schemaAdjusted } from "./adjustments.ts"
import type { ClaudeFacts } from "./claudeFacts.ts"
import { nativeSchema } from "./nativeSchema.ts"

/** A tool whose arguments are the answer. */
export interface OutputTool {
  readonly _tag: "Tool"
  /** The tool's name, different from all client tools. */
  readonly name: string
  readonly description: string
  readonly schema: JsonObject
  /** True when the schema is not an object schema: it goes under `value` of an object, and so does the answer. */
  readonly wrapped: boolean
  readonly adjusted: ReadonlyArray<Adjustment>
}

/** The model's own structured output: the text of the answer is JSON. */
export interface NativeOutput {
  readonly _tag: "Native"
  readonly schema: JsonObject
  readonly adjusted: ReadonlyArray<Adjustment>
}

export type JsonOutput = OutputTool | NativeOutput

/** Undefined when the request wants text. */
export const jsonOutputOf = (
  request: ChatRequest,
  { structured }: Pick<ClaudeFacts, "structured">
): Result.Result<JsonOutput | undefined, RequestFault> =>
  Result.map(readFormat(request.response_format), (format): JsonOutput | undefined => {
    if (format._tag === "Text") return undefined
    if (format._tag === "Object") return outputTool(request, usualDescription, { type: "object" }, false, [])
    const { schema, named } = format
    const native = structured === "native" ? nativeSchema(schema) : undefined
    if (native !== undefined) {
      const adjusted = native.loosened ? [schemaAdjusted("bounds", "description")] : []
      return { _tag: "Native", schema: native.schema, adjusted }
    }
    const adjusted = structured === "native" ? [schemaAdjusted("schema", "tool")] : []
    const description =
      typeof named["description"] === "string" && named["description"] !== "" ? named["description"] : usualDescription
    return isObjectSchema(schema)
      ? outputTool(request, description, { type: "object", ...schema }, false, adjusted)
      : outputTool(request, description, wrapSchema(schema), true, adjusted)
  })

const outputTool = (
  request: ChatRequest,
  description: string,
  schema: JsonObject,
  wrapped: boolean,
  adjusted: ReadonlyArray<Adjustment>
): OutputTool => ({ _tag: "Tool", name: freeName(request), description, schema, wrapped, adjusted })

const usualDescription = "Gives the answer."

/** A tool's schema accepts none of these at its root. */
const branches = ["anyOf", "oneOf", "allOf"]

const isObjectSchema = (schema: JsonObject): boolean =>
  !branches.some((word) => schema[word] !== undefined) &&
  (schema["type"] === "object" || (schema["type"] === undefined && isJsonObject(schema["properties"])))

/** Definitions move up to the new root, the target of their references. */
const wrapSchema = ({ $defs, definitions, $schema: _dialect, ...value }: JsonObject): JsonObject => ({
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
