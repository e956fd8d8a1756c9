// Requests one access token: from the token endpoint for a service account or a user, or from the metadata server.
// It must not know which tokens are cached.
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type { LimitValues } from "../domain/Limits.ts"
import type { ProviderAccount } from "../domain/ProviderAccount.ts"
import { ProviderError, type Reason } from "../domain/ProviderError.ts"
import { type HiddenValue, redacted, Redaction } from "../domain/text/redaction.ts"
import { retryAfterMillis } from "../upstream/retryAfter.ts"
import type { TransportRequest } from "../upstream/HttpExchange.ts"
import type { Transport } from "../upstream/Transport.ts"
import { faultReason } from "../upstream/TransportFault.ts"
import { type ApplicationDefaultOptions, findApplicationDefault, type TokenSource } from "./ApplicationDefault.ts"
import { googleTokenUrl, signAssertion } from "./ServiceAccountJwt.ts"
import { type AccessToken, readTokenReply } from "./tokenReply.ts"

export interface ExchangeContext {
  readonly transport: Transport["Service"]
  readonly limits: LimitValues
  readonly options: ApplicationDefaultOptions
}

const setting = "limits.connectMillis"
const tokenSettings = { connect: setting, first_byte: setting, idle: setting, total: setting }

/** One token request for an account whose credential is not itself a token. */
export const requestToken = Effect.fnUntraced(function* (
  { transport, limits, options }: ExchangeContext,
  account: ProviderAccount
): Effect.fn.Return<AccessToken, ProviderError> {
  const fail = (reason: Reason) => new ProviderError({ slug: account.slug, reason })
  const rejected = (message: string) => fail({ _tag: "CredentialsRejected", origin: account.origin, message })
  const source = yield* Effect.mapError(sourceOf(account, options), rejected)
  const nowMillis = yield* Effect.clockWith((clock) => clock.currentTimeMillis)
  const { secrets, ...asked } = yield* Effect.mapError(
    tokenRequest(source, account.tokenUrl ?? googleTokenUrl, nowMillis),
    rejected
  )
  const subject = source._tag === "Metadata" ? "The metadata server" : "The token endpoint"
  // A token request is small, so its total time is limited to one connect timeout.
  const millis = limits.connectMillis
  const request: TransportRequest = {
    ...asked,
    auth: {},
    connectMillis: millis,
    firstByteMillis: millis,
    idleMillis: millis,
    totalMillis: millis
  }
  const send = (asking: TransportRequest) =>
    transport.collect(asking, { replyBytes: limits.errorBytes, errorBytes: limits.errorBytes })
  // The endpoint had closed a kept connection: one more request, on a new one.
  const answer = yield* Effect.mapError(
    Effect.catch(send(request), (fault) =>
      fault.kind === "stale" ? send({ ...request, isFresh: true }) : Effect.fail(fault)
    ),
    (fault) => fail(faultReason(fault, { name: subject, settings: tokenSettings }))
  )
  if (source._tag === "Metadata" && answer.headers["metadata-flavor"] !== "Google") {
    return yield* fail({
      _tag: "BadReply",
      kind: "unreadable",
      message: "The metadata server did not identify itself as Google's."
    })
  }
  return yield* Effect.mapError(
    Effect.fromResult(
      readTokenReply({
        status: answer.status,
        text: new TextDecoder().decode(answer.bytes),
        redaction: new Redaction(() => [...secrets, { value: new URL(asked.url).host, put: "[upstream]" }]),
        subject,
        origin: account.origin,
        retryAfterMillis: retryAfterMillis(answer.headers, nowMillis)
      })
    ),
    fail
  )
})

const sourceOf = (account: ProviderAccount, options: ApplicationDefaultOptions): Effect.Effect<TokenSource, string> => {
  const credentials = account.credentials
  if (credentials?._tag === "ServiceAccount" || credentials?._tag === "AuthorizedUser")
    return Effect.succeed(credentials)
  // Only the operator may use the machine's own identity; a request may not.
  return credentials?._tag === "ApplicationDefault" && account.origin === "stored"
    ? findApplicationDefault(options)
    : Effect.fail("The provider has no credential that could be exchanged for a token.")
}

interface TokenRequest extends Pick<TransportRequest, "method" | "url" | "headers" | "body"> {
  /** Values that an error message must not quote. */
  readonly secrets: ReadonlyArray<HiddenValue>
}

const hiddenOf = (...values: ReadonlyArray<string>): ReadonlyArray<HiddenValue> =>
  values.map((value) => ({ value, put: redacted }))

const tokenRequest = (
  source: TokenSource,
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

const form = (
  url: string,
  fields: Readonly<Record<string, string>>,
  secrets: ReadonlyArray<HiddenValue>
): TokenRequest => ({
  secrets,
  method: "POST",
  url,
  headers: { "content-type": "application/x-www-form-urlencoded" },
  body: new URLSearchParams(fields).toString()
})
