// Vertex AI: from account and model to URL and fixed headers.
// It must not depend on bodies, tokens or configs.
import * as Result from "effect/Result"
import { BodyInvalid, UnsupportedOperation } from "../domain/GatewayError.ts"
import { isProject, isRegion, type ProviderAccount } from "../domain/ProviderAccount.ts"
import { fixedHeaders, segment, upstreamUrl, vertexHost } from "./hosts.ts"
import { memoizeRoutes, type RouteOf, type TargetModel } from "./callRoute.ts"

const missing = (param: string, message: string) =>
  Result.fail(new BodyInvalid({ code: "missing_required_parameter", param, message }))
const invalidHeader = (param: string, message: string) =>
  Result.fail(new BodyInvalid({ code: "invalid_header", param, message }))

/** `projects/P/locations/L`, or a fault with what to send. */
const place = (account: ProviderAccount): Result.Result<{ host: string; path: string }, BodyInvalid> => {
  const stored = account.credentials?._tag === "ServiceAccount" ? account.credentials.key.projectId : undefined
  const project = account.projectId ?? stored
  const isStored = account.origin === "stored" && account.credentials !== undefined
  if (project === undefined) {
    return missing(
      "x-gateway-vertex-project-id",
      isStored
        ? "No Google Cloud project is known: set project_id on the provider. With its stored credential x-gateway-vertex-project-id counts only for projects that the provider lists under projects."
        : "No Google Cloud project is known: set project_id on the provider or send x-gateway-vertex-project-id."
    )
  }
  if (!isProject(project))
    return invalidHeader("x-gateway-vertex-project-id", "The project is not a Google Cloud project id or number.")
  if (account.region === undefined) {
    return missing(
      "x-gateway-vertex-region",
      isStored
        ? "No Vertex AI region is known: set region on the provider. With its stored credential x-gateway-vertex-region counts only for regions that the provider lists under regions."
        : "No Vertex AI region is known: set region on the provider or send x-gateway-vertex-region, for example us-central1 or global."
    )
  }
  if (!isRegion(account.region))
    return invalidHeader(
      "x-gateway-vertex-region",
      "The region is not a Vertex AI location such as us-central1, global, us or eu."
    )
  return Result.succeed({ host: vertexHost(account.region), path: `/projects/${project}/locations/${account.region}` })
}

/** Path below the location; a self-deployed endpoint and the shared one of other publishers are both endpoints. */
const resource = (model: TargetModel): string => {
  if (model.endpoint) return `/endpoints/${segment(model.modelId)}`
  if (model.family === "openai") return "/endpoints/openapi"
  return `/publishers/${model.family === "claude" ? "anthropic" : "google"}/models/${segment(model.modelId)}`
}

/** An API key on Vertex AI: the path has no project and no location (express mode). */
const expressUrl = (
  account: ProviderAccount,
  model: TargetModel,
  version: string,
  verb: string,
  query: string
): Result.Result<string, BodyInvalid | UnsupportedOperation> =>
  model.family !== "gemini" || model.endpoint
    ? Result.fail(
        new UnsupportedOperation({
          message: `An API key (express mode) reaches Gemini models only; "${model.modelId}" needs an access token or a service account.`
        })
      )
    : upstreamUrl(account, vertexHost("global"), `/${version}${resource(model)}${verb}`, query)

/** Where a call of this model goes on Vertex AI (table 10). */
export const cloudRoute: RouteOf = memoizeRoutes((account, model, call, asked = "v1") => {
  const version = account.apiVersion ?? asked
  const headers = fixedHeaders(account)
  const question = call.indexOf("?")
  const verb = question < 0 ? call : call.slice(0, question)
  const query = question < 0 ? "" : call.slice(question)
  if (account.credentials?._tag === "ApiKey") {
    return Result.map(expressUrl(account, model, version, verb, query), (url) => ({ url, headers }))
  }
  return Result.flatMap(place(account), ({ host, path }) =>
    Result.map(
      upstreamUrl(
        account,
        (model.endpoint ? account.endpoints[model.modelId]?.host : undefined) ?? host,
        `/${version}${path}${resource(model)}${verb}`,
        query
      ),
      (url) => ({ url, headers })
    )
  )
})
