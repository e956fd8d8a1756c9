// The checks of `doctor` on accounts: hosts answer, credentials are accepted, models count tokens.
// Must not make provider calls itself; the gateway's own services make them, as for a client.
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { TokenProvider } from "../../auth/TokenProvider.ts"
import { allows } from "../../domain/GatewayKey.ts"
import { countsTokens, type ModelTable, probeModel } from "../../domain/models/modelTable.ts"
import { operations } from "../../domain/operations.ts"
import { isJsonObject, type JsonObject, parseJsonText } from "../../domain/text/json.ts"
import { credentialName, describeMissingCredential } from "../describeRecords.ts"
import { isBuiltIn, type ProviderAccount } from "../../domain/ProviderAccount.ts"
import { impersonatedAccount } from "../../domain/settings/credentialFile.ts"
import type { Reason } from "../../domain/ProviderError.ts"
import type { Transport } from "../../upstream/Transport.ts"
import type { FaultKind } from "../../upstream/HttpExchange.ts"
import { failFinding, type Finding, okFinding, warnFinding } from "../Output.ts"

/** Sends a POST request to the gateway itself. */
export type PostToGateway = (
  path: string,
  body: JsonObject,
  dryRun: boolean
) => Effect.Effect<{ readonly status: number; readonly json: JsonObject }>

export interface ProviderServices {
  readonly post: PostToGateway
  readonly tokens: TokenProvider["Service"]
  readonly transport: Transport["Service"]
  /** The facts in force. */
  readonly models: ModelTable
  /** By which way an origin is reached. */
  readonly routeOf: (origin: string) => string
  /** Time limit of one call. */
  readonly millis: number
}

export const helloMessages: JsonObject["messages"] = [{ role: "user", content: "Hello" }]
export const countTokensPath = operations.countTokens.path

/** A model of the account that counts tokens free of charge. Undefined when there is none. */
const chooseCountedModel = ({ kind, models, region }: ProviderAccount, table: ModelTable): string | undefined => {
  if (!isBuiltIn(kind)) return undefined
  const defaultModel = probeModel(table, region)
  return allows(models, defaultModel)
    ? defaultModel
    : models?.find((one) => !one.endsWith("*") && countsTokens(table, one))
}

/** The role to grant, or the API to allow for an API key. */
const describeGrant = ({ credentials, kind, project_id: projectId }: ProviderAccount): string => {
  if (kind === "google" || credentials?._tag === "ApiKey")
    return "allow the key to use the Generative Language API, in Google Cloud's console under Credentials"
  const email =
    credentials?._tag === "ServiceAccount"
      ? credentials.key.clientEmail
      : credentials?._tag === "Impersonated"
        ? impersonatedAccount(credentials.impersonation)
        : undefined
  const member = email === undefined ? "MEMBER" : `serviceAccount:${email}`
  return `gcloud projects add-iam-policy-binding ${projectId ?? "PROJECT"} --member=${member} --role=roles/aiplatform.user`
}

const describeRenewal = ({ credentials, kind, slug }: ProviderAccount): string => {
  switch (credentials?._tag) {
    case "ServiceAccount":
      return `gcloud iam service-accounts keys create key.json --iam-account=${credentials.key.clientEmail}`
    case "AuthorizedUser":
    case "ApplicationDefault":
      return "gcloud auth application-default login"
    case "Federated":
      return "check the provider, the audience and the conditions of the pool: gcloud iam workload-identity-pools providers describe"
    case "FederatedUser":
      return "gcloud auth application-default login --login-config=FILE"
    case "Impersonated":
      return `gcloud iam service-accounts add-iam-policy-binding ${impersonatedAccount(credentials.impersonation) ?? "ACCOUNT"} --member=MEMBER --role=roles/iam.serviceAccountTokenCreator`
    case "AccessToken":
      return `an access token lives for an hour: give @${slug} a service account`
    default:
      return kind === "google"
        ? "make an API key at https://aistudio.google.com/apikey and set it"
        : "give the account a credential"
  }
}

