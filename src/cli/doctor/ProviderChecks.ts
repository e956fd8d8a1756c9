// What `doctor` finds out about accounts: whether their hosts answer, their credentials are taken, their models count.
// It must not know how calls are made: the gateway's own services make them, as they would for a client.
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { TokenProvider } from "../../auth/TokenProvider.ts"
import { allows } from "../../domain/GatewayKey.ts"
import { isJsonObject, type JsonObject, parseJsonText } from "../../domain/text/json.ts"
import { credentialName, remedy } from "../describeAccount.ts"
import type { ProviderAccount } from "../../domain/ProviderAccount.ts"
import type { Reason } from "../../domain/ProviderError.ts"
import type { Transport } from "../../upstream/Transport.ts"
import type { FaultKind } from "../../upstream/TransportFault.ts"
import { fail, type Finding, ok, warn } from "./Finding.ts"

/** A POST to the gateway itself. */
export type Ask = (
  path: string,
  body: JsonObject,
  dryRun: boolean
) => Effect.Effect<{ readonly status: number; readonly json: JsonObject }>

export interface ProviderServices {
  readonly ask: Ask
  readonly tokens: TokenProvider["Service"]
  readonly transport: Transport["Service"]
  /** Bound of one call. */
  readonly millis: number
}

const hello: JsonObject["messages"] = [{ role: "user", content: "Hello" }]
const counting = "/v1/chat/completions/count_tokens"

/** Both providers have it, and count with it for nothing. */
const usual = "gemini-2.5-flash"

/** A model that can be counted with for nothing; undefined when the account offers none. */
const countable = ({ kind, models }: ProviderAccount): string | undefined => {
  if (kind !== "google" && kind !== "vertex-ai") return undefined
  return allows(models, usual)
    ? usual
    : models?.find((one) => !one.endsWith("*") && /^(gemini-|anthropic\.)/.test(one) && !/embedding|image/.test(one))
}

/** Its role, or the rights of its key. */
const grant = ({ credentials, kind, projectId }: ProviderAccount): string => {
  if (kind === "google" || credentials?._tag === "ApiKey")
    return "allow the key to use the Generative Language API, in Google Cloud's console under Credentials"
  const member = credentials?._tag === "ServiceAccount" ? `serviceAccount:${credentials.key.clientEmail}` : "MEMBER"
  return `gcloud projects add-iam-policy-binding ${projectId ?? "PROJECT"} --member=${member} --role=roles/aiplatform.user`
}

