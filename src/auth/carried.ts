// Lays the credential that a request or a config carries over the account of the catalog.
// It must not know how a credential is exchanged or sent.
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { BodyInvalid, CredentialsMissing } from "../domain/GatewayError.ts"
import { parseJsonText } from "../domain/text/json.ts"
import {
  type CarriedCredentials,
  type Credentials,
  isBuiltIn,
  type ProviderAccount
} from "../domain/ProviderAccount.ts"
import { parseServiceAccount } from "../domain/settings/serviceAccountKey.ts"

/** The credential the request carries for this kind of provider; one kind's credential is never another's. Providers that are not ours get a token. */
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

/** Whether a credential is carried that this account would use. */
export const carriesCredential = (
  { kind }: ProviderAccount,
  { authorization, googApiKey, vertexServiceAccountJson }: CarriedCredentials
): boolean =>
  authorization !== undefined ||
  (kind === "google" ? googApiKey : kind === "vertex-ai" ? vertexServiceAccountJson : undefined) !== undefined

/** The account as this request uses it: what is carried wins over what the slug stores; `origin` is whose that is. */
export const withCarried = (
  account: ProviderAccount,
  carried: CarriedCredentials,
  origin: ProviderAccount["origin"],
  keyId: string
): Result.Result<ProviderAccount, BodyInvalid> => {
  const read = carriedFor(account, carried)
  if (Result.isFailure(read)) return Result.fail(read.failure)
  const credentials = read.success
  if (credentials === undefined) return Result.succeed(account)
  return Result.succeed({ ...account, credentials, origin, ...(origin === "caller" ? { carriedBy: keyId } : {}) })
}

/** Refuses an account that has nothing to send, and says what would do. A provider that is not ours may need nothing. */
export const requireCredentials = (account: ProviderAccount): Result.Result<ProviderAccount, CredentialsMissing> =>
  account.credentials !== undefined || !isBuiltIn(account.kind)
    ? Result.succeed(account)
    : Result.fail(
        new CredentialsMissing({
          message:
            account.kind === "google"
              ? `No API key for "${account.slug}": store one on the provider, or send it as "Authorization: <API_KEY>" beside x-gateway-api-key.`
              : `No credential for "${account.slug}": store a service account on the provider, or send "Authorization: Bearer <ACCESS_TOKEN>" beside x-gateway-api-key.`
        })
      )
