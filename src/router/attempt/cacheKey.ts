// The parts of the cache key, which cover the whole request, and whether a request asks the cache.
// It must not depend on how the parts become a key, or on what is kept.
import type { CacheRule } from "../../domain/config/GatewayConfig.ts"
import type { ProviderAccount } from "../../domain/ProviderAccount.ts"
import type { CacheOptions, RequestContext } from "../../domain/RequestContext.ts"
import type { Prepared } from "../../upstream/Prepared.ts"

/** How an answer may come from the cache. */
export interface CacheAsk {
  readonly maxAgeSeconds: number
  /** Make a new one, and keep it. */
  readonly refresh: boolean
}

/** Undefined unless the request or its config asks; the request's own word counts. */
export const cacheAsk = (
  options: CacheOptions | undefined,
  rule: CacheRule | undefined,
  usualSeconds: number
): CacheAsk | undefined => {
  if (options?.mode === "off" || (options?.mode !== "ask" && rule === undefined)) return undefined
  return {
    maxAgeSeconds: options?.maxAgeSeconds ?? rule?.maxAgeSeconds ?? usualSeconds,
    refresh: options?.refresh ?? false
  }
}

/**
 * Who asks, whose credential answers, where, and every word of the request as the target gets it (TH38).
 * Translation reads `strict`, `ordered` and the model as it was written, and the answer's reading may depend on the request itself.
 */
export const cacheIdentity = (
  { cache, key, ordered, strict }: RequestContext,
  account: ProviderAccount,
  credential: string,
  request: object,
  { body, bytes, headers, target, url }: Prepared<unknown, unknown>
): ReadonlyArray<string | Uint8Array> => [
  cache?.namespace === undefined ? `key ${key.id}` : `namespace ${cache.namespace}`,
  account.slug,
  credential,
  target.operation,
  target.issuer,
  target.modelId,
  url,
  JSON.stringify(headers),
  ordered === true ? "ordered" : String(strict),
  bytes ?? JSON.stringify(body),
  // Bytes are the whole request; no decoded field adds to them.
  bytes === undefined
    ? "bytes" in request && request.bytes instanceof Uint8Array
      ? request.bytes
      : JSON.stringify(request)
    : ""
]
