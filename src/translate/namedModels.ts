// Finds the models that a body in Google's or Anthropic's dialect names next to the one that is called.
// Must not know which models a key may call. Derived from the published schemas.
import { isJsonObject, type Json, type JsonObject } from "../domain/text/json.ts"
import { innerMembers, memberJson } from "../domain/text/topMembers.ts"
import { camelName, memberOf } from "./native/memberNames.ts"

/** A model that a body names, and where. */
export interface NamedModel {
  readonly param: string
  readonly model: Json
}

type Dialect = "google" | "anthropic"

const generation = [
  "generationConfig.routingConfig.manualMode.modelName",
  "tools[].retrieval.vertexRagStore.ragRetrievalConfig.ranking.llmRanker.modelName"
]

/** Every member that names a model which answers or is paid, in camel case; `[]` is each element. */
const places: Readonly<Record<Dialect, ReadonlyArray<string>>> = {
  google: [
    "model",
    "requests[].model",
    ...generation,
    ...["model", ...generation].map((place) => `generateContentRequest.${place}`)
  ],
  // An advisor is a tool, of the request or of a message that changes the tools.
  anthropic: [
    "fallbacks[].model",
    "tools[].model",
    "messages[].content[].tool.definition.model",
    "messages[].content[].toolChanges[].tool.definition.model"
  ]
}

const steps: Readonly<Record<Dialect, ReadonlyArray<ReadonlyArray<string>>>> = {
  google: places.google.map((place) => place.split(".")),
  anthropic: places.anthropic.map((place) => place.split("."))
}

/** The values at a place, each with its path. A value that is a text where a list is due counts as its element. */
const valuesAt = (value: Json | undefined, path: string, [step, ...rest]: ReadonlyArray<string>): Array<NamedModel> => {
  if (value === undefined || value === null) return []
  if (step === undefined || typeof value === "string") return [{ param: path, model: value }]
  if (!isJsonObject(value)) return []
  const name = step.replace("[]", "")
  const inner = memberOf(value, name)
  const at = path === "" ? name : `${path}.${name}`
  return step === name || !Array.isArray(inner)
    ? valuesAt(inner, at, rest)
    : inner.flatMap((element: Json, index) => valuesAt(element, `${at}[${index}]`, rest))
}

/** The models that a body names. */
export const namedModels = (dialect: Dialect, body: Json): ReadonlyArray<NamedModel> =>
  isJsonObject(body) ? steps[dialect].flatMap((place) => valuesAt(body, "", place)) : []

/** Escapes of letters, which hide a text. No encoder writes them; those of signs and controls are common. */
const escapes = ["\\u004", "\\u005", "\\u006", "\\u007"]

/** Without these texts a body names no further model: cheap to search. */
const marks: Readonly<Record<Dialect, ReadonlyArray<string>>> = {
  google: ["odelName", "odel_name", '"model"', ...escapes],
  anthropic: ["fallbacks", "advisor", ...escapes]
}

/** The members of a body in bytes that the table reads; empty without a mark. */
export const namingMembers = (dialect: Dialect, bytes: Uint8Array): JsonObject => {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (!marks[dialect].some((mark) => text.includes(mark, 0, "latin1"))) return {}
  const read = new Set(steps[dialect].map(([top = ""]) => top.replace("[]", "")))
  const members: Record<string, Json | undefined> = {}
  for (const [key, member] of innerMembers(bytes, { value: bytes.indexOf(0x7b) }))
    if (read.has(camelName(key))) members[key] = memberJson(bytes, member)
  return members
}
