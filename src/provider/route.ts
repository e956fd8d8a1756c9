// Where a call goes: the model it names, and the URL and headers that follow from account and model alone.
// It must not depend on bodies, credentials or operations.
import * as Result from "effect/Result"
import { memoizeBounded } from "../domain/collections.ts"
import { BodyInvalid, type GatewayError, UnsupportedOperation } from "../domain/GatewayError.ts"
import { parseFamily } from "../domain/ModelRef.ts"
import { type Operation, operations } from "../domain/operations.ts"
import { isProject, isRegion, type ProviderAccount } from "../domain/ProviderAccount.ts"
import { quotaProjectOf } from "../domain/settings/credentialFile.ts"

/** The model of a call, and the dialect its host speaks. */
export interface TargetModel {
  readonly family: "gemini" | "claude" | "openai" | "predict"
  /** Without slug and prefix; for other publishers `publisher/model`, for a self-deployed model its endpoint's id. */
  readonly modelId: string
  /** True for a self-deployed endpoint, whose family is the dialect its account states, OpenAI's by default. */
  readonly endpoint: boolean
}

export interface Route {
  readonly url: string
  /** Headers that depend on the account alone; never a credential. */
  readonly headers: Readonly<Record<string, string>>
}

/** `call` is the end of the URL as the API spells it: `:generateContent`, `:streamGenerateContent?alt=sse`, `/chat/completions`. */
export type RouteOf = (
  account: ProviderAccount,
  model: TargetModel,
  call: string,
  /** The version of the API where neither account nor product decides. */
  version?: string
) => Result.Result<Route, GatewayError>

/** A model of an account, with what follows from both: requests repeat the same few. */
export class KnownModel implements TargetModel {
  readonly account: ProviderAccount
  readonly family: TargetModel["family"]
  readonly modelId: string
  readonly endpoint: boolean
  readonly routes = new Map<string, ReturnType<RouteOf>>()

  constructor(account: ProviderAccount, { endpoint, family, modelId }: TargetModel) {
    this.account = account
    this.family = family
    this.modelId = modelId
    this.endpoint = endpoint
  }
}

/** Keeps the routes of a known model with it. */
export const memoizeRoutes =
  (routeOf: RouteOf): RouteOf =>
  (account, model, call, version) => {
    if (!(model instanceof KnownModel) || model.account !== account) return routeOf(account, model, call, version)
    const { routes } = model
    const name = version === undefined ? call : `${call} ${version}`
    const knownRoute = routes.get(name)
    if (knownRoute !== undefined) return knownRoute
    const route = routeOf(account, model, call, version)
    routes.set(name, route)
    return route
  }

/** Clients choose the models, so their number is bounded; beyond the bound the memory of an account is cleared. */
const mostModels = 512

const modelsOfAccounts = new WeakMap<ProviderAccount, Map<string, ReturnType<typeof readModel>>>()

/**
 * Reads a model without its slug against the account that will serve it. An account with credentials of one request is
 * not remembered.
 */
export const targetModel = (modelId: string, account: ProviderAccount): Result.Result<TargetModel, GatewayError> => {
  if (account.origin === "caller") return readModel(modelId, account)
  let models = modelsOfAccounts.get(account)
  if (models === undefined || models.size >= mostModels) modelsOfAccounts.set(account, (models = new Map()))
  const knownModel = models.get(modelId)
  if (knownModel !== undefined) return knownModel
  const model = Result.map(readModel(modelId, account), (read) => new KnownModel(account, read))
  models.set(modelId, model)
  return model
}

const readModel = (modelId: string, account: ProviderAccount): Result.Result<TargetModel, GatewayError> =>
  Result.map(parseFamily(modelId), (ref) =>
    ref.family === "endpoint"
      ? { family: account.endpoints[ref.modelId]?.dialect ?? "openai", modelId: ref.modelId, endpoint: true }
      : { family: ref.family, modelId: ref.modelId, endpoint: false }
  )

const familyWords: Readonly<Record<TargetModel["family"], string>> = {
  gemini: "a Gemini model",
  claude: "a Claude model",
  openai: "a model with an OpenAI-compatible endpoint",
  predict: "an endpoint of dialect predict"
}

/** The refusal of an operation that a family of models lacks at this account. */
export const familyLacks = (
  account: ProviderAccount,
  model: TargetModel,
  operation: Operation
): Result.Result<never, GatewayError> =>
  Result.fail(
    new UnsupportedOperation({
      message: `"${model.modelId}" is ${familyWords[model.family]}; ${operations[operation].words} on ${account.slug} (${account.kind}) does not reach those.`
    })
  )

// The closed set of hosts a request may go to, and the grammar of the parts of a URL.

/**
 * Host of a Vertex AI location: `global` and express mode have none of their own, `us` and `eu` are multi-regions
 * with their own name, everything else is a region. Source: Vertex AI locations page.
 */
export const vertexHost = (location: string): string => {
  if (location === "global") return "aiplatform.googleapis.com"
  if (location === "us" || location === "eu") return `aiplatform.${location}.rep.googleapis.com`
  return `${location}-aiplatform.googleapis.com`
}

/** Host of the Gemini Developer API. */
export const geminiHost = "generativelanguage.googleapis.com"