const renewed = ({ credentials, kind, slug }: ProviderAccount): string => {
  switch (credentials?._tag) {
    case "ServiceAccount":
      return `gcloud iam service-accounts keys create key.json --iam-account=${credentials.key.clientEmail}`
    case "ApplicationDefault":
      return "gcloud auth application-default login"
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

/** What to do about an error of the gateway. */
const cure = (code: string, account: ProviderAccount): string | undefined => {
  switch (code) {
    case "upstream_permission_denied":
    case "missing_permission_endpoints_predict":
      return grant(account)
    case "upstream_credentials_rejected":
      return renewed(account)
    case "upstream_unreachable":
      return "let this machine reach the host: DNS, firewall, proxy"
    default:
      return undefined
  }
}

/** Refusals of too much are a sign of life. */
const isPassing = (status: number): boolean => status === 429 || status === 503

const called = (
  check: string,
  account: ProviderAccount,
  answer: Effect.Success<ReturnType<Ask>>,
  fine: (json: JsonObject) => string
): Finding => {
  if (answer.status === 200) return ok(check, fine(answer.json))
  const { code, message } = errorOf(answer.json)
  return isPassing(answer.status) ? warn(check, message) : fail(check, message, cure(code, account))
}

const words: Readonly<Partial<Record<Reason["_tag"], (account: ProviderAccount) => string>>> = {
  CredentialsRejected: renewed,
  Transport: () => "let this machine reach the token endpoint: DNS, firewall, proxy"
}

const tokenFinding = (account: ProviderAccount, { tokens }: ProviderServices): Effect.Effect<Finding> =>
  Effect.match(tokens.authorization(account), {
    onSuccess: () =>
      ok(`@${account.slug} credential`, account.credentials === undefined ? "" : credentialName(account.credentials)),
    onFailure: ({ reason }) => fail(`@${account.slug} credential`, reason.message, words[reason._tag]?.(account))
  })

const callFinding = (account: ProviderAccount, { ask }: ProviderServices): Effect.Effect<Finding> => {
  const check = `@${account.slug} call`
  const model = countable(account)
  return model === undefined
    ? Effect.succeed(warn(check, "none of its models counts tokens for nothing, so none was called"))
    : Effect.map(ask(counting, { model: `@${account.slug}/${model}`, messages: hello }, false), (answer) =>
        called(check, account, answer, () => `${model} answers`)
      )
}

const endpointFindings = (account: ProviderAccount, { ask }: ProviderServices): ReadonlyArray<Effect.Effect<Finding>> =>
  Object.keys(account.endpoints).map((name) =>
    Effect.map(
      ask(
        "/v1/chat/completions",
        { model: `@${account.slug}/endpoints.${name}`, messages: hello, max_tokens: 1 },
        false
      ),
      (answer) => called(`@${account.slug} endpoint`, account, answer, () => `${name} answers`)
    )
  )

/** One account: its credential, a call that costs nothing, a token from each endpoint. */
export const accountFindings = (
  account: ProviderAccount,
  services: ProviderServices
): ReadonlyArray<Effect.Effect<Finding>> =>
  account.credentials === undefined
    ? [Effect.succeed(warn(`@${account.slug} credential`, remedy(account)))]
    : [tokenFinding(account, services), callFinding(account, services), ...endpointFindings(account, services)]

/** Where an account's calls go; undefined when it does not say enough. */
export const originOfAccount = (
  account: ProviderAccount,
  { ask }: ProviderServices
): Effect.Effect<string | undefined> => {
  const model = countable(account)
  return account.credentials === undefined || model === undefined
    ? Effect.succeed(undefined)
    : Effect.map(ask(counting, { model: `@${account.slug}/${model}`, messages: hello }, true), ({ json }) =>
        typeof json["url"] === "string" ? URL.parse(json["url"])?.origin : undefined
      )
}

const faults: Partial<Readonly<Record<FaultKind, string>>> = {
  dns: "its name is not known to DNS",
  tls: "its certificate is not trusted",
  refused: "nobody listens there",
  reset: "it broke the connection off",
  connect_timeout: "no connection in time",
  first_byte_timeout: "no answer in time",
  garbled: "it does not speak HTTP"
}

const cures: Partial<Readonly<Record<FaultKind, string>>> = {
  tls: "a proxy that opens TLS needs its authority in NODE_EXTRA_CA_CERTS"
}

export interface Met {
  readonly finding: Finding
  /** The host's clock less this machine's. */
  readonly skewMillis: number | undefined
}

/** Name, connection and certificate of a host, by any answer at all. */
export const hostMet = (origin: string, { millis, transport }: ProviderServices): Effect.Effect<Met> => {
  const request = {
    method: "GET",
    url: `${origin}/`,
    headers: {},
    auth: {},
    body: undefined,
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
          const told = Date.parse(headers["date"] ?? "")
          return {
            finding: ok(check, `${origin} answers`),
            skewMillis: Number.isNaN(told) ? undefined : told - nowMillis
          }
        },
        // What is too much to read was an answer as well.
        onFailure: ({ kind }) => ({
          finding:
            kind === "too_large" || kind === "encoded"
              ? ok(check, `${origin} answers`)
              : fail(
                  check,
                  `${origin}: ${faults[kind] ?? "it cannot be reached"}`,
                  cures[kind] ?? "let this machine reach it: DNS, firewall, proxy"
                ),
          skewMillis: undefined
        })
      })
  )
}

const alarmingMillis = 60_000
const tellingMillis = 5_000

/** Tokens are refused when their moment is wrong. */
export const clockFinding = (skews: ReadonlyArray<number>): Finding => {
  const [least] = skews.toSorted((one, other) => Math.abs(one) - Math.abs(other))
  if (least === undefined) return warn("clock", "no upstream has told the time")
  const seconds = Math.round(Math.abs(least) / 1000)
  const detail = `${seconds} s ${least > 0 ? "behind" : "ahead of"} the upstream`
  const todo = "set the clock: timedatectl set-ntp true"
  return Math.abs(least) <= tellingMillis
    ? ok("clock", "as upstream")
    : Math.abs(least) <= alarmingMillis
      ? warn("clock", detail, todo)
      : fail("clock", detail, todo)
}

/** The JSON of an answer; an empty object for what is none. */
export const jsonOf = (text: string): JsonObject => {
  const json = Result.getOrUndefined(parseJsonText(text))
  return isJsonObject(json) ? json : {}
}
