// From headers, key, clock and random source to the facts of one request, once.
// It must not know bodies or routes.
import { randomUUID } from "node:crypto"
import type { ServerResponse } from "node:http"
import * as Context from "effect/Context"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import {
  gatewayHeader,
  type HeaderRecord,
  isStrict,
  known,
  presentedKey,
  strictHeader,
  usesAliasPrefix,
  withoutBearer
} from "../../api/Headers.ts"
import type { Configs } from "../../catalog/Configs.ts"
import { BodyInvalid, CredentialsInvalid, type GatewayError, RecordUnknown } from "../../domain/GatewayError.ts"
import type { GatewayConfig } from "../../domain/config/GatewayConfig.ts"
import { allows, type GatewayKey } from "../../domain/GatewayKey.ts"
import { isJsonObject, parseJsonText } from "../../domain/text/json.ts"
import { keyMark } from "../../domain/settings/keyMark.ts"
import { isSlug } from "../../domain/ModelRef.ts"
import { isRefusedKey } from "../../domain/text/refusedKeys.ts"
import type { CarriedCredentials, CatalogView } from "../../domain/ProviderAccount.ts"
import type { CacheWish, RequestContext } from "../../domain/RequestContext.ts"
import type { RequestHold } from "../../keys/FairShares.ts"
import { headersOf } from "../node/NodeAnswer.ts"
import type { RequestMeta } from "../../accounting/RequestMeta.ts"
import type { RequestRecord } from "../../accounting/RequestRecord.ts"
import { parseTraceparent } from "../../accounting/traceContext.ts"
import type { Traffic } from "../node/Traffic.ts"
import { betaRule, parseBetas } from "../../translate/shared/claude/betas.ts"

/** Text of a moment in hexadecimal is dear, and under load many requests come within one. */
const uuidTime = (() => {
  let last = -1
  let text = ""
  return (millis: number): string => {
    if (millis !== last) {
      last = millis
      const time = millis.toString(16).padStart(12, "0")
      text = `${time.slice(0, 8)}-${time.slice(8)}`
    }
    return text
  }
})()

/** A UUIDv7 of a wall-clock moment; replaceable where ids must be known beforehand. */
export const FreshId: Context.Reference<(millis: number) => string> = Context.Reference("gateway/http/FreshId", {
  defaultValue: () => (millis: number) => `${uuidTime(millis)}-7${randomUUID().slice(15)}`
})

/** What marks every answer, errors too. */
export interface RequestIds {
  readonly requestId: string
  readonly traceId: string
  /** The answer has our headers under their `x-portkey-*` names as well. */
  readonly usesAlias: boolean
}

/** What is known of a request before its key is looked at. */
export interface Arrival extends RequestIds, RequestMeta {
  /** Read leniently: an invalid switch is refused later. */
  readonly strict: boolean
  readonly path: string
  /** Node drops the second of two Authorization headers in silence; this remembers. */
  readonly authorizationTwice: boolean
  /** Node's response to write on, where the request came over a socket of our own server. */
  readonly node: ServerResponse | undefined
  readonly traffic: Traffic["Service"]
  /** What is noted of it; undefined when nobody accounts. */
  readonly record: RequestRecord | undefined
  /** What it holds of the process; undefined until its key is known. */
  hold: RequestHold | undefined
}

const requestIdGrammar = /^[\w-]{1,128}$/
const traceIdGrammar = /^[\x20-\x7e]{1,128}$/

/** Some SDKs add the version to a base URL that has it already. */
const undoubled = (path: string): string => (path.startsWith("/v1/v1/") ? path.slice("/v1".length) : path)

const requestIdOf = (headers: HeaderRecord, freshId: string): string => {
  const presented = headers["x-request-id"]
  return presented !== undefined && requestIdGrammar.test(presented) ? presented : freshId
}

const traceIdOf = (headers: HeaderRecord, freshId: string): string => {
  const trace = gatewayHeader(headers, known.traceId)
  if (trace !== undefined && traceIdGrammar.test(trace)) return trace
  const parent = headers["traceparent"]
  return (parent === undefined ? undefined : parseTraceparent(parent)?.traceId) ?? freshId.replaceAll("-", "")
}