const errorOf = (json: JsonObject): { readonly code: string; readonly message: string } => {
  const error = isJsonObject(json["error"]) ? json["error"] : {}
  const { code, message } = error
  return {
    code: typeof code === "string" ? code : "",
    message: typeof message === "string" ? message : "the answer cannot be read"
  }
}

/** The fix for an error code of the gateway. */
const fixForCode = (code: string, account: ProviderAccount): string | undefined => {
  switch (code) {
    case "upstream_permission_denied":
    case "missing_permission_endpoints_predict":
      return describeGrant(account)
    case "upstream_credentials_rejected":
      return describeRenewal(account)
    case "upstream_unreachable":
      return "let this machine reach the host: DNS, firewall, proxy"
    default:
      return undefined
  }
}

/** 429 and 503 prove that the host and the credential work. */
const isTransientStatus = (status: number): boolean => status === 429 || status === 503

const callResult = (
  check: string,
  account: ProviderAccount,
  answer: Effect.Success<ReturnType<PostToGateway>>,
  fine: (json: JsonObject) => string
): Finding => {
  if (answer.status === 200) return okFinding(check, fine(answer.json))
  const { code, message } = errorOf(answer.json)
  return isTransientStatus(answer.status)
    ? warnFinding(check, message)
    : failFinding(check, message, fixForCode(code, account))
}

const tokenFixes: Readonly<Partial<Record<Reason["_tag"], (account: ProviderAccount) => string>>> = {
  CredentialsRejected: describeRenewal,
  Transport: () => "let this machine reach the token endpoint: DNS, firewall, proxy"
}

const tokenFinding = (account: ProviderAccount, { tokens }: ProviderServices): Effect.Effect<Finding> =>
  Effect.match(tokens.authorization(account), {
    onSuccess: () =>
      okFinding(
        `@${account.slug} credential`,
        account.credentials === undefined ? "" : credentialName(account.credentials)
      ),
    onFailure: ({ reason }) =>
      failFinding(`@${account.slug} credential`, reason.message, tokenFixes[reason._tag]?.(account))
  })

const callFinding = (account: ProviderAccount, { post, models }: ProviderServices): Effect.Effect<Finding> => {
  const check = `@${account.slug} call`
  const model = chooseCountedModel(account, models)
  return model === undefined
    ? Effect.succeed(warnFinding(check, "none of its models counts tokens for nothing, so none was called"))
    : Effect.map(
        post(countTokensPath, { model: `@${account.slug}/${model}`, messages: helloMessages }, false),
        (answer) => callResult(check, account, answer, () => `${model} answers`)
      )
}

const endpointFindings = (
  account: ProviderAccount,
  { post }: ProviderServices
): ReadonlyArray<Effect.Effect<Finding>> =>
  Object.keys(account.endpoints).map((name) =>
    Effect.map(
      post(
        operations.chat.path,
        { model: `@${account.slug}/endpoints.${name}`, messages: helloMessages, max_tokens: 1 },
        false
      ),
      (answer) => callResult(`@${account.slug} endpoint`, account, answer, () => `${name} answers`)
    )
  )

/** The rows of one account: its credential, a call free of charge, one token from each endpoint. */
export const accountFindings = (
  account: ProviderAccount,
  services: ProviderServices
): ReadonlyArray<Effect.Effect<Finding>> =>
  account.credentials === undefined
    ? [Effect.succeed(warnFinding(`@${account.slug} credential`, describeMissingCredential(account)))]
    : [tokenFinding(account, services), callFinding(account, services), ...endpointFindings(account, services)]

