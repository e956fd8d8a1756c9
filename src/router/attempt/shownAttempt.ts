// What an answer and a dry run show of an attempt, without credentials and without the hosts of an operator.
// It must not depend on how an attempt is made or called.
import type { GatewayKey } from "../../domain/GatewayKey.ts"
import type { ModelEnding } from "../../domain/models/modelLife.ts"
import type { Json } from "../../domain/text/json.ts"
import { isBuiltIn, type ProviderAccount, type ProviderKind } from "../../domain/ProviderAccount.ts"
import { type Adjustment, adjustmentText } from "../../translate/Translator.ts"
import type { Prepared } from "../../upstream/Prepared.ts"

/** Whether an answer came from the cache. */
export type CacheStatus = "DISABLED" | "MISS" | "HIT" | "REFRESH"

/** The account that served a request; becomes response headers. */
export interface ServedBy {
  readonly slug: string
  readonly kind: ProviderKind
  readonly modelId: string
  /** `family/kind`: the issuer of the signatures in the answer. */
  readonly issuer: string
  readonly optionIndex: number
  /** The location that was called; undefined where the product has none. */
  readonly place?: string | undefined
  readonly retryCount: number
  readonly cache: CacheStatus
  readonly ignored: ReadonlyArray<string>
  /** The inner pair, where the request came in another dialect. */
  readonly translated?: string | undefined
  readonly adjusted?: ReadonlyArray<Adjustment> | undefined
  /** Undefined for a model without a known end. */
  readonly ending?: ModelEnding | undefined
}

/** The upstream request that would have been sent; headers are redacted. */
export interface Explained {
  readonly object: "dry_run"
  readonly provider: string
  readonly target_index: number
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Json
  readonly ignored_params: ReadonlyArray<string>
  /** Each as `name=asked>sent`. */
  readonly adjusted_params: ReadonlyArray<string>
  /** The inner pair, where the request came in another dialect. */
  readonly translated?: string
}

/** The parts of an attempt that are shown. */
interface Shown {
  readonly account: ProviderAccount
  readonly prepared: Prepared<unknown, unknown>
  readonly ignored: ReadonlyArray<string>
}

export const servedBy = ({ ignored, prepared }: Shown, retryCount: number, cache: CacheStatus): ServedBy => ({
  slug: prepared.target.slug,
  kind: prepared.target.kind,
  modelId: prepared.target.modelId,
  issuer: prepared.target.issuer,
  optionIndex: prepared.target.optionIndex,
  place: prepared.target.place,
  retryCount,
  cache,
  ignored,
  translated: prepared.translated?.pair,
  adjusted: prepared.adjusted,
  ending: prepared.target.ending
})

export const explainAttempt = ({ account, ignored, prepared }: Shown, key: GatewayKey): Explained => ({
  object: "dry_run",
  provider: account.slug,
  target_index: prepared.target.optionIndex,
  method: prepared.method,
  url: key.scopes.includes("admin") ? prepared.url : publicUrl(account, prepared.url),
  headers: { ...prepared.headers, ...redactedAuth(account) },
  body: prepared.body,
  ignored_params: ignored,
  adjusted_params: (prepared.adjusted ?? []).map(adjustmentText),
  ...(prepared.translated === undefined ? {} : { translated: prepared.translated.pair })
})

/** A reserved name (RFC 6761) instead of a host that an operator has set. */
const neutralOrigin = "https://upstream.invalid"

/** The URL without hosts that an operator has set: keys without admin scope do not see them (TH22). */
const publicUrl = ({ baseUrl, endpoints }: ProviderAccount, url: string): string => {
  const hosts = Object.values(endpoints).flatMap(({ host }) => (host === undefined ? [] : [`https://${host}`]))
  const set = [...(baseUrl === undefined ? [] : [baseUrl.replace(/\/+$/, "")]), ...hosts].find((base) =>
    url.startsWith(`${base}/`)
  )
  return set === undefined ? url : neutralOrigin + url.slice(set.length)
}

const redactedAuth = (account: ProviderAccount): Readonly<Record<string, string>> => {
  if (account.credentials === undefined) return {}
  return account.credentials._tag === "ApiKey" && isBuiltIn(account.kind)
    ? { "x-goog-api-key": "<redacted>" }
    : { authorization: "Bearer <redacted>" }
}
