// Tokens of federated identities and of impersonated service accounts: the token exchange (RFC 8693) and generateAccessToken.
// It must not know which tokens are cached, or which account asks.
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { readFile } from "node:fs/promises"
import type {
  FederatedLogin,
  Federation,
  Impersonation,
  SubjectSource,
  TokenClient
} from "../domain/ProviderAccount.ts"
import type { ProviderError } from "../domain/ProviderError.ts"
import { isJsonObject, parseJsonText } from "../domain/text/json.ts"
import type { AuthHeaders } from "../upstream/HttpExchange.ts"
import { cloudScope } from "./ServiceAccountJwt.ts"
import { form, hiddenOf, type TokenCalls } from "./TokenCalls.ts"
import type { AccessToken } from "./tokenReply.ts"

const endpoint = "The token endpoint"

/** Exchanges the token of another identity provider, and then acts as a service account where the file names one. */
export const federatedToken = Effect.fnUntraced(function* (
  calls: TokenCalls,
  { audience, client, impersonation, subject, subjectTokenType, tokenUrl, userProject }: Federation
): Effect.fn.Return<AccessToken, ProviderError> {
  const subjectToken = yield* readSubject(calls, subject)
  const token = yield* calls.token(
    form(
      tokenUrl,
      {
        grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
        audience,
        scope: cloudScope,
        requested_token_type: "urn:ietf:params:oauth:token-type:access_token",
        subject_token: subjectToken,
        subject_token_type: subjectTokenType,
        ...(userProject === undefined || client !== undefined ? {} : { options: JSON.stringify({ userProject }) })
      },
      hiddenOf(subjectToken, ...(client === undefined ? [] : [Redacted.value(client.secret)])),
      client === undefined ? {} : basic(client)
    ),
    endpoint
  )
  return impersonation === undefined ? token : yield* impersonatedToken(calls, token, impersonation)
})

export const federatedUserToken = (
  calls: TokenCalls,
  { client, refreshToken, tokenUrl }: FederatedLogin
): Effect.Effect<AccessToken, ProviderError> =>
  calls.token(
    form(
      tokenUrl,
      { grant_type: "refresh_token", refresh_token: Redacted.value(refreshToken) },
      hiddenOf(Redacted.value(refreshToken), Redacted.value(client.secret)),
      basic(client)
    ),
    endpoint
  )

const hourSeconds = 60 * 60

export const impersonatedToken = (
  calls: TokenCalls,
  { token }: AccessToken,
  { delegates, lifetimeSeconds = hourSeconds, scopes = [cloudScope], url }: Impersonation
): Effect.Effect<AccessToken, ProviderError> =>
  calls.token(
    {
      method: "POST",
      url,
      headers: { "content-type": "application/json" },
      auth: { authorization: Redacted.make(`Bearer ${token}`, { label: "authorization" }) },
      body: JSON.stringify({ delegates, scope: scopes, lifetime: `${lifetimeSeconds}s` }),
      secrets: hiddenOf(token)
    },
    "The impersonation of the service account"
  )

const basic = ({ id, secret }: TokenClient): AuthHeaders => ({
  authorization: Redacted.make(`Basic ${Buffer.from(`${id}:${Redacted.value(secret)}`).toString("base64")}`, {
    label: "authorization"
  })
})

/** Reads the identity token each time, since its issuer replaces it. */
const readSubject = Effect.fnUntraced(function* (
  calls: TokenCalls,
  { at, field }: SubjectSource
): Effect.fn.Return<string, ProviderError> {
  const text = "file" in at ? yield* fileText(calls, at.file) : yield* urlText(calls, at)
  const json = field === undefined ? undefined : Result.getOrUndefined(parseJsonText(text))
  const token = field === undefined ? text.trim() : isJsonObject(json) ? json[field] : undefined
  return typeof token === "string" && token !== ""
    ? token
    : yield* calls.reject(
        `The source of the identity token has ${field === undefined ? "no text" : `no text at "${field}"`}.`
      )
})

const fileText = (calls: TokenCalls, path: string) =>
  Effect.catch(Effect.tryPromise({ try: () => readFile(path, "utf8"), catch: () => "unread" as const }), () =>
    calls.reject("The file of the identity token cannot be read.")
  )

const urlText = Effect.fnUntraced(function* (
  calls: TokenCalls,
  { headers, url }: { readonly url: string; readonly headers: Readonly<Record<string, string>> }
): Effect.fn.Return<string, ProviderError> {
  const subject = "The source of the identity token"
  const sealed = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, Redacted.make(value)]))
  const asked = { method: "GET" as const, url, headers: {}, auth: sealed, body: undefined, secrets: [] }
  const { bytes, status } = yield* calls.send(asked, subject)
  return status === 200
    ? new TextDecoder().decode(bytes)
    : yield* calls.fail({ _tag: "Internal", status, message: `${subject} answered ${status}.` })
})
