// A request in one of Google's own dialects: the facts of its path, what is read of its bytes, the few places that are written over.
// It must not know accounts, configs, keys or HTTP. Rules: N203, N301-N306, N309, N801, N802.
import * as Result from "effect/Result"
import { readEach } from "../../domain/faults.ts"
import { BodyInvalid } from "../../domain/GatewayError.ts"
import { isClaudeVerb, type NativeForm, type NativeVerb } from "../../domain/native/nativePath.ts"
import { Reader } from "../../domain/Reader.ts"
import {
  decodeUtf8,
  isJsonObject,
  type Json,
  type JsonLimits,
  type JsonObject,
  parseExactJsonText
} from "../../domain/text/json.ts"
import { printable } from "../../domain/text/printable.ts"
import {
  editTopLevel,
  elementsOf,
  innerMembers,
  kindOf,
  type Member,
  memberJson,
  type Members,
  type Splice,
  spliced,
  type TopLevelEdits,
  topMembers
} from "../../domain/text/topMembers.ts"
import { vertexVersion } from "../../wire/anthropic.ts"
import { betaRule, bodyBetas, countedId } from "../shared/claude.ts"
import { camelName, opaqueMembers, opaqueNames, type RepeatedMember, repeatedMember, snakeName } from "./memberNames.ts"

export interface NativeRequest {
  readonly verb: NativeVerb
  /** Which product's dialect the client speaks. */
  readonly form: NativeForm
  /** The version of the path. */
  readonly version: string
  /** The model as the path names it, slug included. */
  readonly model: string
  /** Without slug and prefix. */
  readonly modelId: string
  readonly stream: boolean
  readonly framing: "sse" | "array"
  /** Parameters for an upstream of the same product, from `?` on. */
  readonly query: string
  /** Headers by which a client of Vertex AI chooses how its request is served. */
  readonly headers: Readonly<Record<string, string>>
  readonly bytes: Uint8Array
  /** Members of a config that have no effect on a native body. */
  readonly ignored: ReadonlyArray<string>
}

/** The body as JSON with exact numbers, for what has to look at all of it. */
export const parsedBody = (bytes: Uint8Array): JsonObject => {
  const body: Json = Result.getOrElse(parseExactJsonText(decodeUtf8(bytes) ?? ""), () => null)
  return isJsonObject(body) ? body : {}
}

// What the gateway reads of a native body in its bytes, and the few places it writes over.

/** A native body and what is known of it; everything else is in its bytes. */
export interface NativeBody {
  readonly bytes: Uint8Array
  /** Flags of Claude's `anthropic_beta`. */
  readonly betas: ReadonlyArray<string>
  /** The model that the body of `countMessages` names. */
  readonly model: string | undefined
  /** The person or account that `metadata.user_id` of a message names. */
  readonly user?: Json | undefined
}

/** The model of the path as a body may repeat it. */
export interface PathModel {
  readonly form: NativeForm
  /** Without slug, as written. */
  readonly rest: string
  /** Without slug and prefix. */
  readonly modelId: string
}

const refused = (code: string, param: string, message: string) =>
  Result.fail(new BodyInvalid({ code, param, message: `${param} ${message}` }))
const missing = (param: string) => refused("missing_required_parameter", param, "is missing.")

type Read<A> = Result.Result<A, BodyInvalid>

/** The member under either spelling. */
export const either = (members: Members, name: string): Member | undefined =>
  members.get(name) ?? members.get(snakeName(name)) ?? members.get(camelName(name))

/** The largest number of requests in a batch. Source: Google's page on batchEmbedContents. */
const mostRequests = 100

/** An array with something in it. */
const filled = (bytes: Uint8Array, members: Members, name: string): Read<Member> => {
  const member = members.get(name)
  if (member === undefined) return missing(name)
  if (kindOf(bytes, member) !== "array") return refused("invalid_type", name, "has the wrong type: expected array.")
  return elementsOf(bytes, member, 0).length === 0
    ? refused("empty_array", name, "is empty; send at least one element.")
    : Result.succeed(member)
}

