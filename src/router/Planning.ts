// Makes the plan of a request, with the state of circuits where load could go elsewhere.
// It must not depend on how a target is called.
import * as Result from "effect/Result"
import type { GatewayKey } from "../domain/GatewayKey.ts"
import { memoizeBounded } from "../domain/collections.ts"
import { type CatalogView, nothingCarried } from "../domain/ProviderAccount.ts"
import type { RequestContext } from "../domain/RequestContext.ts"
import { orderTargets, possibleTargets, type Resolved, resolveTargets } from "./configPlan.ts"
import { type Plan, type PlanFault, type Planned, planOne } from "./plan.ts"
import * as Effect from "effect/Effect"
import type { GatewayConfig } from "../domain/config/GatewayConfig.ts"
import type { GatewayError } from "../domain/GatewayError.ts"
import type { LimitValues } from "../domain/Limits.ts"
import type { Operation } from "../domain/operations.ts"
import type { Circuits } from "../state/Circuits.ts"
import type { Asking } from "./Attempts.ts"
import { bodies } from "./bodies/bodies.ts"
import { circuitOf } from "./failures.ts"

type PlanOfModel = (model: string) => Result.Result<Plan, PlanFault>

const plansOfCatalogs = new WeakMap<CatalogView, WeakMap<object, PlanOfModel>>()

/** Stands for every key that may use all providers and models. */
const unlistedKeys = {}

/** Undefined for a request whose plan follows from more than these. Only the view of one request is immutable. */
export const knownPlan = (
  { carried, catalog, config, grantedModel, key, native, providerHeader }: RequestContext,
  model: string
): Result.Result<Plan, PlanFault> | undefined => {
  if (catalog === undefined || config !== undefined || carried !== nothingCarried) return undefined
  if (grantedModel !== undefined || native !== undefined || providerHeader !== undefined) return undefined
  let ofCatalog = plansOfCatalogs.get(catalog)
  if (ofCatalog === undefined) plansOfCatalogs.set(catalog, (ofCatalog = new WeakMap()))
  const lists = key.providers === undefined && key.models === undefined ? unlistedKeys : key
  let planOf = ofCatalog.get(lists)
  if (planOf === undefined) ofCatalog.set(lists, (planOf = plansOf(catalog, key)))
  return planOf(model)
}

const plansOf = (catalog: CatalogView, key: GatewayKey): PlanOfModel =>
  memoizeBounded((model) => planOne({ model, header: undefined, key, carried: nothingCarried }, catalog))

// Makes the plan of a request, with the state of circuits where load could go elsewhere.

export interface PlanningServices {
  /** For requests that bring none. */
  readonly catalog: CatalogView
  readonly circuits: Circuits["Service"]
  readonly limits: LimitValues
  /** From 0 to 1, the latter excluded. */
  readonly draw: () => number
}

const noCircuits: ReadonlySet<string> = new Set()

export class Planning {
  private readonly services: PlanningServices

  constructor(services: PlanningServices) {
    this.services = services
  }

  /** The targets of a request, in the order in which they are tried. */
  plan<Op extends Operation>(asking: Asking<Op>): Effect.Effect<Plan, GatewayError> {
    const { config, key, recorder } = asking.context
    const { draw, limits } = this.services
    recorder?.routing(asking.context)
    const kept = knownPlan(asking.context, asking.request.model)
    if (kept !== undefined) return Effect.fromResult(kept)
    const { asked, catalog, facts } = this.askedOf(asking)
    if (config === undefined) return Effect.fromResult(planOne(asked, catalog))
    const targets = resolveTargets(config, asked, catalog)
    if (Result.isFailure(targets)) return Effect.fail(targets.failure)
    const { targets: all } = targets.success
    // No target is of the account that the model names: the config has nothing to add.
    if (all.every((one) => one === undefined) && targets.success.fault === undefined)
      return Effect.fromResult(planOne(asked, catalog))
    return Effect.flatMap(this.openCircuits(config, all, key), (open) => {
      const isOpen = (planned: Planned) => open.has(circuitOf(planned, key)?.name ?? "")
      const passOver = (target: number) => recorder?.passedOver(target)
      const order = { facts, conditionSteps: limits.conditionSteps, draw, isOpen, passOver }
      const ordered = orderTargets(config, targets.success, order)
      // The chosen branch has no target of the account that the model names.
      const isElsewhere =
        Result.isFailure(ordered) && ordered.failure._tag === "ProviderMissing" && all.includes(undefined)
      return Effect.fromResult(isElsewhere && targets.success.fault === undefined ? planOne(asked, catalog) : ordered)
    })
  }

  /** The targets of all plans that could be made of a request. */
  possible<Op extends Operation>(asking: Asking<Op>): Result.Result<ReadonlyArray<Planned>, GatewayError> {
    const { config } = asking.context
    const { conditionSteps } = this.services.limits
    const { asked, catalog, facts } = this.askedOf(asking)
    return config === undefined
      ? planOne(asked, catalog)
      : Result.flatMap(resolveTargets(config, asked, catalog), (targets) =>
          targets.targets.every((one) => one === undefined) && targets.fault === undefined
            ? planOne(asked, catalog)
            : possibleTargets(config, targets, { facts, conditionSteps })
        )
  }

  private askedOf<Op extends Operation>({ context, operation, request }: Asking<Op>) {
    const {
      carried,
      catalog = this.services.catalog,
      configId,
      grantedModel,
      isKeyConfig,
      key,
      metadata,
      native,
      providerHeader: header
    } = context
    return {
      catalog,
      asked: { model: request.model, header, key, carried, configId, grantedModel, isKeyConfig, native },
      facts: () => ({ metadata, params: bodies[operation].params(request), path: bodies[operation].path })
    }
  }

  /** The names of the circuits that are open, where load could go to another target. */
  private openCircuits(
    { sharesGuarded }: GatewayConfig,
    targets: Resolved["targets"],
    key: GatewayKey
  ): Effect.Effect<ReadonlySet<string>> {
    if (!sharesGuarded) return Effect.succeed(noCircuits)
    const circuits = targets.flatMap((planned) => (planned === undefined ? [] : (circuitOf(planned, key) ?? [])))
    return this.services.circuits.open(circuits)
  }
}