/** The origin of an account's calls. Undefined when its project or region is missing. */
export const originOfAccount = (
  account: ProviderAccount,
  { post, models }: ProviderServices
): Effect.Effect<string | undefined> => {
  const model = chooseCountedModel(account, models)
  return account.credentials === undefined || model === undefined
    ? Effect.succeed(undefined)
    : Effect.map(
        post(countTokensPath, { model: `@${account.slug}/${model}`, messages: helloMessages }, true),
        ({ json }) => (typeof json["url"] === "string" ? URL.parse(json["url"])?.origin : undefined)
      )
}

const faultTexts: Partial<Readonly<Record<FaultKind, string>>> = {
  dns: "its name is not known to DNS",
  tls: "its certificate is not trusted",
  refused: "nothing listens there",
  reset: "it broke the connection off",
  connect_timeout: "no connection in time",
  first_byte_timeout: "no answer in time",
  proxy: "the proxy opens no connection to it",
  garbled: "it does not speak HTTP"
}

const faultFixes: Partial<Readonly<Record<FaultKind, string>>> = {
  proxy: "let the proxy allow the host, or name the host in NO_PROXY or network.no_proxy",
  tls: "a proxy that opens TLS needs its authority in network.ca_file or NODE_EXTRA_CA_CERTS"
}

export interface HostFinding {
  readonly finding: Finding
  /** The host's clock minus this machine's clock. */
  readonly skewMillis: number | undefined
}

/** Checks name, connection and certificate of a host. Any answer passes. */
export const checkHost = (
  origin: string,
  tls: ProviderAccount["tls"],
  { millis, routeOf, transport }: ProviderServices
): Effect.Effect<HostFinding> => {
  const request = {
    method: "GET",
    url: `${origin}/`,
    headers: {},
    auth: {},
    body: undefined,
    tls,
    connectMillis: millis,
    firstByteMillis: millis,
    idleMillis: millis,
    totalMillis: millis
  } as const
  const check = "host"
  return Effect.flatMap(
    Effect.clockWith((clock) => clock.currentTimeMillis),
    (nowMillis) =>
      Effect.match(transport.collect(request, { replyBytes: 1_000_000, errorBytes: 1_000_000 }), {
        onSuccess: ({ headers }) => {
          const hostMillis = Date.parse(headers["date"] ?? "")
          return {
            finding: okFinding(check, `${origin} answers${routeOf(origin)}`),
            skewMillis: Number.isNaN(hostMillis) ? undefined : hostMillis - nowMillis
          }
        },
        // An answer that is too large or encoded is an answer as well.
        onFailure: ({ kind }) => ({
          finding:
            kind === "too_large" || kind === "encoded"
              ? okFinding(check, `${origin} answers${routeOf(origin)}`)
              : failFinding(
                  check,
                  `${origin}: ${faultTexts[kind] ?? "it cannot be reached"}${routeOf(origin)}`,
                  faultFixes[kind] ?? "let this machine reach it: DNS, firewall, proxy"
                ),
          skewMillis: undefined
        })
      })
  )
}

const warnedSkewMillis = 60_000
const acceptedSkewMillis = 5_000

/** Compares this machine's clock with the hosts' clocks. A skewed clock makes signed tokens invalid. */
export const clockFinding = (skews: ReadonlyArray<number>): Finding => {
  const [least] = skews.toSorted((one, other) => Math.abs(one) - Math.abs(other))
  if (least === undefined) return warnFinding("clock", "no upstream has sent the time")
  const seconds = Math.round(Math.abs(least) / 1000)
  const detail = `${seconds} s ${least > 0 ? "earlier" : "later"} than the upstream`
  const todo = "set the clock: timedatectl set-ntp true"
  return Math.abs(least) <= acceptedSkewMillis
    ? okFinding("clock", "as upstream")
    : Math.abs(least) <= warnedSkewMillis
      ? warnFinding("clock", detail, todo)
      : failFinding("clock", detail, todo)
}

/** The JSON object in the text. An empty object for anything else. */
export const readJsonObject = (text: string): JsonObject => {
  const json = Result.getOrUndefined(parseJsonText(text))
  return isJsonObject(json) ? json : {}
}