/** The same for a request that is refused before it arrives; without headers where they could not be read. */
export const requestIds = (headers: HeaderRecord, freshId: string): RequestIds => ({
  requestId: requestIdOf(headers, freshId),
  traceId: traceIdOf(headers, freshId),
  usesAlias: usesAliasPrefix(headers)
})

export const arrive = (
  request: HttpServerRequest.HttpServerRequest,
  startedMillis: number,
  freshId: string,
  authorizationTwice: boolean,
  node: ServerResponse | undefined,
  traffic: Traffic["Service"],
  record: RequestRecord | undefined
): Arrival => {
  const headers = headersOf(request)
  const query = request.url.indexOf("?")
  return {
    requestId: requestIdOf(headers, freshId),
    traceId: traceIdOf(headers, freshId),
    usesAlias: usesAliasPrefix(headers),
    strict: isStrict(headers),
    startedMillis,
    freshId,
    path: undoubled(query < 0 ? request.url : request.url.slice(0, query)),
    authorizationTwice,
    headers,
    node,
    traffic,
    record,
    hold: undefined
  }
}

/** The context of a request whose key is known; fails on the first header that is not what it should be. */
export const requestContext = ({
  arrival,
  catalog,
  configs,
  key
}: {
  readonly arrival: Arrival
  readonly key: GatewayKey
  readonly configs: Configs["Service"]
  readonly catalog: CatalogView
}): Result.Result<RequestContext, GatewayError> => {
  const { headers } = arrival
  const refused = traceFault(headers)
  if (refused !== undefined) return refused
  const config = configOf(headers, key, configs)
  if (Result.isFailure(config)) return Result.fail(config.failure)
  const millis = timeout(headers)
  if (Result.isFailure(millis)) return Result.fail(millis.failure)
  const providerHeader = provider(headers)
  if (Result.isFailure(providerHeader)) return Result.fail(providerHeader.failure)
  const credentials = carried(headers, arrival.authorizationTwice)
  if (Result.isFailure(credentials)) return Result.fail(credentials.failure)
  const said = strictHeader(headers)
  const strict = said === undefined ? isSaid : flag(said.name, said.value)
  if (Result.isFailure(strict)) return Result.fail(strict.failure)
  const dry = gatewayHeader(headers, known.dryRun)
  const dryRun = dry === undefined ? isUnsaid : flag(known.dryRun.name, dry)
  if (Result.isFailure(dryRun)) return Result.fail(dryRun.failure)
  const unsupportedParams = unsupported(headers)
  if (Result.isFailure(unsupportedParams)) return Result.fail(unsupportedParams.failure)
  const labels = metadata(headers, defaultMetadata(key.metadata, config.success?.metadata))
  if (Result.isFailure(labels)) return Result.fail(labels.failure)
  const flags = betas(headers)
  if (Result.isFailure(flags)) return Result.fail(flags.failure)
  const wish = cacheWish(headers)
  if (Result.isFailure(wish)) return Result.fail(wish.failure)
  return Result.succeed({
    requestId: arrival.requestId,
    traceId: arrival.traceId,
    createdSeconds: Math.floor(arrival.startedMillis / 1000),
    startedMillis: arrival.startedMillis,
    deadlineMillis: millis.success === undefined ? undefined : arrival.startedMillis + millis.success,
    key,
    config: config.success,
    catalog,
    configId: config.success === undefined ? undefined : configId(headers, key),
    providerHeader: providerHeader.success,
    carried: credentials.success,
    strict: strict.success,
    dryRun: dryRun.success,
    unsupported: unsupportedParams.success,
    metadata: key.metadataLocked === true ? { ...labels.success, ...key.metadata } : labels.success,
    betas: flags.success,
    cache: wish.success,
    idSeed: arrival.freshId,
    observed: arrival.record,
    room: arrival.hold
  })
}

type Flag = Result.Result<boolean, BodyInvalid>
const isSaid: Flag = Result.succeed(true)
const isUnsaid: Flag = Result.succeed(false)

const invalid = (param: string, message: string) =>
  Result.fail(new BodyInvalid({ code: "invalid_header", param, message: `${param} ${message}` }))

const flag = (name: string, value: string): Flag => {
  const word = value.toLowerCase()
  return word === "true" || word === "false"
    ? Result.succeed(word === "true")
    : invalid(name, 'is "true" or "false", sent once.')
}

