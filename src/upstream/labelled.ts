// Puts the operator's labels on a call to Vertex AI: in the body of Gemini's verbs, and in a header of Claude's.
// It must not depend on where the labels come from. The cache knows a call without them.
import { type Labels, labelsUnder } from "../domain/settings/attribution.ts"
import { isJsonObject, type Json, type JsonObject } from "../domain/text/json.ts"
import { withMember } from "../translate/native/nativeBody.ts"
import { PassedCall, type Prepared } from "./Prepared.ts"

/** Base64 of a JSON object, as Google's page on labels has it for its partners. */
const labelsHeader = "x-vertex-ai-labels"

/** Google refuses labels on every other call. */
const inBody = /:(generateContent|streamGenerateContent)(\?|$)/
const inHeader = /\/publishers\/anthropic\/models\/(?!count-tokens)[^/]+:(rawPredict|streamRawPredict)(\?|$)/

const isText = (value: Json | undefined): value is string => typeof value === "string"

/** Labels of the client's own; undefined for a member that Google will refuse as it is. */
const ownLabels = (member: Json | undefined): Labels | undefined => {
  if (member === undefined || member === null) return {}
  if (!isJsonObject(member)) return undefined
  const entries = Object.entries(member).flatMap(([name, value]) => (isText(value) ? [[name, value] as const] : []))
  return entries.length === Object.keys(member).length ? Object.fromEntries(entries) : undefined
}

const merged = (member: Json | undefined, labels: Labels): JsonObject | undefined => {
  const own = ownLabels(member)
  return own === undefined ? undefined : labelsUnder(own, labels)
}

const labelledBody = (body: Json, labels: Labels): Json => {
  if (!isJsonObject(body)) return body
  const all = merged(body["labels"], labels)
  return all === undefined ? body : { ...body, labels: all }
}

type Call = Prepared<unknown, unknown>

/** The record of a call and its sending both take its labels, and an edit of bytes takes 50 us for 4 KB. */
const labelledCalls = new WeakMap<Call, Call>()

const withLabelledBytes = (call: Call, bytes: Uint8Array, labels: Labels): Call => {
  const known = labelledCalls.get(call)
  if (known !== undefined) return known
  const changed = withMember(bytes, "labels", (member) => merged(member, labels))
  const made = new PassedCall({ ...call, bytes: changed, json: () => labelledBody(call.body, labels) })
  labelledCalls.set(call, made)
  return made
}

/** The call as it is sent; the same one without labels, and where it takes none. */
export const labelled = (call: Call): Call => {
  const { bytes, headers, target, url } = call
  const { kind, labels } = target
  if (labels === undefined || kind !== "vertex-ai") return call
  if (inHeader.test(url)) {
    const text = Buffer.from(JSON.stringify(labels)).toString("base64")
    const more = { headers: { ...headers, [labelsHeader]: text } }
    return bytes === undefined
      ? { ...call, ...more }
      : new PassedCall({ ...call, ...more, bytes, json: () => call.body })
  }
  if (!inBody.test(url)) return call
  return bytes === undefined
    ? { ...call, body: labelledBody(call.body, labels) }
    : withLabelledBytes(call, bytes, labels)
}
