// Translates `response_format` (structured output) to Gemini's MIME type and response schema.
// Must not depend on messages; a model without a schema field gets the schema as a system text.
import * as Result from "effect/Result"
import type { RequestFault } from "../../domain/GatewayError.ts"
import type { JsonObject } from "../../domain/text/json.ts"
import type { ChatRequest } from "../../wire/openai/Chat.ts"
import { invalid } from "../shared/fault.ts"
import { type AskedFormat, formatWords, readFormat } from "../shared/chat-request/readFormat.ts"
import type { TranslateContext } from "../Translator.ts"
import { enumMembers, type SchemaBounds, typeOfAll } from "./schema/schema.ts"
import { lightSchema } from "./schema/schemaLight.ts"
import { subsetSchema } from "./schema/schemaSubset.ts"

export interface ResponseFormat {
  /** Fields of `generationConfig`. */
  readonly fields: JsonObject
  /** A text for the system instruction, for models without a schema field. */
  readonly systemText: string | undefined
}

export const responseFormat = (
  format: ChatRequest["response_format"],
  target: TranslateContext["target"],
  bounds: SchemaBounds
): Result.Result<ResponseFormat, RequestFault> =>
  Result.flatMap(readFormat(format), (asked): Result.Result<ResponseFormat, RequestFault> => {
    if (asked._tag === "Text") return done({})
    if (asked._tag === "Schema") return bySchema(asked, target, bounds)
    // Gemma refuses the mode: "JSON mode is not enabled for models/gemma-3-27b-it".
    return target.facts.generation === "gemma"
      ? done({}, formatWords(asked))
      : done({ responseMimeType: "application/json" })
  })

const done = (fields: JsonObject, systemText?: string): Result.Result<ResponseFormat, RequestFault> =>
  Result.succeed({ fields, systemText })

const bySchema = (
  asked: Extract<AskedFormat, { readonly _tag: "Schema" }>,
  target: TranslateContext["target"],
  bounds: SchemaBounds
): Result.Result<ResponseFormat, RequestFault> => {
  const { named, path, schema } = asked
  const { generation, toolSchema } = target.facts
  const isLight = toolSchema === "json"
  const converted = isLight
    ? lightSchema(schema, bounds)
    : subsetSchema(schema, { kind: target.kind, bounds, ordered: true })
  if (Result.isFailure(converted)) {
    const code = bounds.copies.spent ? "invalid_schema" : "invalid_value"
    return invalid(path, code, `${path}: ${converted.failure}.`)
  }
  if (generation === "g1" || generation === "gemma") {
    return done(generation === "g1" ? { responseMimeType: "application/json" } : {}, formatWords(asked))
  }
  const words = plainEnum(converted.success)
  if (words !== undefined) {
    return done({ responseMimeType: "text/x.enum", responseSchema: { type: "STRING", enum: words } })
  }
  const isAloneAnyOf = !isLight && target.kind === "vertex-ai" && converted.success["anyOf"] !== undefined
  const root = isAloneAnyOf ? converted.success : { ...labelled(named, converted.success), ...converted.success }
  return done({ responseMimeType: "application/json", [isLight ? "responseJsonSchema" : "responseSchema"]: root })
}

/** The format's name and description fill in a missing title and description of the schema. */
const labelled = (named: JsonObject, root: JsonObject): JsonObject => {
  const { name, description } = named
  return {
    ...(typeof name === "string" && name !== "" && root["title"] === undefined ? { title: name } : {}),
    ...(typeof description === "string" && description !== "" && root["description"] === undefined
      ? { description }
      : {})
  }
}

/** A root schema that is an enum of strings: the model then answers with the bare word. */
const plainEnum = (root: JsonObject): ReadonlyArray<string> | undefined => {
  const members = root["enum"]
  if (!Array.isArray(members) || (root["type"] !== "string" && root["type"] !== "STRING")) return undefined
  const words = enumMembers(members).filter((member) => typeof member === "string")
  return words.length > 0 && typeOfAll(members) === "string" ? words : undefined
}
