// Applies the credential that a request or a config carries to the provider account.
// It must not know how a credential is exchanged or sent.
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { BodyInvalid, CredentialsMissing } from "../domain/GatewayError.ts"
import {
  type CarriedCredentials,
  type Credentials,
  isBuiltIn,
  type ProviderAccount
} from "../domain/ProviderAccount.ts"
import { parseServiceAccount } from "../domain/settings/credentialFile.ts"
import { parseJsonText } from "../domain/text/json.ts"

/**
 * The carried credential for this kind of provider; the credential of one kind is never used for another. Added
 * providers get a token.
 */
const carriedFor = (
  account: ProviderAccount,
  carried: CarriedCredentials
): Result.Result<Credentials | undefined, BodyInvalid> => {
  if (account.kind === "google") {
    const key = carried.authorization ?? carried.googApiKey
    return Result.succeed(key === undefined ? undefined : { _tag: "ApiKey", key })
  }
  if (account.kind === "vertex-ai" && carried.vertexServiceAccountJson !== undefined) {
    const read = Result.flatMap(parseJsonText(Redacted.value(carried.vertexServiceAccountJson)), parseServiceAccount)
    return Result.isSuccess(read)
      ? Result.succeed({ _tag: "ServiceAccount", key: read.success })
      : Result.fail(
          new BodyInvalid({
            code: "invalid_service_account",
            param: "x-gateway-vertex-service-account-json",
            message:
              "x-gateway-vertex-service-account-json is not a usable service-account key: it must be the JSON file of a service account with an RSA key in PKCS#8."
          })
        )
  }
  return Result.succeed(
    carried.authorization === undefined ? undefined : { _tag: "AccessToken", token: carried.authorization }
  )
}

/** Whether the request carries a credential that this account would use. */
export const carriesCredential = (
  { kind }: Pick<ProviderAccount, "kind">,
  { authorization, googApiKey, vertexServiceAccountJson }: CarriedCredentials
): boolean =>
  authorization !== undefined ||
  (kind === "google" ? googApiKey : kind === "vertex-ai" ? vertexServiceAccountJson : undefined) !== undefined

/**
 * The account for this request: a carried credential takes precedence over the stored one. `origin` is the owner of the
 * carried one.
 */
export const withCarriedCredentials = (
  account: ProviderAccount,
  carried: CarriedCredentials,
  origin: ProviderAccount["origin"],
  keyId: string
): Result.Result<ProviderAccount, BodyInvalid> => {
  return Result.map(carriedFor(account, carried), (credentials) =>
    credentials === undefined
      ? account
      : { ...account, credentials, origin, ...(origin === "caller" ? { carriedBy: keyId } : {}) }
  )
}

/**
 * Refuses a built-in account without any credential and names the credential to send. An added provider may need none.
 */
export const requireCredentials = (account: ProviderAccount): Result.Result<ProviderAccount, CredentialsMissing> =>
  account.credentials !== undefined || !isBuiltIn(account.kind)
    ? Result.succeed(account)
    : Result.fail(
        new CredentialsMissing({
          message:
            account.kind === "google"
              ? `No API key for "${account.slug}": store one on the provider, or send it as "Authorization: <API_KEY>" together with x-gateway-api-key.`
              : `No credential for "${account.slug}": store a service account on the provider, or send "Authorization: Bearer <ACCESS_TOKEN>" together with x-gateway-api-key.`
        })
      )