/** Whether a body's model is that of the path: alone, with slug, or with the prefixes of a resource. */
const isSameModel = (written: string, { modelId, rest }: PathModel): boolean => {
  const id = written.replace(/^.*\bmodels\//, "").replace(/^@[a-z0-9-]+\//, "")
  return id === rest || id === modelId
}

/** What is put in the place of a repeated model; undefined: the bytes stay. */
const modelSplice = (bytes: Uint8Array, members: Members, path: PathModel, param: string): Read<Splice | undefined> => {
  const member = members.get("model")
  if (member === undefined) return Result.succeed(undefined)
  const written = memberJson(bytes, member)
  if (typeof written !== "string") return refused("invalid_type", param, "has the wrong type: expected string.")
  if (!isSameModel(written, path)) return refused("invalid_value", param, "is not the model of the path.")
  const sent = `models/${path.modelId}`
  return Result.succeed(
    // A bare id is taken too (recorded), so its bytes stay.
    written === sent || written === path.modelId
      ? undefined
      : { from: member.value, to: member.to, text: JSON.stringify(sent) }
  )
}

const withSplices = (bytes: Uint8Array, splices: ReadonlyArray<Splice | undefined>): Uint8Array =>
  spliced(
    bytes,
    splices.filter((one) => one !== undefined)
  )

const body = (bytes: Uint8Array): NativeBody => ({ bytes, betas: noBetas, model: undefined })
const noBetas: ReadonlyArray<string> = []

const inOrder = (members: Members): ReadonlyArray<Member> => [...members.values()]

/** generateContent and countTokens: the wrapper of countTokens holds a request of its own. */
const readContents = (bytes: Uint8Array, members: Members, path: PathModel): Read<NativeBody> => {
  const wrapper = either(members, "generateContentRequest")
  const inner = wrapper === undefined ? undefined : innerMembers(bytes, wrapper)
  const isCounted = members.has("instances") && !members.has("contents")
  const reader = new Reader<never>()
  if (inner === undefined && !isCounted) {
    const contents = members.get("contents")
    // Google reads an object where a list is due as its only element, as its own pages write it.
    const isOne = contents !== undefined && kindOf(bytes, contents) === "object"
    if (!isOne) reader.take(filled(bytes, members, "contents"))
  }
  const edits = reader.take(ownModel(bytes, members, path))
  const splice =
    inner === undefined ? undefined : reader.take(modelSplice(bytes, inner, path, "generateContentRequest.model"))
  const edited = withSplices(bytes, [splice])
  // A splice moves the members after it.
  const known = edited === bytes ? inOrder(members) : undefined
  return reader.result(body(edits === undefined ? edited : editTopLevel(edited, edits, known)))
}

/** The edit of a model at the top: the Gemini API gets the path's, the bodies of Vertex AI have none. */
const ownModel = (bytes: Uint8Array, members: Members, path: PathModel): Read<TopLevelEdits | undefined> =>
  Result.map(modelSplice(bytes, members, path, "model"), (splice) => {
    if (path.form === "vertex") return members.has("model") ? { model: undefined } : undefined
    return splice === undefined ? undefined : { model: splice.text }
  })

/** The SDK repeats the path's model in each request, slug and all (N303). */
const readBatch = (bytes: Uint8Array, members: Members, path: PathModel): Read<NativeBody> =>
  Result.flatMap(filled(bytes, members, "requests"), (requests) => {
    const elements = elementsOf(bytes, requests, mostRequests)
    if (elements.length > mostRequests)
      return refused("invalid_value", "requests", `holds more than ${mostRequests} elements.`)
    const splices = readEach(elements, (element, index) =>
      modelSplice(bytes, innerMembers(bytes, element), path, `requests[${index}].model`)
    )
    return Result.map(splices, (edits) => body(withSplices(bytes, edits)))
  })

/** embedContent: `model` may be repeated, the content is an object. */
const readEmbedded = (bytes: Uint8Array, members: Members, path: PathModel): Read<NativeBody> => {
  const content = members.get("content")
  if (content === undefined) return missing("content")
  if (kindOf(bytes, content) !== "object") {
    return refused("invalid_type", "content", "has the wrong type: expected object.")
  }
  return readRepeated(bytes, members, path)
}

/** A body that may repeat the model at its top and nowhere else. */
const readRepeated = (bytes: Uint8Array, members: Members, path: PathModel): Read<NativeBody> =>
  Result.map(ownModel(bytes, members, path), (edit) =>
    body(edit === undefined ? bytes : editTopLevel(bytes, edit, inOrder(members)))
  )

/** Claude by rawPredict: the version stays as the client wrote it, and the model is the path's (N304, N801). */
const readRaw = (bytes: Uint8Array, members: Members, verb: NativeVerb): Read<NativeBody> => {
  const valueOf = (name: string): Json | undefined => {
    const member = members.get(name)
    return member === undefined ? undefined : memberJson(bytes, member)
  }
  const betas = bodyBetas(valueOf("anthropic_beta"))
  if (betas === undefined) return refused("invalid_header", "anthropic-beta", `${betaRule}.`)
  const isCount = verb === "countMessages"
  const most = valueOf("max_tokens")
  if (!isCount && most === undefined) return missing("max_tokens")
  if (!isCount && !(typeof most === "number" && Number.isSafeInteger(most) && most > 0))
    return refused("invalid_value", "max_tokens", "is a positive whole number below 2^53.")
  const model = valueOf("model")
  const metadata = valueOf("metadata")
  if (isCount && typeof model !== "string") return missing("model")
  const stream = valueOf("stream")
  if (stream === true && verb === "rawPredict")
    return refused("invalid_value", "stream", "is true, but rawPredict does not stream: use streamRawPredict.")
  if (stream !== undefined && stream !== true && verb === "streamRawPredict")
    return refused("invalid_value", "stream", "is not true, but streamRawPredict streams: use rawPredict.")
  const edits: Record<string, string | undefined> = {
    ...(members.has("anthropic_version") ? {} : { anthropic_version: JSON.stringify(vertexVersion) }),
    ...(members.has("anthropic_beta") ? { anthropic_beta: undefined } : {}),
    ...(!isCount && members.has("model") ? { model: undefined } : {}),
    ...(verb === "streamRawPredict" && stream === undefined ? { stream: "true" } : {})
  }
  return Result.succeed({
    bytes: Object.keys(edits).length === 0 ? bytes : editTopLevel(bytes, edits, inOrder(members)),
    betas,
    model: isCount && typeof model === "string" ? model : undefined,
    user: isJsonObject(metadata) ? metadata["user_id"] : undefined
  })
}

const opaqueInGoogle = opaqueMembers(opaqueNames)
const opaqueInPredict = opaqueMembers(["instances"])
const opaqueInClaude = opaqueMembers(["input", "inputSchema", "schema", "metadata"])

const opaqueIn = (verb: NativeVerb) =>
  verb === "predict" ? opaqueInPredict : isClaudeVerb(verb) ? opaqueInClaude : opaqueInGoogle

/** Which of the two the upstream would read is not documented. */
const repeated = ({ names: [first, second], path }: RepeatedMember): Read<never> => {
  const [one, other] = [printable(first), printable(second)]
  const message =
    one === other
      ? `${path} is in the body twice; send it once.`
      : `"${one}" and "${other}" are two names of ${path}; send one of them.`
  return Result.fail(new BodyInvalid({ code: "duplicate_key", param: path, message }))
}

/** Reads a body for a path, and edits it where the path's model, slug included, is repeated. */
export const readNativeBody = (
  verb: NativeVerb,
  path: PathModel,
  bytes: Uint8Array,
  limits: JsonLimits
): Read<NativeBody> =>
  Result.flatMap(topMembers(bytes, limits), (members) => {
    const twice = repeatedMember(bytes, opaqueIn(verb))
    if (twice !== undefined) return repeated(twice)
    switch (verb) {
      case "generateContent":
      case "streamGenerateContent":
      case "countTokens":
      case "computeTokens":
        return readContents(bytes, members, path)
      case "batchEmbedContents":
        return readBatch(bytes, members, path)
      case "embedContent":
        return readEmbedded(bytes, members, path)
      case "predict":
        return Result.flatMap(filled(bytes, members, "instances"), () => readRepeated(bytes, members, path))
      case "rawPredict":
      case "streamRawPredict":
      case "countMessages":
        return Result.flatMap(filled(bytes, members, "messages"), () => readRaw(bytes, members, verb))
    }
  })

const renamed = (bytes: Uint8Array, members: Members, sent: string): Splice | undefined => {
  const member = members.get("model")
  return member === undefined ? undefined : { from: member.value, to: member.to, text: sent }
}

/** The body with another model wherever it repeats that of the path; a config may choose one. */
export const withModel = (verb: NativeVerb, bytes: Uint8Array, modelId: string): Uint8Array => {
  const sent = JSON.stringify(`models/${modelId}`)
  const members = innerMembers(bytes, { value: bytes.indexOf(0x7b) })
  const wrapper = either(members, "generateContentRequest")
  const requests = verb === "batchEmbedContents" ? members.get("requests") : undefined
  const inner = [
    ...(wrapper === undefined ? [] : [wrapper]),
    ...(requests === undefined ? [] : elementsOf(bytes, requests, mostRequests))
  ]
  const splices = [
    renamed(bytes, members, sent),
    ...inner.map((holder) => renamed(bytes, innerMembers(bytes, holder), sent))
  ]
  return withSplices(
    bytes,
    splices.toSorted((a, b) => (a?.from ?? 0) - (b?.from ?? 0))
  )
}

/** The body of a count with the model as Vertex AI knows it. */
export const countedMessages = (bytes: Uint8Array, modelId: string): Uint8Array =>
  editTopLevel(bytes, { model: JSON.stringify(countedId(modelId)), stream: undefined })

/** Members of a config merged onto a body in Google's words, as edits of its top; `model` and `contents` cannot be overridden (N601). */
export const overriddenBody = (bytes: Uint8Array, google: JsonObject, labels: JsonObject | undefined): Uint8Array => {
  const open = bytes.indexOf(0x7b)
  const members = innerMembers(bytes, { value: open })
  const edits: Record<string, string> = {}
  for (const [name, value] of Object.entries(merged({}, { ...google, ...(labels === undefined ? {} : { labels }) }))) {
    if (value === undefined || name === "model" || name === "contents") continue
    const member = either(members, name)
    const before = member === undefined ? undefined : memberJson(bytes, member)
    edits[member?.key ?? name] = JSON.stringify(mergedValue(before, value, opaqueNames.has(camelName(name))))
  }
  const changes: TopLevelEdits = edits
  return Object.keys(edits).length === 0 ? bytes : editTopLevel(bytes, changes)
}

/** The body with another value of a top member; unchanged for undefined. */
export const withMember = (
  bytes: Uint8Array,
  name: string,
  change: (before: Json | undefined) => Json | undefined
): Uint8Array => {
  const member = either(innerMembers(bytes, { value: bytes.indexOf(0x7b) }), name)
  const value = change(member === undefined ? undefined : memberJson(bytes, member))
  return value === undefined ? bytes : editTopLevel(bytes, { [member?.key ?? name]: JSON.stringify(value) })
}

/** A member keeps the name that the body has for it (N309), but within `opaque` members each name is its own. */
const merged = (before: JsonObject, over: JsonObject, isOpaque = false): JsonObject => {
  const all: Record<string, Json | undefined> = { ...before }
  for (const [name, value] of Object.entries(over)) {
    if (value === undefined) continue
    const field = camelName(name)
    const isOwn = isOpaque || Object.hasOwn(all, name)
    const key = isOwn ? name : (Object.keys(all).find((one) => camelName(one) === field) ?? name)
    all[key] = mergedValue(all[key], value, isOpaque || opaqueNames.has(field))
  }
  return all
}

/** Objects are merged, everything else is replaced. */
const mergedValue = (before: Json | undefined, over: Json, isOpaque: boolean): Json =>
  isJsonObject(over) ? merged(isJsonObject(before) ? before : {}, over, isOpaque) : over

/** Texts without which a body names no object of a store: cheap to search, in any spelling and with any quotes. */
const marks = ["gs:", "GS:", "Gs:", "gS:", "bq:", "BQ:", "Bq:", "bQ:", "ached", "torage", "etrieval", "\\u00"]

/** Whether `namedObjects` has to look at the parsed body; false costs a search of the bytes. */
export const mayNameObjects = (bytes: Uint8Array): boolean => {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return marks.some((mark) => text.includes(mark, 0, "latin1"))
}
