// Reads any of Google's credential files by its type: service-account key, login, federation, impersonation.
// It must not open a file; a credential's text never enters a fault.
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import {
  type Credentials,
  type Impersonation,
  isProject,
  type ServiceAccountKey,
  type SubjectSource,
  type UserLogin
} from "../ProviderAccount.ts"
import { isJsonObject, type Json, type JsonObject } from "../text/json.ts"

/** Types that name files and addresses, which only the operator of the machine may. */
const operatorTypes: ReadonlySet<unknown> = new Set([
  "external_account",
  "external_account_authorized_user",
  "impersonated_service_account"
])

/** True for a file that makes the gateway read a file or call an address of its choice. */
export const namesAddresses = (json: Json): boolean => isJsonObject(json) && operatorTypes.has(json["type"])

/** The credential of a file; the failure is one sentence. */
export const parseCredential = (json: Json): Result.Result<Credentials, string> => {
  if (isUserLogin(json)) return Result.map(parseUserLogin(json), (user) => ({ _tag: "AuthorizedUser", user }))
  switch (isJsonObject(json) ? json["type"] : undefined) {
    case "external_account":
      return caught(json, parseFederation)
    case "external_account_authorized_user":
      return caught(json, parseFederatedUser)
    case "impersonated_service_account":
      return caught(json, parseImpersonated)
    default:
      return Result.map(parseServiceAccount(json), (key) => ({ _tag: "ServiceAccount", key }))
  }
}

/** The project that a credential's file bills. cloud.google.com/docs/quotas/set-quota-project */
export const quotaProjectOf = (credentials: Credentials | undefined): string | undefined => {
  switch (credentials?._tag) {
    case "AuthorizedUser":
    case "FederatedUser":
      return credentials.user.quotaProject
    case "Federated":
      return credentials.federation.quotaProject
    case "Impersonated":
      return credentials.quotaProject ?? quotaProjectOf(credentials.source)
    case "ApplicationDefault":
      return credentials.quotaProject
    default:
      return undefined
  }
}

const serviceAccountGrammar = /^[A-Za-z0-9._-]{1,100}@[A-Za-z0-9.-]{1,150}$/
export const isServiceAccount = (text: string): boolean => serviceAccountGrammar.test(text)

/** The address at which a token of this service account is made. */
export const impersonationUrl = (serviceAccount: string): string =>
  `https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/${serviceAccount}:generateAccessToken`

/** The service account in an address of generateAccessToken. */
export const impersonatedAccount = ({ url }: Impersonation): string | undefined =>
  /\/serviceAccounts\/([^/:]+):generateAccessToken$/.exec(url)?.[1]

class Unusable {
  readonly message: string
  constructor(message: string) {
    this.message = message
  }
}

type Members = ReturnType<typeof membersOf>

/** Reads members of one file; a fault ends the reading. */
const membersOf = (json: JsonObject, type: string) => {
  const fail = (message: string): never => {
    throw new Unusable(`Credentials of type "${type}": ${message}`)
  }
  const optional = (name: string): string | undefined => {
    const value = json[name]
    return typeof value === "string" && value !== "" ? value : undefined
  }
  const needed = (name: string): string => optional(name) ?? fail(`${name} is missing.`)
  const url = (name: string, text: string): string => {
    const read = URL.parse(text)
    const isSafe = read?.protocol === "https:" || (read?.protocol === "http:" && isLocal(read.hostname))
    return isSafe && read.username === "" && read.password === "" ? text : fail(`${name} is not an https URL.`)
  }
  const project = (name: string): string | undefined => {
    const text = optional(name)
    return text === undefined || isProject(text) ? text : fail(`${name} is not a Google Cloud project id or number.`)
  }
  return { json, fail, optional, needed, url, project }
}

/** This machine and the metadata address of clouds, which answer over plain HTTP. */
const isLocal = (host: string): boolean => /^(127\.[\d.]+|localhost|\[::1\]|169\.254\.[\d.]+)$/.test(host)

const caught = (json: Json, read: (members: Members) => Credentials): Result.Result<Credentials, string> => {
  const object = isJsonObject(json) ? json : {}
  try {
    return Result.succeed(read(membersOf(object, String(object["type"]))))
  } catch (error) {
    if (error instanceof Unusable) return Result.fail(error.message)
    throw error
  }
}

