// Makes the plan of a request, with the state of circuits where load could go elsewhere.
// It must not depend on how a target is called.
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { memoizeBounded } from "../domain/collections.ts"
import type { GatewayConfig } from "../domain/config/GatewayConfig.ts"
import type { GatewayError } from "../domain/GatewayError.ts"
import type { GatewayKey } from "../domain/GatewayKey.ts"
import type { LimitValues } from "../domain/Limits.ts"
import { type Operation, operations } from "../domain/operations.ts"
import { type CatalogView, nothingCarried } from "../domain/ProviderAccount.ts"
import type { RequestContext } from "../domain/RequestContext.ts"
import { operationRules } from "../operations/operationRules.ts"
import type { Operations } from "../provider/Provider.ts"
import type { Circuits } from "../state/Circuits.ts"
import { orderTargets, possibleTargets, type Resolved, resolveTargets } from "./configPlan.ts"
import { circuitOf } from "./failures.ts"
import { type Plan, type PlanFault, type Planned, planOne } from "./plan.ts"

/** A request of a client, as it came. */
export interface ClientRequest<Op extends Operation> {
  readonly operation: Op
  readonly request: Operations[Op]["request"]
  readonly context: RequestContext
  readonly stream: boolean
}

export interface PlanServices {
  /** For requests that bring none. */
  readonly catalog: CatalogView
  readonly circuits: Circuits["Service"]
  readonly limits: LimitValues
  /** From 0 to 1, the latter excluded. */
  readonly draw: () => number
}

/** The targets of a request, in the order in which they are tried. */
export const planOf = <Op extends Operation>(
  services: PlanServices,
  client: ClientRequest<Op>
): Effect.Effect<Plan, GatewayError> => {
  const { config, key, recorder } = client.context
  recorder?.routing(client.context)
  const known = knownPlan(client.context, client.request.model)
  if (known !== undefined) return Effect.fromResult(known)
  const { asked, catalog, conditioned } = planInput(services, client)
  if (config === undefined) return Effect.fromResult(planOne(asked, catalog))
  const resolution = resolveTargets(config, asked, catalog)
  if (Result.isFailure(resolution)) return Effect.fail(resolution.failure)
  const resolved = resolution.success
  if (isElsewhere(resolved)) return Effect.fromResult(planOne(asked, catalog))
  return Effect.flatMap(openCircuits(services, config, resolved, key), (open) => {
    const ordered = orderTargets(config, resolved, {
      ...conditioned,
      draw: services.draw,
      isOpen: (planned) => open.has(circuitOf(planned, key)?.name ?? ""),
      passOver: (target) => recorder?.passedOver(target)
    })
    // The chosen branch has no target of the account that the model names.
    const isBranchElsewhere =
      Result.isFailure(ordered) &&
      ordered.failure._tag === "ProviderMissing" &&
      resolved.targets.includes(undefined) &&
      resolved.fault === undefined
    return Effect.fromResult(isBranchElsewhere ? planOne(asked, catalog) : ordered)
  })
}

/** The targets of all plans that could be made of a request. */
export const possibleTargetsOf = <Op extends Operation>(
  services: Pick<PlanServices, "catalog" | "limits">,
  client: ClientRequest<Op>
): Result.Result<ReadonlyArray<Planned>, GatewayError> => {
  const { config } = client.context
  const { asked, catalog, conditioned } = planInput(services, client)
  return config === undefined
    ? planOne(asked, catalog)
    : Result.flatMap(resolveTargets(config, asked, catalog), (resolved) =>
        isElsewhere(resolved) ? planOne(asked, catalog) : possibleTargets(config, resolved, conditioned)
      )
}

/** No target is of the account that the model names: the config has nothing to add. */
const isElsewhere = ({ fault, targets }: Resolved): boolean =>
  fault === undefined && targets.every((planned) => planned === undefined)

/** What a plan reads of a request. */
const planInput = <Op extends Operation>(
  { catalog: usual, limits }: Pick<PlanServices, "catalog" | "limits">,
  { context, operation, request }: ClientRequest<Op>
) => {
  const { carried, catalog = usual, configId, grantedModel, isKeyConfig, key, metadata, native } = context
  const header = context.providerHeader
  const { params } = operationRules[operation].body
  const { path } = operations[operation]
  return {
    catalog,
    asked: { model: request.model, header, key, carried, configId, grantedModel, isKeyConfig, native },
    conditioned: {
      facts: () => ({ metadata, params: params(request), path }),
      conditionSteps: limits.conditionSteps
    }
  }
}

const noCircuits: ReadonlySet<string> = new Set()

/** The names of the circuits that are open, where load could go to another target. */
const openCircuits = (
  { circuits }: PlanServices,
  { sharesGuarded }: GatewayConfig,
  { targets }: Resolved,
  key: GatewayKey
): Effect.Effect<ReadonlySet<string>> =>
  sharesGuarded
    ? circuits.open(targets.flatMap((planned) => (planned === undefined ? [] : (circuitOf(planned, key) ?? []))))
    : Effect.succeed(noCircuits)

type PlanOfModel = (model: string) => Result.Result<Plan, PlanFault>

const plansOfCatalogs = new WeakMap<CatalogView, WeakMap<object, PlanOfModel>>()

/** Stands for every key that may use all providers and models. */
const unlistedKeys = {}

/**
 * The plan of a request without a config, which follows from catalog, key and model alone. A new catalog has no kept plans,
 * and a key that changed is another key. Undefined where the plan follows from more: only the view of one request is immutable.
 */
export const knownPlan = (
  { carried, catalog, config, grantedModel, key, native, providerHeader }: RequestContext,
  model: string
): Result.Result<Plan, PlanFault> | undefined => {
  if (catalog === undefined || config !== undefined || carried !== nothingCarried) return undefined
  if (grantedModel !== undefined || native !== undefined || providerHeader !== undefined) return undefined
  let ofCatalog = plansOfCatalogs.get(catalog)
  if (ofCatalog === undefined) plansOfCatalogs.set(catalog, (ofCatalog = new WeakMap()))
  const lists = key.providers === undefined && key.models === undefined ? unlistedKeys : key
  let planOfModel = ofCatalog.get(lists)
  if (planOfModel === undefined) {
    planOfModel = memoizeBounded((name) =>
      planOne({ model: name, header: undefined, key, carried: nothingCarried }, catalog)
    )
    ofCatalog.set(lists, planOfModel)
  }
  return planOfModel(model)
}
