// Names of the gateway's own headers with their `x-portkey-*` aliases, and how requests carry them.
// It must not know what the values mean beyond their grammar.
/** Values by lower-case name; repeated headers are joined by a comma. */
export type HeaderRecord = Readonly<Record<string, string | undefined>>

/** Both names of a gateway header, as constants: building names per request costs more than the lookup. */
export interface GatewayHeader {
  readonly name: `x-gateway-${string}`
  readonly alias: `x-portkey-${string}`
}

const header = (word: string): GatewayHeader => ({ name: `x-gateway-${word}`, alias: `x-portkey-${word}` })

/** Every gateway header of requests. */
export const requestHeaderNames = {
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
  images: header("images"),
  unsupportedParams: header("unsupported-params"),
  vertexProjectId: header("vertex-project-id"),
  vertexRegion: header("vertex-region"),
  vertexServiceAccountJson: header("vertex-service-account-json"),
  strictSchema: header("strict-schema-compliance"),
  strictOpenAi: header("strict-open-ai-compliance")
} as const

/** Every gateway header of answers. */
export const answerHeaders = {
  traceId: "x-gateway-trace-id",
  provider: "x-gateway-provider",
  optionIndex: "x-gateway-last-used-option-index",
  retryCount: "x-gateway-retry-attempt-count",
  skippedTargets: "x-gateway-skipped-targets",
  cacheStatus: "x-gateway-cache-status",
  cost: "x-gateway-cost-usd",
  costPartial: "x-gateway-cost-partial",
  ignoredParams: "x-gateway-ignored-params",
  adjustedParams: "x-gateway-adjusted-params",
  continuation: "x-gateway-continuation",
  omittedContent: "x-gateway-omitted-content",
  translated: "x-gateway-translated",
  modelWarning: "x-gateway-model-warning"
} as const

/** Adds the `x-portkey-*` alias of every gateway header to an answer. The function is idempotent. */
export const addAliases = (headers: Record<string, string>): Record<string, string> => {
  for (const [name, value] of Object.entries(headers)) {
    if (name.startsWith("x-gateway-")) headers[`x-portkey-${name.slice("x-gateway-".length)}`] = value
  }
  return headers
}

/** The value of `x-gateway-NAME`, else of its alias `x-portkey-NAME`. */
export const gatewayHeader = (headers: HeaderRecord, { name, alias }: GatewayHeader): string | undefined =>
  headers[name] ?? headers[alias]

/** Which gateway headers a request has. */
export interface OwnHeaders {
  /** It used the alias prefix in any header. */
  readonly usesAlias: boolean
  /** It has one next to that of its key. Most have none, so that none is looked for. */
  readonly hasOptions: boolean
}

/** Looks at each name once. */
export const ownHeaders = (headers: HeaderRecord): OwnHeaders => {
  let usesAlias = false
  let hasOptions = false
  for (const name in headers) {
    if (!name.startsWith("x-")) continue
    const isAlias = name.startsWith("x-portkey-")
    if (!isAlias && !name.startsWith("x-gateway-")) continue
    usesAlias ||= isAlias
    hasOptions ||= name !== requestHeaderNames.apiKey.name && name !== requestHeaderNames.apiKey.alias
  }
  return { usesAlias, hasOptions }
}

/** The strict switch under either of its names; undefined when the request has none. */
export const strictHeader = (headers: HeaderRecord): { readonly name: string; readonly value: string } | undefined => {
  for (const one of [requestHeaderNames.strictSchema, requestHeaderNames.strictOpenAi]) {
    const value = gatewayHeader(headers, one)
    if (value !== undefined) return { name: one.name, value }
  }
  return undefined
}

/** True unless the switch is off. Errors use it before the value is validated. */
export const isStrict = (headers: HeaderRecord): boolean => strictHeader(headers)?.value.toLowerCase() !== "false"

/** The value of an `Authorization` header without its `Bearer` scheme. */
export const withoutBearer = (authorization: string): string =>
  authorization.slice(0, 7).toLowerCase() === "bearer " ? authorization.slice(7).trim() : authorization.trim()
