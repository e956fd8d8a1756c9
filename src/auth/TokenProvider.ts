// Authorization headers for provider accounts: API keys and tokens as they are, others by a bounded cache of access tokens.
// It must not know providers, routes, or how a token is requested.
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import { createHash } from "node:crypto"
import { FairEntries } from "../domain/collections.ts"
import { Limits } from "../domain/Limits.ts"
import type { Credentials, ProviderAccount } from "../domain/ProviderAccount.ts"
import { ProviderError } from "../domain/ProviderError.ts"
import { monotonicMillis } from "../domain/time.ts"
import { metrics } from "../telemetry/metrics.ts"
import { SeriesRegistry } from "../telemetry/Series.ts"
import { type Tracer, Tracing } from "../telemetry/Tracing.ts"
import type { AuthHeaders } from "../upstream/HttpExchange.ts"
import { Transport } from "../upstream/Transport.ts"
import type { AccessToken } from "./TokenCalls.ts"
import { type ExchangeContext, requestToken } from "./TokenExchange.ts"
import { type ApplicationDefaultOptions, cloudScope } from "./TokenSources.ts"

export class TokenProvider extends Context.Service<
  TokenProvider,
  {
    /** The authorization header of the account. It waits for a token request only without a valid cached token. */
    readonly authorization: (account: ProviderAccount) => Effect.Effect<AuthHeaders, ProviderError>
    /**
     * Replaces a token that the upstream refused, at most once in 30 s; true when a new token is available. False for
     * credentials that cannot be renewed.
     */
    readonly refresh: (account: ProviderAccount) => Effect.Effect<boolean>
  }
>()("gateway/auth/TokenProvider") {
  /** The service with the given sources of application default credentials. */
  static readonly layerWith = (options: ApplicationDefaultOptions): Layer.Layer<TokenProvider, never, Transport> =>
    Layer.effect(TokenProvider, makeTokenProvider(options))

  /** Application default credentials come from the metadata server. */
  static readonly layer: Layer.Layer<TokenProvider, never, Transport> = Layer.suspend(() => TokenProvider.layerWith({}))

  /** The same headers for every account, for tests. */
  static readonly layerStatic = (headers: AuthHeaders): Layer.Layer<TokenProvider> =>
    Layer.succeed(TokenProvider, { authorization: () => Effect.succeed(headers), refresh: () => Effect.succeed(false) })
}

const aheadMillis = 5 * 60 * 1000
const refusalMillis = 30 * 1000
const forcedMillis = 30 * 1000
/** Pause between background renewals after a failure. */
const failedMillis = 10 * 1000

const keep = ({ token, lifeMillis }: AccessToken, since: Moment): CachedToken => ({
  headers: bearer(token),
  since,
  lifeMillis,
  renewMillis: Math.max(lifeMillis - aheadMillis, lifeMillis * 0.8)
})

const bearer = (token: string): AuthHeaders => ({
  authorization: Redacted.make(`Bearer ${token}`, { label: "authorization" })
})

/** The header of a token that is stored, made once: a redacted value costs 13 us, since it is an entry of a weak table. */
const storedBearers = (): ((token: Redacted.Redacted<string>) => AuthHeaders) => {
  const made = new WeakMap<Redacted.Redacted<string>, AuthHeaders>()
  return (token) => {
    let headers = made.get(token)
    if (headers === undefined) made.set(token, (headers = bearer(Redacted.value(token))))
    return headers
  }
}

const now: Effect.Effect<Moment> = Effect.clockWith((clock) =>
  Effect.succeed({
    wall: clock.currentTimeMillisUnsafe(),
    monotonic: monotonicMillis(clock)
  })
)

/**
 * Starts a token request, or joins the one in progress. It runs in the layer's scope, so an interrupted caller does
 * not end it.
 */