/** The refusal of a header; undefined when nothing is wrong with it. */
type Refused = Result.Result<never, BodyInvalid> | undefined

const traceFault = (headers: HeaderRecord): Refused => {
  const trace = gatewayHeader(headers, known.traceId)
  return trace === undefined || traceIdGrammar.test(trace)
    ? undefined
    : invalid("x-gateway-trace-id", "is 1 to 128 printable ASCII characters.")
}

const noConfig: Result.Result<undefined> = Result.succeed(undefined)

/** What a request writes for a config: an id, or JSON. */
const ownConfig = (headers: HeaderRecord): string | undefined =>
  gatewayHeader(headers, known.config)?.trim() || undefined

/** What it or its key writes for one. */
const configText = (headers: HeaderRecord, key: GatewayKey): string | undefined => ownConfig(headers) ?? key.config

const configId = (headers: HeaderRecord, key: GatewayKey): string | undefined => {
  const text = configText(headers, key)
  return text?.startsWith("{") === true ? undefined : text
}

/** A fault that asks "did you mean" has its mark. */
const sentence = (text: string): string => (text.endsWith("?") ? text : `${text}.`)

/** The header's, by its id or as JSON; else the one of the key. */
const configOf = (
  headers: HeaderRecord,
  key: GatewayKey,
  configs: Configs["Service"]
): Result.Result<GatewayConfig | undefined, BodyInvalid | RecordUnknown> => {
  const text = configText(headers, key)
  if (text === undefined) return noConfig
  if (text.startsWith("{")) {
    return Result.mapError(
      configs.read(text, key.id),
      ({ message, path }) =>
        new BodyInvalid({
          code: "invalid_config",
          param: known.config.name,
          message: sentence(`${known.config.name}: ${path === "" ? "the config" : path} ${message}`)
        })
    )
  }
  // A config that the key may not name is one that is not there; its default is its own in any case.
  const config = text === key.config || allows(key.configs, text) ? configs.find(text) : undefined
  if (config !== undefined) return Result.succeed(config)
  const ofKey = ownConfig(headers) === undefined ? { ofKey: true as const } : {}
  return Result.fail(new RecordUnknown({ kind: "config", id: text.slice(0, 64), ...ofKey }))
}

const timeout = (headers: HeaderRecord): Result.Result<number | undefined, BodyInvalid> => {
  const value = gatewayHeader(headers, known.requestTimeout)
  if (value === undefined) return Result.succeed(undefined)
  return /^[1-9]\d{0,8}$/.test(value)
    ? Result.succeed(Number(value))
    : invalid("x-gateway-request-timeout", "is a positive whole number of milliseconds.")
}

const provider = (headers: HeaderRecord): Result.Result<string | undefined, BodyInvalid> => {
  const value = gatewayHeader(headers, known.provider)
  if (value === undefined) return Result.succeed(undefined)
  const slug = value.startsWith("@") ? value.slice(1) : value
  return isSlug(slug) ? Result.succeed(slug) : invalid("x-gateway-provider", 'is one slug, with or without "@".')
}

const unsupported = (headers: HeaderRecord): Result.Result<"ignore" | "reject", BodyInvalid> => {
  const value = gatewayHeader(headers, known.unsupportedParams) ?? "ignore"
  return value === "ignore" || value === "reject"
    ? Result.succeed(value)
    : invalid("x-gateway-unsupported-params", 'is "ignore" or "reject".')
}

const longestMetadata = 8 * 1024
type Metadata = Readonly<Record<string, string>>
const noMetadata: Result.Result<Metadata, BodyInvalid> = Result.succeed({})

/** What the key says, and the config over it. */
const defaultMetadata = (ofKey: Metadata | undefined, ofConfig: Metadata | undefined): Metadata | undefined =>
  ofKey === undefined ? ofConfig : ofConfig === undefined ? ofKey : { ...ofKey, ...ofConfig }

