// The models that a key may call, in OpenAI's list format.
// It must not depend on HTTP or where accounts come from.
import * as Result from "effect/Result"
import { listedModels } from "../../catalog/models.ts"
import { allows, type GatewayKey } from "../../domain/GatewayKey.ts"
import { chooseAccount, modelIdOf, parseFamily, parseModelRef } from "../../domain/ModelRef.ts"
import type { ModelRecord } from "../../domain/models/ModelRecord.ts"
import type { ModelTable } from "../../domain/models/modelTable.ts"
import { isBuiltIn, type CatalogView, type ProviderKind } from "../../domain/ProviderAccount.ts"
import { noServing, resolveModelName } from "../../domain/serving.ts"
import type { Model } from "../../api/contractParts.ts"

/** The publisher of a model by its name; for the provider of an application the name of the provider. */
const owner = (model: string, kind: ProviderKind): string => {
  if (!isBuiltIn(kind)) return kind
  const read = parseFamily(model)
  if (Result.isFailure(read)) return "unknown"
  switch (read.success.family) {
    case "gemini":
      return "google"
    case "claude":
      return "anthropic"
    case "openai":
      return read.success.modelId.split("/")[0] ?? "unknown"
    case "endpoint":
      return "self-deployed"
  }
}

/** Seconds of the day of release, or of the day that the id ends in; 0 for a day that is not known. */
const createdOf = (model: string, { release }: Partial<ModelRecord>): number => {
  const day = release ?? /@(\d{4})(\d\d)(\d\d)$/.exec(modelIdOf(model))?.slice(1).join("-")
  return day === undefined ? 0 : Date.parse(day) / 1000
}

/** What OpenAI's model has no field for; a fact that is not known is left out. */
const extensions = (record: ModelRecord, kind: ProviderKind) => {
  const { context, effort, input, max_output, output, price, shutdown, stage, successor, thinking } = record
  const levels = effort ?? thinking?.levels ?? []
  const end = shutdown?.[kind] ?? shutdown?.["claude-api"]
  return {
    ...(context === undefined ? {} : { context_length: context }),
    ...(max_output === undefined ? {} : { max_output_tokens: max_output }),
    ...(input === undefined ? {} : { input_modalities: input }),
    ...(output === undefined ? {} : { output_modalities: output }),
    ...(levels.length === 0 ? {} : { thinking_levels: levels }),
    ...(price === undefined ? {} : { pricing: price }),
    ...(stage === undefined ? {} : { stage }),
    ...(end === undefined ? {} : { shutdown_date: end }),
    ...(successor === undefined ? {} : { successor })
  }
}

/** A row of the list; `target` is the model that an operator's name stands for. */
export interface ListedModel {
  readonly model: Model
  readonly target: string
}

const rowOf = (id: string, model: string, kind: ProviderKind, models: ModelTable, strict: boolean): Model => {
  const facts = models.find(modelIdOf(model))
  const isKnown = isBuiltIn(kind) && !model.startsWith("endpoints.") && facts.source !== "inherited"
  return {
    id,
    object: "model",
    created: createdOf(model, isKnown ? facts.record : {}),
    owned_by: owner(model, kind),
    ...(isKnown && !strict ? extensions(facts.record, kind) : {})
  }
}

const ofAccounts = (
  { list, models }: Pick<CatalogView, "list" | "models">,
  key: GatewayKey,
  strict: boolean
): ReadonlyArray<ListedModel> =>
  list()
    .filter((account) => allows(key.providers, account.slug))
    .flatMap((account) =>
      (
        account.models ?? [
          ...(isBuiltIn(account.kind) ? listedModels(account.kind, models) : []),
          ...Object.keys(account.endpoints).map((id) => `endpoints.${id}`)
        ]
      )
        .filter((model) => !model.endsWith("*") && allows(key.models, model))
        .map((model) => {
          const id = `@${account.slug}/${model}`
          return { model: rowOf(id, model, account.kind, models, strict), target: id }
        })
    )

/** The operator's names of models, as far as this key reaches the account and the model of each. */
const ofAliases = (catalog: ListedFrom, key: GatewayKey, strict: boolean): ReadonlyArray<ListedModel> => {
  const { models, serving = noServing } = catalog
  return Object.keys(serving.aliases).flatMap((name) => {
    const service = serviceOf(catalog, key, name)
    return service === undefined
      ? []
      : [{ model: rowOf(name, service.rest, service.account.kind, models, strict), target: targetOf(service) }]
  })
}

/** The account that a request with this name of a model is sent to; undefined where none may serve it. */
const serviceOf = ({ list, serving = noServing }: ListedFrom, key: GatewayKey, name: string) => {
  const accounts = list()
  const read = parseModelRef(resolveModelName(name, serving.aliases).model)
  if (Result.isFailure(read) || !allows(key.models, read.success.rest)) return undefined
  const { rest, slug } = read.success
  const choice = { model: rest, accounts, key, defaults: serving.defaults, isCarried: false }
  const chosen = slug ?? Result.getOrElse(chooseAccount(choice), () => undefined)
  const account = accounts.find((one) => one.slug === chosen && allows(key.providers, one.slug))
  return account === undefined || !allows(account.models, rest) ? undefined : { account, rest }
}

const targetOf = ({ account, rest }: NonNullable<ReturnType<typeof serviceOf>>) => `@${account.slug}/${rest}`

type ListedFrom = Pick<CatalogView, "list" | "models" | "serving">

/** Models of accounts, then the operator's names of models. `strict`: only OpenAI's own fields. */
export const modelList = (catalog: ListedFrom, key: GatewayKey, strict: boolean): ReadonlyArray<ListedModel> => [
  ...ofAccounts(catalog, key, strict),
  ...ofAliases(catalog, key, strict)
]

/** Whether an account is known to serve a model: by its own list, or by the table of models. */
const isServed = ({ account, rest }: NonNullable<ReturnType<typeof serviceOf>>, models: ModelTable): boolean =>
  account.models !== undefined ||
  (isBuiltIn(account.kind) && listedModels(account.kind, models).some((model) => modelIdOf(model) === modelIdOf(rest)))

/** One model by its id in the list, or by any name that a request may give it. */
export const findModel = (
  catalog: ListedFrom,
  key: GatewayKey,
  strict: boolean,
  name: string
): ListedModel | undefined => {
  const listed = modelList(catalog, key, strict).find(({ model }) => model.id === name)
  if (listed !== undefined) return listed
  const service = serviceOf(catalog, key, name)
  return service === undefined || !isServed(service, catalog.models)
    ? undefined
    : { model: rowOf(name, service.rest, service.account.kind, catalog.models, strict), target: targetOf(service) }
}
