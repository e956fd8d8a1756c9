// Parses the JSON of a service-account key file or of a user's login, or returns one sentence with the reason why it is rejected.
// It must not know where the JSON came from or what the key is used for.
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { isJsonObject, type JsonObject } from "../text/json.ts"
import { isProject, type ServiceAccountKey, type UserLogin } from "../ProviderAccount.ts"

/**
 * Accepts a key file of type `service_account` with an RSA key of 2048 bits or more in PKCS#8. It ignores `token_uri`,
 * so that a key cannot choose where its own assertion is sent. It rejects other types, because they can name URLs and
 * commands.
 */
export const parseServiceAccount = (json: unknown): Result.Result<ServiceAccountKey, string> => {
  if (!isJsonObject(json))
    return Result.fail("The service-account key must be a JSON object, the key file as Google Cloud made it.")
  const type = json["type"]
  if (type !== "service_account") {
    return Result.fail(
      typeof type === "string"
        ? `Credentials of type "${type.slice(0, 40).replace(/[^\w -]/g, "?")}" are not taken; the key file of a service account (type "service_account") is.`
        : 'The service-account key has no "type": "service_account".'
    )
  }
  const universe = json["universe_domain"]
  if (universe !== undefined && universe !== "googleapis.com")
    return Result.fail("Only universe_domain googleapis.com is supported.")
  const clientEmail = text(json, "client_email")
  const privateKeyId = text(json, "private_key_id")
  const pem = text(json, "private_key")
  if (clientEmail === undefined) return missing("client_email")
  if (privateKeyId === undefined) return missing("private_key_id")
  if (pem === undefined) return missing("private_key")
  return Result.map(readPem(pem), (privateKey) => ({
    clientEmail,
    privateKeyId,
    privateKey: Redacted.make(privateKey, { label: "private key" }),
    projectId: text(json, "project_id")
  }))
}

/** True for the file of `gcloud auth application-default login`. */
export const isUserLogin = (json: unknown): json is JsonObject =>
  isJsonObject(json) && json["type"] === "authorized_user"

/** Reads a user's login. As with a key, its `token_uri` is ignored. */
export const parseUserLogin = (json: JsonObject): Result.Result<UserLogin, string> => {
  const [clientId, clientSecret, refreshToken] = ["client_id", "client_secret", "refresh_token"].map((name) =>
    text(json, name)
  )
  if (clientId === undefined || clientSecret === undefined || refreshToken === undefined)
    return Result.fail("The credentials of a user need client_id, client_secret and refresh_token.")
  const quotaProject = text(json, "quota_project_id")
  if (quotaProject !== undefined && !isProject(quotaProject))
    return Result.fail("The quota_project_id of the credentials is not a Google Cloud project id or number.")
  return Result.succeed({
    clientId,
    clientSecret: Redacted.make(clientSecret, { label: "client secret" }),
    refreshToken: Redacted.make(refreshToken, { label: "refresh token" }),
    quotaProject
  })
}

const text = (json: JsonObject, name: string): string | undefined => {
  const value = json[name]
  return typeof value === "string" && value !== "" ? value : undefined
}

const missing = (name: string) => Result.fail(`The service-account key has no "${name}".`)

/** PKCS#8 PEM with normalized line ends: accepts CRLF and the two characters `\n`. */
const readPem = (pem: string): Result.Result<string, string> => {
  const lines = pem.replaceAll("\\r", "").replaceAll("\\n", "\n").replaceAll("\r\n", "\n").trim()
  const framed = /^-----BEGIN ([A-Z ]+)-----\n([A-Za-z0-9+/=\n]+?)\n?-----END \1-----$/.exec(lines)
  const label = framed?.[1]
  if (framed === null || label === undefined)
    return Result.fail("The private_key of the service account is not PEM text.")
  if (label !== "PRIVATE KEY") {
    return Result.fail(
      `The private_key of the service account is "${label}"; an unencrypted PKCS#8 key ("PRIVATE KEY") is needed.`
    )
  }
  const fault = derFault((framed[2] ?? "").replaceAll("\n", ""))
  return fault === undefined ? Result.succeed(`${lines}\n`) : Result.fail(fault)
}

/** rsaEncryption, 1.2.840.113549.1.1.1 (RFC 8017). */
const rsaOid = "\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01"

/** Reads PrivateKeyInfo (RFC 5208) up to the algorithm and the size of the modulus. */
const derFault = (base64: string): string | undefined => {
  let der: string
  try {
    der = atob(base64)
  } catch {
    return "The private_key of the service account is not valid base64."
  }
  const info = element(der, 0)
  const algorithm = info && element(der, element(der, info.from)?.to ?? der.length)
  const oid = algorithm && element(der, algorithm.from)
  const octets = algorithm && element(der, algorithm.to)
  if (oid === undefined || octets === undefined) return "The private_key of the service account is not a PKCS#8 key."
  if (der.slice(oid.from, oid.to) !== rsaOid) return "The private_key of the service account is not an RSA key."
  const rsa = element(der, octets.from)
  const modulus = rsa && element(der, element(der, rsa.from)?.to ?? der.length)
  if (modulus === undefined) return "The private_key of the service account is not a PKCS#8 key."
  return modulus.to - modulus.from >= leastBytes
    ? undefined
    : "The private_key of the service account is an RSA key of less than 2048 bits."
}
const leastBytes = 256

/** The bounds of the content of the DER element at `at`; undefined beyond the end. */
const element = (der: string, at: number): { readonly from: number; readonly to: number } | undefined => {
  const first = der.charCodeAt(at + 1)
  if (Number.isNaN(first)) return undefined
  const more = first < 0x80 ? 0 : first & 0x7f
  if (more > 3) return undefined
  let size = first < 0x80 ? first : 0
  for (let i = 0; i < more; i++) size = size * 256 + der.charCodeAt(at + 2 + i)
  const from = at + 2 + more
  return from + size <= der.length ? { from, to: from + size } : undefined
}
