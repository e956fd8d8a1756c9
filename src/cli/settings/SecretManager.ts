// Reads versions of secrets from Google's Secret Manager with the machine's own login, for references of the configuration.
// Must not know what a secret is for. It is loaded only where a configuration refers to a secret.
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { TokenProvider } from "../../auth/TokenProvider.ts"
import { Limits, type LimitValues } from "../../domain/Limits.ts"
import { providerAccount } from "../../domain/ProviderAccount.ts"
import { directNetwork, type NetworkSetting } from "../../domain/settings/network.ts"
import { isJsonObject, type Json, parseJsonText } from "../../domain/text/json.ts"
import { faultReason } from "../../upstream/HttpExchange.ts"
import { Network } from "../../upstream/Network.ts"
import { Transport } from "../../upstream/Transport.ts"

/** How Secret Manager is reached. */
export interface SecretAccess {
  /** `https://secretmanager.googleapis.com` unless set. */
  readonly endpoint: string | undefined
  /** The login of the machine: a credential file, else the metadata server. */
  readonly credentialsFile: string | undefined
  /** Scheme and host of the metadata server; Google's unless set. */
  readonly metadataUrl: string | undefined
  readonly network: NetworkSetting | undefined
  readonly limits: LimitValues
}

/** The text of a version, or why there is none. */
export type SecretContent = { readonly text: string } | { readonly fault: string }

const account = providerAccount({
  slug: "secret-manager",
  kind: "vertex-ai",
  credentials: { _tag: "ApplicationDefault" }
})

const textIn = (json: Json): string | undefined => {
  const payload = isJsonObject(json) ? (json["payload"] ?? null) : null
  const data = isJsonObject(payload) ? payload["data"] : undefined
  return typeof data === "string" ? Buffer.from(data, "base64").toString("utf8") : undefined
}

const setting = "limits.connectMillis"
const settings = { connect: setting, first_byte: setting, idle: setting, total: setting }

const refusal = (status: number): string => {
  switch (status) {
    case 401:
    case 403:
      return "may not be read by this login: it needs the role Secret Manager Secret Accessor"
    case 404:
      return "does not exist in Secret Manager"
    default:
      return `cannot be read: Secret Manager answered ${status}`
  }
}

const readSecret = Effect.fnUntraced(function* (name: string, { endpoint, limits }: SecretAccess) {
  const transport = yield* Transport
  const auth = yield* Effect.result((yield* TokenProvider).authorization(account))
  if (Result.isFailure(auth)) return { fault: `cannot be read: ${auth.failure.reason.message}` }
  const millis = limits.connectMillis
  const asked = yield* Effect.result(
    transport.collect(
      {
        method: "GET",
        url: `${endpoint ?? "https://secretmanager.googleapis.com"}/v1/${name}:access`,
        headers: { accept: "application/json" },
        auth: auth.success,
        body: undefined,
        connectMillis: millis,
        firstByteMillis: millis,
        idleMillis: millis,
        totalMillis: millis
      },
      { replyBytes: limits.errorBytes, errorBytes: limits.errorBytes }
    )
  )
  if (Result.isFailure(asked)) {
    return { fault: `cannot be read: ${faultReason(asked.failure, { name: "Secret Manager", settings }).message}` }
  }
  const { bytes, status } = asked.success
  if (status !== 200) return { fault: refusal(status) }
  const json = Result.getOrUndefined(parseJsonText(new TextDecoder().decode(bytes)))
  const text = json === undefined ? undefined : textIn(json)
  return text === undefined ? { fault: "cannot be read: Secret Manager sent no payload" } : { text }
})

/** The contents of all names, each `projects/P/secrets/S/versions/V`. */
export const readSecrets = (
  names: ReadonlyArray<string>,
  access: SecretAccess
): Effect.Effect<Readonly<Record<string, SecretContent>>> =>
  Effect.map(
    Effect.forEach(
      new Set(names),
      (name) => Effect.map(readSecret(name, access), (content: SecretContent) => [name, content] as const),
      { concurrency: 8 }
    ),
    (entries) => Object.fromEntries(entries)
  ).pipe(
    Effect.provide(
      TokenProvider.layerWith(access).pipe(
        Layer.provideMerge(Transport.layer),
        Layer.provide(Layer.succeed(Network, access.network ?? directNetwork)),
        Layer.provide(Layer.succeed(Limits, access.limits))
      )
    )
  )
