// Where a call goes: the model it names, and the URL and headers that follow from account and model alone.
// It must not depend on bodies, credentials or operations.
import * as Result from "effect/Result"
import { type GatewayError, UnsupportedOperation } from "../domain/GatewayError.ts"
import { parseFamily } from "../domain/ModelRef.ts"
import { type Operation, operations } from "../domain/operations.ts"
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
    const met = routes.get(name)
    if (met !== undefined) return met
    const route = routeOf(account, model, call, version)
    routes.set(name, route)
    return route
  }

/** Clients choose the models, so their number is bounded; beyond the bound the memory of an account is cleared. */
const mostModels = 512

const known = new WeakMap<ProviderAccount, Map<string, ReturnType<typeof readModel>>>()

/**
 * Reads a model without its slug against the account that will serve it. An account with credentials of one request is
 * not remembered.
 */
export const targetModel = (modelId: string, account: ProviderAccount): Result.Result<TargetModel, GatewayError> => {
  if (account.origin === "caller") return readModel(modelId, account)
  let models = known.get(account)
  if (models === undefined || models.size >= mostModels) known.set(account, (models = new Map()))
  const met = models.get(modelId)
  if (met !== undefined) return met
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
  operation: Operation
): Result.Result<never, GatewayError> =>
  Result.fail(
    new UnsupportedOperation({
      message: `"${model.modelId}" is ${kinds[model.family]}; ${operations[operation].words} on ${account.slug} (${account.kind}) does not reach those.`
    })
  )
