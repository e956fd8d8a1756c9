// From headers and key to the facts of one request, read once and in a fixed order, which decides the fault a client sees.
// It must not depend on bodies or routes. Rules of Google's own dialects: N201, N206, N207, N210, N211.
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import {
  type GatewayHeader,
  gatewayHeader,
  type HeaderRecord,
  requestHeaderNames,
  strictHeader,
  withoutBearer
} from "../../api/Headers.ts"
import type { Configs } from "../../catalog/Catalog.ts"
import { BodyInvalid, CredentialsInvalid, type GatewayError, RecordUnknown } from "../../domain/GatewayError.ts"
import type { GatewayConfig } from "../../domain/config/GatewayConfig.ts"
import { allows, type GatewayKey, keyMark } from "../../domain/GatewayKey.ts"
import { isJsonObject, parseJsonText } from "../../domain/text/json.ts"
import { Reader } from "../../domain/Reader.ts"
import { isSlug } from "../../domain/ModelRef.ts"
import { isRefusedKey } from "../../domain/config/configured.ts"
import {
  type BuiltInKind,
  type CarriedCredentials,
  type CatalogView,
  nothingCarried,
  requestTypeHeader,
  requestTypes
} from "../../domain/ProviderAccount.ts"
import type { CacheOptions, RequestContext } from "../../domain/RequestContext.ts"
import { betaRule, parseBetas } from "../../translate/shared/claude.ts"
import { type IncomingRequest, traceIdGrammar } from "./IncomingRequest.ts"
import type { NativeCall } from "../../domain/native/nativePath.ts"

/** The context of a request whose key is known. It fails with the fault of the first faulty header. */
export const requestContext = ({
  catalog,
  configs,
  incoming,
  key,
  keyText
}: {
  readonly incoming: IncomingRequest
  readonly key: GatewayKey
  readonly keyText: string
  readonly configs: Configs["Service"]
  readonly catalog: CatalogView
}): Result.Result<RequestContext, GatewayError> => {
  const reader = new HeaderReader(incoming.headers, incoming.hasOptions)
  checkTraceId(reader)
  const configText = reader.text(requestHeaderNames.config)?.trim() || undefined
  const config = readConfig(reader, configText, key, configs)
  const timeoutMillis = readTimeout(reader)
  const providerHeader = readProvider(reader)
  const carried = readCredentials(reader, incoming, keyText)
  const strict = readStrict(reader)
  const dryRun = reader.flag(requestHeaderNames.dryRun.name, reader.text(requestHeaderNames.dryRun), false)
  const unsupported = readUnsupported(reader)
  const images = readImages(reader)
  const metadata = readMetadata(reader, defaultMetadata(key.metadata, config?.metadata))
  const betas = readBetas(reader)
  const cache = readCache(reader)
  if (reader.fault !== undefined) return Result.fail(reader.fault)
  const context: RequestContext = {
    requestId: incoming.requestId,
    traceId: incoming.traceId,
    createdSeconds: Math.floor(incoming.startedMillis / 1000),
    startedMillis: incoming.startedMillis,
    deadlineMillis: timeoutMillis === undefined ? undefined : incoming.startedMillis + timeoutMillis,
    key,
    config,
    catalog,
    configId: config === undefined ? undefined : configId(configText ?? key.config),
    isKeyConfig: config !== undefined && configText === undefined ? true : undefined,
    providerHeader,
    carried,
    strict,
    dryRun,
    unsupported,
    images,
    metadata: key.metadata_locked === true ? { ...metadata, ...key.metadata } : metadata,
    betas,
    servingHeaders: servingHeaders(incoming.headers),
    anthropicVersion: incoming.headers["anthropic-version"],
    cache,
    idSeed: incoming.freshId,
    recorder: incoming.recorder,
    room: incoming.hold
  }
  if (incoming.recorder !== undefined) incoming.recorder.route = context
  return Result.succeed(context)
}

const checkTraceId = (reader: HeaderReader): void => {
  const trace = reader.text(requestHeaderNames.traceId)
  if (trace !== undefined && !traceIdGrammar.test(trace))
    reader.invalidHeader("x-gateway-trace-id", "is 1 to 128 printable ASCII characters.")
}

/** The id of a config; undefined for a config that the header contains as JSON. */
const configId = (text: string | undefined): string | undefined => (text?.startsWith("{") === true ? undefined : text)

