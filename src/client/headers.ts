// The gateway's headers: builds those of a request from named options, and reads those of an answer.
// It must not know requests, routes or bodies.
import { answerHeaders, requestHeaderNames } from "../api/Headers.ts"

/** Gateway options of a request outside its body. An omitted option keeps the gateway's default. */
export interface GatewayOptions {
  /** The gateway key. Stock SDKs send it themselves; set it here when `authorization` carries a provider credential. */
  readonly apiKey?: string | undefined
  /** Slug of the provider, for models that name none. */
  readonly provider?: string | undefined
  /** Id of a gateway config, or the config itself. */
  readonly config?: string | object | undefined
  readonly metadata?: Readonly<Record<string, string>> | undefined
  readonly traceId?: string | undefined
  /** Milliseconds the gateway may take for the whole request, retries included. */
  readonly requestTimeoutMillis?: number | undefined
  /** The greatest age of a cached answer in seconds; `refresh` skips the cache and stores the new answer. */
  readonly cache?: "off" | "refresh" | number | undefined
  readonly cacheNamespace?: string | undefined
  /** Beta flags for Claude. */
  readonly anthropicBeta?: string | ReadonlyArray<string> | undefined
  /** Whether parameters without an equivalent are dropped or rejected. */
  readonly unsupportedParams?: "ignore" | "reject" | undefined
  readonly vertexProjectId?: string | undefined
  readonly vertexRegion?: string | undefined
  /** A service-account key, as its file contains it. */
  readonly vertexServiceAccountJson?: string | object | undefined
  /** A credential for the provider: `Bearer <access token>`, or an API key. */
  readonly authorization?: string | undefined
  /** False: answers have the fields that OpenAI's schema lacks, such as thoughts and signatures. */
  readonly strict?: boolean | undefined
  /** True: the answer is the request that would be sent upstream. */
  readonly dryRun?: boolean | undefined
}

/** JSON in a form that a header can carry: one line, with characters beyond ASCII escaped. */
const inHeader = (value: string | object): string =>
  (typeof value === "string" ? value : JSON.stringify(value))
    .replace(/[\r\n]+/g, " ")
    .replace(/[\u007f-\uffff]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`)

const values = (options: GatewayOptions): ReadonlyArray<readonly [name: string, value: string | undefined]> => {
  const { anthropicBeta, cache, config, dryRun, metadata, requestTimeoutMillis, strict, vertexServiceAccountJson } =
    options
  return [
    [requestHeaderNames.apiKey.name, options.apiKey],
    [requestHeaderNames.provider.name, options.provider],
    [requestHeaderNames.config.name, config === undefined ? undefined : inHeader(config)],
    [requestHeaderNames.metadata.name, metadata === undefined ? undefined : inHeader(metadata)],
    [requestHeaderNames.traceId.name, options.traceId],
    [requestHeaderNames.requestTimeout.name, requestTimeoutMillis?.toString()],
    [requestHeaderNames.cache.name, cache?.toString()],
    [requestHeaderNames.cacheNamespace.name, options.cacheNamespace],
    [
      requestHeaderNames.anthropicBeta.name,
      typeof anthropicBeta === "string" ? anthropicBeta : anthropicBeta?.join(",")
    ],
    [requestHeaderNames.unsupportedParams.name, options.unsupportedParams],
    [requestHeaderNames.vertexProjectId.name, options.vertexProjectId],
    [requestHeaderNames.vertexRegion.name, options.vertexRegion],
    [
      requestHeaderNames.vertexServiceAccountJson.name,
      vertexServiceAccountJson === undefined ? undefined : inHeader(vertexServiceAccountJson)
    ],
    [requestHeaderNames.strictSchema.name, strict?.toString()],
    [requestHeaderNames.dryRun.name, dryRun?.toString()],
    ["authorization", options.authorization]
  ]
}

/** Lower-case names; only options that are set. */
export const createHeaders = (options: GatewayOptions): Record<string, string> => {
  const headers: Record<string, string> = {}
  for (const [name, value] of values(options)) if (value !== undefined) headers[name] = value
  return headers
}

// Reads the gateway's headers of an answer: request id, provider, target, retries, cache, cost, ignored parameters.

export interface AnswerFacts {
  readonly requestId: string | undefined
  readonly traceId: string | undefined
  /** Slug of the provider that answered. */
  readonly provider: string | undefined
  /** The index of its target in the config. */
  readonly optionIndex: number | undefined
  /** How often the gateway retried that target. */
  readonly retryCount: number | undefined
  readonly cacheStatus: string | undefined
  /** US dollars; undefined on streams, and where no price or no usage is known. */
  readonly costUsd: number | undefined
  /** The cost lacks something whose price is not known. */
  readonly isCostPartial: boolean
  /** Parameters that were dropped. */
  readonly ignoredParams: ReadonlyArray<string>
  /** Parameters that were sent with another value, as `name=asked>sent`. */
  readonly adjustedParams: ReadonlyArray<string>
}

export const answerFacts = (headers: Headers): AnswerFacts => {
  const text = (name: string) => headers.get(name) ?? undefined
  const count = (name: string) => (headers.has(name) ? Number(headers.get(name)) : undefined)
  return {
    requestId: text("x-request-id"),
    traceId: text(answerHeaders.traceId),
    provider: text(answerHeaders.provider),
    optionIndex: count(answerHeaders.optionIndex),
    retryCount: count(answerHeaders.retryCount),
    cacheStatus: text(answerHeaders.cacheStatus),
    costUsd: count(answerHeaders.cost),
    isCostPartial: text(answerHeaders.costPartial) === "true",
    ignoredParams: text(answerHeaders.ignoredParams)?.split(",") ?? [],
    adjustedParams: text(answerHeaders.adjustedParams)?.split(",") ?? []
  }
}
