// Reads what a chat asks of its answer: `response_format` (text or JSON), and how much the model thinks.
// Must not depend on how an upstream enforces a format or thinks.
import * as Result from "effect/Result"
import type { RequestFault } from "../../../domain/GatewayError.ts"
import { type Reader, reading } from "../../../domain/Reader.ts"
import { isJsonObject, type JsonObject } from "../../../domain/text/json.ts"
import type { ChatRequest } from "../../../wire/openai/Chat.ts"
import { invalid, numberOf } from "./paramReader.ts"

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

// Reads the thinking options of a chat request (`reasoning_effort`, `thinking`) as an effort, a budget or a switch.

export type Effort = "minimal" | "low" | "medium" | "high" | "xhigh" | "max"

export type Thinking =
  | { readonly _tag: "Off" }
  /** Thinking on; the model chooses the amount. */
  | { readonly _tag: "On" }
  /** Thinking with the model's dynamic budget, requested explicitly (-1). */
  | { readonly _tag: "Dynamic" }
  | { readonly _tag: "Effort"; readonly effort: Effort }
  /** A budget in tokens, greater than 0. */
  | { readonly _tag: "Budget"; readonly tokens: number }

/** The requested thinking and the parameter that requested it; undefined when both parameters are absent. */
export interface AskedThinking {
  readonly thinking: Thinking
  readonly param: "thinking" | "reasoning_effort"
}

/** Budget in tokens of each effort, for upstreams that accept budgets; the two highest depend on the model (M-201). */
export const effortTokens: Readonly<Record<Effort, number>> = {
  minimal: 1_024,
  low: 1_024,
  medium: 8_192,
  high: 24_576,
  xhigh: 24_576,
  max: 24_576
}

const efforts: ReadonlyMap<unknown, Thinking> = new Map<unknown, Thinking>([
  ["none", { _tag: "Off" }],
  ["minimal", { _tag: "Effort", effort: "minimal" }],
  ["low", { _tag: "Effort", effort: "low" }],
  ["medium", { _tag: "Effort", effort: "medium" }],
  ["high", { _tag: "Effort", effort: "high" }],
  ["xhigh", { _tag: "Effort", effort: "xhigh" }],
  ["max", { _tag: "Effort", effort: "max" }]
])

/** Checks both parameters; `thinking` takes precedence over `reasoning_effort`. */
export const readThinking = (request: ChatRequest): Result.Result<AskedThinking | undefined, RequestFault> =>
  reading((reader): AskedThinking | undefined => {
    const effort = readEffort(reader, request.reasoning_effort)
    const thinking = readSwitch(reader, request.thinking)
    if (thinking !== undefined) return { thinking, param: "thinking" }
    return effort === undefined ? undefined : { thinking: effort, param: "reasoning_effort" }
  })

/** A word that is no effort asks for nothing. */
const readEffort = (reader: Reader, value: unknown): Thinking | undefined =>
  value === undefined || value === null || typeof value === "string"
    ? efforts.get(value?.toLowerCase())
    : reader.invalid("reasoning_effort", "invalid_type", "reasoning_effort has the wrong type: expected string.")

const readSwitch = (reader: Reader, value: ChatRequest["thinking"]): Thinking | undefined => {
  if (value === undefined || value === null) return undefined
  const type = value["type"] ?? "enabled"
  const given = value["budget_tokens"] ?? undefined
  const tokens = given === undefined ? undefined : numberOf(given)
  if (typeof type !== "string" || (given !== undefined && tokens === undefined)) {
    const [name, expected] = typeof type === "string" ? ["budget_tokens", "number"] : ["type", "string"]
    return reader.invalid(
      `thinking.${name}`,
      "invalid_type",
      `thinking.${name} has the wrong type: expected ${expected}.`
    )
  }
  const budget = tokens === undefined ? undefined : Math.round(Math.min(tokens, Number.MAX_SAFE_INTEGER))
  if (type === "disabled" || budget === 0) return { _tag: "Off" }
  if (budget === undefined) return { _tag: "On" }
  return budget < 0 ? { _tag: "Dynamic" } : { _tag: "Budget", tokens: budget }
}
