// Names of the gateway's own headers and how they are read, `x-portkey-*` aliases included.
// It must not know what the values mean beyond their grammar.
import { keyMark } from "../domain/settings/keyMark.ts"

/** Lower-case names to values; several lines of one name are joined by a comma. */
export type HeaderRecord = Readonly<Record<string, string | undefined>>

/** A header of ours under both of its names; written out once, for joining names per request costs more than reading. */
export interface GatewayHeader {
  readonly name: `x-gateway-${string}`
  readonly alias: `x-portkey-${string}`
}

const header = (word: string): GatewayHeader => ({ name: `x-gateway-${word}`, alias: `x-portkey-${word}` })

/** Every header a client may send us. */
export const known = {
  apiKey: header("api-key"),
  provider: header("provider"),
  config: header("config"),
  metadata: header("metadata"),
  traceId: header("trace-id"),
  requestTimeout: header("request-timeout"),
  cache: header("cache"),
  cacheForceRefresh: header("cache-force-refresh"),
  cacheNamespace: header("cache-namespace"),
  anthropicBeta: header("anthropic-beta"),
  dryRun: header("dry-run"),
  unsupportedParams: header("unsupported-params"),
  vertexProjectId: header("vertex-project-id"),
  vertexRegion: header("vertex-region"),
  vertexServiceAccountJson: header("vertex-service-account-json"),
  strictSchema: header("strict-schema-compliance"),
  strictOpenAi: header("strict-open-ai-compliance")
} as const

/** Every header of ours that an answer may have. */
export const answerHeaders = {
  traceId: "x-gateway-trace-id",
  provider: "x-gateway-provider",
  optionIndex: "x-gateway-last-used-option-index",
  retryCount: "x-gateway-retry-attempt-count",
  cacheStatus: "x-gateway-cache-status",
  ignoredParams: "x-gateway-ignored-params",
  adjustedParams: "x-gateway-adjusted-params"
} as const

/** Adds the `x-portkey-*` name of every header of ours to an answer; a second call changes nothing. */
export const addAliases = (headers: Record<string, string>): Record<string, string> => {
  for (const [name, value] of Object.entries(headers)) {
    if (name.startsWith("x-gateway-")) headers[`x-portkey-${name.slice("x-gateway-".length)}`] = value
  }
  return headers
}

/** The value of `x-gateway-NAME`, else of its alias `x-portkey-NAME`. */
export const gatewayHeader = (headers: HeaderRecord, { name, alias }: GatewayHeader): string | undefined =>
  headers[name] ?? headers[alias]

/** True when the request used the alias prefix in any header. */
export const usesAliasPrefix = (headers: HeaderRecord): boolean => {
  for (const name in headers) if (name.startsWith("x-portkey-")) return true
  return false
}

/** The strict switch under both of its names; undefined when the client did not say. */
export const strictHeader = (headers: HeaderRecord): { readonly name: string; readonly value: string } | undefined => {
  for (const one of [known.strictSchema, known.strictOpenAi]) {
    const value = gatewayHeader(headers, one)
    if (value !== undefined) return { name: one.name, value }
  }
  return undefined
}

/** True when the switch is not off; errors are rendered by it before it is checked. */
export const isStrict = (headers: HeaderRecord): boolean => strictHeader(headers)?.value.toLowerCase() !== "false"

/** The value of an `Authorization` header without its `Bearer` scheme. */
export const withoutBearer = (authorization: string): string =>
  authorization.slice(0, 7).toLowerCase() === "bearer " ? authorization.slice(7).trim() : authorization.trim()

/** The gateway key a request presents: its own header, else a `mgk_` value where stock SDKs put their keys. */
export const presentedKey = (headers: HeaderRecord): string | undefined => {
  const own = gatewayHeader(headers, known.apiKey)
  if (own !== undefined && own.trim() !== "") return own.trim()
  const authorization = headers["authorization"]
  const places = [
    authorization === undefined ? undefined : withoutBearer(authorization),
    headers["x-api-key"],
    headers["x-goog-api-key"],
    headers["api-key"]
  ]
  return places.find((value) => value?.startsWith(keyMark))
}
