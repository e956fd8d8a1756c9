// The gateway's request headers out of options in words, for this client and for the stock SDKs of others.
// It must not know requests or routes.
import { known } from "../api/Headers.ts"

/** What a request may say to the gateway beside its body; what is left out is the gateway's default. */
export interface GatewayOptions {
  /** The gateway key. Stock SDKs send theirs by themselves; give it here where `authorization` takes that place. */
  readonly apiKey?: string | undefined
  /** Slug of the provider, for models that name none. */
  readonly provider?: string | undefined
  /** Id of a gateway config, or the config itself. */
  readonly config?: string | object | undefined
  readonly metadata?: Readonly<Record<string, string>> | undefined
  readonly traceId?: string | undefined
  /** How long the gateway may take for the whole request, retries included. */
  readonly requestTimeoutMillis?: number | undefined
  /** How many seconds old an answer of the cache may be; `refresh` asks anew and keeps the answer. */
  readonly cache?: "off" | "refresh" | number | undefined
  readonly cacheNamespace?: string | undefined
  /** Flags for Claude. */
  readonly anthropicBeta?: string | ReadonlyArray<string> | undefined
  /** Whether parameters without an equivalent are left out or refused. */
  readonly unsupportedParams?: "ignore" | "reject" | undefined
  readonly vertexProjectId?: string | undefined
  readonly vertexRegion?: string | undefined
  /** A service account's key, as it stands in its file. */
  readonly vertexServiceAccountJson?: string | object | undefined
  /** A credential for the provider: `Bearer <access token>`, or an API key. */
  readonly authorization?: string | undefined
  /** False: answers have the fields that OpenAI's schema lacks, such as thoughts and signatures. */
  readonly strict?: boolean | undefined
  /** True: the answer is the request that would be sent. */
  readonly dryRun?: boolean | undefined
}

/** JSON that a header can carry: no line ends, and letters beyond ASCII escaped. */
const inHeader = (value: string | object): string =>
  (typeof value === "string" ? value : JSON.stringify(value))
    .replace(/[\r\n]+/g, " ")
    .replace(/[\u007f-\uffff]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`)

const values = (options: GatewayOptions): ReadonlyArray<readonly [name: string, value: string | undefined]> => {
  const { anthropicBeta, cache, config, dryRun, metadata, requestTimeoutMillis, strict, vertexServiceAccountJson } =
    options
  return [
    [known.apiKey.name, options.apiKey],
    [known.provider.name, options.provider],
    [known.config.name, config === undefined ? undefined : inHeader(config)],
    [known.metadata.name, metadata === undefined ? undefined : inHeader(metadata)],
    [known.traceId.name, options.traceId],
    [known.requestTimeout.name, requestTimeoutMillis?.toString()],
    [known.cache.name, cache?.toString()],
    [known.cacheNamespace.name, options.cacheNamespace],
    [known.anthropicBeta.name, typeof anthropicBeta === "string" ? anthropicBeta : anthropicBeta?.join(",")],
    [known.unsupportedParams.name, options.unsupportedParams],
    [known.vertexProjectId.name, options.vertexProjectId],
    [known.vertexRegion.name, options.vertexRegion],
    [
      known.vertexServiceAccountJson.name,
      vertexServiceAccountJson === undefined ? undefined : inHeader(vertexServiceAccountJson)
    ],
    [known.strictSchema.name, strict?.toString()],
    [known.dryRun.name, dryRun?.toString()],
    ["authorization", options.authorization]
  ]
}

/** Names in lower case; only what was said. */
export const createHeaders = (options: GatewayOptions): Record<string, string> => {
  const headers: Record<string, string> = {}
  for (const [name, value] of values(options)) if (value !== undefined) headers[name] = value
  return headers
}
