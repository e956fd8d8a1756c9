// Requests one access token by what the credential is: key, login, federation, impersonation, metadata server.
// It must not know which tokens are cached.
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type { Credentials, ProviderAccount } from "../domain/ProviderAccount.ts"
import type { ProviderError } from "../domain/ProviderError.ts"
import {
  type AccessToken,
  type CallContext,
  form,
  hiddenOf,
  type TokenCalls,
  tokenCalls,
  type TokenRequest
} from "./TokenCalls.ts"
import {
  type ApplicationDefaultOptions,
  federatedToken,
  federatedUserToken,
  findApplicationDefault,
  googleTokenUrl,
  impersonatedToken,
  signAssertion,
  type TokenSource
} from "./TokenSources.ts"

export interface ExchangeContext extends CallContext {
  readonly options: ApplicationDefaultOptions
}

/** The calls that lead to one token, for an account whose credential is not itself a token. */
export const requestToken = Effect.fnUntraced(function* (
  context: ExchangeContext,
  account: ProviderAccount
): Effect.fn.Return<AccessToken, ProviderError> {
  const calls = tokenCalls(context, account)
  return yield* tokenOf(calls, context.options, account, yield* sourceOf(calls, account.credentials, account, context))
})

/** Only the operator may use the machine's own identity; a request may not. */
const sourceOf = (
  { reject }: TokenCalls,
  credentials: Credentials | undefined,
  account: ProviderAccount,
  { options }: Pick<ExchangeContext, "options">
): Effect.Effect<TokenSource, ProviderError> => {
  if (credentials?._tag === "ApplicationDefault" && account.origin === "stored")
    return Effect.catch(findApplicationDefault(options), reject)
  return credentials === undefined || credentials._tag === "ApplicationDefault"
    ? reject("The provider has no credential that could be exchanged for a token.")
    : Effect.succeed(credentials)
}

const tokenOf = (
  calls: TokenCalls,
  options: ApplicationDefaultOptions,
  account: ProviderAccount,
  source: TokenSource
): Effect.Effect<AccessToken, ProviderError> => {
  switch (source._tag) {
    case "Federated":
      return federatedToken(calls, source.federation)
    case "FederatedUser":
      return federatedUserToken(calls, source.user)
    case "Impersonated":
      return Effect.flatMap(
        Effect.flatMap(sourceOf(calls, source.source, account, { options }), (credential) =>
          tokenOf(calls, options, account, credential)
        ),
        (base) => impersonatedToken(calls, base, source.impersonation)
      )
    case "Metadata":
    case "AuthorizedUser":
    case "ServiceAccount":
      return plainToken(calls, source, account.token_url ?? googleTokenUrl)
    case "AccessToken":
      return Effect.succeed({ token: Redacted.value(source.token), lifeMillis: 0 })
    case "ApiKey":
    case "ApplicationDefault":
      return calls.reject("The provider has no credential that could be exchanged for a token.")
  }
}

type PlainSource = Extract<TokenSource, { readonly _tag: "Metadata" | "AuthorizedUser" | "ServiceAccount" }>

/** One request, to the token endpoint or to the metadata server. */
const plainToken = Effect.fnUntraced(function* (calls: TokenCalls, source: PlainSource, tokenUrl: string) {
  const nowMillis = yield* Effect.clockWith((clock) => clock.currentTimeMillis)
  const asked = yield* Effect.catch(tokenRequest(source, tokenUrl, nowMillis), calls.reject)
  const subject = source._tag === "Metadata" ? "The metadata server" : "The token endpoint"
  const answer = yield* calls.send(asked, subject)
  if (source._tag === "Metadata" && answer.headers["metadata-flavor"] !== "Google") {
    return yield* calls.fail({
      _tag: "BadReply",
      kind: "unreadable",
      message: "The metadata server did not identify itself as Google's."
    })
  }
  return yield* calls.read(asked, answer, subject)
})

const tokenRequest = (
  source: PlainSource,
  tokenUrl: string,
  nowMillis: number
): Effect.Effect<TokenRequest, string> => {
  switch (source._tag) {
    case "Metadata":
      return Effect.succeed({
        method: "GET",
        url: source.url,
        headers: { "metadata-flavor": "Google" },
        body: undefined,
        secrets: []
      })
    case "AuthorizedUser":
      return Effect.succeed(
        form(
          tokenUrl,
          {
            grant_type: "refresh_token",
            client_id: source.user.clientId,
            client_secret: Redacted.value(source.user.clientSecret),
            refresh_token: Redacted.value(source.user.refreshToken)
          },
          hiddenOf(Redacted.value(source.user.clientSecret), Redacted.value(source.user.refreshToken))
        )
      )
    case "ServiceAccount":
      return Effect.mapBoth(signAssertion(source.key, nowMillis / 1000), {
        onFailure: () => "The private key of the service account cannot be used for signing.",
        onSuccess: (assertion) =>
          form(
            tokenUrl,
            {
              grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer",
              assertion: Redacted.value(assertion)
            },
            hiddenOf(Redacted.value(assertion), Redacted.value(source.key.privateKey).trim(), source.key.privateKeyId)
          )
      })
  }
}
