// The function that replaces a custom tool upstream, whose input is plain text: one member with the text, and back.
// Must not depend on where a tool is declared or called. Rule: R313.
import * as Result from "effect/Result"
import { isJsonObject, type Json, type JsonObject, parseJsonText } from "../../../domain/text/json.ts"

const textOf = (value: Json | undefined): string => (typeof value === "string" ? value : "")

/** Description and parameters of the function. The grammar is in `format`, nested under its name on the chat route. */
export const customFunction = ({ description, format: given }: JsonObject): JsonObject => {
  const format = isJsonObject(given) ? given : {}
  const { definition, syntax } = isJsonObject(format["grammar"]) ? format["grammar"] : format
  const grammar =
    format["type"] === "grammar" ? `It must follow this ${textOf(syntax)} grammar:\n${textOf(definition)}` : ""
  return {
    description: [textOf(description), 'Put the whole input as text into "input".', grammar]
      .filter((text) => text !== "")
      .join("\n\n"),
    parameters: {
      type: "object",
      properties: { input: { type: "string" } },
      required: ["input"],
      additionalProperties: false
    }
  }
}

/** The arguments of a call of the function. */
export const customArguments = (input: string): string => JSON.stringify({ input })

/** What stands under `input`; whatever else came, as it came. */
export const customInput = (text: string): string => {
  const read = parseJsonText(text)
  const input = Result.isSuccess(read) && isJsonObject(read.success) ? read.success["input"] : undefined
  return typeof input === "string" ? input : text
}
