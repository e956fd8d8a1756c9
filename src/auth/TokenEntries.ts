// The bounded cache of access tokens and failed exchanges, keyed by the whole identity of a credential.
// It must not know how tokens are requested, or when they are renewed.
import type * as Deferred from "effect/Deferred"
import * as Redacted from "effect/Redacted"
import { createHash } from "node:crypto"
import { FairEntries } from "../domain/FairEntries.ts"
import type { Credentials, ProviderAccount } from "../domain/ProviderAccount.ts"
import type { ProviderError } from "../domain/ProviderError.ts"
import type { AuthHeaders } from "../upstream/HttpExchange.ts"
import { cloudScope } from "./ServiceAccountJwt.ts"

/** A moment on both clocks, in milliseconds. */
export interface Moment {
  readonly wall: number
  readonly monotonic: number
}

export interface KeptToken {
  readonly headers: AuthHeaders
  readonly since: Moment
  readonly lifeMillis: number
  /** The age from which a valid token is renewed in the background. */
  readonly renewMillis: number
}

/** The cached state of one credential. */
export interface TokenEntry {
  token: KeptToken | undefined
  /** The exchange in progress, shared by all callers that wait for a token. */
  exchange: Deferred.Deferred<AuthHeaders, ProviderError> | undefined
  refusal: { readonly error: ProviderError; readonly since: Moment } | undefined
  failed: Moment | undefined
  forced: Moment | undefined
}

/** The larger age of two clocks: wall time can jump, and monotonic time can stop while the machine sleeps. */
export const ageMillis = (since: Moment, now: Moment): number =>
  Math.max(now.wall - since.wall, now.monotonic - since.monotonic)

export const isYoungerThan = (since: Moment | undefined, now: Moment, millis: number): boolean =>
  since !== undefined && ageMillis(since, now) < millis

/** The owner of all stored credentials; it differs from every key id. */
const operator = ""

/**
 * Finds or creates the entry of a credential. When the cache is full, the key that brought the most credentials loses
 * its oldest.
 */
export const makeEntries = (most: number): ((account: ProviderAccount, credentials: Credentials) => TokenEntry) => {
  const entries = new FairEntries<TokenEntry>(most)
  const digests = new WeakMap<Credentials, string>()
  return (account, credentials) => {
    let digest = digests.get(credentials)
    if (digest === undefined) digests.set(credentials, (digest = digestOf(credentials)))
    // Slug and origin contain no line end, and digests have a fixed length, so two identities never share a key.
    const key = `${account.slug}\n${account.origin}\n${account.tokenUrl ?? ""}\n${digest}`
    const entry = entries.get(key) ?? {
      token: undefined,
      exchange: undefined,
      refusal: undefined,
      failed: undefined,
      forced: undefined
    }
    entries.set(account.carriedBy ?? operator, key, entry)
    return entry
  }
}

/** SHA-256 over every part of a credential, each prefixed by its length. */
export const digestOf = (credentials: Credentials): string => {
  const hash = createHash("sha256")
  for (const part of [credentials._tag, cloudScope, ...identity(credentials)]) {
    hash.update(`${Buffer.byteLength(part)}:`).update(part)
  }
  return hash.digest("hex")
}

const identity = (credentials: Credentials): ReadonlyArray<string> => {
  switch (credentials._tag) {
    case "ApiKey":
      return [Redacted.value(credentials.key)]
    case "AccessToken":
      return [Redacted.value(credentials.token)]
    case "ServiceAccount": {
      const { clientEmail, privateKeyId, privateKey, projectId } = credentials.key
      return [clientEmail, privateKeyId, Redacted.value(privateKey), projectId ?? ""]
    }
    case "AuthorizedUser": {
      const { clientId, clientSecret, refreshToken } = credentials.user
      return [clientId, Redacted.value(clientSecret), Redacted.value(refreshToken)]
    }
    case "Federated": {
      const { client, impersonation, ...rest } = credentials.federation
      return [
        JSON.stringify({ ...rest, impersonation, id: client?.id }),
        client === undefined ? "" : Redacted.value(client.secret)
      ]
    }
    case "FederatedUser": {
      const { client, refreshToken, tokenUrl } = credentials.user
      return [tokenUrl, client.id, Redacted.value(client.secret), Redacted.value(refreshToken)]
    }
    case "Impersonated":
      return [JSON.stringify(credentials.impersonation), digestOf(credentials.source)]
    case "ApplicationDefault":
      return []
  }
}