const clientOf = ({ needed }: Members) => ({
  id: needed("client_id"),
  secret: Redacted.make(needed("client_secret"), { label: "client secret" })
})

const secondsOf = ({ fail }: Members, value: Json | undefined): number | undefined => {
  if (value === undefined) return undefined
  return typeof value === "number" && value >= 600 && value <= 43_200
    ? value
    : fail("token_lifetime_seconds is not a number from 600 to 43200.")
}

const parseFederation = (members: Members): Credentials => {
  const { json, needed, optional, project, url } = members
  const impersonated = optional("service_account_impersonation_url")
  const impersonation = json["service_account_impersonation"]
  return {
    _tag: "Federated",
    federation: {
      audience: needed("audience"),
      subjectTokenType: needed("subject_token_type"),
      tokenUrl: url("token_url", optional("token_url") ?? "https://sts.googleapis.com/v1/token"),
      subject: subjectOf(members),
      client: optional("client_id") === undefined ? undefined : clientOf(members),
      userProject: project("workforce_pool_user_project"),
      impersonation:
        impersonated === undefined
          ? undefined
          : {
              url: url("service_account_impersonation_url", impersonated),
              delegates: [],
              lifetimeSeconds: secondsOf(
                members,
                isJsonObject(impersonation) ? impersonation["token_lifetime_seconds"] : undefined
              )
            },
      quotaProject: project("quota_project_id")
    }
  }
}

const subjectOf = ({ fail, json }: Members): SubjectSource => {
  const source = json["credential_source"]
  if (!isJsonObject(source)) return fail("credential_source is missing.")
  const { file, format, headers, url } = source
  const isJson = isJsonObject(format) && format["type"] === "json"
  const field = isJson ? format["subject_token_field_name"] : undefined
  if (isJson && typeof field !== "string") return fail("credential_source.format has no subject_token_field_name.")
  const name = typeof field === "string" ? field : undefined
  if (typeof file === "string" && file !== "") return { at: { file }, field: name }
  if (typeof url === "string" && source["environment_id"] === undefined && isHttpUrl(url)) {
    const texts = isJsonObject(headers) ? Object.entries(headers) : []
    return {
      at: { url, headers: Object.fromEntries(texts.map(([header, value]) => [header.toLowerCase(), String(value)])) },
      field: name
    }
  }
  return fail(
    "credential_source has neither a file nor an http or https url; programs, certificates and AWS are not taken."
  )
}

const isHttpUrl = (text: string): boolean => /^https?:$/.test(URL.parse(text)?.protocol ?? "")

const parseFederatedUser = (members: Members): Credentials => {
  const { needed, optional, project, url } = members
  return {
    _tag: "FederatedUser",
    user: {
      tokenUrl: url("token_url", optional("token_url") ?? "https://sts.googleapis.com/v1/oauthtoken"),
      client: clientOf(members),
      refreshToken: Redacted.make(needed("refresh_token"), { label: "refresh token" }),
      quotaProject: project("quota_project_id")
    }
  }
}

/** The chain of `delegates` is one call; the source of an impersonation may be an impersonation itself. */
const parseImpersonated = (members: Members): Credentials => {
  const { fail, json, needed, project, url } = members
  const source = json["source_credentials"]
  if (!isJsonObject(source)) return fail("source_credentials is missing.")
  const read = parseCredential(source)
  if (Result.isFailure(read)) return fail(`source_credentials: ${read.failure}`)
  const delegates = json["delegates"]
  return {
    _tag: "Impersonated",
    source: read.success,
    impersonation: {
      url: url("service_account_impersonation_url", needed("service_account_impersonation_url")),
      delegates: Array.isArray(delegates) ? delegates.filter((one) => typeof one === "string") : [],
      lifetimeSeconds: undefined
    },
    quotaProject: project("quota_project_id")
  }
}

// Parses the JSON of a service-account key file or of a user's login, or returns one sentence with the reason why it is rejected.

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
const isUserLogin = (json: unknown): json is JsonObject => isJsonObject(json) && json["type"] === "authorized_user"

/** Reads a user's login. As with a key, its `token_uri` is ignored. */
const parseUserLogin = (json: JsonObject): Result.Result<UserLogin, string> => {
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