const exchangeStarter =
  (context: ExchangeContext, scope: Scope.Scope, note: ReturnType<typeof noting>) =>
  (entry: TokenEntry, account: ProviderAccount): Effect.Effect<Deferred.Deferred<AuthHeaders, ProviderError>> =>
    Effect.uninterruptible(
      Effect.suspend(() => {
        if (entry.exchange !== undefined) return Effect.succeed(entry.exchange)
        const waiting = Deferred.makeUnsafe<AuthHeaders, ProviderError>()
        entry.exchange = waiting
        const run = Effect.flatMap(now, (since) =>
          Effect.onExit(
            Effect.map(requestToken(context, account), (token) => (entry.token = keep(token, since)).headers),
            (exit) =>
              Effect.flatMap(now, (moment) => settle(entry, waiting, note(account, exit, since, moment), moment))
          )
        )
        return Effect.as(Effect.forkIn(Effect.exit(run), scope), waiting)
      })
    )

/** The cached token of a credential, renewed in the background near its end; without one the result of a token request. */
const cachedTokens = (entryOf: ReturnType<typeof makeTokenEntries>, exchange: ReturnType<typeof exchangeStarter>) => {
  const exchanged = (entry: TokenEntry, account: ProviderAccount): Effect.Effect<AuthHeaders, ProviderError> =>
    Effect.flatMap(exchange(entry, account), Deferred.await)

  const cached = (account: ProviderAccount, credentials: Credentials): Effect.Effect<AuthHeaders, ProviderError> =>
    Effect.flatMap(now, (moment) => {
      const entry = entryOf(account, credentials)
      const { token, refusal } = entry
      if (token !== undefined) {
        const tokenAge = ageMillis(token.since, moment)
        if (tokenAge < token.lifeMillis) {
          const renew =
            tokenAge >= token.renewMillis &&
            entry.exchange === undefined &&
            !isYoungerThan(entry.failed, moment, failedMillis)
          return renew ? Effect.as(exchange(entry, account), token.headers) : Effect.succeed(token.headers)
        }
      }
      return refusal !== undefined && isYoungerThan(refusal.since, moment, refusalMillis)
        ? Effect.fail(refusal.error)
        : exchanged(entry, account)
    })
  return { exchanged, cached }
}

const makeTokenProvider = Effect.fnUntraced(function* (options: ApplicationDefaultOptions) {
  const context = { transport: yield* Transport, limits: yield* Limits, options }
  const scope = yield* Effect.scope
  const entryOf = makeTokenEntries(context.limits.tokenEntries)
  const note = noting(SeriesRegistry.of(yield* Effect.context<never>()), yield* Tracing)
  const stored = storedBearers()
  const { exchanged, cached } = cachedTokens(entryOf, exchangeStarter(context, scope, note))

  return {
    authorization: (account: ProviderAccount): Effect.Effect<AuthHeaders, ProviderError> => {
      const credentials = account.credentials
      switch (credentials?._tag) {
        case "ApiKey":
          return Effect.succeed({ "x-goog-api-key": credentials.key })
        case "AccessToken":
          return Effect.succeed(
            account.carriedBy === undefined ? stored(credentials.token) : bearer(Redacted.value(credentials.token))
          )
        case "ServiceAccount":
        case "AuthorizedUser":
        case "Federated":
        case "FederatedUser":
        case "Impersonated":
        case "ApplicationDefault":
          return cached(account, credentials)
        case undefined:
          return Effect.fail(noCredential(account))
      }
    },
    refresh: (account: ProviderAccount): Effect.Effect<boolean> => {
      const credentials = account.credentials
      if (credentials === undefined || credentials._tag === "ApiKey" || credentials._tag === "AccessToken")
        return Effect.succeed(false)
      return Effect.flatMap(now, (moment) => {
        const entry = entryOf(account, credentials)
        if (entry.exchange === undefined) {
          if (isYoungerThan(entry.forced, moment, forcedMillis)) return Effect.succeed(false)
          entry.forced = moment
        }
        return Effect.map(Effect.exit(exchanged(entry, account)), Exit.isSuccess)
      })
    }
  }
})

