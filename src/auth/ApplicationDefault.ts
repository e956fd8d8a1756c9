// Application default credentials (ADC): finds the credentials file or the machine's metadata server.
// It must not know issued tokens or requests.
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { readFile } from "node:fs/promises"
import type { Credentials } from "../domain/ProviderAccount.ts"
import { parseCredential } from "../domain/settings/credentialFile.ts"
import { isJsonObject, parseJsonText } from "../domain/text/json.ts"

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
