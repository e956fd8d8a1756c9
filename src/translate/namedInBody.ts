// Finds what a body names next to the model that is called: other models, and the cloud resources it uses.
// It must not know accounts, permissions, or which models a key may call. Derived from the published schemas.
import { storageObject } from "../domain/text/cloudStorage.ts"
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

// Cloud resources: Cloud Storage objects, cached contents, document stores

export interface NamedObject {
  /** `resource` is a Google Cloud resource name, such as `projects/P/locations/L/cachedContents/C`. */
  readonly use: "read" | "write" | "resource"
  readonly name: string
  /** The member of a write that is not the documented `storageUri` of `parameters`. */
  readonly member?: string
}

/** Google accepts members in either spelling. */
const plain = (member: string): string => member.replaceAll("_", "").toLowerCase()

/** Members with values from a model or client; an address in them is text and is not fetched. */
const opaque = new Set([
  "text",
  "args",
  "arguments",
  "response",
  "functiondeclarations",
  "inputschema",
  "responseschema",
  "responsejsonschema",
  "labels",
  "metadata",
  "stopsequences"
])

/** What a model reads. An address in any other member of a body is a place to write to, whatever the member is called. */
const readHolders = new Set([
  "cachedcontent",
  "content",
  "contents",
  "generatecontentrequest",
  "input",
  "instances",
  "messages",
  "prompt",
  "requests",
  "system",
  "systeminstruction",
  "tools"
])

const destination = /^(gs|bq):/i

/** Addresses such as `generationOutputConfig.outputUriPrefix` and `generationConfig.responseFormat.video.gcsUri`. */
const destinations = (body: JsonObject): ReadonlyArray<NamedObject> => {
  const objects: Array<NamedObject> = []
  for (const key in body) {
    const holder = plain(key)
    if (readHolders.has(holder) || opaque.has(holder)) continue
    visit(body[key], holder, (text, member) => {
      const name = text.trim()
      if (destination.test(name) && !(holder === "parameters" && member === "storageuri"))
        objects.push({ use: "write", name: text, member })
    })
  }
  return objects
}

const holdsAddress = (member: string): boolean =>
  member.endsWith("uri") || member.endsWith("url") || member === "filedata" || member === "data"

/** Visits every text in a value, with the member that contains it. */
const visit = (value: Json | undefined, member: string, meet: (text: string, member: string) => void): void => {
  if (typeof value === "string") meet(value, member)
  else if (Array.isArray(value)) for (const item of value) visit(item, member, meet)
  else if (isJsonObject(value) && value["type"] !== "tool_use") {
    for (const key in value) {
      const inner = plain(key)
      if (!opaque.has(inner)) visit(value[key], inner, meet)
    }
  }
}

/** Both spellings of a member: which of the two an upstream reads is not documented. */
const both = (holder: Json | undefined, camel: string, snake: string): ReadonlyArray<Json | undefined> =>
  isJsonObject(holder) ? [holder[camel], holder[snake]] : []

/** The body, and the whole request that a count of tokens may hold. */
const requestsOf = (body: JsonObject): ReadonlyArray<JsonObject> =>
  [body, ...both(body, "generateContentRequest", "generate_content_request")].filter(isJsonObject)

/** Names at fixed positions, without a search. */
const atPlaces = (body: JsonObject): Array<NamedObject> => {
  const objects: Array<NamedObject> = []
  const resource = (name: string) => {
    if (name.includes("projects/")) objects.push({ use: "resource", name })
  }
  for (const name of both(body["parameters"], "storageUri", "storage_uri"))
    if (typeof name === "string") objects.push({ use: "write", name })
  for (const request of requestsOf(body)) {
    objects.push(...destinations(request))
    for (const name of both(request, "cachedContent", "cached_content")) if (typeof name === "string") resource(name)
    const { tools } = request
    // Google reads an object where a list is due as its only element.
    for (const tool of Array.isArray(tools) ? tools : [tools])
      if (isJsonObject(tool)) visit(tool["retrieval"], "", resource)
  }
  return objects
}

/**
 * Lists the objects a body names. Read objects need a search of the whole body, so they are listed for `withReads`
 * only.
 */
export const namedObjects = (body: Json, withReads: boolean): ReadonlyArray<NamedObject> => {
  if (!isJsonObject(body)) return []
  const objects = atPlaces(body)
  if (withReads) {
    for (const request of requestsOf(body)) {
      for (const key in request) {
        const holder = plain(key)
        if (opaque.has(holder) || holder === "generatecontentrequest") continue
        const isWritten = !readHolders.has(holder)
        visit(request[key], holder, (text, member) => {
          if (!holdsAddress(member) || member === "storageuri" || storageObject(text) === undefined) return
          if (!isWritten || !destination.test(text.trim())) objects.push({ use: "read", name: text })
        })
      }
    }
  }
  return objects
}
