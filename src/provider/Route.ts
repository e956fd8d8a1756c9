// Where a call goes: the model it names, and the URL and headers that follow from account and model alone.
// It must not know bodies, credentials or operations.
import * as Result from "effect/Result"
import { type GatewayError, UnsupportedOperation } from "../domain/GatewayError.ts"
import { parseFamily } from "../domain/ModelRef.ts"
import type { ProviderAccount } from "../domain/ProviderAccount.ts"

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
export type RouteOf = (account: ProviderAccount, model: TargetModel, call: string) => Result.Result<Route, GatewayError>

/** Clients choose the models; when an account has met more, all are forgotten. */
const mostRoutes = 512

/** The same routes come again and again. An account that a request changed is met once. */
export const rememberedRoutes = (routeOf: RouteOf): RouteOf => {
  const known = new WeakMap<ProviderAccount, Map<string, ReturnType<RouteOf>>>()
  return (account, model, call) => {
    if (account.origin === "caller") return routeOf(account, model, call)
    let routes = known.get(account)
    if (routes === undefined || routes.size >= mostRoutes) known.set(account, (routes = new Map()))
    const name = `${model.family}${model.endpoint ? " endpoint " : " "}${model.modelId}${call}`
    const met = routes.get(name)
    if (met !== undefined) return met
    const route = routeOf(account, model, call)
    routes.set(name, route)
    return route
  }
}

/** Reads a model without its slug against the account that will serve it. */
export const targetModel = (modelId: string, account: ProviderAccount): Result.Result<TargetModel, GatewayError> =>
  Result.map(parseFamily(modelId), (ref) =>
    ref.family === "endpoint"
      ? { family: account.endpoints[ref.modelId]?.dialect ?? "openai", modelId: ref.modelId, endpoint: true }
      : { family: ref.family, modelId: ref.modelId, endpoint: false }
  )

const kinds: Readonly<Record<TargetModel["family"], string>> = {
  gemini: "a Gemini model",
  claude: "a Claude model",
  openai: "a model with an OpenAI-compatible endpoint",
  predict: "an endpoint of dialect predict"
}

/** The refusal of an operation that a family of models lacks at this account. */
export const familyLacks = (
  account: ProviderAccount,
  model: TargetModel,
  operation: string
): Result.Result<never, GatewayError> =>
  Result.fail(
    new UnsupportedOperation({
      message: `"${model.modelId}" is ${kinds[model.family]}; ${operation} on ${account.slug} (${account.kind}) does not reach those.`
    })
  )