const metadata = (headers: HeaderRecord, defaults: Metadata | undefined): Result.Result<Metadata, BodyInvalid> => {
  const name = "x-gateway-metadata"
  const text = gatewayHeader(headers, known.metadata)
  if (text === undefined) return defaults === undefined ? noMetadata : Result.succeed(defaults)
  const wrong = invalid(name, "is a JSON object of strings, at most 8 KiB.")
  if (text.length > longestMetadata) return wrong
  const parsed = Result.getOrElse(parseJsonText(text), () => null)
  if (!isJsonObject(parsed)) return wrong
  const entries: Array<readonly [string, string]> = []
  for (const [key, value] of Object.entries(parsed)) {
    if (typeof value !== "string") return wrong
    if (isRefusedKey(key)) {
      return Result.fail(
        new BodyInvalid({ code: "invalid_key", param: name, message: `${name} may not use the key "${key}".` })
      )
    }
    entries.push([key, value])
  }
  return Result.succeed({ ...defaults, ...Object.fromEntries(entries) })
}

const noBetas: Result.Result<ReadonlyArray<string>, BodyInvalid> = Result.succeed([])

/** Both spellings count; a flag that stands in both is one. */
const betas = (headers: HeaderRecord): Result.Result<ReadonlyArray<string>, BodyInvalid> => {
  const plain = headers["anthropic-beta"]
  const own = gatewayHeader(headers, known.anthropicBeta)
  if (plain === undefined && own === undefined) return noBetas
  const flags = parseBetas([plain, own].filter((text) => text !== undefined))
  return flags === undefined ? invalid("anthropic-beta", `${betaRule}.`) : Result.succeed(flags)
}

const noWish: Result.Result<undefined> = Result.succeed(undefined)
const namespaceGrammar = /^[\x20-\x7e]{1,128}$/

const cacheWish = (headers: HeaderRecord): Result.Result<CacheWish | undefined, BodyInvalid> => {
  const said = gatewayHeader(headers, known.cache)
  const forced = gatewayHeader(headers, known.cacheForceRefresh)
  const namespace = gatewayHeader(headers, known.cacheNamespace)
  if (said === undefined && forced === undefined && namespace === undefined) return noWish
  const refresh = forced === undefined ? isUnsaid : flag(known.cacheForceRefresh.name, forced)
  if (Result.isFailure(refresh)) return Result.fail(refresh.failure)
  if (said !== undefined && said !== "off" && said !== "refresh" && !/^[1-9]\d{0,7}$/.test(said)) {
    return invalid(known.cache.name, 'is "off", "refresh" or a number of seconds.')
  }
  if (namespace !== undefined && !namespaceGrammar.test(namespace))
    return invalid(known.cacheNamespace.name, "is 1 to 128 printable ASCII characters.")
  return Result.succeed({
    mode: said === undefined ? "unsaid" : said === "off" ? "off" : "ask",
    maxAgeSeconds: said === undefined || said === "off" || said === "refresh" ? undefined : Number(said),
    refresh: said === "refresh" || refresh.success,
    namespace
  })
}

/** Letters of a token; a space would be a scheme other than Bearer. */
const credentialGrammar = /^[\x21-\x7e]+$/

const carried = (
  headers: HeaderRecord,
  authorizationTwice: boolean
): Result.Result<CarriedCredentials, BodyInvalid | CredentialsInvalid> => {
  const gatewayKey = presentedKey(headers)
  const authorization = headers["authorization"]
  const token = authorization === undefined ? "" : withoutBearer(authorization)
  const empty = token === "" || /^bearer$/i.test(token)
  if (!empty && (authorizationTwice || !credentialGrammar.test(token))) {
    return Result.fail(
      new CredentialsInvalid({
        message: 'Authorization is sent once, as "Bearer <token>" or as a bare API key.'
      })
    )
  }
  const serviceAccount = gatewayHeader(headers, known.vertexServiceAccountJson)
  return Result.succeed({
    authorization: empty ? undefined : credential(token, gatewayKey),
    googApiKey: credential(headers["x-goog-api-key"] ?? "", gatewayKey),
    vertexProjectId: gatewayHeader(headers, known.vertexProjectId),
    vertexRegion: gatewayHeader(headers, known.vertexRegion),
    vertexServiceAccountJson: serviceAccount === undefined ? undefined : Redacted.make(serviceAccount)
  })
}

/** A gateway key, this one or any other, is no provider credential and never goes upstream. */
const credential = (value: string, gatewayKey: string | undefined): Redacted.Redacted<string> | undefined =>
  value === "" || value === gatewayKey || value.startsWith(keyMark) ? undefined : Redacted.make(value)
