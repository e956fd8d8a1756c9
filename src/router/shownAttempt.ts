// What a client is shown of an attempt: who served it, a dry run, and the words of a failure; without credentials and without the hosts of an operator.
// It must not depend on how an attempt is made or called.
import { nearModel } from "../catalog/models.ts"
import type { GatewayError } from "../domain/GatewayError.ts"
import type { GatewayKey } from "../domain/GatewayKey.ts"
import type { ModelTable } from "../domain/models/modelTable.ts"
import { isBuiltIn, type ProviderAccount } from "../domain/ProviderAccount.ts"
import { ProviderError, type Reason, withReason } from "../domain/ProviderError.ts"
import type { CacheStatus, ServedBy } from "../domain/RequestContext.ts"
import type { Json } from "../domain/text/json.ts"
import { adjustmentText } from "../translate/Translator.ts"
import { labelled } from "../upstream/labelled.ts"
import type { Prepared } from "../upstream/Prepared.ts"

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

export const explainAttempt = (shown: Shown, key: GatewayKey): Explained => {
  const { account, ignored } = shown
  const prepared = labelled(shown.prepared)
  return {
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
  }
}

/** A reserved name (RFC 6761) instead of a host that an operator has set. */
const neutralOrigin = "https://upstream.invalid"

/** The URL without hosts that an operator has set: keys without admin scope do not see them (TH22). */
const publicUrl = ({ base_url: baseUrl, endpoints }: ProviderAccount, url: string): string => {
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

/** The call that was refused. */
interface RefusedCall {
  readonly account: Pick<ProviderAccount, "kind" | "origin" | "slug">
  readonly modelId: string
  readonly models: ModelTable
  /** The request has the key of an operator, who needs no advice to ask one. */
  readonly isOperator: boolean
}

/** What the provider's words are about, as the start of a sentence; undefined where they are about the request. */
const subjectOf = (
  reason: Reason,
  { account: { kind, origin, slug }, isOperator }: Pick<RefusedCall, "account" | "isOperator">
): string | undefined => {
  const provider = isBuiltIn(kind) ? "Google" : "its provider"
  const carried = `credential for "${slug}" that came with the request`
  const isOwn = origin === "caller"
  if (isOperator && !isOwn) return undefined
  switch (reason._tag) {
    case "CredentialsRejected":
      return isOwn
        ? `The ${carried} was refused by ${provider}`
        : `The gateway's credential for "${slug}" was refused by ${provider}; ask its operator`
    case "PermissionDenied":
      if (reason.code !== undefined) return undefined
      return isOwn
        ? `The ${carried} may not do this at ${provider}`
        : `The gateway's credential for "${slug}" may not do this at ${provider}; ask its operator`
    case "QuotaExhausted":
      return isOwn
        ? `The quota of the ${carried} is spent at ${provider}`
        : `The quota of the gateway's account "${slug}" is spent at ${provider}; ask its operator`
    default:
      return undefined
  }
}

const inWords = (reason: Reason, { account, isOperator, modelId, models }: RefusedCall): string | undefined => {
  if (reason._tag === "ModelNotFound") {
    const near = nearModel(account.kind, modelId, models)
    return near === undefined ? undefined : `${reason.message} Did you mean ${near}?`
  }
  const subject = subjectOf(reason, { account, isOperator })
  return subject === undefined ? undefined : `${subject}: ${reason.message}`
}

/** The error with a message that separates the client's own mistakes from those of the gateway's operator (W11). */
export const withFailureWords = <E extends GatewayError>(
  error: E | ProviderError,
  call: RefusedCall
): E | ProviderError => {
  if (!(error instanceof ProviderError)) return error
  const message = inWords(error.reason, call)
  return message === undefined ? error : withReason(error, { ...error.reason, message })
}