/** A message that asks "did you mean" ends in its question mark. */
const sentence = (text: string): string => (text.endsWith("?") ? text : `${text}.`)

/** The config of the header, by its id or as JSON; without the header the default of the key. */
const readConfig = (
  reader: HeaderReader,
  header: string | undefined,
  key: GatewayKey,
  configs: Configs["Service"]
): GatewayConfig | undefined => {
  const text = header ?? key.config
  if (text === undefined) return undefined
  if (text.startsWith("{")) return readInlineConfig(reader, text, key, configs)
  // A config that the key may not name counts as absent. The default of the key is always allowed.
  const config = text === key.config || allows(key.configs, text) ? configs.find(text) : undefined
  if (config !== undefined) return config
  const ofKey = header === undefined ? { ofKey: true as const } : {}
  return reader.refuse(new RecordUnknown({ kind: "config", id: text.slice(0, 64), ...ofKey }))
}

const readInlineConfig = (
  reader: HeaderReader,
  text: string,
  key: GatewayKey,
  configs: Configs["Service"]
): GatewayConfig | undefined => {
  const read = configs.read(text, key.id)
  if (Result.isSuccess(read)) return read.success
  const { message, path } = read.failure
  return reader.refuse(
    new BodyInvalid({
      code: "invalid_config",
      param: requestHeaderNames.config.name,
      message: sentence(`${requestHeaderNames.config.name}: ${path === "" ? "the config" : path} ${message}`)
    })
  )
}

const readTimeout = (reader: HeaderReader): number | undefined => {
  const value = reader.text(requestHeaderNames.requestTimeout)
  if (value === undefined) return undefined
  return /^[1-9]\d{0,8}$/.test(value)
    ? Number(value)
    : reader.invalidHeader("x-gateway-request-timeout", "is a positive whole number of milliseconds.")
}

const readProvider = (reader: HeaderReader): string | undefined => {
  const value = reader.text(requestHeaderNames.provider)
  if (value === undefined) return undefined
  const slug = value.startsWith("@") ? value.slice(1) : value
  return isSlug(slug) ? slug : reader.invalidHeader("x-gateway-provider", 'is one slug, with or without "@".')
}

const readStrict = (reader: HeaderReader): boolean => {
  const header = reader.hasOptions ? strictHeader(reader.headers) : undefined
  return header === undefined || reader.flag(header.name, header.value, true)
}

const readUnsupported = (reader: HeaderReader): "ignore" | "reject" => {
  const value = reader.text(requestHeaderNames.unsupportedParams) ?? "ignore"
  if (value === "ignore" || value === "reject") return value
  reader.invalidHeader("x-gateway-unsupported-params", 'is "ignore" or "reject".')
  return "ignore"
}

const readImages = (reader: HeaderReader): "markdown" | undefined => {
  const value = reader.text(requestHeaderNames.images)
  if (value === undefined || value === "markdown") return value
  return reader.invalidHeader("x-gateway-images", 'is "markdown".')
}

const longestMetadata = 8 * 1024
type Metadata = Readonly<Record<string, string>>
const noMetadata: Metadata = {}

/** The metadata of the config win over those of the key. */
const defaultMetadata = (ofKey: Metadata | undefined, ofConfig: Metadata | undefined): Metadata =>
  ofKey === undefined ? (ofConfig ?? noMetadata) : ofConfig === undefined ? ofKey : { ...ofKey, ...ofConfig }

/** The first entry that breaks a rule decides the fault. */
const readMetadata = (reader: HeaderReader, defaults: Metadata): Metadata => {
  const text = reader.text(requestHeaderNames.metadata)
  if (text === undefined) return defaults
  const parsed = text.length > longestMetadata ? null : Result.getOrElse(parseJsonText(text), () => null)
  if (!isJsonObject(parsed)) return refuseMetadata(reader)
  const entries: Array<readonly [string, string]> = []
  for (const [name, value] of Object.entries(parsed)) {
    if (typeof value !== "string") return refuseMetadata(reader)
    if (isRefusedKey(name)) {
      const message = `x-gateway-metadata may not use the key "${name}".`
      reader.refuse(new BodyInvalid({ code: "invalid_key", param: "x-gateway-metadata", message }))
    }
    entries.push([name, value])
  }
  return { ...defaults, ...Object.fromEntries(entries) }
}