/** Headers that every call of an account carries. */
export const fixedHeaders = ({
  credentials,
  quota_project: quotaProject,
  servingHeaders
}: ProviderAccount): Readonly<Record<string, string>> => {
  const project = quotaProject ?? quotaProjectOf(credentials)
  return project === undefined ? { ...servingHeaders } : { "x-goog-user-project": project, ...servingHeaders }
}

const plainSegment = /^[A-Za-z0-9@:._-]+$/

/** One path segment; the punctuation of model ids stays readable. */
const segment = (text: string): string =>
  plainSegment.test(text) ? text : encodeURIComponent(text).replaceAll("%40", "@").replaceAll("%3A", ":")

/** Host and path kept apart by a character that neither can hold. */
const partSeparator = "\n"

/** True when the finished URL equals its parts. Memoized, because requests repeat the same URLs. */
const isSound = memoizeBounded((parts) => {
  const [base = "", path = "", query = ""] = parts.split(partSeparator)
  const url = URL.parse(base + path + query)
  const expected = URL.parse(base)
  return (
    url !== null &&
    expected !== null &&
    url.origin === expected.origin &&
    url.username === "" &&
    url.password === "" &&
    url.hash === "" &&
    url.pathname === expected.pathname.replace(/\/$/, "") + path &&
    url.search === query
  )
})

/**
 * Puts scheme, host and path together and compares the finished URL with what was meant, so that no text that
 * slipped through a grammar can choose another host or path. The operator's `base_url` replaces scheme and host only.
 */
export const upstreamUrl = (
  account: ProviderAccount,
  host: string,
  path: string,
  query: string
): Result.Result<string, BodyInvalid> => {
  const base = account.base_url === undefined ? `https://${host}` : account.base_url.replace(/\/+$/, "")
  return !path.includes(partSeparator) && isSound(`${base}${partSeparator}${path}${partSeparator}${query}`)
    ? Result.succeed(base + path + query)
    : Result.fail(
        new BodyInvalid({
          code: "invalid_model",
          param: "model",
          message: "The model id cannot be part of an upstream URL."
        })
      )
}

const missingPlace = (param: string, message: string) =>
  Result.fail(new BodyInvalid({ code: "missing_required_parameter", param, message }))
const invalidHeader = (param: string, message: string) =>
  Result.fail(new BodyInvalid({ code: "invalid_header", param, message }))

/** `projects/P/locations/L`, or a fault with what to send. */
const placeOf = (account: ProviderAccount): Result.Result<{ host: string; path: string }, BodyInvalid> => {
  const stored = account.credentials?._tag === "ServiceAccount" ? account.credentials.key.projectId : undefined
  const project = account.project_id ?? stored
  const isStored = account.origin === "stored" && account.credentials !== undefined
  if (project === undefined) {
    return missingPlace(
      "x-gateway-vertex-project-id",
      isStored
        ? "No Google Cloud project is known: set project_id on the provider. With its stored credential x-gateway-vertex-project-id counts only for projects that the provider lists under projects."
        : "No Google Cloud project is known: set project_id on the provider or send x-gateway-vertex-project-id."
    )
  }
  if (!isProject(project))
    return invalidHeader("x-gateway-vertex-project-id", "The project is not a Google Cloud project id or number.")
  if (account.region === undefined) {
    return missingPlace(
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
const resourcePath = (model: TargetModel): string => {
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
    : upstreamUrl(account, vertexHost("global"), `/${version}${resourcePath(model)}${verb}`, query)

/** Where a call of this model goes on Vertex AI (table 10). */
export const cloudRoute: RouteOf = memoizeRoutes((account, model, call, asked = "v1") => {
  const version = account.api_version ?? asked
  const headers = fixedHeaders(account)
  const question = call.indexOf("?")
  const verb = question < 0 ? call : call.slice(0, question)
  const query = question < 0 ? "" : call.slice(question)
  if (account.credentials?._tag === "ApiKey") {
    return Result.map(expressUrl(account, model, version, verb, query), (url) => ({ url, headers }))
  }
  return Result.flatMap(placeOf(account), ({ host, path }) =>
    Result.map(
      upstreamUrl(
        account,
        (model.endpoint ? account.endpoints[model.modelId]?.host : undefined) ?? host,
        `/${version}${path}${resourcePath(model)}${verb}`,
        query
      ),
      (url) => ({ url, headers })
    )
  )
})

/** Where a call of this model goes on the Gemini API; other families do not live there. */
export const makerRoute: RouteOf = memoizeRoutes((account, model, call, asked = "v1beta") => {
  if (model.family !== "gemini" || model.endpoint) {
    return Result.fail(
      new UnsupportedOperation({
        message: `"${model.modelId}" is not served by the Gemini API (${account.slug}); use a vertex-ai provider for it.`
      })
    )
  }
  const [verb = "", query] = call.split("?")
  return Result.map(
    upstreamUrl(
      account,
      geminiHost,
      `/${account.api_version ?? asked}/models/${segment(model.modelId)}${verb}`,
      query === undefined ? "" : `?${query}`
    ),
    (url) => ({ url, headers: fixedHeaders(account) })
  )
})
