// Reads the paths of Google's own dialects, and the model that a path names: Gemini Developer API, Vertex AI, Claude by rawPredict.
// It must not know accounts, keys or bodies. Rules: N101-N110, N901-N903, T2102.
import { isClaudeName, isOtherName } from "../models/modelName.ts"
import { memoizeBounded } from "../collections.ts"
import { type FamilyRef, isEndpointId, parseFamily, parseModelRef } from "../ModelRef.ts"
import { notOffered, type NotOffered } from "./notOffered.ts"
import * as Result from "effect/Result"
import { BodyInvalid, UnsupportedOperation } from "../GatewayError.ts"

// Splits the path of a request into percent-decoded segments, with the tolerance that base URLs of SDKs need.

const version = /^v1(alpha|beta1?)?$/

/** A decoded segment that a URL or a second decoding would read in another way. */
// oxlint-disable-next-line no-control-regex
const unsound = /[\u0000-\u001f\u007f-\u009f\\?#]|%[0-9a-f]{2}/i

const decoded = (text: string): string | undefined => {
  if (!text.includes("%")) return text
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** True for `v1`, `v1beta`, `v1beta1` and `v1alpha`. */
const isVersion = (segment: string | undefined): boolean => segment !== undefined && version.test(segment)

/**
 * The segments of a path without its query, or undefined where a path has no single reading. An encoded slash separates
 * segments too: AnthropicVertex encodes the one between slug and model. Slashes are tolerated twice at the beginning and
 * once at the end.
 */
const pathSegments = (path: string): ReadonlyArray<string> | undefined => {
  const trimmed = path.replace(/^\/{1,2}/, "").replace(/\/$/, "")
  if (trimmed === "") return []
  const whole = decoded(trimmed)
  if (whole === undefined || unsound.test(whole)) return undefined
  const segments = whole.split("/")
  if (segments.some((segment) => /^\.{0,2}(:|$)/.test(segment))) return undefined
  // The version of the SDK's own path counts where a base URL has one already.
  return isVersion(segments[0]) && isVersion(segments[1]) ? segments.slice(1) : segments
}

// Reads the paths of Google's own dialects: Gemini Developer API, Vertex AI, express mode, endpoints, and Claude by rawPredict.

/** Which product's dialect the client speaks; express mode and endpoints are Vertex AI. */
export type NativeForm = "google" | "vertex"

/** Methods of Google's services that are served; `countMessages` is rawPredict of the pseudo-model `count-tokens`. */
export type NativeVerb =
  | "generateContent"
  | "streamGenerateContent"
  | "countTokens"
  | "computeTokens"
  | "embedContent"
  | "batchEmbedContents"
  | "predict"
  | "rawPredict"
  | "streamRawPredict"
  | "countMessages"

/** Verbs in Anthropic's dialect. */
export const isClaudeVerb = (verb: NativeVerb): boolean =>
  verb === "rawPredict" || verb === "streamRawPredict" || verb === "countMessages"

export interface NativePlace {
  readonly project: string
  readonly location: string
}

/** A call of one model. */
export interface NativeCall {
  readonly _tag: "Call"
  readonly form: NativeForm
  readonly version: string
  readonly verb: NativeVerb
  /** The model as the path names it: `@slug/id`, `id`, `anthropic.id` of Claude, `endpoints.id`; empty for `countMessages`. */
  readonly model: string
  /** Project and location of the path; undefined in the google form and in express mode. */
  readonly place: NativePlace | undefined
}

/** The list of models, or one entry of it. */
export interface NativeModels {
  readonly _tag: "Models"
  readonly form: NativeForm
  readonly publisher: "google" | "anthropic"
  /** Undefined: the list. */
  readonly model: string | undefined
}

export interface NativeMethod {
  readonly _tag: "WrongMethod"
  readonly allow: ReadonlyArray<string>
}

/** No path of these dialects, though one of their prefixes. */
export interface NativeUnknown {
  readonly _tag: "Unknown"
}

export type NativePath = NativeCall | NativeModels | NotOffered | NativeMethod | NativeUnknown

const unknown: NativeUnknown = { _tag: "Unknown" }

/** Table of N104: the forms of the path in which a verb is served. */
const verbs: Readonly<Record<string, ReadonlyArray<"google" | "vertex" | "anthropic" | "endpoint">>> = {
  generateContent: ["google", "vertex", "endpoint"],
  streamGenerateContent: ["google", "vertex", "endpoint"],
  countTokens: ["google", "vertex", "endpoint"],
  computeTokens: ["vertex"],
  embedContent: ["google", "vertex"],
  batchEmbedContents: ["google"],
  predict: ["google", "vertex", "endpoint"],
  rawPredict: ["anthropic"],
  streamRawPredict: ["anthropic"]
}

/** The verbs an unknown one is answered with. */
export const servedVerbs: ReadonlyArray<string> = Object.keys(verbs)

const googleVersions: ReadonlySet<string> = new Set(["v1", "v1beta", "v1alpha"])
const vertexVersions: ReadonlySet<string> = new Set(["v1", "v1beta1"])

/** A model and its verb; the verb stands after the last colon. */
interface Named {
  readonly model: string
  readonly verb: string | undefined
}

const namedBy = (segments: ReadonlyArray<string>): Named | undefined => {
  const text = segments.join("/")
  const colon = text.lastIndexOf(":")
  if (colon < 0) return { model: text, verb: undefined }
  const verb = text.slice(colon + 1)
  const model = text.slice(0, colon)
  return /^[A-Za-z]{1,64}$/.test(verb) && model !== "" && !model.includes(":") ? { model, verb } : undefined
}

const isRead = (method: string): boolean => method === "GET" || method === "HEAD"

/** A verb is called by POST alone. */
const posted = (method: string, path: NativePath): NativePath =>
  method === "POST" || path._tag === "Unknown" ? path : { _tag: "WrongMethod", allow: ["POST"] }

const listed = (method: string, path: NativeModels): NativePath =>
  isRead(method) ? path : { _tag: "WrongMethod", allow: ["GET"] }

/** The verb as its own word, if one of these forms serves it. */
const servedVerb = (verb: string, form: "google" | "vertex" | "anthropic" | "endpoint"): NativeVerb | undefined => {
  const forms = Object.hasOwn(verbs, verb) ? verbs[verb] : undefined
  return forms?.includes(form) === true ? (verb as NativeVerb) : undefined
}

/** Where a call was found, before its model and verb are read. */
interface PathRoute {
  readonly method: string
  readonly form: NativeForm
  readonly version: string
  readonly place: NativePlace | undefined
}

const call = ({ form, place, version }: PathRoute, verb: NativeVerb, model: string): NativeCall => ({
  _tag: "Call",
  form,
  version,
  verb,
  model,
  place
})

/** `models/{model}:{verb}`, `{@slug}/{model}:{verb}`, and the lists. */
const googlePath = (segments: ReadonlyArray<string>, route: PathRoute): NativePath => {
  const [first = "", ...rest] = segments
  const { method } = route
  const isSlugged = first.startsWith("@")
  if (first !== "models" && !isSlugged) return unknown
  const models = { _tag: "Models", form: "google", publisher: "google" } as const
  if (rest.length === 0) return isSlugged ? unknown : listed(method, { ...models, model: undefined })
  const named = namedBy(isSlugged ? segments : rest)
  if (named === undefined) return unknown
  if (named.verb === undefined) return isSlugged ? unknown : listed(method, { ...models, model: named.model })
  const verb = servedVerb(named.verb, "google")
  return posted(method, verb === undefined ? notOffered.verb("google", named.verb) : call(route, verb, named.model))
}

const hasPublisher = (id: string): boolean => id.startsWith("anthropic.") || id.startsWith("anthropic/")

/** Claude is written with its publisher, which the family of a model is read from. */
const claudeModel = (model: string): string => {
  const slash = model.startsWith("@") ? model.indexOf("/") + 1 : 0
  const id = model.slice(slash)
  return hasPublisher(id) || isClaudeName(id) ? model : `${model.slice(0, slash)}anthropic.${id}`
}

const claudePath = (model: string, verb: string, route: PathRoute): NativePath => {
  const served = servedVerb(verb, "anthropic")
  if (served === undefined) return notOffered.publisherVerb("anthropic", verb)
  if (model !== "count-tokens")
    return isOtherName(model.replace(/^@[^/]*\//, "")) ? notOffered.notClaude : call(route, served, claudeModel(model))
  return served === "rawPredict" ? call(route, "countMessages", "") : notOffered.publisherVerb("anthropic", verb)
}

/** `publishers/{publisher}/models/{model}:{verb}`; @google/genai writes a slug in the publisher's place (N103). */
const publisherPath = (segments: ReadonlyArray<string>, route: PathRoute): NativePath => {
  const [publisher = "", collection = "", ...below] = segments
  // @ai-sdk/google-vertex leaves `models` out before a model with a slash.
  const hasSlug = collection.startsWith("@")
  if (collection !== "models" && !hasSlug) return unknown
  const rest = hasSlug ? [collection, ...below] : below
  const isSlugged = publisher.startsWith("@")
  if (!isSlugged && publisher !== "google" && publisher !== "anthropic") return notOffered.publisher(publisher)
  const list = { _tag: "Models", form: "vertex", publisher: publisher === "anthropic" ? publisher : "google" } as const
  if (rest.length === 0) return isSlugged ? unknown : listed(route.method, { ...list, model: undefined })
  const named = namedBy(rest)
  if (named === undefined) return unknown
  const model = isSlugged ? `${publisher}/${named.model}` : named.model
  if (named.verb === undefined) return listed(route.method, { ...list, model })
  const isRaw = servedVerb(named.verb, "anthropic") !== undefined
  if (publisher === "anthropic" || (isSlugged && isRaw)) {
    return posted(route.method, claudePath(model, named.verb, route))
  }
  const verb = servedVerb(named.verb, "vertex")
  const refused = isRaw ? notOffered.publisherVerb("google", named.verb) : notOffered.verb("vertex", named.verb)
  return posted(route.method, verb === undefined ? refused : call(route, verb, model))
}

/** `endpoints/{id}:{verb}` (N107). */
const endpointPath = (segments: ReadonlyArray<string>, route: PathRoute): NativePath => {
  const named = namedBy(segments)
  if (segments[0] === "openapi") return notOffered.openApi
  if (named?.verb === undefined || !isEndpointId(named.model)) return unknown
  const verb = servedVerb(named.verb, "endpoint")
  const refused = notOffered.endpointVerb(named.verb)
  return posted(route.method, verb === undefined ? refused : call(route, verb, `endpoints.${named.model}`))
}

const vertexPath = (segments: ReadonlyArray<string>, route: PathRoute): NativePath => {
  const [first, ...rest] = segments
  if (first === "publishers") return publisherPath(rest, route)
  return first === "endpoints" && route.place !== undefined ? endpointPath(rest, route) : unknown
}

/** `projects/{p}/locations/{l}/...` */
const projectPath = (segments: ReadonlyArray<string>, method: string, version: string): NativePath => {
  const [project = "", locations, location = "", ...rest] = segments
  const [resource] = rest
  if (locations !== "locations" || resource === undefined) return unknown
  if (resource === "models") return notOffered.projectModels
  return (
    notOffered.store(resource) ?? vertexPath(rest, { method, form: "vertex", version, place: { project, location } })
  )
}

const versionedPath = (version: string, segments: ReadonlyArray<string>, method: string): NativePath => {
  const [first, ...rest] = segments
  const isVertex = vertexVersions.has(version)
  if (first === "projects") return isVertex ? projectPath(rest, method, version) : unknown
  if (first === "publishers")
    return isVertex ? vertexPath(segments, { method, form: "vertex", version, place: undefined }) : unknown
  const refused = notOffered.store(first ?? "")
  if (refused !== undefined) return refused
  return googleVersions.has(version)
    ? googlePath(segments, { method, form: "google", version, place: undefined })
    : unknown
}

/** Names that OpenAI and Anthropic use below `/v1` as well. */
const sharedNames: ReadonlySet<string> = new Set(["files", "batches"])

/** Whether a path below `/v1` is of these dialects; what several dialects have belongs to that of the client. */
const isNative = ([first = "", ...rest]: ReadonlyArray<string>, isGoogleClient: boolean): boolean => {
  if (first === "projects" || first === "publishers" || first.startsWith("@")) return true
  if (first === "models") return isGoogleClient || (rest.at(-1) ?? "").includes(":")
  const name = first.split(":")[0] ?? ""
  return notOffered.store(name) !== undefined && (isGoogleClient || !sharedNames.has(name))
}

const prefix = /^\/{1,2}(v1|upload|ws)/
/** Prefixes below which no other dialect has a path. */
const ownPrefix = /^\/{1,2}(v1(beta1?|alpha)|upload|ws|v1\/(projects|publishers|@|%40|v1(alpha|beta)))/

const read = (method: string, path: string, isGoogleClient: boolean): NativePath | undefined => {
  if (!prefix.test(path)) return undefined
  const segments = pathSegments(path)
  if (segments === undefined) return ownPrefix.test(path) ? unknown : undefined
  const [version = "", ...rest] = segments
  if (version === "ws" && rest.length > 0) return notOffered.live
  if (version === "upload" && rest.length > 0) return notOffered.upload
  if (!isVersion(version)) return undefined
  return version === "v1" && !isNative(rest, isGoogleClient) ? undefined : versionedPath(version, rest, method)
}

/** What a reading reads of a method. */
type MethodKind = "GET" | "POST" | "OTHER"

const methodKind = (method: string): MethodKind => (method === "POST" ? "POST" : isRead(method) ? "GET" : "OTHER")

/** The readings of the paths that were asked for, by method and client. */
const readings = (isGoogleClient: boolean) => {
  const reading = (method: MethodKind) => memoizeBounded((path) => ({ native: read(method, path, isGoogleClient) }))
  return { GET: reading("GET"), POST: reading("POST"), OTHER: reading("OTHER") }
}
const ofGoogleClients = readings(true)
const ofOthers = readings(false)

/** The reading of a path without its query, or undefined where the path belongs to other routes. */
export const readNativePath = (method: string, path: string, isGoogleClient: boolean): NativePath | undefined =>
  (isGoogleClient ? ofGoogleClients : ofOthers)[methodKind(method)](path).native

// The model of a native call as the router takes it: slug, id and family, and the number of its endpoint.

export interface NativeModel extends FamilyRef {
  readonly slug: string | undefined
  /** Without slug, as lists of keys and accounts name it. */
  readonly rest: string
}

/** Verbs of the dialect that each family speaks on these routes. */
const speaks = (verb: NativeCall["verb"], family: FamilyRef["family"]): boolean => {
  const isRaw = verb === "rawPredict" || verb === "streamRawPredict" || verb === "countMessages"
  return isRaw ? family === "claude" : family === "gemini" || family === "endpoint"
}

/** The refusal of a model whose dialect the verb is not (N106, N804). */
const otherDialect = ({ verb }: NativeCall, model: string): Result.Result<never, UnsupportedOperation> =>
  Result.fail(
    new UnsupportedOperation({
      message: `"${model.slice(0, 64)}" is not served by ${verb}: Gemini is called by generateContent, Claude by rawPredict below publishers/anthropic or by /v1/messages, every model by /v1/chat/completions.`
    })
  )

/** Reads a model by itself; `text` may carry a slug. */
export const readNativeModel = (
  call: NativeCall,
  text: string
): Result.Result<NativeModel, BodyInvalid | UnsupportedOperation> =>
  Result.flatMap(parseModelRef(text), ({ rest, slug }) =>
    // Full resource names and tuned models are no place for a stored credential.
    /^(projects|tunedModels|locations)\//.test(rest)
      ? Result.fail(
          new BodyInvalid({
            code: "invalid_model",
            param: "model",
            message:
              "Full resource names are not taken: project and location come from the credential, endpoints are written endpoints/{id}."
          })
        )
      : Result.flatMap(parseFamily(rest), (ref): Result.Result<NativeModel, UnsupportedOperation> =>
          speaks(call.verb, ref.family) ? Result.succeed({ ...ref, slug, rest }) : otherDialect(call, rest)
        )
  )