const refuseMetadata = (reader: HeaderReader): Metadata => {
  reader.invalidHeader("x-gateway-metadata", "is a JSON object of strings, at most 8 KiB.")
  return noMetadata
}

const noBetas: ReadonlyArray<string> = []

/** The flags of both spellings of the header, each once. */
const readBetas = (reader: HeaderReader): ReadonlyArray<string> => {
  const plain = reader.headers["anthropic-beta"]
  const gatewayFlags = reader.text(requestHeaderNames.anthropicBeta)
  if (plain === undefined && gatewayFlags === undefined) return noBetas
  return (
    parseBetas([plain, gatewayFlags].filter((text) => text !== undefined)) ??
    reader.invalidHeader("anthropic-beta", `${betaRule}.`) ??
    noBetas
  )
}

const namespaceGrammar = /^[\x20-\x7e]{1,128}$/

/** Undefined when no header is about the cache. */
const readCache = (reader: HeaderReader): CacheOptions | undefined => {
  const age = reader.text(requestHeaderNames.cache)
  const forced = reader.text(requestHeaderNames.cacheForceRefresh)
  const namespace = reader.text(requestHeaderNames.cacheNamespace)
  if (age === undefined && forced === undefined && namespace === undefined) return undefined
  const refresh = reader.flag(requestHeaderNames.cacheForceRefresh.name, forced, false)
  if (age !== undefined && age !== "off" && age !== "refresh" && !/^[1-9]\d{0,7}$/.test(age))
    reader.invalidHeader(requestHeaderNames.cache.name, 'is "off", "refresh" or a number of seconds.')
  if (namespace !== undefined && !namespaceGrammar.test(namespace))
    reader.invalidHeader(requestHeaderNames.cacheNamespace.name, "is 1 to 128 printable ASCII characters.")
  return {
    mode: age === undefined ? "unsaid" : age === "off" ? "off" : "ask",
    maxAgeSeconds: age === undefined || age === "off" || age === "refresh" ? undefined : Number(age),
    refresh: age === "refresh" || refresh,
    namespace
  }
}

/** Letters of a token; a space would be a scheme other than Bearer. */
const credentialGrammar = /^[\x21-\x7e]+$/

const readCredentials = (
  reader: HeaderReader,
  { authorizationTwice, queryKey }: IncomingRequest,
  gatewayKey: string
): CarriedCredentials => {
  const { headers } = reader
  const authorization = headers["authorization"]
  const token = authorization === undefined ? "" : withoutBearer(authorization)
  const empty = token === "" || /^bearer$/i.test(token)
  if (!empty && (authorizationTwice || !credentialGrammar.test(token))) {
    const message = 'Authorization is sent once, as "Bearer <token>" or as a bare API key.'
    reader.refuse(new CredentialsInvalid({ message }))
  }
  const carriedToken = empty ? undefined : credential(token, gatewayKey)
  const googApiKey = credential(headers["x-goog-api-key"] ?? queryKey ?? "", gatewayKey)
  const vertexProjectId = reader.text(requestHeaderNames.vertexProjectId)
  const vertexRegion = reader.text(requestHeaderNames.vertexRegion)
  const serviceAccount = reader.text(requestHeaderNames.vertexServiceAccountJson)
  const isNothing =
    carriedToken === undefined &&
    googApiKey === undefined &&
    vertexProjectId === undefined &&
    vertexRegion === undefined &&
    serviceAccount === undefined
  return isNothing
    ? nothingCarried
    : {
        authorization: carriedToken,
        googApiKey,
        vertexProjectId,
        vertexRegion,
        vertexServiceAccountJson: serviceAccount === undefined ? undefined : Redacted.make(serviceAccount)
      }
}

/** Any gateway key is kept out of the credentials of providers, so that it never goes upstream. */
const credential = (value: string, gatewayKey: string): Redacted.Redacted<string> | undefined =>
  value === "" || value === gatewayKey || value.startsWith(keyMark) ? undefined : Redacted.make(value)

// Reads the headers of one request and keeps the first fault, so that a caller reads all of them and asks once.

/** One object per request, without a `Result` per header. A faulty header reads as absent. */
export class HeaderReader extends Reader<GatewayError> {
  readonly headers: HeaderRecord
  /** False: no gateway header is there to be read. */
  readonly hasOptions: boolean

