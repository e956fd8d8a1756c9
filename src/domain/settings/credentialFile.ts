// Reads any of Google's credential files by its type: key, login, federation, impersonation.
// It must not open a file; a credential's text never enters a fault.
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { type Credentials, type Impersonation, isProject, type SubjectSource } from "../ProviderAccount.ts"
import { isJsonObject, type Json, type JsonObject } from "../text/json.ts"
import { isUserLogin, parseServiceAccount, parseUserLogin } from "./serviceAccountKey.ts"

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
