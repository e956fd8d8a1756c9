// What is known of each credential, bounded, under a key made of the whole identity.
// It must not know how tokens are got, or when they are renewed.
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
  /** Age from which the token is renewed while it still serves. */
  readonly renewMillis: number
}

/** What is known of one credential. */
export interface Entry {
  token: KeptToken | undefined
  /** The exchange under way; everybody waits for this one. */
  exchange: Deferred.Deferred<AuthHeaders, ProviderError> | undefined
  refusal: { readonly error: ProviderError; readonly since: Moment } | undefined
  failed: Moment | undefined
  forced: Moment | undefined
}

/** The stricter of two clocks: wall time jumps, monotonic time may stand still while the machine sleeps. */
export const age = (since: Moment, now: Moment): number =>
  Math.max(now.wall - since.wall, now.monotonic - since.monotonic)

export const within = (since: Moment | undefined, now: Moment, millis: number): boolean =>
  since !== undefined && age(since, now) < millis

/** All stored credentials are the operator's, whose id is that of no key. */
const operator = ""

/** Entries by the whole identity of a credential. Those that requests bring make room by the key that brought the most. */
export const makeEntries = (most: number): ((account: ProviderAccount, credentials: Credentials) => Entry) => {
  const entries = new FairEntries<Entry>(most)
  const digests = new WeakMap<Credentials, string>()
  return (account, credentials) => {
    let digest = digests.get(credentials)
    if (digest === undefined) digests.set(credentials, (digest = digestOf(credentials)))
    // A slug and an origin hold no line end, and a digest has one length: no two identities share a key.
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

/** SHA-256 over every part of a credential, each with its length before it. */
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
    case "ApplicationDefault":
      return []
  }
}