  constructor(headers: HeaderRecord, hasOptions = true) {
    super()
    this.headers = headers
    this.hasOptions = hasOptions
  }

  /** The value of a gateway header, under its own name or its alias. */
  text(header: GatewayHeader): string | undefined {
    return this.hasOptions ? gatewayHeader(this.headers, header) : undefined
  }

  /** Refuses a value that is not of the grammar of its header. */
  invalidHeader(name: string, rule: string): undefined {
    return this.invalid(name, "invalid_header", `${name} ${rule}`)
  }

  /** A switch, in any case of letters. */
  flag(name: string, value: string | undefined, absent: boolean): boolean {
    if (value === undefined) return absent
    const word = value.toLowerCase()
    if (word !== "true" && word !== "false") this.invalidHeader(name, 'is "true" or "false", sent once.')
    return word === "true"
  }
}

// The headers by which a client chooses how Vertex AI serves a request, by a closed list of names and values.

const sharedTypeHeader = "x-vertex-ai-llm-shared-request-type"
const sharedTypes = ["priority", "flex", "standard"] as const

const chosenValue = (value: string | undefined, values: ReadonlyArray<string>): string | undefined =>
  value === undefined ? undefined : values.find((one) => one === value.trim().toLowerCase())

/** Undefined for a request without such a header; another value is left out. */
const servingHeaders = (headers: HeaderRecord): Readonly<Record<string, string>> | undefined => {
  const type = headers[requestTypeHeader]
  const shared = headers[sharedTypeHeader]
  if (type === undefined && shared === undefined) return undefined
  const choices = Object.entries({
    [requestTypeHeader]: chosenValue(type, requestTypes),
    [sharedTypeHeader]: chosenValue(shared, sharedTypes)
  }).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]))
  return choices.length === 0 ? undefined : Object.fromEntries(choices)
}

// The context of a request in one of Google's own dialects: kind of the path, its place, and Google's own deadline.

/** The operator's slugs for the two forms of Google's paths. */
export interface NativeSlugs {
  readonly google?: string | undefined
  readonly vertex?: string | undefined
}

const nativeKinds: Readonly<Record<NativeCall["form"], BuiltInKind>> = { google: "google", vertex: "vertex-ai" }

/** A location of `-` means none. */
const placeName = (text: string | undefined): string | undefined => (text === "-" ? undefined : text)

/** Project and location of the path, unless a header of the gateway names a place. */
const withPathPlace = (carried: CarriedCredentials, { place }: NativeCall): CarriedCredentials =>
  place === undefined || carried.vertexProjectId !== undefined || carried.vertexRegion !== undefined
    ? carried
    : {
        ...carried,
        vertexProjectId: placeName(place.project),
        vertexRegion: placeName(place.location),
        isPathPlace: true
      }

const secondsGrammar = /^(\d{1,6})(\.\d{1,9})?$/

const deadlineOf = (headers: HeaderRecord, { deadlineMillis, startedMillis }: RequestContext): number | undefined => {
  const asked = headers["x-server-timeout"]?.trim() ?? ""
  if (!secondsGrammar.test(asked) || Number(asked) === 0) return deadlineMillis
  const askedMillis = startedMillis + Math.ceil(Number(asked) * 1000)
  return deadlineMillis === undefined ? askedMillis : Math.min(askedMillis, deadlineMillis)
}

/** The context with the facts of the path and of Google's own headers. */
export const nativeContext = (
  read: Result.Result<RequestContext, GatewayError>,
  call: NativeCall,
  headers: HeaderRecord,
  slugs: NativeSlugs
): Result.Result<RequestContext, GatewayError> =>
  Result.map(read, (context) => ({
    ...context,
    deadlineMillis: deadlineOf(headers, context),
    carried: withPathPlace(context.carried, call),
    native: { kind: nativeKinds[call.form], slug: slugs[call.form] }
  }))

const noHeaders: Readonly<Record<string, string>> = {}

/** The headers of a client of Vertex AI that choose how it is served. */
export const nativeServingHeaders = (headers: HeaderRecord, { form }: NativeCall): Readonly<Record<string, string>> =>
  (form === "vertex" ? servingHeaders(headers) : undefined) ?? noHeaders
