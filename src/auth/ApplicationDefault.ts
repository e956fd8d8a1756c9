// Application default credentials (ADC): finds the credentials file or the machine's metadata server.
// It must not know issued tokens or requests.
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { readFile } from "node:fs/promises"
import { isJsonObject, type JsonObject, parseJsonText } from "../domain/text/json.ts"
import type { ServiceAccountKey } from "../domain/ProviderAccount.ts"
import { parseServiceAccount } from "../domain/settings/serviceAccountKey.ts"

export interface ApplicationDefaultOptions {
  /** The value of GOOGLE_APPLICATION_CREDENTIALS: a service-account key file, or the file of gcloud. */
  readonly credentialsFile?: string | undefined
  /** Scheme and host of the metadata server; tests replace it. */
  readonly metadataUrl?: string | undefined
}

/** The source of an access token. */
export type TokenSource =
  | { readonly _tag: "ServiceAccount"; readonly key: ServiceAccountKey }
  | {
      readonly _tag: "AuthorizedUser"
      readonly clientId: string
      readonly clientSecret: Redacted.Redacted<string>
      readonly refreshToken: Redacted.Redacted<string>
    }
  | { readonly _tag: "Metadata"; readonly url: string }

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
  return json.success["type"] === "authorized_user"
    ? authorizedUser(json.success)
    : Result.map(parseServiceAccount(json.success), (key) => ({ _tag: "ServiceAccount", key }))
}

const authorizedUser = (json: JsonObject): Result.Result<TokenSource, string> => {
  const { client_id: clientId, client_secret: clientSecret, refresh_token: refreshToken } = json
  if (typeof clientId !== "string" || typeof clientSecret !== "string" || typeof refreshToken !== "string") {
    return Result.fail("The application default credentials of a user need client_id, client_secret and refresh_token.")
  }
  return Result.succeed({
    _tag: "AuthorizedUser",
    clientId,
    clientSecret: Redacted.make(clientSecret, { label: "client secret" }),
    refreshToken: Redacted.make(refreshToken, { label: "refresh token" })
  })
}
