// Vertex AI: from account and model to URL and fixed headers.
// It must not know bodies, tokens or configs.
import * as Result from "effect/Result"
import { BodyInvalid, type GatewayError, UnsupportedOperation } from "../domain/GatewayError.ts"
import type { FamilyRef } from "../domain/ModelRef.ts"
import type { ProviderAccount } from "../domain/ProviderAccount.ts"
import { isProject, isRegion, segment, upstreamUrl, vertexHost } from "./hosts.ts"

/** Where a call goes: the URL, headers that depend on the account alone, and whether the model is a tuned one. */
export interface Route {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly tuned: boolean
}

const missing = (param: string, message: string) =>
  Result.fail(new BodyInvalid({ code: "missing_required_parameter", param, message }))
const invalidHeader = (param: string, message: string) =>
  Result.fail(new BodyInvalid({ code: "invalid_header", param, message }))

/** `projects/P/locations/L`, or a fault that says what to send. */
const place = (account: ProviderAccount): Result.Result<{ host: string; path: string }, BodyInvalid> => {
  const stored = account.credentials?._tag === "ServiceAccount" ? account.credentials.key.projectId : undefined
  const project = account.projectId ?? stored
  if (project === undefined) {
    return missing("x-gateway-vertex-project-id", "No Google Cloud project is known: set project_id on the provider or send x-gateway-vertex-project-id.")
  }
  if (!isProject(project)) return invalidHeader("x-gateway-vertex-project-id", "The project is not a Google Cloud project id or number.")
  if (account.region === undefined) {
    return missing("x-gateway-vertex-region", "No Vertex AI region is known: set region on the provider or send x-gateway-vertex-region, for example us-central1 or global.")
  }
  if (!isRegion(account.region)) return invalidHeader("x-gateway-vertex-region", "The region is not a Vertex AI location such as us-central1, global, us or eu.")
  return Result.succeed({ host: vertexHost(account.region), path: `/projects/${project}/locations/${account.region}` })
}

const fixedHeaders = (account: ProviderAccount): Readonly<Record<string, string>> =>
  account.quotaProject === undefined ? {} : { "x-goog-user-project": account.quotaProject }

/** Path below the version for a Gemini-dialect call; `verb` is `generateContent` and its kin. */
const geminiRoute = (account: ProviderAccount, ref: FamilyRef, verb: string, query: string): Result.Result<Route, GatewayError> => {
  const version = account.apiVersion ?? "v1"
  const headers = fixedHeaders(account)
  if (account.credentials?._tag === "ApiKey") {
    if (ref.family === "endpoint") {
      return Result.fail(new UnsupportedOperation({ message: "An API key (express mode) reaches Gemini models only; self-deployed endpoints need an access token or a service account." }))
    }
    const path = `/${version}/publishers/google/models/${segment(ref.modelId)}:${verb}`
    return Result.map(upstreamUrl(account, vertexHost("global"), path, query), (url) => ({ url, headers, tuned: false }))
  }
  return Result.flatMap(place(account), ({ host, path }) => {
    const tuned = ref.family === "endpoint"
    const model = tuned ? `/endpoints/${segment(ref.modelId)}` : `/publishers/google/models/${segment(ref.modelId)}`
    const chosen = account.endpoints[ref.modelId]?.host
    return Result.map(
      upstreamUrl(account, tuned && chosen !== undefined ? chosen : host, `/${version}${path}${model}:${verb}`, query),
      (url) => ({ url, headers, tuned })
    )
  })
}

/** Where a chat call of this model goes on Vertex AI. */
export const cloudChatRoute = (account: ProviderAccount, ref: FamilyRef, stream: boolean): Result.Result<Route, GatewayError> => {
  const gemini = ref.family === "gemini" || (ref.family === "endpoint" && account.endpoints[ref.modelId]?.dialect === "gemini")
  if (!gemini) {
    return Result.fail(new UnsupportedOperation({
      message: `Chat completions on ${account.slug} reach Gemini models, and endpoints whose dialect is gemini; "${ref.modelId}" is neither.`
    }))
  }
  return stream
    ? geminiRoute(account, ref, "streamGenerateContent", "?alt=sse")
    : geminiRoute(account, ref, "generateContent", "")
}
