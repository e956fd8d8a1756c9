// Finds the cloud resources a prepared body names: Cloud Storage objects, cached contents, document stores.
// Must not depend on accounts or permissions.
import { storageObject } from "../domain/text/cloudStorage.ts"
import { isJsonObject, type Json, type JsonObject } from "../domain/text/json.ts"

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
  const found: Array<NamedObject> = []
  for (const key in body) {
    const holder = plain(key)
    if (readHolders.has(holder) || opaque.has(holder)) continue
    visit(body[key], holder, (text, member) => {
      const name = text.trim()
      if (destination.test(name) && !(holder === "parameters" && member === "storageuri"))
        found.push({ use: "write", name: text, member })
    })
  }
  return found
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
  const found: Array<NamedObject> = []
  const resource = (name: string) => {
    if (name.includes("projects/")) found.push({ use: "resource", name })
  }
  for (const name of both(body["parameters"], "storageUri", "storage_uri"))
    if (typeof name === "string") found.push({ use: "write", name })
  for (const request of requestsOf(body)) {
    found.push(...destinations(request))
    for (const name of both(request, "cachedContent", "cached_content")) if (typeof name === "string") resource(name)
    const { tools } = request
    // Google reads an object where a list is due as its only element.
    for (const tool of Array.isArray(tools) ? tools : [tools])
      if (isJsonObject(tool)) visit(tool["retrieval"], "", resource)
  }
  return found
}

/**
 * Lists the objects a body names. Read objects need a search of the whole body, so they are listed for `withReads`
 * only.
 */
export const namedObjects = (body: Json, withReads: boolean): ReadonlyArray<NamedObject> => {
  if (!isJsonObject(body)) return []
  const found = atPlaces(body)
  if (withReads) {
    for (const request of requestsOf(body)) {
      for (const key in request) {
        const holder = plain(key)
        if (opaque.has(holder) || holder === "generatecontentrequest") continue
        const isWritten = !readHolders.has(holder)
        visit(request[key], holder, (text, member) => {
          if (!holdsAddress(member) || member === "storageuri" || storageObject(text) === undefined) return
          if (!isWritten || !destination.test(text.trim())) found.push({ use: "read", name: text })
        })
      }
    }
  }
  return found
}