/** Counts token requests and traces them under the account's slug. */
const noting =
  (series: SeriesRegistry, tracer: Tracer | undefined) =>
  <Some extends Exit.Exit<unknown, ProviderError>>(
    { slug }: ProviderAccount,
    exit: Some,
    start: Moment,
    end: Moment
  ): Some => {
    const failed = Exit.isFailure(exit)
    const error = Exit.findErrorOption(exit)
    const labels = { provider: slug, result: failed ? "failed" : "ok" }
    series.counter(metrics.tokenRefreshes, labels).add(1)
    series.gauge(metrics.tokenRefreshed, labels).value = end.wall / 1000
    tracer?.record({
      name: "gateway token refresh",
      kind: "client",
      startMillis: start.wall,
      endMillis: end.wall,
      attributes: {
        "gateway.credential": slug,
        ...(error._tag === "Some" ? { "error.type": error.value.reason._tag } : {})
      },
      failed
    })
    return exit
  }

/**
 * Completes the waiting callers. A rejected credential is remembered for 30 s; other failures are shared once and
 * forgotten.
 */
const settle = (
  entry: TokenEntry,
  waiting: Deferred.Deferred<AuthHeaders, ProviderError>,
  exit: Exit.Exit<AuthHeaders, ProviderError>,
  since: Moment
): Effect.Effect<boolean> => {
  entry.exchange = undefined
  const error = Exit.findErrorOption(exit)
  entry.failed = Exit.isSuccess(exit) ? undefined : since
  entry.refusal =
    error._tag === "Some" && error.value.reason._tag === "CredentialsRejected"
      ? { error: error.value, since }
      : undefined
  return Deferred.done(waiting, exit)
}

const noCredential = (account: ProviderAccount): ProviderError =>
  new ProviderError({
    slug: account.slug,
    reason: { _tag: "CredentialsRejected", origin: account.origin, message: "The provider has no credential to send." }
  })

/** A moment on both clocks, in milliseconds. */
interface Moment {
  readonly wall: number
  readonly monotonic: number
}

interface CachedToken {
  readonly headers: AuthHeaders
  readonly since: Moment
  readonly lifeMillis: number
  /** The age from which a valid token is renewed in the background. */
  readonly renewMillis: number
}

/** The cached state of one credential. */
interface TokenEntry {
  token: CachedToken | undefined
  /** The exchange in progress, shared by all callers that wait for a token. */
  exchange: Deferred.Deferred<AuthHeaders, ProviderError> | undefined
  refusal: { readonly error: ProviderError; readonly since: Moment } | undefined
  failed: Moment | undefined
  forced: Moment | undefined
}

/** The larger age of two clocks: wall time can jump, and monotonic time can stop while the machine sleeps. */
const ageMillis = (since: Moment, moment: Moment): number =>
  Math.max(moment.wall - since.wall, moment.monotonic - since.monotonic)

const isYoungerThan = (since: Moment | undefined, moment: Moment, millis: number): boolean =>
  since !== undefined && ageMillis(since, moment) < millis

/** The owner of all stored credentials; it differs from every key id. */
const operatorOwner = ""

/**
 * Finds or creates the entry of a credential by its whole identity. When the cache is full, the key that brought the
 * most credentials loses its oldest.
 */
const makeTokenEntries = (most: number): ((account: ProviderAccount, credentials: Credentials) => TokenEntry) => {
  const entries = new FairEntries<TokenEntry>(most)
  const digests = new WeakMap<Credentials, string>()
  return (account, credentials) => {
    let digest = digests.get(credentials)
    if (digest === undefined) digests.set(credentials, (digest = credentialDigest(credentials)))
    // Slug and origin contain no line end, and digests have a fixed length, so two identities never share a key.
    const key = `${account.slug}\n${account.origin}\n${account.token_url ?? ""}\n${digest}`
    const entry = entries.get(key) ?? {
      token: undefined,
      exchange: undefined,
      refusal: undefined,
      failed: undefined,
      forced: undefined
    }
    entries.set(account.carriedBy ?? operatorOwner, key, entry)
    return entry
  }
}

/** SHA-256 over every part of a credential, each prefixed by its length. */
export const credentialDigest = (credentials: Credentials): string => {
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
      return [JSON.stringify(credentials.impersonation), credentialDigest(credentials.source)]
    case "ApplicationDefault":
      return []
  }
}
