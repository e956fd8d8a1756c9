// What access tokens come from: application default credentials, signed assertions, federated and impersonated identities.
// It must not know which tokens are cached, or which account asks.
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { readFile } from "node:fs/promises"
import type {
  Credentials,
  FederatedLogin,
  Federation,
  Impersonation,
  ServiceAccountKey,
  SubjectSource,
  TokenClient
} from "../domain/ProviderAccount.ts"
import type { ProviderError } from "../domain/ProviderError.ts"
import { parseCredential } from "../domain/settings/credentialFile.ts"
import { isJsonObject, parseJsonText } from "../domain/text/json.ts"
import type { AuthHeaders } from "../upstream/HttpExchange.ts"
import { type AccessToken, form, hiddenOf, type TokenCalls } from "./TokenCalls.ts"

export interface ApplicationDefaultOptions {
  /** The value of GOOGLE_APPLICATION_CREDENTIALS: any of Google's credential files, or the file of gcloud. */
  readonly credentialsFile?: string | undefined
  /** Scheme and host of the metadata server; tests replace it. */
  readonly metadataUrl?: string | undefined
}

/** The source of an access token. */
export type TokenSource = Credentials | { readonly _tag: "Metadata"; readonly url: string }

/**
 * The metadata server answers over plain HTTP inside Google's network only. Source: Compute Engine, "About VM
 * metadata".
 */
const metadataHost = "http://metadata.google.internal"
const metadataPath = "/computeMetadata/v1/instance/service-accounts/default/token"

/** The file if one is configured, else the metadata server; the failure is one sentence. */
export const findApplicationDefault = (options: ApplicationDefaultOptions): Effect.Effect<TokenSource, string> =>
  options.credentialsFile === undefined
    ? Effect.succeed({ _tag: "Metadata", url: (options.metadataUrl ?? metadataHost) + metadataPath })
    : Effect.flatMap(readText(options.credentialsFile), (text) => Effect.fromResult(parseCredentialsFile(text)))

const readText = (path: string): Effect.Effect<string, string> =>
  Effect.tryPromise({
    try: () => readFile(path, "utf8"),
    catch: () => "The file of the application default credentials cannot be read."
  })

const parseCredentialsFile = (text: string): Result.Result<TokenSource, string> => {
  const json = parseJsonText(text)
  if (Result.isFailure(json) || !isJsonObject(json.success)) {
    return Result.fail("The file of the application default credentials is not a JSON object.")
  }
  return parseCredential(json.success)
}

/** Google's token endpoint. It is the audience of every assertion, even when `token_url` replaces the endpoint. */
export const googleTokenUrl = "https://oauth2.googleapis.com/token"
export const cloudScope = "https://www.googleapis.com/auth/cloud-platform"

/** Seconds by which the assertion is backdated, for clocks that are ahead of Google's. */
const backdatedSeconds = 30
const lifeSeconds = 60 * 60

const base64url = (data: string | ArrayBuffer): string =>
  (typeof data === "string" ? Buffer.from(data) : Buffer.from(data)).toString("base64url")

/**
 * The assertion that a service account exchanges for an access token: a JWT signed with RS256. Source: Google, "Using
 * OAuth 2.0 for Server to Server Applications". Fails when the key cannot be imported.
 */
export const signAssertion = (
  key: ServiceAccountKey,
  nowSeconds: number
): Effect.Effect<Redacted.Redacted<string>, "key_unusable"> =>
  Effect.tryPromise({
    try: async () => {
      const iat = Math.floor(nowSeconds) - backdatedSeconds
      const header = { alg: "RS256", typ: "JWT", kid: key.privateKeyId }
      const claims = {
        iss: key.clientEmail,
        sub: key.clientEmail,
        aud: googleTokenUrl,
        scope: cloudScope,
        iat,
        exp: iat + lifeSeconds
      }
      const signed = `${base64url(JSON.stringify(header))}.${base64url(JSON.stringify(claims))}`
      const signature = await crypto.subtle.sign(
        rsa,
        await importKey(Redacted.value(key.privateKey)),
        Buffer.from(signed)
      )
      return Redacted.make(`${signed}.${base64url(signature)}`, { label: "assertion" })
    },
    catch: () => "key_unusable" as const
  })

const rsa = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" }

const importKey = (pem: string) =>
  crypto.subtle.importKey("pkcs8", Buffer.from(pem.replace(/-----[A-Z ]+-----/g, ""), "base64"), rsa, false, ["sign"])

const endpoint = "The token endpoint"

/**
 * Exchanges the token of another identity provider (RFC 8693), and then acts as a service account where the file names
 * one.
 */
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
